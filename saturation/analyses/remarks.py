"""What every analysis assumes in the same words, so that a report says it once."""

from __future__ import annotations

from collections.abc import Sequence

from saturation.metrics.majority import tied_tops
from saturation.metrics.metric import Metric
from saturation.results import Note
from saturation.tables.panel import Panel

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
BY_TOP_LABEL = ("accuracy", "top_vote_share", "ece", "adaptive_ece", "dist_ece_top", "macro_f1", "aurc")
"""Metrics that look at a model's most probable label."""


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
