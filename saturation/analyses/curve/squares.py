"""Squared order-1 losses: an order-1 metric (tvd) becomes comparable with order-2 ones (kl, brier) after squaring."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from saturation.analyses.curve.study import Study
from saturation.analyses.joint import Joint
from saturation.metrics.metric import Metric
from saturation.resampling.linearized import Covariance
from saturation.typing import Floats, Ints

SUFFIX = "^2"


def is_square(metric: Metric) -> bool:
    """Whether a metric is a squared one."""
    return metric.name.endswith(SUFFIX)


def with_squares(study: Study) -> Study:
    """The study with the square of every order-1 loss appended as a metric of order 2, named e.g. ``tvd^2``.

    Squares by the delta method, d l^2 = 2 l dl, or exactly in each resample. Losses of higher-is-better metrics are
    not errors whose square falls as 1/N, so they are left out.
    """
    ranks = [rank for rank, m in enumerate(study.metrics) if m.order == 1 and m.direction == "lower"]
    if not ranks:
        return study
    losses = study.losses
    n = losses.n_conditions
    picked = np.concatenate([np.arange(rank * n, (rank + 1) * n) for rank in ranks])
    size = len(losses.influence.estimates)
    own = study.joint.losses[picked]
    rows = np.concatenate([np.arange(size), picked])
    slopes = np.concatenate([np.ones(size), 2 * np.nan_to_num(own)])
    matrix = np.zeros((len(rows), size))
    matrix[np.arange(len(rows)), rows] = slopes
    estimates = np.concatenate([study.joint.losses, own**2])
    moved = {size + at: losses.reasons[s] for at, s in enumerate(picked.tolist()) if s in losses.reasons}
    squared = tuple(replace(study.metrics[r], name=study.metrics[r].name + SUFFIX, order=2) for r in ranks)
    return replace(
        study,
        losses=replace(
            losses,
            metrics=(*losses.metrics, *squared),
            influence=losses.influence.combine(matrix, estimates),
            reasons={**losses.reasons, **moved},
        ),
        joint=_joint(study.joint, estimates, rows, slopes),
    )


def _joint(joint: Joint, estimates: Floats, rows: Ints, slopes: Floats) -> Joint:
    drawn = joint.distribution
    if drawn is not None:
        drawn = np.concatenate([drawn, drawn[:, rows[drawn.shape[1] :]] ** 2], axis=1)
    return replace(joint, losses=estimates, covariance=_moved(joint.covariance, rows, slopes), distribution=drawn)


def _moved(covariance: Covariance, rows: Ints, slopes: Floats) -> Covariance:
    def part(matrix: Floats) -> Floats:
        return np.asarray(matrix[np.ix_(rows, rows)] * slopes[:, None] * slopes)

    return covariance.map(part)
