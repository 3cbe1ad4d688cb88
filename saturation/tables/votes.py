"""Votes from a checked table: canonical order, counts, single votes, item attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from saturation.results import Note
from saturation.tables import labels as label_rules
from saturation.tables import validate
from saturation.tables.columns import as_whole, empty, need
from saturation.tables.findings import ROW, Findings, cell, option
from saturation.tables.panel import Ballots, Votes
from saturation.tables.schema import POOLS
from saturation.typing import Ints

if TYPE_CHECKING:
    import polars as pl

    from saturation.tables.io import Loaded

MissingLabels: TypeAlias = Literal["error", "drop"]
Duplicates: TypeAlias = Literal["error", "first", "last"]


@dataclass(frozen=True, slots=True)
class VoteOptions:
    """How a table of votes is to be read."""

    labels: tuple[str, ...] | None = None
    missing_labels: MissingLabels = "error"
    duplicates: Duplicates = "error"
    item_column: str | None = None
    annotator_column: str | None = None
    label_column: str | None = None


def votes_of(loaded: Loaded, options: VoteOptions) -> Votes:
    """Votes from a long table of votes or a table of counts.

    Raises
    ------
    DataError
        With every problem of the table.
    """
    loaded = _renamed(loaded, options)
    found = Findings(loaded)
    names, notes = label_rules.declared(found, loaded.meta, options.labels)
    read = _from_long if _is_long(found, options) else _from_counts
    votes = read(found, names, options)
    notes += label_rules.twins(votes.labels)
    return replace(votes, inputs=loaded.inputs, notes=(*notes, *votes.notes))


def _renamed(loaded: Loaded, options: VoteOptions) -> Loaded:
    """Give the columns of a plain table our names."""
    import polars as pl

    asked = {"item_id": options.item_column, "annotator_id": options.annotator_column, "label": options.label_column}
    loaded = loaded.renamed(asked)
    frame, plain = loaded.frame, options.labels or ()
    if plain and "label" not in frame.columns and all(name in frame.columns for name in plain):
        frame = frame.select(pl.exclude(*plain), *(pl.col(name).alias("n_" + name) for name in plain))
    return replace(loaded, frame=frame)


def _is_long(found: Findings, options: VoteOptions) -> bool:
    """Whether the rows are votes (else counts); explains the options when they are neither."""
    columns = found.loaded.frame.columns
    meta = found.loaded.meta
    found.expect("votes", "vote_counts")
    if meta is not None:
        return meta.table == "votes"
    long, wide = "label" in columns, any(name.startswith("n_") for name in columns)
    if long and wide and options.labels is None:
        found.add("T02", "there are a column `label` and `n_` columns; rename one side, or declare the labels")
    if "item_id" not in columns or not (long or wide):
        shown = ", ".join((options.item_column or name) if name == "item_id" else name for name in found.loaded.columns)
        unknown = [name for name in options.labels or () if name not in columns]
        some = unknown and len(unknown) < len(options.labels or ())
        which = f" (of {option('labels')} no column is called {', '.join(unknown)})" if some else ""
        found.add(
            "T01",
            f"these are not the columns of our tables: {shown}{which}. For one vote a row pass {option('item_column')} "
            f"and {option('label_column')}, and {option('annotator_column')} where there is one; for one item a row "
            f"{option('item_column')} and {option('labels')} with the names of the count columns",
        )
    found.stop()
    return long


def _from_long(found: Findings, names: tuple[str, ...] | None, options: VoteOptions) -> Votes:
    frame = validate.typed_votes(found, found.loaded.frame)
    frame, unlabelled = _drop_unlabelled(frame, options.missing_labels)
    frame, repeated = _drop_repeated(frame, options.duplicates)
    if frame.is_empty():
        found.add("F02", "no vote has a label")
    frame = validate.votes(found, frame, names)
    found.stop()
    notes = _dropped_notes(unlabelled, repeated, options)
    labels = names or label_rules.from_values(frame["label"].unique().to_list())
    if names is None:
        message = f"labels in this order, taken from the votes: {', '.join(labels)}; {option('labels')} sets another"
        notes.append(Note("label_order", message))
    if len(labels) < 2:
        found.add("L01", f"there is one label only ({labels[0]!r}); declare the others with {option('labels')}")
        found.stop()
    item_ids = tuple(frame["item_id"].unique().sort().to_list())
    item, label = codes(frame["item_id"], item_ids), codes(frame["label"], labels)
    shape = (len(item_ids), len(labels))
    pools, more = _pools(frame, item, label, shape)
    return Votes(
        item_ids=item_ids,
        labels=labels,
        counts=_count(item, label, shape),
        ballots=_ballots(frame, item, label) if "annotator_id" in frame.columns else None,
        groups=_groups_of_long(frame),
        notes=(*notes, *more),
        dropped=unlabelled + repeated,
        open_labels=names is None,
        pools=pools,
    )


def _from_counts(found: Findings, names: tuple[str, ...] | None, options: VoteOptions) -> Votes:
    import polars as pl

    frame = found.loaded.frame
    dropped = 0
    if options.missing_labels == "drop":
        need(found, frame, ("item_id",))
        labels = label_rules.from_columns(found, frame, "n_", names)
        columns = ["n_" + label for label in labels]
        typed = as_whole(found, frame, columns, "V06")
        found.stop()
        frame = frame.filter(typed.select(pl.sum_horizontal(columns) != 0).to_series())
        dropped = len(typed) - len(frame)
    frame, labels = validate.counts(found, frame, names)
    found.stop()
    frame = frame.sort("item_id")
    counts = np.stack([frame["n_" + label].to_numpy() for label in labels], axis=1).astype(np.int64)
    notes = [] if not dropped else [Note("items_without_votes", f"{dropped:,} items without votes were left out")]
    skip = {ROW, "item_id", *("n_" + label for label in labels)}
    votes = Votes(
        item_ids=tuple(frame["item_id"].to_list()),
        labels=labels,
        counts=counts,
        groups={name: as_attribute(frame[name]) for name in frame.columns if name not in skip},
        notes=tuple(notes),
        dropped=dropped,
    )
    return with_majority(found, votes, frame) if "majority_label" in frame.columns else votes


def with_majority(found: Findings, votes: Votes, frame: pl.DataFrame) -> Votes:
    """Votes with the published majority of a frame that has one row for each of their items, in their order."""
    import polars as pl

    unknown = frame.filter(~empty("majority_label") & ~pl.col("majority_label").cast(pl.String).is_in(votes.labels))
    shown = ", ".join(votes.labels[:20])
    found.add_rows("A07", unknown, cell("majority_label", "majority_label ", f" is none of {shown}"))
    found.stop()
    majority = codes(frame["majority_label"].cast(pl.String), votes.labels)
    groups = {name: values for name, values in votes.groups.items() if name != "majority_label"}
    return replace(votes, majority=majority, groups=groups)


def codes(column: pl.Series, names: Sequence[str]) -> Ints:
    """(rows,) position of each text among ``names``; -1 where it is none of them."""
    import polars as pl

    values = column.replace_strict(list(names), np.arange(len(names)), default=-1, return_dtype=pl.Int64)
    return np.asarray(values.to_numpy(), dtype=np.int64)


def as_attribute(column: pl.Series) -> tuple[str | None, ...]:
    """A column of item attributes as text; empty text is missing."""
    import polars as pl

    values = column if column.dtype.is_nested() else column.cast(pl.String, strict=False)
    return tuple(str(value) if value else None for value in values.to_list())


def _drop_unlabelled(frame: pl.DataFrame, rule: MissingLabels) -> tuple[pl.DataFrame, int]:
    if rule == "error":
        return frame, 0
    kept = frame.filter(~empty("label"))
    return kept, len(frame) - len(kept)


def _drop_repeated(frame: pl.DataFrame, rule: Duplicates) -> tuple[pl.DataFrame, int]:
    if rule == "error" or "annotator_id" not in frame.columns:
        return frame, 0
    kept = frame.unique(["item_id", "annotator_id"], keep=rule, maintain_order=True)
    return kept, len(frame) - len(kept)


def _dropped_notes(unlabelled: int, repeated: int, options: VoteOptions) -> list[Note]:
    notes = []
    if unlabelled:
        notes.append(Note("missing_labels", f"{unlabelled:,} votes without a label were left out"))
    if repeated:
        message = (
            f"{repeated:,} repeated votes were left out (the {options.duplicates} of each annotator and item is kept)"
        )
        notes.append(Note("duplicates", message))
    return notes


def _count(item: Ints, label: Ints, shape: tuple[int, int]) -> Ints:
    flat = np.bincount(item * shape[1] + label, minlength=shape[0] * shape[1])
    return flat.reshape(shape).astype(np.int64)


def _ballots(frame: pl.DataFrame, item: Ints, label: Ints) -> Ballots:
    ids = tuple(frame["annotator_id"].unique().sort().to_list())
    annotator = codes(frame["annotator_id"], ids)
    order = np.lexsort((annotator, item))
    pool = codes(frame["pool"], POOLS)[order] if "pool" in frame.columns else None
    return Ballots(annotator_ids=ids, item=item[order], annotator=annotator[order], label=label[order], pool=pool)


def _pools(frame: pl.DataFrame, item: Ints, label: Ints, shape: tuple[int, int]) -> tuple[dict[str, Ints], list[Note]]:
    """Counts of each pool, when the votes are divided in training and held-out ones."""
    if "pool" not in frame.columns:
        return {}, []
    pool = codes(frame["pool"], POOLS)
    pools = {name: _count(item[pool == code], label[pool == code], shape) for code, name in enumerate(POOLS)}
    sizes = {name: int(counts.sum()) for name, counts in pools.items()}
    if not all(sizes.values()):
        return pools, []
    message = f"votes of both pools are used: {sizes['train']:,} train, {sizes['heldout']:,} held out"
    return pools, [Note("both_pools", message)]


def _groups_of_long(frame: pl.DataFrame) -> dict[str, tuple[str | None, ...]]:
    """Further columns that are constant within every item describe the item; others describe single votes."""
    import polars as pl

    known = {ROW, "item_id", "annotator_id", "label", "seconds", "pool"}
    names = [name for name in frame.columns if name not in known and not frame.schema[name].is_nested()]
    if not names:
        return {}
    by_item = frame.group_by("item_id")
    distinct = by_item.agg(pl.col(names).n_unique()).select(pl.col(names).max()).row(0, named=True)
    constant = [name for name in names if distinct[name] == 1]
    first = by_item.agg(pl.col(constant).first()).sort("item_id")
    return {name: as_attribute(first[name]) for name in constant}
