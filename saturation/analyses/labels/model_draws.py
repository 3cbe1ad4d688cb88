"""Virtual items with virtual votes under a law of items: for metrics that are no sums over labels.

All laws are drawn from with the same random words, so that two of them hardly differ by Monte Carlo error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.populations import Population
from saturation.streams import Purpose, uniforms
from saturation.typing import Ints

ITEMS = 20_000
CELLS = 4_000_000
FEWEST_ITEMS = 400
MILLION = 1_000_000
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
        (items, labels) R further votes, or the item's distribution in millionths.
    """

    targets: Ints
    reference: Ints


def virtual_votes(
    law: Population, seed: int, budgets: tuple[int, ...], reference_size: int | None, part: int = 1
) -> VirtualVotes:
    """Votes of as many virtual items as are quickly drawn, at most ``ITEMS`` / ``part``; budgets are nested.

    Fewer items are the first of more. Without a reference size the reference is the item's distribution, in millionths.
    """
    n_votes, n_labels = budgets[-1] + (reference_size or 0), law.means.shape[1]
    n_items = max(FEWEST_ITEMS, min(ITEMS, CELLS // max(n_votes, len(budgets) * n_labels))) // part
    probs = law.sample(seed, n_items)
    edges = np.cumsum(probs, axis=1)[:, :-1]
    targets = np.zeros((len(budgets), n_items, n_labels), dtype=np.int64)
    reference = np.rint(probs * MILLION).astype(np.int64)
    size = max(1, CELLS_A_BLOCK // (n_votes * n_labels))
    for low in range(0, n_items, size):
        rows = np.arange(low, min(low + size, n_items))
        chance = uniforms(seed, Purpose.POPULATION, _VOTE_STREAM + rows[:, None], np.arange(n_votes))
        label = np.zeros(chance.shape, dtype=np.int64)
        for edge in edges[rows].T:
            label += chance >= edge[:, None]
        for target, budget in zip(targets, budgets, strict=True):
            target[rows] = _tally(label[:, :budget], n_labels)
        if reference_size is not None:
            reference[rows] = _tally(label[:, budgets[-1] :], n_labels)
    return VirtualVotes(targets, reference)


def _tally(label: Ints, n_labels: int) -> Ints:
    code = np.arange(len(label))[:, None] * n_labels + label
    return np.bincount(code.ravel(), minlength=len(label) * n_labels).reshape(len(label), n_labels)
