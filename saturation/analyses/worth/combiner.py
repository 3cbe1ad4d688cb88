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


def prior_influence(counts: Counts) -> Floats:
    """How much each item moves the shared prior's a = A pi: (items, labels) influence values, whose mean is 0.

    With D the pairwise disagreement, S = sum pi^2 and rho = mean D / (1 - S): pi moves by h_i - pi, rho by
    [(D_i - mean D) + 2 rho sum pi (h_i - pi)] / (1 - S), and A = rho / (1 - rho) by that over (1 - rho)^2. Zero where
    A is not finite.

    Examples
    --------
    The derivative by the weight of the first of four items, times four:

    >>> counts = np.array([[3, 0], [0, 3], [2, 1], [1, 2]])
    >>> prior_influence(counts)[0].round(6).tolist()  # A falls by 6, pi shifts by 1/2
    [-2.0, -4.0]
    """
    fitted, own = base_rate(counts), shares(counts)
    if not math.isfinite(fitted.strength):
        return np.zeros(own.shape)
    pi, rho = fitted.distribution, fitted.rho
    by_chance = 1 - float((pi**2).sum())
    disagreement = pairwise_disagreement(counts)
    known = np.isfinite(disagreement)
    of_pairs = np.where(known, disagreement - disagreement[known].mean(), 0.0) * len(counts) / known.sum()
    shifted = own - pi
    moved = (of_pairs + 2 * rho * (pi * shifted).sum(axis=1)) / by_chance / (1 - rho) ** 2
    return np.asarray(moved[:, None] * pi + fitted.strength * shifted)
