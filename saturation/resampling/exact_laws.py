"""The laws of drawn counts, and ragged enumeration of their states: plain NumPy, no loops over items.

Without replacement, the number of votes for one label (or for a group of labels) among N of n votes is
hypergeometric; with replacement from the observed shares it is binomial. Two labels together follow the
bivariate versions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from saturation.typing import Floats, Ints

NEGLIGIBLE = 1e-20
"""Drawn counts with a smaller probability are not listed; what they could add is below the rounding error."""


def log_factorials(largest: int) -> Floats:
    """(largest + 1,) ln 0!, ln 1!, ..."""
    return np.asarray(gammaln(np.arange(largest + 1) + 1.0))


def marginal(totals: Ints, counts: Ints, size: int, *, replace: bool) -> Floats:
    """Law of the number of drawn votes that fall on a label with ``counts`` of ``totals`` votes.

    Parameters
    ----------
    totals, counts
        (cells,) votes of the item, and those of the label.
    size
        Number of votes drawn, at most ``totals`` without replacement.
    replace
        Binomial(size, counts / totals) instead of hypergeometric.

    Returns
    -------
    (cells, size + 1) probabilities of 0, 1, ..., size; rows sum to 1.

    Examples
    --------
    >>> marginal(np.array([4]), np.array([2]), 2, replace=False) * 6
    array([[1., 4., 1.]])
    """
    drawn = np.arange(size + 1)
    counts, totals = counts[:, None], totals[:, None]
    log_f = log_factorials(max(size, int(totals.max(initial=0))))
    if replace:
        choose = log_f[size] - log_f[drawn] - log_f[size - drawn]
        log_p = choose + xlogy(drawn, counts / totals) + xlogy(size - drawn, (totals - counts) / totals)
        law = np.exp(log_p)
    else:
        rest, left = totals - counts, size - drawn
        valid = (drawn <= counts) & (left <= rest)
        log_p = -log_f[drawn] - log_f[np.where(valid, counts - drawn, 0)]
        log_p = log_p - log_f[left] - log_f[np.where(valid, rest - left, 0)]
        log_p += log_f[counts] + log_f[rest] - log_f[totals] + log_f[size] + log_f[totals - size]
        law = np.exp(np.where(valid, log_p, -np.inf))
    return np.asarray(law / law.sum(axis=1, keepdims=True))


def likely_range(totals: Ints, counts: Ints, size: int, *, replace: bool) -> tuple[Ints, Ints]:
    """Fewest and most drawn votes of a label that are worth listing: those above ``NEGLIGIBLE``.

    Parameters
    ----------
    totals, counts, size, replace
        As in :func:`marginal`.

    Examples
    --------
    >>> likely_range(np.array([4]), np.array([1]), 2, replace=False)
    (array([0]), array([1]))
    """
    wide = int(totals.max(initial=0)) + 1
    distinct, which = np.unique(totals * wide + counts, return_inverse=True)
    law = marginal(distinct // wide, distinct % wide, size, replace=replace) > NEGLIGIBLE
    low, high = law.argmax(axis=1), size - law[:, ::-1].argmax(axis=1)
    return low[which], high[which]


def ragged(low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Every integer from ``low`` to ``high`` of every row: (row of the entry, the integer).

    Examples
    --------
    >>> ragged(np.array([0, 5]), np.array([1, 5]))
    (array([0, 0, 1]), array([0, 1, 5]))
    """
    lengths = high - low + 1
    starts = np.cumsum(lengths) - lengths
    row = np.repeat(np.arange(len(low)), lengths)
    return row, np.arange(int(lengths.sum())) - np.repeat(starts - low, lengths)


@dataclass(frozen=True, slots=True)
class PairLaw:
    """Joint law of the drawn votes of two labels, state by state.

    Attributes
    ----------
    pair, first
        (rows,) which pair of labels, and the drawn votes of its first label; sorted by pair.
    row_start
        (rows,) index of the first state of each row.
    second, probability
        (states,) drawn votes of the second label, and the joint probability.
    pair_start
        (pairs,) index of the first row of each pair.
    row
        (states,) row of each state.
    """

    pair: Ints
    first: Ints
    row_start: Ints
    second: Ints
    probability: Floats
    pair_start: Ints
    row: Ints

    def expectation(self, products: Floats) -> Floats:
        """(pairs,) sums of per-row values (rows,) within each pair."""
        return np.asarray(np.add.reduceat(products, self.pair_start))

    def over_second(self, values: Floats) -> Floats:
        """(rows,) sums of probability times ``values`` (states,) over the second label."""
        return np.asarray(np.add.reduceat(self.probability * values, self.row_start))


