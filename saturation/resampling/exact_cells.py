"""Counts grouped for exact moments: items with the same votes, their distinct (votes, count) cells and pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.typing import Ints


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
    pairs, pair, pair_group = _pairs(totals, slots, cumulative)
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
    )


def _cells(totals: Ints, slots: Ints, cumulative: bool) -> tuple[Cells, Ints]:
    n, j = slots.shape
    index = np.broadcast_to(np.arange(j) if cumulative else np.zeros(j, dtype=np.int64), (n, j))
    triples = np.stack([np.repeat(totals, j), slots.ravel(), index.ravel()], axis=1)
    distinct, inverse = np.unique(triples, axis=0, return_inverse=True)
    return Cells(*(np.ascontiguousarray(column) for column in distinct.T)), inverse.reshape(n, j).astype(np.int64)


def _pairs(totals: Ints, slots: Ints, cumulative: bool) -> tuple[Pairs, Ints, Ints]:
    """Pairs of slots that both vary; a slot with no votes, or with all of them, is constant."""
    keys, groups = [], []
    for j in range(slots.shape[1]):
        for k in range(j + 1, slots.shape[1]):
            first = slots[:, j]
            second = totals - slots[:, k] if cumulative else slots[:, k]
            varying = np.flatnonzero((first > 0) & (second > 0))
            if cumulative:
                varying = varying[(first[varying] < totals[varying]) & (second[varying] < totals[varying])]
            if len(varying):
                place = np.broadcast_to([j, k] if cumulative else [0, 0], (len(varying), 2))
                found = np.stack([totals[varying], first[varying], second[varying]], axis=1)
                keys.append(np.concatenate([found, place], axis=1))
                groups.append(varying)
    every = np.concatenate(keys) if keys else np.empty((0, 5), dtype=np.int64)
    distinct, inverse = np.unique(every, axis=0, return_inverse=True)
    group = np.concatenate(groups) if groups else np.empty(0, dtype=np.int64)
    columns = (np.ascontiguousarray(column) for column in distinct.T)
    return Pairs(*columns), inverse.reshape(-1).astype(np.int64), group
