"""Comparisons drawn: one bar a metric and b, to the left of nothing or to the right of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saturation.errors import UsageError
from saturation.report import style
from saturation.report.compare_layout import told_apart
from saturation.results import CompareResult, CompareRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BETTER = {
    "a": ("#009E73", "o", "a better"),
    "b": ("#D55E00", "s", "b better"),
    None: (style.QUIET, "D", "no finding"),
}
"""Colour, marker and name of what a row finds, after adjustment."""


def compare(result: CompareResult, ax: Axes | None = None, *, metric: str | None = None) -> Axes:
    """Differences between conditions with their intervals; colour says which side is better after adjustment.

    Parameters
    ----------
    result
        A comparison.
    ax
        Axes to draw on; None makes a figure.
    metric
        Its differences a - b in its own units; None: all metrics on one axis, as changes relative to b in percent.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UsageError
        For a metric that was not compared.
    """
    quantity = "relative_change" if metric is None else "difference"
    rows = [row for row in result.rows if row.quantity == quantity and metric in (None, row.metric)]
    if not rows:
        known = ", ".join(dict.fromkeys(row.metric for row in result.rows))
        raise UsageError(f"{metric} was not compared; the metrics are {known}")
    finding = {(row.metric, row.b): row.favours for row in result.rows if row.quantity == "difference"}
    with style.drawing():
        ax = style.new_axes(5.4, 1.1 + 0.24 * len(rows)) if ax is None else ax
        _frame(ax, rows, metric)
        ax.axvline(0, color=style.QUIET, linewidth=0.9, zorder=1)
        for place, row in enumerate(rows):
            _draw(ax, place, row, finding[row.metric, row.b], 100.0 if metric is None else 1.0)
        _key(ax, [side for side in BETTER if any(finding[row.metric, row.b] == side for row in rows)])
    return ax


def _frame(ax: Axes, rows: list[CompareRow], metric: str | None) -> None:
    several = len({row.b for row in rows}) > 1
    names = [
        " vs ".join(filter(None, ("" if metric else row.metric, told_apart(row.a, row.b) if several or metric else "")))
        for row in rows
    ]
    x = "change of a relative to b (%)" if metric is None else "a - b"
    style.dress(ax, metric or f"a against {'each b' if several else 'b'}", x=f"{x}\na: {rows[0].a}")
    ax.grid(visible=False, axis="y")
    ax.grid(visible=True, axis="x", color=style.FAINT, linewidth=0.6)
    ax.set_yticks(range(len(rows)), names)
    ax.set_ylim(len(rows) - 0.4, -0.6)


def _draw(ax: Axes, place: int, row: CompareRow, side: str | None, scale: float) -> None:
    colour, marker, _ = BETTER[side]
    unc = row.unc
    if unc.estimate is None:
        ax.annotate(
            "not defined",
            xy=(0.01, place),
            xycoords=("axes fraction", "data"),
            color=style.QUIET,
            va="center",
            fontsize=8,
        )
        return
    if unc.low is not None and unc.high is not None:
        ax.plot([scale * unc.low, scale * unc.high], [place, place], color=colour, linewidth=1.8, zorder=2)
    hollow = unc.low is None
    ax.plot(
        [scale * unc.estimate], [place], marker=marker, color=colour, markersize=5,
        markerfacecolor="white" if hollow else colour, zorder=3,
    )  # fmt: skip


def _key(ax: Axes, sides: list[str | None]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, marker=marker, label=name)
        for colour, marker, name in (BETTER[side] for side in sides)
    ]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8)
