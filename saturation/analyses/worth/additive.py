"""Crowds and models against R other votes by metrics that are sums over labels: exact.

Of a label with c of the n votes, d are among the N of the crowd and r among the R that it is scored against, with
probability C(c; d, r) C(n - c; N - d, R - r) / C(n; N, R), C the trinomial coefficient. No other law is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from saturation.analyses.worth.combiner import Combiner
from saturation.metrics.common import added_votes
from saturation.metrics.metric import Metric
from saturation.resampling.exact_laws import log_factorials, marginal
from saturation.typing import Counts, Floats, Ints, Probs, Scores

ADDITIVE = ("jsd", "tvd", "manhattan", "soft_accuracy", "squared_hellinger", "wasserstein", "reverse_kl")
"""Sums over labels that no floor changes; those that are linear in the reference have a shorter way."""
MAX_STATES = 400_000_000
"""Most states (label of an item, d, r) of all crowds together; beyond, draws take less time."""
_STATES_AT_ONCE = 1 << 21


def is_additive(metric: Metric) -> bool:
    """Whether a metric has an exact expectation here."""
    return metric.family in ADDITIVE and (metric.family != "reverse_kl" or metric.smooth is not None)


def states(counts: Counts, sizes: Sequence[int], reference_size: int) -> int:
    """How many terms the exact expectations of all crowds have."""
    return int((counts > 0).sum()) * sum((size + 1) * (reference_size + 1) for size in sizes)


@dataclass(frozen=True, slots=True, eq=False)
class _Slots:
    """Labels (or cuts between ordered labels) of every row: votes (rows, slots), what the prior adds, and pi."""

    votes: Ints
    added: Floats
    base: Floats

    @classmethod
    def of(cls, metric: Metric, counts: Ints, combiner: Combiner | None) -> _Slots:
        nothing = np.zeros(counts.shape)
        base, added = (nothing, nothing) if combiner is None else (combiner.base, combiner.added)
        if metric.cumulative:
            below = counts.cumsum(axis=1)[:, :-1], added.cumsum(axis=1)[:, :-1], base.cumsum(axis=1)[:, :-1]
            return cls(*below)
        return cls(counts, added, base)


def crowd_score(metric: Metric, counts: Ints, combiner: Combiner | None, size: int, reference_size: int) -> Scores:
    """Expected score of a crowd of N against R other votes of the item.

    Parameters
    ----------
    metric
        An additive one.
    counts
        (items, labels) whole votes.
    combiner
        Of these items; None: shares of the votes as they are.
    size, reference_size
        N and R.

    Returns
    -------
    (items,); NaN for items with fewer than N + R votes.

    Examples
    --------
    One of the votes (1, 1) against the other: always as far apart as can be.

    >>> from saturation.metrics.catalogue import metric
    >>> crowd_score(metric("tvd"), np.array([[1, 1]]), None, 1, 1).tolist()
    [1.0]
    """
    totals = counts.sum(axis=1)
    enough = totals >= size + reference_size
    slots = _Slots.of(metric, counts, combiner)
    item, slot = np.nonzero(np.broadcast_to(enough[:, None], slots.votes.shape))
    strength = np.zeros(len(counts)) if combiner is None else combiner.strength
    cells = _Cells(
        totals[item], slots.votes[item, slot], slots.added[item, slot], strength[item], slots.base[item, slot]
    )
    values = _expected(metric, cells, size, reference_size, counts.shape[1])
    return np.where(enough, np.bincount(item, weights=values, minlength=len(counts)), np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Labels of items, one after the other: votes of the item, those of the label, A pi, A, pi."""

    totals: Ints
    votes: Ints
    added: Floats
    strength: Floats
    base: Floats


