"""What people themselves would score: the noise of the votes alone, and another crowd."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from saturation.analyses.labels.plan import reached
from saturation.analyses.losses import floored_rows
from saturation.analyses.worth import words
from saturation.analyses.worth.combiner import NO_PRIOR, Combiner, other_items_prior, shared_prior
from saturation.analyses.worth.disjoint import disjoint_standings
from saturation.analyses.worth.drawn import Crowds
from saturation.analyses.worth.equivalents import check_options, directed
from saturation.analyses.worth.held_out import base_of, held_out_score, with_all_others
from saturation.analyses.worth.noise import Population, noise_standings
from saturation.analyses.worth.standing import ItemScores, Standing, alone, item_standing, with_votes
from saturation.analyses.worth.values import contrast_of, value_of
from saturation.errors import UsageError
from saturation.metrics.catalogue import DEFAULT_METRICS, metrics_of
from saturation.metrics.corrections import brier_floor, brier_vote_floor
from saturation.metrics.entropy import entropy_of_counts
from saturation.metrics.estimators import RESIDUAL, resolve_estimator
from saturation.metrics.metric import Metric
from saturation.resampling.bias_aware import bias_aware
from saturation.resampling.intervals import Interval
from saturation.results import Uncertainty
from saturation.results.ceiling import CeilingResult, CeilingRow
from saturation.streams import seed_of
from saturation.tables.panel import Panel, Votes
from saturation.typing import EstimatorName, Scores, TieRule

SINGLE_VOTE = "an item has a single vote, which says nothing about its noise"
INFINITE = "infinite: votes lack labels that others chose"
FEW_VOTES = "too few votes an item: there is no other crowd among them"
LEAKAGE = "better than noise allows: check for leakage, that is for a model that saw these very votes"
NOT_THE_BEST = "better than a model that knows the population, which need not be the best by this metric"
PROPER = ("kl", "cross_entropy", "brier", "brier_vote", "top_vote_share")
"""Metrics by which no model is expected to be better than the population itself."""


def ceiling(
    data: Votes | Panel,
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    population: Population = "drawn",
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
    ties: TieRule = "share",
    floor: float = 1e-15,
    bins: int = 10,
    entropy_estimator: str | None = None,
    threads: int | None = None,
) -> CeilingResult:
    """What people themselves would score, by every metric, and how far models are from that.

    Two ceilings. ``noise_only``: a model that knows the population p_i of every item exactly, scored against as many
    votes as the items have. Proper scores (kl, cross_entropy, brier, brier_vote) cannot be expected to be better unless
    the model saw these votes; by other metrics p is not always the best answer, by calibration against the majority
    label far from it. In closed form for brier (s^2/n), brier_vote (s^2), kl (Hhat - H(h)) and cross_entropy (Hhat),
    s^2 the pairwise disagreement; for all others p_i is drawn from Dirichlet(c_i + A pi) and votes from it, many times.

    ``another_crowd``: the votes of other people, combined and scored as a model is. kl and cross_entropy: the n - 1
    others of the item against each of its votes, combined to (c + A pi)/(N + A) (raw shares would be infinite); brier
    (2 s^2/n) and brier_vote (s^2 (1 + 1/n)): n other votes, raw. All other metrics: two disjoint halves, M // 2 votes
    each and M the largest number that 80% of the items reach (one less with annotator ids, so that each of them can be
    left out), raw; exactly where the metric is a sum over labels, else drawn many times. Models are scored against the
    same halves.

    Parameters
    ----------
    data
        Votes, or a panel of votes and predictions.
    metrics
        Catalogue names; those without a better side are refused.
    population
        ``drawn``, or ``mean``: p_i = (c + A pi)/(n + A) as it is, for comparison with results made that way. It is more
        even than the population and so overstates the noise (total variation distance, 3 labels, A = 1.24: by 28% at 3
        votes an item, 20% at 5, 9% at 20, 2% at 100).
    level
        Nominal coverage.
    n_resamples
        Draws where there is no closed form, at most 100.
    rng
        Seed of the draws, or a generator that one is drawn from.
    ties, floor, bins
        Shared options of the metrics.
    entropy_estimator
        Hhat; None: by the median number of votes.
    threads
        Threads to use; never changes a number.

    Returns
    -------
    CeilingResult
        Rows ``ceiling`` and, for every condition of a panel, ``score`` against the same votes and ``distance``, model
        minus ceiling in the metric's units, with the intervals of paired differences over items and training seeds
        (and annotators, where the ceiling is in closed form); linearised t.

    Raises
    ------
    UsageError
        For metrics without a better side and unknown options.

    Examples
    --------
    >>> from saturation.tables.builders import votes_from_counts
    >>> rows = ceiling(votes_from_counts([[3, 1], [0, 4]]), metrics=["brier"]).rows
    >>> [(row.kind, row.unc.estimate) for row in rows]  # s^2 = 1/2 and 0; s^2/4 and 2 s^2/4, on average
    [('noise_only', 0.0625), ('another_crowd', 0.125)]
    """
    check_options(level, n_resamples)
    if population not in get_args(Population):
        raise UsageError(f"population is {population!r}; choose drawn or mean")
    panel = alone(data) if isinstance(data, Votes) else data
    estimator = entropy_estimator or resolve_estimator(panel.votes.counts)
    chosen = metrics_of(metrics, ties=ties, floor=floor, bins=bins, entropy_estimator=estimator)
    directed(chosen)
    seed = seed_of(rng)
    draws = {"n_draws": n_resamples, "seed": seed}
    noise = _noise_only(panel, chosen, population, draws)
    crowd = _another_crowd(panel, chosen, draws, threads)
    rows = tuple(
        row
        for pair in zip(noise, crowd, strict=True)
        for found in pair
        for one in found
        for row in _rows(one, panel, level)
    )
    prior = shared_prior(panel.votes.counts)
    strength = None if prior is None else float(prior.strength[0])
    drawn = [one.name for one in chosen if _is_drawn(one)]
    settings: dict[str, Any] = {
        "metrics": [one.name for one in chosen],
        "population": population,
        "strength": strength,
        "level": level,
        "n_resamples": n_resamples,
        "seed": seed,
        "ties": ties,
        "floor": floor,
        "bins": bins,
        "entropy_estimator": estimator,
        "labels": list(panel.votes.labels),
    }
    return CeilingResult(
        rows=rows,
        settings=settings,
        data=replace(panel.summary, floored=floored_rows(panel, chosen, floor)),
        inputs=panel.inputs,
        notes=(*panel.notes, *words.ceiling_notes(panel, drawn, strength)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Ceiling:
    """One kind of ceiling by one metric; ``standing`` None: the reason."""

    kind: str
    metric: Metric
    standing: Standing | None
    reason: str | None = None
    estimator: EstimatorName = "corrected"
    combiner: str | None = None
    crowd_size: int | None = None
    reference_size: int | None = None
    bias: float = 0.0
    """The most that the ceiling's estimate may be biased by."""


