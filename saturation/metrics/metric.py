"""What a metric is: one record that analyses can evaluate, resample and correct without knowing which it is.

Every smooth metric here is a function of weighted *means of per-item features*: a per-item metric is the mean of
its score, Pearson's r is a function of five means, a binned calibration error of one mean a bin. So a resample
needs only weighted sums, a delete-one jackknife costs nothing, and there is one code path for all of them.
Rank statistics (Spearman, Kendall, AUROC, AURC) are not; they bring their own weighted form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from saturation.typing import Counts, Direction, Floats, Ints, Probs, Scores, Weights

CORRELATION_RANGE = "[-1, 1]"


@dataclass(frozen=True, slots=True, eq=False)
class Human:
    """The human side of a metric.

    Attributes
    ----------
    counts
        (items, labels) votes; integers, or non-negative floats where votes carry weights.
    majority
        (items,) index of the published majority label, -1 where unknown (tie rule ``column``).
    groups
        (items,) integer group codes, e.g. of ``source``, for within-group metrics; -1 where unknown.
    items
        (items,) canonical ranks, so that a random tie falls the same way in every split; None means 0, 1, ...
    """

    counts: Counts
    majority: Ints | None = None
    groups: Ints | None = None
    items: Ints | None = None

    def take(self, items: Ints) -> Human:
        """The same for some items (indices)."""
        ranks = np.arange(len(self.counts), dtype=np.int64) if self.items is None else self.items
        return Human(
            counts=self.counts[items],
            majority=None if self.majority is None else self.majority[items],
            groups=None if self.groups is None else self.groups[items],
            items=ranks[items],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Metric:
    """One entry of the catalogue, its options bound.

    Attributes
    ----------
    name
        Catalogue name; with options the text form, e.g. ``reverse_kl[floor=1e-12]``.
    title
        A few words for tables and plots.
    kind
        ``item``: one value an item, averaged; ``set``: defined on a set of items only.
    direction
        Which way is better.
    order
        2: excess falls as 1/N (quadratic in the error); 1: as 1/sqrt N; None: neither.
    range, formula, reference
        For people.
    undefined
        Why the value can be NaN, in words.
    features
        (probs (..., items, labels), human) -> (..., features, items).
    combine
        Feature means (..., features) -> value (...); NaN where undefined.
    influence
        Features (..., features, items) -> (..., items) influence values with mean 0 where a closed form exists;
        None: delete-one pseudo-values from the features.
    ranked
        For rank statistics instead of ``features``: (probs (items, labels), human, weights (B, items)) -> (B,).
    leave_one_out
        For rank statistics: (probs (items, labels), human) -> (items,) value without each item.
    term
        Where the metric is a sum over labels: g(model share, human share), elementwise, both arrays of one shape.
    cumulative
        Whether ``term`` takes cumulative shares (ordered labels).
    smooth
        Votes added to every label of the human side before ``term`` (``1/K``: one vote in all); None: raw shares.
    corrected
        (probs, human) -> (..., items) scores whose mean is unbiased for the score against the population.
    floor
        (counts) -> (items,) what a perfect model would be expected to score against so few votes.
    residual
        The largest share of the floor that the correction may leave as bias; 0: it is unbiased.
    """

    name: str
    title: str
    kind: Literal["item", "set"]
    direction: Direction
    order: int | None
    range: str
    formula: str
    reference: str = ""
    undefined: str = "an item has no votes"
    features: Callable[[Probs, Human], Floats] | None = None
    combine: Callable[[Floats], Floats] | None = None
    influence: Callable[[Floats], Scores] | None = None
    ranked: Callable[[Probs, Human, Weights], Floats] | None = None
    leave_one_out: Callable[[Probs, Human], Scores] | None = None
    term: Callable[[Floats, Floats], Floats] | None = None
    cumulative: bool = False
    smooth: float | Literal["1/K"] | None = None
    corrected: Callable[[Probs, Human], Scores] | None = None
    floor: Callable[[Counts], Scores] | None = None
    residual: float = 0.0

    @property
    def family(self) -> str:
        """Catalogue name without options: ``kl`` for ``kl[floor=1e-12]``."""
        return self.name.partition("[")[0]

    @property
    def is_correlation(self) -> bool:
        """Whether it is a correlation over items, whose spread is best judged on Fisher's z."""
        return self.kind == "set" and self.range == CORRELATION_RANGE

    def value(self, probs: Probs, human: Human) -> Floats:
        """The metric of each leading index of ``probs`` (..., items, labels); NaN where undefined."""
        if self.features is not None and self.combine is not None:
            return self.combine(self.features(probs, human).mean(axis=-1))
        assert self.ranked is not None
        ones = np.ones((1, probs.shape[-2]))
        ranked = self.ranked
        return over_leading_axes(lambda one: ranked(one, human, ones)[0], probs)


def over_leading_axes(value: Callable[[Probs], float], probs: Probs) -> Floats:
    """A number of (items, labels), taken for each leading index of (..., items, labels)."""
    flat = probs.reshape(-1, *probs.shape[-2:])
    return np.array([value(one) for one in flat], dtype=np.float64).reshape(probs.shape[:-2])


def as_human(counts: Counts | Human) -> Human:
    """Counts alone are a human side without published majority or groups."""
    return counts if isinstance(counts, Human) else Human(counts)
