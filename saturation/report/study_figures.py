"""Shares kept by every model and data set on one axis, one picture a metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saturation.errors import UsageError
from saturation.report import style
from saturation.report.study_grids import fractions_of, names_of
from saturation.results import CurveRow, StudyResult
from saturation.studies import phrases
from saturation.studies.answers import fieller_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RANGE = (-0.5, 1.5)
"""A single wild interval does not stretch the picture further."""


def metrics_of(study: StudyResult) -> tuple[str, ...]:
    """Metrics of which at least one part has a share kept below its ceiling."""
    rows = [row for part in study.parts for row in fractions_of(part)]
    return tuple(dict.fromkeys(r.metric for r in rows if r.unc.estimate is not None and r.unc.interval != "exact"))


def study_fractions(study: StudyResult, ax: Axes | None = None, *, metric: str | None = None) -> Axes:
    """Share of the improvement kept against the budget, one line for each model and data set, with whiskers.

    Parameters
    ----------
    study
        A study.
    ax
        Axes to draw on; None makes a figure.
    metric
        Which metric; default the first.

    Raises
    ------
    UsageError
        For a metric of which no share is defined.
    """
    known = metrics_of(study)
    metric = known[0] if metric is None and known else metric
    if metric not in known:
        raise UsageError(f"no shares of {metric!r} in this study; it has {', '.join(known) or 'none'}")
    names = names_of(study)
    lines = {
        names[part.data, part.model]: [row for row in fractions_of(part) if row.metric == metric]
        for part in study.parts
    }
    with style.drawing():
        ax = style.new_axes(5.2, 3.3) if ax is None else ax
        style.dress(ax, phrases.metric(metric), x="annotators per item", y="share of the improvement kept")
        budgets = sorted({float(row.budget or 1) for rows in lines.values() for row in rows})
        style.budget_axis(ax, budgets)
        ends = [end for place, (name, rows) in enumerate(lines.items()) if (end := _line(ax, place, name, rows))]
        _frame(ax, [row for rows in lines.values() for row in rows])
        style.label_lines(ax, ends if len(ends) > 1 else [])
    return ax


def _line(ax: Axes, place: int, name: str, rows: list[CurveRow]) -> tuple[float, str, str] | None:
    """One line and its whiskers; the height, name and colour of its first open point's label."""
    shown = [row for row in rows if row.unc.estimate is not None and not fieller_in_words(row)]
    if not shown:
        return None
    colour = style.PALETTE[place % len(style.PALETTE)]
    marker = style.MARKERS[place % len(style.MARKERS)]
    at = [float(row.budget or 1) * 1.02**place for row in shown]
    ax.plot(at, [row.unc.estimate or 0.0 for row in shown], color=colour, marker=marker, markersize=4, linewidth=1.4)
    for x, row in zip(at, shown, strict=True):
        if row.unc.low is not None and row.unc.high is not None and row.unc.interval != "exact":
            ax.vlines(x, row.unc.low, row.unc.high, color=colour, linewidth=1.2, alpha=0.75)
    return shown[-1].unc.estimate or 0.0, name, colour


def _frame(ax: Axes, rows: list[CurveRow]) -> None:
    from matplotlib.ticker import PercentFormatter

    bounded = [row.unc for row in rows if not fieller_in_words(row)]
    values = [v for unc in bounded for v in (unc.estimate, unc.low, unc.high) if v is not None]
    ax.set_ylim(max(_RANGE[0], min([0.0, *values]) - 0.04), min(_RANGE[1], max([1.0, *values]) + 0.06))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.axhline(1.0, color=style.QUIET, linewidth=0.8, zorder=1)
    ax.axhline(0.9, color=style.QUIET, linewidth=0.9, linestyle=(0, (5, 3)), zorder=1)
