"""Predictions of every part, row by row, with logits: what a baseline is fitted on and what it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from saturation.conditions import Condition
from saturation.results import Note
from saturation.tables.align import PredictionOptions, conditions_of, in_order, read_typed, with_labels, with_parts
from saturation.tables.columns import as_floats
from saturation.tables.door import checked_splits
from saturation.tables.findings import ROW, Findings
from saturation.tables.io import load
from saturation.tables.panel import Votes
from saturation.tables.schema import PARTS
from saturation.tables.votes import codes
from saturation.typing import Floats, Ints

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, eq=False)
class Parted:
    """A table of predictions whose rows say in which part of their split they are.

    Attributes
    ----------
    votes
        The human side, with labels that only the predictions have.
    frame
        Typed rows: model, split, seed and part are always there.
    condition_columns
        Of the table: the standard ones first, the rest alphabetically.
    conditions, splits
        Distinct ones in canonical order; those of a row by ``condition`` and ``split``.
    condition, split, item
        (rows,) indices into conditions, splits and the voted items (-1: without votes).
    part
        (rows,) index into ``PARTS``.
    probs
        (rows, labels) in the votes' label order.
    logits
        (rows, labels); NaN rows where an entry is missing. None where the table has no ``z_`` column for a label.
    in_part
        By (split, part): (items,) sorted indices of the voted items that are in it, also of items that are predicted
        nowhere, where a splits table names them.
    notes
        What was read and repaired.
    """

    votes: Votes
    frame: pl.DataFrame
    condition_columns: tuple[str, ...]
    conditions: tuple[Condition, ...]
    splits: tuple[str, ...]
    condition: Ints
    split: Ints
    item: Ints
    part: Ints
    probs: Floats
    logits: Floats | None
    in_part: dict[tuple[str, str], Ints]
    notes: tuple[Note, ...]


def read_parted(votes: Votes, predictions: Any, options: PredictionOptions, splits: Any = None) -> Parted:
    """Read predictions of development and test items (and training items, where they are there).

    Parameters
    ----------
    votes
        The human side.
    predictions
        Paths or frames; a column ``part``, unless ``splits`` says the parts.
    options
        How to read them; its ``part`` and ``missing`` are of no concern here.
    splits
        A splits table.

    Raises
    ------
    DataError
        With every problem of the table; an item in two parts of a split is one.
    """
    found = Findings(load(predictions, "predictions"))
    table, notes = read_typed(found, votes, options)
    votes = with_labels(votes, table.labels)
    frame, named = table.frame, None
    if splits is not None:
        loaded = load(splits, "splits")
        named = checked_splits(loaded)
        frame = with_parts(found, frame, named)
        votes = replace(votes, inputs=(*votes.inputs, *loaded.inputs))
    if "part" not in frame.columns:
        found.add(
            "A05", "no row says its part; give a column `part` (dev, test) or a splits table (--splits), so that "
            "nothing is fitted on the items that it is tested on",
        )  # fmt: skip
        found.stop()
    _refuse_overlap(found, frame)
    frame, logits = _logits(found, frame, votes.labels)
    found.stop()
    conditions, condition = conditions_of(frame, table.condition_columns)
    names = tuple(frame["split"].unique().sort().to_list())
    known = frame if named is None else named
    return Parted(
        votes=replace(votes, inputs=(*votes.inputs, *found.loaded.inputs)),
        frame=frame.drop(ROW),
        condition_columns=table.condition_columns,
        conditions=conditions,
        splits=names,
        condition=condition,
        split=codes(frame["split"], names),
        item=codes(frame["item_id"], votes.item_ids),
        part=codes(frame["part"], PARTS),
        probs=np.ascontiguousarray(in_order(table, votes.labels)),
        logits=logits,
        in_part=_in_part(known, names, votes.item_ids),
        notes=(*votes.notes, *notes),
    )


def _refuse_overlap(found: Findings, frame: pl.DataFrame) -> None:
    """What is fitted on an item must not be tested on it: within a split every item has one part."""
    import polars as pl

    parts = pl.col("part").unique().sort()
    several = frame.group_by("split", "item_id").agg(parts.alias("__parts__"), pl.col(ROW).min())
    several = several.filter(pl.col("__parts__").list.len() > 1).sort(ROW)
    found.add_rows(
        "A10", several, lambda row: f"the item is in {' and in '.join(row['__parts__'])} of split {row['split']!r}"
    )
    found.stop()


def _logits(found: Findings, frame: pl.DataFrame, labels: Sequence[str]) -> tuple[pl.DataFrame, Floats | None]:
    """(rows, labels) logits in the order of the labels; a row with a gap has none."""
    names = ["z_" + label for label in labels]
    there = [name for name in names if name in frame.columns]
    frame = as_floats(found, frame, there, "P01")
    found.stop()
    if len(there) < len(names):
        return frame, None
    values = frame.select(names).to_numpy().astype(np.float64)
    return frame, np.where(np.isfinite(values).all(axis=1, keepdims=True), values, np.nan)


def _in_part(frame: pl.DataFrame, splits: Sequence[str], item_ids: Sequence[str]) -> dict[tuple[str, str], Ints]:
    import polars as pl

    found = {}
    for split in splits:
        for part in PARTS:
            own = frame.filter((pl.col("split") == split) & (pl.col("part") == part))["item_id"].unique()
            ranks = codes(own, item_ids)
            found[split, part] = np.sort(ranks[ranks >= 0])
    return found
