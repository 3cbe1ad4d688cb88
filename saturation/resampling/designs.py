"""Designs: what is redrawn, what the interval is then about, and which intervals are honest there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from saturation.errors import UsageError
from saturation.typing import IntervalName

Redrawn = Literal["items", "seeds", "annotators", "votes"]

FROM_SEEDS = 10
"""Seeds a split from which a bootstrap over them is trusted; below, linearised variances with Student's t."""
FROM_ANNOTATORS = 20
"""Annotators from which weights on them alone are trusted; below, they are left out one by one."""

CENTRED: tuple[IntervalName, ...] = ("bca", "basic", "percentile", "studentized")
"""Intervals that take their centre from the resamples."""
NO_CENTRE = (
    "votes that are redrawn give a spread but never a centre: redrawing them adds their noise once more, so a "
    "percentile or BCa interval would miss the value it is about"
)


@dataclass(frozen=True, slots=True)
class Design:
    """One design.

    Attributes
    ----------
    name
        As in rows and results.
    redraws
        What is redrawn.
    sentence
        What the interval is about, for people.
    intervals
        Intervals that may be asked for, the default for many seeds first.
    """

    name: str
    redraws: frozenset[Redrawn]
    sentence: str
    intervals: tuple[IntervalName, ...]

    def check(self, interval: IntervalName | None) -> None:
        """Refuse an interval that is not honest under this design.

        Raises
        ------
        UsageError
            With the reason and what may be asked for.
        """
        if interval is None or interval in self.intervals:
            return
        votes_move = interval in CENTRED and bool(self.redraws & {"annotators", "votes"})
        why = NO_CENTRE if votes_move else "it is not defined there"
        raise UsageError(
            f"no {interval} interval under design {self.name!r}: {why}; choose {' or '.join(self.intervals)}"
        )


def _design(name: str, redraws: tuple[Redrawn, ...], sentence: str, *own: IntervalName) -> tuple[str, Design]:
    return name, Design(name, frozenset(redraws), sentence, own)


DESIGNS: dict[str, Design] = dict(
    (
        _design(
            "items",
            ("items",),
            "other items like these, annotated in the same way",
            "bca",
            "percentile",
            "basic",
            "linearized_t",
        ),
        _design(
            "crossed",
            ("items", "seeds"),
            "other items like these and other training seeds",
            "percentile",
            "basic",
            "linearized_t",
        ),
        _design("seeds", ("seeds",), "these items, other training seeds", "percentile", "basic", "linearized_t"),
        _design("votes", ("votes",), "these very items, new annotators for every vote", "normal"),
        _design("annotators", ("annotators",), "these very items, another crowd of annotators", "normal"),
        _design(
            "items x annotators",
            ("items", "annotators"),
            "other items like these and another crowd of annotators",
            "linearized_t",
            "normal",
        ),
        _design(
            "crossed with annotators",
            ("items", "seeds", "annotators"),
            "other items like these, other training seeds and another crowd of annotators",
            "linearized_t",
            "normal",
        ),
    )
)


def redrawn_units(name: str) -> tuple[Redrawn, ...]:
    """What a design redraws, in the order in which people name it.

    Examples
    --------
    >>> redrawn_units("crossed with annotators")
    ('items', 'seeds', 'annotators')
    """
    order: tuple[Redrawn, ...] = ("items", "seeds", "annotators", "votes")
    return tuple(unit for unit in order if unit in DESIGNS[name].redraws)


def resolve(name: str | None, *, has_ids: bool) -> Design:
    """The design that is meant, given whether annotators are known.

    Parameters
    ----------
    name
        ``items``, ``crossed``, ``seeds``, ``votes`` or ``annotators``; None: items, and annotators where known.
        ``crossed`` also redraws the annotators where they are known.
    has_ids
        Whether votes carry annotator ids.

    Raises
    ------
    UsageError
        For an unknown name, or ``annotators`` without ids.

    Examples
    --------
    >>> resolve(None, has_ids=True).name, resolve("crossed", has_ids=False).name
    ('items x annotators', 'crossed')
    """
    if name is None:
        return DESIGNS["items x annotators" if has_ids else "items"]
    if name not in DESIGNS:
        raise UsageError(f"unknown design {name!r}; choose one of {', '.join(DESIGNS)}")
    design = DESIGNS["crossed with annotators"] if name == "crossed" and has_ids else DESIGNS[name]
    if "annotators" in design.redraws and not has_ids:
        raise UsageError(f"design {name!r} needs annotator ids, and these votes have none; choose items or votes")
    return design
