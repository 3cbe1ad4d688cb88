"""Sizes of a paired difference beside its mean: in standard deviations, and as a share of the pairs."""

from __future__ import annotations

import numpy as np
from scipy import special

from saturation.resampling import intervals
from saturation.resampling.intervals import Interval
from saturation.resampling.jackknife import leave_one_out
from saturation.resampling.paired import NO_DIFFERENCE, Paired, undefined
from saturation.typing import Floats

INFINITE = "every pair gives the same difference: in units of its standard deviation it is infinite"


def cohen_dz(differences: Floats, resampled: Floats, level: float = 0.95) -> Paired:
    """Mean difference over the standard deviation of the differences (Cohen 1988, eq. 2.3.5), with a BCa interval.

    Parameters
    ----------
    differences
        (pairs,)
    resampled
        (resamples, 2) means of d and of d^2 in bootstrap resamples of the pairs.
    level
        Nominal coverage.

    Examples
    --------
    >>> round(cohen_dz(np.array([1.0, 2.0, 3.0]), np.array([[2.0, 4.5], [2.1, 4.6]])).estimate, 9)
    2.0
    """
    n = len(differences)
    if n < 2:
        return undefined("one pair only: no standard deviation")
    if differences.min() == differences.max():
        return undefined(NO_DIFFERENCE if differences[0] == 0 else INFINITE)
    estimate = float(differences.mean() / differences.std(ddof=1))
    if n < 3:
        return undefined("two pairs only: no interval without one of them", estimate)
    distribution = _dz(resampled, n)
    without = leave_one_out(np.stack([differences, differences**2]), lambda means: _dz(means, n - 1))
    if not np.isfinite(without).all():
        return undefined("no interval: without one of the pairs all others give the same difference", estimate)
    made = intervals.bca(distribution, estimate, without, level)
    kept, _ = intervals.defined(distribution)
    return Paired(made, estimate, se=None if kept is None else float(kept.std(ddof=1)))


def better(gains: Floats) -> Floats:
    """(pairs,) 1 where the first side is better, 1/2 in a tie, 0 where it is worse.

    Examples
    --------
    >>> better(np.array([0.3, 0.0, -2.0])).tolist()
    [1.0, 0.5, 0.0]
    """
    return np.asarray((1 + np.sign(gains)) / 2)


def superiority(gains: Floats, resampled: Floats, level: float = 0.95) -> Paired:
    """Probability that one side is better in a pair, ties counting half (McGraw and Wong 1992; Grissom 1994).

    Parameters
    ----------
    gains
        (pairs,) positive where the first side is better.
    resampled
        (resamples,) means of :func:`better` in bootstrap resamples of the pairs.

    Returns
    -------
    With the exact interval of Clopper and Pearson where no pair is tied, else BCa.

    Examples
    --------
    >>> superiority(np.array([1.0, 2.0, -1.0, 0.0]), np.array([0.5, 0.75])).estimate  # (2 + 1/2) / 4
    0.625
    """
    shares = better(gains)
    n, estimate = len(shares), float(shares.mean())
    if not (gains == 0).any():
        return Paired(clopper_pearson(int((gains > 0).sum()), n, level), estimate)
    if shares.min() == shares.max():
        return undefined("no pair tells the two sides apart: no spread to build an interval from", estimate)
    made = intervals.bca(resampled, estimate, leave_one_out(shares[None], lambda means: means[..., 0]), level)
    return Paired(made, estimate, se=float(resampled.std(ddof=1)))


def clopper_pearson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Exact interval of a binomial probability (Clopper and Pearson 1934).

    Examples
    --------
    >>> interval = clopper_pearson(9, 9)
    >>> round(interval.low, 4), interval.high  # .025^(1/9)
    (0.6637, 1.0)
    """
    tail = (1 - level) / 2
    low = float(special.betaincinv(successes, n - successes + 1, tail)) if successes else 0.0
    high = float(special.betaincinv(successes + 1, n - successes, 1 - tail)) if successes < n else 1.0
    return Interval(low, high, "exact")


def _dz(means: Floats, n: int) -> Floats:
    """From the means (..., 2) of d and d^2; NaN where nothing varies."""
    mean, square = np.moveaxis(means, -1, 0)
    variance = (square - mean**2) * n / max(n - 1, 1)
    varies = variance > 1e-14 * square
    return np.asarray(np.where(varies, mean / np.sqrt(np.where(varies, variance, 1.0)), np.nan))
