"""How every figure looks: one palette, one kind of axes. Nothing here touches matplotlib's global state."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from saturation.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7A5C00", "#4D4D4D")
"""Okabe and Ito's colours, yellow replaced: told apart by colour-blind eyes and against white."""
DARK = {"#D55E00": "#A84A00", "#009E73": "#00735A", "#CC79A7": "#9A4A78", "#56B4E9": "#1A6E9E", "#E69F00": "#855C00"}
"""The same colours dark enough for text on white (contrast of at least 4.5)."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""One a series beside its colour, so that a copy in grey can be read."""
INK = "#1f2933"
QUIET = "#5b6770"
FAINT = "#d9dee3"
CROWD = "#9aa5b1"

SETTINGS: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "svg.fonttype": "none",
    "svg.hashsalt": "saturation",
    "pdf.fonttype": 42,
    "figure.facecolor": "white",
}


@contextmanager
def drawing() -> Iterator[None]:
    """Our settings for the time of drawing; a name in a script that the font lacks is no reason to warn.

    Text in an SVG is drawn with the reader's fonts, which have it.
    """
    import matplotlib

    settings: Any = SETTINGS
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from", category=UserWarning)
        warnings.filterwarnings("ignore", message=r"Matplotlib currently does not support", category=UserWarning)
        yield


def new_axes(width: float = 4.8, height: float = 3.2) -> Axes:
    """One axes on a figure of its own, without pyplot."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def figure_of(axes: Axes) -> Figure:
    """The whole figure that an axes belongs to."""
    figure = axes.get_figure(root=True)
    if figure is None:
        raise UsageError("these axes belong to no figure")
    return figure


def title(axes: Axes, text: str) -> None:
    """What a panel shows."""
    axes.set_title(text, loc="left", color=INK, fontweight="bold", parse_math=False)


def dress(axes: Axes, name: str, *, y: str = "", x: str = "") -> None:
    """Title, axis names, quiet grid, no box."""
    title(axes, name)
    axes.set_xlabel(x, color=QUIET, parse_math=False)
    axes.set_ylabel(y, color=QUIET, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(QUIET)
    axes.tick_params(colors=QUIET, labelcolor=INK, length=3)
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=FAINT, linewidth=0.6)


def budget_axis(axes: Axes, budgets: Sequence[float]) -> None:
    """A log axis whose ticks are the budgets themselves; labels too close to their neighbour are left out."""
    import math

    from matplotlib.ticker import NullLocator

    ticks = sorted(set(budgets))
    if not ticks:
        return
    axes.set_xscale("log")
    span = math.log10(ticks[-1] / ticks[0]) or 1.0
    labels: list[str] = []
    last = -math.inf
    for position, tick in enumerate(ticks):
        here = math.log10(tick / ticks[0]) / span
        crowded = here - last < 0.05 or (position < len(ticks) - 1 and 1 - here < 0.07)
        labels.append("" if crowded else f"{tick:,.0f}")
        last = last if crowded else here
    axes.set_xticks(ticks, labels)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(ticks[0] / 10 ** (0.05 * span), ticks[-1] * 10 ** (0.05 * span))


def label_lines(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Name lines at the right edge, (height in data units, text, colour), pushed apart so that none overlap."""
    low, high = axes.get_ylim()
    gap = 0.075 if len(ends) < 11 else 0.8 / len(ends)
    placed = _spread([(y - low) / (high - low) for y, _, _ in ends], gap)
    for height, (_, text, colour) in zip(placed, ends, strict=True):
        axes.annotate(
            text,
            xy=(1.015, height),
            xycoords="axes fraction",
            color=DARK.get(colour, colour),
            va="center",
            annotation_clip=False,
            parse_math=False,
        )


def _spread(heights: Sequence[float], gap: float) -> list[float]:
    """Heights moved as little as it takes to keep ``gap`` between neighbours, inside 0..1 where they fit."""
    order = sorted(range(len(heights)), key=lambda i: round(heights[i], 2))  # near ties keep the order they came in
    placed: dict[int, float] = {}
    floor = 0.0
    for i in order:
        placed[i] = max(floor, min(max(heights[i], 0.0), 1.0))
        floor = placed[i] + gap
    ceiling = 1.0
    for i in reversed(order):
        placed[i] = min(placed[i], ceiling)
        ceiling = placed[i] - gap
    return [placed[i] for i in range(len(heights))]
