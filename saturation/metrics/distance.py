"""Distances between two label distributions without logarithms; each ``*_term`` is one label's share."""

from __future__ import annotations

import numpy as np

from saturation.metrics.common import shares
from saturation.typing import Counts, Floats, Probs, Scores


def tvd(probs: Probs, counts: Counts) -> Scores:
    """Total variation distance 1/2 sum abs(h - m), the DistCE of Baan et al. (2022); lower is better, order 1.

    Range [0, 1].

    Parameters
    ----------
    probs
        (..., items, labels) model probabilities m.
    counts
        (items, labels) votes; h = counts / row sums.

    Returns
    -------
    (..., items)

    Examples
    --------
    >>> import numpy as np
    >>> tvd(np.array([[0.25, 0.75]]), np.array([[3, 1]])).tolist()
    [0.5]
    """
    return np.asarray(tvd_term(probs, shares(counts)).sum(axis=-1))


def manhattan(probs: Probs, counts: Counts) -> Scores:
    """L1 distance sum abs(h - m) = 2 tvd; lower is better, order 1, range [0, 2].

    Examples
    --------
    >>> import numpy as np
    >>> manhattan(np.array([[0.25, 0.75]]), np.array([[3, 1]])).tolist()
    [1.0]
    """
    return np.asarray(manhattan_term(probs, shares(counts)).sum(axis=-1))


def soft_accuracy(probs: Probs, counts: Counts) -> Scores:
    """Overlap sum min(h, m) = 1 - tvd; higher is better, order 1, range [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> soft_accuracy(np.array([[0.25, 0.75]]), np.array([[3, 1]])).tolist()
    [0.5]
    """
    return np.asarray(soft_accuracy_term(probs, shares(counts)).sum(axis=-1))


def squared_hellinger(probs: Probs, counts: Counts) -> Scores:
    """Squared Hellinger distance 1/2 sum (sqrt h - sqrt m)^2; lower is better, order 2, range [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> squared_hellinger(np.array([[0.0, 1.0]]), np.array([[2, 0]])).tolist()
    [1.0]
    """
    return np.asarray(squared_hellinger_term(probs, shares(counts)).sum(axis=-1))


def hellinger(probs: Probs, counts: Counts) -> Scores:
    """Hellinger distance, the root of ``squared_hellinger`` of every item; lower is better, order 1, range [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> hellinger(np.array([[0.0, 1.0]]), np.array([[2, 0]])).tolist()
    [1.0]
    """
    return np.sqrt(squared_hellinger(probs, counts))


def brier(probs: Probs, counts: Counts) -> Scores:
    """Squared error against the label distribution, sum (h - m)^2 ("Brier-soft"); lower is better, order 2.

    Range [0, 2]: summed over labels, not averaged.

    Examples
    --------
    >>> import numpy as np
    >>> brier(np.array([[0.25, 0.75]]), np.array([[3, 1]])).tolist()
    [0.5]
    """
    return np.asarray(brier_term(probs, shares(counts)).sum(axis=-1))


def brier_vote(probs: Probs, counts: Counts) -> Scores:
    """Expected Brier score (Brier 1950) against one vote, brier + (1 - sum h^2); lower is better, order 2.

    Range [0, 2]. Linear in h, so unbiased at any number of votes.

    Examples
    --------
    >>> import numpy as np
    >>> brier_vote(np.array([[0.25, 0.75]]), np.array([[3, 1]])).tolist()  # .5 + 1 - .5625 - .0625
    [0.875]
    """
    return np.asarray(brier_vote_term(probs, shares(counts)).sum(axis=-1))


def wasserstein(probs: Probs, counts: Counts) -> Scores:
    """Earth mover's distance over ordered labels one step apart, sum abs(CDF difference); lower is better, order 1.

    Range [0, K - 1]. Means something only where the labels are ordinal and listed in their order.

    Examples
    --------
    >>> import numpy as np
    >>> wasserstein(np.array([[0.0, 0.0, 1.0]]), np.array([[4, 0, 0]])).tolist()
    [2.0]
    """
    below_model = np.cumsum(probs, axis=-1)[..., :-1]
    below_human = np.cumsum(shares(counts), axis=-1)[..., :-1]
    return np.asarray(manhattan_term(below_model, below_human).sum(axis=-1))


def tvd_term(model: Floats, human: Floats) -> Floats:
    """One label's share of ``tvd``."""
    return np.abs(human - model) / 2


def manhattan_term(model: Floats, human: Floats) -> Floats:
    """One label's share of ``manhattan``; of ``wasserstein`` on cumulative shares."""
    return np.abs(human - model)


def soft_accuracy_term(model: Floats, human: Floats) -> Floats:
    """One label's share of ``soft_accuracy``."""
    return np.minimum(human, model)


def squared_hellinger_term(model: Floats, human: Floats) -> Floats:
    """One label's share of ``squared_hellinger``."""
    return (np.sqrt(human) - np.sqrt(model)) ** 2 / 2


def brier_term(model: Floats, human: Floats) -> Floats:
    """One label's share of ``brier``."""
    return (human - model) ** 2


def brier_vote_term(model: Floats, human: Floats) -> Floats:
    """One label's share of ``brier_vote``: m^2 - 2 h m + h, because the shares h sum to 1."""
    return model**2 - 2 * human * model + human
