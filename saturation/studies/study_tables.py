"""The rows that stand across a study: conditions against a baseline, budgets and what they buy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from saturation.analyses.across.sides import Side
from saturation.analyses.across.steps import steps_of
from saturation.conditions import STANDARD_COLUMNS, Condition, select
from saturation.resampling.multiplicity import adjust
from saturation.results import CompareRow, CurveRow, Result, Uncertainty
from saturation.results.study import AcrossRow, AdviceRow, MainRow, StudyPart
from saturation.studies.answers import found_budget, headline_baseline, real_curves

if TYPE_CHECKING:
    from saturation.typing import Direction

ADJUSTMENT = "holm"
IS_BASELINE = "it is the baseline itself"
NO_BASELINE = "this model has no baseline: no hard labels, no other baseline and no second budget"
_BASELINES = ("hard", "temperature", "smoothing_tuned", "base_rate")


def against_baseline(conditions: Sequence[Condition], against: str | None) -> list[tuple[Condition, Condition]]:
    """Every condition with the baseline of its model (and of its other columns that do not describe the target).

    Examples
    --------
    >>> hard, few = Condition.of(model="m", method="hard"), Condition.of(model="m", method="soft", budget=3)
    >>> [(str(a), str(b)) for a, b in against_baseline((hard, few), None)]
    [('model=m,method=soft,budget=3', 'model=m,method=hard')]
    """
    pairs = []
    for family in dict.fromkeys(map(_family, conditions)):
        own = tuple(one for one in conditions if _family(one) == family)
        base = baseline_of(own, against)
        pairs += [(one, base) for one in own if base is not None and one != base]
    return pairs


def _family(condition: Condition) -> tuple[object, ...]:
    """What a condition and its baseline share."""
    extra = (pair for pair in condition.values if pair[0] not in STANDARD_COLUMNS)
    return condition.model, *extra


def baseline_of(own: Sequence[Condition], against: str | None) -> Condition | None:
    """What a model's conditions are compared with: the selected one, else hard labels, else the next best known."""
    if against is not None:
        return select(tuple(own), against)
    for method in _BASELINES:
        found = [one for one in own if one.method == method and one.budget is None]
        if found:
            return found[0]
    budgets = sorted((one for one in own if one.budget is not None), key=lambda one: one.budget or 0)
    return budgets[0] if len(budgets) > 1 else None


def main_rows(parts: Sequence[StudyPart], compared: Mapping[str, Result[Any] | None]) -> tuple[MainRow, ...]:
    """Every metric of every condition with its difference to the baseline, one family of tests over the study."""
    rows = [row for part in parts for row in _main_rows(part, compared[part.data])]
    p_adjusted, size = adjust(_p_values(rows), ADJUSTMENT)
    return tuple(_judged(row, float(p), size) for row, p in zip(rows, p_adjusted, strict=True))


def _main_rows(part: StudyPart, compared: Result[Any] | None) -> Iterator[MainRow]:
    found: dict[tuple[str, str], dict[str, CompareRow]] = {}
    for row in () if compared is None else compared.rows:
        found.setdefault((row.metric, row.a), {})[row.quantity] = row
    opponents = {b.b for pair in found.values() for b in pair.values()}
    for row in part.report.sections["evaluate"].rows:
        if (row.group, row.split, row.seed) != (None, None, None):
            continue
        plain = MainRow(data=part.data, metric=row.metric, condition=row.condition, direction=row.direction,
                        unc=row.unc, cell_sd=row.cell_sd)  # fmt: skip
        pair = found.get((row.metric, str(row.condition)))
        if pair is None:
            why = IS_BASELINE if str(row.condition) in opponents else NO_BASELINE
            yield replace(plain, difference_reason=why)
        else:
            yield _with_difference(plain, pair["difference"], pair["wins"])


def _with_difference(plain: MainRow, difference: CompareRow, won: CompareRow) -> MainRow:
    return replace(
        plain,
        against=difference.b,
        difference=difference.unc.estimate,
        difference_low=difference.unc.low,
        difference_high=difference.unc.high,
        difference_reason=difference.unc.reason,
        p=difference.p,
        adjustment=ADJUSTMENT,
        wins=won.wins,
        losses=won.losses,
        ties=won.ties,
        n_cells_compared=won.n_pairs,
    )


