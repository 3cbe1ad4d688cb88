"""Figures of results (public as ``saturation.plot``): each takes ``ax`` and returns it; none touches pyplot.

Shape and marker say what colour says, so that a copy in grey can be read. A censored N* is an arrow, an unbounded
Fieller set a dotted line of full height, the label-only curve dashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from saturation.errors import UsageError
from saturation.report import plotdata, style
from saturation.report.ceiling_figures import ceiling
from saturation.report.compare_figures import compare
from saturation.report.elicited_figures import elicited
from saturation.report.equivalents_figures import equivalents
from saturation.report.fits_figures import fits
from saturation.report.heldout_figures import heldout
from saturation.report.murphy_figures import attributes, reliability
from saturation.report.plan_figures import plan
from saturation.report.plotdata import CurveResult, Point, Star
from saturation.report.study_figures import study_fractions
from saturation.results import DataSummary, EvaluateResult, LabelCurveResult, SaturationResult
from saturation.studies import phrases

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "attributes",
    "ceiling",
    "checks",
    "compare",
    "conditions",
    "elicited",
    "equivalents",
    "fits",
    "fractions",
    "heldout",
    "label_curve",
    "n_star",
    "plan",
    "reliability",
    "saturation_curve",
    "study_fractions",
]

BUDGET = "annotators per item (log scale)"
_ALONE = "labels alone"
_FRACTION_RANGE = (-0.35, 1.35)


def label_curve(result: LabelCurveResult, ax: Axes | None = None, *, metric: str | None = None) -> Axes:
    """Value of the label-side curve against the budget.

    The line and dark band are the mean and its interval for other items; the light band is where one actual
    collection of that many votes would fall.

    Parameters
    ----------
    result
        A label-side result.
    ax
        Axes to draw on; None makes a figure.
    metric
        Which metric; default the first.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    UsageError
        For a metric that the result does not have.
    """
    metric = _metric(result, metric)
    points = [p for p in plotdata.label_curve_data(result) if p.metric == metric]
    with style.drawing():
        ax = style.new_axes() if ax is None else ax
        _band(ax, points, style.PALETTE[0], 0.12, wide=True)
        _line(ax, points, 0, style.PALETTE[0])
        _finish(ax, metric, points)
    return ax


def saturation_curve(result: SaturationResult, ax: Axes | None = None, *, metric: str | None = None) -> Axes:
    """Value of each model curve against the budget, with bands; conditions without a budget as levels.

    The label-only curve of the same metric, where the result has one, is dashed.

    Parameters
    ----------
    result
        A saturation result.
    ax
        Axes to draw on; None makes a figure.
    metric
        Which metric; default the first.
    """
    metric = _metric(result, metric)
    points = [p for p in plotdata.saturation_curve_data(result) if p.metric == metric]
    with style.drawing():
        ax = style.new_axes() if ax is None else ax
        ends = _draw_series(ax, points, bands=True)
        _finish(ax, metric, points)
        style.label_lines(ax, ends if len(ends) > 1 else [])
    return ax


def fractions(
    result: CurveResult, ax: Axes | None = None, *, metric: str | None = None, curve: str | None = None
) -> Axes:
    """Saturation fraction against the budget, one line a baseline, with a line at each q.

    Parameters
    ----------
    result
        A saturation or label-side result.
    ax
        Axes to draw on; None makes a figure.
    metric, curve
        Which ones; default the first.
    """
    metric = _metric(result, metric)
    points = [p for p in plotdata.fractions_data(result, curve) if p.metric == metric]
    with style.drawing():
        ax = style.new_axes() if ax is None else ax
        ends = _draw_series(ax, points, bands=len({p.series for p in points}) < 3)
        _finish(ax, metric, points, y="share of the improvement kept")
        if curve is not None and len(plotdata.curves_of(result)) > 1:
            names = plotdata.short_names(plotdata.curves_of(result))
            style.title(ax, f"{phrases.metric(metric)}, {names[curve]}")
        _fraction_axis(ax, points, _targets(result))
        lines = dict.fromkeys(p.series for p in points if not p.alone and not _is_crowd(points, p.series))
        for place, name in enumerate(lines):
            _unbounded(ax, [p for p in points if p.series == name], style.PALETTE[place % len(style.PALETTE)])
        style.label_lines(ax, ends if len(ends) > 1 else [])
    return ax


def n_star(result: CurveResult, ax: Axes | None = None) -> Axes:
    """N* of every metric and curve: filled for the first q, open for the others, an arrow where censored.

    The baseline is the headline one: hard labels where the study has them.

    Parameters
    ----------
    result
        A saturation or label-side result.
    ax
        Axes to draw on; None makes a figure.
    """
    stars = plotdata.n_star_data(result)
    lines = list(dict.fromkeys((s.metric, s.series) for s in stars))
    targets = sorted({s.q for s in stars})
    with style.drawing():
        ax = style.new_axes(4.8, 0.9 + 0.27 * max(len(lines), 1)) if ax is None else ax
        budgets = sorted({r.budget for r in result.rows if r.quantity == "fraction" and r.budget is not None})
        over = phrases.listed(plotdata.star_baselines(result))
        style.dress(ax, "", x=f"{BUDGET}{chr(10) + 'improvement over ' if over else ''}{over}")
        style.budget_axis(ax, budgets or [1.0])
        for star in stars:
            _draw_star(ax, star, lines.index((star.metric, star.series)), targets)
        names = [f"{phrases.metric(m)}{', ' if s else ''}{s}" for m, s in lines]
        _name_rows(ax, names)
        ax.grid(axis="x", color=style.FAINT, linewidth=0.6)
        _star_key(ax, targets)
    return ax


def conditions(result: EvaluateResult, ax: Axes | None = None, *, metric: str | None = None) -> Axes:
    """Mean over cells of one metric for every condition, with its interval.

    Parameters
    ----------
    result
        An evaluate result.
    ax
        Axes to draw on; None makes a figure.
    metric
        Which metric; default the first.
    """
    metric = _metric(result, metric)
    bars = [b for b in plotdata.conditions_data(result) if b.metric == metric]
    with style.drawing():
        ax = style.new_axes(4.8, 0.9 + 0.21 * max(len(bars), 1)) if ax is None else ax
        style.dress(ax, phrases.metric(metric), x=phrases.axis(metric))
        for row, bar in enumerate(bars):
            _draw_bar(ax, row, bar)
        _name_rows(ax, [bar.name for bar in bars])
        ax.grid(axis="x", color=style.FAINT, linewidth=0.6)
    return ax


def checks(data: DataSummary, ax: Axes | None = None) -> Axes:
    """What the door let in, left out and repaired.

    Parameters
    ----------
    data
        The ``data`` of any result.
    ax
        Axes to draw on; None makes a figure.
    """
    rows = plotdata.checks_data(data)
    with style.drawing():
        ax = style.new_axes(5.6, 0.6 + 0.3 * len(rows)) if ax is None else ax
        style.dress(ax, "What was read")
        ax.barh(range(len(rows)), [count for _, count in rows], color=style.PALETTE[0], height=0.55)
        for position, (_, count) in enumerate(rows):
            ax.annotate(
                f"{count:,}", (count, position), (4, 0), textcoords="offset points", va="center", color=style.INK
            )
        _name_rows(ax, [name for name, _ in rows])
        ax.grid(visible=False)
        ax.set_xticks([])
        ax.spines["bottom"].set_visible(False)
    return ax


def _metric(result: CurveResult | EvaluateResult, metric: str | None) -> str:
    known = plotdata.metrics_of(result)
    if metric is None and known:
        return known[0]
    if metric not in known:
        raise UsageError(f"no metric {metric!r} in this result; it has {', '.join(known) or 'no rows'}")
    return metric


def _targets(result: CurveResult) -> list[float]:
    return sorted({row.q for row in result.rows if row.q is not None})


def _finish(ax: Axes, metric: str, points: Sequence[Point], y: str | None = None) -> None:
    style.dress(ax, phrases.metric(metric), x=BUDGET, y=phrases.axis(metric) if y is None else y)
    style.budget_axis(ax, [p.budget for p in points if p.budget is not None])
    if not any(p.value is not None for p in points):
        ax.text(
            0.5, 0.5, "undefined: the table gives the reasons", transform=ax.transAxes, ha="center", color=style.QUIET
        )
        ax.set_yticks([])


def _draw_series(ax: Axes, points: Sequence[Point], *, bands: bool) -> list[tuple[float, str, str]]:
    """Every line of a panel; returns where each ends, for its name, lower lines first."""
    ends: list[tuple[float, str, str, float]] = []
    keys = list(dict.fromkeys((p.series, p.alone) for p in points if not _is_crowd(points, p.series)))
    crowd = [p for p in points if _is_crowd(points, p.series)]
    if crowd:
        ends.append(_draw_crowd(ax, crowd))
    for place, (name, alone) in enumerate(sorted(keys, key=lambda key: key[1])):
        series = [p for p in points if (p.series, p.alone) == (name, alone)]
        colour = style.QUIET if alone else style.PALETTE[place % len(style.PALETTE)]
        curved = [p for p in series if p.budget is not None]
        if curved and bands and not alone:
            _band(ax, curved, colour, 0.18)
        elif curved and not alone:
            _whiskers(ax, curved, colour, place - (len(keys) - 1) / 2)
        if curved:
            _line(ax, curved, place, colour, dashed=alone)
        else:
            _level(ax, series[0], colour)
        known = [p.value for p in series if p.value is not None]
        if known or any(p.unbounded for p in series):
            text = _ALONE if alone else phrases.baseline(name)
            ends.append((known[-1] if known else 1.0, text if known else f"{text}: unbounded", colour, sum(known)))
    ends.sort(key=lambda end: end[3])
    return [(y, text, colour) for y, text, colour, _ in ends]


def _is_crowd(points: Sequence[Point], series: str) -> bool:
    """Whether a series is one of several smoothing strengths, which are shown as one bundle."""
    names = {p.series for p in points if p.series.startswith("smoothing")}
    return len(names) > 2 and series in names


def _draw_crowd(ax: Axes, points: Sequence[Point]) -> tuple[float, str, str, float]:
    """Thin grey lines (levels) for single smoothing strengths, with one name."""
    names = list(dict.fromkeys(p.series for p in points))
    for name in names:
        series = [(p.budget, p.value) for p in points if p.series == name and p.value is not None]
        curved = [(budget, value) for budget, value in series if budget is not None]
        if curved:
            ax.plot([b for b, _ in curved], [v for _, v in curved], color=style.CROWD, linewidth=0.9, zorder=2)
        for value in (v for budget, v in series if budget is None):
            ax.axhline(value, color=style.CROWD, linewidth=0.9, linestyle=(0, (1, 1.5)), zorder=2)
    known = [p.value for p in points if p.value is not None]
    end = known[-1] if known else 1.0
    text = f"{len(names)} smoothing strengths"
    return (end, text if known else f"{text}: unbounded", style.QUIET, sum(known) / len(names))


def _line(ax: Axes, points: Sequence[Point], place: int, colour: str, *, dashed: bool = False) -> None:
    known = [(p.budget, p.value) for p in points if p.value is not None and p.budget is not None]
    ax.plot(
        [budget for budget, _ in known],
        [value for _, value in known],
        color=colour,
        linewidth=1.3 if dashed else 1.6,
        linestyle=(0, (4, 2)) if dashed else "-",
        marker="" if dashed else style.MARKERS[place % len(style.MARKERS)],
        markersize=4.5,
        zorder=3,
    )


def _unbounded(ax: Axes, points: Sequence[Point], colour: str) -> None:
    """Fieller's set where it is no interval: dotted to both ends of the axis, with the gap it leaves, if any."""
    for point in points:
        if not point.unbounded or point.budget is None:
            continue
        bottom, top = ax.get_ylim()
        gap = (point.low, point.high)
        ends = [(bottom, top)] if None in gap else [(bottom, point.low), (point.high, top)]
        for low, high in ends:
            ax.vlines(point.budget, low, high, color=colour, linewidth=1.2, linestyle=":")  # type: ignore[arg-type]


