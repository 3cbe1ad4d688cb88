"""What every analysis assumes in the same words, so that a report says it once."""

from __future__ import annotations

from saturation.results import Note

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
