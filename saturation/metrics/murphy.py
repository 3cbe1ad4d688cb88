"""Murphy decomposition of the Brier score against the annotators: reliability, resolution, uncertainty.

Per label, with bins b of the forecast m (share w_b, means m_b and h_b of forecast and outcome, hbar the mean):

    REL = sum w_b (m_b - h_b)^2        RES = sum w_b (h_b - hbar)^2
    WBV = sum w_b Var_b(m)             WBC = 2 sum w_b Cov_b(m, h)
    score = REL - RES + UNC + WBV - WBC, exactly (Murphy 1973; Stephenson, Coelho and Jolliffe 2008)

Every term is a function of sums over the items of a bin, so that resamples and delete-one values cost little: bins
are fixed by the full sample, sums are resampled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from saturation.metrics.isotonic import isotonic
from saturation.metrics.metric import Human, as_human
from saturation.metrics.murphy_bins import bin_sums, binned, terms
from saturation.metrics.murphy_pairs import LabelChoice, OutcomeName, Pairs, over_labels, pairs
from saturation.typing import Counts, Floats, Probs, TieRule

MurphyBinning = Literal["width", "count", "isotonic"]

CORE = ("rel", "res", "unc", "wbv", "wbc", "brier")
SPLIT = ("resolvable", "irreducible")
CORRECTED = ("rel_corrected", "res_corrected", "unc_corrected")
CORRECTED_SPLIT = ("resolvable_corrected", "irreducible_corrected")
ISOTONIC = ("miscalibration", "discrimination", "uncertainty", "brier")
TOLERANCE = 1e-12
"""The identity holds to rounding; anything above this would be a wrong number."""


def term_names(outcome: OutcomeName, binning: MurphyBinning = "width") -> tuple[str, ...]:
    """The terms there are for an outcome, in the order of arrays and rows.

    Examples
    --------
    >>> term_names("soft", "isotonic")
    ('miscalibration', 'discrimination', 'uncertainty', 'brier')
    """
    if binning == "isotonic":
        return ISOTONIC
    if outcome == "votes":
        return (*CORE, *SPLIT, *CORRECTED, *CORRECTED_SPLIT)
    return (*CORE, *CORRECTED)


def decompose(
    probs: Probs,
    counts: Counts | Human,
    *,
    outcome: OutcomeName = "votes",
    binning: MurphyBinning = "width",
    bins: int = 10,
    label: LabelChoice = "sum",
    ties: TieRule = "share",
    seed: int = 0,
    fixed_forecasts: bool = False,
) -> Mapping[str, Floats]:
    """Terms of the decomposition by name.

    Parameters
    ----------
    probs
        (..., items, labels) model probabilities.
    counts
        (items, labels) votes, or a ``Human`` with a published majority.
    outcome
        ``votes``: single votes, so UNC = hbar (1 - hbar) and the score is ``brier_vote``; ``soft``: the items' label
        distributions, UNC = Var_i(h), the score is ``brier``; ``majority``: the majority label with a tie rule.
    binning
        ``width``: (a, b] of equal width; ``count``: equal numbers of items, ties never split; ``isotonic``: the
        recalibration that fits best instead of bins.
    bins
        Number of bins; not used by ``isotonic``.
    label
        ``sum`` over labels (range of the score 0 to 2), their ``mean``, the ``top`` label of the model, or the index
        of one label.
    ties, seed
        For ``majority``, see ``majority.majority_credit``.
    fixed_forecasts
        Whether the correction takes the numbers of items in the bins as fixed: v = sum w_b s_b^2 / I.

    Returns
    -------
    dict
        (...,) values a term; NaN where undefined. ``rel``, ``wbv``, ``miscalibration``: lower is better; ``res``,
        ``discrimination``: higher is better; ``unc``, ``resolvable``, ``irreducible`` belong to the labels alone.

    Raises
    ------
    UsageError
        For unknown options.

    References
    ----------
    Ferro and Fricker 2012, QJRMS 138, and Broecker 2012, Climate Dynamics 39 (corrected terms); Dimitriadis et al.
    2021, PNAS 118 (isotonic terms).

    Examples
    --------
    Two items of one bin: m .5, h 1 and .5. REL (.5 - .75)^2, RES 0, UNC .0625; score (.25 + 0) / 2, doubled by ``sum``.

    >>> import numpy as np
    >>> probs, counts = np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([[2, 0], [1, 1]])
    >>> found = decompose(probs, counts, outcome="soft")
    >>> [float(found[name]) for name in ("rel", "res", "unc", "brier")]
    [0.125, 0.0, 0.125, 0.25]
    """
    given = pairs(probs, as_human(counts), outcome=outcome, label=label, ties=ties, seed=seed)
    names = term_names(outcome, binning)
    if binning == "isotonic":
        values = over_labels(isotonic_terms(given), label)
        return {name: values[..., place] for place, name in enumerate(names)}
    cut = binned(given, bins=bins, binning=binning)
    values = over_labels(terms(bin_sums(cut), cut, fixed_forecasts=fixed_forecasts), label)
    found = {name: values[..., place] for place, name in enumerate(names)}
    return found | {"residual": residual(found)}


def residual(found: Mapping[str, Floats]) -> Floats:
    """Score minus (REL - RES + UNC + WBV - WBC): rounding, by construction.

    Raises
    ------
    AssertionError
        When it is more than that: the terms would be wrong.
    """
    rest = found["brier"] - (found["rel"] - found["res"] + found["unc"] + found["wbv"] - found["wbc"])
    if not (np.abs(rest) < TOLERANCE).all():
        raise AssertionError(f"Murphy's identity is off by {np.abs(rest).max():.3g}")
    return np.asarray(rest)


# --- isotonic twin -------------------------------------------------------------------------------------------------


def isotonic_terms(given: Pairs) -> Floats:
    """(..., rows, terms): miscalibration, discrimination, uncertainty, score.

    Miscalibration is what recalibrating every forecast to the isotonic fit would gain, discrimination what the fit
    gains over the mean; miscalibration - discrimination + uncertainty is the score. Assumes that calibration is
    monotone: a higher forecast never means a smaller share.
    """
    return isotonic_scores(given)[1]


def isotonic_scores(given: Pairs) -> tuple[Floats, Floats, int]:
    """Influence values, terms and the fewest levels of a fit.

    Returns
    -------
    (..., rows, terms, items) what each item contributes with the fit held fixed: the fit minimises its score, so by
    the envelope theorem its own dependence on one item is of second order; (..., rows, terms) their means, summed in
    an order that does not depend on the order of rows; and the number of levels.
    """
    lead = given.forecast.shape[:-1]
    flat = [one.reshape(-1, one.shape[-1]) for one in (given.forecast, given.observed, given.within)]
    scores, means, levels = [], [], []
    for m, h, within in zip(*flat, strict=True):
        fit = isotonic(m, h)
        centre = h[fit.order].mean()
        raw, flattest, best = (m - h) ** 2, (centre - h) ** 2, (fit.fitted - h) ** 2
        of_items = np.stack([raw - best, flattest - best, flattest + within, raw + within])
        scores.append(of_items)
        means.append(of_items[:, fit.order].mean(axis=1))
        levels.append(fit.levels)
    shape = (*lead, len(ISOTONIC))
    return np.stack(scores).reshape(*shape, -1), np.stack(means).reshape(shape), min(levels)
