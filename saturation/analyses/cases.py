"""One statistic of a sample and what is found out about it: the words that all ways to an interval share."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.context import Sample, Statistic
from saturation.resampling import draw, intervals
from saturation.resampling.designs import Design
from saturation.resampling.intervals import Interval
from saturation.typing import Floats, IntervalName

ONE_ANNOTATOR = "one annotator: no spread over annotators"


@dataclass(frozen=True, slots=True)
class Plan:
    """What to redraw and how often."""

    design: Design
    interval: IntervalName | None
    level: float
    n_resamples: int
    seed: int
    threads: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One statistic of a sample: ``cells`` is one (conditions, seeds) array of values a split."""

    sample: Sample
    statistic: Statistic
    cells: tuple[Floats, ...]
    plan: Plan

    @property
    def conditions(self) -> range:
        """Indices of the conditions."""
        return range(len(self.cells[0]))


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One statistic of one condition: its mean over cells (None where undefined) and how uncertain it is."""

    estimate: float | None
    cells: Floats
    interval: Interval
    se: float | None = None
    n_resamples: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Values of one statistic under redrawn annotators: (draws, conditions), and the degrees of freedom."""

    values: Floats
    df: float


def n_annotators(sample: Sample) -> int:
    """Annotators who voted on the sample's items; 0 where ids are not known."""
    return 0 if sample.ballots is None else len(sample.ballots.annotator_ids)


def cells(sample: Sample, statistic: Statistic) -> tuple[Floats, ...]:
    """One (conditions, seeds) array of values a split."""
    humans = sample.of_split(sample.human)
    return tuple(
        np.stack([statistic.value(models, human) for models in probs])
        for probs, human in zip(sample.probs, humans, strict=True)
    )


def estimate_of(case: Case, condition: int) -> Outcome:
    """The estimate alone, or why there is none."""
    values = np.concatenate([of_split[condition] for of_split in case.cells])
    lost = int((~np.isfinite(values)).sum())
    if lost:
        where = f" (in {lost} of {len(values)} cells)" if len(values) > 1 else ""
        return Outcome(None, values, intervals.none(f"{case.statistic.undefined}{where}"))
    return Outcome(float(values.mean()), values, intervals.none("no interval"))


def with_reason(interval: Interval, reason: str | None) -> Interval:
    """The interval with one more thing to keep in mind."""
    said = "; ".join(text for text in (interval.reason, reason) if text)
    return replace(interval, reason=said or None)


def item_weights(sample: Sample, plan: Plan, start: int, stop: int) -> Floats:
    """(resamples, items) weights; ones where the design keeps the items."""
    if "items" in plan.design.redraws:
        return draw.item_weights(plan.seed, start, stop, sample.n_items)
    return np.ones((stop - start, sample.n_items))


def seed_weights(sample: Sample, plan: Plan, start: int, stop: int) -> tuple[Floats, ...]:
    """One (resamples, seeds) array of weights a split; ones where the design keeps the seeds."""
    if "seeds" in plan.design.redraws:
        return draw.seed_weights(plan.seed, start, stop, sample.n_seeds)
    return tuple(np.ones((stop - start, n)) for n in sample.n_seeds)


def spread_of(values: Floats) -> tuple[float | None, str | None]:
    """Standard deviation over draws; 0 where all agree, None where too many are undefined."""
    finite = values[np.isfinite(values)]
    if len(finite) and len(finite) == len(values) and intervals.agree(finite):
        return 0.0, None
    kept, reason = intervals.defined(values)
    return (None, reason) if kept is None else (float(kept.std(ddof=1)), reason)
