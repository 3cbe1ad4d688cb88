"""The numbers of each figure, made apart from the figure: plain rows in, plain rows out, nothing drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from saturation.conditions import Condition, parse
from saturation.results import CurveRow, DataSummary, EvaluateResult, LabelCurveResult, LabelCurveRow, SaturationResult
from saturation.studies import phrases
from saturation.studies.answers import found_budget, headline_baseline, largest_below, real_curves

CurveResult: TypeAlias = LabelCurveResult | SaturationResult


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a curve.

    Attributes
    ----------
    metric, series
        Panel and line that the point belongs to.
    budget
        Votes an item; None for a condition without a budget (drawn as a level).
    value, low, high
        Estimate and interval; None where undefined.
    band_low, band_high
        A second, wider statement: one actual draw (label side) or simultaneous over budgets (model side).
    unbounded
        Fieller's set is not an interval: the data do not bound this number. ``low`` and ``high`` are then the ends of
        the gap in the set, None where it is the whole line.
    alone
        The label-only curve that stands beside a model curve.
    """

    metric: str
    series: str
    budget: int | None
    value: float | None
    low: float | None = None
    high: float | None = None
    band_low: float | None = None
    band_high: float | None = None
    unbounded: bool = False
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Star:
    """One N* of the n_star figure.

    ``above`` is the largest budget a censored one is known to exceed; ``at_most`` says that ``value`` is the smallest
    budget tried, so that the answer may be smaller.
    """

    metric: str
    series: str
    q: float
    value: float | None
    low: float | None
    high: float | None
    above: float | None
    at_most: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """One condition of one metric."""

    metric: str
    name: str
    value: float | None
    low: float | None
    high: float | None


def metrics_of(result: CurveResult | EvaluateResult) -> tuple[str, ...]:
    """Metrics of a result in the order they were asked for."""
    return tuple(dict.fromkeys(row.metric for row in result.rows))


def curves_of(result: CurveResult) -> tuple[str, ...]:
    """Model curves of a result that have at least two budgets; none on the label side."""
    return real_curves(result.rows) if isinstance(result, SaturationResult) else ()


def label_curve_data(result: LabelCurveResult) -> list[Point]:
    """Value against budget, with the interval for other items and the spread of one actual draw."""
    return [
        Point(
            metric=row.metric,
            series="labels alone",
            budget=row.budget,
            value=row.unc.estimate,
            low=row.unc.low,
            high=row.unc.high,
            band_low=row.draw_low,
            band_high=row.draw_high,
        )
        for row in result.rows
        if row.quantity == "value" and row.budget is not None
    ]


def saturation_curve_data(result: SaturationResult) -> list[Point]:
    """Value against budget for each curve; conditions without a budget as levels; the label-only curve beside."""
    rows = [r for r in result.rows if r.quantity in ("value", "label_value")]
    names = short_names(r.curve for r in rows if r.quantity == "value")
    lines = set(curves_of(result))
    rows.sort(key=lambda row: row.curve not in lines)
    return [_curve_point(row, names.get(row.curve, row.curve)) for row in rows]


def fractions_data(result: CurveResult, curve: str | None = None) -> list[Point]:
    """Fraction against budget, one series a baseline; for a saturation result of one curve (the first by default)."""
    if isinstance(result, LabelCurveResult):
        return [
            Point(row.metric, "labels alone", row.budget, row.unc.estimate, row.unc.low, row.unc.high)
            for row in result.rows
            if row.quantity == "fraction"
        ]
    rows = [r for r in result.rows if r.quantity in ("fraction", "label_fraction")]
    wanted = curve if curve is not None else next(iter(curves_of(result)), None)
    return [_curve_point(row, row.baseline or "") for row in rows if row.curve == wanted]


def n_star_data(result: CurveResult) -> list[Star]:
    """N* of every metric and curve over its headline baseline, at every q."""
    stars = []
    rows = [r for r in result.rows if r.quantity == "n_star" and _is_headline(result, r)]
    names = _star_names(rows)
    for row in rows:
        above = _largest_below_ceiling(result, row) if row.censored == "above" else None
        low = row.unc.low
        if low == 0:  # excludes no budget: drawn from the smallest one, as zero has no place on the axis
            low = _smallest_budget(result, row)
        at_most, name = row.censored == "below", names[_star_key(row)]
        stars.append(Star(row.metric, name, row.q or 0.0, found_budget(row), low, row.unc.high, above, at_most))
    return stars


def _is_headline(result: CurveResult, row: CurveRow | LabelCurveRow) -> bool:
    if not isinstance(row, CurveRow) or not isinstance(result, SaturationResult):
        return True
    return row.baseline == headline_baseline(r for r in result.rows if (r.metric, r.curve) == (row.metric, row.curve))


