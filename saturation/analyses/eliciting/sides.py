"""Soft votes and plain votes of the same items, drawn without replacement against the same other votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from saturation.analyses.context import plain
from saturation.analyses.worth.standing import Split, Standing, alone, standing_of
from saturation.elicitation import means_of_first
from saturation.metrics.metric import Human, Metric
from saturation.resampling.draw import subsample
from saturation.tables.panel import Votes
from saturation.tables.soft_votes import SoftVotes
from saturation.typing import Floats, Ints, Probs


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """The same items with both kinds of vote.

    Attributes
    ----------
    soft, votes
        In the same order of items.
    soft_sizes, vote_sizes
        How many of each are looked at, ascending; a soft size that some items do not have means all of theirs.
    reference_size
        Further plain votes that both are scored against.
    """

    soft: SoftVotes
    votes: Votes
    soft_sizes: tuple[int, ...]
    vote_sizes: tuple[int, ...]
    reference_size: int


def standings(sides: Sides, metrics: Sequence[Metric], *, n_draws: int, seed: int) -> list[Standing]:
    """Scores of both sides by every metric, soft votes first, with their joint covariance over items.

    A draw orders an item's soft votes and its plain votes at random: the mean of the first j soft votes, and the
    shares of the first N plain votes, are scored against the R plain votes that come after the largest N. Values and
    influence values are means over draws; the same draws serve both sides and all metrics.
    """
    statistics = [plain(one) for one in metrics]
    size = len(sides.soft_sizes) + len(sides.vote_sizes)
    n_items = len(sides.votes.item_ids)
    values = np.zeros((len(metrics), n_draws, size))
    influence = np.zeros((len(metrics), size, n_items))
    for draw in range(n_draws):
        probs, human = _draw(sides, seed, draw)
        for m, statistic in enumerate(statistics):
            value, moves = statistic.value_and_influence(probs, human)
            values[m, draw] = value
            influence[m] += (moves - moves.mean(axis=1, keepdims=True)) / n_draws
    panel = alone(sides.votes)
    return [
        standing_of(
            panel,
            metric,
            [Split(values[m].mean(axis=0)[:, None], influence[m][:, None])],
            undefined=[metric.undefined] * size,
            draws=values[m],
        )
        for m, metric in enumerate(metrics)
    ]


def _draw(sides: Sides, seed: int, draw: int) -> tuple[Probs, Human]:
    """((soft sizes + vote sizes), items, labels) answers, and the votes that they are scored against."""
    drawn = subsample(seed, draw, draw + 1, sides.votes.counts, sides.vote_sizes, sides.reference_size, threads=1)
    assert drawn.reference is not None
    of_votes = drawn.targets[0] / np.array(sides.vote_sizes)[:, None, None]
    soft = sides.soft
    of_soft = means_of_first(soft.probs, soft.item, len(soft.item_ids), sides.soft_sizes, seed=seed, draw=draw)
    return np.concatenate([of_soft, of_votes]), Human(drawn.reference[0])


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Per item, in squared Euclidean distance: bias squared and variance of one soft vote, noise of one plain vote."""

    bias_squared: Floats
    variance: Floats
    vote_noise: Floats


def moments(soft: SoftVotes, counts: Ints) -> Moments:
    """Unbiased estimates for every item with two soft and two plain votes.

    sum_k (m_k - h_k)^2 - s^2/n - v/j, with m the mean of j soft votes, v their variance summed over labels, h the
    shares of n plain votes and s^2 = (1 - sum h^2) n/(n - 1) what one of them adds; single items may be below 0.
    """
    j = soft.totals.astype(np.float64)
    n = counts.sum(axis=1).astype(np.float64)
    sums = [np.stack([np.bincount(soft.item, weights=p, minlength=len(j)) for p in values.T], axis=1)
            for values in (soft.probs, soft.probs**2)]  # fmt: skip
    mean = sums[0] / j[:, None]
    variance = ((sums[1] / j[:, None] - mean**2).sum(axis=1)) * j / (j - 1)
    shares = counts / n[:, None]
    noise = (1 - (shares**2).sum(axis=1)) * n / (n - 1)
    bias = ((mean - shares) ** 2).sum(axis=1) - noise / n - variance / j
    return Moments(bias, variance, noise)