def _is_infinite(metric: Metric) -> bool:
    """Whether votes without some label make it infinite: a floor would decide the number."""
    return metric.family == "reverse_kl" and metric.smooth is None


def _is_drawn(metric: Metric) -> bool:
    """Whether the noise alone has no closed form."""
    return metric.floor is None and not _is_infinite(metric)


def _same_votes(panel: Panel) -> int | None:
    """Votes an item, where that is one number."""
    totals = np.unique(panel.votes.totals)
    return int(totals[0]) if len(totals) == 1 else None


# --- noise only -------------------------------------------------------------------------------------------------------


def _noise_only(
    panel: Panel, metrics: Sequence[Metric], population: Population, draws: dict[str, int]
) -> list[list[_Ceiling]]:
    prior, size = shared_prior(panel.votes.counts), _same_votes(panel)
    drawn = [one for one in metrics if _is_drawn(one)]
    made: list[Standing] = []
    if prior is not None and drawn:
        made = noise_standings(panel, drawn, prior, population=population, **draws)
    by_name = {one.name: standing for one, standing in zip(drawn, made, strict=False)}

    def of(metric: Metric) -> _Ceiling:
        if metric.floor is not None:
            standing = _closed(panel, metric, metric.floor)
            return _Ceiling("noise_only", metric, standing, reference_size=size, bias=_bias(panel, metric))
        if metric.name in by_name:
            return _Ceiling("noise_only", metric, by_name[metric.name], estimator="monte_carlo", reference_size=size)
        reason = INFINITE if _is_infinite(metric) else NO_PRIOR
        return _Ceiling("noise_only", metric, None, reason, reference_size=size)

    return [[of(metric)] for metric in metrics]


def _bias(panel: Panel, metric: Metric) -> float:
    """The most bias that the entropy estimator may leave, a share of what it corrects, Hhat - H(h)."""
    if metric.family not in ("kl", "cross_entropy"):
        return 0.0
    added = metric.floor(panel.votes.counts) if metric.floor is not None else np.zeros(0)
    if metric.family == "cross_entropy":
        added = added - entropy_of_counts(panel.votes.counts, base=base_of(metric))
    return RESIDUAL * abs(float(added.mean()))


def _closed(panel: Panel, metric: Metric, scores: Any) -> Standing:
    """A ceiling that is the mean of a function of every item's votes."""

    def of_items(counts: Any, _items: Any) -> Scores:
        return np.asarray(scores(counts))[None]

    return item_standing(panel, metric, of_items, [SINGLE_VOTE])


# --- another crowd ----------------------------------------------------------------------------------------------------


