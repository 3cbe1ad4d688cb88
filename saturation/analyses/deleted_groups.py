"""Statistics that are computed anew without each annotator, or without each of a few groups of them.

What the votes' own noise does is seen where owners are shuffled: within an item votes change hands, so that everybody
keeps their items and no person is the same on two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from saturation.analyses.context import Sample
from saturation.analyses.crowd import WITHOUT_A_VOTE, Moves, degrees_of_freedom
from saturation.analyses.vote_draws import VoteDraws, fitting
from saturation.streams import Purpose, words
from saturation.tables.panel import Ballots
from saturation.typing import Floats, Ints

MOST_GROUPS = 50
"""Above so many annotators groups of them are left out together: each one costs a look at all items."""
SHUFFLES = 2
"""How often owners are shuffled."""


def without_groups(sample: Sample, seed: int, values: Callable[[VoteDraws], Floats]) -> list[Moves]:
    """How statistics move, from their values under sets of votes.

    Parameters
    ----------
    sample
        With annotator ids.
    seed
        Of the shuffles.
    values
        Votes -> (draws, statistics, conditions).

    Returns
    -------
    One a statistic.
    """
    ballots, counts = sample.ballots, sample.human.counts
    assert ballots is not None, "the design was checked to have annotator ids"
    group = groups_of(ballots)
    load = np.bincount(group[ballots.annotator], minlength=int(group.max()) + 1).astype(np.float64)  # 0: without votes
    owners = [ballots, *(shuffled(ballots, counts, seed, turn) for turn in range(SHUFFLES))]
    found = [values(deletions(counts, one, group)) for one in owners]
    return [_moves([of_owner[:, place] for of_owner in found], load) for place in range(found[0].shape[1])]


def groups_of(ballots: Ballots) -> Ints:
    """(annotators,) the group of each: the busiest are dealt out first, to and fro, so that groups vote alike often.

    Examples
    --------
    >>> everyone = np.arange(3)
    >>> groups_of(Ballots(("x", "y", "z"), everyone, everyone, everyone))
    array([0, 1, 2])
    """
    count = len(ballots.annotator_ids)
    if count <= MOST_GROUPS:
        return np.arange(count)
    busiest = np.argsort(-np.bincount(ballots.annotator, minlength=count), kind="stable")
    turn, place = np.divmod(np.arange(count), MOST_GROUPS)
    group = np.empty(count, dtype=np.int64)
    group[busiest] = np.where(turn % 2 == 0, place, MOST_GROUPS - 1 - place)
    return group


def shuffled(ballots: Ballots, counts: Ints, seed: int, turn: int) -> Ballots:
    """The same votes in other hands: within every item, and among the items with a single vote."""
    random = words(seed, Purpose.OWNERS, np.array(turn), np.arange(len(ballots.item)))
    label = ballots.label[np.lexsort((random, ballots.item))]
    single = np.flatnonzero(counts.sum(axis=1)[ballots.item] == 1)
    annotator = ballots.annotator.copy()
    annotator[single] = annotator[single[np.argsort(random[single], kind="stable")]]
    return replace(ballots, annotator=annotator, label=label)


def deletions(counts: Ints, ballots: Ballots, group: Ints) -> VoteDraws:
    """All votes, then the votes without each group."""
    cell = ballots.item * counts.shape[1] + ballots.label
    of_vote = group[ballots.annotator]

    def left(draw: int) -> Floats:
        gone = np.bincount(cell[of_vote == draw - 1], minlength=counts.size)
        return np.asarray(counts - gone.reshape(counts.shape), dtype=np.float64)

    return VoteDraws(int(group.max()) + 2, lambda a, b: np.stack([left(draw) for draw in range(a, b)]), fitting(counts))


def _moves(found: Sequence[Floats], load: Floats) -> Moves:
    """From values (1 + groups, conditions) with the votes in their owners' hands, then with owners shuffled.

    What any lost vote does alike is taken off in proportion to the ``load`` (groups,) of votes.
    """
    lost = ~np.all([np.isfinite(one).all(axis=0) for one in found], axis=0)
    sides = []
    for values in found:
        gap = np.where(lost, 0.0, values[1:] - values[0]) if not lost.all() else np.zeros(values[1:].shape)
        sides.append((gap - load[:, None] / load.sum() * gap.sum(axis=0)).T)
    df, within_df = degrees_of_freedom(load)
    return Moves(
        people=sides[0],
        noise=np.concatenate(sides[1:], axis=1) / SHUFFLES**0.5,
        growth=1 - 1 / np.count_nonzero(load),
        df=df,
        within_df=within_df,
        reasons={int(c): WITHOUT_A_VOTE for c in np.flatnonzero(lost)},
    )
