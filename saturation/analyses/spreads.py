"""How uncertain statistics of a sample are, under a design: one function a way of finding out.

Redrawn items give a distribution (percentile, BCa); few seeds give linearised variances; redrawn votes and
annotators give a spread around the estimate, never a centre.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from saturation.analyses.context import Sample, Statistic
from saturation.analyses.vote_draws import (
    VoteDraws,
    annotator_deletions,
    annotator_draws,
    values_under,
    vote_redraws,
)
from saturation.resampling import draw, intervals
from saturation.resampling.designs import FROM_ANNOTATORS, FROM_SEEDS, Design
from saturation.resampling.intervals import Interval
from saturation.resampling.linearized import ONE_SEED, Influence, covariance
from saturation.typing import Floats, IntervalName

_WEIGHTS_AT_ONCE = 1 << 24
ONE_ITEM = "one item only: no spread over items"
ALONE = np.array([1.0])
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


def outcomes(sample: Sample, statistics: Sequence[Statistic], plan: Plan) -> list[list[Outcome]]:
    """Every statistic of every condition with its uncertainty: [statistic][condition]."""
    cases = [Case(sample, one, _cells(sample, one), plan) for one in statistics]
    method = _method(sample, plan)
    if method == "linearized_t":
        return _by_linearization(cases)
    if method == "normal":
        return _by_vote_draws(cases)
    return [_default_or_drawn(case, method) for case in cases]


def _default_or_drawn(case: Case, method: IntervalName) -> list[Outcome]:
    """Resampled items, except that calibration errors have linearised intervals unless told otherwise."""
    if case.statistic.is_rough and case.plan.interval is None:
        return _by_linearization([case])[0]
    return _by_item_draws(case, method)


def _method(sample: Sample, plan: Plan) -> IntervalName:
    """The interval asked for, else what the numbers of seeds and annotators allow."""
    default = plan.interval or plan.design.intervals[0]
    if plan.interval is not None or not plan.design.redraws & {"items", "seeds"}:
        return default
    few = min(sample.n_seeds) < FROM_SEEDS
    if "annotators" in plan.design.redraws:
        few |= _n_annotators(sample) < FROM_ANNOTATORS
    return "linearized_t" if few else default


def _n_annotators(sample: Sample) -> int:
    return 0 if sample.ballots is None else len(sample.ballots.annotator_ids)


def _cells(sample: Sample, statistic: Statistic) -> tuple[Floats, ...]:
    humans = sample.of_split(sample.human)
    return tuple(
        np.stack([statistic.value(models, human) for models in probs])
        for probs, human in zip(sample.probs, humans, strict=True)
    )


def _bare(case: Case, condition: int) -> Outcome:
    """The estimate alone, or why there is none."""
    values = np.concatenate([of_split[condition] for of_split in case.cells])
    lost = int((~np.isfinite(values)).sum())
    if lost:
        where = f" (in {lost} of {len(values)} cells)" if len(values) > 1 else ""
        return Outcome(None, values, intervals.none(f"{case.statistic.undefined}{where}"))
    return Outcome(float(values.mean()), values, intervals.none("no interval"))


def _with_reason(interval: Interval, reason: str | None) -> Interval:
    """The interval with one more thing to keep in mind."""
    said = "; ".join(text for text in (interval.reason, reason) if text)
    return replace(interval, reason=said or None)


# --- redrawn items and seeds: a distribution -----------------------------------------------------------------------


def _by_item_draws(case: Case, method: IntervalName) -> list[Outcome]:
    sample, plan = case.sample, case.plan
    found = [_bare(case, c) for c in case.conditions]
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
        made = _with_reason(made, ONE_SEED if min(sample.n_seeds) == 1 else None)
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
        weights = _item_weights(sample, plan, start, stop)
        of_seeds = _seed_weights(sample, plan, start, stop)
        for s, (probs, human) in enumerate(zip(sample.probs, humans, strict=True)):
            in_split = np.ascontiguousarray(weights[:, sample.places[s]])
            for place, c in enumerate(conditions):
                values = case.statistic.resampled(probs[c], human, in_split, plan.threads)
                out[start:stop, place] += (values * of_seeds[s]).sum(axis=1)
    return out / sample.n_cells


def _item_weights(sample: Sample, plan: Plan, start: int, stop: int) -> Floats:
    if "items" in plan.design.redraws:
        return draw.item_weights(plan.seed, start, stop, sample.n_items)
    return np.ones((stop - start, sample.n_items))


def _seed_weights(sample: Sample, plan: Plan, start: int, stop: int) -> tuple[Floats, ...]:
    if "seeds" in plan.design.redraws:
        return draw.seed_weights(plan.seed, start, stop, sample.n_seeds)
    return tuple(np.ones((stop - start, n)) for n in sample.n_seeds)


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
    drawn: Sequence[Draws | None] = [None] * len(cases)
    if "annotators" in plan.design.redraws and _n_annotators(sample) > 1:
        drawn = _annotator_values(cases)
    return [
        [_linearized(case, c, of_case) for c in case.conditions] for case, of_case in zip(cases, drawn, strict=True)
    ]


def _linearized(case: Case, condition: int, drawn: Draws | None) -> Outcome:
    """Estimate +- t sqrt V; a correlation whose annotators are redrawn on Fisher's z."""
    bare, plan = _bare(case, condition), case.plan
    if bare.estimate is None:
        return bare
    if min(len(places) for places in case.sample.places) < 2:
        return replace(bare, interval=intervals.none(ONE_ITEM))
    moved, reason = _annotators_part(case, condition, drawn)
    influence = None if moved is None else _influence(case, condition, bare.estimate)
    if moved is None or influence is None:
        return replace(bare, interval=intervals.none(reason or "it does not exist without one of the items"))
    parts = covariance(influence, np.array([[moved]]), float("inf") if drawn is None else drawn.df)
    if plan.design.redraws == {"seeds"}:
        if parts.seeds_df == 0:
            return replace(bare, interval=intervals.none("one seed: no spread over seeds"))
        parts = replace(parts, items=parts.items * 0, error=parts.error * 0)
    variance, df = parts.variance(ALONE)
    se = float(variance**0.5)
    if case.statistic.is_correlation and drawn is not None and abs(bare.estimate) < 1:
        sd_z = se / (1 - bare.estimate**2)
        made = _with_reason(intervals.fisher_z(bare.estimate, sd_z, plan.level, df, "linearized_t"), parts.reason)
    else:
        made = parts.interval(bare.estimate, ALONE, plan.level)
    n_resamples = None if drawn is None else len(drawn.values)
    return Outcome(bare.estimate, bare.cells, _with_reason(made, reason), se, n_resamples)


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