def _band(ax: Axes, points: Sequence[Point], colour: str, strength: float, *, wide: bool = False) -> None:
    """Shade the interval; ``wide`` adds the spread of one draw behind it."""
    pairs: list[tuple[str, str, float]] = [("low", "high", strength + 0.12 * wide)]
    if wide:
        pairs.insert(0, ("band_low", "band_high", strength))
    for low, high, alpha in pairs:
        known = [p for p in points if getattr(p, low) is not None and getattr(p, high) is not None and not p.unbounded]
        edges = ([getattr(p, low) for p in known], [getattr(p, high) for p in known])
        if len(known) > 1:
            ax.fill_between([p.budget or 1 for p in known], *edges, color=colour, alpha=alpha, linewidth=0, zorder=2)
        elif known:
            ax.vlines([p.budget or 1 for p in known], *edges, color=colour, alpha=0.6, linewidth=3 if wide else 1.5)


def _whiskers(ax: Axes, points: Sequence[Point], colour: str, shift: float) -> None:
    """Intervals as thin bars, moved sideways a little so that those of several series can be told apart."""
    known = [p for p in points if p.low is not None and p.high is not None and not p.unbounded]
    at = [(p.budget or 1) * 1.025**shift for p in known]
    ax.vlines(at, [p.low or 0 for p in known], [p.high or 0 for p in known], color=colour, linewidth=1, alpha=0.75)


