"""Where baselines come from: the rows of every condition, split and seed, and the resamples of their items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from saturation.calibration import Weighting
from saturation.conditions import Condition
from saturation.resampling import draw
from saturation.tables.parted import Parted
from saturation.tables.schema import PARTS
from saturation.typing import Counts, Floats, Ints, Weights

_DEV, _TEST = PARTS.index("dev"), PARTS.index("test")
Key = tuple[int, int, int]
"""Condition, split, seed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How baselines are fitted."""

    weights: Weighting
    floor: float
    level: float
    n_resamples: int
    seed: int
    threads: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """Rows of one condition, split and seed: (rows,) indices in item order; ``dev`` has the voted items only."""

    condition: Condition
    split: int
    seed: int
    dev: Ints
    test: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The table with its rows by cell, and how it is resampled.

    Attributes
    ----------
    parted
        The table.
    cells
        By (condition, split, seed), in canonical order.
    settings
        How baselines are fitted.
    items
        (items,) the voted items that are predicted, sorted.
    resamples
        (resamples, items) how often each is in a resample: one draw for all baselines, splits and seeds.
    """

    parted: Parted
    cells: Mapping[Key, Cell]
    settings: Settings
    items: Ints
    resamples: Weights

    @classmethod
    def of(cls, parted: Parted, settings: Settings) -> Source:
        """Group the rows of a table."""
        items = np.unique(parted.item[parted.item >= 0])
        weights = draw.item_weights(settings.seed, 0, settings.n_resamples, len(items))
        return cls(parted, _cells(parted), settings, items, weights)

    @property
    def n_unvoted(self) -> int:
        """Development rows whose item has no votes."""
        return int(((self.parted.part == _DEV) & (self.parted.item < 0)).sum())

    def split(self, cell: Cell) -> str:
        """Name of the cell's split."""
        return self.parted.splits[cell.split]

    def counts(self, rows: Ints) -> Counts:
        """(rows, labels) votes of the items of some rows."""
        return self.parted.votes.counts[self.parted.item[rows]]

    def drawn(self, items: Ints) -> Weights:
        """(resamples, items) of some voted items."""
        return np.ascontiguousarray(self.resamples[:, np.searchsorted(self.items, items)])


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """New rows of predictions.

    Attributes
    ----------
    condition
        Theirs.
    source
        (rows,) the given rows that they are like, but for what follows.
    probs
        (rows, labels)
    temperature, strength
        What was fitted.
    has_seed
        False for what no training run is behind.
    """

    condition: Condition
    source: Ints
    probs: Floats
    temperature: float | None = None
    strength: float | None = None
    has_seed: bool = True


def _cells(parted: Parted) -> dict[Key, Cell]:
    seeds = np.asarray(parted.frame["seed"].fill_null(-1).to_numpy(), dtype=np.int64)
    ids = np.asarray(parted.frame["item_id"].rank("dense").to_numpy(), dtype=np.int64)
    order = np.lexsort((ids, seeds, parted.split, parted.condition))
    keys = np.stack([parted.condition[order], parted.split[order], seeds[order]], axis=1)
    starts = np.flatnonzero(np.r_[True, (np.diff(keys, axis=0) != 0).any(axis=1)])
    found = {}
    for rows in np.split(order, starts[1:]):
        condition, split, seed = (int(codes[rows[0]]) for codes in (parted.condition, parted.split, seeds))
        part = parted.part[rows]
        found[condition, split, seed] = Cell(
            condition=parted.conditions[condition],
            split=split,
            seed=seed,
            dev=rows[(part == _DEV) & (parted.item[rows] >= 0)],
            test=rows[part == _TEST],
        )
    return found
