"""The joint uncertainty of many losses: linearised with few training seeds, resampled (items x seeds) with many.

Both answer the same three questions - a linear contrast, a fraction, a simultaneous band - for any combination of the
same statistics, so that everything printed for a study agrees with everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.fractions import Fraction, dot, fraction
from saturation.resampling import intervals
from saturation.resampling.intervals import Interval
from saturation.resampling.linearized import Covariance
from saturation.resampling.max_t import max_t
from saturation.typing import Floats

MANY = 10**9
"""Degrees of freedom of a covariance that comes from resamples: Student's t is the normal."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A linear contrast with its uncertainty."""

    estimate: float
    interval: Interval
    se: float | None
    p: float | None

    def band(self, critical: float | None) -> tuple[float | None, float | None]:
        """Estimate +- critical value times its standard error; (None, None) where one of them does not exist."""
        if critical is None or self.se is None:
            return None, None
        return self.estimate - critical * self.se, self.estimate + critical * self.se


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Estimates of several losses with their joint uncertainty.

    Attributes
    ----------
    losses
        (statistics,) lower is better; NaN where undefined.
    covariance
        Of the statistics.
    distribution
        (resamples, statistics) under items x seeds; None: everything from ``covariance``.
    level
        Nominal coverage.
    seed
        Of the draws behind simultaneous bands.
    """

    losses: Floats
    covariance: Covariance
    distribution: Floats | None
    level: float
    seed: int

    def contrast(self, coefficients: Floats, estimate: float | None = None) -> Answer:
        """A linear combination of the losses; ``estimate`` where it stands for a smooth function's derivative."""
        value = dot(coefficients, self.losses) if estimate is None else estimate
        variance, _ = self.covariance.variance(coefficients)
        se = variance**0.5 if np.isfinite(variance) and variance > 0 else None
        if self.distribution is None or estimate is not None:
            made = self.covariance.interval(value, coefficients, self.level)
            if self.distribution is not None and made.low is not None:
                made = replace(made, method="normal")
            return Answer(value, made, se, self.covariance.p_value(value, coefficients))
        return self._percentile(value, _combined(self.distribution, coefficients), se)

    def upper(self, coefficients: Floats) -> float | None:
        """One-sided upper bound of a linear combination at the level."""
        two_sided = max(2 * self.level - 1, 0.0)
        if self.distribution is None:
            return self.covariance.interval(dot(coefficients, self.losses), coefficients, two_sided).high
        return intervals.percentile(_combined(self.distribution, coefficients), two_sided).high

    def fraction(self, over: Floats, under: Floats) -> Fraction:
        """The fraction of two combinations; with resamples its limits are percentiles, Fieller's set beside."""
        made = fraction(self.losses, over, under, self.covariance, self.level)
        if self.distribution is None or made.interval != "fieller" or made.estimate is None:
            return made
        ratios = _ratios(self.distribution, over, under)
        two_sided = intervals.percentile(ratios, self.level)
        one_sided = intervals.percentile(ratios, max(2 * self.level - 1, 0.0))
        turned = float((_combined(self.distribution, under) * made.denominator <= 0).mean())
        told = f"the denominator changes sign in {turned:.1%} of the resamples" if turned else None
        return replace(
            made,
            low=two_sided.low,
            high=two_sided.high,
            lower=one_sided.low,
            p=percentile_p(ratios),
            interval=two_sided.method,
            reason="; ".join(filter(None, (made.reason, two_sided.reason, told))) or None,
        )

    def difference(self, one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Answer, Floats]:
        """Difference of two fractions (over, under), and the coefficients of its delta-method form."""
        coefficients = self.slope(*one) - self.slope(*other)
        estimate = self._ratio(*one) - self._ratio(*other)
        answer = self.contrast(coefficients, estimate)
        if self.distribution is not None and answer.se is not None:
            resampled = _ratios(self.distribution, *one) - _ratios(self.distribution, *other)
            answer = self._percentile(estimate, resampled, answer.se)
        return answer, coefficients

    def slope(self, over: Floats, under: Floats) -> Floats:
        """(statistics,) derivatives of a fraction: (over - f under) / (under . losses)."""
        return np.asarray((over - self._ratio(over, under) * under) / dot(under, self.losses))

    def critical(self, contrasts: Sequence[Floats]) -> float | None:
        """The critical value that all of several contrasts stay below together; None where one does not vary."""
        if not contrasts:
            return None
        rows = np.stack(contrasts)
        variances = [self.covariance.variance(row) for row in rows]
        if not all(np.isfinite(v) and v > 0 for v, _ in variances):
            return None
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = self.covariance.correlation(rows)
        if not np.isfinite(correlation).all():
            return None
        return max_t(correlation, min(df for _, df in variances), self.level, self.seed)

    def fraction_band(self, over: Floats, under: Floats, critical: float) -> tuple[float | None, float | None]:
        """Fieller's limits of a fraction at a simultaneous critical value; None where they are not bounded."""
        numerator, denominator = dot(over, self.losses), dot(under, self.losses)
        _, df = self.covariance.variance(over - numerator / denominator * under)
        factor = (critical / intervals.critical(self.level, df)) ** 2
        wider = self.covariance.map(lambda part: factor * part)
        found = wider.ratio(numerator, denominator, over, under, self.level)
        return (found.low, found.high) if found.shape == "bounded" else (None, None)

    def _ratio(self, over: Floats, under: Floats) -> float:
        return dot(over, self.losses) / dot(under, self.losses)

    def _percentile(self, value: float, resampled: Floats, se: float | None) -> Answer:
        made = intervals.percentile(resampled, self.level)
        return Answer(value, made, se, percentile_p(resampled) if made.low is not None else None)


