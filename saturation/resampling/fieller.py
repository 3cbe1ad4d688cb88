"""Fieller's confidence set of a ratio: all values that a test of numerator - f0 denominator = 0 does not reject."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from saturation.resampling.intervals import critical
from saturation.typing import Floats

Shape = Literal["bounded", "complement", "whole line"]
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class FiellerSet:
    """The confidence set of a ratio.

    Attributes
    ----------
    shape
        ``bounded``: [low, high]; ``complement``: everything but (low, high); ``whole line``.
    low, high
        The ends; None for the whole line. An end of a complement is infinite only when the numerator's test of the
        denominator is exactly at its critical value.
    """

    shape: Shape
    low: float | None
    high: float | None

    def holds(self, value: float) -> bool:
        """Whether a value lies in the set."""
        if self.low is None or self.high is None:
            return True
        inside = self.low <= value <= self.high
        return inside if self.shape == "bounded" else not self.low < value < self.high


WHOLE_LINE = FiellerSet("whole line", None, None)


def fieller(
    numerator: float, denominator: float, cov2x2: Floats, df: float | None = None, level: float = 0.95
) -> FiellerSet | None:
    """All f with (numerator - f denominator)^2 <= t^2 Var(numerator - f denominator) (Fieller 1954).

    Parameters
    ----------
    numerator, denominator
        Estimates.
    cov2x2
        Their covariance matrix.
    df
        Degrees of freedom of Student's t; None: normal.
    level
        Nominal coverage.

    Returns
    -------
    None where no value is left, which only a ``cov2x2`` that is no covariance (a difference of two) can do.

    Examples
    --------
    >>> known = fieller(1.0, 2.0, np.array([[0.01, 0.0], [0.0, 0.0]]))
    >>> known.shape, round(known.low, 3), round(known.high, 3)  # (1 +- 0.196) / 2
    ('bounded', 0.402, 0.598)
    >>> fieller(1.0, 0.1, np.eye(2)).shape
    'whole line'
    """
    square = critical(level, df) ** 2
    # a f^2 - 2 b f + c <= 0
    a = denominator**2 - square * float(cov2x2[1, 1])
    b = numerator * denominator - square * float(cov2x2[0, 1])
    c = numerator**2 - square * float(cov2x2[0, 0])
    discriminant = b * b - a * c
    if a > 0 and discriminant < -_ROUNDING * (b * b + abs(a * c)):
        return None
    if a > 0:
        return FiellerSet("bounded", *_roots(a, b, c, max(discriminant, 0.0)))
    if a == 0 and b != 0:
        edge = c / (2 * b)
        return FiellerSet("complement", *((-np.inf, edge) if b > 0 else (edge, np.inf)))
    if discriminant <= 0:
        return WHOLE_LINE
    return FiellerSet("complement", *_roots(a, b, c, discriminant))


def union(one: FiellerSet, other: FiellerSet, *, at: float) -> FiellerSet:
    """The union of two sets that both hold the estimate ``at`` (their gap is what both exclude)."""
    if "whole line" in (one.shape, other.shape):
        return WHOLE_LINE
    (low, high), (low2, high2) = _ends(one), _ends(other)
    if one.shape == other.shape == "bounded":
        return FiellerSet("bounded", min(low, low2), max(high, high2))
    if one.shape == other.shape:
        return _complement(max(low, low2), min(high, high2))
    if one.shape == "bounded":
        (low, high), (low2, high2) = (low2, high2), (low, high)
    # one complement of (low, high), one bounded [low2, high2] on the side of the estimate
    return _complement(low, min(high, low2)) if at >= high else _complement(max(low, high2), high)


def _complement(low: float, high: float) -> FiellerSet:
    return FiellerSet("complement", low, high) if low < high else WHOLE_LINE


def _ends(one: FiellerSet) -> tuple[float, float]:
    assert one.low is not None
    assert one.high is not None
    return one.low, one.high


def _roots(a: float, b: float, c: float, discriminant: float) -> tuple[float, float]:
    """Both roots of a f^2 - 2 b f + c, ascending, without cancellation."""
    larger = b + np.copysign(discriminant**0.5, b)
    if larger == 0:
        return 0.0, 0.0
    low, high = sorted((float(larger / a), float(c / larger)))
    return low, high
