"""Tables of the page: rows, columns, a cell each, and numbered reasons for what is missing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from saturation.report.plotdata import curves_of, short_names
from saturation.results import CurveRow, EvaluateResult, LabelCurveResult, LabelCurveRow, SaturationResult
from saturation.studies import phrases
from saturation.studies.answers import fieller_in_words, found_budget, largest_below, remarks
from saturation.studies.phrases import distinct

AnyRow = Any

_ALL = "all votes"


@dataclass(frozen=True, slots=True)
class Cell:
    """Text of a cell, the number of its footnote, if any, and whether it stands out."""

    text: str
    note: int | None = None
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """What a cell says before its note has a number."""

    text: str
    note: str | None = None
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """One table.

    Attributes
    ----------
    caption
        What a cell is.
    head
        (columns,) with the corner first.
    rows
        A row's name and its cells.
    notes
        Footnotes, numbered from 1.
    folded
        Whether the page shows it only when asked; long tables are folded anyway.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    notes: tuple[str, ...] = ()
    folded: bool = False


def values_grid(result: LabelCurveResult | SaturationResult) -> Grid:
    """Values by budget (rows) and metric (columns)."""
    rows = [r for r in result.rows if r.quantity == "value"]
    names = short_names(r.curve for r in rows if isinstance(r, CurveRow))
    caption = f"Value by budget {intervals_of(rows)}; units in the column heads."

    def line(row: AnyRow) -> str:
        name = names[row.curve] if len(names) > 1 else ""
        size = _ALL if row.budget is None else f"{'N = ' if name else ''}{phrases.budget(row.budget)}"
        return f"{name}, {size}" if name else size

    return grid_of(caption, "annotators", rows, line, _metric_head, _value_cells(rows))


def fractions_grid(result: LabelCurveResult | SaturationResult) -> Grid:
    """Shares of the improvement kept: a row for each metric, curve and baseline, a column a budget."""
    rows = [r for r in result.rows if r.quantity == "fraction"]
    lines = curves_of(result)
    rows.sort(key=lambda r: lines.index(r.curve) if isinstance(r, CurveRow) and r.curve in lines else len(lines))
    names = short_names(r.curve for r in rows if isinstance(r, CurveRow))
    caption = f"Share of the improvement kept, by annotators per item {intervals_of(rows)}."
    return grid_of(
        caption,
        "metric, baseline",
        rows,
        lambda r: _line_name(r, names),
        lambda r: _ALL if r.budget is None else phrases.budget(r.budget),
        _fraction,
    )


def n_star_grid(result: LabelCurveResult | SaturationResult) -> Grid:
    """N* by metric, curve and baseline (rows) and q (columns), each with its interval."""
    rows = [r for r in result.rows if r.quantity == "n_star"]
    names = short_names(r.curve for r in rows if isinstance(r, CurveRow))
    fractions = [r for r in result.rows if r.quantity == "fraction"]

    def cell(row: AnyRow) -> Content:
        own = [f for f in fractions if _line_name(f, names) == _line_name(row, names)]
        return _count(row, own)

    return grid_of(
        "Annotators needed per item; in brackets its interval, (10, 20] for more than 10 and at most 20.",
        "metric, baseline",
        rows,
        lambda r: _line_name(r, names),
        lambda r: f"keep {phrases.share(r.q or 0)}",
        cell,
    )


def conditions_grid(result: EvaluateResult) -> Grid:
    """Metrics (columns) of every condition (rows), means over cells."""
    rows = [r for r in result.rows if r.group is None and r.split is None and r.seed is None]
    names = short_names(str(r.condition) for r in rows)
    caption = f"Mean over splits and seeds {intervals_of(rows)}."
    return grid_of(caption, "condition", rows, lambda r: names[str(r.condition)], _metric_head, _value_cells(rows))


def grid_of(  # noqa: PLR0917
    caption: str,
    corner: str,
    rows: Iterable[AnyRow],
    line: Callable[[AnyRow], str],
    column: Callable[[AnyRow], str],
    cell: Callable[[AnyRow], Content],
    *,
    folded: bool = False,
) -> Grid:
    """A table with one cell a row: budgets in ascending order, then the other columns; each reason once, below."""
    cells = {(line(row), column(row)): cell(row) for row in rows}
    lines = distinct(key for key, _ in cells)
    head = sorted(distinct(key for _, key in cells), key=_budget_first)
    notes = {note: number for number, note in enumerate(distinct(c.note for c in cells.values() if c.note), 1)}
    empty = Content("")
    body = tuple((one, tuple(_cell(cells.get((one, key), empty), notes) for key in head)) for one in lines)
    return Grid(caption, (corner, *head), body, tuple(map(phrases.sentence, notes)), folded)


def _budget_first(name: str) -> float:
    digits = name.replace(",", "")
    return int(digits) if digits.isdigit() else math.inf


def _cell(content: Content, notes: Mapping[str, int]) -> Cell:
    return Cell(content.text, notes[content.note] if content.note else None, content.strong)


def _metric_head(row: AnyRow) -> str:
    unit = phrases.unit(row.metric)
    arrow = {"lower": "\u2193", "higher": "\u2191"}.get(row.direction, "")
    return f"{phrases.metric(row.metric)}{f' ({unit})' if unit else ''}{f' {arrow}' if arrow else ''}"


def _line_name(row: CurveRow | LabelCurveRow, names: dict[str, str]) -> str:
    parts = [phrases.metric(row.metric)]
    if isinstance(row, CurveRow):
        parts += [names[row.curve]] if len(names) > 1 else []
        parts += [f"over {phrases.baseline(row.baseline)}"] if row.baseline else []
    return ", ".join(parts)


def _value_cells(rows: Iterable[AnyRow]) -> Callable[[AnyRow], Content]:
    """Cells with the same number of decimals down a metric's column: what its sharpest interval supports."""
    places: dict[str, int] = {}
    for row in rows:
        if row.unc.low is not None:
            places[row.metric] = max(places.get(row.metric, 0), phrases.decimals(row.unc.low, row.unc.high))
    return lambda row: Content(phrases.with_interval(row.unc, places.get(row.metric)), row.unc.reason)


def _fraction(row: AnyRow) -> Content:
    if fieller_in_words(row):
        return Content("unbounded", row.unc.reason or fieller_in_words(row))
    return Content(phrases.percent_interval(row.unc), None if row.unc.interval == "exact" else row.unc.reason)


def intervals_of(rows: Iterable[AnyRow], what: str = "intervals") -> str:
    """What the brackets of a table hold, for its caption."""
    return phrases.levels((row.unc for row in rows), what)


def count_text(row: AnyRow, fractions: list[AnyRow]) -> str:
    """An N* with the budgets compatible with it; ``fractions`` are the shares it was read from."""
    return _count(row, fractions).text


def _count(row: AnyRow, fractions: list[AnyRow]) -> Content:
    found = found_budget(row)
    note = "; ".join(remarks(row.unc.reason)) or None
    if row.censored == "above":
        below = largest_below(fractions)
        return Content(f"> {'all tried' if below is None else phrases.budget(below)}", note)
    if found is None:
        return Content(phrases.NO_ESTIMATE, row.unc.reason)
    text = f"{'≤ ' if row.censored == 'below' else ''}{phrases.budget(found)}"
    if row.unc.low is not None and row.censored is None:
        text += f" {phrases.half_open(row.unc.low, row.unc.high)}"
    return Content(text, note)
