"""Votes and Panel: dense arrays in canonical order; from here on nobody asks about names, order, NaN or dtype."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from saturation.conditions import Condition
from saturation.results import DataSummary, Input, Note
from saturation.typing import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Ballots:
    """Single votes with the people who cast them, sorted by (item, annotator).

    Attributes
    ----------
    annotator_ids
        (annotators,) ids in canonical order.
    item, annotator, label
        (votes,) indices into items, ``annotator_ids`` and labels.
    pool
        (votes,) index of the pool each vote belongs to (``schema.POOLS``); None where the table has no pools.
    """

    annotator_ids: tuple[str, ...]
    item: Ints
    annotator: Ints
    label: Ints
    pool: Ints | None = None

    def of_pool(self, pool: int) -> Ballots:
        """The votes of one pool; people without a vote in it keep their place among the ids."""
        assert self.pool is not None, "the table has no pools"
        kept = self.pool == pool
        return replace(
            self, item=self.item[kept], annotator=self.annotator[kept], label=self.label[kept], pool=self.pool[kept]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """The human side: one row of counts an item, in canonical item order (UTF-8 bytes of the id).

    Attributes
    ----------
    item_ids
        (items,)
    labels
        (labels,) names in the declared order.
    counts
        (items, labels) int64.
    ballots
        Single votes where annotator ids exist, else None.
    groups
        Item attributes by name, each (items,), e.g. ``source``; None where missing.
    majority
        (items,) index of the published majority label, -1 where unknown; None when no table gives one.
    inputs, notes
        What the door saw.
    dropped
        Votes and items that the options of the door left out.
    open_labels
        Whether the labels were taken from the votes themselves, so that predictions may add to them.
    pools
        (items, labels) counts of the votes of each pool (``train``, ``heldout``), where the table has pools.
    """

    item_ids: tuple[str, ...]
    labels: tuple[str, ...]
    counts: Ints
    ballots: Ballots | None = None
    groups: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    majority: Ints | None = None
    inputs: tuple[Input, ...] = ()
    notes: tuple[Note, ...] = ()
    dropped: int = 0
    open_labels: bool = False
    pools: Mapping[str, Ints] = field(default_factory=dict)

    @property
    def totals(self) -> Ints:
        """(items,) votes an item."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.int64)

    @property
    def summary(self) -> DataSummary:
        """Counts of what was let in."""
        totals = self.totals
        return DataSummary(
            n_items=len(self.item_ids),
            n_labels=len(self.labels),
            n_votes=int(totals.sum()),
            votes_min=int(totals.min()) if len(totals) else 0,
            votes_max=int(totals.max(initial=0)),
            n_annotators=None if self.ballots is None else len(self.ballots.annotator_ids),
            dropped=self.dropped,
        )

    def take(self, items: Ints) -> Votes:
        """The same votes for some items (sorted indices); annotators without a vote left are forgotten."""
        items = np.asarray(items, dtype=np.int64)
        return replace(
            self,
            item_ids=tuple(self.item_ids[i] for i in items),
            counts=self.counts[items],
            ballots=None if self.ballots is None else _take_ballots(self.ballots, items, len(self.item_ids)),
            groups={name: tuple(values[i] for i in items) for name, values in self.groups.items()},
            majority=None if self.majority is None else self.majority[items],
            pools={name: counts[items] for name, counts in self.pools.items()},
        )


def _take_ballots(ballots: Ballots, items: Ints, n_items: int) -> Ballots:
    rank = np.full(n_items, -1, dtype=np.int64)
    rank[items] = np.arange(len(items))
    kept = rank[ballots.item] >= 0
    present, annotator = np.unique(ballots.annotator[kept], return_inverse=True)
    return Ballots(
        annotator_ids=tuple(ballots.annotator_ids[a] for a in present),
        item=rank[ballots.item[kept]],
        annotator=annotator.astype(np.int64),
        label=ballots.label[kept],
        pool=None if ballots.pool is None else ballots.pool[kept],
    )


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Votes and predictions of the same items, aligned.

    Attributes
    ----------
    votes
        The distinct items of all splits.
    conditions
        (conditions,) in canonical order.
    splits
        (splits,) names.
    seeds
        One tuple of training seeds a split.
    items_of_split
        One sorted index array into ``votes`` a split.
    probs
        One float64 array a split: (conditions, seeds, items_of_split, labels), rows on the simplex.
    has_draws
        Whether the predictions say which vote draw trained them.
    summary, inputs, notes
        What the door let in, dropped and repaired, for votes and predictions together.
    """

    votes: Votes
    conditions: tuple[Condition, ...]
    splits: tuple[str, ...]
    seeds: tuple[tuple[int, ...], ...]
    items_of_split: tuple[Ints, ...]
    probs: tuple[Floats, ...]
    has_draws: bool
    summary: DataSummary
    inputs: tuple[Input, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def n_cells(self) -> int:
        """Number of split x seed cells."""
        return sum(len(seeds) for seeds in self.seeds)