def _level(ax: Axes, point: Point, colour: str) -> None:
    """A condition without a budget: one value across the panel."""
    if point.value is None:
        return
    ax.axhline(point.value, color=colour, linewidth=1.2, linestyle=(0, (1, 1.5)), zorder=2)
    if point.low is not None and point.high is not None:
        ax.axhspan(point.low, point.high, color=colour, alpha=0.08, linewidth=0, zorder=1)


def _fraction_axis(ax: Axes, points: Sequence[Point], targets: Sequence[float]) -> None:
    """Percents, a line at each q, and a range that a single wild interval cannot stretch."""
    from matplotlib.ticker import PercentFormatter

    values = [v for p in points if not p.unbounded for v in (p.value, p.low, p.high) if v is not None]
    low = max(_FRACTION_RANGE[0], min([0.0, *values]) - 0.04)
    high = min(_FRACTION_RANGE[1], max([1.0, *values]) + 0.06)
    ax.set_ylim(low, high)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.axhline(1.0, color=style.QUIET, linewidth=0.8, zorder=1)
    for q in targets:
        ax.axhline(q, color=style.QUIET, linewidth=0.9, linestyle=(0, (5, 3)), zorder=1)
    if targets:
        text = f"dashed: {phrases.listed(phrases.share(q) for q in targets)}"
        ax.annotate(
            text, (0.01, 1.0), (0, 1), xycoords=ax.get_yaxis_transform(), textcoords="offset points",
            va="bottom", fontsize=7.5, color=style.QUIET,
        )  # fmt: skip


