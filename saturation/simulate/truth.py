"""What an infinitely large study would find: the planted truth of every quantity that our analyses estimate.

The population: new items of the same two sources, new training seeds of the same learner, new annotators; the
reference of an item is 100 votes, as in the studies, so plug-in metrics are compared with the *score against 100
votes*. ``dist_ece`` is biased upwards by the size of a test set, so its truth is its expectation over test sets of
200 items. Values are means over many simulated training runs, each with items and annotators of its own; ``mc_se``
is the standard error that this leaves.

The metrics are written out once more here, so that a wrong formula in the catalogue shows as missing coverage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import entr, rel_entr

from saturation.conditions import Condition
from saturation.simulate import learner
from saturation.simulate.population import draw_items, fresh_counts
from saturation.simulate.study import N_VOTES, PARTS
from saturation.typing import Counts, Floats, Probs

if TYPE_CHECKING:
    import polars as pl

TEST_SIZE = dict(PARTS)["test"]
TRUTH_SEED = 1_000_003
"""Far from the seeds of studies, so that no study contains items that the truth was computed from."""
Q = (0.90, 0.95)
_HIGHER_IS_BETTER = ("accuracy", "entropy_correlation")
_BINS = 10


def truth_table(*, n_runs: int = 1000, items_per_run: int = 2000, seed: int = TRUTH_SEED) -> pl.DataFrame:
    """The planted truth, one row a quantity.

    Parameters
    ----------
    n_runs
        Simulated training runs that are averaged over.
    items_per_run
        Items of each run, a multiple of 200; no item is used twice.
    seed
        Random stream of the computation.

    Returns
    -------
    polars.DataFrame
        ``metric``; ``quantity`` (value, shortfall, fraction, n_star, n_star_interpolated); ``condition`` (value) or
        ``curve`` (the others, and value); ``budget``; ``baseline``; ``q``; ``value`` in the metric's units;
        ``mc_se``; null where a column does not apply. ``n_star`` is the smallest budget of the grid from which on
        the true fraction is at least q, ``n_star_interpolated`` where the line (in log N) from the budget before it
        passes q. Fractions and N* exist against baselines that the ceiling truly improves on.

    Examples
    --------
    >>> truth = truth_table(n_runs=3, items_per_run=200)
    >>> truth.columns
    ['metric', 'quantity', 'condition', 'curve', 'budget', 'baseline', 'q', 'value', 'mc_se']
    """
    import polars as pl

    runs = np.stack([_one_run(seed, run, items_per_run) for run in range(n_runs)], axis=-1)
    conditions = learner.conditions()
    rows: list[dict[str, Any]] = []
    for rank, metric in enumerate(METRICS):
        rows += _value_rows(metric, conditions, runs[rank])
        for curve in _curves(conditions):
            rows += _curve_rows(metric, curve, runs[rank])
    columns: dict[str, Any] = {"metric": pl.String, "quantity": pl.String, "condition": pl.String, "curve": pl.String}
    columns |= {"budget": pl.Int64, "baseline": pl.String, "q": pl.Float64, "value": pl.Float64, "mc_se": pl.Float64}
    return pl.DataFrame(rows, schema=columns)


def _one_run(seed: int, run: int, n_items: int) -> Floats:
    """(metrics, conditions) values of one training run on its own items."""
    ranks = np.arange(run * n_items, (run + 1) * n_items)
    items = draw_items(seed, ranks)
    counts = fresh_counts(seed, items, ranks, N_VOTES)
    probs = learner.predict(seed, run, items, ranks)
    return np.stack([metric(probs, counts) for metric in METRICS.values()])


@dataclass(frozen=True, slots=True)
class _Curve:
    """Conditions that differ in budget alone, with the ranks of what they are compared with."""

    name: str
    budgets: dict[int, int]
    baselines: dict[str, int]
    ceiling: int


def _curves(conditions: tuple[Condition, ...]) -> Iterator[_Curve]:
    rank = {str(condition): number for number, condition in enumerate(conditions)}
    baselines = {}
    for condition in conditions:
        if condition.method in ("base_rate", "hard"):
            baselines[condition.method] = rank[str(condition)]
        elif condition.method == "smoothing":
            baselines[f"smoothing[{condition.strength}]"] = rank[str(condition)]
    ceiling = max((c for c in conditions if c.method == "soft"), key=lambda c: c.budget or 0)
    for name in dict.fromkeys(str(c.without("budget")) for c in conditions if c.budget is not None):
        budgets = {c.budget: rank[str(c)] for c in conditions if c.budget and str(c.without("budget")) == name}
        yield _Curve(name, budgets, baselines | {"smallest": budgets[min(budgets)]}, rank[str(ceiling)])


def _value_rows(metric: str, conditions: tuple[Condition, ...], runs: Floats) -> list[dict[str, Any]]:
    return [
        _row(metric, "value", *_mean(one), condition=str(condition), budget=condition.budget)
        | ({"curve": str(condition.without("budget"))} if condition.budget is not None else {})
        for condition, one in zip(conditions, runs, strict=True)
        if np.isfinite(one).all()
    ]


def _curve_rows(metric: str, curve: _Curve, runs: Floats) -> list[dict[str, Any]]:
    """Shortfalls, fractions and N* of one curve; quantities that are 0 or 1 by definition are left out."""
    loss = -runs if metric in _HIGHER_IS_BETTER else runs
    where: dict[str, Any] = {"curve": curve.name}
    rows = [
        _row(metric, "shortfall", *_mean(loss[rank] - loss[curve.ceiling]), budget=budget, **where)
        for budget, rank in curve.budgets.items()
        if rank != curve.ceiling
    ]
    for baseline, base in curve.baselines.items():
        if not _improves(loss[base] - loss[curve.ceiling]):
            continue
        fractions = {
            budget: _ratio(loss[base] - loss[rank], loss[base] - loss[curve.ceiling])
            for budget, rank in curve.budgets.items()
        }
        rows += [
            _row(metric, "fraction", *fraction, budget=budget, baseline=baseline, **where)
            for budget, fraction in fractions.items()
            if curve.budgets[budget] not in (base, curve.ceiling)
        ]
        rows += [row | where | {"baseline": baseline} for q in Q for row in _n_star_rows(metric, fractions, q)]
    return rows


def _n_star_rows(metric: str, fractions: dict[int, tuple[float, float]], q: float) -> list[dict[str, Any]]:
    reached = _first_for_good(fractions, q)
    if reached is None:
        return []
    rows = [_row(metric, "n_star", float(reached), None, q=q)]
    before = [budget for budget in fractions if budget < reached]
    if before:
        between = _crossing(max(before), reached, fractions[max(before)][0], fractions[reached][0], q)
        rows.append(_row(metric, "n_star_interpolated", between, None, q=q))
    return rows


def _crossing(below: int, above: int, under: float, over: float, q: float) -> float:
    """Where a fraction that is linear in log N between two budgets passes q."""
    return float(below * (above / below) ** ((q - under) / (over - under)))


def _improves(gain: Floats) -> bool:
    """Whether the ceiling is better than a baseline beyond simulation error; else there is no fraction of the gain."""
    if not np.isfinite(gain).all():
        return False
    mean, mc_se = _mean(gain)
    return mean > 5 * mc_se


def _first_for_good(fractions: dict[int, tuple[float, float]], q: float) -> int | None:
    """The smallest budget from which on every fraction is at least q; None when the largest one falls short."""
    reached = None
    for budget in sorted(fractions, reverse=True):
        if fractions[budget][0] < q:
            break
        reached = budget
    return reached


def _row(metric: str, quantity: str, value: float, mc_se: float | None, **where: object) -> dict[str, Any]:
    empty = dict.fromkeys(("condition", "curve", "budget", "baseline", "q"))
    return {"metric": metric, "quantity": quantity, **empty, **where, "value": value, "mc_se": mc_se}


def _mean(values: Floats) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


def _ratio(numerator: Floats, denominator: Floats) -> tuple[float, float]:
    """A ratio of means with its delta-method standard error."""
    ratio = numerator.mean() / denominator.mean()
    residual = (numerator - ratio * denominator) / denominator.mean()
    return float(ratio), float(residual.std(ddof=1) / np.sqrt(residual.size))


def _kl(probs: Probs, counts: Counts) -> Floats:
    return np.asarray(rel_entr(_shares(counts), probs).sum(axis=-1).mean(axis=-1))


def _jsd(probs: Probs, counts: Counts) -> Floats:
    human = _shares(counts)
    middle = (human + probs) / 2
    each = rel_entr(human, middle).sum(axis=-1) / 2 + rel_entr(probs, middle).sum(axis=-1) / 2
    return np.asarray(each.mean(axis=-1))


def _tvd(probs: Probs, counts: Counts) -> Floats:
    return np.asarray((np.abs(_shares(counts) - probs).sum(axis=-1) / 2).mean(axis=-1))


def _brier(probs: Probs, counts: Counts) -> Floats:
    return np.asarray(((_shares(counts) - probs) ** 2).sum(axis=-1).mean(axis=-1))


def _entropy_correlation(probs: Probs, counts: Counts) -> Floats:
    """Pearson correlation of entropies over items; NaN where the model's entropy is constant."""
    human = entr(_shares(counts)).sum(axis=-1)
    model = entr(probs).sum(axis=-1)
    human = human - human.mean()
    model = model - model.mean(axis=-1, keepdims=True)
    spread = np.sqrt((human**2).sum() * (model**2).sum(axis=-1))
    constant = np.ptp(model, axis=-1) < 1e-12
    return np.where(constant, np.nan, (human * model).sum(axis=-1) / np.where(constant, 1.0, spread))


