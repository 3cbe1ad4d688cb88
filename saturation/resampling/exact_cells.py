"""Counts grouped for exact moments: items with the same votes, their distinct (votes, count) cells and pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from saturation.typing import Ints

MAX_PAIRS = 2_000_000
"""Most pairs of all groups together; beyond, no variance is computed."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Distinct (votes, count, slot) cells: slot 0 for plain labels, the cut's index for cumulative shares."""

    totals: Ints
    counts: Ints
    slots: Ints


@dataclass(frozen=True, slots=True)
class Pairs:
    """Distinct pairs of slots; ``second`` counts votes of a label, or those beyond the second cut (cumulative)."""

    totals: Ints
    first: Ints
    second: Ints
    first_slot: Ints
    second_slot: Ints


@dataclass(frozen=True, slots=True)
class Prepared:
    """Counts grouped for exact moments; make it once, use it for every budget.

    Attributes
    ----------
    group
        (items,) group of items with the same votes; all moments are computed a group.
    n_groups
        Number of groups.
    n_labels, cumulative
        Of the counts.
    cells, cell
        Distinct cells, and the cell of each (group, slot).
    pairs, pair, pair_group
        Distinct pairs, and for each pair of each group its index and its group.
    has_pairs
        Whether the pairs were few enough to be listed; without them there are no variances.
    """

    group: Ints
    n_groups: int
    n_labels: int
    cumulative: bool
    cells: Cells
    cell: Ints
    pairs: Pairs
    pair: Ints
    pair_group: Ints
    has_pairs: bool


def prepare(counts: Ints, *, cumulative: bool = False) -> Prepared:
    """Group items and find their distinct cells and pairs.

    Parameters
    ----------
    counts
        (items, labels) integer votes, at least one an item.
    cumulative
        For statistics of cumulative shares; the order of labels then matters, otherwise it does not.
    """
    counts = np.asarray(counts, dtype=np.int64)
    rows = np.cumsum(counts, axis=1) if cumulative else -np.sort(-counts, axis=1)
    keyed = rows if cumulative else np.concatenate([rows, rows.sum(axis=1, keepdims=True)], axis=1)
    distinct, group = np.unique(keyed, axis=0, return_inverse=True)
    totals, slots = distinct[:, -1], distinct[:, :-1]
    cells, cell = _cells(totals, slots, cumulative)
    found = _pairs(totals, slots, cumulative)
    pairs, pair, pair_group = _no_pairs() if found is None else found
    return Prepared(
        group=group.reshape(-1).astype(np.int64),
        n_groups=len(distinct),
        n_labels=counts.shape[1],
        cumulative=cumulative,
        cells=cells,
        cell=cell,
        pairs=pairs,
        pair=pair,
        pair_group=pair_group,
        has_pairs=found is not None,
    )


def _cells(totals: Ints, slots: Ints, cumulative: bool) -> tuple[Cells, Ints]:
    n, j = slots.shape
    index = np.broadcast_to(np.arange(j) if cumulative else np.zeros(j, dtype=np.int64), (n, j))
    columns, inverse = _distinct([np.repeat(totals, j), slots.ravel(), index.ravel()])
    return Cells(*columns), inverse.reshape(n, j)


def _no_pairs() -> tuple[Pairs, Ints, Ints]:
    nothing = np.empty(0, dtype=np.int64)
    return Pairs(nothing, nothing, nothing, nothing, nothing), nothing, nothing


def _pairs(totals: Ints, slots: Ints, cumulative: bool) -> tuple[Pairs, Ints, Ints] | None:
    """Pairs of slots that both vary; a slot with no votes, or all (cumulative), is constant. None: too many."""
    keys, groups = [], []
    varying = slots > 0
    if cumulative:
        varying &= slots < totals[:, None]
    found = 0
    used = np.flatnonzero(varying.any(axis=0))
    for j in used:
        later = used[used > j]
        group, at = np.nonzero(varying[:, later] & varying[:, [j]])
        k = later[at]
        found += len(group)
        if found > MAX_PAIRS:
            return None
        first, second = slots[group, j], slots[group, k]
        of = totals[group]
        place = (np.full(len(k), j), k) if cumulative else (np.zeros_like(k), np.zeros_like(k))
        keys.append(np.stack([of, first, of - second if cumulative else second, *place]))
        groups.append(group)
    every = np.concatenate(keys, axis=1) if keys else np.empty((5, 0), dtype=np.int64)
    columns, inverse = _distinct(list(every))
    return Pairs(*columns), inverse, np.concatenate(groups) if groups else np.empty(0, dtype=np.int64)


def _distinct(columns: Sequence[Ints]) -> tuple[list[Ints], Ints]:
    """Distinct tuples of small whole numbers, ascending, and the place of each: sorted as one number where it fits."""
    widths = [int(column.max(initial=0)) + 1 for column in columns]
    if prod(widths) >= 2**62:
        tuples, inverse = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        return [np.ascontiguousarray(column) for column in tuples.T], inverse.reshape(-1)
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column, width in zip(columns, widths, strict=True):
        key = key * width + column
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return [column[first] for column in columns], inverse.reshape(-1)