def _draw_star(ax: Axes, star: Star, row: int, targets: Sequence[float]) -> None:
    rank = targets.index(star.q)
    y = row + 0.16 * (rank - (len(targets) - 1) / 2)
    colour = style.PALETTE[rank % len(style.PALETTE)]
    look: dict[str, Any] = {"color": colour, "mfc": colour if rank == 0 else "white", "markersize": 5.5, "zorder": 3}
    if star.value is not None:
        if star.low is not None and star.high is not None:
            ax.hlines(y, star.low, star.high, color=colour, linewidth=1.6, alpha=0.6)
        if star.at_most:
            _arrow(ax, star.value, ax.get_xlim()[0], y, colour)
        ax.plot([star.value], [y], marker=style.MARKERS[rank % len(style.MARKERS)], linestyle="", **look)
    elif star.above is not None:
        _arrow(ax, star.above, ax.get_xlim()[1], y, colour)
        ax.plot([star.above], [y], marker="|", linestyle="", **look)
    elif rank == 0:
        ax.annotate("undefined", (0.01, y), xycoords=ax.get_yaxis_transform(), va="center", color=style.QUIET)


def _arrow(ax: Axes, start: float, end: float, y: float, colour: str) -> None:
    """A censored answer: it lies somewhere along the arrow."""
    ax.annotate("", (end, y), (start, y), arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 1.6})


def _star_key(ax: Axes, targets: Sequence[float]) -> None:
    """What the marks mean, above the panel."""
    from matplotlib.lines import Line2D

    marks = [
        Line2D(
            [], [], linestyle="", marker=style.MARKERS[rank], color=style.PALETTE[rank],
            mfc=style.PALETTE[rank] if rank == 0 else "white", label=f"to keep {phrases.share(q)}",
        )
        for rank, q in enumerate(targets[: len(style.MARKERS)])
    ]  # fmt: skip
    marks.append(Line2D([], [], linestyle="", marker=r"$\rightarrow$", color=style.QUIET, label="beyond"))
    ax.legend(handles=marks, loc="lower right", bbox_to_anchor=(1, 1.0), ncols=len(marks), frameon=False, fontsize=8)


def _draw_bar(ax: Axes, row: int, bar: plotdata.Bar) -> None:
    if bar.value is None:
        ax.annotate("undefined", (0.01, row), xycoords=ax.get_yaxis_transform(), va="center", color=style.QUIET)
        return
    if bar.low is not None and bar.high is not None:
        ax.hlines(row, bar.low, bar.high, color=style.PALETTE[0], linewidth=1.8, alpha=0.6)
    ax.plot([bar.value], [row], marker="o", markersize=4.5, color=style.PALETTE[0])


def _name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Rows named on the left, the first on top."""
    ax.set_yticks(range(len(names)), names)
    for text in ax.get_yticklabels():
        text.set_parse_math(False)
    ax.set_ylim(max(len(names), 1) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
