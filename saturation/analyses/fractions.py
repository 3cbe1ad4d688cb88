"""Saturation fractions: ratios of linear contrasts of losses, with Fieller's set; they know no panel and no votes.

Everything here takes the estimates of several *losses* (higher-is-better metrics are negated before) and their
:class:`~saturation.resampling.linearized.Covariance`. A fraction is (over . losses) / (under . losses), e.g. over =
l_base - l_N and under = l_base - l_ceil: a ratio of means over cells, never a mean of ratios.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from saturation.resampling.fieller import FiellerSet
from saturation.resampling.linearized import Covariance
from saturation.typing import Floats, IntervalName

WORSE_CEILING = "the ceiling is worse than the baseline: a share of a deterioration, not of an improvement"
UNBOUNDED = "no interval: with the degrees of freedom of this fraction Fieller's set is not bounded"
SAME_FOR_ALL = "the same share for every item and seed, whatever their sample: needs no interval"
NOTHING_MOVED = "no interval: the budget agrees with {} on every item and seed, so nothing shows how sure that is"
ALIKE = "undefined: the denominator cannot be tested (it is the same on every item and seed)"
NOTHING = 1e-12
"""A standard error below this part of the losses is what rounding leaves of 0."""
ROUNDING = 1e-13
"""A variance below this part of the denominator's is what cancellation leaves of 0."""
BASELINE_IS_CEILING = "the baseline is the ceiling: there is no improvement to take a share of"


@dataclass(frozen=True, slots=True)
class Fraction:
    """A ratio of two contrasts, or the reason why it is undefined.

    Attributes
    ----------
    estimate
        The ratio; None where its denominator is not distinguishable from 0.
    numerator, denominator
        The two contrasts.
    low, high
        Fieller's interval; None where there is none.
    lower
        One-sided lower bound at ``level`` (what N* compares with q); None where there is none.
    se
        Delta-method standard error: sqrt(V(num - f den)) / abs(den).
    p
        Two-sided p of fraction = 0, tested as numerator = 0 with the degrees of freedom of the interval.
    denominator_p
        Two-sided p of denominator = 0; None without a spread to test it against.
    fieller
        The whole confidence set; None where there is no spread at all.
    interval
        ``fieller``, ``exact`` (0 and 1 by definition, or the same share for every item) or ``none``.
    reason
        Why something is missing, or what to keep in mind.
    """

    estimate: float | None
    numerator: float
    denominator: float
    low: float | None = None
    high: float | None = None
    lower: float | None = None
    se: float | None = None
    p: float | None = None
    denominator_p: float | None = None
    fieller: FiellerSet | None = None
    interval: IntervalName = "none"
    reason: str | None = None


WITHOUT_AN_ITEM = "no interval: a loss at this budget does not exist without one of the items"


def fraction(losses: Floats, over: Floats, under: Floats, covariance: Covariance, level: float = 0.95) -> Fraction:
    """The fraction (over . losses) / (under . losses) with its confidence set.

    It is undefined (estimate None, with a reason; Fieller's set is still given) where the t test of the denominator
    does not reject 0. Fieller's set uses the degrees of freedom of the fraction, which can be fewer: where it is not
    bounded, low and high are None. Where the two contrasts agree it is 1 by definition, where ``over`` is zero it is
    0: ``exact``; so is a share that is the same for every item (brier of votes: the 1/N of an identity).

    Parameters
    ----------
    losses
        (statistics,) estimates, lower is better.
    over, under
        (statistics,) contrasts of numerator and denominator.
    covariance
        Of the same statistics.
    level
        Nominal coverage of (low, high), and of the one-sided bound ``lower``.

    References
    ----------
    Fieller 1954, J. R. Stat. Soc. B 16, 175: {f0: abs(num - f0 den) <= t_df sqrt(V(num - f0 den))}.

    Examples
    --------
    Baseline 1.0, budget N 0.6, ceiling 0.5, of 100 items each with its own noise:

    >>> parts = np.diag([1e-4, 1e-4, 1e-4]), np.zeros((3, 3))
    >>> spread = Covariance(parts[0], parts[1], parts[1], parts[1], items_df=99, seeds_df=0, annotators_df=np.inf)
    >>> f = fraction(np.array([1.0, 0.6, 0.5]), np.array([1.0, -1, 0]), np.array([1.0, 0, -1]), spread)
    >>> round(f.estimate, 6), round(f.low, 3), round(f.high, 3)  # (1 - .6) / (1 - .5)
    (0.8, 0.749, 0.852)
    """
    numerator, denominator = dot(over, losses), dot(under, losses)
    if not np.any(under):
        return Fraction(None, numerator, denominator, reason=BASELINE_IS_CEILING)
    denominator_p = covariance.p_value(denominator, under)
    rounding = (NOTHING * dot(np.abs(under), np.abs(losses))) ** 2
    if denominator_p is None or covariance.variance(under)[0] <= rounding:
        reason = _no_spread(under, covariance) if denominator_p is None else ALIKE
        return Fraction(None, numerator, denominator, reason=reason)
    known = 1.0 if np.array_equal(over, under) else 0.0 if not np.any(over) else None
    if known is not None:
        return _by_definition(known, numerator, denominator, denominator_p, level)
    whole = covariance.ratio(numerator, denominator, over, under, level)
    if denominator_p >= 1 - level:
        reason = not_distinguishable(denominator_p)
        return Fraction(None, numerator, denominator, denominator_p=denominator_p, fieller=whole, reason=reason)
    estimate = numerator / denominator
    variance, df = covariance.variance(over - estimate * under)
    if not variance > ROUNDING * (1 + estimate**2) * covariance.variance(under)[0]:
        return _without_spread(numerator, denominator, denominator_p, variance)
    one_sided = covariance.ratio(numerator, denominator, over, under, max(2 * level - 1, 0.0))
    bounded = whole.shape == "bounded"
    return Fraction(
        estimate=estimate,
        numerator=numerator,
        denominator=denominator,
        low=whole.low if bounded else None,
        high=whole.high if bounded else None,
        lower=one_sided.low if one_sided.shape == "bounded" else None,
        se=variance**0.5 / abs(denominator),
        p=_p_of(numerator, covariance.variance(over)[0], df),
        denominator_p=denominator_p,
        fieller=whole,
        interval="fieller" if bounded else "none",
        reason=_remarks(None if bounded else UNBOUNDED, _worse(denominator), covariance.reason),
    )


