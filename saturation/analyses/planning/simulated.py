"""Metrics that are not means over votes: how much one item adds to their noise at N votes, by simulation.

The pilot's law of label distributions is a Dirichlet, so that item i with votes c_i has p_i from Dirichlet(c_i + A pi).
Every draw gives each item a p_i and N votes from it. With I items the metric then has variance v(N) / I, v(N) being the
variance over items of what they add to it (scores; influence values where it is no mean). Against N votes its value is
another than against everybody, p_i itself: that bias does not fall with the number of items.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from saturation.analyses.context import Statistic, corrected, plain
from saturation.analyses.planning.subjects import Subject, combined
from saturation.metrics import agreement
from saturation.metrics.metric import Metric
from saturation.streams import Purpose, uniforms
from saturation.typing import Floats, Ints

ITEMS_DRAWN = 40_000
"""Items drawn in all, which puts the error of the simulation well below that of the pilot."""
_LEAST, _MOST = 4, 400
_LABEL, _VOTE, _DRAW = 1, 1 << 20, 1 << 24
"""Where in an item's stream the shares, the votes and the next draw begin; 0 picks a forecasting vote."""


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """Noise of one item at several budgets.

    Attributes
    ----------
    budgets
        Votes an item.
    squares
        (budgets, items) mean over draws of (value - mean)^2 I / (I - 1); their mean over items is v(N). NaN where the
        metric is undefined with so few votes.
    values
        (budgets, items) mean over draws of what an item adds to the metric.
    against_everybody
        (items,) the same against p_i.
    """

    budgets: tuple[int, ...]
    squares: Floats
    values: Floats
    against_everybody: Floats

    def at(self, budget: int) -> int:
        """Place of a budget."""
        return self.budgets.index(budget)


def law(counts: Ints, prior: agreement.BaseRate) -> Floats:
    """(items, labels) parameters of the Dirichlet of every item given its votes; infinite where p_i = pi."""
    if np.isinf(prior.strength):
        return np.where(prior.distribution > 0, np.inf, 0.0) * np.ones(counts.shape)
    strength = 0.0 if np.isnan(prior.strength) else prior.strength
    return np.asarray(counts + strength * prior.distribution, dtype=np.float64)


def draw_shares(parameters: Floats, pi: Floats, seed: int, ranks: Ints, draw: int) -> Floats:
    """(items, labels) p_i of one draw, by inversion of gamma variables."""
    if np.isinf(parameters).any():
        return np.tile(pi, (len(parameters), 1))
    places = draw * _DRAW + _LABEL + np.arange(parameters.shape[1])
    chance = uniforms(seed, Purpose.PLANNING, ranks[:, None], places)
    known = parameters > 0
    raised = np.where(known, special.gammaincinv(np.where(known, parameters, 1.0), chance), 0.0)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def draw_labels(shares: Floats, seed: int, ranks: Ints, draw: int, n_votes: int) -> Ints:
    """(items, votes) labels from the shares of every item; fewer votes are the first of more."""
    places = draw * _DRAW + _VOTE + np.arange(n_votes)
    chance = uniforms(seed, Purpose.PLANNING, ranks[:, None], places)
    edges = np.cumsum(shares, axis=1)[:, :-1]
    return np.asarray((chance[:, :, None] >= edges[:, None, :]).sum(axis=2), dtype=np.int64)


def statistic_of(metric: Metric, subject: Subject) -> Statistic:
    """The corrected score of one model where there is one, else the metric itself."""
    fixed = None if subject.is_difference else corrected(metric)
    return plain(metric) if fixed is None else fixed


def simulate(subject: Subject, metric: Metric, budgets: tuple[int, ...], seed: int) -> Simulated:
    """Noise of one item under every budget.

    Parameters
    ----------
    subject
        Forecasts and the pilot's votes.
    metric
        Any metric that is a function of means over items.
    budgets
        Votes an item, ascending; votes are nested.
    seed
        Of the draws.
    """
    statistic = statistic_of(metric, subject)
    n_items, n_labels = subject.pilot.shape
    n_draws = min(max(ITEMS_DRAWN // n_items, _LEAST), _MOST)
    ranks = np.arange(n_items) if subject.human.items is None else subject.human.items
    parameters = law(subject.pilot, subject.prior)
    squares, sums, truth = np.zeros((len(budgets), n_items)), np.zeros((len(budgets), n_items)), np.zeros(n_items)
    extra = 1 if subject.forecast == "annotator" else 0
    for draw in range(1, n_draws + 1):
        shares = draw_shares(parameters, subject.prior.distribution, seed, ranks, draw)
        labels = draw_labels(shares, seed, ranks, draw, extra + budgets[-1])
        single = np.eye(n_labels, dtype=np.int64)[labels]
        forecasting = _with_forecasts(subject, single[:, 0]) if extra else subject
        counts = np.cumsum(single[:, extra:], axis=1)
        truth += forecasting.values(plain(metric), shares)
        for place, budget in enumerate(budgets):
            values = forecasting.values(statistic, counts[:, budget - 1])
            sums[place] += values
            squares[place] += (values - values.mean()) ** 2
    scale = n_items / (n_items - 1) / n_draws
    return Simulated(budgets, squares * scale, sums / n_draws, truth / n_draws)


def _with_forecasts(subject: Subject, votes: Ints) -> Subject:
    """The subject with one other annotator's votes (items, labels) turned into forecasts."""
    return replace(subject, probs=(combined(votes, subject.prior)[None, None],))
