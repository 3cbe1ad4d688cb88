"""The rows of one curve and metric: values, shortfalls, gains, fractions and N*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from saturation.analyses import n_star as stars
from saturation.analyses.curve.curves import SMALLEST, Baseline, Curve
from saturation.analyses.curve.study import Study, fieller_columns, numbers
from saturation.analyses.fractions import Fraction
from saturation.analyses.losses import sign
from saturation.metrics.metric import Metric
from saturation.results import CurveRow, Uncertainty
from saturation.typing import Floats, IntervalName

NO_CEILING = "there is no ceiling: the model has no soft condition and this is a single budget"
NO_DIRECTION = "it has no better or worse, so there is no share of an improvement"


def value_rows(study: Study, curve: Curve, rank: int) -> Iterator[CurveRow]:
    """The metric itself at every budget, in its own units."""
    metric = study.metrics[rank]
    for budget, member in zip(curve.budgets, curve.members, strict=True):
        estimate = study.losses.influence.estimates[study.losses.index(rank, member)] * sign(metric)
        reason = study.losses.reason(rank, member)
        if reason is not None:
            unc = study.unc(float(estimate) if np.isfinite(estimate) else None, reason=reason)
        else:
            unc = study.answer(study.joint.contrast(study.losses.unit(rank, member)), sign(metric))
        yield study.row(curve, metric, "value", unc, budget=budget)


def undirected_row(study: Study, curve: Curve, rank: int) -> Iterator[CurveRow]:
    """A metric without better or worse has values only; one row says so."""
    if curve.takes_votes:
        yield study.row(curve, study.metrics[rank], "fraction", study.nothing(NO_DIRECTION))


def shortfall_rows(study: Study, curve: Curve, rank: int) -> Iterator[CurveRow]:
    """l_N - l_ceil at every budget: how much is still to gain, positive below the ceiling."""
    if curve.ceiling is None:
        yield study.row(curve, study.metrics[rank], "shortfall", study.nothing(NO_CEILING), budget=curve.budgets[0])
        return
    yield from _differences(study, curve, rank, "shortfall", [(m, curve.ceiling) for m in curve.members], None)


def gain_rows(study: Study, curve: Curve, rank: int) -> Iterator[CurveRow]:
    """l_cheapest - l_N at every budget: what more votes than the smallest budget bring."""
    pairs = [(curve.members[0], m) for m in curve.members]
    yield from _differences(study, curve, rank, "gain", pairs, SMALLEST)


def fraction_rows(study: Study, curve: Curve, rank: int, baseline: Baseline) -> Iterator[CurveRow]:
    """The fraction of the way from the baseline to the ceiling at every budget, and N* by it."""
    metric = study.metrics[rank]
    made = fractions_of(study, curve, rank, baseline)
    bands = fraction_bands(study, curve, rank, baseline, made)
    for budget, one, (low, high) in zip(curve.budgets, made, bands, strict=True):
        if one is not None:
            unc = study.fraction(one)
            yield study.row(
                curve,
                metric,
                "fraction",
                unc,
                budget=budget,
                baseline=baseline.name,
                simultaneous_low=low,
                simultaneous_high=high,
                **fieller_columns(one),
            )
    if curve.is_curve:
        yield from _n_star_rows(study, curve, metric, baseline, made)


def fractions_of(study: Study, curve: Curve, rank: int, baseline: Baseline) -> list[Fraction | None]:
    """(points,) fractions; None where the baseline does not exist at a point."""
    made: list[Fraction | None] = []
    for member, base in zip(curve.members, baseline.members, strict=True):
        if base is None or curve.ceiling is None:
            made.append(None)
            continue
        reason = study.losses.reason(rank, member, base, curve.ceiling)
        if reason is not None:
            made.append(Fraction(None, float("nan"), float("nan"), reason=reason))
        else:
            made.append(study.joint.fraction(*over_under(study, curve, rank, member, base)))
    return made


def over_under(study: Study, curve: Curve, rank: int, member: int, base: int) -> tuple[Floats, Floats]:
    """The contrasts l_base - l_N and l_base - l_ceil."""
    assert curve.ceiling is not None
    losses = study.losses
    return losses.difference(rank, base, member), losses.difference(rank, base, curve.ceiling)


def fraction_bands(
    study: Study, curve: Curve, rank: int, baseline: Baseline, made: Sequence[Fraction | None]
) -> list[tuple[float | None, float | None]]:
    """Limits that hold for all budgets of the curve together (max-t over the budgets with a spread)."""
    none: list[tuple[float | None, float | None]] = [(None, None)] * len(made)
    pairs = {
        at: over_under(study, curve, rank, curve.members[at], base)
        for at, (one, base) in enumerate(zip(made, baseline.members, strict=True))
        if one is not None and one.estimate is not None and one.se and base is not None
    }
    if not curve.is_curve or not pairs:
        return none
    critical = study.joint.critical([study.joint.slope(*pair) for pair in pairs.values()])
    if critical is None:
        return none
    return [study.joint.fraction_band(*pairs[at], critical) if at in pairs else (None, None) for at in range(len(made))]


def noninferiority_row(study: Study, curve: Curve, rank: int) -> CurveRow:
    """N* by non-inferiority: the smallest budget whose shortfall is below the margin with confidence."""
    metric = study.metrics[rank]
    margin = study.margins[metric.name]
    budgets = numbers(curve.budgets)
    more = {"margin": margin.value}
    if margin.value is None or curve.ceiling is None:
        unc = study.nothing(margin.source if margin.value is None else NO_CEILING)
        return study.row(curve, metric, "n_star_noninferiority", unc, **more)
    reason = study.losses.reason(rank, *curve.members, curve.ceiling)
    if reason is not None:
        return study.row(curve, metric, "n_star_noninferiority", study.nothing(reason), **more)
    tested = len(budgets) - int(curve.members[-1] == curve.ceiling)
    contrasts = [study.losses.difference(rank, m, curve.ceiling) for m in curve.members]
    limits = [_limits(study, contrast) for contrast in contrasts]
    upper = [study.joint.upper(contrast) for contrast in contrasts]
    found = stars.n_star_noninferiority(budgets, upper, limits, margin.value, tested)
    reason = "; ".join(filter(None, (found.reason, margin.source)))
    by = study.joint.contrast(contrasts[0]).interval.method
    return _star(study, curve, metric, "n_star_noninferiority", replace(found, reason=reason), by, **more)


def _limits(study: Study, contrast: Floats) -> tuple[float | None, float | None]:
    """The two-sided interval of a shortfall; of the ceiling's own it is exactly 0."""
    if not np.any(contrast):
        return 0.0, 0.0
    made = study.joint.contrast(contrast).interval
    return made.low, made.high


