"""Metrics that are not means over votes: how much one item adds to their noise at N votes, by simulation.

The pilot suggests a law of every item's label distribution p_i, given its votes and the models' forecasts. Every draw
gives each item a p_i and N votes from it. With I items the metric then has variance v(N) / I, v(N) being the variance
over items of what they add to it (scores; influence values where it is no mean). Against N votes its value is another
than against everybody, p_i itself: that bias does not fall with the number of items.

Groups of items are left out in turn, the law fitted anew and everything drawn again from the same random words: the
jackknife of that is the spread for other items, the law's own uncertainty in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from saturation.analyses.context import Statistic, corrected, plain
from saturation.analyses.planning.laws import given_forecasts, given_votes
from saturation.analyses.planning.subjects import Subject, combined
from saturation.metrics.metric import Metric
from saturation.streams import Purpose, uniforms
from saturation.typing import Floats, Ints

ITEMS_DRAWN = 6_000
"""Items drawn in all, which puts the error of the simulation well below that of the pilot."""
GROUPS = 10
"""Groups of items that are left out in turn."""
_LEAST, _MOST = 4, 40
_LABEL, _VOTE, _DRAW = 1, 1 << 20, 1 << 24
"""Where in an item's stream the shares, the votes and the next draw begin; 0 picks a forecasting vote."""


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """A metric at several budgets, of all items (row 0) and without each group of them.

    Attributes
    ----------
    budgets
        Votes an item.
    variances
        (1 + groups, budgets) v(N); NaN where the metric is undefined with so few votes.
    values
        (1 + groups, budgets) its value against N votes.
    against_everybody
        (1 + groups,) its value against the distributions that votes are drawn from.
    mc_variances, mc_biases
        (budgets,) Monte Carlo standard errors of v(N) and of the bias, which all rows share.
    """

    budgets: tuple[int, ...]
    variances: Floats
    values: Floats
    against_everybody: Floats
    mc_variances: Floats
    mc_biases: Floats

    def at(self, budget: int) -> int:
        """Place of a budget."""
        return self.budgets.index(budget)


def law(subject: Subject) -> Floats:
    """(items, labels) parameters of the Dirichlet that p_i is drawn from."""
    if subject.forecast == "model":
        return given_forecasts(subject.pilot, subject.forecasts())
    return given_votes(subject.pilot, subject.prior)


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


def simulate(subject: Subject, metrics: Sequence[Metric], budgets: tuple[int, ...], seed: int) -> list[Simulated]:
    """Metrics under every budget, all against the same draws.

    Parameters
    ----------
    subject
        Forecasts and the pilot's votes, of three items or more.
    metrics
        Any that are functions of means over items.
    budgets
        Votes an item, ascending; votes are nested.
    seed
        Of the draws.

    Returns
    -------
    One a metric.
    """
    n_groups = min(GROUPS, subject.n_items)
    group = np.arange(subject.n_items) % n_groups
    subjects = [subject, *(subject.take(group != left_out) for left_out in range(n_groups))]
    n_draws = min(max(ITEMS_DRAWN // subject.n_items, _LEAST), _MOST)
    found = [_simulated(one, metrics, budgets, seed, n_draws) for one in subjects]
    variances, values, truths = (np.stack([part.mean(axis=0) for part in parts]) for parts in zip(*found, strict=True))
    of_variances, of_values, of_truths = found[0]
    noise = of_variances.std(axis=0, ddof=1) / n_draws**0.5
    of_biases = (of_values - of_truths[:, :, None]).std(axis=0, ddof=1) / n_draws**0.5
    return [
        Simulated(budgets, variances[:, rank], values[:, rank], truths[:, rank], noise[rank], of_biases[rank])
        for rank in range(len(metrics))
    ]


def _simulated(
    subject: Subject, metrics: Sequence[Metric], budgets: tuple[int, ...], seed: int, n_draws: int
) -> tuple[Floats, Floats, Floats]:
    """(draws, metrics, budgets) v(N) and values, and (draws, metrics) values against everybody."""
    statistics, parameters = [statistic_of(one, subject) for one in metrics], law(subject)
    single = np.eye(subject.pilot.shape[1], dtype=np.int64)
    shape = n_draws, len(metrics), len(budgets)
    variances, values, truths = np.empty(shape), np.empty(shape), np.empty(shape[:2])
    extra = 1 if subject.forecast == "annotator" else 0
    for draw in range(n_draws):
        shares = draw_shares(parameters, subject.prior.distribution, seed, subject.ranks, draw + 1)
        votes = single[draw_labels(shares, seed, subject.ranks, draw + 1, extra + budgets[-1])]
        forecasting = _with_forecasts(subject, votes[:, 0]) if extra else subject
        ends = np.cumsum(votes[:, extra:], axis=1)[:, np.array(budgets) - 1]
        for rank, one in enumerate(metrics):
            truths[draw, rank] = forecasting.values(plain(one), shares).mean()
        for place in range(len(budgets)):
            for rank, statistic in enumerate(statistics):
                own = forecasting.values(statistic, ends[:, place])
                values[draw, rank, place] = own.mean()
                variances[draw, rank, place] = own.var(ddof=1)
    return variances, values, truths


def _with_forecasts(subject: Subject, votes: Ints) -> Subject:
    """The subject with one other annotator's votes (items, labels) turned into forecasts."""
    return replace(subject, probs=(combined(votes, subject.prior)[None, None],))
