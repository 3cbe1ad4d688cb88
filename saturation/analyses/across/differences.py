"""Differences between two sides: paired where they share their items, independent where they do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from saturation.analyses.across.sides import Side
from saturation.analyses.curve.study import Study
from saturation.analyses.fractions import Fraction
from saturation.analyses.joint import Answer
from saturation.analyses.losses import sign
from saturation.results import Uncertainty
from saturation.results.study import AcrossRow

MOVER = (
    "independent data sets: limits from those of the two fractions (their variances add); for this budget alone, "
    "without a p-value"
)
AGREE = "no interval: the difference is the same on every item and seed, so nothing shows how sure it is"
ROUNDING = 1e-6
"""A standard error below this part of the sides' own is what rounding leaves of a variance of 0."""
NO_LIMITS = "no interval: the fraction has none on {}"


def row_of(one: Side, other: Side, quantity: str, unc: Uncertainty, **more: Any) -> AcrossRow:
    """A row that compares two sides."""
    return AcrossRow(
        quantity=quantity,
        data=one.data,
        model=one.model,
        curve=one.curve.text,
        data_b=other.data,
        model_b=other.model,
        curve_b=other.curve.text,
        paired=one.study is other.study,
        unc=unc,
        **more,
    )


def value_rows(one: Side, other: Side) -> Iterator[AcrossRow]:
    """The metric of one - that of other at every budget that both have; same items only."""
    study = one.study
    assert study is other.study, "values of different items are not compared"
    there = {b: m for b, m in zip(other.curve.budgets, other.curve.members, strict=True) if b is not None}
    pairs = [(b, m, there[b]) for b, m in zip(one.curve.budgets, one.curve.members, strict=True) if b in there]
    for rank, metric in enumerate(study.metrics):
        whole = [study.losses.difference(rank, m, n) for _, m, n in pairs]
        spoiled = any(study.losses.reason(rank, m, n) is not None for _, m, n in pairs)
        critical = None if spoiled else study.joint.critical([c for c in whole if study.joint.contrast(c).se])
        for (budget, m, n), contrast in zip(pairs, whole, strict=True):
            more: dict[str, Any] = {"metric": metric.name, "budget": budget, "direction": metric.direction}
            reason = study.losses.reason(rank, m, n)
            if reason is not None:
                yield row_of(one, other, "value_difference", study.nothing(reason), **more)
                continue
            answer = study.joint.contrast(contrast)
            own = [study.joint.contrast(study.losses.unit(rank, member)).se for member in (m, n)]
            if agrees(answer, own):
                unc = without_spread(study, answer, own, sign(metric))
                yield row_of(one, other, "value_difference", unc, **more)
                continue
            low, high = _natural(answer.band(critical), sign(metric))
            yield row_of(
                one, other, "value_difference", study.answer(answer, sign(metric)),
                simultaneous_low=low, simultaneous_high=high, p=answer.p, **more,
            )  # fmt: skip


def fraction_rows(one: Side, other: Side, baseline: str) -> Iterator[AcrossRow]:
    """f_one(N) - f_other(N) over a baseline that both have, at every budget below both ceilings.

    On the same items the joint covariance of all four losses of each fraction gives the interval, and a band that holds
    for all budgets of a metric. On different items the two fractions are independent and their limits are combined
    (method of variance estimates recovery): L = d - sqrt((f1 - l1)^2 + (u2 - f2)^2), U = d + sqrt((u1 - f1)^2 +
    (f2 - l2)^2).

    References
    ----------
    Zou and Donner 2008, Stat. Med. 27, 1693.
    """
    rank_there = {metric.name: rank for rank, metric in enumerate(other.study.metrics)}
    for rank, metric in enumerate(one.study.metrics):
        if metric.direction == "none" or metric.name not in rank_there:
            continue
        a, b = one.fractions(rank, baseline), other.fractions(rank_there[metric.name], baseline)
        common = [budget for budget in a if budget in b]
        more: dict[str, Any] = {"metric": metric.name, "baseline": baseline, "direction": metric.direction}
        if one.study is other.study:
            yield from _paired(one, other, rank, baseline, {n: (a[n], b[n]) for n in common}, more)
            continue
        for budget in common:
            unc = independent(one, other, a[budget], b[budget])
            yield row_of(one, other, "fraction_difference", unc, budget=budget, **more)


