"""Points of a label-side curve without Monte Carlo: additive metrics, listed states, entropy correlation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import entr

from saturation.analyses.labels.monte_carlo import Draws, item_variances
from saturation.analyses.labels.plan import Plan
from saturation.analyses.labels.series import Point, mean_points, without_rounding
from saturation.metrics.common import added_votes
from saturation.metrics.entropy import entropy_term
from saturation.metrics.metric import Metric
from saturation.resampling.exact_cells import Prepared, prepare
from saturation.resampling.exact_moments import Additive, Draw, Moments, additive_moments
from saturation.resampling.exact_states import Score, state_moments
from saturation.typing import Floats, Ints

CONSTANT_VARIANCE = 1e-16
"""Entropies that agree to 8 decimals count as constant: exact variances carry rounding errors of 1e-17."""
STATES_FOR_A_SPREAD = 5_000_000
"""The spread of the entropy correlation is exact up to this many states, then from draws."""
DRAWS_FOR_A_SPREAD = 100
"""A draw of each distinct item tells as much as many of the whole set: items add up their own variances."""

CONSTANT = "undefined: with one vote every item has the same entropy; counts as 0 in fractions"
CONSTANT_SIDE = "undefined: the entropy of one side is the same for every item"
NEEDS_SMOOTHING = "smooth the target with alpha (--alpha 1/K)"


def additive_points(counts: Ints, plan: Plan, metrics: Sequence[Metric], alphas: Sequence[float]) -> list[list[Point]]:
    """Points (metrics, budgets) of metrics that sum a term over labels (or over cumulative shares).

    Parameters
    ----------
    counts
        (union items, labels) of the plan.
    plan
        Items and budgets.
    metrics, alphas
        Metrics with a ``term``, and the votes added to every label of their target.
    """
    found: list[list[Point]] = [[] for _ in metrics]
    for cumulative in (False, True):
        chosen = [index for index, one in enumerate(metrics) if one.cumulative is cumulative]
        if not chosen:
            continue
        statistics = [_additive(metrics[index], alphas[index], counts.shape[1]) for index in chosen]
        for budget, prepared in prepared_budgets(counts, plan, cumulative=cumulative):
            points = _finite_points(prepared, plan.draw(budget), statistics)
            for index, point in zip(chosen, points, strict=True):
                found[index].append(_explained(point, metrics[index]))
    return found


def prepared_budgets(counts: Ints, plan: Plan, *, cumulative: bool = False) -> list[tuple[int, Prepared]]:
    """Every budget with its items' counts prepared; prepared once where all budgets use the same items."""
    if plan.members.all():
        once = prepare(counts, cumulative=cumulative)
        return [(budget, once) for budget in plan.budgets]
    return [
        (budget, prepare(counts[members], cumulative=cumulative))
        for budget, members in zip(plan.budgets, plan.members, strict=True)
    ]


def _additive(metric: Metric, alpha: float, n_labels: int) -> Additive:
    assert metric.term is not None
    prior = 0.0 if metric.smooth is None else added_votes(metric.smooth, n_labels)
    return Additive(metric.term, alpha=alpha, cumulative=metric.cumulative, reference_alpha=prior)


def _finite_points(prepared: Prepared, draw: Draw, statistics: list[Additive]) -> list[Point]:
    """Means first, so that infinite ones do not meet the variances."""
    means = additive_moments(prepared, draw, statistics, variance=False).mean
    finite = np.flatnonzero(np.isfinite(means).all(axis=1))
    points = [Point(None)] * len(statistics)
    if len(finite):
        moments = additive_moments(prepared, draw, [statistics[index] for index in finite])
        for index, point in zip(finite, mean_points(moments), strict=True):
            points[index] = point
    return points


def _explained(point: Point, metric: Metric) -> Point:
    if point.estimate is not None:
        return point
    hint = "" if metric.name.startswith("reverse_kl") else f"; {NEEDS_SMOOTHING}"
    return replace(point, reason=f"{metric.undefined}{hint}")


def state_points(counts: Ints, plan: Plan, scores: Sequence[Score], *, symmetric: bool) -> list[list[Point | None]]:
    """Points (scores, budgets) of means of item scores by listing all states; None where there are too many."""
    found: list[list[Point | None]] = [[] for _ in scores]
    for budget, members in zip(plan.budgets, plan.members, strict=True):
        moments = state_moments(counts[members], plan.draw(budget), scores, symmetric=symmetric)
        points = [None] * len(scores) if moments is None else mean_points(moments)
        for row, point in zip(found, points, strict=True):
            row.append(point)
    return found


