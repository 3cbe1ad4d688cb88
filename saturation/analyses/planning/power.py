"""How likely a test finds a difference, and how large a difference it is likely to find."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import special

from saturation.resampling.intervals import critical
from saturation.typing import Floats

_NODES = 400


def power(difference: float, se: float, df: float, level: float = 0.95) -> float:
    """Chance that a two-sided t test at 1 - level rejects when the difference is this large (noncentral t).

    Parameters
    ----------
    difference
        True difference.
    se
        Its true standard error; the test estimates it with ``df`` degrees of freedom.
    df
        Degrees of freedom.
    level
        1 - the size of the test.

    Notes
    -----
    The normal probability given the estimated standard error, averaged over its chi distribution by Gauss-Legendre
    quadrature in the distribution's own quantiles: library functions for the noncentral t fail at large differences.

    Examples
    --------
    >>> round(power(0.0, 1.0, 20), 4), round(power(2.8, 1.0, 1e9), 3)
    (0.05, 0.8)
    """
    shift = abs(difference) / se
    estimated, weights = _estimated_errors(df)
    edges = critical(level, df) * estimated
    return min(float((weights * (special.ndtr(shift - edges) + special.ndtr(-shift - edges))).sum()), 1.0)


def detectable(se: float, df: float, level: float = 0.95, power_wanted: float = 0.8) -> float:
    """The difference that the test finds with the power wanted, by bisection.

    Examples
    --------
    >>> round(detectable(1.0, 1e9), 3)  # 1.96 + 0.842
    2.802
    """
    low, high = 0.0, 3 * critical(level, df) + 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if power(middle, 1.0, df, level) < power_wanted else (low, middle)
    return se * (low + high) / 2


@lru_cache(maxsize=64)
def _estimated_errors(df: float) -> tuple[Floats, Floats]:
    """Estimates of a standard error of 1, and their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return np.sqrt(special.chdtri(df, (1 - nodes) / 2) / df), weights / 2
