"""Simultaneous bands and tests for several correlated statistics: the largest of their absolute t values."""

from __future__ import annotations

import numpy as np
from scipy import special

from saturation.resampling.intervals import critical
from saturation.streams import Purpose, uniforms
from saturation.typing import Floats

_NOT_POSITIVE = 1e-10


def max_t(
    correlation: Floats, df: float | None = None, level: float = 0.95, seed: int = 0, n_draws: int = 20_000
) -> float:
    """The critical value that all statistics together stay below with probability ``level``.

    Parameters
    ----------
    correlation
        (statistics, statistics)
    df
        Degrees of freedom of the common variance; None or infinite: normal.
    level
        Joint coverage. The value is never below that of one statistic alone, where the draws could put it.
    seed
        The resample seed.
    n_draws
        Draws of the multivariate t; the error of the critical value is below 0.02 at the default.

    Examples
    --------
    >>> round(max_t(np.eye(1)), 1)  # one statistic: 1.96
    2.0
    """
    largest = _largest(correlation, df, seed, n_draws)
    drawn = float(np.quantile(largest, level, method="higher"))
    return max(drawn, critical(level, df))


def max_t_p(
    t_values: Floats, correlation: Floats, df: float | None = None, seed: int = 0, n_draws: int = 20_000
) -> Floats:
    """p-values adjusted for having looked at all statistics (single step): P(largest abs t >= each abs t).

    Returns
    -------
    (statistics,)
    """
    largest = np.sort(_largest(correlation, df, seed, n_draws))
    as_large = n_draws - np.searchsorted(largest, np.abs(t_values), side="left")
    return np.asarray((1 + as_large) / (n_draws + 1))


def _largest(correlation: Floats, df: float | None, seed: int, n_draws: int) -> Floats:
    """(draws,) largest absolute value of a multivariate t with this correlation."""
    factor = semidefinite_root(correlation)
    size = len(correlation)
    normals = special.ndtri(uniforms(seed, Purpose.MAX_T, np.arange(n_draws)[:, None], np.arange(1, size + 1)))
    largest = np.zeros(n_draws)
    for row in factor:
        value = np.zeros(n_draws)
        for coefficient, one in zip(row, normals.T, strict=True):
            value += coefficient * one
        np.maximum(largest, np.abs(value), out=largest)
    if df is None or not np.isfinite(df):
        return largest
    chance = uniforms(seed, Purpose.MAX_T, np.arange(n_draws), np.zeros(n_draws, dtype=np.int64))
    return np.asarray(largest / np.sqrt(2 * special.gammaincinv(df / 2, chance) / df))


def semidefinite_root(matrix: Floats) -> Floats:
    """A lower triangular L with L L' = matrix, for covariances that may be singular (Cholesky, row by row)."""
    size = len(matrix)
    root = np.zeros((size, size))
    for i in range(size):
        for j in range(i):
            if root[j, j] > 0:
                root[i, j] = (matrix[i, j] - (root[i, :j] * root[j, :j]).sum()) / root[j, j]
        left = matrix[i, i] - (root[i, :i] ** 2).sum()
        root[i, i] = left**0.5 if left > _NOT_POSITIVE * matrix[i, i] else 0.0
    return root