def _judged(row: MainRow, p_adjusted: float, size: int) -> MainRow:
    """The row with its adjusted p and what was found."""
    if row.against is None:
        return row
    adjusted_p = None if row.p is None else p_adjusted
    alpha = 1 - (row.unc.level or 0.95)
    better = {"lower": -1, "higher": 1, "none": 0}[row.direction] * float(np.sign(row.difference or 0.0))
    found = adjusted_p is not None and adjusted_p < alpha and better != 0
    side = ("condition" if better > 0 else "baseline") if found else None
    return replace(row, p_adjusted=adjusted_p, family_size=size, favours=side)


def adjusted(rows: Sequence[AcrossRow]) -> tuple[AcrossRow, ...]:
    """Rows with p adjusted over all rows of the study that ask the same question."""
    made = list(rows)
    for quantity in dict.fromkeys(row.quantity for row in rows):
        places = [at for at, row in enumerate(rows) if row.quantity == quantity and row.p is not None]
        values, size = adjust(_p_values([rows[at] for at in places]), ADJUSTMENT)
        for at, p in zip(places, values, strict=True):
            made[at] = replace(rows[at], p_adjusted=float(p), family_size=size)
    return tuple(made)


# --- budgets ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """A step of one model's curve."""

    model: str
    curve: str
    metric: str
    direction: Direction
    budget: int
    budget_next: int
    unc: Uncertainty
    p: float | None = None


def step_rows(side: Side) -> Iterator[StepRow]:
    """The steps of a side as rows that can be kept."""
    for step in steps_of(side):
        yield StepRow(
            model=side.model, curve=side.curve.text, metric=step.metric, direction=step.direction, budget=step.budget,
            budget_next=step.budget_next, unc=step.unc, p=step.p,
        )  # fmt: skip


def main_curve_of(part: StudyPart) -> str | None:
    """The curve that a model is judged by: soft labels first, then the one with the most budgets."""
    rows: Sequence[CurveRow] = part.report.sections["curve"].rows
    known = real_curves(rows)
    methods = {row.curve: row.method for row in rows}
    return next((curve for curve in known if methods[curve] == "soft"), known[0] if known else None)


def main_rows_of_curve(part: StudyPart) -> list[CurveRow]:
    """The rows of the curve that a model is judged by."""
    curve = main_curve_of(part)
    return [row for row in part.report.sections["curve"].rows if row.curve == curve]


def advice_rows(part: StudyPart, steps: Sequence[StepRow], costs: tuple[float, float] | None) -> Iterator[AdviceRow]:
    """N* of every metric over the headline baseline, then what each step buys; ``costs`` of an item and a vote."""
    rows = main_rows_of_curve(part)
    baseline = headline_baseline(rows)
    for row in rows:
        if row.quantity == "n_star" and row.baseline == baseline:
            named = found_budget(row)
            yield AdviceRow(
                data=part.data, model=part.model, curve=row.curve, metric=row.metric, quantity="n_star",
                budget=None if named is None else round(named), baseline=baseline, q=row.q, direction=row.direction,
                unc=row.unc, censored=row.censored, cost=_cost(None if named is None else round(named), costs),
            )  # fmt: skip
    for step in (step for step in steps if step.model == part.model):
        cost, after = _cost(step.budget, costs), _cost(step.budget_next, costs)
        scale = None if cost is None or after is None or after == cost else 1 / (after - cost)
        yield AdviceRow(
            data=part.data, model=part.model, curve=step.curve, metric=step.metric, quantity="next_step",
            budget=step.budget, budget_next=step.budget_next, direction=step.direction, unc=step.unc, p=step.p,
            cost=cost, cost_next=after, per_cost=_scaled(step.unc.estimate, scale),
            per_cost_low=_scaled(step.unc.low, scale), per_cost_high=_scaled(step.unc.high, scale),
        )  # fmt: skip


def _cost(budget: int | None, costs: tuple[float, float] | None) -> float | None:
    """Of labelling one item with so many votes."""
    return None if costs is None or budget is None else costs[0] + budget * costs[1]


def _scaled(value: float | None, scale: float | None) -> float | None:
    return None if value is None or scale is None else value * scale


def _p_values(rows: Sequence[Any]) -> np.ndarray:
    return np.array([np.nan if row.p is None else row.p for row in rows], dtype=np.float64)
