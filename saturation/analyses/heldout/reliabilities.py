"""How reliable the entropies of so many votes are, with an interval, and the entropy correlation without that noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.analyses.context import Sample
from saturation.analyses.entropy_reliability import (
    BIASED,
    CONSTANT,
    NOT_POSITIVE,
    TOO_FEW,
    TOO_MUCH,
    half_moments,
)
from saturation.analyses.heldout.divisions import Part
from saturation.analyses.heldout.measured import Measured
from saturation.metrics.entropy_reliability import CONSTANT as ROUNDING
from saturation.metrics.entropy_reliability import FEW_VOTES, TOO_FEW_VOTES, spearman_brown
from saturation.resampling import intervals
from saturation.resampling.intervals import Interval
from saturation.resampling.jackknife import pseudo_values
from saturation.typing import Floats, Ints

STILL_LOW = "so few votes do not show all of the disagreement that there is: r is low even so"
_ROUNDING = 1e-9
ROOM = 8.0
"""The bias that r / sqrt(R) may have, a share ROOM / n^2 of it.

Stepped up from halves of 6, 10, 20, 30 votes (3 labels, Dirichlet .8 each) R was .30, .47, .71, .79 for .38, .54, .72,
.80: the share was .13, .065, .01 and .009 (5 labels: .16, .04, .015 and .002). Exact ones are low by .05 at 6 votes and
.01 at 20.
"""
UNDEFINED = "no disattenuated value: a reliability is not positive, or the correlation is undefined"


@dataclass(frozen=True, slots=True, eq=False)
class Reliable:
    """Reliability of the entropies of one part.

    Attributes
    ----------
    value
        R; None where it is not known.
    interval
        Over items.
    reason
        Why it is not known, or what to keep in mind.
    rows
        (5, items) moments of two disjoint crowds: E H, its square, Var H, Cov(H_A, H_B) and one over the votes of the
        part; None without a value.
    size
        Votes in each of those crowds.
    """

    value: float | None
    interval: Interval
    reason: str | None
    rows: Floats | None = None
    size: int = 0

    def of(self, means: Floats) -> Floats:
        """R from means (..., 5) of the rows; NaN where it is undefined."""
        mean, square, variance, covariance, inverse = np.moveaxis(means, -1, 0)
        between = square - mean * mean
        total = between + variance
        usable = total > ROUNDING
        half = np.where(usable, between + covariance, np.nan) / np.where(usable, total, 1.0)
        return spearman_brown(half, 1 / inverse / self.size)


def reliable(part: Part, level: float) -> Reliable:
    """Reliability of the entropies of the part's votes.

    Exactly, the correlation of the entropies of two disjoint crowds of that size, where the votes that the part is
    drawn from hold two of them; else from halves of those votes, stepped up by Spearman-Brown. Not stepped down:
    entropies are no means of votes, and from halves of 20 votes the step to 4 gave .38 for .32 (a disattenuated r of
    .76 for .86, where the exact one gave .83); on SNLI and MNLI .711 for .708 at 20 of 100 votes.
    """
    counts = part.draws[0] if part.whole is None else part.whole
    fewest = int(counts.sum(axis=1).min())
    if min(fewest, int(part.sizes.min())) < TOO_FEW_VOTES:
        return _none(TOO_FEW)
    size = min(fewest // 2, int(part.votes + _ROUNDING))
    moments = half_moments(counts, size)
    if moments is None:
        return _none(TOO_MUCH)
    inverse = 1 / part.sizes
    rows = np.stack([moments.mean, moments.mean**2, moments.variance, moments.covariance, inverse])
    known = Reliable(None, intervals.none(CONSTANT), CONSTANT, rows, size)
    value = float(known.of(rows.mean(axis=1)))
    if not np.isfinite(value):
        vary = np.var(moments.mean) + moments.variance.mean() > ROUNDING
        return _none(NOT_POSITIVE if vary else CONSTANT)
    few = None if part.sizes.min() >= FEW_VOTES else BIASED if size < part.votes - _ROUNDING else STILL_LOW
    said = "; ".join(filter(None, (few, None if value > 0 else NOT_POSITIVE))) or None
    return Reliable(value, _interval(known, rows, value, level), said, rows, size)


def bias_bound(known: Reliable, value: float | None) -> float:
    """How far the disattenuated correlation ``value`` may be off, see ``ROOM``; n is at most the votes R rests on.

    Examples
    --------
    >>> rows = np.full((5, 3), 0.1)  # 1/10: ten votes an item, two crowds of 5: 8/100 of .5
    >>> round(bias_bound(Reliable(0.6, intervals.none(""), None, rows, 5), -0.5), 12)
    0.04
    """
    if known.rows is None or value is None or not np.isfinite(value):
        return 0.0
    votes = min(float(1 / known.rows[4].mean()), 2.0 * known.size)
    return ROOM / votes**2 * abs(value)


def disattenuated(own: Measured, sample: Sample, known: Reliable) -> Measured | None:
    """The correlation over sqrt(R) in every cell, R of the split's items; None where no reliability is known.

    Moves by the delta method: r' / sqrt(R) - r R' / (2 R^1.5).
    """
    if known.rows is None or known.value is None:
        return None
    cells, moves = [], []
    for r, moved, places in zip(own.cells, own.moves, sample.places, strict=True):
        value, shifts = _of_items(known, places)
        if not value > 0:
            value = float("nan")
        cells.append(r / value**0.5)
        centred = moved - moved.mean(axis=-1, keepdims=True)
        moves.append(centred / value**0.5 - r[..., None] * (shifts - shifts.mean()) / (2 * value**1.5))
    mc_se = None if own.mc_se is None else own.mc_se / known.value**0.5 if known.value > 0 else None
    return Measured(tuple(cells), tuple(moves), mc_se, own.estimator, UNDEFINED)


def _of_items(known: Reliable, items: Ints) -> tuple[float, Floats]:
    """R of some items, and how much each moves it."""
    assert known.rows is not None
    own = known.rows[:, items]
    if len(items) < 2:
        return float("nan"), np.full(len(items), np.nan)
    return float(known.of(own.mean(axis=1))), pseudo_values(own, known.of)


def _interval(known: Reliable, rows: Floats, value: float, level: float) -> Interval:
    """R +- t times its standard error over items."""
    n_items = rows.shape[1]
    if n_items < 2:
        return intervals.none("one item only: no spread over items")
    shifts = pseudo_values(rows, known.of)
    if not np.isfinite(shifts).all():
        return intervals.none("it does not exist without one of the items")
    return intervals.normal(value, float(shifts.std(ddof=1) / n_items**0.5), level, n_items - 1, "linearized_t")


def _none(reason: str) -> Reliable:
    return Reliable(None, intervals.none(reason), reason)
