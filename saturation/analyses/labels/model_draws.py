"""Virtual items with virtual votes under a law of items: for metrics that are no sums over labels.

All resampled laws use the same virtual votes, each item weighed by how much likelier its votes are under that law.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.populations import Population
from saturation.populations.laws import Laws
from saturation.streams import Purpose, uniforms
from saturation.typing import Floats, Ints

ITEMS = 20_000
CELLS = 4_000_000
FEWEST_ITEMS = 400
CELLS_A_BLOCK = 2_000_000
_VOTE_STREAM = 3 << 40


@dataclass(frozen=True, slots=True, eq=False)
class VirtualVotes:
    """Votes of virtual items.

    Attributes
    ----------
    targets
        (budgets, items, labels) the first N votes.
    reference
        (items, labels) R further votes.
    """

    targets: Ints
    reference: Ints


def virtual_votes(law: Population, seed: int, budgets: tuple[int, ...], reference_size: int) -> VirtualVotes:
    """Votes of as many virtual items as are quickly drawn, at most ``ITEMS``; budgets are nested."""
    n_votes, n_labels = budgets[-1] + reference_size, law.means.shape[1]
    n_items = max(FEWEST_ITEMS, min(ITEMS, CELLS // max(n_votes, len(budgets) * n_labels)))
    edges = np.cumsum(law.sample(seed, n_items), axis=1)[:, :-1]
    targets = np.zeros((len(budgets), n_items, n_labels), dtype=np.int64)
    reference = np.zeros((n_items, n_labels), dtype=np.int64)
    size = max(1, CELLS_A_BLOCK // (n_votes * n_labels))
    for low in range(0, n_items, size):
        rows = np.arange(low, min(low + size, n_items))
        chance = uniforms(seed, Purpose.POPULATION, _VOTE_STREAM + rows[:, None], np.arange(n_votes))
        label = (chance[:, :, None] >= edges[rows, None, :]).sum(axis=2)
        for target, budget in zip(targets, budgets, strict=True):
            target[rows] = _tally(label[:, :budget], n_labels)
        reference[rows] = _tally(label[:, budgets[-1] :], n_labels)
    return VirtualVotes(targets, reference)


def _tally(label: Ints, n_labels: int) -> Ints:
    code = np.arange(len(label))[:, None] * n_labels + label
    return np.bincount(code.ravel(), minlength=len(label) * n_labels).reshape(len(label), n_labels)


def item_weights(law: Population, laws: Laws, votes: VirtualVotes) -> Floats:
    """(laws, items) weights with mean 1: likelihood of each item's votes under each law over that under ``law``."""
    counts = votes.targets[-1] + votes.reference
    row, label = np.nonzero(counts)
    count, start = counts[row, label], np.flatnonzero(np.diff(row, prepend=-1))
    most = int(counts.sum(axis=1).max())
    base = _log_likelihood(law.laws, label, count, start, most)
    size = max(1, CELLS_A_BLOCK // (len(row) * laws.weights.shape[1]))
    found = np.empty((len(laws.weights), len(counts)))
    for low in range(0, len(found), size):
        part = slice(low, low + size)
        found[part] = np.exp(_log_likelihood(laws.take(part), label, count, start, most) - base)
    return np.asarray(found / found.mean(axis=1, keepdims=True))


def effective_share(weights: Floats) -> float:
    """The smallest share, over laws, of the items that count: (sum w)^2 / (items x sum w^2)."""
    return float((1 / (weights**2).mean(axis=1)).min())


def _log_likelihood(laws: Laws, label: Ints, count: Ints, start: Ints, most: int) -> Floats:
    """(laws, items) log probability of the votes in the order cast, from the cells (label, count) of each item."""
    j = np.arange(most)
    with np.errstate(divide="ignore"):
        logs = np.log(laws.means[..., None] + laws.spreads[..., None, None] * j)
        weight = np.log(laws.weights)
    rising = np.concatenate([np.zeros((*logs.shape[:-1], 1)), np.cumsum(logs, axis=-1)], axis=-1)
    flat = rising.reshape(*laws.weights.shape, -1)
    own = np.add.reduceat(np.take(flat, label * (most + 1) + count, axis=-1), start, axis=-1)
    own += (weight - np.log1p(laws.spreads[..., None] * j).sum(axis=-1))[..., None]
    top = own.max(axis=1, keepdims=True)
    return np.asarray(np.log(np.exp(own - top).sum(axis=1)) + top[:, 0])
