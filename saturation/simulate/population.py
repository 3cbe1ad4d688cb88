"""The population that simulated studies are drawn from: items of two sources and annotators with habits.

An item has a distribution ``softmax(u)`` that a careful reader would vote from; sources differ in how peaked it is.
An annotator votes carelessly with a probability of their own, and then names their favourite label whatever the
item says. So votes of one annotator are dependent across items, and a vote of a fresh annotator on item i has the
closed-form distribution ``p_i = (1 - w) softmax(u_i) + w r`` (w: mean carelessness, r: distribution of favourites).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from saturation.simulate.draws import Kind, normal, order, uniform
from saturation.typing import Floats, Ints

LABELS = ("yes", "maybe", "no")
SOURCES = ("captions", "speech")
SPREAD = np.array([2.6, 1.3])
"""Standard deviation of ``u`` per source: captions are clear, speech is not."""
LEAN = np.array([0.5, -0.3, 0.2])
FAVOURITES = np.array([0.3, 0.5, 0.2])
CARELESS_SHARE = 0.2
CARELESS = 0.45
CAREFUL = 0.03
MEAN_CARELESSNESS = CARELESS_SHARE * CARELESS + (1 - CARELESS_SHARE) * CAREFUL


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Items of the population.

    Attributes
    ----------
    source
        (items,) index into ``SOURCES``.
    careful
        (items, labels) what a careful reader votes from.
    probs
        (items, labels) what a fresh annotator's vote is drawn from.
    """

    source: Ints
    careful: Floats
    probs: Floats

    def take(self, ranks: NDArray[np.integer]) -> Items:
        """Some of the items."""
        return Items(self.source[ranks], self.careful[ranks], self.probs[ranks])


def draw_items(seed: int, ranks: NDArray[np.integer]) -> Items:
    """Items ``ranks`` of the sequence that belongs to a seed; each is an independent draw from the population."""
    source = (uniform(seed, Kind.SOURCE, ranks, 1)[:, 0] < 0.5).astype(np.int64)
    leaning = LEAN + SPREAD[source][:, None] * normal(seed, Kind.LEANING, ranks, len(LABELS))
    careful = np.asarray(softmax(leaning, axis=1), dtype=np.float64)
    return Items(source, careful, (1 - MEAN_CARELESSNESS) * careful + MEAN_CARELESSNESS * FAVOURITES)


@dataclass(frozen=True, slots=True, eq=False)
class SingleVotes:
    """(items, votes) who voted and for what."""

    annotator: Ints
    label: Ints


def cast_votes(seed: int, items: Items, n_votes: int, n_annotators: int) -> SingleVotes:
    """Votes of one crowd of ``n_annotators`` people, ``n_votes`` different ones of them on each item."""
    people = np.arange(n_annotators)
    is_careless = uniform(seed, Kind.CARELESS, people, 1)[:, 0] < CARELESS_SHARE
    carelessness = np.where(is_careless, CARELESS, CAREFUL)
    favourite = _pick(
        np.broadcast_to(FAVOURITES, (n_annotators, len(LABELS))), uniform(seed, Kind.FAVOURITE, people, 1)
    )
    ranks = np.arange(len(items.source))
    annotator = np.sort(order(seed, Kind.ASSIGNMENT, ranks, n_annotators)[:, :n_votes], axis=1)
    chance = uniform(seed, Kind.VOTE, ranks, 2 * n_votes)
    read = _pick(items.careful, chance[:, :n_votes])
    habit = favourite[annotator, 0]
    return SingleVotes(annotator, np.where(chance[:, n_votes:] < carelessness[annotator], habit, read))


def fresh_counts(seed: int, items: Items, ranks: NDArray[np.integer], n_votes: int) -> Ints:
    """(items, labels) counts of ``n_votes`` votes, each by an annotator who votes nowhere else."""
    label = _pick(items.probs, uniform(seed, Kind.CROWD, ranks, n_votes))
    return count_labels(label)


def count_labels(label: Ints) -> Ints:
    """(items, labels) counts of an (items, votes) array of label indices."""
    return np.stack([(label == k).sum(axis=1) for k in range(len(LABELS))], axis=1)


def _pick(probs: Floats, chance: Floats) -> Ints:
    """Label indices drawn by inversion: probs (rows, labels), chance (rows, draws) -> (rows, draws)."""
    edges = np.cumsum(probs, axis=1)[:, :-1]
    return np.asarray((chance[:, :, None] >= edges[:, None, :]).sum(axis=2), dtype=np.int64)
