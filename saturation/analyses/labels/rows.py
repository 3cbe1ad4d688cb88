"""From a label-side curve of one metric to its rows: values, shortfalls, fractions and N* with their uncertainties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from saturation.analyses.fractions import Fraction, fraction
from saturation.analyses.labels.people import Crowd
from saturation.analyses.labels.plan import Plan
from saturation.analyses.labels.series import Point, Series
from saturation.analyses.n_star import NStar, n_star, n_star_interpolated
from saturation.resampling.intervals import critical
from saturation.resampling.linearized import Covariance, Influence, covariance
from saturation.results import LabelCurveRow, Uncertainty
from saturation.typing import Floats, IntervalName

DESIGN = "items"
WITH_PEOPLE = "items x annotators"
ONE_BUDGET = "there is one budget only and no smaller one to start from (more votes an item would give more budgets)"
NO_DIRECTION = "neither high nor low is better, so there is no share of a gain"
SAME_VOTES = "target and reference are the same votes: exact by definition, needs no interval"
CEILING = "it is the ceiling itself: exactly 0 by definition, needs no interval"
DENOMINATOR_KNOWN = "the denominator is 1 by definition"
ROUNDING = 1e-12
"""Spreads below this are rounding errors of exact sums."""


def rows_of(  # noqa: PLR0917
    series: Series, plan: Plan, n_items: int, q: Sequence[float], level: float, crowd: Crowd | None = None
) -> Iterator[LabelCurveRow]:
    """All rows of one metric, quantity by quantity; refused budgets come as rows with their reason.

    Parameters
    ----------
    series
        Points at the budgets of the plan.
    plan
        The plan.
    n_items
        Items of the votes, used or not.
    q
        Shares of the gain that N* is asked for.
    level
        Nominal coverage.
    crowd
        The people behind the votes, where they are known and label several items each; None: votes are independent.
    """
    curve = _Curve.of(series, plan, n_items, level, crowd)
    yield from _values(curve)
    yield from _shortfalls(curve)
    fractions, missing = _fractions(curve)
    yield from _fraction_rows(curve, fractions, missing)
    yield from _n_stars(curve, fractions, missing, q)


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """A series with the losses of its usable budgets and their covariance over items."""

    series: Series
    plan: Plan
    n_items: int
    level: float
    which: tuple[int, ...]
    losses: Floats
    covariance: Covariance
    design: str = DESIGN

    @classmethod
    def of(cls, series: Series, plan: Plan, n_items: int, level: float, crowd: Crowd | None = None) -> _Curve:
        """Losses (higher is better: negated) of the budgets that have a value, and their covariance.

        With items chosen per budget, an item that a budget leaves out has no influence there, and the others weigh
        more.
        """
        sign = -1.0 if series.direction == "higher" else 1.0
        which = tuple(j for j, point in enumerate(series.points) if _known(point) is not None)
        n_union = len(plan.items)
        if series.resampled is not None:
            losses = np.array([sign * (_known(series.points[j]) or 0.0) for j in which])
            return cls(
                series, plan, n_items, level, which, losses, _about(losses, sign * series.resampled[:, which], n_union)
            )
        size = max(len(which), 1)  # a curve that is undefined everywhere keeps one row of zeros, which nothing asks for
        losses, influence = np.zeros(size), np.zeros((size, 1, n_union))
        for row, j in enumerate(which):
            point, members = series.points[j], plan.members[j]
            losses[row] = sign * (_known(point) or 0.0)
            if point.influence is not None:
                centred = _centred(point.influence)
                influence[row, 0, members] = sign * centred * (n_union / members.sum())
        found = covariance(
            Influence(
                estimates=losses,
                cells=(losses[:, None],),
                values=(influence,),
                items_of_split=(np.arange(n_union),),
                n_items=n_union,
            )
        )
        # no model was trained, so no training noise is missing: the seeds' part is zero, not unknown
        found = replace(found, seeds_df=1)
        people = None if crowd is None else _people(series, which, crowd)
        if crowd is None or people is None:
            return cls(series, plan, n_items, level, which, losses, found)
        both = crowd.added_to(found, sign * people)
        return cls(series, plan, n_items, level, which, losses, both, crowd.design)

    def row(self, quantity: str, budget: int | None, unc: Uncertainty, **more: Any) -> LabelCurveRow:
        """A row with what all rows of the series share."""
        return LabelCurveRow(
            quantity=quantity,
            metric=self.series.metric,
            budget=budget,
            target="dirichlet" if self.series.alpha else "raw",
            alpha=self.series.alpha or None,
            reference=self.plan.reference_name,
            direction=self.series.direction,
            unc=unc,
            **more,
        )

    def rows_at(self, quantity: str, uncertainties: Sequence[Uncertainty], **more: Any) -> Iterator[LabelCurveRow]:
        """A row a budget of the plan, then the refused budgets; ``more`` are lists over budgets."""
        for j, (budget, unc) in enumerate(zip(self.plan.budgets, uncertainties, strict=True)):
            members = int(self.plan.members[j].sum())
            yield self.row(
                quantity,
                budget,
                replace(unc, n_items=members),
                reference_size=_reference_size(self.plan, budget),
                n_dropped=self.n_items - members,
                **{name: values[j] for name, values in more.items()},
            )
        for budget, reason in self.plan.refused.items():
            yield self.row(quantity, budget, self.empty(reason))

    def empty(self, reason: str | None) -> Uncertainty:
        """No number, for a reason."""
        return Uncertainty(estimate=None, level=self.level, reason=reason)

    def contrast(self, plus: int, minus: int | None = None) -> Floats:
        """The contrast l_plus - l_minus of two budget indices, or l_plus alone."""
        contrast = np.zeros(len(self.losses))
        contrast[self.which.index(plus)] += 1.0
        if minus is not None:
            contrast[self.which.index(minus)] -= 1.0
        return contrast

    def method(self, name: IntervalName) -> IntervalName:
        """How an interval was made: where the spread is that of resampled values, nothing was linearised."""
        return "normal" if name == "linearized_t" and self.series.resampled is not None else name

    def measured(self, j: int, estimate: float, contrast: Floats, reason: str | None) -> Uncertainty:
        """An estimate of budget j with its linearised interval over items."""
        interval = self.covariance.interval(estimate, contrast, self.level)
        variance, _ = self.covariance.variance(contrast)
        point = self.series.points[j]
        return Uncertainty(
            estimate=estimate,
            low=interval.low,
            high=interval.high,
            se=float(variance**0.5) if np.isfinite(variance) else None,
            level=self.level,
            interval=self.method(interval.method),
            estimator=point.estimator,
            design=self.design,
            n_resamples=point.n_resamples,
            reason=_join(reason, interval.reason),
        )


def _about(losses: Floats, values: Floats, n_items: int) -> Covariance:
    """Mean products of the deviations of resampled values (resamples, budgets) from the estimates."""
    size = values.shape[1]
    gaps, nothing = values - losses, np.zeros((size, size))
    gaps[:, np.ptp(values, axis=0) < ROUNDING] = 0.0
    products = np.array([[float((gaps[:, i] * gaps[:, j]).mean()) for j in range(size)] for i in range(size)])
    items = products.reshape(size, size)
    return Covariance(items, nothing, nothing, nothing, items_df=n_items - 1, seeds_df=1, annotators_df=np.inf)


def _people(series: Series, which: Sequence[int], crowd: Crowd) -> Floats | None:
    """(budgets, rows) what every vote changes in the estimates; None where that is not known of one of them.

    A budget whose items all have the same influence (or none, by convention) has nothing that a vote could change.
    """
    found = np.zeros((max(len(which), 1), len(crowd.removals.item)))
    for row, j in enumerate(which):
        point = series.points[j]
        if point.people is not None:
            found[row] = point.people / crowd.members[j].sum()
        elif point.influence is not None and np.ptp(point.influence) >= ROUNDING:
            return None
    return found


def _centred(influence: Floats) -> Floats:
    """Influence values with mean 0; rounding errors around a constant are no spread."""
    if np.ptp(influence) < ROUNDING:
        return np.zeros_like(influence)
    return np.asarray(influence - influence.mean())


def _known(point: Point) -> float | None:
    return point.estimate if point.estimate is not None else point.counts_as


def _values(curve: _Curve) -> Iterator[LabelCurveRow]:
    found = [_value(curve, j, point) for j, point in enumerate(curve.series.points)]
    limits = [_draw_limits(point, curve.level) for point in curve.series.points]
    yield from curve.rows_at(
        "value",
        found,
        draw_sd=[point.draw_sd for point in curve.series.points],
        draw_low=[low for low, _ in limits],
        draw_high=[high for _, high in limits],
        mc_se=[point.mc_se for point in curve.series.points],
    )


def _value(curve: _Curve, j: int, point: Point) -> Uncertainty:
    if point.estimate is None:
        return replace(curve.empty(point.reason), estimator=point.estimator, n_resamples=point.n_resamples)
    unc = curve.measured(j, point.estimate, curve.contrast(j), point.reason)
    if _same_votes(curve, j):
        return replace(unc, low=unc.estimate, high=unc.estimate, se=0.0, interval="exact", reason=SAME_VOTES)
    return unc


def _same_votes(curve: _Curve, j: int) -> bool:
    """Whether target and reference coincide: all votes drawn, raw, and no spread beyond rounding."""
    point, plan = curve.series.points[j], curve.plan
    drawn_out = plan.reference == "all" and plan.same_votes == plan.budgets[j] and not curve.series.alpha
    return drawn_out and point.influence is not None and float(np.ptp(point.influence)) < ROUNDING


def _draw_limits(point: Point, level: float) -> tuple[float | None, float | None]:
    """Where one actual collection of N votes falls: the mean over many items is close to normal."""
    if point.estimate is None or point.draw_sd is None:
        return None, None
    half = critical(level) * point.draw_sd
    return point.estimate - half, point.estimate + half


def _shortfalls(curve: _Curve) -> Iterator[LabelCurveRow]:
    yield from curve.rows_at("shortfall", [_shortfall(curve, j) for j in range(len(curve.plan.budgets))])


def _shortfall(curve: _Curve, j: int) -> Uncertainty:
    """l_N - l_ceiling in the metric's units, the ceiling being the largest budget."""
    last, point = len(curve.plan.budgets) - 1, curve.series.points[j]
    if curve.series.direction == "none":
        return curve.empty(NO_DIRECTION)
    for needed in (j, last):
        if needed not in curve.which:
            return curve.empty(_undefined_at(curve, needed))
    contrast = curve.contrast(j, last)
    unc = curve.measured(j, float((contrast * curve.losses).sum()), contrast, _remark(point))
    return unc if j != last else replace(unc, low=0.0, high=0.0, se=0.0, interval="exact", reason=CEILING)


