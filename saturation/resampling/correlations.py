"""Two correlations that share a variable and the items: r12 and r13 on the same items, with r23 between 2 and 3.

Formulas for normal variables, elementwise on arrays. Entropies are bounded and skewed, so that a paired bootstrap on
Fisher's z is the better default; these are what others print.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from saturation.errors import UsageError
from saturation.resampling.intervals import critical
from saturation.typing import Floats


def williams(r12: Floats, r13: Floats, r23: Floats, n: Floats | float) -> tuple[Floats, Floats, Floats]:
    """Williams' t of r12 - r13 = 0 (Williams 1959; Steiger 1980, eq. 7).

    t = (r12 - r13) sqrt((n-1)(1+r23) / (2 (n-1)/(n-3) D + rbar^2 (1-r23)^3)), df = n - 3, rbar = (r12 + r13)/2,
    D = 1 - r12^2 - r13^2 - r23^2 + 2 r12 r13 r23.

    Parameters
    ----------
    r12, r13, r23
        (...) correlations.
    n
        Items.

    Returns
    -------
    t, df, two-sided p; NaN where n < 4 or the denominator is 0.

    Examples
    --------
    >>> t, df, p = williams(0.4, 0.5, 0.1, 103)
    >>> round(float(t), 2), float(df), round(float(p), 2)
    (-0.89, 100.0, 0.37)
    """
    r12, r13, r23, n = _checked(r12, r13, r23, n)
    df = np.where(n > 3, n - 3, np.nan)
    mean = (r12 + r13) / 2
    denominator = 2 * (n - 1) / df * _determinant(r12, r13, r23) + mean**2 * (1 - r23) ** 3
    usable = np.isfinite(denominator) & (denominator > 0)
    inside = (n - 1) * (1 + r23) / np.where(usable, denominator, 1.0)
    t = np.where(usable, (r12 - r13) * np.sqrt(np.maximum(inside, 0.0)), np.nan)
    return t, df, 2 * special.stdtr(df, -np.abs(t))


def steiger(r12: Floats, r13: Floats, r23: Floats, n: Floats | float) -> tuple[Floats, Floats]:
    """Steiger's z of r12 - r13 = 0 on Fisher's z, with the pooled correlation (Steiger 1980, eq. 14).

    z = (artanh r12 - artanh r13) sqrt(n - 3) / sqrt(2 - 2 c), c = (r23 (1 - 2 rbar^2) - rbar^2 (1 - 2 rbar^2 - r23^2)
    / 2) / (1 - rbar^2)^2.

    Returns
    -------
    z, two-sided p; NaN where n < 4, a correlation is -1 or 1, or models 2 and 3 agree entirely.

    Examples
    --------
    >>> z, p = steiger(0.4, 0.5, 0.1, 103)
    >>> round(float(z), 2), round(float(p), 2)
    (-0.89, 0.37)
    """
    r12, r13, r23, n = _checked(r12, r13, r23, n)
    square = ((r12 + r13) / 2) ** 2
    usable = (n > 3) & (np.abs(r12) < 1) & (np.abs(r13) < 1)
    c = (r23 * (1 - 2 * square) - square * (1 - 2 * square - r23**2) / 2) / np.where(usable, (1 - square) ** 2, 1.0)
    usable &= c < 1
    z12, z13 = (np.arctanh(np.where(usable, r, 0.0)) for r in (r12, r13))
    z = np.where(usable, (z12 - z13) * np.sqrt(np.maximum(n - 3, 0) / np.where(usable, 2 - 2 * c, 1.0)), np.nan)
    return z, 2 * special.ndtr(-np.abs(z))


def zou(r12: Floats, r13: Floats, r23: Floats, n: Floats | float, level: float = 0.95) -> tuple[Floats, Floats]:
    """Zou's interval of r12 - r13 (Zou 2007, eq. 15): no symmetry assumed, from the Fisher-z limits of each.

    L = d - sqrt((r12-l1)^2 + (u2-r13)^2 - 2c (r12-l1)(u2-r13)), U by symmetry, with c the correlation of r12 and r13:
    ((r23 - r12 r13/2)(1 - r12^2 - r13^2 - r23^2) + r23^3) / ((1-r12^2)(1-r13^2)).

    Returns
    -------
    low, high; NaN where n < 4 or a correlation is -1 or 1.

    Examples
    --------
    >>> low, high = zou(0.396, 0.179, 0.088, 66)  # Zou 2007, example 2
    >>> round(float(low), 3), round(float(high), 3)
    (-0.093, 0.517)
    """
    r12, r13, r23, n = _checked(r12, r13, r23, n)
    usable = (n > 3) & (np.abs(r12) < 1) & (np.abs(r13) < 1)
    r12, r13 = (np.where(usable, r, np.nan) for r in (r12, r13))
    half = critical(level) / np.sqrt(np.where(usable, n - 3, np.nan))
    low1, high1 = np.tanh(np.arctanh(r12) - half), np.tanh(np.arctanh(r12) + half)
    low2, high2 = np.tanh(np.arctanh(r13) - half), np.tanh(np.arctanh(r13) + half)
    shared = (r23 - r12 * r13 / 2) * (1 - r12**2 - r13**2 - r23**2) + r23**3
    c = shared / ((1 - r12**2) * (1 - r13**2))
    difference = r12 - r13
    below = (r12 - low1) ** 2 + (high2 - r13) ** 2 - 2 * c * (r12 - low1) * (high2 - r13)
    above = (high1 - r12) ** 2 + (r13 - low2) ** 2 - 2 * c * (high1 - r12) * (r13 - low2)
    return difference - np.sqrt(np.maximum(below, 0)), difference + np.sqrt(np.maximum(above, 0))


def _determinant(r12: Floats, r13: Floats, r23: Floats) -> Floats:
    """Of the 3 x 3 correlation matrix; never below 0, where rounding could put it."""
    return np.maximum(1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23, 0.0)


def _checked(*values: Floats | float) -> tuple[Floats, ...]:
    arrays = tuple(np.asarray(value, dtype=np.float64) for value in values)
    for r in arrays[:3]:
        if (np.abs(r) > 1).any():
            raise UsageError(f"{float(r[np.abs(r) > 1].ravel()[0])} is not a correlation: it lies outside [-1, 1]")
    return tuple(np.broadcast_arrays(*arrays))
