"""Intervals from a bootstrap distribution or a standard error, and p-values that agree with them.

Every function returns an :class:`Interval`; where none can be given honestly its ends are None and ``reason``
says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from saturation.typing import Floats, IntervalName

_MOST_UNDEFINED = 0.01
_EXTREME_SHARE = 0.01
_ROUNDING = 1e-14
"""A spread below this part of the values is what their summation left behind."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Two ends, how they were made, and in words why there are none or what to keep in mind."""

    low: float | None
    high: float | None
    method: IntervalName
    reason: str | None = None


def none(reason: str) -> Interval:
    """No interval, with the reason."""
    return Interval(None, None, "none", reason)


def critical(level: float, df: float | None = None) -> float:
    """The two-sided critical value of Student's t, or of the normal where ``df`` is None or infinite.

    Examples
    --------
    >>> round(critical(0.95), 4), round(critical(0.95, df=9), 4)
    (1.96, 2.2622)
    """
    upper = (1 + level) / 2
    if df is None or not np.isfinite(df):
        return float(special.ndtri(upper))
    return float(special.stdtrit(df, upper))


def percentile(distribution: Floats, level: float = 0.95) -> Interval:
    """The central part of the distribution of resampled statistics.

    Examples
    --------
    >>> interval = percentile(np.arange(101.0), level=0.90)
    >>> round(interval.low, 9), round(interval.high, 9)
    (5.0, 95.0)
    """
    kept, reason = defined(distribution)
    if kept is None:
        return none(str(reason))
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), "percentile", reason)


def basic(distribution: Floats, estimate: float, level: float = 0.95) -> Interval:
    """The percentile interval mirrored at the estimate (2 T - q); it does not double the bias."""
    mirrored = percentile(distribution, level)
    if mirrored.low is None or mirrored.high is None:
        return mirrored
    return Interval(2 * estimate - mirrored.high, 2 * estimate - mirrored.low, "basic", mirrored.reason)


def bca(distribution: Floats, estimate: float, jackknife_values: Floats, level: float = 0.95) -> Interval:
    """Bias-corrected and accelerated percentile interval (Efron 1987; Efron and Tibshirani 1993, eq. 14.10).

    Parameters
    ----------
    distribution
        (resamples,) resampled statistics.
    estimate
        The statistic of the sample.
    jackknife_values
        (items,) the statistic without each item.
    level
        Nominal coverage.

    Returns
    -------
    Ends None with a reason where all resamples agree, or where fewer than 1% or more than 99% of them lie below
    the estimate: the correction would then extrapolate.
    """
    kept, reason = defined(distribution)
    if kept is None:
        return none(str(reason))
    share = _share_below(kept, estimate)
    if not _EXTREME_SHARE <= share <= 1 - _EXTREME_SHARE:
        return none(f"BCa is not defined: {share:.1%} of the resamples lie below the estimate")
    spread = float(((jackknife_values.mean() - jackknife_values) ** 2).sum())
    if not np.isfinite(spread) or spread == 0:
        return none("BCa is not defined: the statistic without one item does not vary or does not exist")
    bias, acceleration = bias_and_acceleration(kept, estimate, jackknife_values)
    ends = bias + special.ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    shares = special.ndtr(bias + ends / (1 - acceleration * ends))
    low, high = np.quantile(kept, shares)
    return Interval(float(low), float(high), "bca", reason)


def bias_and_acceleration(distribution: Floats, estimate: float, jackknife_values: Floats) -> tuple[float, float]:
    """The two constants of BCa: z0 and a (Efron and Tibshirani 1993, eq. 14.14 and 14.15).

    Parameters
    ----------
    distribution
        (resamples,) defined resampled statistics, some on either side of the estimate.
    estimate
        The statistic of the sample.
    jackknife_values
        (items,) the statistic without each item; they vary.

    Examples
    --------
    >>> bias_and_acceleration(np.array([1.0, 2.0, 4.0, 5.0]), 3.0, np.array([2.0, 3.0, 4.0]))
    (0.0, 0.0)
    """
    deviations = jackknife_values.mean() - jackknife_values
    acceleration = float((deviations**3).sum()) / (6 * float((deviations**2).sum()) ** 1.5)
    return float(special.ndtri(_share_below(distribution, estimate))), acceleration