def _fractions(curve: _Curve) -> tuple[dict[int, Fraction], str | None]:
    """Fractions by budget index, baseline the smallest and ceiling the largest budget; or why there are none."""
    last = len(curve.plan.budgets) - 1
    if curve.series.direction == "none":
        return {}, NO_DIRECTION
    if last < 0:
        return {}, "no budget is possible: " + "; ".join(curve.plan.refused.values())
    if last == 0:
        return {}, ONE_BUDGET
    for end in (0, last):
        if end not in curve.which:
            return {}, _undefined_at(curve, end)
    return {j: _fraction(curve, curve.contrast(0, j), curve.contrast(0, last)) for j in curve.which}, None


def _fraction(curve: _Curve, over: Floats, under: Floats) -> Fraction:
    """The fraction by Fieller; where r goes from 0 by convention to 1 by definition it is r, with r's own interval."""
    last = len(curve.plan.budgets) - 1
    if not (curve.series.points[0].counts_as is not None and _same_votes(curve, last)):
        return fraction(curve.losses, over, under, curve.covariance, curve.level)
    whole, part = float((under * curve.losses).sum()), float((over * curve.losses).sum())
    variance, df = curve.covariance.variance(over)
    se = float(variance**0.5 / abs(whole))
    half = critical(curve.level, df) * se
    return Fraction(
        estimate=part / whole,
        numerator=part,
        denominator=whole,
        low=part / whole - half,
        high=part / whole + half,
        lower=part / whole - critical(max(2 * curve.level - 1, 0.0), df) * se,
        se=se,
        denominator_p=0.0,
        interval="linearized_t" if se > 0 else "exact",
        reason=DENOMINATOR_KNOWN,
    )


