"""A label-side curve of one metric before it becomes rows: a point a budget, and how points come from item scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from saturation.errors import UsageError
from saturation.resampling.exact_moments import Moments
from saturation.typing import Direction, EstimatorName, Floats

Alpha = float | str | None
"""None: the default rule; ``none``; ``1/K``; or votes added to every label."""

CONSTANT = "undefined: with one vote every item has the same entropy; counts as 0 in fractions"


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """One metric at one budget.

    Attributes
    ----------
    estimate
        Mean over draws; None where undefined.
    influence
        (items of the budget,) how much each item moves the estimate, in its units; the mean does not matter.
    draw_sd
        Standard deviation of one actual collection of N votes, the items fixed.
    mc_se
        Monte Carlo standard error of the estimate.
    estimator, n_resamples, reason
        As in the rows.
    counts_as
        The value that a fraction uses where the estimate is undefined by convention (r = 0 where N = 1).
    people
        (rows of the crowd,) what every vote changes in its item's influence; None where that is not known.
    """

    estimate: float | None
    influence: Floats | None = None
    draw_sd: float | None = None
    mc_se: float | None = None
    estimator: EstimatorName = "exact"
    n_resamples: int | None = None
    reason: str | None = None
    counts_as: float | None = None
    people: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One metric at every budget of the plan; ``alpha`` 0 is the raw target, ``no_fraction`` says why there is none.

    ``resampled`` (resamples, budgets): values under resampled items, whose spread then stands for that of
    ``Point.influence``.
    """

    metric: str
    direction: Direction
    alpha: float
    points: tuple[Point, ...]
    no_fraction: str | None = None
    resampled: Floats | None = None


def alpha_of(metric: str, alpha: Alpha, n_labels: int) -> float:
    """Votes added to every label of the target of one metric, 0 for none.

    Examples
    --------
    >>> alpha_of("kl", None, 4), alpha_of("tvd", None, 4), alpha_of("tvd", "1/K", 4)
    (0.25, 0.0, 0.25)
    """
    if alpha is None:
        return 1.0 / n_labels if metric.partition("[")[0] == "kl" else 0.0
    if alpha == "none":
        return 0.0
    if alpha == "1/K":
        return 1.0 / n_labels
    try:
        number = float(alpha)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise UsageError(f"alpha is {alpha!r}; write none, 1/K or a positive number of votes per label")
    return number


def mean_points(moments: Moments) -> list[Point]:
    """Points of statistics that are plain means over items, from their means and variances over draws."""
    assert moments.variance is not None
    n_items = moments.mean.shape[1]
    points = []
    for scores, variance in zip(moments.mean, moments.variance, strict=True):
        mean = float(scores.mean())
        sd = without_rounding(float(variance.sum()) ** 0.5 / n_items, mean)
        points.append(Point(mean, influence=scores, draw_sd=sd))
    return points


def without_rounding(sd: float, estimate: float) -> float:
    """A spread of rounding errors only is none: 0 where every draw gives the same."""
    return sd if sd > 1e-14 * max(1.0, abs(estimate)) else 0.0


def root(point: Point) -> Point:
    """The square root of a mean (delta method for its spread)."""
    if point.estimate is None or point.influence is None:
        return point
    value = float(np.sqrt(max(point.estimate, 0.0)))
    slope = 1 / (2 * value) if value > 0 else 0.0
    return replace(
        point,
        estimate=value,
        influence=point.influence * slope,
        people=None if point.people is None else point.people * slope,
        draw_sd=None if point.draw_sd is None else point.draw_sd * slope,
        mc_se=None if point.mc_se is None else point.mc_se * slope,
    )
