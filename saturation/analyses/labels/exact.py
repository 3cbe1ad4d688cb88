"""Points of a label-side curve without Monte Carlo: additive metrics, listed states, entropy correlation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import entr

from saturation.analyses.labels.monte_carlo import DrawnMoments, Draws, item_moments
from saturation.analyses.labels.plan import Plan
from saturation.analyses.labels.series import CONSTANT, Point, mean_points, without_rounding
from saturation.metrics.common import added_votes
from saturation.metrics.entropy import entropy_term
from saturation.metrics.metric import Metric
from saturation.resampling.exact_cells import Prepared, prepare
from saturation.resampling.exact_moments import Additive, Draw, Moments, additive_moments
from saturation.resampling.exact_states import Score, state_moments
from saturation.typing import Floats, Ints

CONSTANT_VARIANCE = 1e-16
"""Entropies that agree to 8 decimals count as constant: exact variances carry rounding errors of 1e-17."""
CELLS_FOR_A_SPREAD = 6_000_000
"""The spread of the entropy correlation is exact up to this many states times labels, then from draws."""
DRAWS_FOR_A_SPREAD = 100
"""A draw of each distinct item tells as much as many of the whole set: items add up their own variances."""

CONSTANT_SIDE = "undefined: the entropy of one side is the same for every item"
NEEDS_SMOOTHING = "smooth the target with alpha (--alpha 1/K)"


def additive_points(
    counts: Ints, plan: Plan, metrics: Sequence[Metric], alphas: Sequence[float], draws: Draws
) -> list[list[Point]]:
    """Points (metrics, budgets) of metrics that sum a term over labels (or over cumulative shares).

    Parameters
    ----------
    counts
        (union items, labels) of the plan.
    plan
        Items and budgets.
    metrics, alphas
        Metrics with a ``term``, and the votes added to every label of their target.
    draws
        For the spread alone, where its exact sum would take too long.
    """
    found: list[list[Point]] = [[] for _ in metrics]
    for cumulative in (False, True):
        chosen = [index for index, one in enumerate(metrics) if one.cumulative is cumulative]
        if not chosen:
            continue
        statistics = [additive_statistic(metrics[index], alphas[index], counts.shape[1]) for index in chosen]
        for (budget, prepared), members in zip(
            prepared_budgets(counts, plan, cumulative=cumulative), plan.members, strict=True
        ):
            points = _finite_points(counts[members], prepared, plan.draw(budget), statistics, draws)
            for index, point in zip(chosen, points, strict=True):
                found[index].append(explained(point, metrics[index]))
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


def additive_statistic(metric: Metric, alpha: float, n_labels: int) -> Additive:
    """The metric as a sum over labels, its target with ``alpha`` votes added to every label."""
    assert metric.term is not None
    prior = 0.0 if metric.smooth is None else added_votes(metric.smooth, n_labels)
    return Additive(metric.term, alpha=alpha, cumulative=metric.cumulative, reference_alpha=prior)


def _finite_points(
    counts: Ints, prepared: Prepared, draw: Draw, statistics: list[Additive], draws: Draws
) -> list[Point]:
    """Means first, so that infinite ones do not meet the variances."""
    means = additive_moments(prepared, draw, statistics, variance=False).mean
    finite = np.flatnonzero(np.isfinite(means).all(axis=1))
    points = [Point(None)] * len(statistics)
    if len(finite):
        some = [statistics[index] for index in finite]
        moments, reason = additive_moments(prepared, draw, some), None
        if moments.variance is None:
            drawn = item_moments(counts, draw, [_score(one) for one in some], _few(draws), symmetric=False)
            moments = Moments(moments.mean, drawn.variance)
            reason = f"draw_sd from {drawn.n_draws} draws of each item"
        for index, point in zip(finite, mean_points(moments), strict=True):
            points[index] = replace(point, reason=reason)
    return points


def _few(draws: Draws) -> Draws:
    return replace(draws, number=min(draws.number, DRAWS_FOR_A_SPREAD))


def _score(statistic: Additive) -> Score:
    """The statistic of whole rows of counts."""

    def score(drawn: Ints, reference: Ints) -> Floats:
        target = _shares(drawn, statistic.alpha, cumulative=statistic.cumulative)
        share = _shares(reference, statistic.reference_alpha, cumulative=statistic.cumulative)
        return np.asarray(statistic.function(target, share).sum(axis=-1))

    return score


def _shares(counts: Ints, alpha: float, *, cumulative: bool) -> Floats:
    votes = counts + alpha
    shares = votes / votes.sum(axis=-1, keepdims=True)
    return np.asarray(shares.cumsum(axis=-1)[..., :-1] if cumulative else shares)


def explained(point: Point, metric: Metric) -> Point:
    """The point; where it is undefined, with the metric's reason."""
    if point.estimate is not None:
        return point
    hint = "" if metric.name.startswith("reverse_kl") else f"; {NEEDS_SMOOTHING}"
    return replace(point, reason=f"{metric.undefined}{hint}")


def item_points(
    counts: Ints, plan: Plan, scores: Sequence[Score], draws: Draws, *, symmetric: bool
) -> list[list[Point]]:
    """Points (scores, budgets) of means of item scores: by listing all states of an item, else by its draws."""
    found: list[list[Point]] = [[] for _ in scores]
    for budget, members in zip(plan.budgets, plan.members, strict=True):
        points = _item_points(counts[members], plan.draw(budget), scores, draws, symmetric=symmetric)
        for row, point in zip(found, points, strict=True):
            row.append(point)
    return found


