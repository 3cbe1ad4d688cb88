"""How uncertain the terms of a decomposition are, each and in its difference between two conditions.

The same ways as for metrics, for many terms at once: they come from the same sums. Whatever is redrawn is redrawn
alike for every condition, so a difference is taken resample by resample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from saturation.analyses.cases import ONE_ANNOTATOR, Outcome, n_annotators, spread_of, with_reason
from saturation.analyses.context import Sample
from saturation.analyses.crowd import Moves
from saturation.analyses.murphy.draws import Engine, Measured, one_item
from saturation.analyses.murphy.family import PLAIN_TWIN
from saturation.analyses.spreads import ONE_ITEM, of_design
from saturation.analyses.vote_spreads import annotator_factor, harmonic_mean_votes, vote_factor
from saturation.resampling import intervals
from saturation.resampling.intervals import Interval
from saturation.resampling.linearized import ONE_SEED, Covariance, Influence, covariance
from saturation.typing import Floats, IntervalName

ROUNDING = 1e-14
"""A spread below this is rounding, not data."""
_BIASED_UP = ("rel", "res", "miscalibration", "discrimination")
QUADRATIC = ("rel", "res", "unc", *PLAIN_TWIN)
"""Terms that resampling would bias once more, or whose resamples are not centred at them: linearised unless told."""
ALIKE = "the same under both conditions: it belongs to the labels alone"
NOISY = (
    "biased by the noise in the bins by more than half its standard error: the interval is about its value with this "
    "many items; the corrected term is free of that"
)
FITTED = "biased up by fitting to the very items it is judged by: the interval is about its value with this many items"
NO_SPREAD = "no spread to build an interval from: every unit gives the same value"


def outcomes(run: Engine, found: Measured) -> Mapping[str, Outcome]:
    """Every term with its uncertainty or the reason why it has none."""
    linear = _covariance(run, found) if found.values else None
    known = {name: _outcome(run, found, place, linear) for place, name in enumerate(run.family.names)}
    return known | {name: _with_bias(known, name) for name in _BIASED_UP if name in known}


def _with_bias(known: Mapping[str, Outcome], name: str) -> Outcome:
    """An interval around a biased value must say so where the bias is not small beside it."""
    one = known[name]
    if one.interval.low is None:
        return one
    if f"{name}_corrected" not in known:
        return replace(one, interval=with_reason(one.interval, FITTED))
    twin = known[f"{name}_corrected"]
    if (
        one.estimate is None
        or twin.estimate is None
        or one.se is None
        or abs(one.estimate - twin.estimate) < one.se / 2
    ):
        return one
    return replace(one, interval=with_reason(one.interval, NOISY))


def _outcome(run: Engine, found: Measured, place: int, linear: Covariance | None) -> Outcome:
    bare = _bare(run, found, place)
    if bare.estimate is None or bare.interval.reason == ALIKE:
        return bare
    if "annotators" in run.redraws and n_annotators(run.sample) < 2 and run.method == "normal":
        return replace(bare, interval=intervals.none(ONE_ANNOTATOR))
    if run.method == "normal":
        return _around(run, found, place, bare)
    if one_item(run.sample):
        return replace(bare, interval=intervals.none(ONE_ITEM))
    told = run.plan.interval is not None
    name = run.family.names[place]
    if run.method == "linearized_t" or name in PLAIN_TWIN or (name in QUADRATIC and not told):
        assert linear is not None
        return _linearized(run, found, place, bare, linear)
    return _from_resamples(run, found, place, bare)


def _bare(run: Engine, found: Measured, place: int) -> Outcome:
    """The estimate alone, or why there is none."""
    values = np.concatenate([of_split[place] for of_split in found.cells])
    lost = int((~np.isfinite(values)).sum())
    if lost:
        where = f" (in {lost} of {len(values)} cells)" if len(values) > 1 else ""
        return Outcome(None, values, intervals.none(f"{_why_undefined(run, place)}{where}"))
    if found.is_difference and not values.any() and _is_of_labels(run, place):
        return Outcome(0.0, values, intervals.none(ALIKE))
    mean = float(values.mean())
    return Outcome(0.0 if abs(mean) < ROUNDING else mean, values, intervals.none("no interval"))


def _is_of_labels(run: Engine, place: int) -> bool:
    """Whether a term knows nothing of the model; the top label is the model's choice."""
    of_labels = ("unc", "resolvable", "irreducible", "uncertainty")
    name = run.family.names[place].removesuffix("_corrected")
    return name in of_labels and run.family.label != "top" and not run.family.fixed_forecasts


def _why_undefined(run: Engine, place: int) -> str:
    name = run.family.names[place]
    if name.startswith(("irreducible", "resolvable")) and (run.sample.human.counts.sum(axis=1) < 2).any():
        return "no corrected value: an item has a single vote"
    if one_item(run.sample):
        return "no corrected value: one item only"
    return "no corrected value: no bin holds two items"


