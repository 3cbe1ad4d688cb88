"""Laws of item distributions, many side by side: finite mixtures of Dirichlets, single points included.

An item's distribution p is drawn from component g with weight w_g: a Dirichlet with mean pi_g and concentration A_g;
A_g infinite is the point pi_g (the item's votes are then multinomial).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from saturation.populations.steps import Steps
from saturation.typing import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Laws:
    """Mixtures of Dirichlets.

    Attributes
    ----------
    weights
        (..., components), rows summing to 1.
    means
        (..., components, labels), rows summing to 1.
    spreads
        (..., components) 1/A: 0 is a point, large means nearly one label an item.
    """

    weights: Floats
    means: Floats
    spreads: Floats

    def take(self, which: slice) -> Laws:
        """Some of the laws, by their first axis."""
        return Laws(self.weights[which], self.means[which], self.spreads[which])


def row_likelihoods(laws: Laws, steps: Steps) -> Floats:
    """(..., components, rows) log probability of the votes of each distinct row, in the order they were cast.

    Without the number of orders, n! / prod c_k!, which no law depends on. ``laws.means`` has the used labels only.
    """
    with np.errstate(divide="ignore"):
        up = np.log(np.take(laws.means, steps.step_label, axis=-1) + laws.spreads[..., None] * steps.step_number)
        down = np.log1p(laws.spreads[..., None] * np.arange(int(steps.totals.max(initial=1))))
    return steps.of_rows(up, down)


def mixed(log_values: Floats, weights: Floats) -> Floats:
    """Log of sum_g w_g exp(value_g) over the components: (..., components, rows), (..., components) -> (..., rows)."""
    with np.errstate(divide="ignore"):
        own = log_values + np.log(weights)[..., None]
    top = own.max(axis=-2, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(own - top).sum(axis=-2)) + top[..., 0, :])


def orders(counts: Floats) -> Floats:
    """(rows,) ln of the number of orders in which counts (rows, labels) can be cast: ln n! - sum ln c_k!."""
    return np.asarray(gammaln(counts.sum(axis=-1) + 1.0) - gammaln(counts + 1.0).sum(axis=-1))


def beta_binomial(means: Floats, spreads: Floats, votes: int) -> Floats:
    """(..., votes + 1) probability of s of ``votes`` votes for a label whose share is Beta with that mean and spread.

    Parameters
    ----------
    means, spreads
        Broadcast against each other; spread 1/A, 0 for a binomial.

    Examples
    --------
    A uniform share makes every count equally likely.

    >>> beta_binomial(np.array([0.5]), np.array([0.5]), 3).round(6).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """
    j = np.arange(votes)
    shape = np.broadcast_shapes(np.shape(means), np.shape(spreads))
    mean, spread = np.broadcast_to(means, shape)[..., None], np.broadcast_to(spreads, shape)[..., None]
    with np.errstate(divide="ignore"):
        up, rest = (_rising(np.log(share + spread * j)) for share in (mean, np.maximum(1.0 - mean, 0.0)))
        down = np.log1p(spread * j).sum(axis=-1, keepdims=True)
    s = np.arange(votes + 1)
    log_choose = gammaln(votes + 1.0) - gammaln(s + 1.0) - gammaln(votes - s + 1.0)
    return np.asarray(np.exp(up + rest[..., ::-1] - down + log_choose))


def _rising(logs: Floats) -> Floats:
    """Cumulated logs, beginning with the empty product."""
    return np.concatenate([np.zeros((*logs.shape[:-1], 1)), np.cumsum(logs, axis=-1)], axis=-1)