def _item_points(
    counts: Ints, draw: Draw, scores: Sequence[Score], draws: Draws, *, symmetric: bool
) -> Iterator[Point]:
    moments, drawn = _listed_or_drawn(counts, draw, scores, draws, symmetric=symmetric)
    for index, point in enumerate(mean_points(moments)):
        if drawn is None:
            yield point
            continue
        error = float(drawn.of_sum[index] ** 0.5) / len(counts)
        yield replace(point, mc_se=error, estimator="monte_carlo", n_resamples=drawn.n_draws)


def _listed_or_drawn(
    counts: Ints, draw: Draw, scores: Sequence[Score], draws: Draws, *, symmetric: bool, limit: int | None = None
) -> tuple[Moments, DrawnMoments | None]:
    """Moments of each item from its states where those are few enough, else from draws; the latter also apart."""
    listed = state_moments(counts, draw, scores, symmetric=symmetric, limit=limit)
    mean, variance, rest = listed.mean, listed.variance, ~listed.listed
    if not rest.any():
        return Moments(mean, variance), None
    drawn = item_moments(counts[rest], draw, scores, draws, symmetric=symmetric)
    mean[:, rest], variance[:, rest] = drawn.mean, drawn.variance
    return Moments(mean, variance), drawn


def correlation_points(counts: Ints, plan: Plan, alpha: float, draws: Draws, *, spread: bool = True) -> list[Point]:
    """Points (budgets,) of Pearson's r between the entropies of the target and of the reference, by exact moments.

    The spread over draws (left out with ``spread`` false) is that of the linearised r, from all states of each item
    or else from ``draws``.
    """
    points = []
    for (budget, prepared), members in zip(prepared_budgets(counts, plan), plan.members, strict=True):
        points.append(_correlation(counts[members], prepared, plan.draw(budget), alpha, draws, spread))
    return points


def _correlation(  # noqa: PLR0917
    counts: Ints, prepared: Prepared, draw: Draw, alpha: float, draws: Draws, spread: bool
) -> Point:
    """R = [Cov_i(E H_N, E H_R) + mean Cov(H_N, H_R)] / sqrt(total variance of H_N times that of H_R)."""
    exact = _entropy_moments(counts, prepared, draw, alpha)
    moments = _drawn_entropy_moments(counts, prepared, draw, alpha, draws) if exact is None else exact
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

    point = Point(r, influence=influence, estimator="exact_moments")
    if exact is None:
        # the means are exact and the score's own are not, so that this Monte Carlo error is rather too large
        drawn = item_moments(counts, draw, [score], draws, symmetric=True)
        error = float(drawn.of_sum[0] ** 0.5) / len(x)
        point = replace(point, estimator="monte_carlo", n_resamples=drawn.n_draws, mc_se=error)
    return _with_spread(point, counts, draw, score, draws) if spread else point


def _with_spread(point: Point, counts: Ints, draw: Draw, score: Score, draws: Draws) -> Point:
    """The spread over draws of the linearised r, from its score of each item."""
    moments, drawn = _listed_or_drawn(counts, draw, [score], _few(draws), symmetric=True, limit=CELLS_FOR_A_SPREAD)
    assert moments.variance is not None
    assert point.estimate is not None
    reason = None if drawn is None else f"draw_sd from {drawn.n_draws} draws of each item with many states"
    sd = float(np.sqrt(max(moments.variance[0].sum(), 0.0)) / len(counts))
    return replace(point, draw_sd=without_rounding(sd, point.estimate), reason=reason)


def _drawn_entropy_moments(counts: Ints, prepared: Prepared, draw: Draw, alpha: float, draws: Draws) -> Moments:
    """As :func:`_entropy_moments`, the means exact and the variances from draws of each item."""
    target, reference = Additive(entropy_term, alpha=alpha), Additive(lambda m, h: entropy_term(h, m))
    means = additive_moments(prepared, draw, [target, reference], variance=False).mean
    scores: list[Score] = [
        lambda drawn, reference: entropies(drawn, alpha),
        lambda drawn, reference: entropies(reference, 0.0),
        lambda drawn, reference: entropies(drawn, alpha) + entropies(reference, 0.0),
    ]
    of_x, of_y, together = item_moments(counts, draw, scores, draws, symmetric=True).variance
    return Moments(means, np.stack([of_x, of_y, (together - of_x - of_y) / 2]))


def entropy_products(counts: Ints, draw: Draw, alpha: float) -> Floats | None:
    """(5, items) expectations of H_N, H_R, H_N^2, H_R^2 and H_N H_R; None where pairs of labels are too many."""
    moments = _entropy_moments(counts, prepare(counts), draw, alpha)
    if moments is None or moments.variance is None:
        return None
    (x, y), (of_x, of_y, joint) = moments.mean, moments.variance
    return np.stack([x, y, x**2 + of_x, y**2 + of_y, x * y + joint])


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
    votes = np.arange(int(counts.max(initial=0)) + 1) + alpha
    totals = counts.sum(axis=-1)
    if totals.size and (totals == totals.flat[0]).all():  # one total: look the terms up
        terms = entr(votes / (totals.flat[0] + counts.shape[-1] * alpha))
        return np.asarray(terms[counts].sum(axis=-1))
    shares = (counts + alpha) / (totals + counts.shape[-1] * alpha)[..., None]
    return np.asarray(entr(shares).sum(axis=-1))