def _accuracy(probs: Probs, counts: Counts) -> Floats:
    """Whether the first largest probability is on the majority label; tied majorities share the credit."""
    modes = counts == counts.max(axis=-1, keepdims=True)
    credit = modes / modes.sum(axis=-1, keepdims=True)
    chosen = probs.argmax(axis=-1)
    return np.asarray(np.take_along_axis(credit[None], chosen[..., None], axis=-1)[..., 0].mean(axis=-1))


def _dist_ece(probs: Probs, counts: Counts) -> Floats:
    """Mean over test sets of ``TEST_SIZE`` items and over labels of sum_b (n_b / I) abs(mean m - mean h)."""
    error = probs - _shares(counts)
    n_conditions, n_items, n_labels = probs.shape
    bins = np.clip(np.ceil(probs * _BINS).astype(np.int64) - 1, 0, _BINS - 1)
    sets = np.arange(n_items) // TEST_SIZE
    n_sets = n_items // TEST_SIZE
    cell = ((np.arange(n_conditions)[:, None, None] * n_sets + sets[None, :, None]) * n_labels) + np.arange(n_labels)
    size = n_conditions * n_sets * n_labels * _BINS
    sums = np.bincount((cell * _BINS + bins).ravel(), weights=error.ravel(), minlength=size)
    each = np.abs(sums).reshape(n_conditions, n_sets, n_labels, _BINS).sum(axis=-1) / TEST_SIZE
    return np.asarray(each.mean(axis=(1, 2)))


def _shares(counts: Counts) -> Floats:
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True), dtype=np.float64)


METRICS: dict[str, Callable[[Probs, Counts], Floats]] = {
    "kl": _kl,
    "jsd": _jsd,
    "tvd": _tvd,
    "brier": _brier,
    "entropy_correlation": _entropy_correlation,
    "accuracy": _accuracy,
    "dist_ece": _dist_ece,
}
"""(conditions, items, labels) probabilities and (items, labels) counts -> (conditions,) values."""