def _annotators_part(case: Case, condition: int, drawn: Draws | None) -> tuple[float | None, str | None]:
    """Variance over annotators and a reason; variance None where it does not exist."""
    if drawn is None:
        return 0.0, ONE_ANNOTATOR if "annotators" in case.plan.design.redraws else None
    sd, reason = _spread_of(drawn.values[:, condition])
    return (None if sd is None else sd**2), reason


def _spread_of(values: Floats) -> tuple[float | None, str | None]:
    """Standard deviation over draws; 0 where all agree, None where too many are undefined."""
    finite = values[np.isfinite(values)]
    if len(finite) and finite.min() == finite.max() and len(finite) == len(values):
        return 0.0, None
    kept, reason = intervals.defined(values)
    return (None, reason) if kept is None else (float(kept.std(ddof=1)), reason)


# --- redrawn votes and annotators: a spread around the estimate ----------------------------------------------------


def _by_vote_draws(cases: Sequence[Case]) -> list[list[Outcome]]:
    plan, sample = cases[0].plan, cases[0].sample
    redraws = plan.design.redraws
    if "annotators" in redraws and _n_annotators(sample) < 2:
        none = intervals.none(ONE_ANNOTATOR)
        return [[replace(_bare(case, c), interval=none) for c in case.conditions] for case in cases]
    n_votes = _harmonic_mean_votes(sample)
    factors = [1.0] * len(cases)
    if redraws == {"votes"}:
        drawn = _redrawn_values(cases)
        factors = [_vote_factor(n_votes) if case.statistic.is_corrected else 1.0 for case in cases]
    elif redraws == {"annotators"}:
        drawn = _annotator_values(cases)
        factors = [1.0 if np.isfinite(one.df) else _annotator_factor(n_votes) for one in drawn]
    else:
        drawn = _product_values(cases)
    return [
        [_around(case, c, of_case, factor) for c in case.conditions]
        for case, of_case, factor in zip(cases, drawn, factors, strict=True)
    ]


