"""What is redrawn: items, seeds, annotators, votes.

Every function gives the resamples ``start``..``stop`` and resample b is a pure function of (seed, b): blocks,
threads and the number of conditions cannot change it, and one draw serves every condition, budget and metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from saturation.errors import UsageError
from saturation.resampling.blocks import run_blocks
from saturation.streams import GOLDEN, Purpose, mix64, uniforms, words
from saturation.typing import Counts, Floats, Ints, Weights

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_DRAWS_AT_ONCE = 1 << 20


def item_weights(seed: int, start: int, stop: int, n_items: int, strata: NDArray[np.integer] | None = None) -> Weights:
    """Bootstrap weights of the items: how often each is drawn, multinomial with total ``n_items``.

    Parameters
    ----------
    seed
        The resample seed.
    start, stop
        Which resamples.
    n_items
        Distinct items over the union of all splits.
    strata
        (items,) codes; each stratum then keeps its number of items.

    Returns
    -------
    (stop - start, items) float64, each row summing to ``n_items``.

    Examples
    --------
    >>> item_weights(0, 0, 2, 3).sum(axis=1)
    array([3., 3.])
    """
    order, first, size = _strata(n_items, strata)
    out = np.empty((stop - start, n_items))
    rows = max(1, _DRAWS_AT_ONCE // max(n_items, 1))
    for low in range(start, stop, rows):
        high = min(low + rows, stop)
        drawn = order[first + _below(seed, Purpose.ITEMS, np.arange(low, high), size)]
        out[low - start : high - start] = _tally(drawn, n_items)
    return out


def seed_weights(seed: int, start: int, stop: int, n_seeds: tuple[int, ...]) -> tuple[Weights, ...]:
    """Bootstrap weights of the training seeds within each split, the same for every condition.

    Returns
    -------
    One (stop - start, seeds) array a split, each row summing to that split's number of seeds.

    Examples
    --------
    >>> [w.shape for w in seed_weights(0, 0, 4, (3, 2))]
    [(4, 3), (4, 2)]
    """
    sizes = np.repeat(np.array(n_seeds, dtype=np.uint64), n_seeds)
    drawn = _below(seed, Purpose.SEEDS, np.arange(start, stop), sizes)
    parts = np.split(drawn, np.cumsum(n_seeds)[:-1], axis=1)
    return tuple(_tally(part, n) for part, n in zip(parts, n_seeds, strict=True))


def annotator_weights(seed: int, start: int, stop: int, n_annotators: int) -> Weights:
    """Weights of the annotators, independent and exponential with mean 1 (the Bayesian bootstrap).

    No annotator gets weight zero, so that no item loses all of its votes.

    Returns
    -------
    (stop - start, annotators)
    """
    return -np.log(uniforms(seed, Purpose.ANNOTATORS, np.arange(start, stop)[:, None], np.arange(n_annotators)))


def redraw_votes(seed: int, start: int, stop: int, counts: Counts, threads: int | None = None) -> Ints:
    """New votes for the same items: multinomial(n_i, h_i), as if other annotators had come.

    Returns
    -------
    (stop - start, items, labels)

    Raises
    ------
    UsageError
        When the counts are not integers.
    """
    from saturation.kernels import votes

    offsets, labels = _ballots(counts)
    out = np.zeros((stop - start, *np.shape(counts)), dtype=np.int64)
    base, first = _base(seed, Purpose.VOTES), np.uint64(start)
    run_blocks(lambda a, b: votes.redraw(base, first, a, b, offsets, labels, out), stop - start, threads)
    return out


@dataclass(frozen=True, slots=True, eq=False)
class Subsample:
    """Votes drawn without replacement.

    Attributes
    ----------
    targets
        (resamples, budgets, items, labels); a larger budget of the same resample contains the smaller one.
    reference
        (resamples, items, labels) further votes, none of them in ``targets``; None where not asked for.
    """

    targets: Ints
    reference: Ints | None


def subsample(  # noqa: PLR0917
    seed: int,
    start: int,
    stop: int,
    counts: Counts,
    budgets: tuple[int, ...],
    reference_size: int | None = None,
    *,
    threads: int | None = None,
) -> Subsample:
    """Draw N votes of every item without replacement (multivariate hypergeometric), for ascending budgets N.

    Parameters
    ----------
    seed, start, stop
        The resample seed and which resamples.
    counts
        (items, labels) integers; every item needs max(budgets) + reference_size votes.
    budgets
        Ascending numbers of votes.
    reference_size
        How many *other* votes to draw as a reference.
    threads
        Threads to use; None: all usable cores.

    Raises
    ------
    UsageError
        When budgets are not ascending and positive, counts not integers, or an item has too few votes.

    Examples
    --------
    >>> counts = np.array([[3, 1], [2, 2]])
    >>> drawn = subsample(0, 0, 5, counts, (1, 3), reference_size=1, threads=1)
    >>> bool((drawn.targets[:, 1] + drawn.reference == counts).all())
    True
    """
    from saturation.kernels import votes

    offsets, labels = _ballots(counts)
    sizes = np.diff(offsets).astype(np.int64)
    ends = _ends(budgets, reference_size, sizes)
    parts = np.zeros((stop - start, len(ends), *np.shape(counts)), dtype=np.int64)
    base, first = _base(seed, Purpose.SUBSAMPLE), np.uint64(start)

    def work(a: int, b: int) -> None:
        pool = np.empty(max(int(sizes.max(initial=0)), 1), dtype=np.int64)
        votes.subsample(base, first, a, b, offsets, labels, ends, pool, parts)

    run_blocks(work, stop - start, threads)
    reference = None if reference_size is None else parts[:, -1].copy()
    return Subsample(targets=parts[:, : len(budgets)].cumsum(axis=1), reference=reference)


def _ends(budgets: tuple[int, ...], reference_size: int | None, sizes: Ints) -> Ints:
    """Where each budget, and then the reference, ends in an item's random order of votes."""
    if not budgets or budgets[0] < 1 or any(a >= b for a, b in pairwise(budgets)):
        raise UsageError(f"budgets are {budgets}; give ascending numbers of votes from 1")
    if reference_size is not None and reference_size < 1:
        raise UsageError(f"the reference has {reference_size} votes; give at least 1")
    ends = [*budgets] if reference_size is None else [*budgets, budgets[-1] + reference_size]
    short = int((sizes < ends[-1]).sum())
    if short:
        raise UsageError(
            f"{short} of {len(sizes)} items have fewer than {ends[-1]} votes ({budgets[-1]} to draw and "
            f"{reference_size or 0} as reference); leave those items out or ask for smaller budgets"
        )
    return np.array(ends, dtype=np.int64)


