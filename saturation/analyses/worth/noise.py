"""The score of a model that knows the population: only the noise of the votes is left.

The population p_i of an item is not known from n_i votes, only where it lies: Dirichlet(c_i + A pi). Its mean, taken
for p itself, overstates the noise, because a mean of distributions is more even than they are: the total variation
distance by 28% at 3 votes an item, 20% at 5, 9% at 20 and 2% at 100, and a true entropy correlation of .68 at 5 votes
becomes .55 (3 labels, A = 1.24). Populations drawn from there are right within 1%, so p_i is drawn anew with every draw
of the votes.

The prior a = A pi is an estimate too, and how much noise there is hangs on it. With f_i an item's score, the mean over
Dirichlet(c_i + a) has the derivative d E f_i / d a_k = Cov(f_i, ln p_ik), which the draws give for nothing; times how
much each item moves a (:func:`~saturation.analyses.worth.combiner.prior_influence`) it joins the item's own score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import gammaincinv

from saturation.analyses.context import Statistic, plain
from saturation.analyses.losses import cell_values, humans
from saturation.analyses.worth.combiner import Combiner, prior_influence
from saturation.analyses.worth.standing import Split, Standing, standing_of
from saturation.metrics.metric import Human, Metric
from saturation.streams import Purpose, uniforms
from saturation.tables.panel import Panel
from saturation.typing import Counts, Floats, Ints, Probs, Scores

Population = Literal["drawn", "mean"]
MAX_DRAWS = 100
DRAWS_OF_RANKS = 40
INFLUENCE_DRAWS = 16
MAX_CELLS = 6_000_000
"""Most populations x labels that are drawn."""
FEWEST_DRAWS = 20
_LEAST = 1e-290
"""Smaller probabilities are 0: a label with so little prior is never chosen."""


@dataclass(frozen=True, slots=True, eq=False)
class _Total:
    """What one metric adds up over draws.

    Attributes
    ----------
    draws
        (draws,) values, means over cells.
    n_influence
        How many draws ``influence`` (items of the split,) is the mean of.
    logs, products
        Per split (items, labels), over those draws too: means of ln p, and of the item's influence times ln p.
    """

    draws: Floats
    n_influence: int
    influence: list[Floats]
    logs: list[Floats]
    products: list[Floats]


def noise_standings(
    panel: Panel, metrics: Sequence[Metric], combiner: Combiner, *, population: Population, n_draws: int, seed: int
) -> list[Standing]:
    """Models against the votes, and what follows them: one ceiling, a model that knows the population.

    Parameters
    ----------
    panel
        Votes, and models where there are any.
    metrics
        Any metrics.
    combiner
        Prior of every item; its population is Dirichlet(c + A pi).
    population
        ``drawn`` anew with every draw of the votes; ``mean``: (c + A pi)/(n + A), which overstates the noise.
    n_draws, seed
        Draws of populations and of votes from them; at most ``MAX_DRAWS``.
    """
    counts = panel.votes.counts
    most = min(n_draws, MAX_DRAWS, max(FEWEST_DRAWS, MAX_CELLS // max(counts.size, 1)))
    totals = [_start(panel, one, most) for one in metrics]
    mean = (counts + combiner.added) / (panel.votes.totals + combiner.strength)[:, None]
    for draw in range(most):
        probs = mean if population == "mean" else draw_population(counts, combiner, seed, draw)
        sides = humans(panel, draw_votes(probs, panel.votes.totals, seed, draw))
        for one, total in zip(metrics, totals, strict=True):
            if draw < len(total.draws):
                _add(panel, plain(one), total, probs, sides, draw)
    if population == "drawn":
        moved = prior_influence(counts)
        for total in totals:
            _add_prior(panel, total, moved)
    return [_finish(panel, one, total) for one, total in zip(metrics, totals, strict=True)]


def draw_population(counts: Counts, combiner: Combiner, seed: int, draw: int) -> Probs:
    """(items, labels) one population of every item, Dirichlet(c + A pi): gamma variates by inversion, normalised."""
    n_items, n_labels = counts.shape
    streams = np.arange(draw * n_items, (draw + 1) * n_items)[:, None]
    uniform = uniforms(seed, Purpose.CEILING, streams, np.arange(n_labels))
    gamma = gammaincinv(np.maximum(counts + combiner.added, np.finfo(np.float64).tiny), uniform)
    population = gamma / gamma.sum(axis=1, keepdims=True)
    return np.where(population < _LEAST, 0.0, population)  # half of such a number is 0, and no logarithm's argument


def draw_votes(population: Probs, totals: Ints, seed: int, draw: int) -> Ints:
    """(items, labels) as many votes of every item as it has, from its population."""
    n_items, n_labels = population.shape
    item = np.repeat(np.arange(n_items), totals)
    place = np.arange(len(item)) - np.repeat(np.cumsum(totals) - totals, totals)
    uniform = uniforms(seed, Purpose.CEILING, draw * n_items + item, n_labels + place)
    edges = np.cumsum(population, axis=1)[:, :-1]
    label = (uniform[:, None] > edges[item]).sum(axis=1)
    cells = np.bincount(item * n_labels + label, minlength=n_items * n_labels)
    return cells.reshape(n_items, n_labels).astype(np.int64)


def _start(panel: Panel, metric: Metric, most: int) -> _Total:
    number = most if metric.features is not None else min(most, DRAWS_OF_RANKS)
    n_influence = number if metric.kind == "item" else min(number, INFLUENCE_DRAWS)
    sizes, n_labels = [len(items) for items in panel.items_of_split], panel.votes.counts.shape[1]
    logs, products = ([np.zeros((size, n_labels)) for size in sizes] for _ in range(2))
    return _Total(np.zeros(number), n_influence, [np.zeros(size) for size in sizes], logs, products)


def _add(  # noqa: PLR0917
    panel: Panel, statistic: Statistic, total: _Total, probs: Probs, sides: Sequence[Human], draw: int
) -> None:
    for split, (items, human) in enumerate(zip(panel.items_of_split, sides, strict=True)):
        model, share = probs[None, items], len(panel.seeds[split]) / panel.n_cells
        if draw < total.n_influence and len(items) > 1:
            value, moves = statistic.value_and_influence(model, human)
            log_p = np.log(np.maximum(model[0], _LEAST))
            total.influence[split] += moves[0] / total.n_influence
            total.logs[split] += log_p / total.n_influence
            total.products[split] += moves[0][:, None] * log_p / total.n_influence
        else:
            value = statistic.value(model, human)
        total.draws[draw] += share * float(value[0])


def _add_prior(panel: Panel, total: _Total, moved: Floats) -> None:
    """What every item does to the ceiling through the prior, shared out over the splits that have it."""
    if total.n_influence < 2:
        return
    shares = [len(seeds) / panel.n_cells for seeds in panel.seeds]
    slope, present = np.zeros(moved.shape[1]), np.zeros(len(moved))
    for share, items, *sums in zip(
        shares, panel.items_of_split, total.influence, total.logs, total.products, strict=True
    ):
        influence, logs, products = sums
        covariance = (products - influence[:, None] * logs) * total.n_influence / (total.n_influence - 1)
        slope += share * covariance.mean(axis=0)
        present[items] += 1
    own = (moved * slope).sum(axis=1) / np.maximum(present, 1) / (present > 0).sum()
    for split, (share, items) in enumerate(zip(shares, panel.items_of_split, strict=True)):
        total.influence[split] += own[items] * len(items) / share


def _finish(panel: Panel, metric: Metric, total: _Total) -> Standing:
    splits, value = [], float(total.draws.mean())
    for probs, human, moves in zip(panel.probs, humans(panel), total.influence, strict=True):
        own, of_items = cell_values(metric, probs, human) if len(probs) else _no_models(probs)
        n_seeds = probs.shape[1]
        crowd = np.full((1, n_seeds), value)
        splits.append(Split(np.concatenate([own, crowd]), np.concatenate([of_items, _seeds(moves, n_seeds)])))
    models = [float(one) for one in np.concatenate([s.values[:-1] for s in splits], axis=1).mean(axis=1)]
    draws = np.concatenate([np.tile(models, (len(total.draws), 1)), total.draws[:, None]], axis=1)
    said = [*(f"{metric.name} of {c}: {metric.undefined}" for c in panel.conditions), metric.undefined]
    return standing_of(panel, metric, splits, undefined=said, draws=draws)


def _no_models(probs: Probs) -> tuple[Floats, Floats]:
    return np.zeros(probs.shape[:2]), np.zeros(probs.shape[:3])


def _seeds(moves: Scores, n_seeds: int) -> Floats:
    return np.repeat(moves[None, None], n_seeds, axis=1)
