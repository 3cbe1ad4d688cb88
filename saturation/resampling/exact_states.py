"""Exact moments of any statistic of drawn votes by listing every state: for few labels or few votes.

With K = 3 labels and N = 100 votes there are 5,151 states an item, few enough to list; statistics that are no sums
over labels (square roots, absolute values, majorities) get their exact mean and variance that way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import binom, xlogy

from saturation.errors import UsageError
from saturation.resampling.exact_laws import blocks, likely_range, log_factorials, ragged
from saturation.resampling.exact_moments import Draw
from saturation.typing import Floats, Ints

MAX_STATES = 200_000
"""Most states of one item that are listed; beyond that, Monte Carlo."""
MAX_CELLS = 20_000_000
"""Most states times labels of all distinct items together; items with few states come first."""
CELLS_A_BLOCK = 1_000_000

Score = Callable[[Ints, Ints], Floats]
"""(drawn votes (states, labels), reference votes (states, labels)) -> (states,)."""


@dataclass(frozen=True, slots=True)
class States:
    """States of several rows of counts: which row, the drawn votes (states, labels), and their probability."""

    row: Ints
    drawn: Ints
    probability: Floats


@dataclass(frozen=True, slots=True)
class StateMoments:
    """Moments (statistics, items), and which items (items,) they are known of; those of the others are 0."""

    mean: Floats
    variance: Floats
    listed: NDArray[np.bool_]


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
    used = np.flatnonzero(counts.any(axis=0))
    voted = counts[:, used]
    least, most = _ranges(voted, size, replace=replace)
    least_later = least.sum(axis=1, keepdims=True) - least.cumsum(axis=1)
    most_later = most.sum(axis=1, keepdims=True) - most.cumsum(axis=1)
    row = np.arange(len(counts))
    left = np.full(len(counts), size)
    steps: list[tuple[Ints, Ints]] = []
    for label in range(len(used)):
        low = np.maximum(least[row, label], left - most_later[row, label])
        high = np.minimum(most[row, label], left - least_later[row, label])
        source, drawn = ragged(low, high)
        steps.append((source, drawn))
        row, left = row[source], left[source] - drawn
    columns = _trace(steps, len(row))
    drawn = np.zeros((counts.shape[1], len(row)), dtype=np.int64)
    drawn[used] = columns
    return States(row, drawn.T, _probability(voted, row, columns, size, replace=replace))


def _trace(steps: Sequence[tuple[Ints, Ints]], n_states: int) -> Ints:
    """(labels, states) drawn votes: each state followed back to the partial states that it extends."""
    columns = np.empty((len(steps), n_states), dtype=np.int64)
    at: Ints | None = None
    for label in range(len(steps) - 1, -1, -1):
        source, drawn = steps[label]
        columns[label] = drawn if at is None else drawn[at]
        at = source if at is None else source[at]
    return columns


def _probability(counts: Ints, row: Ints, columns: Ints, size: int, *, replace: bool) -> Floats:
    """(states,) probabilities, label by label, from tables of the logarithm's part of each (row, label, votes)."""
    drawn = np.arange(size + 1)
    log_f = log_factorials(max(size, int(counts.max(initial=0))))
    log_p = np.zeros(len(row))
    for votes, column in zip(counts.T, columns, strict=True):
        own = votes[:, None]
        if replace:
            part = xlogy(drawn, own / counts.sum(axis=1, keepdims=True)) - log_f[drawn]
        else:
            part = log_f[own] - log_f[drawn] - log_f[np.maximum(own - drawn, 0)]
        log_p += part.ravel()[row * (size + 1) + column]
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


def distinct_rows(counts: Ints, *, symmetric: bool) -> tuple[Ints, Ints]:
    """Distinct rows of counts and the row of each item; ``symmetric``: up to the order of the labels.

    Examples
    --------
    >>> rows, row = distinct_rows(np.array([[1, 3], [2, 2], [3, 1]]), symmetric=True)
    >>> rows.tolist(), row.tolist()
    ([[2, 2], [3, 1]], [1, 0, 1])
    """
    rows = -np.sort(-counts, axis=1) if symmetric else np.asarray(counts)
    used = rows.any(axis=0)  # columns without votes would only make the comparison of rows dear
    distinct, item = np.unique(rows[:, used], axis=0, return_inverse=True)
    whole = np.zeros((len(distinct), rows.shape[1]), dtype=np.int64)
    whole[:, used] = distinct
    return whole, item.reshape(-1)


