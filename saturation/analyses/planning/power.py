"""How likely a test finds a difference, and how large a difference it is likely to find."""

from __future__ import annotations

from scipy import special

from saturation.resampling.intervals import critical

MANY = 1e6
"""Degrees of freedom from which Student's t is normal to six digits."""


def power(difference: float, se: float, df: float, level: float = 0.95) -> float:
    """Chance that a two-sided t test at 1 - level rejects when the difference is this large (noncentral t).

    Parameters
    ----------
    difference
        True difference.
    se
        Standard error of its estimate.
    df
        Degrees of freedom of the standard error.
    level
        1 - the size of the test.

    Examples
    --------
    >>> round(power(0.0, 1.0, 20), 4), round(power(2.8, 1.0, 1e9), 3)
    (0.05, 0.8)
    """
    if df >= MANY:
        edge = critical(level)
        return float(special.ndtr(difference / se - edge) + special.ndtr(-difference / se - edge))
    edge = critical(level, df)
    shift = abs(difference) / se
    return float(1 - special.nctdtr(df, shift, edge) + special.nctdtr(df, shift, -edge))


def detectable(se: float, df: float, level: float = 0.95, power_wanted: float = 0.8) -> float:
    """The difference that the test finds with the power wanted, by bisection.

    Examples
    --------
    >>> round(detectable(1.0, 1e9), 3)  # 1.96 + 0.842
    2.802
    """
    low, high = 0.0, 2 * critical(level, df) + 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if power(middle, 1.0, df, level) < power_wanted else (low, middle)
    return se * (low + high) / 2
