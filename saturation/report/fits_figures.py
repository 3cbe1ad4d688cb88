"""Fitted curves drawn: the points, the preferred form through them, dashed beyond the budgets tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from saturation.errors import UsageError
from saturation.report import style
from saturation.report.fits_data import Fitted, curves_with_fits, fitted
from saturation.results import CurveRow, SaturationResult
from saturation.studies import phrases

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEWEST_PREDICTIONS = 3


def fits(
    result: SaturationResult, ax: Axes | None = None, *, metric: str | None = None, curve: str | None = None
) -> Axes:
    """The preferred fit of one metric: points with intervals, the curve with its band, where it settles.

    The curve is drawn through the predictions of the result (``predict=``), dashed beyond the largest budget tried.

    Parameters
    ----------
    result
        A saturation result with fits and at least three predictions.
    ax
        Axes to draw on; None makes a figure.
    metric, curve
        Which ones; default the first that have a fit.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UsageError
        Where nothing was fitted to them, or too little predicted to draw.
    """
    metric, curve = _named(result, metric, curve)
    found = fitted(result, metric, curve)
    if isinstance(found, str):
        raise UsageError(f"nothing to draw for {metric} of {curve}: {found}")
    if len(found.predictions) < FEWEST_PREDICTIONS:
        raise UsageError(f"a fit is drawn through at least {FEWEST_PREDICTIONS} predictions; give predict=")
    with style.drawing():
        ax = style.new_axes() if ax is None else ax
        _draw(ax, found)
        style.dress(ax, phrases.metric(metric), x="annotators per item (log scale)", y=phrases.axis(metric))
        style.budget_axis(ax, [row.budget or 1 for row in (*found.tried, found.predictions[-1])])
    return ax


def _named(result: SaturationResult, metric: str | None, curve: str | None) -> tuple[str, str]:
    rows = [row for row in result.rows if row.quantity == "fit_aicc"]
    rows = [row for row in rows if metric in (None, row.metric) and curve in (None, row.curve)]
    if not rows:
        known = ", ".join(curves_with_fits(result)) or "none"
        raise UsageError(f"no fit of {metric or 'any metric'} of {curve or 'any curve'}; curves with fits: {known}")
    return rows[0].metric, rows[0].curve


def _draw(ax: Axes, found: Fitted) -> None:
    colour, beyond = style.PALETTE[0], style.PALETTE[1]
    inside = [row for row in found.predictions if (row.budget or 0) <= found.largest]
    outside = [row for row in found.predictions if (row.budget or 0) > found.largest]
    for rows, own, dashes in ((inside, colour, "-"), (inside[-1:] + outside, beyond, (0, (4, 2)))):
        _curve(ax, rows, own, dashes)
    tried = [row for row in found.tried if row.unc.estimate is not None]
    at = [row.budget or 1 for row in tried]
    ax.vlines(at, [r.unc.low or 0 for r in tried], [r.unc.high or 0 for r in tried], color=style.INK, linewidth=1)
    ax.plot(
        at, [r.unc.estimate or 0 for r in tried], linestyle="", marker="o", markersize=4.5, color=style.INK, zorder=4
    )
    settles = found.asymptote.unc
    if settles.estimate is not None:
        ax.axhline(settles.estimate, color=style.QUIET, linewidth=1, linestyle=":", zorder=1)
        style.label_lines(ax, [(settles.estimate, "settles at", style.QUIET)])


def _curve(ax: Axes, rows: Sequence[CurveRow], colour: str, dashes: object) -> None:
    known = [row for row in rows if row.unc.low is not None and row.unc.high is not None]
    at = [row.budget or 1 for row in rows]
    ax.plot(at, [row.unc.estimate or 0 for row in rows], color=colour, linewidth=1.6, linestyle=dashes, zorder=3)
    low, high = [row.unc.low or 0 for row in known], [row.unc.high or 0 for row in known]
    ax.fill_between([row.budget or 1 for row in known], low, high, color=colour, alpha=0.18, linewidth=0, zorder=2)
