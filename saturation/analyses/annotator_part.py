"""The annotators' part of the covariance of losses: the people change, items and seeds stay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saturation.analyses.context import plain, samples
from saturation.analyses.losses import sign
from saturation.analyses.vote_draws import PART_DRAWS, annotator_deletions, annotator_draws, values_under
from saturation.metrics.metric import Metric
from saturation.resampling.designs import FROM_ANNOTATORS
from saturation.tables.panel import Panel
from saturation.typing import Floats


def has_annotators(panel: Panel) -> bool:
    """Whether there are ids of at least two people."""
    return panel.votes.ballots is not None and len(panel.votes.ballots.annotator_ids) > 1


def annotators_part(
    panel: Panel, metrics: Sequence[Metric], n_resamples: int, seed: int, threads: int | None = None
) -> tuple[Floats, float]:
    """Covariance over annotators of every (metric, condition), and its degrees of freedom.

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
    centred = values - values.mean(axis=1, keepdims=True)
    centred = np.where(np.isfinite(centred), centred, 0.0)
    scale = (count - 1) / count if few else 1 / (values.shape[1] - 1)
    part = np.stack([(row * centred).sum(axis=1) for row in centred]) * scale
    return part, count - 1.0 if few else float("inf")
