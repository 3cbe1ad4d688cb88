"""The label-side curve at any number of votes, from a law of items fitted to a pilot of a few votes an item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from saturation.analyses.labels import scores as label_scores
from saturation.analyses.labels.exact import additive_statistic, entropies, explained
from saturation.analyses.labels.model_draws import virtual_votes
from saturation.analyses.labels.model_population import population_means
from saturation.analyses.labels.model_sums import law_means
from saturation.analyses.labels.monte_carlo import Draws
from saturation.analyses.labels.plan import DEFAULT_BUDGETS, Plan
from saturation.analyses.labels.series import CONSTANT, Point, Series
from saturation.errors import UsageError
from saturation.metrics.metric import Metric
from saturation.populations import Population, fit_alternatives, fit_population, refit, unfit
from saturation.populations.laws import Laws
from saturation.populations.steps import steps_of
from saturation.resampling.draw import item_weights as resampled_items
from saturation.resampling.exact_moments import Additive
from saturation.results import Note
from saturation.typing import Floats, Ints

REFERENCE_SIZE = 100
MAX_RESAMPLES = 200
"""Resamples give a standard error, which 200 tell within 5%."""
DRAWN_RESAMPLES = 50
"""Of these, so many are used where votes have to be drawn for each: a standard error within 10%."""
PART = 8
"""What differs between laws is drawn from an eighth of the virtual items."""
OF_SECOND_MOMENTS = ("brier", "brier_vote")
"""What two votes an item show under every law."""
RESTS_ON_SHAPE = "rests on the shape of the fitted law, which few votes leave open"
SET_METRIC = (
    "no value from a fitted law: the metric belongs to a whole set of items and depends on their number; of those only "
    "entropy_correlation and entropy_rmse are computed"
)


@dataclass(frozen=True, slots=True, eq=False)
class ModelCurve:
    """What the rows are made of: plan and series, the law (None where none can be fitted) and remarks."""

    plan: Plan
    series: list[Series]
    law: Population | None
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """A law and the laws of the same kind of resampled items (resamples, ...)."""

    law: Population
    resampled: Laws

    @property
    def all_laws(self) -> Laws:
        """The fitted law first."""
        own, others = self.law.laws, self.resampled
        pairs = ((own.weights, others.weights), (own.means, others.means), (own.spreads, others.spreads))
        return Laws(*(np.concatenate(pair) for pair in pairs))

    def first(self, number: int) -> list[Population]:
        """The first resampled laws as populations."""
        some = self.resampled.take(slice(0, number))
        with np.errstate(divide="ignore"):
            each = zip(some.weights, some.means, 1 / some.spreads, strict=True)
            return [Population(self.law.name, *one) for one in each]


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """The chosen law first, then those that the votes do not tell from it; and what is asked of them."""

    fits: tuple[_Fitted, ...]
    budgets: tuple[int, ...]
    reference_size: int | None
    seed: int
    ties: str

    @property
    def n_resamples(self) -> int:
        """Resamples of all laws together."""
        return sum(len(fit.resampled.weights) for fit in self.fits)

    @property
    def few_laws(self) -> list[Population]:
        """Some of the resampled laws of every kind, for what has to be drawn."""
        each = max(DRAWN_RESAMPLES // len(self.fits), 2)
        return [one for fit in self.fits for one in fit.first(each)]


def model_curve(
    counts: Ints,
    metrics: Sequence[Metric],
    alphas: Sequence[float],
    *,
    budgets: Sequence[int] | None,
    reference_size: int | Literal["population"] | None,
    population: str,
    ties: str,
    draws: Draws,
) -> ModelCurve:
    """Series of every metric under the law of items behind the counts.

    The estimate is the metric under the chosen law. Its spread is that about the estimate of laws fitted to resampled
    items, of the kinds in turn that the votes do not tell from the chosen one: few votes leave the shape of the law
    open, and an interval for one shape would be too narrow.

    Parameters
    ----------
    counts
        (items, labels) votes; items without votes are left out.
    metrics, alphas
        What to compute, and the votes added to every label of the target.
    budgets
        N; None: the default ones.
    reference_size
        R, or ``population``; None: 100.
    population
        Kind of law, or ``auto``.
    ties
        As for ``label_curve``.
    draws
        Seed, resamples and threads.
    """
    asked = _budgets(budgets)
    size, of_population = _size(reference_size), reference_size == "population"
    voted = np.flatnonzero(counts.sum(axis=1) > 0).astype(np.int64)
    reason = unfit(counts)
    if reason is not None:
        refused = dict.fromkeys(asked, f"no law of items can be fitted: {reason}")
        none = np.zeros((0, len(voted)), dtype=np.bool_)
        plan = Plan("disjoint", (), refused, size, None, voted, none, (), of_population)
        empty = [Series(one.name, one.direction, alpha, ()) for one, alpha in zip(metrics, alphas, strict=True)]
        return ModelCurve(plan, empty, None, ())
    members = np.ones((len(asked), len(voted)), dtype=np.bool_)
    plan = Plan("disjoint", asked, {}, size, None, voted, members, (), of_population)
    law = fit_population(counts, kind=population, rng=draws.seed, threads=draws.threads)
    laws = (law, *fit_alternatives(counts, law, rng=draws.seed))
    model = _Model(_resampled(laws, counts[voted], draws), asked, size, draws.seed, ties)
    return ModelCurve(plan, _all_series(model, metrics, alphas), law, (_note(laws, counts[voted]),))


def _size(reference_size: int | str | None) -> int | None:
    """R; None for the population."""
    if reference_size == "population":
        return None
    size = REFERENCE_SIZE if reference_size is None else reference_size
    if not isinstance(size, int) or size < 1:
        raise UsageError(f"reference_size is {size!r}; give at least 1 vote, or population")
    return size


def _budgets(budgets: Sequence[int] | None) -> tuple[int, ...]:
    if budgets is None:
        return DEFAULT_BUDGETS
    wanted = tuple(sorted({int(b) for b in budgets}))
    if not wanted or wanted[0] < 1:
        raise UsageError(f"budgets are {tuple(budgets)}; give whole numbers of votes from 1")
    return wanted


def _resampled(laws: tuple[Population, ...], counts: Ints, draws: Draws) -> tuple[_Fitted, ...]:
    """Each law with its share of the resamples of items."""
    steps = steps_of(counts)
    number = min(draws.number, MAX_RESAMPLES)
    number = max(number // len(laws), 2) * len(laws)
    drawn = resampled_items(draws.seed, 0, number, len(counts))
    n_rows = len(steps.totals)
    weights = np.stack([np.bincount(steps.item_row, one, minlength=n_rows) for one in drawn]).astype(np.float64)
    return tuple(
        _Fitted(law, refit(law, steps, weights[turn :: len(laws)], draws.seed)) for turn, law in enumerate(laws)
    )


def _note(laws: tuple[Population, ...], counts: Ints) -> Note:
    totals = counts.sum(axis=1)
    fewest, most = int(totals.min()), int(totals.max())
    votes = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    law, others = laws[0], laws[1:]
    given = "given that shape"
    if others:
        given = (
            f"and hold what {'; '.join(one.describe() for one in others)} would say, which the votes do not rule out"
        )
    return Note(
        "model",
        f"values rest on a law of items fitted to {len(counts)} items with {votes} votes: {law.describe()}; {most} "
        f"votes show the law's moments up to order {most} only, so that what is said about more votes rests on its "
        f"shape, most of all entropies and their correlation; intervals are about other items, {given}",
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
    n_labels = model.fits[0].law.means.shape[1]
    statistics = [additive_statistic(one, alpha, n_labels) for one, alpha in zip(metrics, alphas, strict=True)]
    values = [
        np.stack([_means(fit.all_laws, n, model.reference_size, statistics) for n in model.budgets], axis=-1)
        for fit in model.fits
    ]
    found = []
    for index, one in enumerate(metrics):
        points = [explained(_point(one, float(value), model.n_resamples), one) for value in values[0][index, 0]]
        found.append((points, np.concatenate([of_law[index, 1:] for of_law in values])))
    return found


def _means(laws: Laws, budget: int, reference_size: int | None, statistics: Sequence[Additive]) -> Floats:
    """(statistics, laws) against R votes, or against the population."""
    if reference_size is None:
        return population_means(laws, budget, statistics)
    return law_means(laws, budget, reference_size, statistics)


def _point(metric: Metric, value: float, n_resamples: int, mc_se: float | None = None) -> Point:
    if not np.isfinite(value):
        return Point(None, estimator="model")
    reason = None if metric.family in OF_SECOND_MOMENTS else RESTS_ON_SHAPE
    return Point(value, estimator="model", n_resamples=n_resamples, mc_se=mc_se, reason=reason)


Features = Callable[[Ints, Ints], Floats]
"""Target votes and reference votes (items, labels) -> (features, items)."""
Combine = Callable[[Floats], Floats]
"""Feature means (features, laws) -> (laws,)."""


def _drawn(model: _Model, metrics: Sequence[Metric], alphas: Sequence[float]) -> list[tuple[list[Point], Floats]]:
    """Estimates from many virtual items of the chosen law; resampled laws from a part of them, as differences."""
    statistics = [_statistic(one, alpha, model.ties) for one, alpha in zip(metrics, alphas, strict=True)]
    law = model.fits[0].law
    many, part = _features(model, law, statistics), _features(model, law, statistics, PART)
    others = [
        [
            _values(own, combine)
            for own, (_, combine) in zip(_features(model, one, statistics, PART), statistics, strict=True)
        ]
        for one in model.few_laws
    ]
    found = []
    for index, (metric, (_, combine)) in enumerate(zip(metrics, statistics, strict=True)):
        points = _drawn_points(model, metric, many[index], combine)
        moved = np.stack([of_law[index] for of_law in others]) - _values(part[index], combine)
        known = np.array([point.estimate is not None for point in points])
        found.append((points, np.where(known, _values(many[index], combine) + moved, 0.0)))
    return found


def _features(
    model: _Model, law: Population, statistics: Sequence[tuple[Features, Combine]], part: int = 1
) -> list[list[Floats]]:
    """Features of each statistic at each budget (features, virtual items)."""
    votes = virtual_votes(law, model.seed, model.budgets, model.reference_size, part)
    return [[features(target, votes.reference) for target in votes.targets] for features, _ in statistics]


def _values(features: list[Floats], combine: Combine) -> Floats:
    """(budgets,)"""
    return np.array([float(combine(own.mean(axis=1)[:, None])[0]) for own in features])


def _drawn_points(model: _Model, metric: Metric, features: list[Floats], combine: Combine) -> list[Point]:
    points = []
    for budget, own in zip(model.budgets, features, strict=True):
        value = float(combine(own.mean(axis=1)[:, None])[0])
        if np.isfinite(value):
            points.append(_point(metric, value, len(model.few_laws), _mc_se(own, combine)))
        elif metric.name == "entropy_correlation" and budget == 1 and float(np.var(own[1])) > 0:
            points.append(Point(None, estimator="model", reason=CONSTANT, counts_as=0.0))
        else:
            points.append(Point(None, estimator="model", reason=metric.undefined))
    return points


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
