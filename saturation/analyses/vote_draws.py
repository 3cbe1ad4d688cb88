"""The human side drawn again: new votes for the same items, another weight for every annotator, or one of them gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.context import Sample, Statistic
from saturation.metrics.metric import Human
from saturation.resampling import draw
from saturation.resampling.blocks import run_blocks
from saturation.tables.panel import Ballots
from saturation.typing import Counts, Floats, Probs, Weights

_COUNTS_AT_ONCE = 1 << 22

PART_DRAWS = 400
"""Draws behind the spread over annotators alone: it is then known to 4%; each of them looks at the whole human side."""


@dataclass(frozen=True, slots=True, eq=False)
class VoteDraws:
    """Human sides in blocks.

    Attributes
    ----------
    n_draws
        How many there are.
    block
        (start, stop) -> counts (stop - start, items, labels) of these draws.
    at_once
        Draws that a block may hold.
    """

    n_draws: int
    block: Callable[[int, int], Floats]
    at_once: int


def vote_redraws(sample: Sample, seed: int, n_draws: int) -> VoteDraws:
    """New votes for the same items: multinomial(n_i, h_i)."""
    counts = sample.human.counts
    return VoteDraws(n_draws, lambda a, b: draw.redraw_votes(seed, a, b, counts).astype(np.float64), fitting(counts))


def fitting(counts: Counts) -> int:
    """How many tables of counts may be held at once."""
    return max(1, _COUNTS_AT_ONCE // max(counts.size, 1))


def annotator_draws(sample: Sample, seed: int, n_draws: int) -> VoteDraws:
    """The same votes under random annotator weights (Bayesian bootstrap): weighted label shares."""
    ballots = _ballots(sample)
    n_annotators = len(ballots.annotator_ids)

    def block(start: int, stop: int) -> Floats:
        return _weighted(sample, ballots, draw.annotator_weights(seed, start, stop, n_annotators))

    return VoteDraws(n_draws, block, fitting(sample.human.counts))


def annotator_deletions(sample: Sample) -> VoteDraws:
    """The votes without each annotator in turn; items that only this annotator saw keep no votes."""
    ballots = _ballots(sample)
    n_annotators = len(ballots.annotator_ids)
    weights = 1.0 - np.eye(n_annotators)
    return VoteDraws(n_annotators, lambda a, b: _weighted(sample, ballots, weights[a:b]), n_annotators)


def values_under(
    sample: Sample,
    statistics: Sequence[Statistic],
    draws: VoteDraws,
    *,
    items: Callable[[int, int], Weights] | None = None,
    seeds: Callable[[int, int], tuple[Weights, ...]] | None = None,
    threads: int | None = None,
) -> list[Floats]:
    """Means over cells of the statistics under every draw of the votes.

    Parameters
    ----------
    sample, statistics, draws
        What is computed, under what.
    items, seeds
        (start, stop) -> weights that are redrawn together with the votes; None: as they are.
    threads
        Threads to use; None: all usable cores.

    Returns
    -------
    One (draws, conditions) array a statistic; NaN where undefined.
    """

    def value(models: Probs, human: Human, weights: Weights | None) -> Floats:
        return np.stack([_value(one, models, human, weights) for one in statistics])

    found = means_under(sample, value, len(statistics), draws, items=items, seeds=seeds, threads=threads)
    return [found[:, rank] for rank in range(len(statistics))]


def means_under(
    sample: Sample,
    value: Callable[[Probs, Human, Weights | None], Floats],
    width: int,
    draws: VoteDraws,
    *,
    items: Callable[[int, int], Weights] | None = None,
    seeds: Callable[[int, int], tuple[Weights, ...]] | None = None,
    threads: int | None = None,
) -> Floats:
    """Means over cells of several numbers at once under every draw of the votes.

    Parameters
    ----------
    sample, draws, items, seeds, threads
        As in :func:`values_under`.
    value
        (probs (models, items, labels), human, weights (1, items) or None) -> (width, models).
    width
        How many numbers there are.

    Returns
    -------
    (draws, width, conditions); NaN where undefined.
    """
    out = np.empty((draws.n_draws, width, sample.probs[0].shape[0]))
    for start in range(0, draws.n_draws, draws.at_once):
        stop = min(start + draws.at_once, draws.n_draws)
        counts = draws.block(start, stop)
        of_items = None if items is None else items(start, stop)
        of_seeds = None if seeds is None else seeds(start, stop)

        def work(a: int, b: int, first: int = start, drawn: tuple = (counts, of_items, of_seeds)) -> None:  # type: ignore[type-arg]
            for row in range(a, b):
                weights = None if drawn[1] is None else drawn[1][row : row + 1]
                of_seed = None if drawn[2] is None else [one[row] for one in drawn[2]]
                out[first + row] = _one_draw(sample, value, drawn[0][row], weights, of_seed)

        run_blocks(work, stop - start, threads)
    return out


def _one_draw(
    sample: Sample,
    value: Callable[[Probs, Human, Weights | None], Floats],
    counts: Floats,
    weights: Weights | None,
    of_seed: Sequence[Floats] | None,
) -> Floats:
    """(width, conditions) means over cells under one human side."""
    human = replace(sample.human, counts=counts)
    voted = counts.sum(axis=-1) > 0
    parts = []
    for s, (probs, places) in enumerate(zip(sample.probs, sample.places, strict=True)):
        kept = voted[places]
        side = human.take(places[kept])
        models = probs if kept.all() else probs[:, :, kept]
        flat = models.reshape(-1, *models.shape[2:])
        used = None if weights is None else weights[:, places[kept]]
        found = value(flat, side, used).reshape(-1, *probs.shape[:2])
        parts.append((found if of_seed is None else found * of_seed[s]).sum(axis=2))
    return np.asarray(sum(parts) / sample.n_cells)


def _value(statistic: Statistic, models: Floats, human: Human, weights: Weights | None) -> Floats:
    if len(human.counts) == 0:
        return np.full(len(models), np.nan)
    if weights is None:
        return statistic.value(models, human)
    return np.asarray(statistic.resampled(models, human, weights, threads=1)[0])


def _ballots(sample: Sample) -> Ballots:
    assert sample.ballots is not None, "the design was checked to have annotator ids"
    return sample.ballots


def _weighted(sample: Sample, ballots: Ballots, weights: Weights) -> Floats:
    """(draws, annotators) weights -> (draws, items, labels) weighted votes, added in the order of the votes."""
    shape = sample.human.counts.shape
    cell = ballots.item * shape[1] + ballots.label
    return np.stack(
        [np.bincount(cell, one[ballots.annotator], minlength=shape[0] * shape[1]).reshape(shape) for one in weights]
    )
