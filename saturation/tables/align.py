"""Votes and predictions side by side: one dense array a split, in canonical order, everything left out counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from saturation.conditions import Condition
from saturation.errors import Problem
from saturation.results import Note
from saturation.tables import labels as label_rules
from saturation.tables.cells import NO_SEED, Block, Rows, average_members, block_of, common_cells
from saturation.tables.findings import Findings, option
from saturation.tables.label_order import suspicions
from saturation.tables.panel import Panel, Votes
from saturation.tables.predictions import Predictions, read_predictions
from saturation.tables.schema import condition_of
from saturation.tables.votes import codes
from saturation.typing import Floats, Ints

if TYPE_CHECKING:
    import polars as pl

    from saturation.tables.io import Loaded

Part: TypeAlias = Literal["test", "dev", "train", "all"]
Missing: TypeAlias = Literal["error", "drop"]


@dataclass(frozen=True, slots=True)
class PredictionOptions:
    """How a table of predictions is to be read."""

    labels: tuple[str, ...] | None = None
    condition_columns: tuple[str, ...] = ()
    ignore_columns: tuple[str, ...] = ()
    part: Part = "test"
    missing: Missing = "error"


def align(votes: Votes, loaded: Loaded, options: PredictionOptions, splits: pl.DataFrame | None = None) -> Panel:
    """The panel of some votes and a table of predictions.

    Parameters
    ----------
    votes
        The human side.
    loaded
        The predictions as read.
    options
        How to read them.
    splits
        A checked splits table, which says the part of each item.

    Raises
    ------
    DataError
        With every problem of the table, or why the two sides do not meet.
    """
    found = Findings(loaded)
    table, notes = read_typed(found, votes, options)
    votes = with_labels(votes, table.labels)
    frame, kept = _in_part(found, table.frame, splits, options.part)
    probs = in_order(table, votes.labels)[kept]
    item = codes(frame["item_id"], votes.item_ids)
    unvoted = frame["item_id"].gather(np.flatnonzero(item < 0)).n_unique()
    voted = np.flatnonzero(item >= 0)
    if not len(voted):
        found.add("A06", f"none of the {unvoted:,} predicted items has votes; are these ids of the same items?")
        found.stop()
    if unvoted:
        notes.append(Note("predicted_without_votes", f"{unvoted:,} predicted items have no votes and are left out"))
    conditions, splits_there, rows, more = _rows(frame[voted], table.condition_columns, item[voted], probs[voted])
    rows, seeds, cell_notes = common_cells(found, rows, conditions, splits_there)
    blocks = [
        block_of(rows.of_split(code), name, seeds[code], len(conditions))
        for code, name in enumerate(splits_there)
        if seeds[code]
    ]
    if options.missing == "error":
        found.problems += [
            Problem("A03", text, file=loaded.name, item=votes.item_ids[item])
            for block in blocks
            for item, text in block.gaps(conditions)
        ]
        found.stop()
    panel = _panel(found, votes, conditions, blocks, has_draws=_has_draws(frame))
    return replace(
        panel,
        summary=replace(panel.summary, predicted_without_votes=unvoted, renormalised=table.renormalised),
        inputs=(*votes.inputs, *loaded.inputs),
        notes=(*votes.notes, *notes, *more, *cell_notes, *panel.notes),
    )


def _panel(
    found: Findings, votes: Votes, conditions: tuple[Condition, ...], blocks: list[Block], *, has_draws: bool
) -> Panel:
    """Keep the items that every cell of their split has, and say what is left out."""
    whole = [block.complete() for block in blocks]
    for block in whole:
        if not len(block.items):
            found.add("A03", f"split {block.split} has no item that is predicted under every condition and seed")
    found.stop()
    predicted = np.unique(np.concatenate([block.items for block in blocks]))
    union = np.unique(np.concatenate([block.items for block in whole]))
    dropped = sum(len(block.items) for block in blocks) - sum(len(block.items) for block in whole)
    unpredicted = len(votes.item_ids) - len(predicted)
    notes = []
    if dropped:
        message = (
            f"{dropped:,} items (summed over splits) are not predicted under every condition and seed and are left out"
        )
        notes.append(Note("items_dropped", message))
    if unpredicted:
        message = f"{unpredicted:,} items with votes are predicted nowhere and are left out"
        notes.append(Note("voted_without_predictions", message))
    own = votes.take(union)
    panel = Panel(
        votes=own,
        conditions=conditions,
        splits=tuple(block.split for block in whole),
        seeds=tuple(block.seeds for block in whole),
        items_of_split=tuple(np.searchsorted(union, block.items).astype(np.int64) for block in whole),
        probs=tuple(block.probs for block in whole),
        has_draws=has_draws,
        summary=replace(own.summary, voted_without_predictions=unpredicted, dropped=votes.dropped + dropped),
    )
    return replace(panel, notes=(*notes, *suspicions(panel)))


def _rows(
    frame: pl.DataFrame, columns: tuple[str, ...], item: Ints, probs: Floats
) -> tuple[tuple[Condition, ...], tuple[str, ...], Rows, list[Note]]:
    """Conditions, splits, and the predictions as codes, members averaged."""
    conditions, condition = conditions_of(frame, columns)
    splits = tuple(frame["split"].unique().sort().to_list())
    seed = np.asarray(frame["seed"].fill_null(NO_SEED).to_numpy(), dtype=np.int64)
    rows = Rows(codes(frame["split"], splits), condition, seed, item, probs)
    if "member" not in frame.columns:
        return conditions, splits, rows, []
    rows, note = average_members(rows, frame["member"])
    return conditions, splits, rows, [note]


def _has_draws(frame: pl.DataFrame) -> bool:
    return "draw" in frame.columns and frame["draw"].null_count() < len(frame)


def with_labels(votes: Votes, labels: Sequence[str]) -> Votes:
    """The same votes with the labels that only predictions have (count 0), where labels are open."""
    added = [label for label in labels if label not in votes.labels]
    if not added:
        return votes
    names = label_rules.from_values((*votes.labels, *added))
    place = np.array([names.index(label) for label in votes.labels], dtype=np.int64)
    ballots = votes.ballots
    message = f"labels that no vote has were added from the predictions: {', '.join(added)}; order {', '.join(names)}"
    return replace(
        votes,
        labels=names,
        counts=_spread(votes.counts, place, len(names)),
        ballots=None if ballots is None else replace(ballots, label=place[ballots.label]),
        majority=None if votes.majority is None else np.where(votes.majority < 0, -1, place[votes.majority]),
        pools={name: _spread(counts, place, len(names)) for name, counts in votes.pools.items()},
        notes=(*(note for note in votes.notes if note.code != "label_order"), Note("labels_added", message)),
    )


def _spread(counts: Ints, place: Ints, n_labels: int) -> Ints:
    wide = np.zeros((len(counts), n_labels), dtype=np.int64)
    wide[:, place] = counts
    return wide


def read_typed(found: Findings, votes: Votes, options: PredictionOptions) -> tuple[Predictions, list[Note]]:
    """The table of predictions, checked, with what its metadata and the options say about its columns."""
    found.expect("predictions")
    meta = found.loaded.meta
    names = options.labels if meta is None or meta.labels is None else meta.labels
    declared = () if meta is None else meta.condition_columns
    extra = dict.fromkeys((*declared, *options.condition_columns))
    table = read_predictions(
        found,
        names,
        voted=votes.labels,
        open_labels=votes.open_labels,
        condition_columns=[name for name in extra if name not in options.ignore_columns],
        ignore_columns=options.ignore_columns,
    )
    notes = []
    if table.renormalised:
        message = (
            f"{table.renormalised:,} rows of probabilities were renormalised (off by at most 1e-6: 32-bit rounding)"
        )
        notes.append(Note("renormalised", message))
    return table, notes


def in_order(table: Predictions, labels: tuple[str, ...]) -> Floats:
    """(rows, labels) in the votes' label order; by name."""
    return np.ascontiguousarray(table.probs[:, [table.labels.index(label) for label in labels]])


