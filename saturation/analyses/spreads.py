"""How uncertain statistics of a sample are, under a design: one function a way of finding out.

Redrawn items give a distribution (percentile, BCa); few seeds, or another crowd of annotators beside the items, give
linearised variances; redrawn votes and annotators alone give a spread around the estimate, never a centre.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from saturation.analyses.annotator_part import moves_of
from saturation.analyses.cases import (
    ONE_ANNOTATOR,
    Case,
    Outcome,
    Plan,
    cells,
    estimate_of,
    item_weights,
    n_annotators,
    seed_weights,
    with_reason,
)
from saturation.analyses.context import Sample, Statistic
from saturation.analyses.crowd import Moves
from saturation.analyses.vote_spreads import by_vote_draws
from saturation.resampling import intervals
from saturation.resampling.designs import FROM_SEEDS
from saturation.resampling.linearized import ONE_SEED, Covariance, Influence, covariance
from saturation.typing import Floats, IntervalName

_WEIGHTS_AT_ONCE = 1 << 24
ONE_ITEM = "one item only: no spread over items"
ALONE = np.array([1.0])


def outcomes(sample: Sample, statistics: Sequence[Statistic], plan: Plan) -> list[list[Outcome]]:
    """Every statistic of every condition with its uncertainty: [statistic][condition]."""
    cases = [Case(sample, one, cells(sample, one), plan) for one in statistics]
    method = method_of(sample, plan)
    if method == "linearized_t":
        return _by_linearization(cases)
    if method == "normal":
        return by_vote_draws(cases)
    return [_default_or_drawn(case, method) for case in cases]


def _default_or_drawn(case: Case, method: IntervalName) -> list[Outcome]:
    """Resampled items, except that calibration errors have linearised intervals unless told otherwise."""
    if case.statistic.is_rough and case.plan.interval is None:
        return _by_linearization([case])[0]
    return _by_item_draws(case, method)


def method_of(sample: Sample, plan: Plan) -> IntervalName:
    """The interval asked for, else the design's own where the number of seeds allows it."""
    default = plan.interval or plan.design.intervals[0]
    if plan.interval is not None or not plan.design.redraws & {"items", "seeds"}:
        return default
    return "linearized_t" if min(sample.n_seeds) < FROM_SEEDS else default


# --- redrawn items and seeds: a distribution -----------------------------------------------------------------------


def _by_item_draws(case: Case, method: IntervalName) -> list[Outcome]:
    sample, plan = case.sample, case.plan
    found = [estimate_of(case, c) for c in case.conditions]
    defined = [c for c, one in enumerate(found) if one.estimate is not None]
    if sample.n_items < 2 and "items" in plan.design.redraws:
        return [one if one.estimate is None else replace(one, interval=intervals.none(ONE_ITEM)) for one in found]
    distribution = _distribution(case, defined)
    for c, drawn in zip(defined, distribution.T, strict=True):
        estimate = float(found[c].estimate or 0.0)
        if method == "bca":
            made = intervals.bca(drawn, estimate, _deleted(case, c), plan.level)
        elif method == "basic":
            made = intervals.basic(drawn, estimate, plan.level)
        else:
            made = intervals.percentile(drawn, plan.level)
        kept, _ = intervals.defined(drawn)
        se = None if kept is None else float(kept.std(ddof=1))
        made = with_reason(made, ONE_SEED if min(sample.n_seeds) == 1 else None)
        found[c] = Outcome(estimate, found[c].cells, made, se, plan.n_resamples)
    return found


