"""One statistic against one part of the votes: its value in every cell and how much each item moves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.context import Sample, Statistic, corrected, plain
from saturation.analyses.heldout.divisions import Part
from saturation.analyses.heldout.expected import exact_scores, mean_of_counts
from saturation.metrics.metric import Human, Metric
from saturation.typing import EstimatorName, Floats, Probs


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A statistic of every condition against one part of the votes.

    Attributes
    ----------
    cells
        One (conditions, seeds) array a split; NaN where undefined.
    moves
        One (conditions, seeds, items_of_split) array a split: influence values, their mean over items immaterial.
    mc_se
        (conditions,) Monte Carlo standard error of the mean over cells; None where there is none.
    estimator
        How the values were made.
    undefined
        Why a value can be NaN.
    """

    cells: tuple[Floats, ...]
    moves: tuple[Floats, ...]
    mc_se: Floats | None
    estimator: EstimatorName
    undefined: str

    @property
    def values(self) -> Floats:
        """(conditions,) means over cells."""
        return np.asarray(np.concatenate(self.cells, axis=1).mean(axis=1))


def raw(metric: Metric, sample: Sample, part: Part, floor: float) -> Measured:
    """The metric as it is: the mean over all draws of a drawn part, exactly where it is a sum over labels."""
    exact = [
        exact_scores(metric, probs, part, places, floor)
        for probs, places in zip(sample.probs, sample.places, strict=True)
    ]
    known = [scores for scores in exact if scores is not None]
    if len(known) == len(exact):
        return of_scores(known, "exact", metric.undefined)
    return of_draws(plain(metric), sample, part)


def fixed(metric: Metric, own: Measured, sample: Sample, part: Part) -> Measured | None:
    """The corrected metric; None where no correction is known.

    What a correction adds to the score of an item depends on its votes alone; its mean over draws is listed exactly
    where it can be.
    """
    statistic = corrected(metric)
    if statistic is None:
        return None
    if own.estimator != "exact":
        return of_draws(statistic, sample, part)
    added, _ = mean_of_counts(lambda counts: _added(metric, counts), part, sample.human.counts.shape[1])
    with_it = [moves + added[places] for moves, places in zip(own.moves, sample.places, strict=True)]
    return of_scores(with_it, "exact", statistic.undefined)


def floor_of(metric: Metric, sample: Sample, part: Part) -> float | None:
    """What a perfect model would be expected to score, weighted as cells are; None where it is not known."""
    if metric.floor is None:
        return None
    scores, _ = mean_of_counts(metric.floor, part, sample.human.counts.shape[1])
    of_split = [float(scores[places].mean()) for places in sample.places]
    value = sum(n * mean for n, mean in zip(sample.n_seeds, of_split, strict=True)) / sample.n_cells
    return value if np.isfinite(value) else None


def of_scores(scores: Sequence[Floats], estimator: EstimatorName, undefined: str) -> Measured:
    """From one (conditions, seeds, items) array of scores a split."""
    cells = tuple(one.mean(axis=-1) for one in scores)
    return Measured(cells, tuple(scores), None, estimator, undefined)


def of_draws(statistic: Statistic, sample: Sample, part: Part) -> Measured:
    """Means over the draws of the part, of values and of influence values."""
    n_draws = len(part.draws)
    cells, moves = [], []
    means = np.zeros((n_draws, len(sample.probs[0])))
    for probs, places in zip(sample.probs, sample.places, strict=True):
        value, moved = np.zeros(probs.shape[:2]), np.zeros(probs.shape[:3])
        for draw, counts in enumerate(part.draws):
            human = replace(sample.human, counts=counts).take(places)
            found, more = values_of(statistic, probs, human)
            value, moved = value + found, moved + more
            means[draw] += found.sum(axis=1)
        cells.append(value / n_draws)
        moves.append(moved / n_draws)
    means /= sample.n_cells
    mc_se = np.asarray(means.std(axis=0, ddof=1) / n_draws**0.5) if n_draws > 1 else None
    estimator: EstimatorName = "plugin" if part.whole is None else "monte_carlo"
    return Measured(tuple(cells), tuple(moves), mc_se, estimator, statistic.undefined)


def values_of(statistic: Statistic, probs: Probs, human: Human) -> tuple[Floats, Floats]:
    """(conditions, seeds) values and (conditions, seeds, items) influence values; NaN where undefined."""
    models = probs.reshape(-1, *probs.shape[2:])
    if len(human.counts) > 1:
        value, moves = statistic.value_and_influence(models, human)
    else:  # nothing is left without the only item
        value, moves = statistic.value(models, human), np.full(models.shape[:2], np.nan)
    return value.reshape(probs.shape[:2]), moves.reshape(probs.shape[:3])


def _added(metric: Metric, counts: Floats) -> Floats:
    """(items,) corrected score less score, which is the same for all models: taken of the uniform one."""
    assert metric.corrected is not None
    assert metric.features is not None
    human = Human(counts)
    uniform = np.full(np.shape(counts), 1 / np.shape(counts)[-1])
    return np.asarray(metric.corrected(uniform, human) - metric.features(uniform, human)[..., 0, :])
