"""The annotators' part of the covariance of losses: the people change, items and seeds stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saturation.analyses.context import plain, samples
from saturation.analyses.losses import sign
from saturation.analyses.vote_draws import PART_DRAWS, annotator_deletions, annotator_draws, values_under
from saturation.metrics.metric import Metric
from saturation.resampling import intervals
from saturation.resampling.designs import FROM_ANNOTATORS
from saturation.tables.panel import Panel
from saturation.typing import Floats


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatorsPart:
    """The annotators' part of the covariance.

    Attributes
    ----------
    covariance
        (statistics, statistics); statistic ``m * conditions + c`` is metric m of condition c.
    df
        Its degrees of freedom.
    n_draws
        How many redrawn crowds it comes from.
    reasons
        By statistic: why its variance over annotators does not exist; it counts as 0 in ``covariance``.
    """

    covariance: Floats
    df: float
    n_draws: int
    reasons: dict[int, str]


def has_annotators(panel: Panel) -> bool:
    """Whether there are ids of at least two people."""
    return panel.votes.ballots is not None and len(panel.votes.ballots.annotator_ids) > 1


def annotators_part(
    panel: Panel, metrics: Sequence[Metric], n_resamples: int, seed: int, threads: int | None = None
) -> AnnotatorsPart:
    """What changes when the annotators do, for every (metric, condition).

    Exponential weights (Bayesian bootstrap) with at least 20 annotators, else the delete-one jackknife with A - 1
    degrees of freedom. The same draw serves every condition and metric.
    """
    sample = samples(panel, None)[0]
    assert sample.ballots is not None
    statistics = [plain(metric) for metric in metrics]
    count = len(sample.ballots.annotator_ids)
    few = count < FROM_ANNOTATORS
    draws = annotator_deletions(sample) if few else annotator_draws(sample, seed, min(n_resamples, PART_DRAWS))
    found = values_under(sample, statistics, draws, threads=threads)
    values = np.concatenate([sign(m) * v for m, v in zip(metrics, found, strict=True)], axis=1).T
    defined = np.isfinite(values)
    means = np.where(defined, values, 0.0).sum(axis=1) / np.maximum(defined.sum(axis=1), 1)
    centred = np.where(defined, values - means[:, None], 0.0)
    scale = (count - 1) / count if few else 1 / (values.shape[1] - 1)
    part = np.stack([(row * centred).sum(axis=1) for row in centred]) * scale
    reasons = {s: _lost(row) for s, row in enumerate(defined) if intervals.too_many_lost(row)}
    return AnnotatorsPart(part, count - 1.0 if few else float("inf"), values.shape[1], reasons)


def _lost(defined: NDArray[np.bool_]) -> str:
    return f"no interval: undefined under {int((~defined).sum())} of {len(defined)} redrawn crowds of annotators"