def _expected(metric: Metric, cells: _Cells, size: int, reference_size: int, n_labels: int) -> Floats:
    """(cells,) mean of the metric's term; labels without votes have one state only."""
    assert metric.term is not None
    wide = int(cells.totals.max(initial=0)) + 1
    distinct, which = np.unique(cells.totals * wide + cells.votes, return_inverse=True)
    law = _law(distinct // wide, distinct % wide, size, reference_size)
    drawn = np.arange(size + 1)[:, None]
    reference = _reference(metric, np.arange(reference_size + 1), reference_size, n_labels)
    out = np.empty(len(cells.totals))
    rows = max(1, _STATES_AT_ONCE // ((size + 1) * (reference_size + 1)))
    voted = cells.votes > 0
    for some, n_drawn, n_shares in (
        (np.flatnonzero(~voted), 1, 1),
        (np.flatnonzero(voted), size + 1, reference_size + 1),
    ):
        for start in range(0, len(some), rows):
            own = some[start : start + rows]
            added, strength, base = (one[own, None, None] for one in (cells.added, cells.strength, cells.base))
            target = base if size == 0 else (drawn[:n_drawn] + added) / (size + strength)
            chance = law[which[own], :n_drawn, :n_shares]
            shape = np.broadcast_shapes(chance.shape, target.shape)
            shares = np.broadcast_to(reference[:n_shares], shape)
            term = metric.term(np.broadcast_to(target, shape), shares)
            out[own] = (chance * np.where(chance > 0, term, 0.0)).sum(axis=(1, 2))
    return out


def _law(totals: Ints, votes: Ints, size: int, reference_size: int) -> Floats:
    """(cells, N + 1, R + 1) joint law of d and r."""
    log_f = log_factorials(int(totals.max(initial=max(size, reference_size))))
    n, c = totals[:, None, None], votes[:, None, None]
    d, r = np.arange(size + 1)[:, None], np.arange(reference_size + 1)
    log_p = log_f[size] + log_f[reference_size] + log_f[n - size - reference_size] - log_f[n]
    possible = np.ones(np.broadcast_shapes(n.shape, (size + 1, reference_size + 1)), dtype=bool)
    for whole, one, other in ((c, d, r), (n - c, size - d, reference_size - r)):
        left = whole - one - other
        possible &= left >= 0
        log_p = log_p + log_f[whole] - log_f[one] - log_f[other] - log_f[np.maximum(left, 0)]
    return np.where(possible, np.exp(log_p), 0.0)


def model_score(metric: Metric, probs: Probs, counts: Ints, reference_size: int) -> Scores:
    """Expected score of models (..., items, labels) against R votes of the item: (..., items).

    Examples
    --------
    >>> from saturation.metrics.catalogue import metric
    >>> model_score(metric("tvd"), np.array([[0.75, 0.25]]), np.array([[1, 1]]), 1).tolist()  # .25 and .75
    [0.5]
    """
    assert metric.term is not None
    totals = counts.sum(axis=1)
    enough = np.flatnonzero(totals >= reference_size)
    votes = _Slots.of(metric, counts[enough], None).votes
    shares = np.cumsum(probs, axis=-1)[..., :-1] if metric.cumulative else probs
    keys = totals[enough][:, None] * (int(totals.max(initial=0)) + 1) + votes
    distinct, which = np.unique(keys, return_inverse=True)
    wide = int(totals.max(initial=0)) + 1
    law = marginal(distinct // wide, distinct % wide, reference_size, replace=False)[which.reshape(votes.shape)]
    reference = _reference(metric, np.arange(reference_size + 1), reference_size, counts.shape[1])
    out = np.full(probs.shape[:-1], np.nan)
    for place in np.ndindex(probs.shape[:-2]):
        model = np.broadcast_to(shares[place][enough][:, :, None], law.shape)
        term = metric.term(model, np.broadcast_to(reference, law.shape))
        out[(*place, enough)] = (law * np.where(law > 0, term, 0.0)).sum(axis=(1, 2))
    return out


def _reference(metric: Metric, votes: Ints, size: int, n_labels: int) -> Floats:
    """Shares of a label with so many of R votes, smoothed where the metric is."""
    added = 0.0 if metric.smooth is None else added_votes(metric.smooth, n_labels)
    return np.asarray((votes + added) / (size + n_labels * added))
