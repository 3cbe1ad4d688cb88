"""The label-side curve at any number of votes, from a law of items fitted to a pilot of a few votes an item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.labels import scores as label_scores
from saturation.analyses.labels.exact import additive_statistic, entropies, explained
from saturation.analyses.labels.model_draws import VirtualVotes, effective_share, item_weights, virtual_votes
from saturation.analyses.labels.model_sums import law_means
from saturation.analyses.labels.monte_carlo import Draws
from saturation.analyses.labels.plan import DEFAULT_BUDGETS, Plan
from saturation.analyses.labels.series import CONSTANT, Point, Series
from saturation.errors import UsageError
from saturation.metrics.metric import Metric
from saturation.populations import Population, fit_population, refit, unfit
from saturation.populations.laws import Laws
from saturation.populations.steps import steps_of
from saturation.resampling.draw import item_weights as resampled_items
from saturation.results import Note
from saturation.typing import Floats, Ints

REFERENCE_SIZE = 100
MAX_RESAMPLES = 200
"""Resamples give a standard error, which 200 tell within 5%."""
FEWEST_EFFECTIVE = 0.1
"""Smallest effective share of the virtual items under a resampled law."""
VIRTUAL_RESAMPLES = 1_000_000
"""Resamples of virtual items are numbered from here, those of the pilot's items from 0."""
SET_METRIC = (
    "no value from a fitted law: the metric belongs to a whole set of items and depends on their number; of those only "
    "entropy_correlation and entropy_rmse are computed"
)
FAR_APART = (
    "no interval: resampled laws differ too much from the fitted one to be read off the same draws; ask for fewer votes"
)


@dataclass(frozen=True, slots=True, eq=False)
class ModelCurve:
    """What the rows are made of: plan and series, the law (None where none can be fitted) and remarks."""

    plan: Plan
    series: list[Series]
    law: Population | None
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """The fitted law, the laws of resampled items (one a resample), and what is asked of them."""

    law: Population
    resampled: Laws
    budgets: tuple[int, ...]
    reference_size: int
    seed: int
    ties: str

    @property
    def all_laws(self) -> Laws:
        """The fitted law first."""
        own, others = self.law.laws, self.resampled
        pairs = ((own.weights, others.weights), (own.means, others.means), (own.spreads, others.spreads))
        return Laws(*(np.concatenate(pair) for pair in pairs))


def model_curve(
    counts: Ints,
    metrics: Sequence[Metric],
    alphas: Sequence[float],
    *,
    budgets: Sequence[int] | None,
    reference_size: int | None,
    population: str,
    ties: str,
    draws: Draws,
) -> ModelCurve:
    """Series of every metric under the law of items behind the counts.

    The estimate is the metric under the fitted law; its spread is that over laws fitted to resampled items, begun
    from the fitted law, of the same kind and number of components.

    Parameters
    ----------
    counts
        (items, labels) votes; items without votes are left out.
    metrics, alphas
        What to compute, and the votes added to every label of the target.
    budgets
        N; None: the default ones.
    reference_size
        R; None: 100.
    population
        Kind of law, or ``auto``.
    ties
        As for ``label_curve``.
    draws
        Seed, resamples and threads.
    """
    asked = _budgets(budgets)
    size = REFERENCE_SIZE if reference_size is None else reference_size
    if size < 1:
        raise UsageError(f"reference_size is {size}; give at least 1 vote")
    voted = np.flatnonzero(counts.sum(axis=1) > 0).astype(np.int64)
    reason = unfit(counts)
    if reason is not None:
        refused = dict.fromkeys(asked, f"no law of items can be fitted: {reason}")
        plan = Plan("disjoint", (), refused, size, None, voted, np.zeros((0, len(voted)), dtype=np.bool_), ())
        empty = [Series(one.name, one.direction, alpha, ()) for one, alpha in zip(metrics, alphas, strict=True)]
        return ModelCurve(plan, empty, None, ())
    members = np.ones((len(asked), len(voted)), dtype=np.bool_)
    plan = Plan("disjoint", asked, {}, size, None, voted, members, ())
    law = fit_population(counts, kind=population, rng=draws.seed, threads=draws.threads)
    model = _Model(law, _resampled(law, counts[voted], draws), asked, size, draws.seed, ties)
    return ModelCurve(plan, _all_series(model, metrics, alphas), law, (_note(law, counts[voted]),))