def _share_below(distribution: Floats, estimate: float) -> float:
    """Share of the resamples below the estimate, those equal to it counted half."""
    return float(((distribution < estimate).mean() + (distribution <= estimate).mean()) / 2)


def studentized(estimate: float, se: float, t_star: Floats, level: float = 0.95) -> Interval:
    """Bootstrap-t: the estimate minus quantiles of t* = (T* - T) / se*, in units of its own standard error."""
    kept, reason = defined(t_star)
    if kept is None:
        return none(str(reason))
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(estimate - high * se), float(estimate - low * se), "studentized", reason)


def normal(
    estimate: float, se: float, level: float = 0.95, df: float | None = None, method: IntervalName = "normal"
) -> Interval:
    """Estimate plus and minus a critical value (Student's t with ``df``) times the standard error.

    Examples
    --------
    >>> interval = normal(10.0, 2.0)
    >>> round(interval.low, 3), round(interval.high, 3)
    (6.08, 13.92)
    """
    if not np.isfinite(se) or se <= _ROUNDING * abs(estimate):
        return none("no spread to build an interval from: every unit gives the same value")
    half = critical(level, df) * se
    return Interval(float(estimate - half), float(estimate + half), method)


def fisher_z(
    r: float, sd_z: float, level: float = 0.95, df: float | None = None, method: IntervalName = "normal"
) -> Interval:
    """Interval of a correlation, made on Fisher's z = artanh r, where its spread hardly depends on r.

    Examples
    --------
    >>> interval = fisher_z(0.0, 0.1)
    >>> round(interval.high, 4)  # tanh(0.196)
    0.1935
    """
    if not -1 < r < 1:
        return none("Fisher's z is infinite: the correlation is -1 or 1")
    on_z = normal(float(np.arctanh(r)), sd_z, level, df, method)
    if on_z.low is None or on_z.high is None:
        return on_z
    return Interval(float(np.tanh(on_z.low)), float(np.tanh(on_z.high)), method, on_z.reason)


def studentized_p(t: float, t_star: Floats) -> float:
    """Two-sided p of a studentised statistic: (1 + how many resamples are as extreme) / (resamples + 1).

    Examples
    --------
    >>> studentized_p(2.0, np.array([0.5, -2.5, 1.0]))
    0.5
    """
    return (1 + int((np.abs(t_star) >= abs(t)).sum())) / (len(t_star) + 1)


def inversion_p(interval_at: Callable[[float], Interval], null: float = 0.0) -> float | None:
    """The p-value of a null value by inverting an interval: below 1 - level exactly when it is excluded.

    Parameters
    ----------
    interval_at
        level -> the interval that is printed, at that level; wider at higher levels.
    null
        The value tested.

    Returns
    -------
    None where there is no interval. p is exact to 1e-9.
    """
    inside, outside = 1.0 - 1e-12, 0.0
    for _ in range(60):
        level = (inside + outside) / 2
        interval = interval_at(level)
        if interval.low is None or interval.high is None:
            return None
        if interval.low <= null <= interval.high:
            inside = level
        else:
            outside = level
    return 1.0 - inside


def agree(values: Floats) -> bool:
    """Whether all values are the same but for rounding.

    Examples
    --------
    >>> agree(np.array([0.3, 0.1 + 0.2])), agree(np.array([0.3, 0.3001]))
    (True, False)
    """
    low, high = float(values.min()), float(values.max())
    return low == high or high - low <= _ROUNDING * max(abs(low), abs(high)) < np.inf


def too_many_lost(defined: NDArray[np.bool_]) -> bool:
    """Whether more than 1% of the resamples are undefined, so that the rest say nothing about all."""
    return int((~defined).sum()) > _MOST_UNDEFINED * len(defined) or not defined.any()


def defined(distribution: Floats) -> tuple[Floats | None, str | None]:
    """The defined resamples and what to say about the others.

    None with the reason where more than 1% are undefined or all agree.

    Examples
    --------
    >>> defined(np.ones(3))[1]
    'all resamples agree: no spread to build an interval from'
    """
    kept = distribution[~np.isnan(distribution)]
    lost = len(distribution) - len(kept)
    if too_many_lost(~np.isnan(distribution)):
        return None, f"the statistic is undefined in {lost} of {len(distribution)} resamples"
    if agree(kept):
        return None, "all resamples agree: no spread to build an interval from"
    return kept, f"{lost} of {len(distribution)} resamples are undefined and left out" if lost else None
