"""Held-out votes drawn: raw and corrected values against training votes, all votes and held-out votes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from saturation.errors import UsageError
from saturation.report import plotdata, style
from saturation.report.equivalents_figures import shown_among
from saturation.results import HeldOutResult, HeldOutRow
from saturation.studies import phrases

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POOLS = {"train": "training votes", "all": "all votes", "heldout": "held-out votes"}
"""In the order of the axis."""
OPEN_AND_FILLED = "open: as it is; filled: corrected for so few votes"
_SPREAD = 0.5
"""Part of a tick's distance that the markers of one pool take."""


def heldout(
    result: HeldOutResult, ax: Axes | None = None, *, metric: str | None = None, conditions: Sequence[str] = ()
) -> Axes:
    """Values of one metric against each pool: open markers as they are, filled ones corrected for so few votes.

    Parameters
    ----------
    result
        Scores against held-out votes.
    ax
        Axes to draw on; None makes a figure.
    metric
        Which one; default the first.
    conditions
        Text forms of the conditions to draw; default hard labels, the smallest and the largest soft budget, else the
        first few.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UsageError
        For a metric or a condition that the result does not have.
    """
    names = metrics_of(result)
    name = names[0] if metric is None and names else metric
    if name is None or name not in names:
        raise UsageError(f"no {metric or 'metric'} in this result; it has {', '.join(names) or 'none'}")
    known = list(dict.fromkeys(str(row.condition) for row in result.rows))
    models = list(conditions) or shown_among(known)
    for one in models:
        if one not in known:
            raise UsageError(f"no condition {one!r} in this result; it has {'; '.join(known)}")
    short = plotdata.short_names(models)
    rows = {(row.pool, str(row.condition)): row for row in result.rows if row.metric == name}
    with style.drawing():
        ax = style.new_axes() if ax is None else ax
        corrected = any(row.corrected is not None for row in rows.values())
        style.dress(ax, phrases.metric(name), x=OPEN_AND_FILLED if corrected else "", y=phrases.axis(name))
        ends = [_condition(ax, rows, one, place, len(models)) for place, one in enumerate(models)]
        ax.set_xticks(range(len(POOLS)), [_tick(rows[pool, models[0]]) for pool in POOLS], parse_math=False)
        ax.set_xlim(-0.5, len(POOLS) - 0.5)
        style.label_lines(
            ax, [(y, short[one], colour) for one, (y, colour) in zip(models, ends, strict=True) if y is not None]
        )
    return ax


def metrics_of(result: HeldOutResult) -> tuple[str, ...]:
    """Metrics of a result, in order."""
    return tuple(dict.fromkeys(row.metric for row in result.rows))


def _condition(
    ax: Axes, rows: dict[tuple[str, str], HeldOutRow], one: str, place: int, n_models: int
) -> tuple[float | None, str]:
    """Draw one condition; height and colour of its name."""
    colour, marker = style.PALETTE[place % len(style.PALETTE)], style.MARKERS[place % len(style.MARKERS)]
    end = None
    step = _SPREAD / (2 * n_models)
    for tick, pool in enumerate(POOLS):
        row = rows[pool, one]
        at = tick - _SPREAD / 2 + (2 * place + 0.5) * step
        raw = (row.unc.estimate, row.unc.low, row.unc.high)
        for where, (value, low, high), face in (
            (at, raw, "white"),
            (at + step, (row.corrected, row.corrected_low, row.corrected_high), colour),
        ):
            if value is None:
                continue
            if low is not None and high is not None:
                ax.plot([where, where], [low, high], color=colour, linewidth=1.1, zorder=2)
            ax.plot([where], [value], marker=marker, color=colour, markerfacecolor=face, markersize=5, zorder=3)
            end = value
    return end, colour


def _tick(row: HeldOutRow) -> str:
    votes = "" if row.votes is None else f"\n({row.votes:.3g} an item)"
    return f"{POOLS[row.pool]}{votes}"
