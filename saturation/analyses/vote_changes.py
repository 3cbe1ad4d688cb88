"""Functions of means over items when a vote is gone: looked at once for every distinct way to lose it, then summed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.context import Sample, Statistic
from saturation.analyses.crowd import NOTHING_SEEN, WITHOUT_A_VOTE, Moves, degrees_of_freedom
from saturation.analyses.removals import Removals
from saturation.metrics.metric import Human
from saturation.resampling.blocks import run_blocks
from saturation.typing import Floats, Ints, Probs

ROUNDING = 1e-9
"""Changes of a mean by one vote of one item carry rounding errors of this part of themselves."""


def linearised(sample: Sample, removals: Removals, statistic: Statistic, threads: int | None) -> Moves:
    """How one statistic of every condition moves, from its changes with every way in which an item loses votes."""
    changes = _changes(sample, removals, statistic, threads)
    plain = statistic.under_weights
    if plain is not statistic and plain.is_of_means and not np.isfinite(changes).all():
        # two votes can be corrected for their noise, one that is left cannot: there the plain score moves instead
        changes = np.where(np.isfinite(changes), changes, _changes(sample, removals, plain, threads))
    lost = np.asarray(~np.isfinite(changes).all(axis=1))
    changes = np.where(lost[:, None], 0.0, changes)
    centred = removals.centred(changes)
    df, within_df = degrees_of_freedom(removals.load)
    return Moves(
        people=removals.people(centred),
        noise=removals.noise(centred),
        growth=1 - 1 / np.count_nonzero(removals.load),
        df=df,
        within_df=within_df,
        reasons={int(c): NOTHING_SEEN for c in np.flatnonzero(_flat(centred, changes))}
        | {int(c): WITHOUT_A_VOTE for c in np.flatnonzero(lost)},
    )


def _flat(centred: Floats, changes: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """(conditions,) whether changes differ from zero, but not from their means within items."""
    size = np.abs(changes).max(axis=1, initial=0.0)
    return np.asarray((size > 0) & (np.abs(centred).max(axis=1, initial=0.0) <= ROUNDING * size))


def _changes(sample: Sample, removals: Removals, statistic: Statistic, threads: int | None) -> Floats:
    """(conditions, rows) change of the mean over cells for every way in which an item loses votes."""
    out = np.zeros((len(sample.probs[0]), len(removals.item)))
    for probs, places, human in zip(sample.probs, sample.places, sample.of_split(sample.human), strict=True):
        place = np.full(sample.n_items, -1, dtype=np.int64)
        place[places] = np.arange(len(places))
        rows = np.flatnonzero(place[removals.item] >= 0)
        part = _Part(human, place[removals.item[rows]], removals.counts[rows], removals.alone[rows])

        def work(a: int, b: int, probs: Probs = probs, rows: Ints = rows, part: _Part = part) -> None:
            for c in range(a, b):
                for model in probs[c]:
                    out[c, rows] += part.changes(model, statistic)

        run_blocks(work, len(probs), threads)
    return out / sample.n_cells


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One split: its human side, and the rows of items that lose votes (position, counts left, nothing left)."""

    human: Human
    item: Ints
    left: Ints
    alone: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

    def changes(self, model: Probs, statistic: Statistic) -> Floats:
        """(rows,) change of the statistic of one model (items, labels).

        Items as they are and as they are left stand side by side in one table, so that what features share (a centre,
        the edges of bins) is the same for both.
        """
        n_items = len(self.human.counts)
        index = np.concatenate([np.arange(n_items), self.item])
        left = np.where(self.alone[:, None], self.human.counts[self.item], self.left)
        side = replace(self.human.take(index), counts=np.concatenate([self.human.counts, left]))
        features = statistic.features(model[None, index], side)[0]
        own, after = features[:, :n_items], features[:, n_items:]
        mean, before = own.mean(axis=-1, keepdims=True), own[:, self.item]
        moved = mean + (after - before) / n_items
        if self.alone.any():
            moved[:, self.alone] = _without(mean, before[:, self.alone], n_items)
        return np.asarray(statistic.combine(moved.T) - statistic.combine(mean[:, 0]))


def _without(mean: Floats, item: Floats, n_items: int) -> Floats:
    """Feature means without an item; NaN where no other is left."""
    if n_items == 1:
        return np.full(item.shape, np.nan)
    return np.asarray((n_items * mean - item) / (n_items - 1))
