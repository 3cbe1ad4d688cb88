"""What a report consists of: which figures and tables there are, and under which names they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from saturation.report import (
    ceiling_page,
    compare_page,
    equivalents_page,
    figures,
    heldout_page,
    murphy_page,
    pilot_page,
    plan_page,
    plotdata,
    style,
)
from saturation.report.fits_data import curves_with_fits
from saturation.results import Listing, ReportResult, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_QUANTITIES = {
    "label_curve": ("value",),
    "saturation_curve": ("value", "gain", "shortfall", "label_value"),
    "fractions": (
        "fraction",
        "label_fraction",
        "contrast_fraction",
        "contrast_labels",
        "gap_difference",
        "gap_closure",
    ),
    "n_star": ("n_star", "n_star_interpolated", "n_star_noninferiority", "n_star_fit", "contrast_log_n_star"),
    "fits": ("fit_asymptote", "fit_exponent", "fit_prediction", "fit_aicc"),
}
"""Rows of each table, by quantity."""


def main_section(report: ReportResult) -> Result[Any]:
    """The result that the answer rests on: the models where there are any, else the labels."""
    return report.sections.get("curve", report.sections["label_curve"])


def report_tables(report: ReportResult) -> dict[str, Result[Any] | Listing]:
    """Every table by its file name, with all keys of its rows."""
    sections = report.sections
    tables: dict[str, Result[Any] | Listing] = {"label_curve": _some(sections["label_curve"], "label_curve")}
    if "curve" in sections:
        tables["saturation_curve"] = _some(sections["curve"], "saturation_curve")
        if curves_with_fits(sections["curve"]):
            tables["fits"] = _some(sections["curve"], "fits")
    tables["fractions"] = _some(main_section(report), "fractions")
    tables["n_star"] = _some(main_section(report), "n_star")
    if "evaluate" in sections:
        tables["conditions"] = replace(sections["evaluate"], notes=())
    if "compare" in sections:
        tables["compare"] = replace(sections["compare"], notes=())
    for name in ("pilot", "heldout", "equivalents", "ceiling", "plan", "murphy"):
        if name in sections:
            tables[name] = replace(sections[name], notes=())
    checks = tuple({"check": name, "count": count} for name, count in plotdata.checks_data(report.data))
    tables["checks"] = Listing(command=report.command, rows=checks)
    return tables


def report_figures(report: ReportResult) -> dict[str, Figure]:
    """Every figure by its file name; one panel a metric."""
    sections = report.sections
    drawn: dict[str, Figure] = {"label_curve": panels(sections["label_curve"], figures.label_curve)}
    if "curve" in sections:
        drawn["saturation_curve"] = panels(sections["curve"], figures.saturation_curve)
        if curves_with_fits(sections["curve"]):
            drawn["fits"] = panels(_with_fits(sections["curve"]), figures.fits)
    main: Any = main_section(report)
    drawn["fractions"] = panels(main, figures.fractions)
    drawn["n_star"] = style.figure_of(figures.n_star(main))
    if "evaluate" in sections:
        evaluated: Any = sections["evaluate"]
        rows = len({bar.name for bar in plotdata.conditions_data(evaluated)})
        drawn["conditions"] = panels(evaluated, figures.conditions, height=0.9 + 0.21 * max(rows, 1))
    if "compare" in sections:
        compared: Any = sections["compare"]
        drawn["compare"] = compare_page.compare_figure(compared)
    if "heldout" in sections:
        unseen: Any = sections["heldout"]
        drawn["heldout"] = heldout_page.heldout_figure(unseen)
    if "equivalents" in sections:
        worth: Any = sections["equivalents"]
        drawn["equivalents"] = equivalents_page.equivalents_figure(worth)
    if "ceiling" in sections:
        people: Any = sections["ceiling"]
        drawn["ceiling"] = ceiling_page.ceiling_figure(people)
    if "pilot" in sections:
        drawn["pilot"] = panels(sections["pilot"], pilot_page.pilot_curve)
    if "plan" in sections:
        planned: Any = sections["plan"]
        drawn["plan"] = plan_page.plan_figure(planned)
    if "murphy" in sections:
        decomposed: Any = sections["murphy"]
        drawn["reliability"] = murphy_page.reliability_figure(decomposed)
    drawn["checks"] = style.figure_of(figures.checks(report.data))
    return drawn


def panels(result: Any, draw: Callable[..., Axes], *, height: float = 3.0, columns: int = 2) -> Figure:
    """One panel for each metric of a result, two a row."""
    from matplotlib.figure import Figure

    metrics = plotdata.metrics_of(result)
    across = min(columns, max(len(metrics), 1))
    down = max(-(-len(metrics) // across), 1)
    with style.drawing():
        figure = Figure(figsize=(5.0 * across, height * down), layout="constrained")
        axes = list(figure.subplots(down, across, squeeze=False).flat)
    for ax, metric in zip(axes, metrics, strict=False):
        draw(result, ax, metric=metric)
    for spare in axes[len(metrics) :]:
        spare.set_visible(False)
    return figure


def _with_fits(result: Any) -> Any:
    """The rows of metrics that something was fitted to."""
    metrics = {row.metric for row in result.rows if row.quantity == "fit_aicc"}
    return replace(result, rows=tuple(row for row in result.rows if row.metric in metrics))


def _some(result: Result[Any], table: str) -> Result[Any]:
    wanted: Mapping[str, Any] = {"rows": tuple(r for r in result.rows if r.quantity in _QUANTITIES[table])}
    return replace(result, notes=(), **wanted)