def _ballots(counts: Counts) -> tuple[NDArray[np.uint64], Ints]:
    """Counts as single votes: where each item's votes begin, and the label of each vote."""
    given = np.asarray(counts, dtype=np.float64)
    if not ((given >= 0) & (given == np.floor(given)) & np.isfinite(given)).all():
        raise UsageError("votes can only be redrawn from whole, non-negative numbers of votes")
    whole = given.astype(np.int64)
    offsets = np.concatenate([[0], whole.sum(axis=1).cumsum()]).astype(np.uint64)
    n_labels = whole.shape[1]
    labels = np.repeat(np.tile(np.arange(n_labels), whole.shape[0]), whole.ravel())
    return offsets, labels.astype(np.int64)


def _base(seed: int, purpose: Purpose) -> np.uint64:
    """The part of a stream's key that all streams share."""
    return np.uint64(mix64(seed + GOLDEN * purpose))


def _strata(n_items: int, strata: NDArray[np.integer] | None) -> tuple[Ints, Ints, NDArray[np.uint64]]:
    """Items sorted by stratum; for each draw, where its stratum begins there and how many items it has."""
    if strata is None:
        every = np.arange(n_items, dtype=np.int64)
        return every, np.zeros(n_items, dtype=np.int64), np.full(n_items, n_items, dtype=np.uint64)
    order = np.argsort(strata, kind="stable").astype(np.int64)
    _, begin, size = np.unique(np.asarray(strata)[order], return_index=True, return_counts=True)
    return order, np.repeat(begin, size).astype(np.int64), np.repeat(size, size).astype(np.uint64)


def _below(seed: int, purpose: Purpose, resamples: Ints, sizes: NDArray[np.uint64]) -> Ints:
    """(resamples, draws) outcomes in [0, size of the draw); two draws a word, the high half first."""
    n_draws = len(sizes)
    pairs = words(seed, purpose, resamples[:, None], np.arange((n_draws + 1) // 2))
    halves = np.stack([pairs >> _HALF, pairs & _LOW], axis=-1).reshape(len(resamples), -1)[:, :n_draws]
    return ((halves * sizes) >> _HALF).astype(np.int64)


def _tally(drawn: Ints, n: int) -> Floats:
    """(resamples, draws) indices -> (resamples, n) how often each was drawn."""
    rows = np.arange(len(drawn))[:, None] * n
    return np.bincount((rows + drawn).ravel(), minlength=len(drawn) * n).reshape(len(drawn), n).astype(np.float64)
