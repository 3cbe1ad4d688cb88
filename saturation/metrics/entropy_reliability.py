"""Reliability of the annotators' entropy: how well another crowd of the same size would reproduce it.

Two disjoint crowds of half the votes give R_{n/2}, exactly, from the moments of their entropies; Spearman-Brown
steps it up to n votes. Draws that share the pool (1 at N = n) and draws with replacement (p = h) are not
reliabilities.
"""

from __future__ import annotations

import math

import numpy as np

from saturation.typing import Counts, Floats, Scores

FEW_VOTES = 10
"""Below this many votes Spearman-Brown is biased low, which results must say."""
CONSTANT = 1e-24
"""A variance of entropies that is nothing but rounding."""
TOO_FEW_VOTES = 6
"""Below this many votes no disattenuated value is given."""


def reliability_from_moments(mean: Scores, var: Scores, cov: Scores) -> Floats:
    """Correlation over items of H between two disjoint crowds of the same size.

    [Var_i(mean) + mean_i(cov)] / [Var_i(mean) + mean_i(var)], the law of total covariance.

    Parameters
    ----------
    mean, var
        (..., items) moments of H over the draws of one crowd.
    cov
        (..., items) covariance of H between the two crowds of an item.

    Returns
    -------
    (...); NaN where H never varies.

    Examples
    --------
    >>> import numpy as np
    >>> float(reliability_from_moments(np.array([0.0, 2.0]), np.array([1.0, 1.0]), np.array([-0.5, -0.5])))  # .5/2
    0.25
    """
    between = np.var(mean, axis=-1)
    whole = between + np.mean(var, axis=-1)
    shared = between + np.mean(cov, axis=-1)
    return np.asarray(np.divide(shared, whole, out=np.full(np.shape(whole), np.nan), where=whole > CONSTANT))


def half_size(counts: Counts) -> int:
    """Votes of one half crowd: floor(min n_i / 2), the same for every item."""
    return int(np.asarray(counts).sum(axis=-1).min()) // 2


def step_up_factor(counts: Counts) -> float:
    """How many half crowds make the full one: the harmonic mean of n_i over ``half_size``; NaN below two votes.

    Examples
    --------
    >>> import numpy as np
    >>> step_up_factor(np.array([[50, 50], [90, 10]]))
    2.0
    """
    half = half_size(counts)
    totals = np.asarray(counts).sum(axis=-1, dtype=np.float64)
    return len(totals) / float((1 / totals).sum()) / half if half else math.nan


def spearman_brown(reliability: Floats, factor: float | Floats = 2.0) -> Floats:
    """Reliability of a crowd ``factor`` times as large, f R / (1 + (f - 1) R) (Spearman 1910; Brown 1910).

    NaN where that is no correlation: below -1, and beyond the pole at R = -1/(f - 1), where it would be positive.

    Examples
    --------
    >>> import numpy as np
    >>> float(spearman_brown(np.array(0.5)))
    0.6666666666666666
    >>> float(spearman_brown(np.array(-0.2), 7))  # -1.4 / -.2
    nan
    """
    whole = 1 + (factor - 1) * reliability
    known = whole + factor * reliability >= 0  # so that the ratio is -1 or more
    return np.where(known, factor * reliability / np.where(known, whole, 1.0), np.nan)


def disattenuated(r: Floats, reliability: Floats) -> Floats:
    """Pearson's r with the annotators' noise taken out, r / sqrt(R_n); may exceed 1, which is to be flagged.

    NaN where the reliability is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> float(disattenuated(np.array(0.4), np.array(0.64)))
    0.5
    """
    known = np.asarray(reliability) > 0
    return np.where(known, r / np.sqrt(np.where(known, reliability, 1.0)), np.nan)
