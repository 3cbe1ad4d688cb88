"""The law of an item's label distribution that a pilot suggests: a Dirichlet given what is known of the item.

A model's forecasts tell items apart, so that the law of p_i is taken given the forecasts: Dirichlet(A q_i) with
q_i = softmax(b + sum_s t_s ln m_is), where b, t and A maximise the likelihood of the pilot's votes (Dirichlet
multinomial). Draws of p_i given the item's votes too then vary with the forecasts as the true ones do, whatever few
votes there are; without the forecasts in it, a law given the votes alone would make models look worse than they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from saturation.metrics.agreement import BaseRate
from saturation.typing import Floats, Ints

_LEAST_PROBABILITY = 1e-6
_LOG_STRENGTH = (-4.0, 9.0)
_WIDEST_BIAS, _STEEPEST = 15.0, 5.0


def given_votes(counts: Ints, prior: BaseRate) -> Floats:
    """(items, labels) Dirichlet parameters c_i + A pi; infinite where annotators agree no more than by chance."""
    if np.isinf(prior.strength):
        return np.where(prior.distribution > 0, np.inf, 0.0) * np.ones(counts.shape)
    strength = 0.0 if np.isnan(prior.strength) else prior.strength
    return np.asarray(counts + strength * prior.distribution, dtype=np.float64)


def given_forecasts(counts: Ints, forecasts: Floats) -> Floats:
    """(items, labels) Dirichlet parameters c_i + A q_i.

    Parameters
    ----------
    counts
        (items, labels) the pilot's votes.
    forecasts
        (models, items, labels) probabilities.

    Examples
    --------
    >>> counts = np.array([[3, 1], [1, 3], [4, 0], [0, 4]] * 20)
    >>> m = np.array([[0.7, 0.3], [0.3, 0.7], [0.9, 0.1], [0.1, 0.9]] * 20)
    >>> a = given_forecasts(counts, m[None]) - counts
    >>> bool(a[0, 0] > a[0, 1]), bool(a[2, 0] / a[2].sum() > a[0, 0] / a[0].sum())
    (True, True)
    """
    from scipy.optimize import minimize

    problem = _Problem(counts.astype(np.float64), np.log(np.maximum(forecasts, _LEAST_PROBABILITY)))
    n_models, n_labels = len(forecasts), counts.shape[1]
    start = np.concatenate([[np.log(5.0)], np.full(n_models, 1 / n_models), np.zeros(n_labels)])
    bounds = [_LOG_STRENGTH, *[(-_STEEPEST, _STEEPEST)] * n_models, *[(-_WIDEST_BIAS, _WIDEST_BIAS)] * n_labels]
    found = minimize(problem.loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return problem.parameters(np.asarray(found.x, dtype=np.float64)) + counts


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """Votes (items, labels) and log forecasts (models, items, labels)."""

    counts: Floats
    logs: Floats

    def parameters(self, theta: Floats) -> Floats:
        """(items, labels) A q_i."""
        return np.asarray(np.exp(theta[0]) * self._means(theta))

    def loss(self, theta: Floats) -> tuple[float, Floats]:
        """Minus the mean log likelihood of an item's votes, and its gradient."""
        strength, q = float(np.exp(theta[0])), self._means(theta)
        a, n, size = strength * q, self.counts.sum(axis=1), len(self.counts)
        whole = special.gammaln(strength) - special.gammaln(strength + n)
        parts = special.gammaln(self.counts + a) - special.gammaln(a)
        slopes = special.digamma(self.counts + a) - special.digamma(a)
        common = special.digamma(strength) - special.digamma(strength + n)
        average = (q * slopes).sum(axis=1)
        of_scores = a * (slopes - average[:, None])
        gradient = np.concatenate(
            [
                [strength * (common + average).sum()],
                [(of_scores * one).sum() for one in self.logs],
                of_scores.sum(axis=0),
            ]
        )
        return -float(whole.sum() + parts.sum()) / size, -gradient / size

    def _means(self, theta: Floats) -> Floats:
        n_models = len(self.logs)
        scores = theta[1 + n_models :] + sum(t * one for t, one in zip(theta[1 : 1 + n_models], self.logs, strict=True))
        q = np.asarray(special.softmax(scores, axis=1), dtype=np.float64)
        return np.maximum(q, _LEAST_PROBABILITY**2)