def conditions_data(result: EvaluateResult) -> list[Bar]:
    """The mean over cells of every metric and condition."""
    rows = [r for r in result.rows if r.group is None and r.split is None and r.seed is None]
    names = short_names(str(row.condition) for row in rows)
    return [Bar(row.metric, names[str(row.condition)], row.unc.estimate, row.unc.low, row.unc.high) for row in rows]


def checks_data(data: DataSummary) -> list[tuple[str, int]]:
    """What the door let in, left out and repaired, in words."""
    return [
        ("items analysed", data.n_items),
        ("items with votes but no predictions, left out", data.voted_without_predictions),
        ("items with predictions but no votes, left out", data.predicted_without_votes),
        ("rows dropped", data.dropped),
        ("rows rescaled to sum to 1", data.renormalised),
        ("rows with a probability raised to the floor", data.floored),
    ]


def short_names(texts: Iterable[str]) -> dict[str, str]:
    """Condition texts as people would tell them apart: what all share is left out.

    Examples
    --------
    >>> short_names(["model=m,method=soft,budget=10", "model=m,method=smoothing,strength=0.1"])
    {'model=m,method=soft,budget=10': 'soft, N = 10', 'model=m,method=smoothing,strength=0.1': 'smoothing 0.1'}
    >>> short_names(["model=a,method=soft", "model=b,method=soft"])
    {'model=a,method=soft': 'a, soft', 'model=b,method=soft': 'b, soft'}
    """
    conditions = {text: parse(text)[0] for text in dict.fromkeys(texts)}
    varying = {name for one in conditions.values() for name, _ in one.values if _varies(name, conditions.values())}
    return {text: _short_name(condition, varying) or text for text, condition in conditions.items()}


def _varies(column: str, conditions: Iterable[Condition]) -> bool:
    return len({condition.get(column) for condition in conditions}) > 1


def _short_name(condition: Condition, varying: set[str]) -> str:
    parts: list[str] = []
    for column, value in condition.values:
        if column == "method" or (column == "model" and column in varying):
            parts.append(str(value))
        elif column == "budget" and column in varying:
            parts.append(f"N = {value}")
        elif column == "strength" and parts:
            parts[-1] += f" {value:.4g}" if isinstance(value, float) else f" {value}"
        elif column in varying:
            parts.append(f"{column} {value:.3g}" if isinstance(value, float) else f"{column} {value}")
    return ", ".join(parts)


def _curve_point(row: CurveRow, series: str) -> Point:
    unbounded = row.fieller_shape in ("complement", "whole line")
    return Point(
        metric=row.metric,
        series=series,
        budget=row.budget,
        value=row.unc.estimate,
        low=row.fieller_low if unbounded else row.unc.low,
        high=row.fieller_high if unbounded else row.unc.high,
        band_low=row.simultaneous_low,
        band_high=row.simultaneous_high,
        unbounded=unbounded,
        alone=row.quantity.startswith("label_"),
    )


def _star_key(row: CurveRow | LabelCurveRow) -> tuple[str, str]:
    return (row.curve, row.baseline or "") if isinstance(row, CurveRow) else ("", "")


def _star_names(rows: Sequence[CurveRow | LabelCurveRow]) -> dict[tuple[str, str], str]:
    """Curve and baseline of each N*, where there are several."""
    curves = short_names(row.curve for row in rows if isinstance(row, CurveRow))
    baselines = {_star_key(row)[1] for row in rows}
    names = {}
    for curve, baseline in map(_star_key, rows):
        parts = [curves[curve]] if len(curves) > 1 else []
        parts += [f"over {phrases.baseline(baseline)}"] if len(baselines) > 1 else []
        names[curve, baseline] = ", ".join(parts)
    return names


def star_baselines(result: CurveResult) -> tuple[str, ...]:
    """Baselines of the N* figure, in words; none on the label side."""
    rows = [r for r in result.rows if r.quantity == "n_star" and _is_headline(result, r)]
    return tuple(dict.fromkeys(phrases.baseline(_star_key(row)[1]) for row in rows if _star_key(row)[1]))


def _largest_below_ceiling(result: CurveResult, star: CurveRow | LabelCurveRow) -> float | None:
    """Where a censored N* begins, from the star's own fractions."""
    return largest_below(_own_fractions(result, star))


def _smallest_budget(result: CurveResult, star: CurveRow | LabelCurveRow) -> float | None:
    return min((row.budget for row in _own_fractions(result, star) if row.budget is not None), default=None)


def _own_fractions(result: CurveResult, star: CurveRow | LabelCurveRow) -> list[CurveRow | LabelCurveRow]:
    """The shares that an N* was read from."""
    own = (row for row in result.rows if row.quantity == "fraction" and row.metric == star.metric)
    return [row for row in own if _star_key(row) == _star_key(star)]
