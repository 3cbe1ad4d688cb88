"""Check one table against its rules and give its columns their types; every problem at once.

Each function takes the rows as read and returns them typed, with the hidden row number, or raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from saturation.tables import labels as label_rules
from saturation.tables.columns import as_floats, as_text, as_whole, check_ids, check_least, check_words, empty, need
from saturation.tables.findings import Findings, Message, cell, option
from saturation.tables.predictions import read_predictions
from saturation.tables.schema import MAX_VOTES, PARTS, POOLS, table_named
from saturation.tables.simplex import check_simplex

if TYPE_CHECKING:
    import polars as pl

    from saturation.tables.io import Loaded


def validate(loaded: Loaded, table: str) -> pl.DataFrame:
    """Rows of any of our tables, checked and typed; label columns in label order, metadata obeyed.

    Raises
    ------
    DataError
        With every problem.
    UsageError
        For a table name that is none of ours.
    """
    table_named(table)
    found = Findings(loaded)
    names = None if loaded.meta is None else loaded.meta.labels
    if table == "predictions":
        extra = () if loaded.meta is None else loaded.meta.condition_columns
        return read_predictions(found, names, condition_columns=extra).frame.select(loaded.frame.columns)
    frame = loaded.frame
    if table == "votes":
        frame = votes(found, frame, names)
    elif table == "vote_counts":
        frame, _ = counts(found, frame, names)
    elif table == "soft_votes":
        frame = soft_votes(found, frame, names)
    elif table == "items":
        frame = items(found, frame)
    else:
        frame = splits(found, frame)
    found.stop()
    return frame


def typed_votes(found: Findings, frame: pl.DataFrame) -> pl.DataFrame:
    """Columns of a long table of votes, with their types; labels may still be empty."""
    need(found, frame, ("item_id", "label"))
    frame = as_text(found, frame, "item_id", "annotator_id", "label", "pool")
    if "seconds" in frame.columns:
        frame = as_floats(found, frame, ["seconds"], "V05")
    return frame


def votes(found: Findings, frame: pl.DataFrame, names: Sequence[str] | None) -> pl.DataFrame:
    """Check a long table of votes."""
    import polars as pl

    frame = typed_votes(found, frame)
    check_ids(found, frame, "item_id", "annotator_id")
    blank = empty("label")
    found.add_rows("V01", frame.filter(blank), f"the label is empty (or pass {option('missing_labels', 'drop')})")
    if names is None:
        label_rules.check_names(found, label_rules.from_values(frame.filter(~blank)["label"].unique().to_list()))
    else:
        label_rules.check_names(found, names)
        unknown = frame.filter(~blank & ~pl.col("label").is_in(list(names)))
        found.add_rows("V02", unknown, cell("label", "the label ", f" is none of {', '.join(names[:20])}"))
    if "annotator_id" in frame.columns:
        again = cell(
            "annotator_id", "annotator ", f" has labelled this item already (or pass {option('duplicates', 'first')})"
        )
        _once(found, frame, "V03", ["item_id", "annotator_id"], again)
    check_words(found, frame, "pool", POOLS, "V04")
    check_least(found, frame, "seconds", 0, "V05")
    return frame


def counts(found: Findings, frame: pl.DataFrame, names: tuple[str, ...] | None) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Check a table of vote counts; also returns its labels."""
    import polars as pl

    need(found, frame, ("item_id",))
    names = label_rules.from_columns(found, frame, "n_", names)
    label_rules.check_names(found, names)
    frame = as_text(found, frame, "item_id")
    check_ids(found, frame, "item_id")
    columns = ["n_" + name for name in names]
    frame = as_whole(found, frame, columns, "V06")
    for name in columns:
        wrong = frame.filter(pl.col(name).is_null() | (pl.col(name) < 0))
        found.add_rows("V06", wrong, cell(name, f"{name} is ", ", not a number of votes"))
    total = pl.sum_horizontal(pl.col(columns).cast(pl.Float64))  # sums of huge whole numbers would wrap around
    found.add_rows("V06", frame.filter(total > MAX_VOTES), f"the item has more than {MAX_VOTES:,} votes")
    found.add_rows("V07", frame.filter(total == 0), "the item has no votes")
    _once(found, frame, "T07", ["item_id"], "the item has a row already")
    others = [name for name in frame.columns if name not in columns]
    return frame.select(*others, *columns), names


def soft_votes(found: Findings, frame: pl.DataFrame, names: tuple[str, ...] | None) -> pl.DataFrame:
    """Check a table of one distribution an annotator and item."""
    need(found, frame, ("item_id", "annotator_id"))
    names = label_rules.from_columns(found, frame, "p_", names)
    frame = as_text(found, frame, "item_id", "annotator_id")
    check_ids(found, frame, "item_id", "annotator_id")
    frame = as_floats(found, frame, ["p_" + name for name in names], "P01")
    check_simplex(found, frame, names)
    _once(found, frame, "P12", ["item_id", "annotator_id"], "this annotator has a row for the item already")
    if "seconds" in frame.columns:
        frame = as_floats(found, frame, ["seconds"], "V05")
        check_least(found, frame, "seconds", 0, "V05")
    return frame


def items(found: Findings, frame: pl.DataFrame) -> pl.DataFrame:
    """Check a table of items."""
    need(found, frame, ("item_id",))
    frame = as_text(found, frame, "item_id", "majority_label")
    check_ids(found, frame, "item_id")
    _once(found, frame, "T07", ["item_id"], "the item has a row already")
    return frame


def splits(found: Findings, frame: pl.DataFrame) -> pl.DataFrame:
    """Check a table of splits."""
    need(found, frame, ("item_id", "split", "part"))
    frame = as_text(found, frame, "item_id", "split", "part")
    check_ids(found, frame, "item_id", "split")
    check_words(found, frame, "part", PARTS, "P11")
    _once(found, frame, "A09", ["item_id", "split"], "the item is in this split already")
    return frame


def _once(found: Findings, frame: pl.DataFrame, rule: str, key: list[str], message: Message) -> None:
    import polars as pl

    columns = pl.struct(key)
    found.add_rows(rule, frame.filter(columns.is_duplicated() & ~columns.is_first_distinct()), message)