def pair_law(totals: Ints, first: Ints, second: Ints, size: int, *, replace: bool) -> PairLaw:
    """Joint law of two labels with ``first`` and ``second`` of ``totals`` votes when ``size`` votes are drawn.

    Only states that can occur are listed, and none whose labels' own probabilities are negligible; where the two
    labels hold all votes that is one line of states.
    """
    third = totals - first - second
    (a_least, a_most), (b_least, b_most), (rest_least, rest_most) = (
        likely_range(totals, one, size, replace=replace) for one in (first, second, third)
    )
    a_low, a_high = np.maximum(a_least, size - b_most - rest_most), np.minimum(a_most, size - b_least - rest_least)
    pair, a = ragged(a_low, a_high)
    left = size - a
    b_low = np.maximum(b_least[pair], left - rest_most[pair])
    b_high = np.minimum(b_most[pair], left - rest_least[pair])
    row, b = ragged(b_low, b_high)
    log_f = log_factorials(max(size, int(totals.max(initial=0))))
    log_row, log_state = _log_parts(log_f, (totals, first, second, third), (pair, a, row, b, left), size, replace)
    lengths = b_high - b_low + 1
    return PairLaw(
        pair=pair,
        first=a,
        row_start=np.cumsum(lengths) - lengths,
        second=b,
        probability=np.exp(log_state + log_row[row]),
        pair_start=np.cumsum(a_high - a_low + 1) - (a_high - a_low + 1),
        row=row,
    )


def pair_states(totals: Ints, first: Ints, second: Ints, size: int, *, replace: bool) -> Ints:
    """(pairs,) upper bound of the number of states that ``pair_law`` would list."""
    (a_low, a_high), (b_low, b_high) = (likely_range(totals, one, size, replace=replace) for one in (first, second))
    a, b = a_high - a_low + 1, b_high - b_low + 1
    return np.where(totals == first + second, a, a * b)


def _log_parts(
    log_f: Floats,
    votes: tuple[Ints, Ints, Ints, Ints],
    states: tuple[Ints, Ints, Ints, Ints, Ints],
    size: int,
    replace: bool,
) -> tuple[Floats, Floats]:
    """Log probability split into a part a row and a part a state, so that states cost little."""
    n, c_a, c_b, c_rest = votes
    pair, a, row, b, left = states
    rest = left[row] - b
    if replace:
        constant = log_f[size] + xlogy(a, (c_a / n)[pair]) - log_f[a]
        share_b, share_rest = _safe_log(c_b / n), _safe_log(c_rest / n)
        owner = pair[row]
        return constant, b * share_b[owner] + rest * share_rest[owner] - log_f[b] - log_f[rest]
    factorials = log_f[c_a] + log_f[c_b] + log_f[c_rest] - log_f[n] + log_f[size] + log_f[n - size]
    constant = factorials[pair] - log_f[a] - log_f[c_a[pair] - a]
    of_b, of_rest = c_b[pair][row], c_rest[pair][row]
    return constant, -log_f[b] - log_f[of_b - b] - log_f[rest] - log_f[of_rest - rest]


def _safe_log(shares: Floats) -> Floats:
    """Natural logarithm with 0 for a share of 0: such a label never receives a vote, so it multiplies 0."""
    positive = shares > 0
    return np.where(positive, np.log(np.where(positive, shares, 1.0)), 0.0)


def blocks(sizes: Ints, limit: int) -> list[NDArray[np.intp]]:
    """Consecutive index blocks whose sizes add up to about ``limit`` at most."""
    if len(sizes) == 0:
        return []
    number = (np.cumsum(sizes) - 1) // limit
    edges = np.flatnonzero(np.diff(number)) + 1
    return np.split(np.arange(len(sizes)), edges)
