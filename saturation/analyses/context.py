"""What analyses share: the part of a panel that a row is about, and a metric as a statistic of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from saturation.errors import UsageError
from saturation.metrics.metric import Human, Metric
from saturation.resampling.jackknife import leave_one_out, pseudo_values
from saturation.resampling.sums import weighted_sums
from saturation.tables.panel import Ballots, Panel
from saturation.typing import Floats, Ints, Probs, Scores, Weights


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Cells and items that one row is about.

    Attributes
    ----------
    group, split, seed
        As in rows; None where not singled out.
    ranks
        (items,) its distinct items, as indices into the panel's votes.
    human
        Of these items.
    places
        One index array into ``ranks`` a split.
    probs
        One (conditions, seeds, items_of_split, labels) array a split.
    ballots
        Single votes of these items (indices into ``ranks``), None without annotator ids.
    """

    group: str | None
    split: str | None
    seed: int | None
    ranks: Ints
    human: Human
    places: tuple[Ints, ...]
    probs: tuple[Probs, ...]
    ballots: Ballots | None

    @property
    def n_items(self) -> int:
        """Number of distinct items."""
        return len(self.ranks)

    @property
    def n_cells(self) -> int:
        """Number of split x seed cells."""
        return sum(self.n_seeds)

    @property
    def n_seeds(self) -> tuple[int, ...]:
        """Number of training seeds of every split."""
        return tuple(probs.shape[1] for probs in self.probs)

    def of_split(self, human: Human) -> tuple[Human, ...]:
        """The human side of every split's items."""
        return tuple(human.take(places) for places in self.places)


def samples(panel: Panel, by: str | None) -> list[Sample]:
    """The parts of a panel that get a row of their own.

    Parameters
    ----------
    panel
        Votes and predictions.
    by
        None: everything; ``cell``: every split and seed; else an item attribute: every value of it.

    Raises
    ------
    UsageError
        When no item has such an attribute.
    """
    if by is None:
        return [_sample(panel, tuple(panel.items_of_split), panel.probs)]
    if by == "cell":
        return [
            replace(_sample(panel, (panel.items_of_split[s],), (panel.probs[s][:, t : t + 1],)), split=split, seed=seed)
            for s, split in enumerate(panel.splits)
            for t, seed in enumerate(panel.seeds[s])
        ]
    if by not in panel.votes.groups:
        known = ", ".join(("cell", *panel.votes.groups))
        raise UsageError(f"there is no group column {by!r} to report by; choose one of: {known}")
    values = panel.votes.groups[by]
    return [_group(panel, by, value) for value in sorted({v for v in values if v is not None}, key=str.encode)]


def group_codes(panel: Panel) -> tuple[str, Ints] | None:
    """The group column that within-group values use, and each item's code in it (-1 where unknown).

    It is ``source``, or the only group column there is.
    """
    groups = panel.votes.groups
    name = "source" if "source" in groups else next(iter(groups)) if len(groups) == 1 else None
    if name is None:
        return None
    code = {value: i for i, value in enumerate(sorted({v for v in groups[name] if v is not None}, key=str.encode))}
    return name, np.array([-1 if v is None else code[v] for v in groups[name]], dtype=np.int64)


def _group(panel: Panel, by: str, value: str) -> Sample:
    inside = np.array([v == value for v in panel.votes.groups[by]])
    kept = [inside[items] for items in panel.items_of_split]
    filled = [s for s, mask in enumerate(kept) if mask.any()]
    items = tuple(panel.items_of_split[s][kept[s]] for s in filled)
    return replace(_sample(panel, items, tuple(panel.probs[s][:, :, kept[s]] for s in filled)), group=value)


def _sample(panel: Panel, items: tuple[Ints, ...], probs: tuple[Probs, ...]) -> Sample:
    ranks = np.unique(np.concatenate(items)) if items else np.zeros(0, dtype=np.int64)
    votes = panel.votes.take(ranks)
    codes = group_codes(panel)
    human = Human(
        counts=votes.counts,
        majority=votes.majority,
        groups=None if codes is None else codes[1][ranks],
        items=ranks,
    )
    places = tuple(np.searchsorted(ranks, one) for one in items)
    return Sample(None, None, None, ranks, human, places, probs, votes.ballots)


