"""What a reader of an evaluation must keep in mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from saturation.analyses.cases import Plan
from saturation.analyses.remarks import FEW_SEEDS, NO_DRAW_COLUMN, model_ties, people
from saturation.metrics.metric import Metric
from saturation.resampling.designs import FROM_SEEDS
from saturation.resampling.linearized import ONE_SEED
from saturation.results import Note
from saturation.tables.panel import Panel

CALIBRATION = ("ece", "adaptive_ece", "classwise_ece", "dist_ece", "dist_ece_top")


def notes(panel: Panel, metrics: Sequence[Metric], plan: Plan, by: str | None) -> tuple[Note, ...]:
    """Assumptions and limits of these numbers."""
    return tuple(_notes(panel, metrics, plan, by))


def _notes(panel: Panel, metrics: Sequence[Metric], plan: Plan, by: str | None) -> Iterator[Note]:
    yield from people(panel.votes.ballots, redrawn="annotators" in plan.design.redraws)
    yield from _seed_notes(panel, plan, by)
    left_out = sum(value is None for value in panel.votes.groups.get(by or "", ()))
    if left_out:
        yield Note("ungrouped", f"{left_out} items have no {by} and are in no row")
    yield from model_ties(panel, metrics)
    biased = [one.name for one in metrics if one.family in CALIBRATION]
    if biased:
        yield Note(
            "calibration_biased_up",
            f"{', '.join(biased)}: calibration errors are biased up by noise, above 0 even for a calibrated model; "
            "the bias-corrected reliability term of the Murphy decomposition is the unbiased quadratic twin",
        )


def _seed_notes(panel: Panel, plan: Plan, by: str | None) -> Iterator[Note]:
    fewest = 1 if by == "cell" else min(len(seeds) for seeds in panel.seeds)
    if fewest == 1:
        yield Note("one_seed", ONE_SEED)
    elif plan.interval in {None, "linearized_t"} and fewest < FROM_SEEDS and plan.design.redraws & {"items", "seeds"}:
        yield FEW_SEEDS
    elif "items" in plan.design.redraws and "seeds" not in plan.design.redraws:
        yield Note(
            "seeds_fixed",
            "the intervals are about these trained models; --design crossed redraws the training seeds too",
        )
    if max(len(seeds) for seeds in panel.seeds) > 1 and not panel.has_draws:
        yield NO_DRAW_COLUMN
