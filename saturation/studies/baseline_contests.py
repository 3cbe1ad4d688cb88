"""Which comparisons a report makes: soft labels at the largest budget against every baseline of the same model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saturation.analyses.comparing.comparison import compare_pairs
from saturation.analyses.curve.curves import EQUAL_BUDGET, Curve, baselines_of
from saturation.conditions import Condition
from saturation.results import CompareResult
from saturation.tables.panel import Panel


def soft_against_baselines(panel: Panel, pairs: Sequence[tuple[Condition, Condition]], **options: Any) -> CompareResult:
    """The pairs of :func:`contests` as one family of tests.

    Parameters
    ----------
    panel
        Votes and predictions.
    pairs
        At least one.
    options
        As in :func:`~saturation.analyses.comparing.comparison.compare_pairs`.
    """
    return compare_pairs(panel, pairs, tests=("sign_cells",), **options)


def contests(conditions: Sequence[Condition]) -> list[tuple[Condition, Condition]]:
    """Pairs (soft at the largest budget, a baseline made from all votes), model by model.

    Examples
    --------
    >>> few, many, hard = (Condition.of(model="m", method="soft", budget=3),
    ...                    Condition.of(model="m", method="soft", budget=9), Condition.of(model="m", method="hard"))
    >>> [(str(a), str(b)) for a, b in contests((hard, few, many))]
    [('model=m,method=soft,budget=9', 'model=m,method=hard')]
    """
    soft: dict[Condition, list[int]] = {}
    for place, one in enumerate(conditions):
        if one.method == "soft":
            soft.setdefault(one.without("budget"), []).append(place)
    pairs = []
    for shared, members in soft.items():
        top = max(members, key=lambda place: _size(conditions[place]))
        curve = Curve(shared, (conditions[top].budget,), (top,), None)
        bases = [baseline.members[0] for baseline in baselines_of(curve, conditions) if baseline.name != EQUAL_BUDGET]
        pairs += [(conditions[top], conditions[base]) for base in bases if base is not None]
    return pairs


def _size(condition: Condition) -> float:
    """Votes of the target; null means all."""
    return float("inf") if condition.budget is None else condition.budget
