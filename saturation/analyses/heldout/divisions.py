"""The votes divided in two: by their pool, or at random again and again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from saturation.errors import UsageError
from saturation.streams import Purpose, uniforms
from saturation.tables.panel import Ballots, Panel, Votes
from saturation.tables.schema import POOLS
from saturation.typing import Ints

NAMES = ("heldout", "train", "all")


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One part of the votes, of some items.

    Attributes
    ----------
    name
        Of ``NAMES``.
    draws
        (draws, items, labels) the votes in it; one draw where it is known which they are.
    sizes
        (items,) how many votes an item has in it.
    whole
        (items, labels) the votes that it was drawn from; None where it is known which they are.
    ballots
        Single votes in it; None without ids, or where they are drawn.
    """

    name: str
    draws: Ints
    sizes: Ints
    whole: Ints | None = None
    ballots: Ballots | None = None

    @property
    def votes(self) -> float:
        """Votes an item, the harmonic mean."""
        return float(1 / np.mean(1 / self.sizes))


@dataclass(frozen=True, slots=True, eq=False)
class Division:
    """All parts, of the items that have votes on both sides.

    Attributes
    ----------
    panel
        With those items only.
    parts
        In the order of ``NAMES``.
    n_left_out
        Predicted items that are left out.
    """

    panel: Panel
    parts: tuple[Part, Part, Part]
    n_left_out: int


def has_pools(votes: Votes) -> bool:
    """Whether the votes say which of them training has seen."""
    return bool(votes.pools)


def divided_by_pools(panel: Panel) -> bool:
    """Whether items of every split have votes in both pools, so that nothing is in the way of :func:`by_pool`."""
    if not has_pools(panel.votes):
        return False
    both = _in_both(panel.votes)
    return all(bool(both[items].any()) for items in panel.items_of_split)


def by_pool(panel: Panel) -> Division:
    """The pools of the votes.

    Raises
    ------
    UsageError
        When no predicted item has votes in both pools.
    """
    panel, n_left_out = _with_items(panel, _in_both(panel.votes), "votes in both pools (column `pool`)")
    votes = panel.votes
    parts = [_pool(votes, name) for name in NAMES[:2]]
    whole = Part("all", votes.counts[None], votes.totals, ballots=votes.ballots)
    return Division(panel, (parts[0], parts[1], whole), n_left_out)


def at_random(panel: Panel, share: float, repeats: int, seed: int) -> Division:
    """Votes held out at random, ``repeats`` times: round(share n), but at least one and not all of an item's n votes.

    Raises
    ------
    UsageError
        When no predicted item has two votes.
    """
    panel, n_left_out = _with_items(panel, panel.votes.totals > 1, "two votes, one to hold out and one to keep")
    votes = panel.votes
    sizes = held_out_sizes(votes.totals, share)
    drawn = drawn_votes(votes.counts, sizes, repeats, seed)
    return Division(
        panel,
        (
            Part("heldout", drawn, sizes, votes.counts),
            Part("train", votes.counts - drawn, votes.totals - sizes, votes.counts),
            Part("all", votes.counts[None], votes.totals),
        ),
        n_left_out,
    )


def held_out_sizes(totals: Ints, share: float) -> Ints:
    """(items,) votes to hold out.

    Examples
    --------
    >>> held_out_sizes(np.array([2, 5, 100]), 0.2).tolist()
    [1, 1, 20]
    """
    return np.asarray(np.clip(np.floor(share * totals + 0.5).astype(np.int64), 1, totals - 1))


def drawn_votes(counts: Ints, sizes: Ints, repeats: int, seed: int) -> Ints:
    """(repeats, items, labels) votes drawn without replacement, ``sizes`` of every item.

    Every vote gets a random number, and those with the smallest are drawn.

    Examples
    --------
    >>> drawn = drawn_votes(np.array([[3, 1], [0, 2]]), np.array([2, 1]), 4, seed=0)
    >>> drawn.sum(axis=2).tolist(), drawn[:, 1].tolist()
    ([[2, 1], [2, 1], [2, 1], [2, 1]], [[0, 1], [0, 1], [0, 1], [0, 1]])
    """
    n_items, n_labels = counts.shape
    totals = counts.sum(axis=1)
    item = np.repeat(np.arange(n_items), totals)
    label = np.repeat(np.tile(np.arange(n_labels), n_items), counts.ravel())
    chosen = np.arange(len(item)) - np.repeat(np.cumsum(totals) - totals, totals) < np.repeat(sizes, totals)
    vote = np.arange(len(item))
    out = np.empty((repeats, n_items, n_labels), dtype=np.int64)
    for repeat in range(repeats):
        order = np.lexsort((uniforms(seed, Purpose.VOTE_SPLITS, np.array(repeat), vote), item))
        code = item * n_labels + label[order]  # the order keeps items together
        out[repeat] = np.bincount(code[chosen], minlength=n_items * n_labels).reshape(n_items, n_labels)
    return out


def shared_people(ballots: Ballots) -> tuple[int, int, int]:
    """People with votes in both pools, with held-out votes, with training votes."""
    assert ballots.pool is not None, "the votes have pools"
    held, train = (np.unique(ballots.annotator[ballots.pool == POOLS.index(name)]) for name in NAMES[:2])
    return len(np.intersect1d(held, train)), len(held), len(train)


def _in_both(votes: Votes) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """(items,) whether there are votes in both pools."""
    train, held = (votes.pools[name].sum(axis=1) > 0 for name in POOLS)
    return np.asarray(train & held, dtype=np.bool_)


def _pool(votes: Votes, name: str) -> Part:
    counts = votes.pools[name]
    ballots = votes.ballots
    own = None if ballots is None or ballots.pool is None else ballots.of_pool(POOLS.index(name))
    return Part(name, counts[None], counts.sum(axis=1), ballots=own)


def _with_items(panel: Panel, kept: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], what: str) -> tuple[Panel, int]:
    """The panel with some of its items, and how many of them are left out."""
    masks = [kept[items] for items in panel.items_of_split]
    if not all(mask.any() for mask in masks):
        empty = ", ".join(split for split, mask in zip(panel.splits, masks, strict=True) if not mask.any())
        raise UsageError(f"no predicted item of split {empty} has {what}; nothing can be held out there")
    ranks = np.unique(np.concatenate([items[m] for items, m in zip(panel.items_of_split, masks, strict=True)]))
    own = panel.votes.take(ranks)
    before = np.unique(np.concatenate(panel.items_of_split))
    made = replace(
        panel,
        votes=own,
        items_of_split=tuple(
            np.searchsorted(ranks, items[m]) for items, m in zip(panel.items_of_split, masks, strict=True)
        ),
        probs=tuple(probs[:, :, m] for probs, m in zip(panel.probs, masks, strict=True)),
    )
    return made, len(before) - len(ranks)