def _around(run: Engine, found: Measured, place: int, bare: Outcome) -> Outcome:
    """Estimate +- z (or t) sd: redrawn votes give a spread, never a centre."""
    assert found.drawn is not None
    assert bare.estimate is not None
    factor, df, method = _factor(run, run.family.names[place])
    if not np.isfinite(factor):
        return replace(bare, interval=intervals.none("single votes: redrawing them shows no spread"))
    sd, reason = spread_of(found.drawn[:, place])
    if sd is None:
        return replace(bare, interval=intervals.none(str(reason)))
    made = intervals.normal(bare.estimate, _spread(factor * sd), run.plan.level, df, method)
    if min(run.sample.n_seeds) == 1 and run.redraws & {"items", "seeds"}:
        made = with_reason(made, ONE_SEED)
    return replace(bare, interval=with_reason(made, reason), se=factor * sd, n_resamples=len(found.drawn))


def _factor(run: Engine, name: str) -> tuple[float, float, IntervalName]:
    """What undoes the shrinkage of redrawing, degrees of freedom, and the interval's name."""
    n_votes = harmonic_mean_votes(run.sample)
    if run.redraws == {"votes"}:
        return vote_factor(n_votes) if name in PLAIN_TWIN else 1.0, float("inf"), "normal"
    if run.redraws == {"annotators"} and run.few_annotators:
        return 1.0, n_annotators(run.sample) - 1.0, "jackknife"
    return annotator_factor(n_votes) if run.redraws == {"annotators"} else 1.0, float("inf"), "normal"


def _covariance(run: Engine, found: Measured) -> Covariance:
    sample = run.sample
    estimates = np.array([np.concatenate(one).mean() for one in zip(*found.cells, strict=True)])
    influence = Influence(estimates, found.cells, found.values, sample.places, sample.n_items)
    return of_design(covariance(influence), sample, run.plan)


def _linearized(run: Engine, found: Measured, place: int, bare: Outcome, linear: Covariance) -> Outcome:
    """Estimate +- t sqrt V."""
    assert bare.estimate is not None
    if run.redraws == {"seeds"} and linear.seeds_df == 0:
        return replace(bare, interval=intervals.none("one seed: no spread over seeds"))
    moved = found.moved
    if moved is not None and place in moved.reasons:
        return replace(bare, interval=intervals.none(moved.reasons[place]))
    reason = ONE_ANNOTATOR if "annotators" in run.redraws and moved is None else None
    parts = linear if moved is None else _with_annotators(linear, moved)
    alone = np.zeros(len(run.family.names))
    alone[place] = 1.0
    parts = _at_least_quadratic(run, found, place, parts)
    variance, df = parts.variance(alone)
    if not np.isfinite(variance):
        return replace(bare, interval=intervals.none("it does not exist without one of the items"))
    made = intervals.normal(bare.estimate, _spread(variance**0.5), run.plan.level, df, "linearized_t")
    said = None if made.low is None else parts.reason
    return replace(bare, interval=with_reason(with_reason(made, said), reason), se=variance**0.5)


def _with_annotators(linear: Covariance, moved: Moves) -> Covariance:
    """The covariance with the annotators' part of every term alone."""
    people, within = (np.diag(variances) for variances in moved.variances)
    return replace(linear, annotators=people, annotators_df=moved.df, within=within, within_df=moved.within_df)


def _at_least_quadratic(run: Engine, found: Measured, place: int, parts: Covariance) -> Covariance:
    """The items' part of a quadratic term is never below that of the square alone.

    Training seeds of a split share its items, so their squares move together; splits are taken as independent.
    """
    if not found.second or run.redraws == {"seeds"}:
        return parts
    n_seeds = run.sample.n_seeds
    own = sum(
        (n / sum(n_seeds) * np.sqrt(second[place]).mean()) ** 2 for n, second in zip(n_seeds, found.second, strict=True)
    )
    items = parts.items.copy()
    items[place, place] = max(items[place, place], own)
    return replace(parts, items=items)


def _from_resamples(run: Engine, found: Measured, place: int, bare: Outcome) -> Outcome:
    assert found.resampled is not None
    assert bare.estimate is not None
    distribution = found.resampled[:, place]
    kept, _ = intervals.defined(distribution)
    if kept is not None and np.ptp(kept) < ROUNDING:
        return replace(bare, interval=intervals.none(NO_SPREAD), se=0.0, n_resamples=run.plan.n_resamples)
    made = _interval(run, found, place, bare.estimate)
    if min(run.sample.n_seeds) == 1:
        made = with_reason(made, ONE_SEED)
    se = None if kept is None else float(kept.std(ddof=1))
    return replace(bare, interval=made, se=se, n_resamples=run.plan.n_resamples)


def _interval(run: Engine, found: Measured, place: int, estimate: float) -> Interval:
    assert found.resampled is not None
    distribution, level = found.resampled[:, place], run.plan.level
    if run.method == "bca":
        return intervals.bca(distribution, estimate, _deleted(run.sample, found, place), level)
    if run.method == "basic":
        return intervals.basic(distribution, estimate, level)
    return intervals.percentile(distribution, level)


def _deleted(sample: Sample, found: Measured, place: int) -> Floats:
    """(items,) mean over cells without each item, left out of every split that has it; from the pseudo-values."""
    moved = np.zeros(sample.n_items)
    for cells, values, places in zip(found.cells, found.values, sample.places, strict=True):
        moved[places] += ((cells[place][:, None] - values[place]) / (len(places) - 1)).sum(axis=0)
    whole = sum(float(cells[place].sum()) for cells in found.cells)
    return np.asarray((whole + moved) / sample.n_cells)


def _spread(sd: float) -> float:
    return 0.0 if sd < ROUNDING else sd
