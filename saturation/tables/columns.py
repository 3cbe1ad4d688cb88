"""Turn columns into text, whole numbers or floats, and note every cell that is none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from saturation.tables.findings import Findings, cell
from saturation.tables.schema import MAX_CHARACTERS

if TYPE_CHECKING:
    import polars as pl

UNPRINTABLE = r"[\p{C}\p{Zl}\p{Zp}&&[^\x{200c}\x{200d}]]"
"""Control, format, private and unassigned characters and line separators; joiners inside emoji and words are fine."""

NULL_WORDS = ("", "na", "nan", "null", "none")
"""Text that means "no value" in a numeric column, in any case."""


def need(found: Findings, frame: pl.DataFrame, names: Iterable[str], hint: str = "") -> None:
    """Note required columns that are missing (hidden ones are not the user's), and go no further without them."""
    for name in names:
        if name not in frame.columns or name.startswith("__"):
            shown = ", ".join(column for column in frame.columns if not column.startswith("__"))
            found.add("T01", f"there is no column {name!r} among {shown}{hint}")
    found.stop()


def as_text(found: Findings, frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Ids and labels as text: whole numbers and truth values by their digits and words, never floats."""
    import polars as pl

    for name in [name for name in names if name in frame.columns]:
        dtype = frame.schema[name]
        plain = dtype in (pl.String, pl.Null, pl.Boolean, pl.Categorical) or isinstance(dtype, pl.Enum)
        if not plain and not dtype.is_integer():
            found.add("T06", f"column {name!r} holds {dtype}; write it as text, so that nothing depends on formatting")
            found.stop()
        frame = frame.with_columns(pl.col(name).cast(pl.String))
    return frame


def check_ids(found: Findings, frame: pl.DataFrame, *names: str) -> None:
    """Note ids (text columns) that are empty, too long or unprintable."""
    import polars as pl

    for name in [name for name in names if name in frame.columns]:
        column = pl.col(name)
        found.add_rows("T03", frame.filter(empty(name)), f"{name} is empty")
        long = frame.filter(column.str.len_chars() > MAX_CHARACTERS)
        found.add_rows("T04", long, f"{name} is longer than {MAX_CHARACTERS:,} characters")
        bad = frame.filter(column.str.contains(UNPRINTABLE))
        found.add_rows("T05", bad, f"{name} holds a line break or another unprintable character")


def empty(name: str) -> pl.Expr:
    """Whether a text cell is null or empty."""
    import polars as pl

    return pl.col(name).is_null() | (pl.col(name) == "")


def as_floats(found: Findings, frame: pl.DataFrame, names: Iterable[str], rule: str) -> pl.DataFrame:
    """Numbers as float64; NaN is missing."""
    import polars as pl

    for name in names:
        dtype = frame.schema[name]
        if dtype == pl.String:
            stripped = pl.col(name).str.strip_chars()
            null = pl.col(name).is_null() | stripped.str.to_lowercase().is_in(NULL_WORDS)
            number = stripped.cast(pl.Float64, strict=False)
            found.add_rows(rule, frame.filter(number.is_null() & ~null), cell(name, f"{name} is ", ", not a number"))

            frame = frame.with_columns(pl.when(null).then(None).otherwise(number).alias(name))
        elif dtype.is_numeric() or dtype == pl.Null:
            frame = frame.with_columns(pl.col(name).cast(pl.Float64).fill_nan(None))
        else:
            found.add(rule, f"column {name!r} holds {dtype}, not numbers")
            found.stop()
    return frame


def as_whole(found: Findings, frame: pl.DataFrame, names: Iterable[str], rule: str) -> pl.DataFrame:
    """Whole numbers as int64 (``10.0`` is 10); nulls stay null."""
    import polars as pl

    for name in names:
        if not frame.schema[name].is_integer():
            frame = as_floats(found, frame, [name], rule)
            broken = ~((pl.col(name) == pl.col(name).round()) & (pl.col(name).abs() < 2**53))
            bad = frame.filter(pl.col(name).is_not_null() & broken)
            found.add_rows(rule, bad, cell(name, f"{name} is ", ", not a whole number"))
        frame = frame.with_columns(pl.col(name).cast(pl.Int64, strict=False))
    return frame


def check_words(found: Findings, frame: pl.DataFrame, name: str, words: tuple[str, ...], rule: str) -> None:
    """Note cells of a column, where it is there, that are none of the words."""
    import polars as pl

    if name not in frame.columns:
        return
    bad = frame.filter(~pl.col(name).is_in(words).fill_null(value=False))
    found.add_rows(rule, bad, cell(name, f"{name} is ", f", not {', '.join(words[:-1])} or {words[-1]}"))


def check_least(found: Findings, frame: pl.DataFrame, name: str, least: int, rule: str) -> None:
    """Note numbers of a column, where it is there, that are too small."""
    import polars as pl

    if name in frame.columns:
        found.add_rows(rule, frame.filter(pl.col(name) < least), cell(name, f"{name} is ", f"; it is at least {least}"))
