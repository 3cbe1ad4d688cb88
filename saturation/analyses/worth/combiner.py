"""How the votes of a crowd become one distribution: (c + A pi) / (N + A), with a prior from the other items.

An item's own votes never enter the prior that its crowd is combined with: fitted on all items, the prior would know a
little of the very votes that the crowd is scored against, which flatters small crowds. Metrics that compare items with
each other need one prior for all, because a prior without item i tells item i apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from saturation.metrics.agreement import base_rate, pairwise_disagreement
from saturation.metrics.common import shares
from saturation.typing import Counts, Floats, Ints

CERTAIN = 1e12
"""What an infinite A counts as: votes that do not move the base rate."""
NO_PRIOR = "no base-rate prior: it needs items with two votes or more, and more than one label in use"


@dataclass(frozen=True, slots=True, eq=False)
class Combiner:
    """A prior for every item.

    Attributes
    ----------
    base
        (items, labels) pi.
    strength
        (items,) A, the votes that pi is worth; at most ``CERTAIN``.
    """

    base: Floats
    strength: Floats

    def combine(self, drawn: Ints | Floats, size: int) -> Floats:
        """(..., items, labels) distributions of crowds of ``size``; of nobody, the base rate."""
        if size == 0:
            return np.broadcast_to(self.base, np.shape(drawn))
        return np.asarray((drawn + self.added) / (size + self.strength[:, None]))

    @property
    def added(self) -> Floats:
        """(items, labels) votes that the prior adds, A pi."""
        return np.asarray(self.strength[:, None] * self.base)

    def take(self, items: Ints) -> Combiner:
        """The same for some items."""
        return Combiner(self.base[items], self.strength[items])


def shared_prior(counts: Counts) -> Combiner | None:
    """The prior fitted on all items, the same for each; None where nothing can be fitted.

    Examples
    --------
    >>> prior = shared_prior(np.array([[3, 0], [0, 3], [2, 1], [1, 2]]))  # rho 2/3
    >>> prior.base[0].round(12).tolist(), prior.strength.round(12).tolist()
    ([0.5, 0.5], [2.0, 2.0, 2.0, 2.0])
    """
    fitted = base_rate(counts)
    if math.isnan(fitted.rho):
        return None
    n_items = len(counts)
    return Combiner(np.tile(fitted.distribution, (n_items, 1)), np.full(n_items, min(fitted.strength, CERTAIN)))


def other_items_prior(counts: Counts) -> Combiner | None:
    """For each item the prior fitted on all others; None where that cannot be done for every item.

    Examples
    --------
    >>> counts = np.array([[2, 0], [0, 2], [1, 1], [1, 1]])
    >>> prior = other_items_prior(counts)
    >>> prior.base[0].round(4).tolist()  # mean of (0, 1), (.5, .5), (.5, .5)
    [0.3333, 0.6667]
    """
    n_items = len(counts)
    if n_items < 3 or shared_prior(counts) is None:
        return None
    own = shares(counts)
    base = (own.sum(axis=0) - own) / (n_items - 1)
    by_chance = 1 - (base**2).sum(axis=1)
    disagreement = pairwise_disagreement(counts)
    known = np.isfinite(disagreement)
    seen = np.where(known, disagreement, 0.0)
    others = known.sum() - known
    if others.min() < 1 or by_chance.min() <= 1e-12:
        return None
    rho = (seen.sum() - seen) / others / by_chance
    strength = np.divide(rho, 1 - rho, out=np.full(n_items, CERTAIN), where=rho < 1)
    return Combiner(np.clip(base, 0.0, 1.0), np.clip(strength, 0.0, CERTAIN))
