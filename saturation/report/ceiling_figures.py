"""Human ceilings drawn: two levels, and where the models stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from saturation.errors import UsageError
from saturation.report import plotdata, style
from saturation.results import CeilingResult, CeilingRow, Uncertainty
from saturation.studies import phrases

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = {"noise_only": ("noise alone", style.PALETTE[2]), "another_crowd": ("another crowd", style.PALETTE[1])}
"""Name and colour of each ceiling."""
MOST_MODELS = 24


def ceiling(result: CeilingResult, ax: Axes | None = None, *, metric: str | None = None) -> Axes:
    """What people themselves would score, as two levels with their intervals, and the scores of models beside them.

    A model has one point for each ceiling, in its colour, where the two are scored against different numbers of votes.

    Parameters
    ----------
    result
        Human ceilings.
    ax
        Axes to draw on; None makes a figure.
    metric
        Which one; default the first that has a ceiling.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UsageError
        For a metric that the result has no ceiling of.
    """
    name = _metric(result, metric)
    levels = ceilings_of(result, name)
    models = models_of(result, name)
    with style.drawing():
        ax = style.new_axes(4.8, height_of(len(models))) if ax is None else ax
        style.dress(ax, phrases.metric(name), x=phrases.axis(name))
        ax.grid(visible=False, axis="y")
        ax.grid(visible=True, axis="x", color=style.FAINT, linewidth=0.6)
        for level in levels:
            _level(ax, level, alone=not models)
        _models(ax, result, name, models, levels)
        _key(ax, levels)
    return ax


def height_of(n_models: int) -> float:
    """Inches that so many models take."""
    return 1.2 + 0.21 * max(n_models, 2)


def metrics_of(result: CeilingResult) -> tuple[str, ...]:
    """Metrics that have a ceiling, in order."""
    return tuple(dict.fromkeys(row.metric for row in result.rows if _is_known(row)))


def ceilings_of(result: CeilingResult, metric: str) -> list[CeilingRow]:
    """The ceilings of a metric that are defined, at most one a kind."""
    found = {row.kind: row for row in result.rows if row.metric == metric and _is_known(row)}
    return [found[kind] for kind in KINDS if kind in found]


def models_of(result: CeilingResult, metric: str) -> list[str]:
    """Conditions with a score, at most so many as a panel can hold."""
    rows = [row for row in result.rows if (row.quantity, row.metric) == ("score", metric)]
    return list(dict.fromkeys(row.condition for row in rows if row.condition and row.unc.estimate is not None))[
        :MOST_MODELS
    ]


def _is_known(row: CeilingRow) -> bool:
    return row.quantity == "ceiling" and row.unc.estimate is not None


def _metric(result: CeilingResult, metric: str | None) -> str:
    known = metrics_of(result)
    if metric is None and known:
        return known[0]
    if metric not in known:
        raise UsageError(f"no ceiling by {metric or 'any metric'} in this result; it has {', '.join(known) or 'none'}")
    return str(metric)


def _level(ax: Axes, row: CeilingRow, *, alone: bool) -> None:
    _, colour = KINDS[row.kind]
    unc = row.unc
    if alone:
        place = list(KINDS).index(row.kind)
        _point(ax, unc, place, colour, style.MARKERS[place])
        return
    if unc.low is not None and unc.high is not None:
        ax.axvspan(unc.low, unc.high, color=colour, alpha=0.25, linewidth=0, zorder=0)
    ax.axvline(unc.estimate or 0.0, color=colour, linewidth=1.2, zorder=1)


def _models(ax: Axes, result: CeilingResult, metric: str, models: Sequence[str], levels: Sequence[CeilingRow]) -> None:
    if not models:
        ax.set_yticks(range(len(KINDS)), [name for name, _ in KINDS.values()])
        ax.set_ylim(len(KINDS) - 0.4, -0.6)
        return
    names = plotdata.short_names(models)
    apart = len({row.reference_size for row in levels}) > 1
    for place, condition in enumerate(models):
        for row in result.rows:
            if (row.quantity, row.metric, row.condition) != ("score", metric, condition):
                continue
            if not apart and row.kind != levels[0].kind:
                continue
            shift = 0.16 * (list(KINDS).index(row.kind) - 0.5) * 2 if apart else 0.0
            colour = KINDS[row.kind][1] if apart else style.INK
            _point(ax, row.unc, place + shift, colour, style.MARKERS[list(KINDS).index(row.kind)])
    ax.set_yticks(range(len(models)), [names[one] for one in models])
    for text in ax.get_yticklabels():
        text.set_parse_math(False)
    ax.set_ylim(len(models) - 0.4, -0.6)


def _point(ax: Axes, unc: Uncertainty, place: float, colour: str, marker: str) -> None:
    if unc.estimate is None:
        return
    if unc.low is not None and unc.high is not None:
        ax.plot([unc.low, unc.high], [place, place], color=colour, linewidth=1.6, zorder=2)
    ax.plot([unc.estimate], [place], marker=marker, color=colour, markersize=4.5, zorder=3)


def _key(ax: Axes, levels: Sequence[CeilingRow]) -> None:
    from matplotlib.lines import Line2D

    lines = [
        Line2D(
            [],
            [],
            color=KINDS[row.kind][1],
            marker=style.MARKERS[list(KINDS).index(row.kind)],
            markersize=4.5,
            label=_name(row),
        )
        for row in levels
    ]
    ax.legend(
        handles=lines, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=7.5, handlelength=1.4
    )


def _name(row: CeilingRow) -> str:
    """The ceiling and the votes it is scored against."""
    name = KINDS[row.kind][0]
    return name if row.reference_size is None else f"{name},\nagainst {row.reference_size} votes"
