"""What a method teaches: training targets of one run, from the votes that training may see."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from inference.runs import Run
from inference.training import Lessons
from saturation import targets
from saturation.elicitation import means_of_first
from saturation.errors import UsageError
from saturation.streams import Purpose, uniforms
from saturation.tables.soft_votes import SoftVotes
from saturation.typing import Floats, Ints, TieRule


def votes_of(run: Run, counts: Ints) -> Ints:
    """(items, labels) votes behind a run's targets: its draw of ``budget`` votes an item, or all of them."""
    if run.budget is None:
        return counts
    return targets.draw_votes(counts, (run.budget,), seed=run.draw or 0)[run.budget]


def lessons(
    run: Run, rows: Ints, counts: Ints, ties: TieRule = "share", soft: SoftVotes | None = None
) -> Callable[[int], Lessons]:
    """Epoch -> lessons.

    Parameters
    ----------
    run
        The condition.
    rows
        Rows of the training items.
    counts
        (training items, labels) votes of those rows that training may see.
    ties
        For hard labels and smoothing.
    soft
        Soft votes of all items, for ``elicited``: the mean of ``budget`` of each item's.

    ``multipass`` teaches every vote as a lesson of its own (N lessons an item), ``sampled`` one vote an item, drawn
    anew each epoch; both have the soft target as their mean (arXiv 2605.20642).
    """
    if run.method == "elicited":
        given = Lessons(rows, elicited_targets(run, rows, soft))
        return lambda epoch: given
    votes = votes_of(run, counts)
    if run.method == "multipass":
        item, label = _single_votes(votes)
        taught = Lessons(rows[item], np.eye(counts.shape[1])[label])
        return lambda epoch: taught
    if run.method == "sampled":
        return lambda epoch: Lessons(rows, _sampled(votes, run.seed, epoch))
    fixed = Lessons(rows, fixed_targets(run, votes, ties))
    return lambda epoch: fixed


def fixed_targets(run: Run, votes: Ints, ties: TieRule = "share") -> Floats:
    """(items, labels) targets of a method that has one for each item."""
    if run.method == "hard":
        return targets.hard(votes, ties=ties)
    if run.method == "smoothing":
        return targets.smoothing(targets.hard(votes, ties=ties), run.strength or 0.0)
    if run.method == "soft":
        return targets.soft(votes)
    if run.method == "dirichlet":
        prior = targets.fit_base_rate(votes) if run.prior == "base_rate" else None
        return targets.dirichlet(votes, alpha=run.alpha, prior=prior)
    if run.method == "base_rate":
        return np.tile(targets.soft(votes).mean(axis=0), (len(votes), 1))
    raise UsageError(f"there is no method {run.method!r}")


def elicited_targets(run: Run, rows: Ints, soft: SoftVotes | None) -> Floats:
    """(training items, labels) means of ``budget`` soft votes of each item, or of all it has."""
    if soft is None:
        raise UsageError("the method elicited needs soft votes: name their table (data.soft)")
    fewest = int(soft.totals[rows].min())
    if run.budget is not None and run.budget > fewest:
        raise UsageError(f"an item has {fewest} soft votes, {run.budget} are asked for; ask for fewer")
    size = int(soft.totals.max()) if run.budget is None else run.budget
    made = means_of_first(soft.probs, soft.item, len(soft.item_ids), (size,), draw=run.draw or 0)
    return np.asarray(made[0][rows])


def _single_votes(votes: Ints) -> tuple[Ints, Ints]:
    item, label = np.nonzero(votes)
    times = votes[item, label]
    return np.repeat(item, times), np.repeat(label, times)


def _sampled(votes: Ints, seed: int, epoch: int) -> Floats:
    """One vote an item, drawn from its votes."""
    drawn = uniforms(seed, Purpose.TRAINING_LABELS, np.array([epoch]), np.arange(len(votes)))
    reached = votes.cumsum(axis=1) > (drawn * votes.sum(axis=1))[:, None]
    return np.eye(votes.shape[1])[reached.argmax(axis=1)]
