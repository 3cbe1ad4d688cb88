"""Cells: members averaged, seeds that every condition has, items that every cell of a split has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from saturation.conditions import Condition
from saturation.results import Note
from saturation.tables.findings import Findings, option
from saturation.tables.votes import codes
from saturation.typing import Floats, Ints

if TYPE_CHECKING:
    import polars as pl


NO_SEED = int(np.iinfo(np.int64).min)
"""Seed of base-rate rows until they are repeated."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Predictions as codes: (rows,) each, and (rows, labels)."""

    split: Ints
    condition: Ints
    seed: Ints
    item: Ints
    probs: Floats

    def take(self, kept: NDArray[np.intp]) -> Rows:
        """Some of the rows."""
        return Rows(self.split[kept], self.condition[kept], self.seed[kept], self.item[kept], self.probs[kept])

    def of_split(self, split: int) -> Rows:
        """The rows of one split."""
        return self.take(np.flatnonzero(self.split == split))


def average_members(rows: Rows, member: pl.Series) -> tuple[Rows, Note]:
    """Mean over members of each cell and item, summed in member order."""
    rank = codes(member, member.unique().sort().to_list())
    order = np.lexsort((rank, rows.item, rows.seed, rows.condition, rows.split))
    rows = rows.take(order)
    keys = np.stack((rows.split, rows.condition, rows.seed, rows.item))
    starts = np.flatnonzero(np.r_[True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)])
    sizes = np.diff(np.r_[starts, len(order)])
    means = np.add.reduceat(rows.probs, starts, axis=0) / sizes[:, None]
    low, high = int(sizes.min()), int(sizes.max())
    number = f"{low}" if low == high else f"{low} to {high}"
    return replace(rows.take(starts), probs=means), Note("members", f"predictions are means over {number} members")


def common_cells(
    found: Findings, rows: Rows, conditions: tuple[Condition, ...], splits: tuple[str, ...]
) -> tuple[Rows, list[tuple[int, ...]], list[Note]]:
    """Seeds that every condition has, one tuple a split; base rates are repeated over them."""
    notes, seeds_of_split, parts, lost, repeated = [], [], [], [], False
    for code, name in enumerate(splits):
        own = rows.of_split(code)
        seeds_of = [set(np.unique(own.seed[own.condition == c]).tolist()) for c in range(len(conditions))]
        alone = [len(seeds) == 1 and conditions[c].method == "base_rate" for c, seeds in enumerate(seeds_of)]
        trained = [seeds for seeds, single in zip(seeds_of, alone, strict=True) if not single] or [{0}]
        common = tuple(sorted(set.intersection(*trained)))
        lost += [f"split {name} seed {seed}" for seed in sorted(set.union(*trained) - set(common))]
        single = np.array(alone)[own.condition]
        parts.append(own.take(np.flatnonzero(np.isin(own.seed, common) & ~single)))
        base = own.take(np.flatnonzero(single))
        parts += [replace(base, seed=np.full(len(base.seed), seed)) for seed in common]
        repeated |= bool(single.any()) and len(common) > 1
        seeds_of_split.append(common)
    if not any(seeds_of_split):
        found.add("A04", "no split and seed is there under every condition, so that nothing can be compared")
        found.stop()
    if lost:
        shown = ", ".join(lost[:10]) + (f" and {len(lost) - 10} more" if len(lost) > 10 else "")
        notes.append(Note("cells_left_out", f"{len(lost)} cells are not there under every condition: {shown}"))
    if repeated:
        notes.append(Note("base_rate_repeated", "base_rate has no training seed; it is repeated over seeds"))
    stacked = Rows(*(np.concatenate([getattr(part, name) for part in parts]) for name in Rows.__slots__))
    return stacked, seeds_of_split, notes


@dataclass(frozen=True, slots=True)
class Block:
    """Predictions of one split.

    Attributes
    ----------
    split
        Its name.
    seeds
        (seeds,)
    items
        (items,) that at least one cell has, as sorted indices into the votes.
    probs
        (conditions, seeds, items, labels); zeros where an item is not there.
    there
        (conditions, seeds, items) whether it is.
    """

    split: str
    seeds: tuple[int, ...]
    items: Ints
    probs: Floats
    there: NDArray[np.bool_]

    def complete(self) -> Block:
        """The items that are predicted under every condition and seed."""
        full = self.there.all(axis=(0, 1))
        if full.all():
            return self
        probs = np.ascontiguousarray(self.probs[:, :, full])
        return replace(self, items=self.items[full], probs=probs, there=self.there[:, :, full])

    def gaps(self, conditions: Sequence[Condition]) -> list[tuple[int, str]]:
        """Items that are not, each with a sentence on where they lack."""
        found = []
        n_pairs = self.there.shape[0] * self.there.shape[1]
        for index in np.flatnonzero(~self.there.all(axis=(0, 1))):
            lacking = np.argwhere(~self.there[:, :, index])
            condition, seed = lacking[0]
            text = (
                f"split {self.split}: not predicted in {len(lacking)} of {n_pairs} pairs of condition and seed, "
                f"the first {conditions[condition]} seed {self.seeds[seed]}; or pass {option('missing', 'drop')}"
            )
            found.append((int(self.items[index]), text))
        return found


def block_of(rows: Rows, split: str, seeds: tuple[int, ...], n_conditions: int) -> Block:
    """Rows of one split as a dense block."""
    items, position = np.unique(rows.item, return_inverse=True)
    seed = np.searchsorted(np.array(seeds), rows.seed)
    shape = (n_conditions, len(seeds), len(items))
    probs = np.zeros((*shape, rows.probs.shape[1]))
    there = np.zeros(shape, dtype=bool)
    probs[rows.condition, seed, position] = rows.probs
    there[rows.condition, seed, position] = True
    return Block(split, seeds, items, probs, there)