def not_distinguishable(p: float) -> str:
    """Why a fraction is undefined, in words."""
    return (
        f"undefined: the whole improvement from baseline to ceiling is not distinguishable from 0 (p = {p:.2g}); "
        "see the shortfall instead"
    )


def dot(contrast: Floats, values: Floats) -> float:
    """Sum of products over the nonzero coefficients, so that an undefined statistic elsewhere does not matter."""
    used = np.flatnonzero(contrast)
    return float((np.asarray(contrast)[used] * np.asarray(values)[used]).sum())


def _by_definition(value: float, numerator: float, denominator: float, denominator_p: float, level: float) -> Fraction:
    if denominator_p >= 1 - level:
        reason = not_distinguishable(denominator_p)
        return Fraction(None, numerator, denominator, denominator_p=denominator_p, reason=reason)
    what = "it is the ceiling itself" if value else "it is the baseline itself"
    return Fraction(
        estimate=value,
        numerator=numerator,
        denominator=denominator,
        low=value,
        high=value,
        lower=value,
        se=0.0,
        denominator_p=denominator_p,
        interval="exact",
        reason=_remarks(f"{what}: exactly {value:.0f} by definition, needs no interval", _worse(denominator)),
    )


def _without_spread(numerator: float, denominator: float, denominator_p: float, variance: float) -> Fraction:
    """A share that is the same for every item is so by an identity; to agree with one of the ends may be luck."""
    if np.isnan(variance):
        share = numerator / denominator
        return Fraction(share, numerator, denominator, denominator_p=denominator_p, reason=WITHOUT_AN_ITEM)
    for end, name in ((0.0, "the baseline"), (1.0, "the ceiling")):
        if abs(numerator - end * denominator) <= ROUNDING * abs(denominator):
            reason = _remarks(NOTHING_MOVED.format(name), _worse(denominator))
            return Fraction(end, numerator, denominator, denominator_p=denominator_p, reason=reason)
    known = numerator / denominator
    return Fraction(
        estimate=known,
        numerator=numerator,
        denominator=denominator,
        low=known,
        high=known,
        lower=known,
        se=0.0,
        denominator_p=denominator_p,
        interval="exact",
        reason=_remarks(SAME_FOR_ALL, _worse(denominator)),
    )


def _worse(denominator: float) -> str | None:
    return WORSE_CEILING if denominator < 0 else None


def _remarks(*remarks: str | None) -> str | None:
    return "; ".join(filter(None, remarks)) or None


def _p_of(estimate: float, variance: float, df: float) -> float | None:
    """Two-sided p with given degrees of freedom, so that it agrees with Fieller's interval."""
    if not variance > 0:
        return None
    return 2 * float(special.stdtr(df, -abs(estimate) / variance**0.5))


def _no_spread(under: Floats, covariance: Covariance) -> str:
    missing = covariance.interval(0.0, under).reason
    return f"undefined: the denominator cannot be tested ({missing})"
