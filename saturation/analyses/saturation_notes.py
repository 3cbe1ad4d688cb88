"""What a saturation curve assumes and leaves out, in words."""

from __future__ import annotations

from collections.abc import Sequence

from saturation.analyses.curves import Curve
from saturation.results import Note
from saturation.tables.panel import Panel


def notes_of(panel: Panel, curves: Sequence[Curve], *, resample: bool, few: bool, people: bool) -> tuple[Note, ...]:
    """Every remark that applies to this study, most important first."""
    return tuple(
        Note(code, message)
        for applies, code, message in (
            (
                not any(curve.is_curve for curve in curves),
                "no_curve",
                "no conditions differ in budget alone: points only, no curve, no N*",
            ),
            (
                not panel.has_draws and max(len(seeds) for seeds in panel.seeds) > 1,
                "shared_draw",
                "the predictions have no draw column: where seeds share one draw of the votes, or each seed has its "
                "own, the spread over seeds cannot tell training noise from the noise of the drawn votes",
            ),
            (
                panel.votes.ballots is None,
                "no_annotators",
                "assumes that no annotator labels many items (the votes have no annotator ids)",
            ),
            (
                people and not few,
                "annotators",
                "the votes have annotator ids: intervals are linearised t over items, seeds and annotators, since "
                "percentiles are wrong where votes are redrawn",
            ),
            (
                few and not resample,
                "few_seeds",
                "fewer than 10 seeds in a split: intervals are linearised t (items x seeds), not resampled",
            ),
            (
                few and resample,
                "few_seeds",
                "fewer than 10 seeds in a split: percentile intervals over so few seeds cover too rarely; "
                "leave out design for the linearised t",
            ),
            (
                len(panel.splits) > 1,
                "splits_fixed",
                "splits are fixed: the intervals are about these partitions, not about new ones",
            ),
            (
                any(not curve.takes_votes for curve in curves),
                "baseline_cost",
                "hard, smoothing, temperature and base_rate with budget null cost all votes that their majority (or "
                "mean) was taken from; hard[N] costs N",
            ),
            (
                sum(curve.condition.method == "smoothing" for curve in curves) > 1,
                "best_smoothing",
                "several smoothing strengths: the best of them on the scored items is a bound, not a tuned baseline",
            ),
        )
        if applies
    )
