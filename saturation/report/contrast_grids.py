"""Tables of contrasts: pairs of metrics, model against labels, other targets against the soft one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from saturation.report.grids import Cell, Grid
from saturation.report.plotdata import short_names
from saturation.results import CurveRow, SaturationResult
from saturation.studies import contrasts, gaps, phrases
from saturation.studies.answers import headline_baseline, real_curves


def pair_grids(result: SaturationResult) -> list[Grid]:
    """For each curve the differences of shares by pair (rows) and budget (columns), then the ratios of N*."""
    names = short_names(real_curves(result.rows))
    made = []
    for place, curve in enumerate(names):
        own = [r for r in result.rows if r.curve == curve]
        baseline = headline_baseline(own)
        shares = [r for r in own if r.quantity == "contrast_fraction" and r.baseline == baseline]
        logs = [r for r in own if r.quantity == "contrast_log_n_star" and r.baseline == baseline]
        if shares:
            trained = f", trained on {names[curve]} targets" if len(names) > 1 else ""
            caption = (
                f"Share kept by the first metric minus that by the second, in points{trained}, over "
                f"{phrases.baseline(baseline or '')} {_bands(shares)}; then N* of the first over N* of the second. "
                "Bold: the band (of a ratio: its interval) excludes no difference."
            )
            grid = _grid(caption, "pair of metrics", [*shares, *logs], _pair, _column, _contrast)
            made.append(Grid(grid.caption, grid.head, grid.rows, grid.notes, folded=place > 0))
    return made


def labels_grids(result: SaturationResult) -> list[Grid]:
    """Share of the gain kept by the model minus that kept by the labels alone."""
    rows = [r for r in result.rows if r.quantity == "contrast_labels" and r.budget is not None]
    if not rows:
        return []
    names = short_names(r.curve for r in rows)
    caption = (
        "Share of the gain over the smallest budget that the model keeps, minus what the labels alone keep, in points "
        f"{_bands(rows)}. Bold: the band excludes no difference."
    )

    def line(row: CurveRow) -> str:
        return phrases.metric(row.metric) + (f", {names[row.curve]}" if len(names) > 1 else "")

    return [_grid(caption, "metric", rows, line, _column, _contrast)]


def gap_grids(result: SaturationResult) -> list[Grid]:
    """Shares of the gap that other targets close, with both tests in words."""
    rows = [r for r in result.rows if r.quantity == "gap_closure"]
    if not rows:
        return []
    names = short_names(r.curve for r in rows)
    notes: dict[str, int] = {}
    body = []
    for row in rows:
        curve = f", {names[row.curve]}" if len(names) > 1 else ""
        lines = (gaps.against_soft(row, result.rows), gaps.against_ceiling(row, result.rows))
        name = f"{phrases.metric(row.metric)}, N = {phrases.budget(row.budget or 0)}{curve}"
        reason = row.unc.reason if row.unc.estimate is None or row.unc.low is None else None
        share = _noted(phrases.percent_interval(row.unc), reason, notes)
        body.append((name, (share, *(Cell(text) for text in lines))))
    head = ("metric and budget", "share of the gap closed", "against soft targets", "against the ceiling")
    caption = (
        f"Share of what soft targets leave to the ceiling that {phrases.listed(dict.fromkeys(_methods(rows)))} targets "
        "of the same budget close."
    )
    return [Grid(caption, head, tuple(body), tuple(phrases.sentence(note) for note in notes), folded=True)]


def _grid(  # noqa: PLR0917
    caption: str,
    corner: str,
    rows: Sequence[CurveRow],
    line: Callable[[CurveRow], str],
    column: Callable[[CurveRow], str],
    cell: Callable[[CurveRow, dict[str, int]], Cell],
) -> Grid:
    notes: dict[str, int] = {}
    ordered = sorted(rows, key=lambda r: (r.budget is None, r.budget or 0, r.q or 0))
    head = list(dict.fromkeys(column(r) for r in ordered))
    cells = {(line(r), column(r)): cell(r, notes) for r in rows}
    lines = dict.fromkeys(line(r) for r in rows)
    body = tuple((one, tuple(cells.get((one, name), Cell("")) for name in head)) for one in lines)
    return Grid(caption, (corner, *head), body, tuple(phrases.sentence(note) for note in notes))


def _pair(row: CurveRow) -> str:
    """Names as on the command line: the words are above the table, and lines stay short."""
    return f"{row.metric} \u2212 {row.metric_b}"


def _column(row: CurveRow) -> str:
    return f"N* ratio, {phrases.share(row.q)}" if row.q is not None else phrases.budget(row.budget or 0)


def _contrast(row: CurveRow, notes: dict[str, int]) -> Cell:
    unc = row.unc
    if unc.estimate is None:
        return _noted(phrases.NO_ESTIMATE, unc.reason, notes)
    if row.q is not None:
        low, high = unc.low, unc.high
        ends = "" if low is None or high is None else f" [{math.exp(low):.2f}, {math.exp(high):.2f}]"
        apart = low is not None and high is not None and not low <= 0 <= high
        return Cell(f"{math.exp(unc.estimate):.2f}{ends}", strong=apart)
    low, high = row.simultaneous_low, row.simultaneous_high
    if low is None or high is None:
        return _noted(_points(unc.estimate, 1), unc.reason, notes)
    places = contrasts.places(row)
    text = f"{_points(unc.estimate, places)} [{_points(low, places)}, {_points(high, places)}]"
    return Cell(text, strong=any(contrasts.told([row])))


def _points(value: float, places: int) -> str:
    return phrases.number(100 * value, places)


def _noted(text: str, note: str | None, notes: dict[str, int]) -> Cell:
    return Cell(text, notes.setdefault(note, len(notes) + 1) if note else None)


def _bands(rows: Sequence[CurveRow]) -> str:
    levels = dict.fromkeys(r.unc.level for r in rows if r.unc.level is not None)
    return (
        f"[{phrases.listed(phrases.share(one) for one in levels)} bands over the budgets]" if levels else "(no bands)"
    )


def _methods(rows: Sequence[CurveRow]) -> list[Any]:
    return [row.method for row in rows]