def _in_part(
    found: Findings, frame: pl.DataFrame, splits: pl.DataFrame | None, part: Part
) -> tuple[pl.DataFrame, Ints]:
    """Rows of the part that is asked for, and their positions."""
    import polars as pl

    if splits is not None:
        frame = with_parts(found, frame, splits)
    if "part" not in frame.columns and part in {"train", "dev"}:
        found.add(
            "A05",
            f"part {part!r} is asked for, but no table says which item is in which part: leave out {option('part')}, "
            f"or give a column `part` or a table of {option('splits')}",
        )
        found.stop()
    if "part" not in frame.columns or part == "all":
        return frame, np.arange(len(frame))
    kept = frame["part"] == part
    if not kept.any():
        there = ", ".join(frame["part"].unique().sort().to_list())
        found.add("A05", f"no prediction is of part {part!r}; the table has {there}; choose one with {option('part')}")
        found.stop()
    positions = np.flatnonzero(kept.to_numpy())
    return frame.filter(pl.col("part") == part), positions


def with_parts(found: Findings, frame: pl.DataFrame, splits: pl.DataFrame) -> pl.DataFrame:
    """Predictions with the part that the splits table gives each item in its split."""
    import polars as pl

    names = splits["split"].unique().to_list()
    if "split" not in found.loaded.frame.columns and len(names) == 1:
        frame = frame.with_columns(pl.lit(names[0]).alias("split"))
    joined = frame.join(
        splits.select("item_id", "split", pl.col("part").alias("__part__")),
        on=["item_id", "split"],
        how="left",
        maintain_order="left",
    )
    unknown = joined.filter(pl.col("__part__").is_null())
    found.add_rows("A10", unknown, lambda row: f"the splits table does not have this item in split {row['split']!r}")
    if "part" in frame.columns:
        other = joined.filter(pl.col("part") != pl.col("__part__"))
        found.add_rows(
            "A10", other, lambda row: f"part is {row['part']} here and {row['__part__']} in the splits table"
        )
    found.stop()
    return joined.with_columns(pl.col("__part__").alias("part")).drop("__part__")


def conditions_of(frame: pl.DataFrame, columns: tuple[str, ...]) -> tuple[tuple[Condition, ...], Ints]:
    """Distinct conditions in canonical order, and the position of each row's."""
    import polars as pl

    distinct = frame.select(columns).unique()
    made = [condition_of(columns, values) for values in distinct.rows()]
    order = sorted(range(len(made)), key=lambda index: made[index].sort_key)
    rank = np.empty(len(made), dtype=np.int64)
    rank[order] = np.arange(len(made))
    ranked = distinct.with_columns(pl.Series("__rank__", rank))
    joined = frame.select(columns).join(ranked, on=list(columns), how="left", nulls_equal=True, maintain_order="left")
    return tuple(made[index] for index in order), np.asarray(joined["__rank__"].to_numpy(), dtype=np.int64)
