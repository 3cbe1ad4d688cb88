"""Rows of a plan, quantity by quantity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from saturation.analyses.context import plain
from saturation.analyses.planning.components import TRUNCATED, Components
from saturation.analyses.planning.costs import Costs
from saturation.analyses.planning.expectations import POWER, Expected, Range, expected, people_range
from saturation.analyses.planning.people import NO_SPREAD
from saturation.analyses.planning.power import detectable, power
from saturation.analyses.planning.spreads import (
    AT_MOST,
    NO_NOISE,
    UPPER_END,
    Drawn,
    Linear,
    Optimum,
    Spread,
)
from saturation.analyses.planning.subjects import Subject
from saturation.metrics.metric import Metric
from saturation.resampling.intervals import critical
from saturation.results import PlanRow, Uncertainty
from saturation.typing import EstimatorName, IntervalName

SIMULATED = (
    "no mean over votes, so it has no components: its noise at N votes was simulated from the law fitted to the pilot"
)
BEYOND_PILOT = "more votes than any item of the pilot has: an extrapolation"
TOO_DEAR = "fewer than two items are affordable"
NO_TWO_MODELS = "power to tell two models apart needs two: name them with a and b (--a, --b)"
SINGLE_SHORT = "undefined with so few votes an item"


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One metric of the plan.

    Attributes
    ----------
    metric
        The metric.
    spread
        Its noise by budget, or the reason why there is none.
    optimum
        The best number of votes an item, or the reason.
    """

    metric: Metric
    spread: Spread | str
    optimum: Optimum | str

    @property
    def components(self) -> Components | None:
        """Of a mean over votes."""
        return self.spread.parts if isinstance(self.spread, Linear) else None


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """Everything that the rows share.

    Attributes
    ----------
    subject, costs, level
        What is planned, for how much, at which level.
    budgets
        Votes an item of the table.
    most_seen
        Votes of the pilot's richest item.
    n_people
        Annotators of the new votes; None where they are not known.
    difference
        That power is wanted for; None: the pilot's own.
    """

    subject: Subject
    costs: Costs
    level: float
    budgets: tuple[int, ...]
    most_seen: int
    n_people: int | None
    difference: float | None


def rows_of(field: Field, entries: Sequence[Entry]) -> list[PlanRow]:
    """All rows, a quantity after the other."""
    rows = [_optimum_row(field, one) for one in entries]
    for one in entries:
        rows += _component_rows(field, one)
    rows += [row for one in entries for row in _width_rows(field, one)]
    rows += [row for one in entries for row in _bias_rows(field, one)]
    rows += [row for one in entries for row in _floor_rows(field, one)]
    if field.subject.is_difference:
        rows += [_difference_row(field, one) for one in entries]
        for quantity in ("power", "detectable"):
            for one in entries:
                rows += _power_rows(field, one, quantity)
    else:
        rows.append(_row(field, entries[0], "power", _none(field, NO_TWO_MODELS)))
    if len(entries) > 1:
        rows += [row for one in entries for row in _wrong_metric_rows(field, one, entries)]
    return rows


# --- the optimum and the components -----------------------------------------------------------------------------------


def _optimum_row(field: Field, entry: Entry) -> PlanRow:
    found = entry.optimum
    if isinstance(found, str):
        return _row(field, entry, "optimum", _none(field, found))
    last = int(field.costs.budgets()[-1])
    capped = AT_MOST if found.budget == last else UPPER_END if found.high == last else None
    reason = found.reason or capped
    interval: IntervalName = "fieller" if entry.components is not None else "linearized_t"
    made = Range(float(found.budget), float(found.low), float(found.high))
    unc = _known(field, entry, made, interval=interval, reason=_said(reason, _beyond(field, found.budget)))
    return _row(field, entry, "optimum", unc, budget=found.budget)


def _component_rows(field: Field, entry: Entry) -> Iterator[PlanRow]:
    parts = entry.components
    if parts is None:
        reason = entry.spread if isinstance(entry.spread, str) else SIMULATED
        yield _row(field, entry, "component", _none(field, reason))
        return
    for name, value in (("items", parts.items), ("votes", parts.votes)):
        made, said = parts.interval(name, field.level), TRUNCATED if value < 0 else None
        kept = max(value, 0.0)
        if made.low is None or made.high is None:
            unc = _known(field, entry, kept, reason=_said(said, made.reason))
        else:
            unc = _known(field, entry, Range(kept, made.low, made.high), interval=made.method, reason=said)
        yield _row(field, entry, "component", unc, component=name)
    if parts.people is not None:
        yield _row(field, entry, "component", _people(field, entry, parts), component="annotators")


