"""Redrawn votes and annotators: they give a spread around the estimate, never a centre."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from saturation.analyses.cases import (
    ONE_ANNOTATOR,
    Case,
    Draws,
    Outcome,
    estimate_of,
    item_weights,
    n_annotators,
    seed_weights,
    spread_of,
    with_reason,
)
from saturation.analyses.context import Sample
from saturation.analyses.vote_draws import (
    PART_DRAWS,
    VoteDraws,
    annotator_deletions,
    annotator_draws,
    values_under,
    vote_redraws,
)
from saturation.resampling import intervals
from saturation.resampling.designs import FROM_ANNOTATORS
from saturation.resampling.linearized import ONE_SEED
from saturation.typing import Floats, IntervalName


def by_vote_draws(cases: Sequence[Case]) -> list[list[Outcome]]:
    """Estimates +- z sd, with the factors that undo what redrawing takes away: [statistic][condition]."""
    plan, sample = cases[0].plan, cases[0].sample
    redraws = plan.design.redraws
    if "annotators" in redraws and n_annotators(sample) < 2:
        none = intervals.none(ONE_ANNOTATOR)
        return [[replace(estimate_of(case, c), interval=none) for c in case.conditions] for case in cases]
    n_votes = harmonic_mean_votes(sample)
    factors = [1.0] * len(cases)
    if redraws == {"votes"}:
        drawn = _redrawn_values(cases)
        factors = [vote_factor(n_votes) if case.statistic.is_corrected else 1.0 for case in cases]
    elif redraws == {"annotators"}:
        drawn = _annotator_values(cases)
        factors = [1.0 if np.isfinite(one.df) else annotator_factor(n_votes) for one in drawn]
    else:
        drawn = _product_values(cases)
    return [
        [_around(case, c, of_case, factor) for c in case.conditions]
        for case, of_case, factor in zip(cases, drawn, factors, strict=True)
    ]


def _around(case: Case, condition: int, drawn: Draws, factor: float) -> Outcome:
    """Estimate +- z (or t) sd; correlations on Fisher's z."""
    bare, plan = estimate_of(case, condition), case.plan
    if bare.estimate is None:
        return bare
    if not np.isfinite(factor):
        return replace(bare, interval=intervals.none("single votes: redrawing them shows no spread"))
    values = drawn.values[:, condition]
    sd, reason = spread_of(values)
    if sd is None:
        return replace(bare, interval=intervals.none(str(reason)))
    method: IntervalName = "jackknife" if np.isfinite(drawn.df) else "normal"
    if case.statistic.is_correlation:
        sd_z = _sd_on_z(values, bare.estimate, drawn.df)
        made = intervals.fisher_z(bare.estimate, factor * sd_z, plan.level, drawn.df, method)
    else:
        made = intervals.normal(bare.estimate, factor * sd, plan.level, drawn.df, method)
    made = with_reason(made, reason)
    if min(case.sample.n_seeds) == 1 and plan.design.redraws & {"items", "seeds"}:
        made = with_reason(made, ONE_SEED)
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
    count = n_annotators(sample)
    if count >= FROM_ANNOTATORS:
        return _weighted_values(cases, annotator_draws(sample, plan.seed, min(plan.n_resamples, PART_DRAWS)))
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
        items=lambda a, b: item_weights(sample, plan, a, b),
        seeds=lambda a, b: seed_weights(sample, plan, a, b),
    )


def _weighted_values(cases: Sequence[Case], draws: VoteDraws, **weights: Any) -> list[Draws]:
    """Values where votes carry weights: a metric and its correction share them."""
    sample, plan = cases[0].sample, cases[0].plan
    used = [case.statistic.under_weights for case in cases]
    distinct = {one.name: one for one in used}
    values = values_under(sample, list(distinct.values()), draws, threads=plan.threads, **weights)
    by_name = dict(zip(distinct, values, strict=True))
    return [Draws(by_name[one.name], float("inf")) for one in used]


def harmonic_mean_votes(sample: Sample) -> float:
    """Votes an item, as the spread of redrawn votes sees them."""
    return float(1 / np.mean(1 / sample.human.counts.sum(axis=-1)))


def vote_factor(n: float) -> float:
    """sqrt(n/(n-1)): votes drawn from h vary less than votes drawn from p."""
    return float((n / (n - 1)) ** 0.5) if n > 1 else float("nan")


def annotator_factor(n: float) -> float:
    """sqrt((n+1)/(n-1)): the same for exponential weights."""
    return float(((n + 1) / (n - 1)) ** 0.5) if n > 1 else float("nan")
