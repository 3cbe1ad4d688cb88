"""A crowd of N of an item's votes scored against one of its other votes, averaged over every choice of both: exact.

Which N and which one is left out are independent of nothing but the item's votes, so the vote left out has label k with
probability c_k / n, and given that, the number d of label-k votes among the N is hypergeometric: N of the n - 1 others,
c_k - 1 of them label k. Both scores need no other law.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from saturation.analyses.worth.combiner import Combiner
from saturation.metrics.common import in_base, shares
from saturation.metrics.distance import brier_vote
from saturation.metrics.divergence import cross_entropy
from saturation.metrics.entropy import entropy_of_counts
from saturation.metrics.metric import Metric
from saturation.metrics.spec import split_spec
from saturation.resampling.exact_laws import marginal
from saturation.typing import Floats, Ints, Scores

_CELLS_AT_ONCE = 1 << 22

CrowdScore = Callable[[Ints, Combiner, int], Scores]
"""(counts, combiner, N) -> (items,) expected score; NaN for items that have no vote left over."""


def crowd_cross_entropy(counts: Ints, combiner: Combiner, size: int) -> Scores:
    """Expected log loss of a crowd of N against another vote of the item, in nats; lower is better.

    Parameters
    ----------
    counts
        (items, labels) whole votes.
    combiner
        Of these items.
    size
        N.

    Returns
    -------
    (items,) - sum_k c_k/n E ln((d_k + A pi_k)/(N + A)), d_k ~ Hypergeometric(n - 1, c_k - 1, N); NaN where n < N + 1,
    infinite where a label with votes has neither prior nor drawn votes.

    Examples
    --------
    One of the votes (1, 1) against the other, pi = (1/2, 1/2), A = 2: always a label that the crowd did not name.

    >>> even = Combiner(np.array([[0.5, 0.5]]), np.array([2.0]))
    >>> round(float(crowd_cross_entropy(np.array([[1, 1]]), even, 1)[0]), 6)  # ln 3
    1.098612
    """
    totals = counts.sum(axis=1)
    if size == 0:
        found = cross_entropy(combiner.base, counts, floor=0.0)
        return np.where(totals > 0, found, np.nan)
    item, label = np.nonzero((counts > 0) & (totals > size)[:, None])
    share = np.divide(counts, totals[:, None], out=np.zeros(counts.shape), where=totals[:, None] > 0)
    out = np.zeros(len(counts))
    rows = max(1, _CELLS_AT_ONCE // (size + 1))
    for start in range(0, len(item), rows):
        i, k = item[start : start + rows], label[start : start + rows]
        loss = share[i, k] * _expected_log_loss(
            totals[i], counts[i, k], combiner.added[i, k], combiner.strength[i], size
        )
        np.add.at(out, i, loss)
    return np.where(totals > size, out, np.nan)


def _expected_log_loss(totals: Ints, counts: Ints, added: Floats, strength: Floats, size: int) -> Floats:
    wide = int(totals.max(initial=0)) + 1
    distinct, which = np.unique(totals * wide + counts, return_inverse=True)
    law = marginal(distinct // wide - 1, distinct % wide - 1, size, replace=False)[which]
    with np.errstate(divide="ignore"):
        loss = np.log(size + strength)[:, None] - np.log(np.arange(size + 1) + added[:, None])
    return np.asarray((law * np.where(law > 0, loss, 0.0)).sum(axis=1))


def crowd_brier_vote(counts: Ints, combiner: Combiner, size: int) -> Scores:
    """Expected Brier score of a crowd of N against another vote of the item; lower is better, range [0, 2].

    sum_k E t_k^2 - 2 sum_k c_k/n E[t_k | the vote is k] + 1 with t = (d + A pi)/(N + A), in closed form: d has mean
    N c/n and variance N c/n (1 - c/n) (n - N)/(n - 1), and given that the vote is k, mean N (c_k - 1)/(n - 1).

    Examples
    --------
    One of the votes (1, 1) against the other, pi = (1/2, 1/2), A = 2: t = (2/3, 1/3), 4/9 + 4/9.

    >>> even = Combiner(np.array([[0.5, 0.5]]), np.array([2.0]))
    >>> round(float(crowd_brier_vote(np.array([[1, 1]]), even, 1)[0]), 6)
    0.888889
    """
    totals = counts.sum(axis=1)
    if size == 0:
        return np.where(totals > 0, brier_vote(combiner.base, counts), np.nan)
    n = np.where(totals > size, totals, size + 1).astype(np.float64)[:, None]
    share, added = counts / n, combiner.added
    whole = size + combiner.strength
    mean = size * share + added
    variance = size * share * (1 - share) * (n - size) / (n - 1)
    hit = share * (size * (counts - 1) / (n - 1) + added)
    score = (mean**2 + variance).sum(axis=1) / whole**2 - 2 * hit.sum(axis=1) / whole + 1
    return np.where(totals > size, score, np.nan)


def with_all_others(score: CrowdScore, counts: Ints, combiner: Combiner) -> Scores:
    """(items,) score of the crowd of all votes but the one left out, n - 1 of each item; NaN without votes."""
    out, totals = np.full(len(counts), np.nan), counts.sum(axis=1)
    for votes in np.unique(totals[totals > 0]):
        own = np.flatnonzero(totals == votes)
        out[own] = score(counts[own], combiner.take(own), int(votes) - 1)
    return out


def base_of(metric: Metric) -> float | None:
    """The logarithm a metric was asked to use; None: nats."""
    told = split_spec(metric.name)[1].get("base")
    return None if told in (None, "e") else float(told)


def held_out_score(metric: Metric) -> CrowdScore | None:
    """The exact score of a crowd by a metric that is linear in the reference, in the metric's own units; else None.

    ``kl`` is ``cross_entropy`` less H(h), ``brier`` is ``brier_vote`` less 1 - sum h^2: the same is taken off the model
    and off every crowd, so that differences, and what a model is worth, are those of the score of one vote.
    """
    name, base = metric.family, base_of(metric)
    if name in ("cross_entropy", "kl"):

        def log_loss(counts: Ints, combiner: Combiner, size: int) -> Scores:
            taken = entropy_of_counts(counts) if name == "kl" else 0.0
            return in_base(crowd_cross_entropy(counts, combiner, size) - taken, base)

        return log_loss
    if name in ("brier", "brier_vote"):

        def squared(counts: Ints, combiner: Combiner, size: int) -> Scores:
            taken = 1 - (shares(counts) ** 2).sum(axis=1) if name == "brier" else 0.0
            return np.asarray(crowd_brier_vote(counts, combiner, size) - taken)

        return squared
    return None