def state_moments(
    counts: Ints, draw: Draw, scores: Sequence[Score], *, symmetric: bool = True, limit: int | None = None
) -> StateMoments:
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
    limit
        Most states times labels of all distinct items together; None: ``MAX_CELLS``. Items with few states are
        taken first, so that one rich item does not cost the others their exact moments.

    Returns
    -------
    StateMoments
        ``listed`` is false for items that are left (use Monte Carlo for them).

    Examples
    --------
    One of the votes (2, 1) agrees with their majority two times in three.

    >>> agrees = lambda drawn, reference: (drawn.argmax(axis=1) == reference.argmax(axis=1)) * 1.0
    >>> state_moments(np.array([[2, 1]]), Draw("all", 1), [agrees]).mean.round(4)
    array([[0.6667]])
    """
    distinct, item = distinct_rows(counts, symmetric=symmetric)
    _check(distinct, draw)
    limit = MAX_CELLS if limit is None else limit
    mean = np.zeros((len(scores), len(distinct)))
    variance = np.zeros_like(mean)
    chosen, known = np.zeros(len(distinct), dtype=np.bool_), None
    if draw.reference == "disjoint":
        for chosen in _choices(distinct, draw, limit):
            known = _disjoint(distinct[chosen], draw, scores, symmetric=symmetric, limit=limit)
            if known is not None:
                break
    else:
        chosen = _affordable(count_states(distinct, draw.budget, replace=draw.reference == "plug_in"), distinct, limit)
        known = _direct(distinct[chosen], draw, scores)
    if known is None:
        chosen = np.zeros(len(distinct), dtype=np.bool_)
    else:
        mean[:, chosen], variance[:, chosen] = known
    return StateMoments(mean[:, item], variance[:, item], chosen[item])


def _affordable(states: Floats, rows: Ints, limit: int) -> NDArray[np.bool_]:
    """(rows,) which are listed: those with the fewest states, as long as the cells of all stay within the limit."""
    order = np.argsort(states, kind="stable")
    within = (states[order] <= MAX_STATES) & (np.cumsum(states[order]) * rows.shape[1] <= limit)
    chosen = np.zeros(len(rows), dtype=np.bool_)
    chosen[order] = within
    return chosen


def _choices(rows: Ints, draw: Draw, limit: int) -> Iterator[NDArray[np.bool_]]:
    """Rows that may be affordable for ``disjoint``, all or some: what two draws cost is known after the first only.

    The splits are shared by all rows; listed apart for each, they are at most the states of N times those of R.
    """
    assert draw.reference_size is not None
    size = draw.reference_size
    whole = _affordable(count_states(rows, draw.budget + size, replace=False), rows, limit)
    yield whole
    split = count_states(rows, draw.budget, replace=False) * count_states(rows, size, replace=False)
    yield whole & _affordable(split, rows, limit)


def _direct(rows: Ints, draw: Draw, scores: Sequence[Score]) -> tuple[Floats, Floats]:
    """Mean and variance (statistics, rows)."""
    replace = draw.reference == "plug_in"
    cells = count_states(rows, draw.budget, replace=replace) * rows.shape[1]
    mean = np.empty((len(scores), len(rows)))
    spread = np.empty_like(mean)
    for block in blocks(cells.astype(np.int64), CELLS_A_BLOCK):
        part = rows[block]
        states = list_states(part, draw.budget, replace=replace)
        reference = part.T[:, states.row].T
        if draw.reference == "rest":
            reference = reference - states.drawn
        values = np.stack([score(states.drawn, reference) for score in scores])
        mean[:, block], spread[:, block] = _weighted(values, states.probability, states.row, len(part))
    return mean, spread


def _weighted(values: Floats, p: Floats, row: Ints, n_rows: int) -> tuple[Floats, Floats]:
    """Mean and variance of (statistics, states) within each row."""
    mean = _sums(p * values, row, n_rows)
    return mean, _sums(p * (values - mean[:, row]) ** 2, row, n_rows)


def _sums(values: Floats, row: Ints, n_rows: int) -> Floats:
    """(statistics, states) added up by row."""
    return np.stack([np.bincount(row, one, minlength=n_rows).astype(np.float64) for one in values])


def _disjoint(
    rows: Ints, draw: Draw, scores: Sequence[Score], *, symmetric: bool, limit: int
) -> tuple[Floats, Floats] | None:
    """List the N + R votes, then their splits into N and R; the latter are shared by all items. None: too many."""
    assert draw.reference_size is not None
    outer = list_states(rows, draw.budget + draw.reference_size, replace=False)
    distinct, which = distinct_rows(outer.drawn, symmetric=symmetric)
    states = count_states(distinct, draw.budget, replace=False)
    if states.max(initial=0) > MAX_STATES or states.sum() * rows.shape[1] > limit:
        return None
    inner_mean, inner_variance = _direct(distinct, Draw("rest", draw.budget), scores)
    mean, spread = _weighted(inner_mean[:, which], outer.probability, outer.row, len(rows))
    within = _sums(outer.probability * inner_variance[:, which], outer.row, len(rows))
    return mean, spread + within


def _check(rows: Ints, draw: Draw) -> None:
    beside = {"all": 0, "plug_in": 1 - draw.budget, "rest": 1, "disjoint": draw.reference_size or 0}[draw.reference]
    if draw.budget < 1 or (draw.reference == "disjoint" and beside < 1):
        raise UsageError(f"{draw}: the budget, and for 'disjoint' the reference size, must be at least 1")
    fewest = int(rows.sum(axis=1).min(initial=draw.budget + beside))
    if fewest < draw.budget + beside:
        raise UsageError(f"an item has {fewest} votes, too few for {draw}; leave it out or lower the budget")
