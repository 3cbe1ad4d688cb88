"""What a section of the page is made of: a heading, words, pictures and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from saturation.report import style, svg
from saturation.report.grids import Grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer as the page shows it."""

    short: str
    kind: str
    title: str
    headline: str
    detail: str


@dataclass(frozen=True, slots=True)
class Group:
    """The answers of one curve; the name is None where there is only one."""

    name: str | None
    answers: tuple[Answered, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """Sentences as a list under a name."""

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, some words, the pictures and the tables below it; ``folded``: its words open under the lead."""

    anchor: str
    heading: str
    lead: str
    pictures: tuple[str, ...]
    grids: tuple[Grid, ...]
    groups: tuple[Group, ...] = ()
    assumptions: tuple[str, ...] = ()
    words: tuple[Words, ...] = ()
    folded: bool = False


def picture(axes: Axes, prefix: str, title: str) -> str:
    """A drawn figure as inline SVG; ``prefix`` keeps its ids apart from those of other pictures."""
    from markupsafe import Markup

    figure = style.figure_of(axes)
    words = f"{axes.get_xlabel()} against {axes.get_ylabel()}" if axes.get_ylabel() else axes.get_xlabel()
    drawn = svg.inline(figure, prefix=prefix, title=title, description=f"{words}. The table below has the numbers.")
    return Markup(drawn)