def percentile_p(distribution: Floats, null: float = 0.0) -> float | None:
    """The p-value that inverts the percentile interval: below 1 - level exactly when the null is excluded.

    Never below 2 / (resamples + 1), what resamples that are all on one side show.

    Examples
    --------
    >>> round(percentile_p(np.arange(101.0) - 5), 9)  # 0 is the 5% quantile
    0.1
    """
    kept = np.sort(distribution[np.isfinite(distribution)])
    if len(kept) < 2 or kept[0] == kept[-1]:
        return None
    share = float(np.interp(null, kept, np.linspace(0, 1, len(kept))))
    return max(2 * min(share, 1 - share), 2 / (len(kept) + 1))


def from_resamples(distribution: Floats, n_seeds: Sequence[int]) -> Covariance:
    """The covariance of resampled statistics, as one part; ``n_seeds`` of each split, for what it leaves out."""
    defined = np.where(np.isfinite(distribution), distribution, np.nan)
    centred = np.nan_to_num(defined - _mean(defined))
    size = centred.shape[1]
    spread = np.stack([(centred[:, [s]] * centred).sum(axis=0) for s in range(size)]) / (len(centred) - 1)
    none = np.zeros((size, size))
    seeds_df = MANY if min(n_seeds) > 1 else 0
    return Covariance(spread, none, none, none, items_df=MANY, seeds_df=seeds_df, annotators_df=float("inf"))


def _mean(defined: Floats) -> Floats:
    counted = np.isfinite(defined).sum(axis=0)
    return np.asarray(np.nansum(defined, axis=0) / np.maximum(counted, 1))


def _combined(distribution: Floats, coefficients: Floats) -> Floats:
    used = np.flatnonzero(coefficients)
    return np.asarray((distribution[:, used] * coefficients[used]).sum(axis=1), dtype=np.float64)


def _ratios(distribution: Floats, over: Floats, under: Floats) -> Floats:
    denominator = _combined(distribution, under)
    numerator = _combined(distribution, over)
    safe = np.where(denominator != 0, denominator, np.nan)
    return np.asarray(numerator / safe, dtype=np.float64)
