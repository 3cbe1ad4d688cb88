"""Items with their texts: what a model reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from saturation.errors import DataError, Problem, UsageError
from saturation.tables import io
from saturation.tables.schema import TABLES
from saturation.tables.validate import validate

USUAL = (("premise", "hypothesis"), ("text",), ("sentence",), ("obs1", "hyp1"))
"""Text columns that are taken without being named, the first that are all there."""
MOST_TEXTS = 2


@dataclass(frozen=True, slots=True)
class Items:
    """Items in the order of the table.

    Attributes
    ----------
    ids
        (items,)
    texts
        (items,) one or two texts each.
    columns
        The columns that the texts come from.
    inputs
        The files, as provenance wants them.
    """

    ids: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...]
    inputs: tuple[Any, ...] = ()

    def take(self, ids: Sequence[str]) -> Items:
        """These items in this order."""
        place = {item: i for i, item in enumerate(self.ids)}
        return Items(tuple(ids), tuple(self.texts[place[one]] for one in ids), self.columns, self.inputs)


def read_items(source: Any, columns: Sequence[str] | None = None) -> Items:
    """Read an items table with text.

    Parameters
    ----------
    source
        Paths or a data frame with ``item_id`` and text columns.
    columns
        One text column, or two that are read as a pair; None: ``premise`` and ``hypothesis``, or ``text``.

    Raises
    ------
    UsageError
        When the columns are not there, or not said and not the usual ones.
    DataError
        With every item whose text is missing or empty.

    Examples
    --------
    >>> import polars as pl
    >>> read_items(pl.DataFrame({"item_id": ["q1"], "text": ["Is this a question?"]})).texts
    (('Is this a question?',),)
    """
    loaded = io.load(source, "items")
    chosen = _columns(loaded.columns, columns, loaded.name)
    frame = validate(loaded, "items")
    texts = list(zip(*(frame[name].cast(str).to_list() for name in chosen), strict=True))
    ids = frame["item_id"].to_list()
    problems = [
        Problem("I01", f"the text in {name!r} is empty; fill it in or leave the item out", loaded.name, row, item)
        for row, (item, text) in enumerate(zip(ids, texts, strict=True), 1)
        for name, one in zip(chosen, text, strict=True)
        if one is None or not one.strip()
    ]
    if problems:
        raise DataError(problems)
    return Items(tuple(ids), tuple(texts), chosen, loaded.inputs)


def _columns(present: Sequence[str], asked: Sequence[str] | None, name: str) -> tuple[str, ...]:
    known = {column.name for column in TABLES["items"].columns}
    others = [column for column in present if column not in known]
    if asked is None:
        found = next((usual for usual in USUAL if set(usual) <= set(present)), None)
        if found is None:
            raise UsageError(f"{name}: say which columns hold the text with --text; there are {', '.join(others)}")
        return found
    missing = [column for column in asked if column not in present]
    if missing:
        raise UsageError(f"{name} has no column {', '.join(missing)}; its columns are {', '.join(others)}")
    if not 1 <= len(asked) <= MOST_TEXTS or len(set(asked)) < len(asked):
        raise UsageError("--text takes one column, or two different ones that are read as a pair")
    return tuple(asked)