def _budgets(budgets: Sequence[int] | None) -> tuple[int, ...]:
    if budgets is None:
        return DEFAULT_BUDGETS
    wanted = tuple(sorted({int(b) for b in budgets}))
    if not wanted or wanted[0] < 1:
        raise UsageError(f"budgets are {tuple(budgets)}; give whole numbers of votes from 1")
    return wanted


def _resampled(law: Population, counts: Ints, draws: Draws) -> Laws:
    """Laws fitted to items drawn with replacement."""
    steps = steps_of(counts)
    drawn = resampled_items(draws.seed, 0, min(draws.number, MAX_RESAMPLES), len(counts))
    n_rows = len(steps.totals)
    weights = np.stack([np.bincount(steps.item_row, one, minlength=n_rows) for one in drawn]).astype(np.float64)
    return refit(law, steps, weights)


def _note(law: Population, counts: Ints) -> Note:
    totals = counts.sum(axis=1)
    fewest, most = int(totals.min()), int(totals.max())
    votes = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    chosen = " (chosen on items left out)" if law.candidates else ""
    return Note(
        "model",
        f"values rest on a law of items fitted to {len(counts)} items with {votes} votes{chosen}: {law.describe()}; "
        f"{most} votes show the law's moments up to order {most} only, so that what is said about more votes rests on "
        "its shape, most of all entropies and their correlation; intervals are about other items, given that shape",
    )


def _all_series(model: _Model, metrics: Sequence[Metric], alphas: Sequence[float]) -> list[Series]:
    points: dict[int, tuple[list[Point], Floats | None]] = {}
    for cumulative in (False, True):
        some = [i for i, one in enumerate(metrics) if one.term is not None and one.cumulative is cumulative]
        if some:
            found = _additive(model, [metrics[i] for i in some], [alphas[i] for i in some])
            points |= dict(zip(some, found, strict=True))
    rest = [i for i in range(len(metrics)) if i not in points]
    drawn = [i for i in rest if metrics[i].kind == "item" or metrics[i].name in _OF_ENTROPIES]
    if drawn:
        found = _drawn(model, [metrics[i] for i in drawn], [alphas[i] for i in drawn])
        points |= dict(zip(drawn, found, strict=True))
    for i in set(rest) - set(drawn):
        points[i] = [Point(None, estimator="model", reason=SET_METRIC)] * len(model.budgets), None
    return [
        Series(one.name, one.direction, alphas[i], tuple(points[i][0]), resampled=points[i][1])
        for i, one in enumerate(metrics)
    ]


def _additive(model: _Model, metrics: Sequence[Metric], alphas: Sequence[float]) -> list[tuple[list[Point], Floats]]:
    """Points and resampled values (resamples, budgets) of each metric."""
    n_labels = model.law.means.shape[1]
    statistics = [additive_statistic(one, alpha, n_labels) for one, alpha in zip(metrics, alphas, strict=True)]
    values = np.stack([law_means(model.all_laws, n, model.reference_size, statistics) for n in model.budgets], axis=-1)
    found = []
    for one, own in zip(metrics, values, strict=True):
        points = [explained(_point(float(value), len(own) - 1), one) for value in own[0]]
        found.append((points, own[1:]))
    return found


def _point(value: float, n_resamples: int, mc_se: float | None = None) -> Point:
    if not np.isfinite(value):
        return Point(None, estimator="model")
    return Point(value, estimator="model", n_resamples=n_resamples, mc_se=mc_se)


Features = Callable[[Ints, Ints], Floats]
"""Target votes and reference votes (items, labels) -> (features, items)."""
Combine = Callable[[Floats], Floats]
"""Feature means (features, laws) -> (laws,)."""


