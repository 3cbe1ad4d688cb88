"""What an option may hold: numbers, shares, lists and budgets, each refused with words when it is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # generic only in recent versions of click

MAX_BUDGET = 100_000


def split_list(text: str) -> list[str]:
    """Split at commas outside brackets; blanks around parts are dropped.

    Examples
    --------
    >>> split_list("kl, reverse_kl[floor=1e-12,smooth=1]")
    ['kl', 'reverse_kl[floor=1e-12,smooth=1]']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


class ListOf(ParamType):
    """``a,b,c`` as a tuple of unique, non-empty words."""

    name = "a,b,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Any, ...]:
        """Split and check."""
        if isinstance(value, tuple):
            return value
        parts = split_list(value)
        if not all(parts):
            self.fail(f"{value!r} has an empty entry", param, ctx)
        twice = sorted({part for part in parts if parts.count(part) > 1})
        if twice:
            self.fail(f"{', '.join(twice)} named twice", param, ctx)
        return tuple(self.one(part, param, ctx) for part in parts)

    def one(self, part: str, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """One entry; subclasses read numbers."""
        return part


class Budgets(ParamType):
    """``1,2,5-10`` as a sorted tuple of budgets."""

    name = "1,2,5|1-100"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Read numbers and ranges."""
        if isinstance(value, tuple):
            return value
        found: set[int] = set()
        for part in split_list(value):
            first, dash, last = part.partition("-")
            low, high = self._whole(first, param, ctx), self._whole(last if dash else first, param, ctx)
            if not 1 <= low <= high <= MAX_BUDGET:
                self.fail(f"{part!r} is not a budget between 1 and {MAX_BUDGET}, nor a rising range", param, ctx)
            found.update(range(low, high + 1))
        return tuple(sorted(found))

    def _whole(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if not (text.strip().isascii() and text.strip().isdigit()):
            self.fail(f"{text!r} is not a whole number; write 1,2,5 or 1-100", param, ctx)
        return int(text)


class Whole(ParamType):
    """A whole number between two bounds."""

    name = "whole number"

    def __init__(self, low: int, high: int) -> None:
        self.low = low
        self.high = high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read and check."""
        text = str(value)
        if not (text.isascii() and text.isdigit() and self.low <= int(text) <= self.high):
            self.fail(f"{value!r} is not a whole number from {self.low} to {self.high}", param, ctx)
        return int(text)


class Share(ParamType):
    """A number strictly between 0 and 1."""

    name = "0..1"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read and check."""
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)
        if not 0 < number < 1:
            self.fail(f"{value} does not lie strictly between 0 and 1", param, ctx)
        return number


class Shares(ListOf):
    """``.9,.95`` as a tuple of numbers strictly between 0 and 1."""

    name = ".9,.95"

    def one(self, part: str, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """One share."""
        return Share().convert(part, param, ctx)


class Positive(ParamType):
    """A finite number above 0."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read and check."""
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)
        if not 0 < number < float("inf"):
            self.fail(f"{value} is not a finite number above 0", param, ctx)
        return number


class Alpha(Positive):
    """Dirichlet smoothing of targets: ``none``, ``1/K`` or a number."""

    name = "none|1/K|number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The two words as they are, numbers as numbers."""
        return value if value in ("none", "1/K") else super().convert(value, param, ctx)


class ReferenceSize(ParamType):
    """A number of votes, or ``population``."""

    name = "number|population"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Read it."""
        text = str(value).strip()
        if text == "population":
            return text
        if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_BUDGET):
            self.fail(f"{value!r} is neither a number of votes between 1 and {MAX_BUDGET} nor population", param, ctx)
        return int(text)
