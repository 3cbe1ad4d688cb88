"""Intervals around an estimate whose bias is not known but bounded: wide enough for the worst bias there can be."""

from __future__ import annotations

from dataclasses import replace

from scipy import special

from saturation.resampling.intervals import Interval, critical


def bias_aware(made: Interval, estimate: float | None, se: float | None, bound: float, level: float = 0.95) -> Interval:
    """The interval with room for a bias of at most ``bound`` (Armstrong and Kolesar 2018, eq. 4).

    Both halves are stretched by c / z, z the normal critical value and c the one of abs(Z + bound / se): coverage is at
    the level where the bias is at its bound, above it elsewhere. Adding ``bound`` to both halves would do too, and be
    wider: a bias moves the interval to one side only.

    Parameters
    ----------
    made
        Interval of an unbiased estimate.
    estimate, se
        Its centre and standard error; without them the interval stays as it is.
    bound
        In units of the estimate, not negative.
    level
        Nominal coverage.

    Examples
    --------
    >>> wide = bias_aware(Interval(-1.96, 1.96, "normal"), 0.0, 1.0, 2.0)
    >>> round(wide.high, 3)  # 2 + 1.645: the other side is too far away to matter
    3.645
    """
    if made.low is None or made.high is None or estimate is None or se is None or not se > 0 or bound == 0:
        return made
    stretch = biased_critical(level, bound / se) / critical(level)
    return replace(
        made, low=estimate - stretch * (estimate - made.low), high=estimate + stretch * (made.high - estimate)
    )


def biased_critical(level: float, bias: float) -> float:
    """The c with P(abs(Z + bias) <= c) = level, Z standard normal: the root of a noncentral chi-squared quantile.

    Examples
    --------
    >>> round(biased_critical(0.95, 0.0), 3), round(biased_critical(0.95, 10.0), 3)  # 1.96, and 10 + 1.645
    (1.96, 11.645)
    """
    if bias > 6:  # the other side is beyond reach
        return float(bias + special.ndtri(level))
    return float(special.chndtrix(level, 1, bias**2) ** 0.5)
