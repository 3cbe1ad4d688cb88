"""Reliability and attribute diagrams: what was forecast against what the annotators said, bin by bin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from saturation.conditions import Condition, select
from saturation.errors import UsageError
from saturation.report import plotdata, style
from saturation.results import MurphyResult, ReliabilityBin

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LABELS = 4
"""Labels that can be told apart in one panel."""
_Z = 1.96
_FORECAST = "forecast probability"
_OBSERVED = {"majority": "share of items with that majority"}


def reliability(
    result: MurphyResult, ax: Axes | None = None, *, condition: str | None = None, label: str | None = None
) -> Axes:
    """Observed share against forecast, one point a bin; on the diagonal a forecast means what it says.

    Whiskers: the interval for other items like these. Grey band: how far the annotators' noise alone would move the
    points of a calibrated model (95%), other people voting on these very items. Bars: the share of items in each bin.

    Parameters
    ----------
    result
        A binned Murphy result.
    ax
        Axes to draw on; None makes a figure.
    condition
        Selects one, e.g. ``method=soft,budget=10``; default the first.
    label
        Which label; default all of them, in one panel, or the first where there are more than four.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UsageError
        For a condition or label that the result does not have, and for isotonic terms, which have no bins.
    """
    chosen, bins = _bins(result, condition)
    labels = _labels(bins, label)
    with style.drawing():
        ax = style.new_axes(3.6, 3.6) if ax is None else ax
        _unit_square(ax, chosen, result, bins)
        ax.plot([0, 1], [0, 1], color=style.QUIET, linewidth=0.9, zorder=1)
        for place, name in enumerate(labels):
            own = [b for b in bins if b.label == name]
            _annotators(ax, own)
            _shares(ax, own, place, len(labels))
            _points(ax, own, place)
        if len(labels) > 1 or label is not None:
            _key(ax, labels)
    return ax


def attributes(
    result: MurphyResult, ax: Axes | None = None, *, condition: str | None = None, label: str | None = None
) -> Axes:
    """The reliability diagram of one label with what each point does to the score (Hsu and Murphy 1986).

    Dotted lines: the mean share, where there is no resolution. In the shaded wedge a bin gains more resolution than it
    loses reliability, so that it improves on always forecasting the mean.

    Parameters
    ----------
    result, ax, condition
        As in :func:`reliability`.
    label
        Which label; default the first.
    """
    chosen, bins = _bins(result, condition)
    name = _labels(bins, label)[0]
    own = [b for b in bins if b.label == name]
    mean = sum(b.share * b.observed for b in own)
    with style.drawing():
        ax = style.new_axes(3.6, 3.6) if ax is None else ax
        _unit_square(ax, chosen, result, bins)
        ax.plot([0, 1], [0, 1], color=style.QUIET, linewidth=0.9, zorder=1)
        ax.fill_between([0, mean], [0, 0], [mean / 2, mean], color=style.PALETTE[2], alpha=0.12, linewidth=0)
        ax.fill_between([mean, 1], [mean, (1 + mean) / 2], [1, 1], color=style.PALETTE[2], alpha=0.12, linewidth=0)
        for line in (ax.axhline, ax.axvline):
            line(mean, color=style.QUIET, linewidth=0.9, linestyle=(0, (1, 1.5)), zorder=1)
        _annotators(ax, own)
        _points(ax, own, 0)
        _key(ax, [name])
    return ax


def conditions_of(result: MurphyResult) -> tuple[Condition, ...]:
    """Conditions with bins, in order."""
    return tuple(dict.fromkeys(one.condition for one in result.diagram))


def _bins(result: MurphyResult, condition: str | None) -> tuple[Condition, list[ReliabilityBin]]:
    known = conditions_of(result)
    if not known:
        raise UsageError("isotonic terms have no bins to draw; decompose with binning width or count")
    chosen = known[0] if condition is None else select(known, condition)
    outcome = result.diagram[0].outcome
    return chosen, [one for one in result.diagram if (one.condition, one.outcome) == (chosen, outcome)]


def _labels(bins: Sequence[ReliabilityBin], label: str | None) -> list[str]:
    known = list(dict.fromkeys(one.label for one in bins))
    if label is None:
        return known if len(known) <= MOST_LABELS else known[:1]
    if label not in known:
        raise UsageError(f"no bins of label {label!r} in this result; it has {', '.join(known)}")
    return [label]


def _unit_square(ax: Axes, condition: Condition, result: MurphyResult, bins: Sequence[ReliabilityBin]) -> None:
    names = plotdata.short_names(str(one) for one in conditions_of(result))
    observed = _OBSERVED.get(bins[0].outcome, "share of votes")
    style.dress(ax, names[str(condition)], x=_FORECAST, y=observed)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_aspect("equal")


def _annotators(ax: Axes, bins: Sequence[ReliabilityBin]) -> None:
    """The band around the diagonal that the annotators' noise alone accounts for."""
    known = [(b.forecast, _Z * b.annotator_sd) for b in bins if b.annotator_sd is not None]
    at = [m for m, _ in known]
    low, high = [m - half for m, half in known], [m + half for m, half in known]
    ax.fill_between(at, low, high, color=style.CROWD, alpha=0.45, linewidth=0, zorder=1)


def _points(ax: Axes, bins: Sequence[ReliabilityBin], place: int) -> None:
    colour = style.PALETTE[place % len(style.PALETTE)]
    whole = [b for b in bins if b.low is not None and b.high is not None]
    ends = [max(b.low or 0.0, 0.0) for b in whole], [min(b.high or 0.0, 1.0) for b in whole]
    ax.vlines([b.forecast for b in whole], *ends, color=colour, linewidth=1, alpha=0.8, zorder=2)
    ax.plot(
        [b.forecast for b in bins],
        [b.observed for b in bins],
        color=colour,
        linewidth=1.1,
        marker=style.MARKERS[place % len(style.MARKERS)],
        markersize=4,
        clip_on=False,
        zorder=3,
    )


def _shares(ax: Axes, bins: Sequence[ReliabilityBin], place: int, number: int) -> None:
    """Small bars along the bottom: the share of items in each bin, a fifth of the panel for all items."""
    width = 0.05 / number
    at = [(b.lower + b.upper) / 2 + (place - (number - 1) / 2) * width for b in bins]
    colour = style.PALETTE[place % len(style.PALETTE)]
    ax.bar(at, [b.share / 5 for b in bins], width, color=colour, alpha=0.35, linewidth=0, zorder=0)


def _key(ax: Axes, labels: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    lines = [
        Line2D([], [], color=style.PALETTE[p % len(style.PALETTE)], marker=style.MARKERS[p % len(style.MARKERS)])
        for p in range(len(labels))
    ]
    shown = ax.legend(lines, labels, loc="upper left", frameon=False, fontsize=7.5, handlelength=1.4)
    for text in shown.get_texts():
        text.set_parse_math(False)
