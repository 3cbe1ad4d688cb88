"""One row a number: the keys of each command, in order, and the number with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from saturation.conditions import Condition

if TYPE_CHECKING:
    from saturation.typing import Direction, EstimatorName, IntervalName


@dataclass(frozen=True, slots=True)
class Input:
    """One file (or frame) that a result was computed from."""

    role: str
    path: str
    sha256: str | None
    rows: int


@dataclass(frozen=True, slots=True)
class Note:
    """A warning or remark that belongs to a result: a code for programs, a sentence for people."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class DataSummary:
    """What the door let in, dropped and repaired."""

    n_items: int
    n_labels: int
    n_votes: int
    votes_min: int
    votes_max: int
    n_annotators: int | None = None
    predicted_without_votes: int = 0
    voted_without_predictions: int = 0
    dropped: int = 0
    renormalised: int = 0
    floored: int = 0


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """A number with its uncertainty, or the reason why there is none.

    Attributes
    ----------
    estimate, low, high, se
        In the metric's own units; None where undefined.
    level
        Nominal coverage of (low, high).
    interval
        How (low, high) was made; ``none`` with a reason where there is no interval.
    estimator
        How the estimate was made.
    design
        What was redrawn (a name of ``resampling.designs``), None where nothing was.
    n_resamples
        Number of resamples behind the interval, None where none were drawn.
    n_items, n_cells
        Distinct items and split x seed cells behind the estimate.
    reason
        In words: why a number is missing, or what to keep in mind about it.
    """

    estimate: float | None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    level: float | None = None
    interval: IntervalName = "none"
    estimator: EstimatorName = "plugin"
    design: str | None = None
    n_resamples: int | None = None
    n_items: int | None = None
    n_cells: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateRow:
    """One metric of one condition."""

    metric: str
    condition: Condition
    group: str | None = None
    split: str | None = None
    seed: int | None = None
    direction: Direction
    unc: Uncertainty
    cell_sd: float | None = None
    floor: float | None = None
    corrected: float | None = None
    corrected_low: float | None = None
    corrected_high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCurveRow:
    """One quantity of the label-side curve (no model)."""

    quantity: str
    metric: str
    budget: int | None = None
    q: float | None = None
    target: str
    alpha: float | None = None
    reference: str
    reference_size: int | None = None
    direction: Direction
    unc: Uncertainty
    draw_sd: float | None = None
    draw_low: float | None = None
    draw_high: float | None = None
    mc_se: float | None = None
    n_dropped: int = 0
    censored: str | None = None


HALF_OPEN = ("n_star", "n_star_noninferiority")
"""Quantities on the grid of budgets: their interval (low, high] leaves its lower end out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveRow:
    """One quantity of a saturation curve; of a fitted curve (``fit_...``), ``baseline`` names its form."""

    quantity: str
    metric: str
    metric_b: str | None = None
    curve: str
    model: str | None = None
    method: str | None = None
    budget: int | None = None
    baseline: str | None = None
    ceiling: str | None = None
    q: float | None = None
    margin: float | None = None
    direction: Direction
    unc: Uncertainty
    simultaneous_low: float | None = None
    simultaneous_high: float | None = None
    p: float | None = None
    fieller_low: float | None = None
    fieller_high: float | None = None
    fieller_shape: str | None = None
    denominator_p: float | None = None
    censored: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MurphyRow:
    """One term of the Murphy decomposition of one condition, or its difference to another condition."""

    condition: Condition
    versus: str | None = None
    outcome: str
    binning: str
    bins: int | None = None
    bins_used: int | None = None
    label: str
    term: str
    unc: Uncertainty


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRow:
    """One quantity or test of a comparison of two conditions, a against b."""

    metric: str
    a: str
    b: str
    quantity: str
    unc: Uncertainty
    favours: str | None = None
    test: str | None = None
    alternative: str | None = None
    statistic: float | None = None
    df: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    adjustment: str | None = None
    family_size: int | None = None
    margin: float | None = None
    wins: int | None = None
    losses: int | None = None
    ties: int | None = None
    n_pairs: int | None = None
    sentence: str | None = None


Row = TypeVar("Row")
"""A frozen row of one command."""
