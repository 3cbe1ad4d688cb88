"""Annotator equivalents drawn: scores of crowds by their size, and where a model's score crosses them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from saturation.conditions import parse
from saturation.errors import UsageError
from saturation.report import plotdata, style
from saturation.results import EquivalentsResult, EquivalentsRow
from saturation.studies import phrases

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_MODELS = 4
"""Levels that can be told apart in one panel."""


def equivalents(
    result: EquivalentsResult, ax: Axes | None = None, *, metric: str | None = None, conditions: Sequence[str] = ()
) -> Axes:
    """Scores of crowds by the number of people, and the levels of models; a marker where they cross.

    The thick part of a level is the interval of the number of annotators, an arrow one that is open; a level without a
    marker is worse than nobody, or better than the largest crowd.

    Parameters
    ----------
    result
        Annotator equivalents.
    ax
        Axes to draw on; None makes a figure.
    metric
        Which one; default the first with a curve.
    conditions
        Text forms of the models to draw; default hard labels, the smallest and the largest soft budget, else the first.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UsageError
        For a metric or a condition that the result does not have.
    """
    name = _metric(result, metric)
    crowd = [row for row in result.rows if (row.quantity, row.metric) == ("crowd", name)]
    models = list(conditions) or shown_conditions(result)
    known = [row.condition for row in result.rows if (row.quantity, row.metric) == ("score", name)]
    for one in models:
        if one not in known:
            raise UsageError(f"no condition {one!r} in this result; it has {'; '.join(map(str, known))}")
    with style.drawing():
        ax = style.new_axes() if ax is None else ax
        style.dress(ax, phrases.metric(name), x="people in the crowd (0: the base rate alone)", y=phrases.axis(name))
        _crowd(ax, crowd)
        names = plotdata.short_names(models)
        ends = [_model(ax, result, name, one, place, _largest(crowd)) for place, one in enumerate(models)]
        _axis(ax, crowd)
        style.label_lines(
            ax, [(y, names[one], colour) for one, (y, colour) in zip(models, ends, strict=True) if y is not None]
        )
    return ax


def metrics_of(result: EquivalentsResult) -> tuple[str, ...]:
    """Metrics that have a curve of crowds, in order."""
    return tuple(dict.fromkeys(row.metric for row in result.rows if row.quantity == "crowd"))


def shown_conditions(result: EquivalentsResult) -> list[str]:
    """Conditions to draw and speak of."""
    return shown_among(list(dict.fromkeys(row.condition for row in result.rows if row.condition is not None)))


def shown_among(known: Sequence[str]) -> list[str]:
    """Hard labels, the smallest and the largest soft budget of the first model; where there are none, the first few."""
    parsed = {text: parse(text)[0] for text in known}
    own = [text for text in known if parsed[text].model == parsed[known[0]].model] if known else []
    hard = [text for text in own if parsed[text].method == "hard" and parsed[text].budget is None]
    soft = sorted(
        (text for text in own if parsed[text].method == "soft" and parsed[text].budget is not None),
        key=lambda text: parsed[text].budget or 0,
    )
    return list(dict.fromkeys((*hard[:1], *soft[:1], *soft[-1:]))) or list(known[:MOST_MODELS])


def _metric(result: EquivalentsResult, metric: str | None) -> str:
    known = metrics_of(result)
    if metric is None and known:
        return known[0]
    if metric not in known:
        raise UsageError(f"no crowds by {metric or 'any metric'} in this result; it has {', '.join(known) or 'none'}")
    return str(metric)


def _largest(crowd: Sequence[EquivalentsRow]) -> float:
    return float(crowd[-1].crowd_size or 0)


def _crowd(ax: Axes, crowd: Sequence[EquivalentsRow]) -> None:
    known = [row for row in crowd if row.unc.estimate is not None]
    whole = [row for row in known if row.unc.low is not None]
    ax.fill_between(
        [row.crowd_size or 0 for row in whole],
        [row.unc.low or 0.0 for row in whole],
        [row.unc.high or 0.0 for row in whole],
        color=style.CROWD, alpha=0.35, linewidth=0, zorder=1,
    )  # fmt: skip
    ax.plot(
        [row.crowd_size or 0 for row in known],
        [row.unc.estimate or 0.0 for row in known],
        color=style.INK, linewidth=1.3, marker="o", markersize=2.5, zorder=2,
    )  # fmt: skip


def _model(  # noqa: PLR0917
    ax: Axes, result: EquivalentsResult, metric: str, condition: str, place: int, largest: float
) -> tuple[float | None, str]:
    """Draw one level; its height and colour for the label."""
    colour = style.PALETTE[place % len(style.PALETTE)]
    rows = {row.quantity: row for row in result.rows if (row.metric, row.condition) == (metric, condition)}
    level, worth = rows["score"].unc.estimate, rows["equivalent"]
    if level is None:
        return None, colour
    if rows["score"].unc.low is not None:
        ax.axhspan(
            rows["score"].unc.low, rows["score"].unc.high or level, color=colour, alpha=0.12, linewidth=0, zorder=0
        )
    ax.axhline(level, color=colour, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
    if worth.unc.interval != "none" and (worth.censored != "below" or worth.unc.low is not None):
        low, high = worth.unc.low or 0.0, largest if worth.unc.high is None else worth.unc.high
        ax.plot([low, high], [level, level], color=colour, linewidth=3.2, alpha=0.75, solid_capstyle="butt", zorder=3)
        if worth.unc.high is None:
            ax.plot([largest], [level], marker=">", color=colour, markersize=6, zorder=4)
    if worth.unc.estimate is not None:
        marker = style.MARKERS[place % len(style.MARKERS)]
        ax.plot(
            [worth.unc.estimate],
            [level],
            marker=marker,
            color=colour,
            markeredgecolor="white",
            markersize=6.5,
            zorder=5,
        )
    return level, colour


def _axis(ax: Axes, crowd: Sequence[EquivalentsRow]) -> None:
    """Straight up to one person, logarithmic beyond; ticks where there is room."""
    from matplotlib.ticker import NullLocator

    largest = _largest(crowd)
    ax.set_xscale("symlog", linthresh=1, linscale=0.5)
    ticks = [n for n in (0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500) if n <= largest]
    ax.set_xticks(ticks, [f"{n}" for n in ticks])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlim(-0.05, largest * 1.1 if largest > 1 else 1.05)