def independent(one: Side, other: Side, a: Fraction, b: Fraction) -> Uncertainty:
    """The difference of two independent fractions, from the limits of each."""
    reason = _undefined(one, other, a, b)
    if reason is not None:
        return _shared(one, other, None, reason=reason)
    assert a.estimate is not None
    assert b.estimate is not None
    difference = a.estimate - b.estimate
    for side, made in ((one, a), (other, b)):
        if made.low is None or made.high is None:
            return _shared(one, other, difference, reason=NO_LIMITS.format(side.data))
    low, high = mover((a.estimate, a.low, a.high), (b.estimate, b.low, b.high))  # type: ignore[arg-type]
    return _shared(one, other, difference, low=low, high=high, interval="mover", reason=MOVER)


def mover(one: tuple[float, float, float], other: tuple[float, float, float]) -> tuple[float, float]:
    """Limits of the difference of two independent estimates (estimate, low, high).

    Examples
    --------
    >>> low, high = mover((0.9, 0.87, 0.94), (0.8, 0.76, 0.83))  # .1 - sqrt(.03^2 + .03^2), .1 + sqrt(.04^2 + .04^2)
    >>> round(low, 4), round(high, 4)
    (0.0576, 0.1566)
    """
    (e1, l1, u1), (e2, l2, u2) = one, other
    difference = e1 - e2
    return (
        difference - float(((e1 - l1) ** 2 + (u2 - e2) ** 2) ** 0.5),
        difference + float(((u1 - e1) ** 2 + (e2 - l2) ** 2) ** 0.5),
    )


def _paired(  # noqa: PLR0917
    one: Side, other: Side, rank: int, baseline: str, made: dict[int, tuple[Fraction, Fraction]], more: dict[str, Any]
) -> Iterator[AcrossRow]:
    joint, study = one.study.joint, one.study
    over_a, over_b = one.contrasts(rank, baseline), other.contrasts(rank, baseline)
    answers = {}
    for budget, (a, b) in made.items():
        reason = _undefined(one, other, a, b)
        if reason is None:
            answers[budget] = joint.difference(over_a[budget], over_b[budget])
        else:
            yield row_of(one, other, "fraction_difference", study.nothing(reason), budget=budget, **more)
    alike = {n for n, (answer, _) in answers.items() if agrees(answer, [side.se for side in made[n]])}
    critical = joint.critical([slope for n, (_, slope) in answers.items() if n not in alike])
    for budget, (answer, _) in answers.items():
        if budget in alike:
            unc = without_spread(study, answer, [side.se for side in made[budget]])
            yield row_of(one, other, "fraction_difference", unc, budget=budget, **more)
            continue
        low, high = answer.band(critical)
        yield row_of(
            one, other, "fraction_difference", study.answer(answer), budget=budget, simultaneous_low=low,
            simultaneous_high=high, p=answer.p, **more,
        )  # fmt: skip


def agrees(answer: Answer, own: Sequence[float | None]) -> bool:
    """Whether a difference does not move with any item or seed, but for rounding of what the sides move by."""
    if answer.interval.low is None:  # it has no variance at all, with a reason of its own
        return False
    return (answer.se or 0.0) <= _rounding(own)


def without_spread(study: Study, answer: Answer, own: Sequence[float | None], scale: float = 1.0) -> Uncertainty:
    """A difference that is the same on every item and seed; ``scale`` as in :meth:`Study.answer`."""
    nothing = abs(answer.estimate) <= _rounding(own)
    return study.unc(0.0 if nothing else scale * answer.estimate, reason=AGREE)


def _rounding(own: Sequence[float | None]) -> float:
    return ROUNDING * max((se for se in own if se is not None), default=0.0)


def _undefined(one: Side, other: Side, a: Fraction, b: Fraction) -> str | None:
    """Why a difference does not exist: the side that has no fraction, and its reason."""
    for side, made in ((one, a), (other, b)):
        if made.estimate is None:
            where = side.model if one.data == side.data == other.data else side.data
            return f"{where}: {made.reason}"
    return None


def _shared(one: Side, other: Side, estimate: float | None, **more: Any) -> Uncertainty:
    """An uncertainty over two independent sets of items."""
    return Uncertainty(
        estimate,
        level=one.study.joint.level,
        design=one.study.design if one.study.design == other.study.design else None,
        n_items=one.study.losses.n_items + other.study.losses.n_items,
        n_cells=one.study.losses.n_cells + other.study.losses.n_cells,
        **more,
    )


def _natural(ends: tuple[float | None, float | None], scale: float) -> tuple[float | None, float | None]:
    """Limits of a loss in the metric's own units, in ascending order."""
    scaled = [None if end is None else scale * end for end in ends]
    return (scaled[0], scaled[1]) if scale > 0 else (scaled[1], scaled[0])
