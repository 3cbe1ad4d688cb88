"""Soft votes and plain votes against the same other votes, by number of annotators or by their time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from saturation.errors import UsageError
from saturation.report import style
from saturation.studies import phrases

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from saturation.results import ElicitedResult, ElicitedRow

_SIDES = {"soft": ("soft votes", "o", 0), "votes": ("plain votes", "s", 1)}


def elicited(
    result: ElicitedResult, ax: Axes | None = None, *, metric: str | None = None, by: str = "annotators"
) -> Axes:
    """Two curves with their intervals: the mean of n soft votes, and the shares of N plain votes.

    Parameters
    ----------
    result
        Of ``elicit_compare``.
    ax
        Axes to draw on; None makes a figure.
    metric
        Which one; default the first.
    by
        ``annotators``, or ``seconds`` where the result knows what both kinds of vote take.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UsageError
        For a metric or an axis that the result does not have.
    """
    values = [row for row in result.rows if row.quantity == "value"]
    known = list(dict.fromkeys(row.metric for row in values))
    name = known[0] if metric is None and known else metric
    if name not in known:
        raise UsageError(f"no metric {name!r} in this result; it has {', '.join(known)}")
    if by not in ("annotators", "seconds"):
        raise UsageError(f"by is {by!r}; choose annotators or seconds")
    own = [row for row in values if row.metric == name and row.unc.estimate is not None and row.n is not None]
    if by == "seconds" and any(row.seconds is None for row in own):
        raise UsageError("the time of a vote is not known: give seconds_per_soft and seconds_per_vote")
    with style.drawing():
        ax = style.new_axes() if ax is None else ax
        words = "annotators per item" if by == "annotators" else "annotator seconds per item"
        style.dress(ax, phrases.metric(str(name)), x=words, y=phrases.axis(str(name)))
        ends = [_curve(ax, [row for row in own if row.side == side], side, by) for side in _SIDES]
        style.label_lines(ax, [one for one in ends if one is not None])
    return ax


def _curve(ax: Axes, rows: Sequence[ElicitedRow], side: str, by: str) -> tuple[float, str, str] | None:
    if not rows:
        return None
    label, marker, place = _SIDES[side]
    colour = style.PALETTE[place]
    x = [float((row.n if by == "annotators" else row.seconds) or 0) for row in rows]
    y = [float(row.unc.estimate or 0.0) for row in rows]
    whole = [(at, row.unc.low, row.unc.high) for at, row in zip(x, rows, strict=True) if row.unc.low is not None]
    ax.fill_between(
        [at for at, _, _ in whole],
        [low or 0.0 for _, low, _ in whole],
        [high or 0.0 for _, _, high in whole],
        color=colour, alpha=0.2, linewidth=0,
    )  # fmt: skip
    ax.plot(x, y, color=colour, marker=marker, markersize=3.5, linewidth=1.3)
    return y[-1], label, colour
