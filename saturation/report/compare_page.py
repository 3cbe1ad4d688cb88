"""Comparisons in a report: what soft labels gain over each baseline, in words, pictures and tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from saturation.conditions import parse
from saturation.report import compare_figures, style
from saturation.report.grids import Content, Grid, grid_of
from saturation.report.plotdata import short_names
from saturation.report.section import Section, Words, picture
from saturation.results import CompareResult, CompareRow, ReportResult, Uncertainty
from saturation.studies import phrases

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METHODS = {"holm": "Holm's method", "bh": "Benjamini and Hochberg's method", "romano_wolf": "Romano and Wolf's method"}
_SIDES = {"a": "better", "b": "worse"}


def part(report: ReportResult) -> list[Section]:
    """Soft labels at the largest budget against every baseline; nothing where a report has no comparison."""
    if "compare" not in report.sections:
        return []
    result: Any = report.sections["compare"]
    return [
        Section(
            "compare",
            "Are soft labels better than the baselines?",
            "Soft labels at the largest budget (a) against each baseline of the same model (b), on the same items, "
            "splits and seeds. Left or right of zero says which way a differs; the colour says what was found.",
            tuple(_pictures(result)),
            (differences_grid(result), tests_grid(result)),
            words=(Words("In words", sentences(result)), Words("What this does not say", (caution(result),))),
        )
    ]


def sentences(result: CompareResult) -> tuple[str, ...]:
    """One sentence a pair: where a is better, where it is worse, and where nothing was found."""
    names = names_of(result)
    pairs = dict.fromkeys((row.a, row.b) for row in result.rows)
    return tuple(f"{names[a]} against {names[b]}: {_found(result, a, b)}." for a, b in pairs)


def caution(result: CompareResult) -> str:
    """What a reader must not conclude."""
    method = _adjustment(result)
    family = max((row.family_size or 0 for row in result.rows if row.quantity == "difference"), default=0)
    adjusted = f" after {METHODS[method]} over {family} comparisons" if method else ""
    smoothed = {(row.a, row.b) for row in result.rows if parse(row.b)[0].method == "smoothing"}
    several = len(smoothed) > len({a for a, _ in smoothed})
    tuned = (
        " The best of several smoothing strengths, chosen on the items that it is scored on, flatters smoothing: it is "
        "a bound, not a fair opponent."
        if several
        else ""
    )
    return (
        f"A difference counts as found where p is below {_alpha(result):g}{adjusted}; no finding is no evidence that "
        f"two sides are equal. Splits share items, so cells won are no independent trials.{tuned}"
    )


def differences_grid(result: CompareResult) -> Grid:
    """Differences a - b: a line a pair, a column a metric."""
    rows = _differences(result)
    names = names_of(result)
    levels = phrases.levels(row.unc for row in rows)
    return grid_of(
        f"Difference a − b in the metric's units {levels}; in bold where a was found to be better.",
        "a against b",
        rows,
        lambda row: f"{names[row.a]} against {names[row.b]}",
        metric_head,
        difference_cell,
    )


def tests_grid(result: CompareResult) -> Grid:
    """Adjusted p and cells won: a line a pair, a column a metric."""
    names = names_of(result)
    won = {(row.metric, row.a, row.b): row for row in result.rows if row.quantity == "wins"}
    method = _adjustment(result)
    adjusted = f"p after {METHODS[method]}" if method else "p"

    def cell(row: CompareRow) -> Content:
        p = row.p if row.p_adjusted is None else row.p_adjusted
        shown = phrases.NO_ESTIMATE if p is None else phrases.p_value(p)
        return Content(f"{shown}{won_text(won[row.metric, row.a, row.b])}", row.unc.reason if p is None else None)

    return grid_of(
        f"{adjusted}, and cells (split × seed) in which a is better.",
        "a against b",
        _differences(result),
        lambda row: f"{names[row.a]} against {names[row.b]}",
        lambda row: phrases.metric(row.metric),
        cell,
        folded=True,
    )


def metric_head(row: Any) -> str:
    """A metric as the head of a column: name, unit and which way is better."""
    unit = phrases.unit(row.metric)
    direction = getattr(row, "direction", None) or _direction(row.metric)
    arrow = {"lower": " ↓", "higher": " ↑"}.get(direction, "")
    return f"{phrases.metric(row.metric)}{f' ({unit})' if unit else ''}{arrow}"


def difference_cell(row: CompareRow) -> Content:
    """A difference with its interval; bold where a is better, said where b is."""
    text = phrases.with_interval(row.unc)
    return Content(f"{text} (b better)" if row.favours == "b" else text, row.unc.reason, row.favours == "a")


def won_text(row: CompareRow) -> str:
    """Cells won, after a comma; nothing where they do not exist."""
    if row.wins is None:
        return ""
    tied = f" ({row.ties} tied)" if row.ties else ""
    return f", {row.wins}/{row.n_pairs}{tied}"


def names_of(result: CompareResult) -> dict[str, str]:
    """Short names of everything compared."""
    return short_names(text for row in result.rows for text in (row.a, row.b))


def compare_figure(result: CompareResult) -> Any:
    """One panel for each metric and a, two a row."""
    from matplotlib.figure import Figure

    drawn = list(_drawable(result))
    height = 0.9 + 0.28 * max((len(_differences(one)) for one, _ in drawn), default=1)
    with style.drawing():
        figure = Figure(figsize=(12.0, height * max(-(-len(drawn) // 2), 1)), layout="constrained")
        axes = list(figure.subplots(max(-(-len(drawn) // 2), 1), 2, squeeze=False).flat)
    for ax, (one, metric) in zip(axes, drawn, strict=False):
        compare_figures.compare(one, ax, metric=metric)
    for spare in axes[len(drawn) :]:
        spare.set_visible(False)
    return figure


def _pictures(result: CompareResult) -> Iterable[str]:
    for place, (one, metric) in enumerate(_drawable(result)):
        height = 1.1 + 0.26 * len(_differences(one))
        ax: Axes = compare_figures.compare(one, style.new_axes(5.4, height), metric=metric)
        yield picture(ax, f"compare-{place}", phrases.metric(metric))


def _drawable(result: CompareResult) -> Iterable[tuple[CompareResult, str]]:
    """A picture for every metric that was compared, and every a."""
    for a in dict.fromkeys(row.a for row in result.rows):
        for metric in dict.fromkeys(row.metric for row in result.rows):
            rows = tuple(row for row in result.rows if (row.a, row.metric) == (a, metric))
            if any(row.quantity == "difference" and row.unc.estimate is not None for row in rows):
                yield replace(result, rows=rows), metric


def _found(result: CompareResult, a: str, b: str) -> str:
    rows = [row for row in result.rows if (row.a, row.b) == (a, b)]
    changes = {row.metric: row.unc for row in rows if row.quantity == "relative_change"}
    told: dict[str, list[str]] = {"better": [], "worse": [], "other": [], "undefined": []}
    for row in rows:
        if row.quantity != "difference":
            continue
        name = phrases.metric_inside(row.metric)
        if row.p is None:
            told["undefined"].append(name)
        elif row.favours is None:
            told["other"].append(name)
        else:
            told[_SIDES[row.favours]].append(f"{name} ({_change(changes.get(row.metric), row.unc)})")
    return "; ".join(text for text in _clauses(told) if text)


def _clauses(told: dict[str, list[str]]) -> Iterable[str]:
    for side in ("better", "worse"):
        yield f"{side} in {phrases.listed(told[side])}" if told[side] else ""
    yield f"no finding in {phrases.listed(told['other'])}" if told["other"] else ""
    yield f"not comparable in {phrases.listed(told['undefined'])} (see the table)" if told["undefined"] else ""


def _change(relative: Uncertainty | None, difference: Uncertainty) -> str:
    """The relative change where it has an interval, else the difference itself."""
    if relative is None or relative.estimate is None or relative.low is None or relative.high is None:
        return phrases.with_interval(difference)
    return phrases.percent_interval(relative)


def _differences(result: CompareResult) -> list[CompareRow]:
    return [row for row in result.rows if row.quantity == "difference"]


def _adjustment(result: CompareResult) -> str | None:
    """How p-values were adjusted; None where they were not."""
    named = next((row.adjustment for row in _differences(result) if row.adjustment), None)
    return None if named == "none" else named


def _alpha(result: CompareResult) -> float:
    return round(1 - float(result.settings["level"]), 12)


def _direction(metric: str) -> str:
    from saturation.metrics import catalogue

    return catalogue.metric(metric).direction
