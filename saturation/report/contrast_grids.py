"""Tables of contrasts: pairs of metrics, model against labels, other targets against the soft one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from saturation.report.grids import Content, Grid, grid_of, intervals_of
from saturation.report.plotdata import short_names
from saturation.results import CurveRow, SaturationResult
from saturation.studies import contrasts, gaps, phrases
from saturation.studies.answers import headline_baseline, real_curves
from saturation.studies.phrases import distinct

BANDS = "bands over the budgets"
"""What the brackets of contrasts are."""


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
                f"{phrases.baseline(baseline or '')} {intervals_of(shares, BANDS)}; then N* of the first over N* of "
                "the second. Bold: the band (of a ratio: its interval) excludes no difference."
            )
            both = [*shares, *logs]
            made.append(grid_of(caption, "pair of metrics", both, _pair, _column, _contrast, folded=place > 0))
    return made


def labels_grids(result: SaturationResult) -> list[Grid]:
    """Share of the gain kept by the model minus that kept by the labels alone."""
    rows = [r for r in result.rows if r.quantity == "contrast_labels" and r.budget is not None]
    if not rows:
        return []
    names = short_names(r.curve for r in rows)
    caption = (
        "Share of the gain over the smallest budget that the model keeps, minus what the labels alone keep, in points "
        f"{intervals_of(rows, BANDS)}. Bold: the band excludes no difference."
    )

    def line(row: CurveRow) -> str:
        return phrases.metric(row.metric) + (f", {names[row.curve]}" if len(names) > 1 else "")

    return [grid_of(caption, "metric", rows, line, _column, _contrast)]


def gap_grids(result: SaturationResult) -> list[Grid]:
    """What other targets gain on soft ones and the share of the gap they close, with both tests in words."""
    rows = [r for r in result.rows if r.quantity == "gap_closure"]
    if not rows:
        return []
    names = short_names(r.curve for r in rows)
    caption = (
        f"What {phrases.listed(distinct(str(row.method) for row in rows))} targets gain on soft ones of the same "
        "budget (above 0: better), and the share of what soft ones leave to the ceiling that this closes "
        f"{intervals_of(rows)}."
    )
    columns: dict[str, Callable[[CurveRow, Sequence[CurveRow]], Content]] = {
        "gain on soft targets": _gain,
        "share of the gap closed": _closed,
        "against soft targets": lambda row, rows: Content(gaps.against_soft(row, rows)),
        "against the ceiling": lambda row, rows: Content(gaps.against_ceiling(row, rows)),
    }

    def line(pair: tuple[CurveRow, str]) -> str:
        row = pair[0]
        curve = f", {names[row.curve]}" if len(names) > 1 else ""
        return f"{phrases.metric(row.metric)}, N = {phrases.budget(row.budget or 0)}{curve}"

    def cell(pair: tuple[CurveRow, str]) -> Content:
        return columns[pair[1]](pair[0], result.rows)

    pairs = [(row, name) for row in rows for name in columns]
    return [grid_of(caption, "metric and budget", pairs, line, lambda pair: pair[1], cell, folded=True)]


def _gain(row: CurveRow, rows: Sequence[CurveRow]) -> Content:
    found = gaps.gain_on_soft(row, rows)
    if found is None or found.unc.estimate is None:
        return Content(phrases.NO_ESTIMATE, None if found is None else found.unc.reason)
    return Content(phrases.with_interval(found.unc), found.unc.reason)


def _closed(row: CurveRow, rows: Sequence[CurveRow]) -> Content:
    missing = row.unc.estimate is None or row.unc.low is None
    return Content(phrases.percent_interval(row.unc), row.unc.reason if missing else None)


def _pair(row: CurveRow) -> str:
    """Names as on the command line: the words are above the table, and lines stay short."""
    return f"{row.metric} \u2212 {row.metric_b}"


def _column(row: CurveRow) -> str:
    return f"N* ratio, {phrases.share(row.q)}" if row.q is not None else phrases.budget(row.budget or 0)


def _contrast(row: CurveRow) -> Content:
    unc = row.unc
    if unc.estimate is None:
        return Content(phrases.NO_ESTIMATE, unc.reason)
    if row.q is not None:
        low, high = unc.low, unc.high
        ends = "" if low is None or high is None else f" [{math.exp(low):.2f}, {math.exp(high):.2f}]"
        apart = low is not None and high is not None and not low <= 0 <= high
        return Content(f"{math.exp(unc.estimate):.2f}{ends}", strong=apart)
    low, high = row.simultaneous_low, row.simultaneous_high
    if low is None or high is None:
        return Content(_points(unc.estimate, 1), unc.reason)
    places = contrasts.places(row)
    text = f"{_points(unc.estimate, places)} [{_points(low, places)}, {_points(high, places)}]"
    return Content(text, strong=any(contrasts.told([row])))


def _points(value: float, places: int) -> str:
    return phrases.number(100 * value, places)