def _differences(  # noqa: PLR0917
    study: Study, curve: Curve, rank: int, quantity: str, pairs: Sequence[tuple[int, int]], baseline: str | None
) -> Iterator[CurveRow]:
    """Rows of loss differences, with bands over the budgets that differ."""
    metric = study.metrics[rank]
    contrasts = [study.losses.difference(rank, *pair) for pair in pairs]
    usable = [c for c, pair in zip(contrasts, pairs, strict=True) if pair[0] != pair[1]]
    spoiled = study.losses.reason(rank, *(m for pair in pairs for m in pair)) is not None
    critical = None if spoiled or not curve.is_curve else study.joint.critical(usable)
    for budget, pair, contrast in zip(curve.budgets, pairs, contrasts, strict=True):
        unc, p, low, high = _difference(study, rank, pair, contrast, critical)
        yield study.row(
            curve,
            metric,
            quantity,
            unc,
            budget=budget,
            baseline=baseline,
            p=p,
            simultaneous_low=low,
            simultaneous_high=high,
        )


def _difference(
    study: Study, rank: int, pair: tuple[int, int], contrast: Floats, critical: float | None
) -> tuple[Uncertainty, float | None, float | None, float | None]:
    reason = study.losses.reason(rank, *pair)
    if reason is not None:
        return study.nothing(reason), None, None, None
    if pair[0] == pair[1]:
        return (
            study.exact(0.0, "the same condition on both sides: 0 by definition, needs no interval"),
            None,
            None,
            None,
        )
    answer = study.joint.contrast(contrast)
    low, high = answer.band(critical)
    return study.answer(answer), answer.p, low, high


def _n_star_rows(
    study: Study, curve: Curve, metric: Metric, baseline: Baseline, made: Sequence[Fraction | None]
) -> Iterator[CurveRow]:
    kept = [one for one in made if one is not None]
    for q in study.q:
        for quantity, find in (("n_star", stars.n_star), ("n_star_interpolated", stars.n_star_interpolated)):
            if len(kept) < len(made):
                found = stars.NStar(None, reason=f"{baseline.name} does not exist at every budget of this curve")
            else:
                found = find(numbers(curve.budgets), kept, q)
            by: IntervalName = "fieller" if study.joint.distribution is None else "percentile"
            yield _star(study, curve, metric, quantity, found, by, q=q, baseline=baseline.name)


def _star(  # noqa: PLR0917
    study: Study, curve: Curve, metric: Metric, quantity: str, found: stars.NStar, by: IntervalName, **more: object
) -> CurveRow:
    """An N* whose interval inverts intervals made ``by`` that method."""
    open_ended = found.low is None and found.high is None
    left_out = study.joint.covariance.reason if found.estimate is not None or found.censored else None
    unc = study.unc(
        found.estimate,
        low=found.low,
        high=found.high,
        interval="none" if open_ended else by,
        reason="; ".join(filter(None, (found.reason, left_out))) or None,
    )
    return study.row(curve, metric, quantity, unc, censored=found.censored, **more)