def _around(case: Case, condition: int, drawn: Draws, factor: float) -> Outcome:
    """Estimate +- z (or t) sd; correlations on Fisher's z."""
    bare, plan = _bare(case, condition), case.plan
    if bare.estimate is None:
        return bare
    if not np.isfinite(factor):
        return replace(bare, interval=intervals.none("single votes: redrawing them shows no spread"))
    values = drawn.values[:, condition]
    sd, reason = _spread_of(values)
    if sd is None:
        return replace(bare, interval=intervals.none(str(reason)))
    method: IntervalName = "jackknife" if np.isfinite(drawn.df) else "normal"
    if case.statistic.is_correlation:
        sd_z = _sd_on_z(values, bare.estimate, drawn.df)
        made = intervals.fisher_z(bare.estimate, factor * sd_z, plan.level, drawn.df, method)
    else:
        made = intervals.normal(bare.estimate, factor * sd, plan.level, drawn.df, method)
    made = _with_reason(made, reason)
    if min(case.sample.n_seeds) == 1 and plan.design.redraws & {"items", "seeds"}:
        made = _with_reason(made, ONE_SEED)
    return Outcome(bare.estimate, bare.cells, made, factor * sd, len(values))


def _sd_on_z(values: Floats, estimate: float, df: float) -> float:
    """Standard deviation of artanh of the draws; jackknife draws are scaled, so there by the delta method."""
    if df != float("inf"):
        return float(np.std(values, ddof=1)) / (1 - estimate**2) if abs(estimate) < 1 else float("nan")
    inside = values[np.abs(values) < 1]
    return float(np.arctanh(inside).std(ddof=1)) if len(inside) > 1 else float("nan")


def _redrawn_values(cases: Sequence[Case]) -> list[Draws]:
    """Values under new votes for the same items."""
    sample, plan = cases[0].sample, cases[0].plan
    draws = vote_redraws(sample, plan.seed, plan.n_resamples)
    redrawn = [case.statistic.under_votes for case in cases]
    values = values_under(sample, redrawn, draws, threads=plan.threads)
    return [Draws(one, float("inf")) for one in values]


def _annotator_values(cases: Sequence[Case]) -> list[Draws]:
    """Values under redrawn annotators, items and seeds fixed.

    With few annotators: delete-one values, scaled so that their sample variance is the jackknife variance
    (A - 1)/A sum of squared deviations.
    """
    sample, plan = cases[0].sample, cases[0].plan
    count = _n_annotators(sample)
    if count >= FROM_ANNOTATORS:
        return _weighted_values(cases, annotator_draws(sample, plan.seed, plan.n_resamples))
    scale = (count - 1) / count**0.5
    deleted = _weighted_values(cases, annotator_deletions(sample))
    means = [one.values.mean(axis=0) for one in deleted]
    return [Draws(m + scale * (one.values - m), count - 1.0) for one, m in zip(deleted, means, strict=True)]


def _product_values(cases: Sequence[Case]) -> list[Draws]:
    """Values under independent weights on items, annotators and (crossed) seeds."""
    sample, plan = cases[0].sample, cases[0].plan
    return _weighted_values(
        cases,
        annotator_draws(sample, plan.seed, plan.n_resamples),
        items=lambda a, b: _item_weights(sample, plan, a, b),
        seeds=lambda a, b: _seed_weights(sample, plan, a, b),
    )


def _weighted_values(cases: Sequence[Case], draws: VoteDraws, **weights: Any) -> list[Draws]:
    """Values where votes carry weights: a metric and its correction share them."""
    sample, plan = cases[0].sample, cases[0].plan
    used = [case.statistic.under_weights for case in cases]
    distinct = {one.name: one for one in used}
    values = values_under(sample, list(distinct.values()), draws, threads=plan.threads, **weights)
    by_name = dict(zip(distinct, values, strict=True))
    return [Draws(by_name[one.name], float("inf")) for one in used]


def _harmonic_mean_votes(sample: Sample) -> float:
    return float(1 / np.mean(1 / sample.human.counts.sum(axis=-1)))


def _vote_factor(n: float) -> float:
    """sqrt(n/(n-1)): votes drawn from h vary less than votes drawn from p."""
    return float((n / (n - 1)) ** 0.5) if n > 1 else float("nan")


def _annotator_factor(n: float) -> float:
    """sqrt((n+1)/(n-1)): the same for exponential weights."""
    return float(((n + 1) / (n - 1)) ** 0.5) if n > 1 else float("nan")