@dataclass(frozen=True, slots=True, eq=False)
class Statistic:
    """A metric (or its corrected score) as a statistic of models by items.

    All methods take probs (models, items, labels) and the human side of those items.

    Attributes
    ----------
    name, undefined
        As in the catalogue.
    is_correlation
        Whether intervals are made on Fisher's z where votes are redrawn.
    is_corrected
        Whether it estimates the value against the population rather than against these votes.
    is_rough
        Whether it is biased up by noise (calibration errors), so that resampling once more doubles the bias.
    """

    name: str
    undefined: str
    is_correlation: bool
    is_corrected: bool
    is_rough: bool
    _features: Callable[[Probs, Human], Floats] | None
    _combine: Callable[[Floats], Floats] | None
    _influence: Callable[[Floats], Scores] | None
    _metric: Metric
    _under_weights: Statistic | None = None
    _fixed_reliability: bool = False

    @property
    def under_weights(self) -> Statistic:
        """What to compute where votes carry weights: corrections need whole votes, so there something without."""
        return self._under_weights or self

    @property
    def under_votes(self) -> Statistic:
        """What to compute where votes are redrawn: an exact reliability is not computed anew for every draw."""
        return self._under_weights if self._fixed_reliability and self._under_weights else self

    @property
    def is_of_means(self) -> bool:
        """Whether it is a function of means over items of ``features``."""
        return self._features is not None and self._combine is not None

    def features(self, probs: Probs, human: Human) -> Floats:
        """(models, features, items); only where ``is_of_means``."""
        assert self._features is not None, "a rank statistic has no features"
        return self._features(probs, human)

    def combine(self, means: Floats) -> Floats:
        """Feature means (..., features) -> values (...); only where ``is_of_means``."""
        assert self._combine is not None, "a rank statistic has no features"
        return self._combine(means)

    def value(self, probs: Probs, human: Human) -> Floats:
        """(models,) values; NaN where undefined."""
        if self._features is None or self._combine is None:
            return self._metric.value(probs, human)
        return self._combine(self._features(probs, human).mean(axis=-1))

    def resampled(self, probs: Probs, human: Human, weights: Weights, threads: int | None = None) -> Floats:
        """(resamples, models) values under item weights (resamples, items)."""
        if self._features is None or self._combine is None:
            assert self._metric.ranked is not None
            return np.stack([self._metric.ranked(one, human, weights) for one in probs], axis=1)
        features = self._features(probs, human)
        sums = weighted_sums(weights, features.reshape(-1, features.shape[-1]), threads)
        totals = weights.sum(axis=1)
        means = np.divide(sums, totals[:, None], out=np.full(sums.shape, np.nan), where=totals[:, None] > 0)
        return self._combine(means.reshape(len(weights), *features.shape[:-1]))

    def deleted(self, probs: Probs, human: Human) -> Scores:
        """(models, items) values without each item."""
        if self._features is None or self._combine is None:
            assert self._metric.leave_one_out is not None
            return np.stack([self._metric.leave_one_out(one, human) for one in probs])
        return leave_one_out(self._features(probs, human), self._combine)

    def influence(self, probs: Probs, human: Human) -> Scores:
        """(models, items) influence values: closed form, else delete-one pseudo-values."""
        return self.value_and_influence(probs, human)[1]

    def value_and_influence(self, probs: Probs, human: Human) -> tuple[Floats, Scores]:
        """Both at once, from the same features."""
        if self._features is None or self._combine is None:
            value, n_items = self.value(probs, human), probs.shape[-2]
            return value, np.asarray(n_items * value[:, None] - (n_items - 1) * self.deleted(probs, human))
        features = self._features(probs, human)
        moves = pseudo_values(features, self._combine) if self._influence is None else self._influence(features)
        return self._combine(features.mean(axis=-1)), moves


def plain(metric: Metric) -> Statistic:
    """The metric itself."""
    return Statistic(
        name=metric.name,
        undefined=metric.undefined,
        is_correlation=metric.is_correlation,
        is_corrected=False,
        is_rough=metric.kind == "set" and metric.order == 1,
        _features=metric.features,
        _combine=metric.combine,
        _influence=metric.influence,
        _metric=metric,
    )


def corrected(metric: Metric) -> Statistic | None:
    """The mean of the metric's corrected scores; None where no correction is known."""
    scores = metric.corrected
    if scores is None:
        return None
    return Statistic(
        name=metric.name,
        undefined="no corrected value: an item has a single vote",
        is_correlation=False,
        is_corrected=True,
        is_rough=False,
        _features=lambda probs, human: scores(probs, human)[..., None, :],
        _combine=lambda means: means[..., 0],
        _influence=lambda features: features[..., 0, :],
        _metric=metric,
        _under_weights=plain(metric),
    )