def _distribution(case: Case, conditions: list[int]) -> Floats:
    """(resamples, conditions) means over cells under redrawn items (and seeds)."""
    sample, plan = case.sample, case.plan
    out = np.zeros((plan.n_resamples, len(conditions)))
    humans = sample.of_split(sample.human)
    rows = max(1, _WEIGHTS_AT_ONCE // max(sample.n_items, 1))
    for start in range(0, plan.n_resamples, rows):
        stop = min(start + rows, plan.n_resamples)
        weights = item_weights(sample, plan, start, stop)
        of_seeds = seed_weights(sample, plan, start, stop)
        for s, (probs, human) in enumerate(zip(sample.probs, humans, strict=True)):
            in_split = np.ascontiguousarray(weights[:, sample.places[s]])
            for place, c in enumerate(conditions):
                values = case.statistic.resampled(probs[c], human, in_split, plan.threads)
                out[start:stop, place] += (values * of_seeds[s]).sum(axis=1)
    return out / sample.n_cells


def _deleted(case: Case, condition: int) -> Floats:
    """(items,) mean over cells without each item, left out of every split that has it."""
    sample = case.sample
    total = np.full(sample.n_items, sum(float(of_split[condition].sum()) for of_split in case.cells))
    humans = sample.of_split(sample.human)
    for probs, human, places, of_split in zip(sample.probs, humans, sample.places, case.cells, strict=True):
        without = case.statistic.deleted(probs[condition], human)
        total[places] += (without - of_split[condition][:, None]).sum(axis=0)
    return np.asarray(total / sample.n_cells)


# --- few seeds: linearised variances -------------------------------------------------------------------------------


def _by_linearization(cases: Sequence[Case]) -> list[list[Outcome]]:
    sample, plan = cases[0].sample, cases[0].plan
    moves: Sequence[Moves | None] = [None] * len(cases)
    if "annotators" in plan.design.redraws and n_annotators(sample) > 1:
        moves = moves_of(sample, [case.statistic for case in cases], plan.seed, plan.threads)
    return [[_linearized(case, c, moved) for c in case.conditions] for case, moved in zip(cases, moves, strict=True)]


def _linearized(case: Case, condition: int, moved: Moves | None) -> Outcome:
    """Estimate +- t sqrt V; a correlation whose annotators change on Fisher's z."""
    bare, plan = estimate_of(case, condition), case.plan
    if bare.estimate is None:
        return bare
    if min(len(places) for places in case.sample.places) < 2:
        return replace(bare, interval=intervals.none(ONE_ITEM))
    if moved is not None and condition in moved.reasons:
        return replace(bare, interval=intervals.none(moved.reasons[condition]))
    influence = _influence(case, condition, bare.estimate)
    if influence is None:
        return replace(bare, interval=intervals.none("it does not exist without one of the items"))
    parts = of_design(_covariance(influence, condition, moved), case.sample, plan)
    if plan.design.redraws == {"seeds"} and parts.seeds_df == 0:
        return replace(bare, interval=intervals.none("one seed: no spread over seeds"))
    variance, df = parts.variance(ALONE)
    se = float(variance**0.5)
    if case.statistic.is_correlation and moved is not None and abs(bare.estimate) < 1:
        sd_z = se / (1 - bare.estimate**2)
        made = with_reason(intervals.fisher_z(bare.estimate, sd_z, plan.level, df, "linearized_t"), parts.reason)
    else:
        made = parts.interval(bare.estimate, ALONE, plan.level)
    lacks_people = moved is None and "annotators" in plan.design.redraws
    return Outcome(bare.estimate, bare.cells, with_reason(made, ONE_ANNOTATOR if lacks_people else None), se)


def of_design(parts: Covariance, sample: Sample, plan: Plan) -> Covariance:
    """Without the parts that a design keeps: the items of one of seeds alone, seeds where there are many.

    Few seeds always move: an interval about these very runs would be taken for more than it is.
    """
    if plan.design.redraws == {"seeds"}:
        return replace(parts, items=parts.items * 0, error=parts.error * 0)
    if "seeds" in plan.design.redraws or min(sample.n_seeds) < FROM_SEEDS:
        return parts
    return replace(parts, seeds=parts.seeds * 0, error=parts.error * 0)


def _covariance(influence: Influence, condition: int, moved: Moves | None) -> Covariance:
    """Over items and seeds, and over annotators where they move."""
    if moved is None:
        return covariance(influence)
    people, within = (np.array([[variances[condition]]]) for variances in moved.variances)
    return covariance(influence, people, moved.df, within, moved.within_df)


def _influence(case: Case, condition: int, estimate: float) -> Influence | None:
    """Influence values of one condition on all cells; None where the statistic does not exist without an item."""
    sample = case.sample
    humans = sample.of_split(sample.human)
    values = tuple(
        case.statistic.influence(probs[condition], human)[None]
        for probs, human in zip(sample.probs, humans, strict=True)
    )
    if not all(np.isfinite(one).all() for one in values):
        return None
    return Influence(
        estimates=np.array([estimate]),
        cells=tuple(of_split[condition][None] for of_split in case.cells),
        values=values,
        items_of_split=sample.places,
        n_items=sample.n_items,
    )
