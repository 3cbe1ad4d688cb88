"""How far annotators agree with each other: pairwise disagreement, Krippendorff's alpha, the base-rate prior."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from saturation.metrics.common import shares
from saturation.metrics.estimators import whole_votes
from saturation.typing import Counts, Floats, Scores


class BaseRate(NamedTuple):
    """A Dirichlet prior fitted to votes.

    Attributes
    ----------
    distribution
        (labels,) pi, the mean label distribution.
    rho
        Mean pairwise disagreement over that of pi, = 1 - alpha; NaN where undefined.
    strength
        A = rho / (1 - rho): the votes that pi is worth. Infinite where annotators agree no more than by chance.
    """

    distribution: Floats
    rho: float
    strength: float


def pairwise_disagreement(counts: Counts) -> Scores:
    """Chance that two different annotators of an item disagree, 1 - sum c (c - 1) / (n (n - 1)).

    Unbiased for 1 - sum p^2 at every n >= 2; NaN below. Range [0, 1].

    Parameters
    ----------
    counts
        (..., items, labels) whole votes.

    Returns
    -------
    (..., items)

    Examples
    --------
    >>> import numpy as np
    >>> pairwise_disagreement(np.array([[1, 1], [4, 0], [1, 0]])).tolist()
    [1.0, 0.0, nan]
    """
    votes = whole_votes(counts)
    n = votes.sum(axis=-1)
    pairs = n * (n - 1)
    agreeing = (votes * (votes - 1)).sum(axis=-1)
    share = np.divide(agreeing, pairs, out=np.full(n.shape, np.nan), where=pairs > 0)
    return np.asarray(1 - share)


def base_rate(counts: Counts) -> BaseRate:
    """The base rate pi and how many votes it is worth, from the items' mean disagreement.

    rho = mean pairwise disagreement / (1 - sum pi^2), A = rho / (1 - rho). Items with one vote count for pi only.

    Examples
    --------
    >>> import numpy as np
    >>> prior = base_rate(np.array([[2, 0], [0, 2], [1, 1], [1, 1]]))  # mean disagreement 1/2, chance 1/2
    >>> prior.rho, prior.strength
    (1.0, inf)
    """
    distribution = shares(counts).mean(axis=-2)
    by_chance = 1 - float((distribution**2).sum())
    disagreement = pairwise_disagreement(counts)
    known = disagreement[np.isfinite(disagreement)]
    if not len(known) or by_chance <= 0:
        return BaseRate(distribution, math.nan, math.nan)
    rho = float(known.mean()) / by_chance
    return BaseRate(distribution, rho, rho / (1 - rho) if rho < 1 else math.inf)


def krippendorff_alpha(counts: Counts) -> float:
    """Krippendorff's alpha (2011) for nominal labels, 1 - mean pairwise disagreement / (1 - sum pi^2).

    Items weigh equally; 1 is perfect agreement, 0 chance. NaN where only one label occurs or no item has two votes.

    Examples
    --------
    >>> import numpy as np
    >>> krippendorff_alpha(np.array([[2, 0], [0, 2]]))
    1.0
    """
    return 1 - base_rate(counts).rho
