"""Crowds and models scored against the same R other votes, drawn again and again: for metrics with no exact way.

A draw takes N votes of each item for the crowd (a larger crowd holds the smaller one) and R of the others as what both
are scored against. Scores and influence values are means over draws; single draws give the Monte Carlo error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from saturation.analyses.context import plain
from saturation.analyses.losses import humans
from saturation.analyses.worth.combiner import Combiner
from saturation.analyses.worth.standing import Split, Standing, standing_of
from saturation.metrics.metric import Human, Metric
from saturation.resampling.draw import subsample
from saturation.tables.panel import Panel
from saturation.typing import Floats, Ints, Probs

MAX_DRAWS = 100
"""Draws are n_resamples, at most this many: the Monte Carlo error is printed, and is then small beside the spread."""
DRAWS_OF_RANKS = 40
"""Most draws of metrics that compare pairs of items or sort them."""
INFLUENCE_DRAWS = 16
"""Influence values of metrics of whole sets are averaged over this many draws."""
MAX_CELLS = 60_000_000
"""Most items x labels x (models and crowds) x draws."""
FEWEST_DRAWS = 20
NOBODY = "a crowd of nobody gives the same entropy to every item; it counts as a correlation of 0"


@dataclass(frozen=True, slots=True)
class Crowds:
    """Which crowds, against what.

    Attributes
    ----------
    sizes
        Ascending N; 0 is nobody, the base rate.
    reference_size
        R.
    combiner
        Of the panel's distinct items; None: shares of the votes as they are.
    """

    sizes: tuple[int, ...]
    reference_size: int
    combiner: Combiner | None


@dataclass(slots=True, eq=False)
class _Sums:
    """What one metric adds up over draws: values (draws, statistics) over cells, and per split the means."""

    number: int
    draws: Floats
    values: list[Floats]
    influence: list[Floats]


def drawn_standings(
    panel: Panel, metrics: Sequence[Metric], crowds: Crowds, *, n_draws: int, seed: int, threads: int | None = None
) -> list[Standing]:
    """Models and crowds by several metrics, which share the draws.

    Parameters
    ----------
    panel
        The items to use; every one has max N + R votes.
    metrics
        Any metrics.
    crowds
        Sizes, reference and combiner.
    n_draws, seed, threads
        Of the draws; at most ``MAX_DRAWS``.

    Returns
    -------
    One a metric, in order; crowds follow the panel's conditions by size.
    """
    n_models, size = len(panel.conditions), len(panel.conditions) + len(crowds.sizes)
    most = min(n_draws, MAX_DRAWS, max(FEWEST_DRAWS, _affordable(panel, len(crowds.sizes))))
    sums = [_start(panel, metric, size, most) for metric in metrics]
    for draw in range(most):
        targets, reference = _draw(panel, crowds, draw, seed, threads)
        sides = humans(panel, reference)
        for metric, total in zip(metrics, sums, strict=True):
            if draw < total.number:
                _add(panel, metric, total, targets, sides, draw)
    return [_finish(panel, metric, total, n_models, crowds) for metric, total in zip(metrics, sums, strict=True)]


def _affordable(panel: Panel, n_crowds: int) -> int:
    cells = sum(probs.size + n_crowds * probs.shape[-2] * probs.shape[-1] for probs in panel.probs)
    return int(MAX_CELLS // max(cells, 1))


def _start(panel: Panel, metric: Metric, size: int, most: int) -> _Sums:
    number = most if metric.features is not None else min(most, DRAWS_OF_RANKS)
    shapes = [(size, probs.shape[1], probs.shape[2]) for probs in panel.probs]
    return _Sums(number, np.zeros((number, size)), [np.zeros(s[:2]) for s in shapes], [np.zeros(s) for s in shapes])


def _draw(panel: Panel, crowds: Crowds, draw: int, seed: int, threads: int | None) -> tuple[Probs, Ints]:
    """(crowds, items, labels) distributions and (items, labels) reference votes of one draw."""
    counts, people = panel.votes.counts, tuple(n for n in crowds.sizes if n > 0)
    used = np.unique(np.concatenate(panel.items_of_split))
    targets, reference = np.zeros((len(people), *counts.shape)), np.zeros_like(counts)
    drawn = subsample(seed, draw, draw + 1, counts[used], people or (1,), crowds.reference_size, threads=threads)
    assert drawn.reference is not None
    reference[used] = drawn.reference[0]
    targets[:, used] = drawn.targets[0, : len(people)]
    if crowds.combiner is None:
        return targets / np.array(people, dtype=np.float64)[:, None, None], reference
    made = [crowds.combiner.combine(target, n) for n, target in zip(people, targets, strict=True)]
    nobody = [crowds.combiner.base] if 0 in crowds.sizes else []
    return np.stack([*nobody, *made]), reference


def _add(panel: Panel, metric: Metric, total: _Sums, targets: Probs, sides: Sequence[Human], draw: int) -> None:  # noqa: PLR0917
    statistic = plain(metric)
    with_influence = metric.kind == "item" or draw < INFLUENCE_DRAWS
    for split, (probs, items, human) in enumerate(zip(panel.probs, panel.items_of_split, sides, strict=True)):
        n_models, n_seeds = probs.shape[:2]
        both = np.concatenate([probs.reshape(-1, *probs.shape[2:]), targets[:, items]])
        if with_influence and len(items) > 1:
            value, moves = statistic.value_and_influence(both, human)
        else:
            value, moves = statistic.value(both, human), None
        spread = _by_seed(value, n_models, n_seeds)
        total.values[split] += spread / total.number
        total.draws[draw] += spread.sum(axis=1) / panel.n_cells
        if moves is not None:
            share = total.number if metric.kind == "item" else min(total.number, INFLUENCE_DRAWS)
            total.influence[split] += _by_seed(moves, n_models, n_seeds) / share


def _by_seed(values: Floats, n_models: int, n_seeds: int) -> Floats:
    """(models x seeds and crowds, ...) -> (models and crowds, seeds, ...): a crowd is the same for every seed."""
    models = values[: n_models * n_seeds].reshape(n_models, n_seeds, *values.shape[1:])
    return np.concatenate([models, np.repeat(values[n_models * n_seeds :][:, None], n_seeds, axis=1)])


def _finish(panel: Panel, metric: Metric, total: _Sums, n_models: int, crowds: Crowds) -> Standing:
    if metric.is_correlation and 0 in crowds.sizes:
        nobody = n_models + crowds.sizes.index(0)
        total.draws[:, nobody] = 0.0
        for value, moves in zip(total.values, total.influence, strict=True):
            value[nobody], moves[nobody] = 0.0, 0.0
    names = [str(c) for c in panel.conditions] + [f"a crowd of {n}" for n in crowds.sizes]
    said = [f"{metric.name} of {name}: {metric.undefined}" for name in names]
    splits = [Split(v, m) for v, m in zip(total.values, total.influence, strict=True)]
    return standing_of(panel, metric, splits, undefined=said, draws=total.draws)
