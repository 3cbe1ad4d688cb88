"""The errors a user can meet. Each message says what is wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MAX_PROBLEMS_PER_RULE = 20


class SaturationError(ValueError):
    """Base of every error that is the user's to mend (exit code 2)."""

    kind = "error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The single problems behind this error; empty when the message says it all."""
        return ()


class UsageError(SaturationError):
    """An option or argument that is unknown, contradictory or out of range."""

    kind = "usage"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with one table.

    ``rule`` is the code printed by ``saturation check --rules``; ``row`` counts data rows from 1.
    """

    rule: str
    message: str
    file: str | None = None
    row: int | None = None
    item: str | None = None

    def __str__(self) -> str:
        where = [self.file] if self.file else []
        where += [f"row {self.row}"] if self.row is not None else []
        where += [f"item {self.item!r}"] if self.item is not None else []
        place = ", ".join(where)
        return f"[{self.rule}] {place + ': ' if place else ''}{self.message}"


class DataError(SaturationError):
    """One or several problems with tables, all reported at once.

    Examples
    --------
    >>> raise DataError([Problem("V04", "label is empty", file="votes.csv", row=3, item="q7")])
    Traceback (most recent call last):
    ...
    saturation.errors.DataError: [V04] votes.csv, row 3, item 'q7': label is empty
    """

    kind = "data"

    def __init__(self, problems: Iterable[Problem]) -> None:
        self._problems = tuple(problems)
        super().__init__("\n".join(map(str, shortened(self._problems))))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Every problem found, in file and row order."""
        return self._problems


def shortened(problems: Iterable[Problem]) -> list[Problem]:
    """At most twenty problems a rule, then one a rule that says how many more there are.

    Examples
    --------
    >>> str(shortened([Problem("V01", "the label is empty", row=row) for row in range(1, 26)])[-1])
    '[V01] and 5 more'
    """
    shown: dict[str, int] = {}
    kept = []
    for problem in problems:
        shown[problem.rule] = shown.get(problem.rule, 0) + 1
        if shown[problem.rule] <= MAX_PROBLEMS_PER_RULE:
            kept.append(problem)
    kept += [
        Problem(rule, f"and {number - MAX_PROBLEMS_PER_RULE} more")
        for rule, number in shown.items()
        if number > MAX_PROBLEMS_PER_RULE
    ]
    return kept
