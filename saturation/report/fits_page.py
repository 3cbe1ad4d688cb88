"""What more votes than were tried would bring, in a report: the fitted curves in words, pictures and a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from saturation.report import plotdata, style
from saturation.report.fits_data import Fitted, curves_with_fits, fitted
from saturation.report.fits_figures import FEWEST_PREDICTIONS, fits
from saturation.report.grids import Content, Grid, grid_of, intervals_of
from saturation.report.section import Section, Words, picture
from saturation.results import CurveRow, ReportResult, SaturationResult
from saturation.studies import phrases

LEAD = (
    "A power law and an exponential are fitted through the budgets of each curve; shown is the one that fits better. "
    "Dashed: beyond the largest budget tried, where nothing but the form of the curve speaks. The interval is for "
    "other items (and training runs) under that form, not for another form."
)
FORMULAS = {"power": "a + b N^-c", "exponential": "a + b exp(-c N)"}


def part(report: ReportResult) -> list[Section]:
    """One section where curves were fitted."""
    result: Any = report.sections.get("curve")
    curves = () if result is None else curves_with_fits(result)
    if not curves:
        return []
    found = _all(result, curves)
    named = plotdata.short_names(curves)
    drawn = [(one, m, c) for (m, c), one in found.items() if len(one.predictions) >= FEWEST_PREDICTIONS]
    return [
        Section(
            "beyond",
            "Beyond the budgets tried",
            LEAD,
            tuple(
                picture(fits(result, style.new_axes(4.8, 3.1), metric=m, curve=c), f"beyond-{at}", phrases.metric(m))
                for at, (_, m, c) in enumerate(drawn)
                if c == curves[0]
            ),
            (_grid(found, named),),
            words=(Words("In words", sentences(result, curves[0])),),
        )
    ]


def sentences(result: SaturationResult, curve: str) -> tuple[str, ...]:
    """What each metric of one curve settles at, one sentence each."""
    found = {metric: fitted(result, metric, curve) for metric in plotdata.metrics_of(result)}
    return tuple(_sentence(metric, one) for metric, one in found.items() if isinstance(one, Fitted))


def _all(result: SaturationResult, curves: Sequence[str]) -> dict[tuple[str, str], Fitted]:
    pairs = [(metric, curve) for curve in curves for metric in plotdata.metrics_of(result)]
    found = {pair: fitted(result, *pair) for pair in pairs}
    return {pair: one for pair, one in found.items() if isinstance(one, Fitted)}


def _sentence(metric: str, one: Fitted) -> str:
    unc, unit = one.asymptote.unc, phrases.unit(metric)
    form = FORMULAS[one.form]
    if unc.estimate is None or unc.low is None or unc.high is None:
        return phrases.sentence(f"{phrases.metric(metric)} ({form}): no level it settles at is shown; {unc.reason}")
    level = f"{phrases.with_interval(unc)}{' ' + unit if unit else ''}"
    last = next((row for row in one.tried if row.budget == one.largest), None)
    now = "" if last is None else f", against {phrases.with_interval(last.unc)} at {phrases.budget(one.largest)} votes"
    return phrases.sentence(f"{phrases.metric(metric)} ({form}): with ever more votes it settles at {level}{now}")


def _grid(found: dict[tuple[str, str], Fitted], named: dict[str, str]) -> Grid:
    columns = ("form", "settles at", "exponent or rate c", "farthest prediction", "how well it fits")
    several = len({curve for _, curve in found}) > 1
    rows = [(pair, one, column) for pair, one in found.items() for column in columns]

    def line(row: tuple[tuple[str, str], Fitted, str]) -> str:
        (metric, curve), _, _ = row
        return phrases.metric(metric) + (f", {named[curve]}" if several else "")

    caption = f"Fitted curves of the form preferred {intervals_of(one.asymptote for one in found.values())}."
    return grid_of(caption, "metric", rows, line, lambda row: row[2], partial(_cell, columns))


def _cell(columns: Sequence[str], row: tuple[tuple[str, str], Fitted, str]) -> Content:
    _, one, column = row
    if column == columns[0]:
        return Content(FORMULAS[one.form])
    if column == columns[1]:
        return _number(one.asymptote)
    if column == columns[2]:
        return _number(one.exponent)
    if column == columns[3]:
        if not one.predictions:
            return Content("")
        last = one.predictions[-1]
        return Content(f"N = {phrases.budget(last.budget or 0)}: {phrases.with_interval(last.unc)}", last.unc.reason)
    return Content(f"AICc {one.criterion.unc.estimate:.1f}", one.criterion.unc.reason)


def _number(row: CurveRow) -> Content:
    return Content(phrases.with_interval(row.unc), row.unc.reason)
