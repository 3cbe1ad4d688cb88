"""Which conditions form a curve, what its ceiling is, and which baselines stand beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from saturation.conditions import STANDARD_COLUMNS, Condition, parse, select
from saturation.errors import UsageError

ALL_VOTES_METHODS = ("hard", "smoothing", "smoothing_tuned", "temperature", "base_rate")
"""Methods whose target is made from all votes unless a budget says otherwise: baselines, not curves."""
BASELINE_METHODS = ("smoothing", "smoothing_tuned", "temperature", "base_rate")
SMALLEST, EQUAL_BUDGET = "smallest", "hard[N]"
ASYMPTOTE = "asymptote"
"""The ceiling that is what a fitted curve settles at."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Conditions that share every condition column but budget.

    Attributes
    ----------
    condition
        The shared columns (without budget).
    budgets
        (points,) ascending numbers of votes; (None,) for one condition made from all votes.
    members
        (points,) indices into the panel's conditions.
    ceiling
        Index of the condition that is the ceiling; None where the model has none.
    """

    condition: Condition
    budgets: tuple[int | None, ...]
    members: tuple[int, ...]
    ceiling: int | None

    @property
    def text(self) -> str:
        """Text form without the budget."""
        return str(self.condition)

    @property
    def is_curve(self) -> bool:
        """At least two budgets; else it is a point."""
        return len(self.members) > 1

    @property
    def takes_votes(self) -> bool:
        """Whether it is a target whose budget is the question, and not a baseline made from all votes."""
        return self.is_curve or self.condition.method not in ALL_VOTES_METHODS


@dataclass(frozen=True, slots=True)
class Baseline:
    """One baseline of one curve.

    Attributes
    ----------
    name
        As in the rows: ``smallest``, ``hard``, ``hard[N]``, ``smoothing[0.1]``, ``temperature`` ...
    members
        (points,) the condition that stands at zero for each point of the curve; None where there is none.
    """

    name: str
    members: tuple[int | None, ...]


def curves_of(conditions: Sequence[Condition], ceiling: str | None = None) -> tuple[Curve, ...]:
    """All curves and points, in canonical order, each with its ceiling.

    Parameters
    ----------
    conditions
        Of the panel, in canonical order.
    ceiling
        A selector of one condition (one for each model); None and ``asymptote``: ``soft`` at the largest budget of the
        same model, else the curve's own largest budget (for ``asymptote``, whose curve is then fitted).

    Raises
    ------
    UsageError
        When the selector does not name one condition, or several conditions could be a model's ceiling.
    """
    selector = None if ceiling == ASYMPTOTE else ceiling
    grouped: dict[tuple[Condition, bool], list[int]] = {}
    for index, one in enumerate(conditions):
        grouped.setdefault((one.without("budget"), one.budget is None), []).append(index)
    made = []
    for (shared, _), members in grouped.items():
        budgets = tuple(conditions[m].budget for m in members)
        top = _chosen(conditions, shared, selector) if selector else _default(conditions, shared, members)
        made.append(Curve(shared, budgets, tuple(members), top))
    return tuple(made)


def baselines_of(
    curve: Curve, conditions: Sequence[Condition], wanted: Sequence[str] | None = None
) -> tuple[Baseline, ...]:
    """The baselines of the same model, side by side; ``wanted`` restricts them by name."""
    peers = [i for i, c in enumerate(conditions) if _family(c) == _family(curve.condition)]
    found: dict[str, tuple[int | None, ...]] = {}
    for index in peers:
        one = conditions[index]
        if one.budget is None and (one.method == "hard" or one.method in BASELINE_METHODS):
            found[_name(one, [conditions[p] for p in peers])] = (index,) * len(curve.members)
    at_equal = {conditions[i].budget: i for i in peers if conditions[i].method == "hard"}
    if curve.condition.method != "hard" and any(b is not None and b in at_equal for b in curve.budgets):
        found[EQUAL_BUDGET] = tuple(None if b is None else at_equal.get(b) for b in curve.budgets)
    if curve.is_curve:
        found[SMALLEST] = (curve.members[0],) * len(curve.members)
    kept = found if wanted is None else {name: found[name] for name in wanted if name in found}
    return tuple(Baseline(name, members) for name, members in sorted(kept.items(), key=lambda kv: _rank(kv[0])))


def check_wanted(wanted: Sequence[str] | None, found: Mapping[str, object]) -> None:
    """Refuse baselines that no curve of the study has."""
    for name in wanted or ():
        if name not in found:
            listed = ", ".join(found) or "none"
            raise UsageError(f"no curve has a baseline {name!r}; this study has: {listed}")


def _chosen(conditions: Sequence[Condition], shared: Condition, selector: str) -> int:
    """The one condition selected; where several models are selected, the one of the same model."""
    wanted, null = parse(selector)
    matching = [c for c in conditions if c.matches(wanted, null=null)]
    pool = matching if len(matching) <= 1 else [c for c in conditions if _family(c) == _family(shared)]
    return list(conditions).index(select(tuple(pool or conditions), selector))


def _default(conditions: Sequence[Condition], shared: Condition, members: Sequence[int]) -> int | None:
    soft = [i for i, c in enumerate(conditions) if c.method == "soft" and _family(c) == _family(shared)]
    if soft:
        largest = max(_size(conditions[i]) for i in soft)
        top = [i for i in soft if _size(conditions[i]) == largest]
        own = [i for i in top if i in members]
        if len(own or top) > 1:
            listed = "; ".join(str(conditions[i]) for i in top)
            raise UsageError(f"several conditions could be the ceiling; name one with --ceiling (ceiling=): {listed}")
        return (own or top)[0]
    return members[-1] if len(members) > 1 else None


def _size(condition: Condition) -> float:
    """Votes of the target; null means all."""
    return float("inf") if condition.budget is None else condition.budget


def _family(condition: Condition) -> tuple[object, ...]:
    """What curve, ceiling and baseline must share: the model and every column that does not describe the target."""
    extra = tuple((name, value) for name, value in condition.values if name not in STANDARD_COLUMNS)
    return (condition.model, *extra)


def _name(one: Condition, peers: Sequence[Condition]) -> str:
    """``method``, with its parameters in brackets for smoothing or where a method occurs more than once."""
    told = [value for name, value in one.without("model", "method").values if name in STANDARD_COLUMNS]
    alone = sum(p.method == one.method and p.budget is None for p in peers) == 1
    if not told or (alone and one.method != "smoothing"):
        return one.method
    return f"{one.method}[{';'.join(f'{v:g}' if isinstance(v, float) else str(v) for v in told)}]"


def _rank(name: str) -> tuple[int, str]:
    order = ("hard", EQUAL_BUDGET, "smoothing", "smoothing_tuned", "temperature", "base_rate", SMALLEST)
    kind = name if name in order else name.partition("[")[0]
    return (order.index(kind) if kind in order else len(order), name)
