"""Votes and panels from arrays, for scripts that have no tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from saturation.conditions import Condition
from saturation.errors import DataError, Problem, UsageError
from saturation.tables.label_order import suspicions
from saturation.tables.panel import Panel, Votes
from saturation.tables.schema import MAX_VOTES, SIMPLEX_TOLERANCE
from saturation.tables.simplex import renormalise
from saturation.typing import Floats, Ints

_NAME = "(array)"


def votes_from_counts(
    counts: Any,
    *,
    labels: Sequence[str] | None = None,
    item_ids: Sequence[str] | None = None,
    groups: Mapping[str, Sequence[str | None]] | None = None,
) -> Votes:
    """Votes from an array of counts.

    Parameters
    ----------
    counts
        (items, labels) whole numbers; each item has at least one vote.
    labels
        (labels,) names; "0", "1", ... if None.
    item_ids
        (items,) distinct ids; row numbers, padded with zeros so that their order is that of the rows, if None.
    groups
        Item attributes by name, each (items,).

    Returns
    -------
    Votes
        Items in canonical order (UTF-8 bytes of their id).

    Raises
    ------
    DataError
        When a count is no whole number of at least 0, or an item has no votes.
    UsageError
        When lengths do not fit or names repeat.

    Examples
    --------
    >>> votes = votes_from_counts([[7, 3], [5, 5]], labels=["no", "yes"], item_ids=["b", "a"])
    >>> votes.item_ids, votes.counts.tolist()
    (('a', 'b'), [[5, 5], [7, 3]])
    """
    table = _whole(counts)
    n_items, n_labels = table.shape
    names = tuple(map(str, labels)) if labels is not None else tuple(map(str, range(n_labels)))
    ids = tuple(map(str, item_ids)) if item_ids is not None else row_ids(n_items)
    _same_length("labels", names, n_labels)
    _same_length("item_ids", ids, n_items)
    order = sorted(range(n_items), key=lambda index: ids[index].encode())
    attributes = {}
    for name, values in (groups or {}).items():
        _same_length(f"groups[{name!r}]", values, n_items)
        attributes[name] = tuple(None if values[i] is None else str(values[i]) for i in order)
    return Votes(item_ids=tuple(ids[index] for index in order), labels=names, counts=table[order], groups=attributes)


def panel_from_arrays(
    probs: Any,
    counts: Any,
    *,
    conditions: Sequence[Condition | Mapping[str, Any]] | None = None,
    labels: Sequence[str] | None = None,
    item_ids: Sequence[str] | None = None,
    groups: Mapping[str, Sequence[str | None]] | None = None,
    seeds: Sequence[int] | None = None,
    split: str = "all",
) -> Panel:
    """A panel with one split from arrays.

    Parameters
    ----------
    probs
        (items, labels), (conditions, items, labels) or (conditions, seeds, items, labels) probabilities.
    counts
        (items, labels) votes.
    conditions
        (conditions,) conditions or their columns, e.g. ``{"model": "m", "method": "soft", "budget": 10}``;
        may be None when there is one.
    labels, item_ids, groups
        As in :func:`votes_from_counts`.
    seeds
        (seeds,) training seeds; 0, 1, ... if None.
    split
        Name of the split.

    Returns
    -------
    Panel
        In canonical order.

    Raises
    ------
    DataError
        When a row is no distribution or a count no count.
    UsageError
        When shapes and names do not fit.

    Examples
    --------
    >>> panel = panel_from_arrays([[.8, .2], [.5, .5]], [[9, 1], [4, 6]], labels=["no", "yes"])
    >>> panel.probs[0].shape, str(panel.conditions[0])
    ((1, 1, 2, 2), 'model=model')
    """
    votes = votes_from_counts(counts, labels=labels, item_ids=item_ids, groups=groups)
    block = _four_axes(np.array(probs, dtype=np.float64), votes)
    names = _conditions(conditions, block.shape[0])
    seed_names = tuple(map(int, seeds)) if seeds is not None else tuple(range(block.shape[1]))
    _same_length("seeds", seed_names, block.shape[1])
    block, renormalised = _distributions(block)
    ids = tuple(map(str, item_ids)) if item_ids is not None else row_ids(block.shape[2])
    by_item = sorted(range(len(ids)), key=lambda index: ids[index].encode())
    by_condition = sorted(range(len(names)), key=lambda index: names[index].sort_key)
    by_seed = sorted(range(len(seed_names)), key=lambda index: seed_names[index])
    panel = Panel(
        votes=votes,
        conditions=tuple(names[index] for index in by_condition),
        splits=(split,),
        seeds=(tuple(seed_names[index] for index in by_seed),),
        items_of_split=(np.arange(len(ids), dtype=np.int64),),
        probs=(np.ascontiguousarray(block[np.ix_(by_condition, by_seed, by_item)]),),
        has_draws=False,
        summary=replace(votes.summary, renormalised=renormalised),
    )
    return replace(panel, notes=tuple(suspicions(panel)))


def row_ids(n_items: int) -> tuple[str, ...]:
    """Row numbers as ids whose byte order is the order of the rows.

    Examples
    --------
    >>> row_ids(11)[9:]
    ('09', '10')
    """
    width = len(str(max(n_items - 1, 0)))
    return tuple(f"{index:0{width}d}" for index in range(n_items))


def _whole(counts: Any) -> Ints:
    values = np.asarray(counts)
    if values.ndim != 2 or values.shape[1] < 2 or not len(values):
        raise UsageError(f"counts have shape {values.shape}; they need (items, labels) with at least two labels")
    if not np.issubdtype(values.dtype, np.number) or not np.isrealobj(values):
        raise UsageError(f"counts hold {values.dtype}, not numbers")
    good = np.isfinite(values) & (values >= 0) & (values == np.floor(values))
    problems = [
        Problem("V06", f"{values[row, column]} is not a number of votes", file=_NAME, row=int(row) + 1)
        for row, column in np.argwhere(~good)
    ]
    total = values.sum(axis=1, dtype=np.float64, where=good)
    problems += [
        Problem("V06", f"the item has more than {MAX_VOTES:,} votes", file=_NAME, row=int(row) + 1)
        for row in np.flatnonzero(total > MAX_VOTES)
    ]
    problems += [
        Problem("V07", "the item has no votes", file=_NAME, row=int(row) + 1)
        for row in np.flatnonzero(good.all(axis=1) & (total == 0))
    ]
    if problems:
        raise DataError(problems)
    return values.astype(np.int64)


def _four_axes(probs: Floats, votes: Votes) -> Floats:
    wanted = votes.counts.shape
    if probs.ndim == 2:
        probs = probs[None, None]
    elif probs.ndim == 3:
        probs = probs[:, None]
    if probs.ndim != 4 or probs.shape[2:] != wanted or 0 in probs.shape:
        raise UsageError(
            f"probs have shape {probs.shape}; they need (conditions, seeds, {wanted[0]}, {wanted[1]}), "
            "the last two as in counts"
        )
    return probs


def _conditions(conditions: Sequence[Condition | Mapping[str, Any]] | None, number: int) -> tuple[Condition, ...]:
    if conditions is None:
        conditions = [{}] if number == 1 else []
    made = tuple(
        one if isinstance(one, Condition) else Condition.of(**({"model": "model"} | dict(one))) for one in conditions
    )
    _same_length("conditions", made, number)
    return made


def _distributions(block: Floats) -> tuple[Floats, int]:
    flat = block.reshape(-1, block.shape[-1])
    with np.errstate(invalid="ignore"):
        proper = ((flat >= 0) & (flat <= 1 + SIMPLEX_TOLERANCE)).all(axis=1)
        summing = np.abs(flat.sum(axis=1) - 1) <= SIMPLEX_TOLERANCE
    shape = block.shape[:-1]
    problems = [
        Problem("P01", f"probs{_place(row, shape)} holds no probabilities", file=_NAME)
        for row in np.flatnonzero(~proper).tolist()
    ]
    problems += [
        Problem("P02", f"probs{_place(row, shape)} sums to {flat[row].sum():.9g}, not 1", file=_NAME)
        for row in np.flatnonzero(proper & ~summing).tolist()
    ]
    if problems:
        raise DataError(problems)
    flat, touched = renormalise(flat)
    return flat.reshape(block.shape), touched


def _place(row: int, shape: tuple[int, ...]) -> list[int]:
    return [int(index) for index in np.unravel_index(row, shape)]


def _same_length(name: str, values: Sequence[Any], number: int) -> None:
    if len(values) != number:
        raise UsageError(f"{len(values)} {name} are given for {number}")
    if not name.startswith("groups") and len(set(values)) < number:
        raise UsageError(f"{name} repeat")
