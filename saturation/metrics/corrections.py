"""The reference is a sample too: scores unbiased for the population, and what a perfect model would score.

``*_corrected`` are per item and may be negative: they are never truncated. Items with one vote are NaN wherever the
spread of the votes matters.
"""

from __future__ import annotations

import numpy as np

from saturation.metrics.common import shares
from saturation.metrics.distance import brier
from saturation.metrics.divergence import DEFAULT_FLOOR, cross_entropy
from saturation.metrics.entropy import entropy, entropy_of_counts
from saturation.metrics.estimators import Estimator, population_entropy, whole_votes
from saturation.typing import Counts, Probs, Scores


def brier_corrected(probs: Probs, counts: Counts) -> Scores:
    """Brier - (1 - sum h^2)/(n - 1): unbiased for sum (p - m)^2 against the population p.

    Parameters
    ----------
    probs
        (..., items, labels) model probabilities.
    counts
        (items, labels) whole votes.

    Returns
    -------
    (..., items); NaN at one vote.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(brier_corrected(np.array([[0.5, 0.5]]), np.array([[3, 1]]))[0]), 12)  # .125 - .375/3
    0.0
    """
    return brier(probs, counts) - brier_floor(counts)


def brier_floor(counts: Counts) -> Scores:
    """Expected brier of a perfect model (m = p) against so few votes: (1 - sum p^2)/n, by (1 - sum h^2)/(n - 1)."""
    votes = whole_votes(counts)
    others = votes.sum(axis=-1) - 1
    spread = 1 - (shares(votes) ** 2).sum(axis=-1)
    return np.asarray(np.divide(spread, others, out=np.full(others.shape, np.nan), where=others > 0))


def brier_vote_floor(counts: Counts) -> Scores:
    """Expected brier_vote of a perfect model, 1 - sum p^2, estimated by the pairwise disagreement."""
    return np.asarray(brier_floor(counts) * np.asarray(counts).sum(axis=-1))


def kl_corrected(
    probs: Probs,
    counts: Counts,
    *,
    floor: float = DEFAULT_FLOOR,
    estimator: Estimator = "auto",
    base: float | None = None,
) -> Scores:
    """CE(h, m) - Hhat(c): estimates KL(p, m), because E KL(h, m) = KL(p, m) + H(p) - E H(h).

    Differences between two models need no correction: Hhat cancels.

    Examples
    --------
    >>> import numpy as np
    >>> c = np.array([[6, 3, 1]])
    >>> float(kl_corrected(c / 10, c)[0]) < 0  # closer to these votes than the population can be expected to be
    True
    """
    return cross_entropy(probs, counts, floor=floor, base=base) - population_entropy(counts, estimator, base=base)


def kl_floor(counts: Counts, *, estimator: Estimator = "auto", base: float | None = None) -> Scores:
    """Expected kl of a perfect model against so few votes, Hhat(c) - H(h)."""
    return population_entropy(counts, estimator, base=base) - entropy_of_counts(counts, base=base)


def entropy_bias_corrected(
    probs: Probs, counts: Counts, *, estimator: Estimator = "auto", base: float | None = None
) -> Scores:
    """H(m) - Hhat(c): estimates H(m) - H(p)."""
    return entropy(probs, base=base) - population_entropy(counts, estimator, base=base)
