"""Exact moments of any statistic of drawn votes by listing every state: for few labels or few votes.

With K = 3 labels and N = 100 votes there are 5,151 states an item, few enough to list; statistics that are no sums
over labels (square roots, absolute values, majorities) get their exact mean and variance that way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import binom, xlogy

from saturation.errors import UsageError
from saturation.resampling.exact_laws import blocks, likely_range, log_factorials, ragged
from saturation.resampling.exact_moments import Draw, Moments
from saturation.typing import Floats, Ints

MAX_STATES = 200_000
"""Most states of one item that are listed; beyond that, Monte Carlo."""
MAX_STATES_IN_ALL = 60_000_000
"""Most states of all distinct items together."""
STATES_A_BLOCK = 500_000

Score = Callable[[Ints, Ints], Floats]
"""(drawn votes (states, labels), reference votes (states, labels)) -> (states,)."""


@dataclass(frozen=True, slots=True)
class States:
    """States of several rows of counts: which row, the drawn votes (states, labels), and their probability."""

    row: Ints
    drawn: Ints
    probability: Floats


def list_states(counts: Ints, size: int, *, replace: bool) -> States:
    """Every way (but negligible ones) in which ``size`` votes can be drawn from each row, with its probability.

    Parameters
    ----------
    counts
        (rows, labels)
    size
        Votes drawn.
    replace
        Multinomial instead of multivariate hypergeometric.

    Examples
    --------
    >>> states = list_states(np.array([[1, 2]]), 2, replace=False)
    >>> states.drawn.tolist(), (3 * states.probability).round(12).tolist()
    ([[0, 2], [1, 1]], [1.0, 2.0])
    """
    least, most = _ranges(counts, size, replace=replace)
    least_later = least.sum(axis=1, keepdims=True) - least.cumsum(axis=1)
    most_later = most.sum(axis=1, keepdims=True) - most.cumsum(axis=1)
    row = np.arange(len(counts))
    left = np.full(len(counts), size)
    columns: list[Ints] = []
    for label in range(counts.shape[1]):
        low = np.maximum(least[row, label], left - most_later[row, label])
        high = np.minimum(most[row, label], left - least_later[row, label])
        source, drawn = ragged(low, high)
        columns = [column[source] for column in columns]
        columns.append(drawn)
        row, left = row[source], left[source] - drawn
    drawn = np.stack(columns, axis=1)
    return States(row, drawn, _probability(counts, row, drawn, size, replace=replace))


def _probability(counts: Ints, row: Ints, drawn: Ints, size: int, *, replace: bool) -> Floats:
    log_f = log_factorials(max(size, int(counts.max(initial=0))))
    log_p = -log_f[drawn].sum(axis=1)
    if replace:
        shares = counts / counts.sum(axis=1, keepdims=True)
        log_p += xlogy(drawn, shares[row]).sum(axis=1)
        log_p += log_f[size]
    else:
        log_p += (log_f[counts].sum(axis=1))[row] - log_f[counts[row] - drawn].sum(axis=1)
    log_p -= np.maximum.reduceat(log_p, np.flatnonzero(np.diff(row, prepend=-1)))[row]
    p = np.exp(log_p)
    return np.asarray(p / np.bincount(row, p, minlength=len(counts))[row])


def count_states(counts: Ints, size: int, *, replace: bool) -> Floats:
    """(rows,) upper bound of the number of states of each row."""
    used = (counts > 0).sum(axis=1)
    least, most = _ranges(counts, size, replace=replace)
    widths = np.sort(most - least + 1.0, axis=1)[:, :-1]  # the last label is given by the others
    return np.asarray(np.minimum(binom(size + used - 1, used - 1), widths.prod(axis=1)))


def _ranges(counts: Ints, size: int, *, replace: bool) -> tuple[Ints, Ints]:
    """(rows, labels) fewest and most drawn votes worth listing."""
    totals = np.repeat(counts.sum(axis=1), counts.shape[1])
    low, high = likely_range(totals, counts.ravel(), size, replace=replace)
    return low.reshape(counts.shape), high.reshape(counts.shape)


def state_moments(
    counts: Ints,
    draw: Draw,
    scores: Sequence[Score],
    *,
    symmetric: bool = True,
    variance: bool = True,
    limit: int | None = None,
) -> Moments | None:
    """Exact mean and variance over draws, per item, of any statistic of the drawn and the reference votes.

    Parameters
    ----------
    counts
        (items, labels) integer votes.
    draw
        The law.
    scores
        Statistics, evaluated on the same states.
    symmetric
        Whether the statistics do not care which label is which; then items with the same counts in another order
        share their states.
    variance
        Whether variances are wanted.
    limit
        Most states of all distinct items together; None: ``MAX_STATES_IN_ALL``.

    Returns
    -------
    (statistics, items) moments; None where there are too many states (use Monte Carlo).

    Examples
    --------
    One of the votes (2, 1) agrees with their majority two times in three.

    >>> agrees = lambda drawn, reference: (drawn.argmax(axis=1) == reference.argmax(axis=1)) * 1.0
    >>> state_moments(np.array([[2, 1]]), Draw("all", 1), [agrees]).mean.round(4)
    array([[0.6667]])
    """
    rows = -np.sort(-counts, axis=1) if symmetric else np.asarray(counts)
    distinct, item = np.unique(rows, axis=0, return_inverse=True)
    item = item.reshape(-1)
    _check(distinct, draw)
    limit = MAX_STATES_IN_ALL if limit is None else limit
    if draw.reference == "disjoint":
        found = _disjoint(distinct, draw, scores, symmetric=symmetric, variance=variance, limit=limit)
    else:
        found = _direct(distinct, draw, scores, variance=variance, limit=limit)
    if found is None:
        return None
    return Moments(found.mean[:, item], None if found.variance is None else found.variance[:, item])


def _direct(rows: Ints, draw: Draw, scores: Sequence[Score], *, variance: bool, limit: int) -> Moments | None:
    replace = draw.reference == "plug_in"
    bound = count_states(rows, draw.budget, replace=replace)
    if bound.max(initial=0) > MAX_STATES or bound.sum() > limit:
        return None
    mean = np.empty((len(scores), len(rows)))
    spread = np.empty_like(mean)
    for block in blocks(bound.astype(np.int64), STATES_A_BLOCK):
        part = rows[block]
        states = list_states(part, draw.budget, replace=replace)
        reference = part[states.row]
        if draw.reference == "rest":
            reference = reference - states.drawn
        values = np.stack([score(states.drawn, reference) for score in scores])
        mean[:, block], spread[:, block] = _weighted(values, states.probability, states.row, len(part), variance)
    return Moments(mean, spread if variance else None)


def _weighted(values: Floats, p: Floats, row: Ints, n_rows: int, variance: bool) -> tuple[Floats, Floats]:
    """Mean and variance of (statistics, states) within each row."""
    mean = _sums(p * values, row, n_rows)
    if not variance:
        return mean, np.zeros_like(mean)
    return mean, _sums(p * (values - mean[:, row]) ** 2, row, n_rows)


def _sums(values: Floats, row: Ints, n_rows: int) -> Floats:
    """(statistics, states) added up by row."""
    return np.stack([np.bincount(row, one, minlength=n_rows).astype(np.float64) for one in values])


def _disjoint(
    rows: Ints, draw: Draw, scores: Sequence[Score], *, symmetric: bool, variance: bool, limit: int
) -> Moments | None:
    """List the N + R votes, then their splits into N and R; the latter are shared by all items."""
    assert draw.reference_size is not None
    both = draw.budget + draw.reference_size
    bound = count_states(rows, both, replace=False)
    if bound.max(initial=0) > MAX_STATES or bound.sum() > limit:
        return None
    outer = list_states(rows, both, replace=False)
    drawn = -np.sort(-outer.drawn, axis=1) if symmetric else outer.drawn
    distinct, which = np.unique(drawn, axis=0, return_inverse=True)
    which = which.reshape(-1)
    inner = _direct(distinct, Draw("rest", draw.budget), scores, variance=variance, limit=limit)
    if inner is None:
        return None
    mean, spread = _weighted(inner.mean[:, which], outer.probability, outer.row, len(rows), variance)
    if inner.variance is None:
        return Moments(mean, None)
    within, _ = _weighted(inner.variance[:, which], outer.probability, outer.row, len(rows), False)
    return Moments(mean, spread + within)


def _check(rows: Ints, draw: Draw) -> None:
    beside = {"all": 0, "plug_in": 1 - draw.budget, "rest": 1, "disjoint": draw.reference_size or 0}[draw.reference]
    if draw.budget < 1 or (draw.reference == "disjoint" and beside < 1):
        raise UsageError(f"{draw}: the budget, and for 'disjoint' the reference size, must be at least 1")
    fewest = int(rows.sum(axis=1).min(initial=draw.budget + beside))
    if fewest < draw.budget + beside:
        raise UsageError(f"an item has {fewest} votes, too few for {draw}; leave it out or lower the budget")