def _another_crowd(
    panel: Panel, metrics: Sequence[Metric], draws: dict[str, int], threads: int | None
) -> list[list[_Ceiling]]:
    halves = [one for one in metrics if held_out_score(one) is None and not _is_infinite(one)]
    spare = 0 if panel.votes.ballots is None else 1
    half = (reached(panel.votes.totals) - spare) // 2
    made: dict[str, Standing] = {}
    if half and halves:
        used = with_votes(panel, 2 * half + spare)
        found = disjoint_standings(used, halves, Crowds((half,), half, None), threads=threads, **draws)
        made = {one.name: standing for one, standing in zip(halves, found, strict=True)}
    prior, size = other_items_prior(panel.votes.counts), _same_votes(panel)

    def of(metric: Metric) -> list[_Ceiling]:
        if metric.family in ("kl", "cross_entropy"):
            return [_combined(panel, metric, prior, size), _raw(metric, INFINITE, size, size)]
        if metric.family == "brier":
            return [_raw(metric, None, size, size, _closed(panel, metric, lambda c: 2 * brier_floor(c)))]
        if metric.family == "brier_vote":
            standing = _closed(panel, metric, lambda c: brier_vote_floor(c) + brier_floor(c))
            return [_raw(metric, None, size, size, standing)]
        if metric.name in made:
            return [replace(_raw(metric, None, half, half, made[metric.name]), estimator="exact")]
        return [_raw(metric, INFINITE if _is_infinite(metric) else FEW_VOTES, None, None)]

    return [of(metric) for metric in metrics]


def _raw(
    metric: Metric, reason: str | None, crowd: int | None, reference: int | None, standing: Standing | None = None
) -> _Ceiling:
    return _Ceiling(
        "another_crowd", metric, standing, reason, combiner="raw", crowd_size=crowd, reference_size=reference
    )


def _combined(panel: Panel, metric: Metric, prior: Combiner | None, size: int | None) -> _Ceiling:
    """The n - 1 others of every vote, combined with the base rate."""
    score = held_out_score(metric)
    standing = None
    if prior is not None and score is not None:
        crowds: ItemScores = lambda counts, items: with_all_others(score, counts, prior.take(items))[None]  # noqa: E731
        standing = item_standing(panel, metric, crowds, ["infinite: the others give 0 to a label that has votes"])
    others = None if size is None else size - 1
    reason = NO_PRIOR if standing is None else None
    return _Ceiling("another_crowd", metric, standing, reason, "exact", "dirichlet", others, size)


# --- rows -------------------------------------------------------------------------------------------------------------


def _rows(one: _Ceiling, panel: Panel, level: float) -> Iterator[CeilingRow]:
    def row(quantity: str, unc: Uncertainty, **more: Any) -> CeilingRow:
        return CeilingRow(
            quantity=quantity,
            kind=one.kind,
            metric=one.metric.name,
            combiner=one.combiner,
            crowd_size=one.crowd_size,
            reference_size=one.reference_size,
            direction=one.metric.direction,
            unc=unc,
            **more,
        )

    standing = one.standing
    if standing is None:
        yield row("ceiling", Uncertainty(None, level=level, reason=one.reason))
        return
    last = standing.n_models
    found = _with_room(one, value_of(standing, last, level, is_model=False, estimator=one.estimator), level)
    yield row("ceiling", found, mc_se=standing.mc_se(standing.unit(last)))
    for model, condition in enumerate(panel.conditions):
        score = value_of(standing, model, level, is_model=True, estimator="plugin")
        yield row("score", score, condition=str(condition), mc_se=_or_none(standing.mc_se(standing.unit(model))))
    if found.estimate is None:
        return
    for model, condition in enumerate(panel.conditions):
        unc, beats = _distance(one, standing, model, level)
        contrast = standing.unit(model) - standing.unit(last)
        mc_se = None if unc.estimate is None else standing.mc_se(contrast)
        yield row("distance", unc, condition=str(condition), mc_se=mc_se, beats=beats)


def _or_none(mc_se: float | None) -> float | None:
    """A score that no draw changes has no Monte Carlo error."""
    return mc_se or None


def _with_room(one: _Ceiling, unc: Uncertainty, level: float) -> Uncertainty:
    """The interval with room for the bias that the ceiling may have."""
    made = bias_aware(Interval(unc.low, unc.high, unc.interval), unc.estimate, unc.se, one.bias, level)
    return replace(unc, low=made.low, high=made.high)


def _distance(one: _Ceiling, standing: Standing, model: int, level: float) -> tuple[Uncertainty, bool | None]:
    """Model minus ceiling, and whether the model is surely better."""
    last = standing.n_models
    value = float(standing.estimates[model] - standing.estimates[last])
    if not np.isfinite(value):
        return Uncertainty(None, level=level, reason=standing.reasons.get(model)), None
    contrast = standing.unit(model) - standing.unit(last)
    unc = contrast_of(standing, contrast, value, level, is_model=True, estimator=one.estimator)
    unc = _with_room(one, unc, level)
    if unc.low is None or unc.high is None:
        return unc, None
    beats = unc.low > 0 if one.metric.direction == "higher" else unc.high < 0
    if beats and one.kind == "noise_only":
        remark = LEAKAGE if one.metric.family in PROPER else NOT_THE_BEST
        unc = replace(unc, reason="; ".join(filter(None, (remark, unc.reason))))
    return unc, bool(beats)
