"""Simultaneous bands and tests for several correlated statistics: the largest of their absolute t values."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import special

from saturation.resampling.intervals import critical
from saturation.streams import Purpose, uniforms
from saturation.typing import Floats

_NOT_POSITIVE = 1e-10
_DEGREE = 64
"""Of the polynomial behind chi-squared quantiles: their relative error is below 1e-11 in 20,000 draws."""
_KEPT = 64
"""Columns of draws that are kept for the next band: 160 kB each at the default number of draws."""


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
    largest = np.zeros(n_draws)
    for row in semidefinite_root(correlation):
        value = np.zeros(n_draws)
        for stream, coefficient in enumerate(row, start=1):
            if coefficient != 0:
                value += coefficient * _normals(seed, n_draws, stream)
        np.maximum(largest, np.abs(value), out=largest)
    if df is None or not np.isfinite(df):
        return largest
    return np.asarray(largest / _scales(seed, n_draws, float(df)))


@lru_cache(maxsize=_KEPT)
def _normals(seed: int, n_draws: int, stream: int) -> Floats:
    """(draws,) standard normals of one stream, shared by all bands of a seed; not to be written to."""
    drawn = uniforms(seed, Purpose.MAX_T, np.arange(n_draws), np.full(n_draws, stream, dtype=np.int64))
    return _fixed(special.ndtri(drawn))


@lru_cache(maxsize=_KEPT)
def _scales(seed: int, n_draws: int, df: float) -> Floats:
    """(draws,) root of chi-squared over its degrees of freedom, by quantiles of stream 0; not to be written to."""
    return _fixed(np.sqrt(chi_squared_quantiles(_normals(seed, n_draws, 0), df) / df))


def chi_squared_quantiles(z: Floats, df: float) -> Floats:
    """Quantiles of chi-squared at the probabilities Phi(z), for many z at once.

    Their logarithm is a smooth function of z, so that a polynomial through ``_DEGREE`` + 1 Chebyshev points between
    the smallest and the largest z stands in for as many inversions of the incomplete gamma function as there are z.

    Examples
    --------
    >>> [round(float(q), 3) for q in chi_squared_quantiles(np.array([-1.0, 0.0, 1.0]), 2)]  # -2 ln(1 - Phi(z))
    [0.346, 1.386, 3.682]
    """
    middle, half = (float(z.max()) + float(z.min())) / 2, max((float(z.max()) - float(z.min())) / 2, 1e-9)

    def log_quantile(at: Floats) -> Floats:
        point = middle + half * at
        lower = special.gammaincinv(df / 2, special.ndtr(np.minimum(point, 0.0)))
        upper = special.gammainccinv(df / 2, special.ndtr(-np.maximum(point, 0.0)))
        return np.asarray(np.log(2 * np.where(point < 0, lower, upper)))

    points = np.polynomial.chebyshev.chebpts1(_DEGREE + 1)
    terms = np.polynomial.chebyshev.chebvander(points, _DEGREE) * log_quantile(points)[:, None]
    coefficients = 2 * terms.sum(axis=0) / len(points)
    coefficients[0] /= 2
    return np.asarray(np.exp(np.polynomial.chebyshev.chebval((z - middle) / half, coefficients)))


def _fixed(values: Floats) -> Floats:
    values.flags.writeable = False
    return values


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
