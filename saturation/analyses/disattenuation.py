"""The entropy correlation with the annotators' noise taken out: r / sqrt(R_n), both recomputed in every resample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.analyses.context import Sample, Statistic
from saturation.analyses.entropy_reliability import HalfMoments, Reliability, half_moments, reliability
from saturation.metrics.correlation import combine_pearson
from saturation.metrics.entropy_reliability import CONSTANT, disattenuated, spearman_brown
from saturation.metrics.metric import Human, Metric
from saturation.typing import Floats, Ints, Probs

BEYOND_ONE = "the disattenuated correlation is beyond 1: the reliability is too uncertain to divide by"
NAME = "entropy_correlation"


@dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    """Means of these rows give R_n: E H, (E H)^2, Var H, Cov(H_A, H_B) and 1/n of every item of the sample."""

    ranks: Ints
    rows: Floats
    half_size: int

    def of(self, human: Human) -> Floats:
        """(5, items) rows of some of the items."""
        assert human.items is not None
        return np.asarray(self.rows[:, np.searchsorted(self.ranks, human.items)])

    def reliability(self, means: Floats) -> Floats:
        """R_n from the means (..., 5) of the rows; NaN where it is undefined."""
        mean, square, variance, covariance, inverse = np.moveaxis(means, -1, 0)
        between = square - mean * mean
        total = between + variance
        usable = total > CONSTANT
        half = np.where(usable, between + covariance, np.nan) / np.where(usable, total, 1.0)
        return spearman_brown(half, 1 / inverse / self.half_size)


def disattenuated_statistic(metric: Metric, sample: Sample) -> tuple[Statistic | None, Reliability]:
    """The statistic r / sqrt(R_n) for Pearson's entropy correlation on this sample.

    Returns
    -------
    None with a reliability whose reason says why, where R_n is undefined.
    """
    known = reliability(sample.human.counts)
    if known.value is None or known.half_size is None or not known.value > 0:
        return None, known
    moments = half_moments(sample.human.counts, known.half_size)
    assert moments is not None, "a reliability was computed from these moments"
    rows = _Moments(sample.ranks, _rows(moments, sample.human.counts), known.half_size)
    pearson = metric.features
    assert pearson is not None
    fixed = known.value**0.5
    uncorrected = Statistic(
        name=f"{metric.name} / sqrt(R)",
        undefined=metric.undefined,
        is_correlation=False,
        is_corrected=True,
        is_rough=False,
        _features=pearson,
        _combine=lambda means: combine_pearson(means) / fixed,
        _influence=None,
        _metric=metric,
    )

    def features(probs: Probs, human: Human) -> Floats:
        own = pearson(probs, human)
        shared = rows.of(human)
        return np.concatenate([own, np.broadcast_to(shared, (*own.shape[:-2], *shared.shape))], axis=-2)

    statistic = Statistic(
        name=f"{metric.name} disattenuated",
        undefined="no disattenuated value: a reliability is not positive, or the correlation is undefined",
        is_correlation=False,
        is_corrected=True,
        is_rough=False,
        _features=features,
        _combine=lambda means: disattenuated(combine_pearson(means[..., :5]), rows.reliability(means[..., 5:])),
        _influence=None,
        _metric=metric,
        _under_weights=uncorrected,
        _fixed_reliability=True,
    )
    return statistic, known


def _rows(moments: HalfMoments, counts: Floats | Ints) -> Floats:
    inverse = 1 / np.asarray(counts).sum(axis=-1)
    return np.stack([moments.mean, moments.mean**2, moments.variance, moments.covariance, inverse])