def _people(field: Field, entry: Entry, parts: Components) -> Uncertainty:
    people = parts.people
    assert people is not None
    made = people.interval(field.level)
    if people.reason is not None:
        return _none(field, people.reason)
    kept = max(people.variance, 0.0)
    if made.low is None or made.high is None:
        return _known(field, entry, kept, reason=NO_SPREAD)
    reason = "truncated at 0: people differ no more than chance" if people.variance < 0 else None
    return _known(field, entry, Range(kept, made.low, made.high), interval="normal", reason=reason)


def _floor_rows(field: Field, entry: Entry) -> Iterator[PlanRow]:
    """The width that is left with items without end, for so many people."""
    parts = entry.components
    if parts is None or parts.people is None or field.n_people is None:
        return
    if parts.people.reason is not None or field.n_people < 2:
        reason = parts.people.reason or "one annotator: other people are not in any interval"
        yield _row(field, entry, "floor", _none(field, reason), annotators=field.n_people)
        return
    found = people_range(parts.people, field.n_people, field.level)
    factor = 2 * critical(field.level, field.n_people - 1)
    made = Range(*(factor * one**0.5 for one in (found.value, found.low, found.high)))
    unc = _known(field, entry, made, interval="normal")
    yield _row(field, entry, "floor", unc, annotators=field.n_people)


# --- designs ----------------------------------------------------------------------------------------------------------


def _width_rows(field: Field, entry: Entry) -> Iterator[PlanRow]:
    if isinstance(entry.spread, str):
        yield _row(field, entry, "width", _none(field, entry.spread))
        return
    for budget in field.budgets:
        found = _expected(field, entry, budget)
        if isinstance(found, str):
            unc = _none(field, found)
        else:
            made = found.width(field.level)
            unc = _known(field, entry, made, interval="linearized_t", reason=_beyond(field, budget))
            unc = replace(unc, se=found.se.value)
        yield _row(field, entry, "width", unc, budget=budget)


def _bias_rows(field: Field, entry: Entry) -> Iterator[PlanRow]:
    """How far the value against N votes lies from the value against everybody, where the metric is no mean."""
    spread = entry.spread
    if not isinstance(spread, Drawn):
        return
    for budget in field.budgets:
        if spread.variance(budget) is None:
            yield _row(field, entry, "bias", _none(field, SINGLE_SHORT), budget=budget)
            continue
        value, se = spread.bias(budget)
        half = critical(field.level, spread.df) * se
        unc = _known(field, entry, Range(value, value - half, value + half), interval="linearized_t")
        yield _row(field, entry, "bias", unc, budget=budget)


def _expected(field: Field, entry: Entry, budget: int) -> Expected | str:
    """What a design is expected to show, or why that is not known."""
    assert not isinstance(entry.spread, str)
    if field.costs.items(budget) < 2:
        return TOO_DEAR
    people = None if entry.components is None else entry.components.people
    found = expected(entry.spread, people, field.costs, budget, field.n_people)
    if found is not None:
        return found
    return NO_NOISE if entry.components is not None else SINGLE_SHORT


def _difference_row(field: Field, entry: Entry) -> PlanRow:
    found = _pilot_difference(field, entry)
    reason = "no interval: the difference is the same on every item" if found.low == found.high else None
    unc = _known(field, entry, found if reason is None else found.value, interval="linearized_t", reason=reason)
    return _row(field, entry, "difference", unc)


def _pilot_difference(field: Field, entry: Entry) -> Range:
    """The difference a - b in the pilot, for other items and people."""
    values = field.subject.values(plain(entry.metric), field.subject.human.counts)
    value, n_items = float(values.mean()), len(values)
    variance, df = float(values.var(ddof=1)) / n_items if n_items > 1 else 0.0, float(n_items - 1)
    if entry.components is not None:
        variance, df = max(variance, entry.components.mean_variance), entry.components.df
    half = critical(field.level, df) * variance**0.5 if variance > 0 else 0.0
    return Range(value, value - half, value + half)


def _power_rows(field: Field, entry: Entry, quantity: str) -> Iterator[PlanRow]:
    if isinstance(entry.spread, str):
        yield _row(field, entry, quantity, _none(field, entry.spread))
        return
    pilot = _pilot_difference(field, entry)
    for budget in field.budgets:
        found = _expected(field, entry, budget)
        own = _own_difference(entry.spread, pilot, budget, field.level)
        if isinstance(found, str):
            unc = _none(field, found)
        else:
            made = _detectable(found, field.level) if quantity == "detectable" else _power(found, own, field)
            unc = _known(field, entry, made, interval="linearized_t", reason=_beyond(field, budget))
        planned = None if quantity == "detectable" else own.value if field.difference is None else field.difference
        yield _row(field, entry, quantity, unc, budget=budget, planned_difference=planned)


