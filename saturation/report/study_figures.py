"""Shares kept by every model and data set on one axis, one picture a metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
        ax = new_axes(study) if ax is None else ax
        style.dress(ax, phrases.metric(metric), x="annotators per item", y="share of the improvement kept")
        budgets = sorted({float(row.budget or 1) for rows in lines.values() for row in rows})
        style.budget_axis(ax, budgets)
        for place, (name, rows) in enumerate(lines.items()):
            _line(ax, place, name, rows)
        _frame(ax, [row for rows in lines.values() for row in rows])
        if len(lines) > 1:
            key = ax.legend(loc="upper left", bbox_to_anchor=(0, -0.2), frameon=False, fontsize=8, borderaxespad=0)
            for text in key.get_texts():
                text.set_parse_math(False)
    return ax


def new_axes(study: StudyResult) -> Axes:
    """Axes with room for the names below."""
    return style.new_axes(4.8, 2.9 + 0.17 * (len(study.parts) if len(study.parts) > 1 else 0))


def _line(ax: Axes, place: int, name: str, rows: list[CurveRow]) -> None:
    """One line and its whiskers, moved sideways a little so that whiskers of several lines can be told apart."""
    shown = [row for row in rows if row.unc.estimate is not None and not fieller_in_words(row)]
    look: dict[str, Any] = {"color": style.PALETTE[place % len(style.PALETTE)], "linewidth": 1.4}
    marker = style.MARKERS[place % len(style.MARKERS)]
    at = [float(row.budget or 1) * 1.03**place for row in shown]
    heights = [float(row.unc.estimate or 0.0) for row in shown]
    ax.plot(at, heights, marker=marker, markersize=4, label=name, **look)
    for x, row in zip(at, shown, strict=True):
        if row.unc.low is not None and row.unc.high is not None and row.unc.interval != "exact":
            ax.vlines(x, row.unc.low, row.unc.high, alpha=0.75, **look)


def _frame(ax: Axes, rows: list[CurveRow]) -> None:
    from matplotlib.ticker import PercentFormatter

    bounded = [row.unc for row in rows if not fieller_in_words(row)]
    values = [v for unc in bounded for v in (unc.estimate, unc.low, unc.high) if v is not None]
    ax.set_ylim(max(_RANGE[0], min([0.0, *values]) - 0.04), min(_RANGE[1], max([1.0, *values]) + 0.06))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.axhline(1.0, color=style.QUIET, linewidth=0.8, zorder=1)
    ax.axhline(0.9, color=style.QUIET, linewidth=0.9, linestyle=(0, (5, 3)), zorder=1)