def _drawn(model: _Model, metrics: Sequence[Metric], alphas: Sequence[float]) -> list[tuple[list[Point], Floats]]:
    votes = virtual_votes(model.law, model.seed, model.budgets, model.reference_size)
    weights = item_weights(model.law, model.resampled, votes)
    apart = effective_share(weights) < FEWEST_EFFECTIVE
    # virtual items are resampled too, so that the spread over resamples holds the Monte Carlo error
    start, n_laws, n_items = VIRTUAL_RESAMPLES, *weights.shape
    weights *= resampled_items(model.seed, start, start + n_laws, n_items)
    weights /= weights.mean(axis=1, keepdims=True)
    found = []
    for one, alpha in zip(metrics, alphas, strict=True):
        points, values = _drawn_points(model, one, alpha, votes, weights)
        if apart:
            points = [replace(point, reason=point.reason or FAR_APART) for point in points]
            values = np.full(values.shape, np.nan)
        found.append((points, values))
    return found


def _drawn_points(
    model: _Model, metric: Metric, alpha: float, votes: VirtualVotes, weights: Floats
) -> tuple[list[Point], Floats]:
    features, combine = _statistic(metric, alpha, model.ties)
    points, columns = [], []
    for budget, target in zip(model.budgets, votes.targets, strict=True):
        own = features(target, votes.reference)
        value = float(combine(own.mean(axis=1)[:, None])[0])
        columns.append(combine(np.stack([(weights * one).mean(axis=1) for one in own])))
        if np.isfinite(value):
            points.append(_point(value, len(weights), _mc_se(own, combine)))
        elif metric.name == "entropy_correlation" and budget == 1 and float(np.var(own[1])) > 0:
            points.append(Point(None, estimator="model", reason=CONSTANT, counts_as=0.0))
            columns[-1] = np.zeros(len(weights))
        else:
            points.append(Point(None, estimator="model", reason=metric.undefined))
    return points, np.stack(columns, axis=-1)


GROUPS = 20


def _mc_se(features: Floats, combine: Combine) -> float:
    """Monte Carlo standard error by deleting one of 20 groups of virtual items at a time."""
    n_items = features.shape[1] // GROUPS * GROUPS
    sums = features[:, :n_items].reshape(len(features), GROUPS, -1).sum(axis=2)
    left = (sums.sum(axis=1, keepdims=True) - sums) / (n_items - n_items // GROUPS)
    values = combine(left)
    return float(((GROUPS - 1) / GROUPS * ((values - values.mean()) ** 2).sum()) ** 0.5)


def _statistic(metric: Metric, alpha: float, ties: str) -> tuple[Features, Combine]:
    if metric.name in _OF_ENTROPIES:
        return (lambda target, reference: _entropy_features(target, reference, alpha)), _OF_ENTROPIES[metric.name]
    score, _ = label_scores.score_of(metric, alpha, ties)
    return (lambda target, reference: score(target, reference)[None]), lambda means: means[0]


def _entropy_features(target: Ints, reference: Ints, alpha: float) -> Floats:
    x, y = entropies(target, alpha), entropies(reference, 0.0)
    return np.stack([x, y, x * x, y * y, x * y])


def _pearson(means: Floats) -> Floats:
    x, y, xx, yy, xy = means
    over = (xx - x * x) * (yy - y * y)
    known = (xx - x * x > CONSTANT_VARIANCE) & (yy - y * y > CONSTANT_VARIANCE)
    return np.where(known, (xy - x * y) / np.sqrt(np.where(known, over, 1.0)), np.nan)


def _entropy_rmse(means: Floats) -> Floats:
    return np.asarray(np.sqrt(np.maximum(means[2] + means[3] - 2 * means[4], 0.0)))


CONSTANT_VARIANCE = 1e-14
_OF_ENTROPIES: dict[str, Combine] = {"entropy_correlation": _pearson, "entropy_rmse": _entropy_rmse}
