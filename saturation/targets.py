"""Training targets built from votes: arrays in, rows on the simplex out.

Draw the votes first (without replacement, nested over budgets); here they only become targets, under the same rules
for ties and the same base rate as in scoring. ``hard``, ``smoothing`` and ``temperature`` (a hard target whose logits
are divided later) cost the votes that their majority was taken from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from saturation.errors import UsageError
from saturation.metrics import agreement
from saturation.metrics.common import shares
from saturation.metrics.majority import majority_credit
from saturation.metrics.metric import Human
from saturation.resampling.draw import subsample
from saturation.typing import Counts, Floats, Ints, TieRule

SMOOTHING_STRENGTHS = (0.05, 0.1, 0.2, 0.3, 0.4)
"""The default grid of smoothing strengths."""


@dataclass(frozen=True, slots=True, eq=False)
class BaseRatePrior:
    """How often each label occurs, and how many votes that knowledge is worth; fitted on training items.

    Attributes
    ----------
    distribution
        (labels,) pi, the mean label distribution.
    strength
        A = rho / (1 - rho); infinite where annotators agree no more than by chance.
    """

    distribution: Floats
    strength: float


def hard(
    counts: Counts,
    *,
    ties: TieRule = "share",
    seed: int = 0,
    majority: Ints | None = None,
    items: Ints | None = None,
) -> Floats:
    """One-hot majority label; a tie goes by rule.

    Parameters
    ----------
    counts
        (items, labels) votes.
    ties
        ``first`` or ``last`` mode in label order, ``random`` mode by ``seed`` and item, ``share``: equal mass on every
        mode, ``column``: the published label. (``any`` can score but cannot train.)
    majority
        (items,) published label indices for ``column``.
    items
        (items,) canonical ranks for ``random``; None means 0, 1, ...

    Returns
    -------
    (items, labels) rows on the simplex.

    Raises
    ------
    UsageError
        For another rule, an item without votes, or ``column`` without a label for every item.

    Examples
    --------
    >>> import numpy as np
    >>> hard(np.array([[2, 2, 1]])).tolist(), hard(np.array([[2, 2, 1]]), ties="last").tolist()
    ([[0.5, 0.5, 0.0]], [[0.0, 1.0, 0.0]])
    """
    votes = _voted(counts)
    if ties == "any":
        raise UsageError("a hard target needs ties first, last, random, share or column, not 'any'")
    if ties == "column" and (majority is None or len(majority) != len(votes) or (majority < 0).any()):
        raise UsageError("ties 'column' needs a published majority_label for every item; choose another rule")
    return majority_credit(Human(votes, majority=majority, items=items), ties=ties, seed=seed)


def smoothing(hard_targets: Floats, strength: float) -> Floats:
    """Label smoothing of hard targets, (1 - e) target + e / K (Szegedy et al. 2016).

    Examples
    --------
    >>> import numpy as np
    >>> smoothing(np.array([[1.0, 0.0]]), 0.2).tolist()
    [[0.9, 0.1]]
    """
    if not 0 <= strength <= 1:
        raise UsageError(f"smoothing strength must lie in [0, 1], not {strength}")
    return np.asarray((1 - strength) * hard_targets + strength / hard_targets.shape[-1])


def soft(counts: Counts) -> Floats:
    """Shares of the votes drawn, c / N.

    Examples
    --------
    >>> import numpy as np
    >>> soft(np.array([[3, 1]])).tolist()
    [[0.75, 0.25]]
    """
    return shares(_voted(counts))


def dirichlet(counts: Counts, *, alpha: float | None = None, prior: BaseRatePrior | None = None) -> Floats:
    """Posterior mean of a Dirichlet prior: (c + a)/(N + K a), or (c + A pi)/(N + A) with a fitted prior.

    Parameters
    ----------
    counts
        (items, labels) votes; items without votes get the prior's mean.
    alpha
        Votes added to each label; None means 1/K.
    prior
        A base-rate prior instead of ``alpha``, see ``fit_base_rate``.

    Returns
    -------
    (items, labels) rows on the simplex.

    Raises
    ------
    UsageError
        When both are given, or alpha is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> dirichlet(np.array([[1, 0]])).tolist()  # (1 + 1/2)/2
    [[0.75, 0.25]]
    >>> dirichlet(np.array([[1, 0]]), prior=BaseRatePrior(np.array([0.2, 0.8]), 1.0)).tolist()
    [[0.6, 0.4]]
    """
    votes = np.asarray(counts, dtype=np.float64)
    if prior is None:
        added = np.full(votes.shape[-1], 1 / votes.shape[-1] if alpha is None else alpha)
        if not 0 < added[0] < math.inf:
            raise UsageError(f"alpha must be a positive number of votes per label, not {alpha}")
    elif alpha is not None:
        raise UsageError("a Dirichlet target takes alpha or a base-rate prior, not both")
    elif math.isinf(prior.strength):
        return base_rate(prior, len(votes))
    else:
        added = prior.strength * prior.distribution
    total = votes + added
    return np.asarray(total / total.sum(axis=-1, keepdims=True))


def base_rate(prior: BaseRatePrior, n_items: int) -> Floats:
    """The base rate pi for every item: (items, labels)."""
    return np.tile(prior.distribution, (n_items, 1))


def fit_base_rate(counts: Counts) -> BaseRatePrior:
    """Base rate and its worth in votes, from training items.

    pi is the mean label distribution; rho = mean pairwise disagreement / (1 - sum pi^2); A = rho / (1 - rho).
    Pairwise disagreement is unbiased at any number of votes from two on; items with one vote count for pi only.

    Parameters
    ----------
    counts
        (items, labels) whole votes of the training items.

    Raises
    ------
    UsageError
        When votes carry weights, no item has two votes or only one label occurs: nothing says what pi is worth.

    Examples
    --------
    >>> import numpy as np
    >>> prior = fit_base_rate(np.array([[3, 0], [0, 3], [2, 1], [1, 2]]))  # disagreement 1/3, chance 1/2: rho 2/3
    >>> round(prior.strength, 12)
    2.0
    """
    fitted = agreement.base_rate(_voted(counts))
    if math.isnan(fitted.rho):
        raise UsageError("a base-rate prior needs items with two votes or more, and more than one label in use")
    return BaseRatePrior(fitted.distribution, fitted.strength)


def draw_votes(counts: Counts, budgets: Sequence[int], seed: int = 0) -> dict[int, Ints]:
    """N votes of every item without replacement, nested: a larger budget holds the votes of the smaller ones.

    Parameters
    ----------
    counts
        (items, labels) whole votes; every item needs as many as the largest budget.
    budgets
        Votes an item.
    seed
        Which draw; the same seed gives the same votes to every method.

    Returns
    -------
    Budget -> (items, labels) counts.

    Raises
    ------
    UsageError
        When an item has too few votes, or votes are not whole.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = draw_votes(np.array([[3, 1], [2, 2]]), (1, 4))
    >>> drawn[1].sum(axis=1).tolist(), drawn[4].tolist()
    ([1, 1], [[3, 1], [2, 2]])
    """
    ordered = tuple(sorted(set(budgets)))
    drawn = subsample(seed, 0, 1, counts, ordered, threads=1).targets[0]
    return dict(zip(ordered, drawn, strict=True))


def _voted(counts: Counts) -> Floats:
    votes = np.asarray(counts, dtype=np.float64)
    empty = int((votes.sum(axis=-1) <= 0).sum())
    if empty:
        raise UsageError(f"{empty} items have no votes, so no target can be built for them; leave them out")
    return votes
