"""Collect every problem of a table before saying no."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from saturation.errors import DataError, Problem
from saturation.tables.rules import BY_CODE

if TYPE_CHECKING:
    import polars as pl

    from saturation.tables.io import Loaded

Message: TypeAlias = str | list[str] | Callable[[Mapping[str, Any]], str]
"""One sentence for all rows, one for each, or one made from the values of a row."""

ROW = "__row__"
"""Hidden column: position in the concatenated files, from 0."""


@dataclass(slots=True)
class Findings:
    """Problems found so far with one table."""

    loaded: Loaded
    problems: list[Problem] = field(default_factory=list)

    def add(self, rule: str, message: str) -> None:
        """A problem of the whole table."""
        self.problems.append(Problem(BY_CODE[rule].code, message, file=self.loaded.name))

    def add_rows(self, rule: str, rows: pl.DataFrame, message: Message) -> None:
        """A problem of each row of a filtered frame."""
        if rows.is_empty():
            return
        items = rows["item_id"].to_list() if "item_id" in rows.columns else [None] * len(rows)
        for position, item, text in zip(rows[ROW].to_list(), items, _texts(rows, message), strict=True):
            file, row = self.loaded.place(position)
            self.problems.append(Problem(BY_CODE[rule].code, text, file=file, row=row, item=_short(item)))

    def stop(self) -> None:
        """Raise if anything was found, in file and row order.

        Raises
        ------
        DataError
            With every problem.
        """
        if self.problems:
            raise DataError(sorted(self.problems, key=lambda one: (one.file or "", one.row or 0)))


def _texts(rows: pl.DataFrame, message: Message) -> list[str]:
    if isinstance(message, str):
        return [message] * len(rows)
    return message if isinstance(message, list) else [message(values) for values in rows.iter_rows(named=True)]


def _short(item: object) -> str | None:
    """An id short enough for a message."""
    if item is None:
        return None
    text = str(item)
    return text if len(text) <= 80 else text[:77] + "..."