def correlation_points(counts: Ints, plan: Plan, alpha: float, draws: Draws) -> list[Point]:
    """Points (budgets,) of Pearson's r between the entropies of the target and of the reference, by exact moments.

    The spread over draws is that of the linearised r, from all states of each item or else from ``draws``.
    """
    points = []
    for (budget, prepared), members in zip(prepared_budgets(counts, plan), plan.members, strict=True):
        points.append(_correlation(counts[members], prepared, plan.draw(budget), alpha, draws))
    return points


def _correlation(counts: Ints, prepared: Prepared, draw: Draw, alpha: float, draws: Draws) -> Point:
    """R = [Cov_i(E H_N, E H_R) + mean Cov(H_N, H_R)] / sqrt(total variance of H_N times that of H_R)."""
    moments = _entropy_moments(counts, prepared, draw, alpha)
    if moments is None:
        return Point(None, estimator="exact_moments", reason="the exact variances would take too long")
    x, y = (side - side.mean() for side in moments.mean)
    of_x, of_y, joint = moments.variance if moments.variance is not None else np.zeros((3, len(x)))
    var_x, var_y = float((x**2 + of_x).mean()), float((y**2 + of_y).mean())
    if draw.budget == 1 or min(var_x, var_y) < CONSTANT_VARIANCE:
        single = var_y >= CONSTANT_VARIANCE and draw.budget == 1
        return Point(
            None,
            estimator="exact_moments",
            reason=CONSTANT if single else CONSTANT_SIDE,
            counts_as=0.0 if single else None,
        )
    scale = float(np.sqrt(var_x * var_y))
    r = float((x * y + joint).mean()) / scale
    influence = (x * y + joint) / scale - r / 2 * ((x**2 + of_x) / var_x + (y**2 + of_y) / var_y)

    def score(drawn: Ints, reference: Ints) -> Floats:
        gap_x = entropies(drawn, alpha) - moments.mean[0].mean()
        gap_y = entropies(reference, 0.0) - moments.mean[1].mean()
        return np.asarray(gap_x * gap_y / scale - r / 2 * (gap_x**2 / var_x + gap_y**2 / var_y))

    spread = state_moments(counts, draw, [score], limit=STATES_FOR_A_SPREAD)
    if spread is not None and spread.variance is not None:
        variance, reason = spread.variance[0], None
    else:
        draws = replace(draws, number=min(draws.number, DRAWS_FOR_A_SPREAD))
        variance, reason = item_variances(counts, draw, score, draws), f"draw_sd from {draws.number} draws of each item"
    sd = without_rounding(float(np.sqrt(max(variance.sum(), 0.0)) / len(x)), r)
    return Point(r, influence=influence, draw_sd=sd, estimator="exact_moments", reason=reason)


def _entropy_moments(counts: Ints, prepared: Prepared, draw: Draw, alpha: float) -> Moments | None:
    """Means (2, items) of H_N and H_R; variances (3, items): of H_N, of H_R, and their covariance."""
    target = Additive(entropy_term, alpha=alpha)
    if draw.reference in ("all", "plug_in"):
        one = additive_moments(prepared, draw, [target])
        fixed = entropies(np.sort(counts, axis=1), 0.0)  # sorted, so that the order of labels moves no bit
        if one.variance is None:
            return None
        nothing = np.zeros_like(fixed)
        return Moments(np.stack([one.mean[0], fixed]), np.stack([one.variance[0], nothing, nothing]))
    reference = Additive(lambda m, h: entropy_term(h, m))
    both = Additive(lambda m, h: entropy_term(m, h) + entropy_term(h, m), alpha=alpha)
    three = additive_moments(prepared, draw, [target, reference, both])
    if three.variance is None:
        return None
    of_x, of_y, together = three.variance
    return Moments(three.mean[:2], np.stack([of_x, of_y, (together - of_x - of_y) / 2]))


def entropies(counts: Ints, alpha: float) -> Floats:
    """(...,) entropies of the shares (c + alpha)/(n + K alpha), in nats."""
    votes = counts + alpha
    return np.asarray(entr(votes / votes.sum(axis=-1, keepdims=True)).sum(axis=-1))
