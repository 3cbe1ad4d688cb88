"""Rows of a plan: what makes a score uncertain, what to buy, and what it would show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from saturation.results.result import Result
from saturation.results.rows import Uncertainty


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """One number of a plan.

    Attributes
    ----------
    quantity
        ``optimum`` (votes an item), ``component`` (a variance), ``width`` (of the interval), ``bias`` (of a value
        against N votes), ``floor`` (width that no money buys), ``difference`` (a - b in the pilot), ``power``,
        ``detectable`` (difference found with 80% power) or ``wrong_metric`` (expected error at the other metric's
        optimum, relative to that at its own).
    metric
        What is estimated.
    metric_b
        Whose optimum is used instead, for ``wrong_metric``.
    a, b
        Text forms of the models; None for labels alone, and for a single model's b.
    component
        ``items``, ``votes`` or ``annotators``.
    budget, items, annotators, cost
        The design: votes an item, items, people, and what it costs.
    planned_difference
        The difference that ``power`` is for.
    """

    quantity: str
    metric: str
    metric_b: str | None = None
    a: str | None = None
    b: str | None = None
    component: str | None = None
    budget: int | None = None
    items: int | None = None
    annotators: int | None = None
    cost: float | None = None
    planned_difference: float | None = None
    unc: Uncertainty


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanResult(Result[PlanRow]):
    """A plan for an evaluation: items and votes for each metric, and what they would show."""

    command: ClassVar[str] = "plan"
    row_type = PlanRow
