"""What a plan is about: forecasts of items, the votes that score them, and the score of any vote.

Without predictions the forecaster is one annotator: of every item one vote, picked at random, is turned into a forecast
by the base rate, (vote + A pi) / (1 + A), and the other votes score it. ``base_rate`` forecasts pi for every item.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.context import Statistic, plain, samples
from saturation.analyses.planning.components import VoteScores
from saturation.conditions import Condition, select
from saturation.errors import UsageError
from saturation.metrics import agreement
from saturation.metrics.metric import Human, Metric
from saturation.streams import Purpose, uniforms
from saturation.tables.panel import Ballots, Panel, Votes
from saturation.typing import Counts, Floats, Ints, Probs

LINEAR = ("cross_entropy", "brier_vote", "top_vote_share")
"""Scores that are means over votes."""
LINEAR_DIFFERENCES = (*LINEAR, "kl", "brier")
"""Scores whose difference between two models is one: what depends on the votes alone drops out."""
FORECASTS = ("annotator", "base_rate")
NOTHING_LEFT = "every item has a single vote: none is left to score another annotator's"


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """Forecasts and votes.

    Attributes
    ----------
    names
        Text forms of the model, or of both; empty for labels alone.
    human
        The votes that score the forecasts, in canonical item order.
    pilot
        (items, labels) all votes of these items, those that made a forecast among them.
    ballots
        The scoring votes with their annotators; None without ids.
    places
        One index array into the items a split.
    probs
        One (models, seeds, items_of_split, labels) array a split.
    prior
        pi and A of the votes.
    forecast
        ``model``, ``annotator`` or ``base_rate``.
    n_left_out
        Items whose only vote made the forecast.
    """

    names: tuple[str, ...]
    human: Human
    pilot: Ints
    ballots: Ballots | None
    places: tuple[Ints, ...]
    probs: tuple[Probs, ...]
    prior: agreement.BaseRate
    forecast: str
    n_left_out: int = 0

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.human.counts)

    @property
    def is_difference(self) -> bool:
        """Whether two models are compared."""
        return len(self.names) == 2

    @property
    def ranks(self) -> Ints:
        """(items,) canonical ranks, which random words are drawn by."""
        return np.arange(self.n_items) if self.human.items is None else self.human.items

    def take(self, kept: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Subject:
        """The same with some items only, without people; what is fitted to the votes is fitted anew."""
        place, inside = np.cumsum(kept) - 1, [kept[places] for places in self.places]
        pilot = self.pilot[kept]
        return replace(
            self,
            human=self.human.take(np.flatnonzero(kept)),
            pilot=pilot,
            ballots=None,
            places=tuple(place[places[mask]] for places, mask in zip(self.places, inside, strict=True)),
            probs=tuple(probs[:, :, mask] for probs, mask in zip(self.probs, inside, strict=True)),
            prior=agreement.base_rate(pilot),
        )

    def is_linear(self, metric: Metric) -> bool:
        """Whether the metric is a mean over votes."""
        return metric.family in (LINEAR_DIFFERENCES if self.is_difference else LINEAR)

    def values(self, statistic: Statistic, counts: Counts) -> Floats:
        """(items,) values whose mean is the statistic and whose spread is its noise, a difference for two models.

        Of a mean score they are the scores; else the statistic plus influence values, each item's mean over the cells
        that have it.
        """
        total, cells = np.zeros(self.n_items), np.zeros(self.n_items)
        human = replace(self.human, counts=counts)
        for places, probs in zip(self.places, self.probs, strict=True):
            own = _item_values(statistic, probs, human.take(places))
            total[places] += own[0] if len(own) == 1 else own[0] - own[1]
            cells[places] += 1
        return np.asarray(total / cells)

    def forecasts(self) -> Floats:
        """(models, items, labels) mean forecast over the seeds and splits that have an item."""
        n_items, n_labels = self.human.counts.shape
        total, cells = np.zeros((len(self.probs[0]), n_items, n_labels)), np.zeros(n_items)
        for places, probs in zip(self.places, self.probs, strict=True):
            total[:, places] += probs.mean(axis=1)
            cells[places] += 1
        return np.asarray(total / cells[:, None])

    def vote_scores(self, metric: Metric) -> VoteScores:
        """The score against every vote of a metric that is linear in the votes."""
        n_labels = self.human.counts.shape[1]
        single = np.eye(n_labels, dtype=np.int64)
        tables = [self.values(plain(metric), np.tile(single[k], (self.n_items, 1))) for k in range(n_labels)]
        return VoteScores(np.stack(tables, axis=1), self.human.counts, self.ballots)


def _item_values(statistic: Statistic, probs: Probs, human: Human) -> Floats:
    """(models, items) mean over seeds of value + influence."""
    value, moves = statistic.value_and_influence(probs.reshape(-1, *probs.shape[2:]), human)
    values = value[:, None] + moves - moves.mean(axis=1, keepdims=True)
    return np.asarray(values.reshape(*probs.shape[:2], -1).mean(axis=1))


def of_panel(panel: Panel, a: str | Condition | None, b: str | Condition | None) -> Subject:
    """The subject of one or two models.

    Raises
    ------
    UsageError
        When a selector names no or several conditions, both name the same, or there are several and none is named.
    """
    if a is None and len(panel.conditions) > 1:
        listed = "; ".join(str(one) for one in panel.conditions)
        raise UsageError(f"the predictions hold several conditions: name the model to plan for with a (--a): {listed}")
    if a is None and b is not None:
        raise UsageError("b is given without a: name both models")
    chosen = [panel.conditions[0] if a is None else _named(panel, a)]
    chosen += [] if b is None else [_named(panel, b)]
    if len(set(chosen)) < len(chosen):
        raise UsageError(f"a and b are the same condition: {chosen[0]}")
    ranks = [panel.conditions.index(one) for one in chosen]
    sample = samples(panel, None)[0]
    return Subject(
        names=tuple(str(one) for one in chosen),
        human=sample.human,
        pilot=np.asarray(sample.human.counts, dtype=np.int64),
        ballots=sample.ballots,
        places=sample.places,
        probs=tuple(probs[ranks] for probs in sample.probs),
        prior=agreement.base_rate(sample.human.counts),
        forecast="model",
    )


def _named(panel: Panel, one: str | Condition) -> Condition:
    """A condition as it is, or the one that a selector names."""
    return one if isinstance(one, Condition) and one in panel.conditions else select(panel.conditions, str(one))


def of_votes(votes: Votes, forecast: str, seed: int) -> Subject | str:
    """The subject of labels alone, or the reason why there is none."""
    prior = agreement.base_rate(votes.counts)
    if forecast == "base_rate":
        left, ballots, kept, probs = votes.counts, votes.ballots, np.arange(len(votes.counts)), None
    else:
        several = np.flatnonzero(votes.totals > 1)
        if not len(several):
            return NOTHING_LEFT
        kept, some = several, votes.take(several)
        picked, ballots = _pick(some, several, seed)
        left = some.counts - picked
        probs = combined(picked, prior)
    if probs is None:
        probs = np.tile(prior.distribution, (len(left), 1))
    return Subject(
        names=(),
        human=Human(counts=left, items=kept),
        pilot=votes.counts[kept],
        ballots=ballots,
        places=(np.arange(len(left)),),
        probs=(probs[None, None],),
        prior=prior,
        forecast=forecast,
        n_left_out=len(votes.counts) - len(left),
    )


def combined(votes: Counts, prior: agreement.BaseRate) -> Floats:
    """(items, labels) forecasts (votes + A pi) / (N + A); pi where A is infinite, the votes' shares where it is 0."""
    if np.isinf(prior.strength):
        return np.tile(prior.distribution, (len(votes), 1))
    strength = 0.0 if np.isnan(prior.strength) else prior.strength
    raised = votes + strength * prior.distribution
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _pick(votes: Votes, ranks: Ints, seed: int) -> tuple[Ints, Ballots | None]:
    """(items, labels) one vote of every item, and the other votes with their annotators."""
    n_items, n_labels = votes.counts.shape
    place = np.floor(uniforms(seed, Purpose.PLANNING, ranks, np.zeros(n_items, dtype=np.int64)) * votes.totals)
    if votes.ballots is None:
        label = (place[:, None] >= np.cumsum(votes.counts, axis=1)).sum(axis=1)
        return np.eye(n_labels, dtype=np.int64)[label], None
    ballots = votes.ballots
    first = np.searchsorted(ballots.item, np.arange(n_items))
    taken = first + place.astype(np.int64)
    others = np.ones(len(ballots.item), dtype=bool)
    others[taken] = False
    present, annotator = np.unique(ballots.annotator[others], return_inverse=True)
    rest = Ballots(
        annotator_ids=tuple(ballots.annotator_ids[a] for a in present),
        item=ballots.item[others],
        annotator=annotator.astype(np.int64),
        label=ballots.label[others],
    )
    return np.eye(n_labels, dtype=np.int64)[ballots.label[taken]], rest
