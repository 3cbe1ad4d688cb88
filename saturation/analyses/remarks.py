"""What every analysis assumes in the same words, so that a report says it once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from saturation.metrics.majority import tied_tops
from saturation.metrics.metric import Metric
from saturation.results import Note
from saturation.tables.panel import Ballots, Panel

ANNOTATORS_UNKNOWN = Note(
    "annotators_unknown",
    "the votes carry no annotator ids: the intervals assume that no annotator labels many items",
)
FEW_SEEDS = Note(
    "few_seeds",
    "fewer than 10 seeds in a split: intervals are linearised t, for other training seeds too, not resampled",
)
NO_DRAW_COLUMN = Note(
    "no_draw_column",
    "the predictions have no draw column: where seeds share one draw of the votes, or each seed has its own, the "
    "spread over seeds cannot tell training noise from the noise of the drawn votes",
)
ENOUGH_PEOPLE = 20
"""Equally busy annotators from which the spread over them counts as known."""
BY_TOP_LABEL = ("accuracy", "top_vote_share", "ece", "adaptive_ece", "dist_ece_top", "macro_f1", "aurc")
"""Metrics that look at a model's most probable label."""


def equally_busy(ballots: Ballots) -> float:
    """Number of equally busy annotators who would count as much: (sum n)^2 / sum n^2, n the votes of everybody.

    Examples
    --------
    >>> item = np.zeros(6, dtype=int)
    >>> equally_busy(Ballots(("x", "y", "z"), item, np.array([0, 0, 0, 0, 1, 2]), item))  # 36 / (16 + 1 + 1)
    2.0
    """
    votes = np.bincount(ballots.annotator).astype(np.float64)
    return float(votes.sum() ** 2 / (votes**2).sum())


def people(ballots: Ballots | None, *, redrawn: bool) -> Iterator[Note]:
    """Who voted, and what to keep in mind where they are few or left out; ``redrawn``: intervals are about others too.

    ``few_annotators`` warns where fewer than 20 equally busy people would count as much, and where a few people cast
    most of the votes but intervals take votes as independent.
    """
    if ballots is None:
        yield ANNOTATORS_UNKNOWN
        return
    count, busy = len(ballots.annotator_ids), equally_busy(ballots)
    yield Note("crowd_size", f"votes by {count:,} people, as many as {busy:,.0f} equally busy ones")
    if not redrawn and len(ballots.item) >= 2 * busy:
        each = len(ballots.item) / busy
        yield Note(
            "few_annotators",
            f"votes count as independent here, but most come from few people ({each:,.0f} votes for each of as many as "
            f"{busy:,.0f}): what people do alike on many items is not in these intervals, which are too narrow for it",
        )
    elif redrawn and busy < ENOUGH_PEOPLE:
        yield Note(
            "few_annotators",
            f"so few people (as many as {busy:,.0f} equally busy ones) tell only roughly how much others would differ, "
            "and nothing of a kind of annotator that is not among them: intervals about others may be too narrow",
        )


def model_ties(panel: Panel, metrics: Sequence[Metric]) -> tuple[Note, ...]:
    """How many predicted rows have several most probable labels, where a metric looks at that label."""
    names = [metric.name for metric in metrics if metric.family in BY_TOP_LABEL]
    tied = sum(int(tied_tops(probs).sum()) for probs in panel.probs) if names else 0
    if not tied:
        return ()
    rows = sum(probs[..., 0].size for probs in panel.probs)
    message = (
        f"the most probable label is tied in {tied:,} of {rows:,} predicted rows: the first in label order counts "
        f"({', '.join(names)})"
    )
    return (Note("model_ties", message),)
