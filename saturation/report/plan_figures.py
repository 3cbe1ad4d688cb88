"""Plans drawn: the width of the interval to expect against the votes an item, all designs of one cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from saturation.errors import UsageError
from saturation.report import style
from saturation.results import PlanResult, PlanRow
from saturation.studies import phrases

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VOTES = "votes per item (log scale), at one total cost"
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))
_MOST_RELATIVE = 3.0
"""Widths beyond so many times the smallest are cut off, so that the rest can be read."""


def plan(result: PlanResult, ax: Axes | None = None, *, metric: str | None = None) -> Axes:
    """Expected width of the interval against the votes an item, the best number of votes marked.

    The band is how far the pilot leaves the width open; a thick bar along the bottom the numbers of votes that it
    cannot tell from the best one. Designs to the left have more items with fewer votes each, for the same money.

    Parameters
    ----------
    result
        A plan.
    ax
        Axes to draw on; None makes a figure.
    metric
        Its widths in its own units; None: all metrics, each relative to its smallest width.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UsageError
        For a metric that was not planned.
    """
    wanted = metrics_of(result) if metric is None else (metric,)
    if metric is not None and metric not in metrics_of(result):
        raise UsageError(f"{metric} was not planned; the metrics are {', '.join(metrics_of(result))}")
    with style.drawing():
        ax = style.new_axes(4.8, 3.2) if ax is None else ax
        name = "Width to expect, relative to the smallest" if metric is None else phrases.metric(metric)
        unit = "" if metric is None else phrases.unit(metric)
        y = "relative width" if metric is None else f"width of the interval{f' ({unit})' if unit else ''}"
        style.dress(ax, name, x=VOTES, y=y)
        lines = {one: widths_of(result, one) for one in wanted}
        style.budget_axis(ax, [row.budget for rows in lines.values() for row in rows if row.budget is not None])
        ends = [
            _line(ax, rows, place, optimum_of(result, one), relative=metric is None)
            for place, (one, rows) in enumerate(lines.items())
            if rows
        ]
        _limits(ax, relative=metric is None)
        if metric is None:
            style.label_lines(ax, sorted(ends))
        elif not ends:
            ax.text(0.5, 0.5, "undefined: the table gives the reasons", transform=ax.transAxes, ha="center")
    return ax


def metrics_of(result: PlanResult) -> tuple[str, ...]:
    """Metrics in the order they were asked for."""
    return tuple(dict.fromkeys(row.metric for row in result.rows))


def widths_of(result: PlanResult, metric: str) -> list[PlanRow]:
    """Rows of the widths that exist, by budget."""
    rows = [row for row in result.rows if (row.quantity, row.metric) == ("width", metric)]
    return [row for row in rows if row.budget is not None and row.unc.estimate is not None]


def optimum_of(result: PlanResult, metric: str) -> PlanRow | None:
    """The row of the best number of votes; None where there is none."""
    found = [row for row in result.rows if (row.quantity, row.metric) == ("optimum", metric)]
    return found[0] if found and found[0].budget is not None else None


def _line(
    ax: Axes, rows: Sequence[PlanRow], place: int, best: PlanRow | None, *, relative: bool
) -> tuple[float, str, str]:
    """One metric; returns where its line ends, for its name."""
    colour = style.PALETTE[place % len(style.PALETTE)]
    marker = style.MARKERS[place % len(style.MARKERS)]
    values = [row.unc.estimate or 0.0 for row in rows]
    scale = 1 / min(values) if relative else 1.0
    at = [row.budget or 1 for row in rows]
    known = [row for row in rows if row.unc.low is not None and row.unc.high is not None]
    low, high = ([scale * (end or 0.0) for end in ends] for ends in _ends(known))
    ax.fill_between([row.budget or 1 for row in known], low, high, color=colour, alpha=0.18, linewidth=0, zorder=2)
    dashes = _DASHES[place % len(_DASHES)]
    ax.plot(at, [scale * value for value in values], color=colour, linewidth=1.6, linestyle=dashes, zorder=3)
    if best is not None and best.budget in at:
        here = scale * values[at.index(best.budget)]
        ax.plot([best.budget], [here], marker=marker, markersize=7, color=colour, mec="white", zorder=4)
        if best.unc.low is not None and best.unc.high is not None:
            bottom = 0.02 + 0.025 * place
            span = (max(best.unc.low, at[0]), min(best.unc.high, at[-1]))
            ax.hlines(bottom, *span, color=colour, linewidth=3, transform=ax.get_xaxis_transform(), zorder=3)
            ax.plot(span, [bottom] * 2, "|", color=colour, markersize=6, transform=ax.get_xaxis_transform(), zorder=3)
    return scale * values[-1], phrases.metric(rows[0].metric), colour


def _ends(rows: Sequence[PlanRow]) -> tuple[list[float | None], list[float | None]]:
    return [row.unc.low for row in rows], [row.unc.high for row in rows]


def _limits(ax: Axes, *, relative: bool) -> None:
    low, high = ax.get_ylim()
    room = 0.12 * (high - low)
    ax.set_ylim(low - room, min(high, _MOST_RELATIVE) if relative else high)
