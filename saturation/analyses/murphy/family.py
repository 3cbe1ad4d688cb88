"""The terms of one Murphy decomposition as functions of models and votes: plain, without an item, resampled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.metrics import murphy, murphy_bins
from saturation.metrics.metric import Human
from saturation.metrics.murphy import MurphyBinning
from saturation.metrics.murphy_bins import Binned
from saturation.metrics.murphy_pairs import LabelChoice, OutcomeName, Pairs, over_labels, pairs
from saturation.metrics.murphy_squares import squares_variance
from saturation.resampling.sums import weighted_sums
from saturation.typing import Floats, Probs, TieRule, Weights

PLAIN_TWIN = {
    "rel_corrected": "rel",
    "res_corrected": "res",
    "unc_corrected": "unc",
    "resolvable_corrected": "resolvable",
    "irreducible_corrected": "irreducible",
}
"""The uncorrected twin of each corrected term."""
_OF_BINS = ("rel", "res", "rel_corrected", "res_corrected")
"""Terms that are quadratic in the means of bins."""


@dataclass(frozen=True, slots=True)
class Family:
    """One decomposition with its options bound; see :func:`saturation.metrics.murphy.decompose`.

    All methods take probs (models, items, labels) and the human side of those items.
    """

    outcome: OutcomeName
    binning: MurphyBinning
    bins: int
    label: LabelChoice
    ties: TieRule
    seed: int
    fixed_forecasts: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The terms, in the order of all arrays."""
        return murphy.term_names(self.outcome, self.binning)

    @property
    def is_isotonic(self) -> bool:
        """Whether the forecasts are recalibrated instead of binned."""
        return self.binning == "isotonic"

    def values(self, probs: Probs, human: Human) -> Floats:
        """(models, terms); NaN where undefined."""
        given = self._pairs(probs, human)
        if self.is_isotonic:
            return over_labels(murphy.isotonic_terms(given), self.label)
        cut = self._cut(given)
        return self._terms(murphy_bins.bin_sums(cut), cut)

    def influence(self, probs: Probs, human: Human) -> Floats:
        """(models, terms, items) delete-one pseudo-values; isotonic: contributions with the fit held fixed."""
        given = self._pairs(probs, human)
        if self.is_isotonic:
            return self._over_rows(murphy.isotonic_scores(given)[0])
        cut = self._cut(given)
        n_items = probs.shape[-2]
        without = self._over_rows(murphy_bins.leave_one_out(cut, fixed_forecasts=self.fixed_forecasts))
        return np.asarray(n_items * self._terms(murphy_bins.bin_sums(cut), cut)[..., None] - (n_items - 1) * without)

    def resampled(self, probs: Probs, human: Human, weights: Weights, threads: int | None = None) -> Floats:
        """(resamples, models, terms) under item weights (resamples, items), bins fixed by the full sample."""
        return np.stack([self._resampled(one, human, weights, threads) for one in probs], axis=1)

    def second_order(self, probs: Probs, human: Human) -> Floats:
        """(models, terms) the variance of a term's quadratic part, below which its variance cannot be; 0: none."""
        given = self._pairs(probs, human)
        of_mean = squares_variance(murphy_bins.binned(given, bins=1), self.label)
        found = dict.fromkeys(("unc", "unc_corrected", "uncertainty"), of_mean)
        if not self.is_isotonic:
            found |= dict.fromkeys(_OF_BINS, squares_variance(self._cut(given), self.label))
        return np.stack([found.get(name, np.zeros(of_mean.shape)) for name in self.names], axis=-1)

    def bins_used(self, probs: Probs, human: Human) -> int:
        """Bins that hold items (isotonic: levels of the fit), in the label and model that have fewest."""
        given = self._pairs(probs, human)
        return murphy.isotonic_scores(given)[2] if self.is_isotonic else murphy_bins.bins_used(self._cut(given))

    def _resampled(self, probs: Probs, human: Human, weights: Weights, threads: int | None) -> Floats:
        cut = self._cut(self._pairs(probs, human))
        n_rows, n_features, _ = cut.features.shape
        sums = np.zeros((len(weights), n_rows, n_features, self.bins))
        for row in range(n_rows):
            for place in np.unique(cut.index[row]):
                inside = np.flatnonzero(cut.index[row] == place)
                features = cut.features[row][:, inside]
                sums[:, row, :, place] = weighted_sums(np.ascontiguousarray(weights[:, inside]), features, threads)
        return self._terms(sums, cut)

    def _pairs(self, probs: Probs, human: Human) -> Pairs:
        return pairs(probs, human, outcome=self.outcome, label=self.label, ties=self.ties, seed=self.seed)

    def _cut(self, given: Pairs) -> Binned:
        return murphy_bins.binned(given, bins=self.bins, binning="count" if self.binning == "count" else "width")

    def _terms(self, sums: Floats, cut: Binned) -> Floats:
        return over_labels(murphy_bins.terms(sums, cut, fixed_forecasts=self.fixed_forecasts), self.label)

    def _over_rows(self, values: Floats) -> Floats:
        """(..., rows, terms, items) -> (..., terms, items)."""
        return np.moveaxis(over_labels(np.moveaxis(values, -1, 0), self.label), 0, -1)