def _own_difference(spread: Spread, pilot: Range, budget: int, level: float) -> Range:
    """The pilot's difference; of a metric that is no mean, what it is expected to be against so many votes."""
    if isinstance(spread, Linear):
        return pilot
    value, se = spread.value(budget)
    half = critical(level, spread.df) * se
    return Range(value, value - half, value + half)


def _detectable(found: Expected, level: float) -> Range:
    return Range(*(detectable(se, found.df, level, POWER) for se in (found.se.value, found.se.low, found.se.high)))


def _power(found: Expected, own: Range, field: Field) -> Range:
    """Of a planned difference; of the pilot's own with its uncertainty too, down to none where that includes 0."""
    if field.difference is None:
        ends = (own.low, own.high)
        sizes = (abs(own.value), 0.0 if ends[0] <= 0 <= ends[1] else min(map(abs, ends)), max(map(abs, ends)))
    else:
        sizes = (abs(field.difference),) * 3
    errors = (found.se.value, found.se.high, max(found.se.low, 1e-9 * found.se.value))
    made = [power(size, se, found.df, field.level) for size, se in zip(sizes, errors, strict=True)]
    return Range(*made)


def _wrong_metric_rows(field: Field, entry: Entry, entries: Sequence[Entry]) -> Iterator[PlanRow]:
    """Expected error at every other metric's optimum, relative to that at the own one; without the annotators' part."""
    for other in entries:
        if other is entry:
            continue
        yield _row(field, entry, "wrong_metric", _cost_of(field, entry, other), metric_b=other.metric.name,
                   budget=other.optimum.budget if isinstance(other.optimum, Optimum) else None)  # fmt: skip


def _cost_of(field: Field, entry: Entry, other: Entry) -> Uncertainty:
    for one in (entry, other):
        if isinstance(one.optimum, str):
            return _none(field, f"{one.metric.name}: {one.optimum}")
    assert isinstance(entry.optimum, Optimum)
    assert isinstance(other.optimum, Optimum)
    assert not isinstance(entry.spread, str)
    own, theirs = entry.optimum.budget, other.optimum.budget
    there = theirs, field.costs.items(theirs)
    here = own, field.costs.items(own)
    worse, best = entry.spread.error(*there), entry.spread.error(*here)
    if worse is None or best is None:
        return _none(field, f"{entry.metric.name}: {SINGLE_SHORT}")
    if theirs == own:
        return _known(field, entry, 1.0, reason="the same number of votes an item")
    ratio = (worse / best) ** 0.5
    stretch = float(np.exp(critical(field.level, entry.spread.df) * entry.spread.log_error_se(*there, *here) / 2))
    return _known(field, entry, Range(ratio, ratio / stretch, ratio * stretch), interval="linearized_t")


# --- shared -----------------------------------------------------------------------------------------------------------


def _row(field: Field, entry: Entry, quantity: str, unc: Uncertainty, **rest: Any) -> PlanRow:
    names = (*field.subject.names, None, None)
    budget = rest.get("budget")
    if budget is not None:
        rest |= {"items": field.costs.items(budget), "cost": field.costs.spent(budget), "annotators": field.n_people}
    return PlanRow(quantity=quantity, metric=entry.metric.name, a=names[0], b=names[1], unc=unc, **rest)


def _known(
    field: Field, entry: Entry, made: Range | float, *, interval: IntervalName = "none", reason: str | None = None
) -> Uncertainty:
    estimator: EstimatorName = "model" if isinstance(entry.spread, Drawn) else "plugin"
    parts = entry.components
    ends = made if isinstance(made, Range) else Range(made, float("nan"), float("nan"))
    has_ends = np.isfinite(ends.low) and np.isfinite(ends.high)
    if not has_ends and isinstance(made, Range):
        reason = _said(reason, "no interval: it does not exist without some of the items")
    return Uncertainty(
        estimate=ends.value,
        low=float(ends.low) if has_ends else None,
        high=float(ends.high) if has_ends else None,
        level=field.level,
        interval=interval if has_ends else "none",
        estimator=estimator,
        design="items" if parts is None or parts.people is None else "items and annotators",
        n_items=field.subject.n_items if parts is None else parts.n_items,
        reason=reason,
    )


def _none(field: Field, reason: str) -> Uncertainty:
    return Uncertainty(None, level=field.level, n_items=field.subject.n_items, reason=reason)


def _beyond(field: Field, budget: int) -> str | None:
    return BEYOND_PILOT if budget > field.most_seen else None


def _said(*texts: str | None) -> str | None:
    return "; ".join(text for text in texts if text) or None
