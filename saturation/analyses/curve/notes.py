"""What a saturation curve assumes and leaves out, in words."""

from __future__ import annotations

from collections.abc import Sequence

from saturation.analyses.curve.curves import ASYMPTOTE, Curve
from saturation.analyses.remarks import FEW_SEEDS, NO_DRAW_COLUMN
from saturation.analyses.remarks import people as people_notes
from saturation.results import Note
from saturation.tables.panel import Panel

NO_CURVE = Note("no_curve", "no conditions differ in budget alone: points only, no curve, no N*")
LINEARISED_FOR_ANNOTATORS = Note(
    "annotators",
    "the votes have annotator ids: intervals are linearised t over items, seeds and annotators, since percentiles are "
    "wrong where votes are redrawn",
)
PERCENTILE_OF_FEW_SEEDS = Note(
    "few_seeds_percentile",
    "fewer than 10 seeds in a split: percentile intervals over so few seeds cover too rarely; leave out design for the "
    "linearised t",
)
SPLITS_FIXED = Note("splits_fixed", "splits are fixed: the intervals are about these partitions, not about new ones")
BASELINE_COST = Note(
    "baseline_cost",
    "hard, smoothing, temperature and base_rate with budget null cost all votes that their majority (or mean) was "
    "taken from; hard[N] costs N",
)
BEST_SMOOTHING = Note(
    "best_smoothing",
    "several smoothing strengths: the best of them on the scored items is a bound, not a tuned baseline",
)


FITTED_CEILING = Note(
    "fitted_ceiling",
    "the ceiling is what a fitted curve settles at, an extrapolation as right as its form: the rows of the fits "
    "say which form, and whether the points reject it",
)


def notes_of(
    panel: Panel, curves: Sequence[Curve], *, resample: bool, few: bool, people: bool, ceiling: str | None = None
) -> tuple[Note, ...]:
    """Every remark that applies to this study, most important first."""
    who = tuple(people_notes(panel.votes.ballots, redrawn=people))
    return who + tuple(
        note
        for applies, note in (
            (not any(curve.is_curve for curve in curves), NO_CURVE),
            (ceiling == ASYMPTOTE, FITTED_CEILING),
            (not panel.has_draws and max(len(seeds) for seeds in panel.seeds) > 1, NO_DRAW_COLUMN),
            (people and not few, LINEARISED_FOR_ANNOTATORS),
            (few and not resample, FEW_SEEDS),
            (few and resample, PERCENTILE_OF_FEW_SEEDS),
            (len(panel.splits) > 1, SPLITS_FIXED),
            (any(not curve.takes_votes for curve in curves), BASELINE_COST),
            (sum(curve.condition.method == "smoothing" for curve in curves) > 1, BEST_SMOOTHING),
        )
        if applies
    )
