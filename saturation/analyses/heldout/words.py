"""What held-out votes do and do not protect against, and what else a reader must keep in mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from saturation.analyses.heldout.divisions import Division, shared_people
from saturation.analyses.remarks import ANNOTATORS_UNKNOWN, FEW_SEEDS, model_ties, people
from saturation.metrics.metric import Metric
from saturation.resampling.designs import FROM_SEEDS
from saturation.resampling.linearized import ONE_SEED
from saturation.results import Note
from saturation.tables.panel import Panel

BY_POOL = (
    "held out are the votes that the column `pool` marks so. A model cannot have learned their noise; but they are "
    "votes on the same items as the training votes, so that this says nothing about new items"
)
AT_RANDOM = (
    "the votes do not say which of them training has seen (column `pool`), so they were divided at random: this shows "
    "what a smaller reference alone moves. It is no test on unseen votes where the models were trained on all of them"
)
SMALLER = (
    "raw values move with the number of votes alone, so that held-out and other raw values are not comparable as they "
    "are. Corrected ones are: kl and brier differ by nothing but what training saw; so does the disattenuated r, but "
    "for entropies of few votes, which are not quite those of many (below 20 votes r stays low by .01 or more)"
)


OTHER_ENTROPIES = (
    "corrected: entropies of few votes are not quite those of many, and Spearman-Brown is not exact for them, which "
    "alone moves the disattenuated r; the interval has room for as much as was seen, 8/n^2 of it for n votes"
)


def notes(division: Division, metrics: Sequence[Metric], *, pools: bool, with_people: bool) -> tuple[Note, ...]:
    """Assumptions and limits of these numbers."""
    return tuple(_notes(division, metrics, pools, with_people))


def _notes(division: Division, metrics: Sequence[Metric], pools: bool, with_people: bool) -> Iterator[Note]:
    panel = division.panel
    yield Note("held_out", BY_POOL if pools else AT_RANDOM)
    yield Note("smaller_reference", SMALLER)
    if division.n_left_out:
        what = "votes in both pools" if pools else "two votes"
        yield Note("items_left_out", f"{division.n_left_out:,} predicted items without {what} are left out everywhere")
    yield from _people_notes(panel, pools, with_people)
    fewest = min(len(seeds) for seeds in panel.seeds)
    if fewest == 1:
        yield Note("one_seed", ONE_SEED)
    elif fewest < FROM_SEEDS:
        yield FEW_SEEDS
    yield from model_ties(panel, metrics)


def _people_notes(panel: Panel, pools: bool, with_people: bool) -> Iterator[Note]:
    ballots = panel.votes.ballots
    if pools and ballots is None:
        yield ANNOTATORS_UNKNOWN
        yield Note(
            "annotator_overlap",
            "without ids nobody can say whether the same people cast training and held-out votes; what they do alike "
            "would then be in both, and held-out votes would protect against the noise of single votes alone",
        )
        return
    if pools and ballots is not None:
        both, held, train = shared_people(ballots)
        said = f"{both:,} of the {held:,} people with held-out votes also cast training votes ({train:,} people did)"
        rest = (
            "what they do alike is in both, so this protects against the noise of single votes, not against habits "
            "that a model took over from these people"
            if both
            else "held out are other people, so that habits of the training annotators do not help a model here"
        )
        yield Note("annotator_overlap", f"{said}: {rest}")
    yield from people(ballots, redrawn=with_people)