def _fraction_rows(curve: _Curve, fractions: dict[int, Fraction], missing: str | None) -> Iterator[LabelCurveRow]:
    remark = _first_remark(curve)
    found = []
    for j, point in enumerate(curve.series.points):
        one = fractions.get(j)
        if one is None:
            found.append(curve.empty(missing or point.reason))
            continue
        found.append(
            Uncertainty(
                estimate=one.estimate,
                low=one.low,
                high=one.high,
                se=one.se,
                level=curve.level,
                interval=one.interval,
                estimator=point.estimator,
                design=curve.design,
                n_resamples=point.n_resamples,
                reason=_join(one.reason, remark),
            )
        )
    yield from curve.rows_at("fraction", found)


def _n_stars(
    curve: _Curve, fractions: dict[int, Fraction], missing: str | None, q: Sequence[float]
) -> Iterator[LabelCurveRow]:
    budgets = [curve.plan.budgets[j] for j in fractions]
    for name, rule in (("n_star", n_star), ("n_star_interpolated", n_star_interpolated)):
        for share in q:
            found = NStar(None, reason=missing) if missing else rule(budgets, list(fractions.values()), share)
            bounded = found.low is not None or found.high is not None
            unc = Uncertainty(
                estimate=found.estimate,
                low=found.low,
                high=found.high,
                level=curve.level,
                interval="fieller" if bounded else "none",
                estimator=curve.series.points[-1].estimator if curve.series.points else "exact",
                design=curve.design,
                n_items=len(curve.plan.items),
                reason=_join(found.reason, _first_remark(curve)),
            )
            yield curve.row(
                name,
                None,
                unc,
                q=share,
                reference_size=curve.plan.reference_size,
                n_dropped=curve.n_items - len(curve.plan.items),
                censored=found.censored,
            )


def _undefined_at(curve: _Curve, j: int) -> str:
    return f"undefined at N = {curve.plan.budgets[j]}: {curve.series.points[j].reason}"


def _reference_size(plan: Plan, budget: int) -> int | None:
    """R; for ``rest`` it depends on the budget, and is one number only where all items have the same votes."""
    if plan.reference == "rest" and plan.same_votes is not None:
        return plan.same_votes - budget
    return plan.reference_size


def _first_remark(curve: _Curve) -> str | None:
    return _remark(curve.series.points[0]) if curve.series.points else None


def _remark(point: Point) -> str | None:
    if point.counts_as is None:
        return None
    return f"r at the smallest budget is undefined (constant) and counts as {point.counts_as:g}"


def _join(*reasons: str | None) -> str | None:
    return "; ".join(dict.fromkeys(filter(None, reasons))) or None
