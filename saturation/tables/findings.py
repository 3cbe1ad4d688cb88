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

_SHOWN = 80
"""Characters of a cell that a message shows."""


def cell(column: str, before: str, after: str = "") -> Message:
    """A message around the value of a row's own cell.

    Examples
    --------
    >>> cell("pool", "pool is ", ", not train or heldout")({"pool": "Heldout"})
    "pool is 'Heldout', not train or heldout"
    """
    return lambda row: f"{before}{shown(row[column])}{after}"


def shown(value: object) -> str:
    """A cell as a message shows it: short, text in quotes."""
    if value is None:
        return "empty"
    if isinstance(value, float):
        return f"{value:.12g}"
    text = str(value)
    text = text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
    return repr(text) if isinstance(value, str) else text


def option(name: str, value: str | None = None) -> str:
    """An option as the command line spells it, then as Python does.

    Examples
    --------
    >>> option("item_column"), option("missing", "drop")
    ('--item-column (item_column=)', "--missing drop (missing='drop')")
    """
    flag = f"--{name.replace('_', '-')}"
    return f"{flag} ({name}=)" if value is None else f"{flag} {value} ({name}={value!r})"


@dataclass(slots=True)
class Findings:
    """Problems found so far with one table."""

    loaded: Loaded
    problems: list[Problem] = field(default_factory=list)

    def add(self, rule: str, message: str) -> None:
        """A problem of the whole table."""
        self.problems.append(Problem(BY_CODE[rule].code, message, file=self.loaded.name))

    def expect(self, *tables: str) -> None:
        """Stop where the metadata says that it is another table."""
        meta = self.loaded.meta
        if meta is not None and meta.table not in tables:
            self.add("F07", f"the metadata says that this is a table of {meta.table}, not of {' or '.join(tables)}")
            self.stop()

    def add_rows(self, rule: str, rows: pl.DataFrame, message: Message) -> None:
        """A problem of each row of a filtered frame."""
        if rows.is_empty():
            return
        items = rows["item_id"].to_list() if "item_id" in rows.columns else [None] * len(rows)
        for position, item, text in zip(rows[ROW].to_list(), items, _texts(rows, message), strict=True):
            file, row = self.loaded.place(position)
            self.problems.append(
                Problem(BY_CODE[rule].code, text, file=file, row=row, item=None if item is None else str(item)[:_SHOWN])
            )

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
