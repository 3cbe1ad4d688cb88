"""The annotators' part of the covariance of losses: the people change, items and seeds stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from saturation.analyses.context import Sample, Statistic, plain, samples
from saturation.analyses.crowd import Moves, products
from saturation.analyses.deleted_groups import without_groups
from saturation.analyses.losses import sign
from saturation.analyses.removals import Removals
from saturation.analyses.vote_changes import linearised
from saturation.analyses.vote_draws import VoteDraws, values_under
from saturation.metrics.metric import Metric
from saturation.resampling.linearized import Covariance, Influence, covariance
from saturation.tables.panel import Panel
from saturation.typing import Floats


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatorsPart:
    """The annotators' part of the covariance, see :mod:`saturation.analyses.crowd`.

    Attributes
    ----------
    covariance, within
        (statistics, statistics) V_A and V_w; statistic ``m * conditions + c`` is metric m of condition c.
    df, within_df
        Degrees of freedom of V_A - V_w and of V_w.
    reasons
        By statistic: why its variance over annotators is not known; it counts as unmoved.
    """

    covariance: Floats
    within: Floats
    df: float
    within_df: float
    reasons: dict[int, str]

    def added_to(self, influence: Influence) -> Covariance:
        """The covariance over items, seeds and annotators."""
        return covariance(influence, self.covariance, self.df, self.within, self.within_df)


def has_annotators(panel: Panel) -> bool:
    """Whether there are ids of at least two people."""
    return panel.votes.ballots is not None and len(panel.votes.ballots.annotator_ids) > 1


def moves_of(sample: Sample, statistics: Sequence[Statistic], seed: int, threads: int | None = None) -> list[Moves]:
    """How every statistic of a sample with at least two annotators moves with them: one a statistic, by condition.

    Functions of means over items are linearised, at the cost of a few looks at every item. Rank statistics are computed
    anew without each annotator (each of 50 groups of them where there are more), with the votes as they are and twice
    with owners shuffled within items, which leaves V_w alone.
    """
    assert sample.ballots is not None, "the design was checked to have annotator ids"
    removals = Removals.of(sample.ballots, sample.human.counts)
    ranked = [one for one in statistics if not one.is_of_means]

    def values(draws: VoteDraws) -> Floats:
        return np.stack(values_under(sample, ranked, draws, threads=threads), axis=1)

    again = iter(without_groups(sample, seed, values) if ranked else ())
    return [next(again) if one in ranked else linearised(sample, removals, one, threads) for one in statistics]


def annotators_part(panel: Panel, metrics: Sequence[Metric], seed: int, threads: int | None = None) -> AnnotatorsPart:
    """What changes when the annotators do, for every (metric, condition).

    Metrics that are deleted differently (means of items one by one, ranks by groups) count as unrelated.
    """
    found = moves_of(samples(panel, None)[0], [plain(metric) for metric in metrics], seed, threads)
    conditions = len(panel.conditions)
    size = len(metrics) * conditions
    whole, within = np.zeros((size, size)), np.zeros((size, size))
    for alike in _alike(found):
        rows = np.concatenate([np.arange(m * conditions, (m + 1) * conditions) for m in alike])
        growth = found[alike[0]].growth
        people = np.concatenate([sign(metrics[m]) * found[m].people for m in alike])
        noise = np.concatenate([sign(metrics[m]) * found[m].noise for m in alike])
        whole[np.ix_(rows, rows)] = growth * products(people)
        within[np.ix_(rows, rows)] = growth * products(noise)
    reasons = {m * conditions + c: text for m, one in enumerate(found) for c, text in one.reasons.items()}
    return AnnotatorsPart(
        whole,
        within,
        df=min(one.df for one in found),
        within_df=min(one.within_df for one in found),
        reasons=reasons,
    )


def _alike(found: Sequence[Moves]) -> Iterator[list[int]]:
    """Statistics whose moves are about the same deletions."""
    kinds = dict.fromkeys((one.people.shape, one.noise.shape) for one in found)
    for kind in kinds:
        yield [m for m, one in enumerate(found) if (one.people.shape, one.noise.shape) == kind]
