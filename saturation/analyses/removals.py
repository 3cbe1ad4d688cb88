"""What is left of an item when one of its annotators is gone, and what that says about the crowd.

Deleting an annotator changes an item only through the votes it loses, and few ways to lose them are distinct: (item,
label) where people vote once an item. So a statistic is looked at once for each of them, and all else is sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.tables.panel import Ballots
from saturation.typing import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Removals:
    """Every distinct way in which an item loses the votes of one annotator.

    Attributes
    ----------
    item
        (rows,) the item that loses votes.
    counts
        (rows, labels) the votes that it keeps.
    gone
        (rows,) how many it loses.
    times
        (rows,) how many annotators take just these votes along.
    row, annotator
        (pairs,) for every annotator of every item: the row that says what is left, and who it is.
    n_items, n_annotators
        How many there are.
    """

    item: Ints
    counts: Ints
    gone: Ints
    times: Ints
    row: Ints
    annotator: Ints
    n_items: int
    n_annotators: int

    @classmethod
    def of(cls, ballots: Ballots, counts: Ints, *, vote_by_vote: bool = False) -> Removals:
        """From single votes, sorted by item and annotator, and the counts (items, labels) that they make.

        ``vote_by_vote``: somebody's second vote on an item leaves it apart from the first, as one more pair.
        """
        n_labels = counts.shape[1]
        code = ballots.item * len(ballots.annotator_ids) + ballots.annotator
        first = np.arange(len(code)) if vote_by_vote else np.flatnonzero(np.diff(code, prepend=-1))
        size = np.diff(first, append=len(code))
        item, once = ballots.item[first], size == 1
        of_label, row = np.unique(item[once] * n_labels + ballots.label[first[once]], return_inverse=True)
        where, gone = of_label // n_labels, np.eye(n_labels, dtype=np.int64)[of_label % n_labels]
        rows = np.empty(len(first), dtype=np.int64)
        rows[once] = row
        if not once.all():
            several, place = _several(ballots, np.repeat(once, size), item[~once], size[~once], n_labels)
            rows[~once] = len(where) + place
            where = np.concatenate([where, several[:, 0]])
            gone = np.concatenate([gone, several[:, 1:]])
        return cls(
            item=where,
            counts=counts[where] - gone,
            gone=gone.sum(axis=1),
            times=np.bincount(rows, minlength=len(where)),
            row=rows,
            annotator=ballots.annotator[first],
            n_items=len(counts),
            n_annotators=len(ballots.annotator_ids),
        )

    @property
    def alone(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """(rows,) whether nothing is left: the item goes with its only annotator."""
        return np.asarray(self.counts.sum(axis=1) == 0, dtype=np.bool_)

    @property
    def load(self) -> Floats:
        """(annotators,) votes of everybody."""
        votes = self.gone[self.row].astype(np.float64)
        return np.bincount(self.annotator, weights=votes, minlength=self.n_annotators).astype(np.float64)

    def centred(self, moves: Floats) -> Floats:
        """Changes (..., rows) of a statistic about their mean within the item.

        Any lost vote makes an item's plug-in score worse by about as much; that is the number of votes, not the
        crowd, and it drops out. An item that goes with its only annotator has no other to be compared with: its
        change stays.
        """
        total = np.bincount(self.item, weights=self.times * self.gone, minlength=self.n_items)
        alone = self.alone
        out = np.empty(moves.shape)
        for place in np.ndindex(moves.shape[:-1]):
            of_item = np.bincount(self.item, weights=self.times * moves[place], minlength=self.n_items) / total.clip(1)
            out[place] = moves[place] - self.gone * of_item[self.item]
        out[..., alone] = moves[..., alone]
        return out

    def people(self, centred: Floats) -> Floats:
        """(..., annotators) sums D_a of centred changes (..., rows) over all items of an annotator."""
        flat = (centred * self._together()).reshape(-1, centred.shape[-1])
        sums = [np.bincount(self.annotator, weights=one[self.row], minlength=self.n_annotators) for one in flat]
        return np.stack(sums).astype(np.float64).reshape(*centred.shape[:-1], self.n_annotators)

    def noise(self, centred: Floats) -> Floats:
        """(..., rows) values whose squares add up to those of all single psi_ia."""
        return np.asarray(centred * np.sqrt(self._together() * self.times))

    def _together(self) -> Floats:
        """(rows,) factors that make sums of single items into what deleting them together does.

        Without one of I items a mean moves by (mean - x)/(I - 1), without m of them by sum (mean - x)/(I - m). With
        this factor in D_a, and its root in the noise, V_A and V_w are both s^2/I where votes are independent. Items
        that stay: 1.
        """
        alone = self.alone
        who = np.zeros(len(self.item), dtype=np.int64)
        who[self.row] = self.annotator
        taken = np.bincount(who[alone], minlength=self.n_annotators)[who]
        return np.asarray(np.where(alone, (self.n_items - 1) / np.where(alone, self.n_items - taken, 1), 1.0))


def _several(ballots: Ballots, once: Ints, item: Ints, size: Ints, n_labels: int) -> tuple[Ints, Ints]:
    """Distinct (item, votes lost) of people who voted several times on an item, and the place of each of them."""
    pair = np.repeat(np.arange(len(item)), size)
    lost = np.bincount(pair * n_labels + ballots.label[~once], minlength=len(item) * n_labels)
    table = np.concatenate([item[:, None], lost.reshape(len(item), n_labels)], axis=1)
    found, place = np.unique(table, axis=0, return_inverse=True)
    return found, place.reshape(-1)
