"""Does one metric saturate before another? And what share of the gap does another target close?

Fractions are compared within one order only: the excess of an order-2 metric falls as 1/N and that of an order-1
metric as 1/sqrt N whatever the learner does, so units alone make an order-1 metric look slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from saturation.analyses import n_star as stars
from saturation.analyses.curve.curves import ALL_VOTES_METHODS, Baseline, Curve
from saturation.analyses.curve.rows import fractions_of, over_under
from saturation.analyses.curve.squares import is_square, with_squares
from saturation.analyses.curve.study import Study, fieller_columns, numbers
from saturation.analyses.fractions import BASELINE_IS_CEILING, Fraction
from saturation.results import CurveRow
from saturation.typing import Floats

ROUNDING = 1e-9
AGREE = "the two metrics differ by a constant or a factor: their fractions agree, needs no interval"


def metric_rows(study: Study) -> Iterator[CurveRow]:
    """f_A - f_B at every budget and log N*_A - log N*_B, for every pair of metrics of one order.

    Order-1 losses are also compared with order-2 ones after squaring (``tvd^2``).
    """
    study = with_squares(study)
    for curve, baselines in zip(study.curves, study.baselines, strict=True):
        if not curve.is_curve:
            continue
        for baseline in baselines:
            made = {
                rank: fractions_of(study, curve, rank, baseline)
                for rank, metric in enumerate(study.metrics)
                if metric.order is not None and metric.direction != "none"
            }
            for one, other in combinations(made, 2):
                if _comparable(study, one, other):
                    yield from _pair_rows(study, curve, baseline, (one, made[one]), (other, made[other]))


def gap_rows(study: Study) -> Iterator[CurveRow]:
    """What another target with the same budget gains on the soft one, and the share of l_soft(N) - l_ceil it closes.

    ``gap_difference`` is l_soft(N) - l_other(N) in the metric's units, positive where the other target is better;
    ``gap_closure`` the share, whose ``p`` tests that the difference is 0. The second test, l_other(N) - l_ceil = 0, is
    the ``shortfall`` row of the other target.
    """
    soft = {(c.condition.model, b): m for c in study.curves if c.condition.method == "soft" for b, m in _points(c)}
    for curve in study.curves:
        if curve.condition.method in ("soft", *ALL_VOTES_METHODS) or curve.ceiling is None:
            continue
        for budget, member in _points(curve):
            plain = soft.get((curve.condition.model, budget))
            if plain is None:
                continue
            for rank, metric in enumerate(study.metrics):
                if metric.direction != "none":
                    yield _gap_difference(study, curve, rank, member, plain)
                    made = _gap(study, curve, rank, member, plain)
                    yield study.row(
                        curve, metric, "gap_closure", study.fraction(made), budget=budget, **fieller_columns(made)
                    )


def _gap_difference(study: Study, curve: Curve, rank: int, member: int, plain: int) -> CurveRow:
    metric, budget = study.metrics[rank], curve.budgets[curve.members.index(member)]
    reason = study.losses.reason(rank, member, plain)
    if reason is not None:
        return study.row(curve, metric, "gap_difference", study.nothing(reason), budget=budget)
    answer = study.joint.contrast(study.losses.difference(rank, plain, member))
    return study.row(curve, metric, "gap_difference", study.answer(answer), budget=budget, p=answer.p)


def _gap(study: Study, curve: Curve, rank: int, member: int, plain: int) -> Fraction:
    assert curve.ceiling is not None
    nan = float("nan")
    reason = study.losses.reason(rank, member, plain, curve.ceiling)
    if reason is None and plain == curve.ceiling:
        reason = BASELINE_IS_CEILING
    if reason is not None:
        return Fraction(None, nan, nan, reason=reason)
    return study.joint.fraction(*over_under(study, curve, rank, member, plain))


def _points(curve: Curve) -> list[tuple[int, int]]:
    return [(b, m) for b, m in zip(curve.budgets, curve.members, strict=True) if b is not None]


def _comparable(study: Study, one: int, other: int) -> bool:
    a, b = study.metrics[one], study.metrics[other]
    if is_square(a) and is_square(b):
        return False
    return a.order == b.order


def _pair_rows(
    study: Study,
    curve: Curve,
    baseline: Baseline,
    first: tuple[int, list[Fraction | None]],
    second: tuple[int, list[Fraction | None]],
) -> Iterator[CurveRow]:
    """Contrast rows of two metrics (rank, fractions) over one baseline."""
    (one, a), (other, b) = first, second
    name = study.metrics[other].name
    more = {"metric_b": name, "baseline": baseline.name}
    answers = {}
    for at, (fa, fb) in enumerate(zip(a, b, strict=True)):
        if fa is None or fb is None:
            continue
        if fa.estimate is None or fb.estimate is None:
            unc = study.nothing(str(fa.reason if fa.estimate is None else fb.reason))
            yield study.row(curve, study.metrics[one], "contrast_fraction", unc, budget=curve.budgets[at], **more)
        elif fa.se and fb.se:
            pair = _contrasts(study, curve, one, at, baseline), _contrasts(study, curve, other, at, baseline)
            answer, slope = study.joint.difference(*pair)
            if answer.se is None or answer.se < ROUNDING * max(fa.se, fb.se):
                unc = study.exact(0.0, AGREE)
                yield study.row(curve, study.metrics[one], "contrast_fraction", unc, budget=curve.budgets[at], **more)
            else:
                answers[at] = answer, slope
    critical = study.joint.critical([slope for _, slope in answers.values()]) if answers else None
    for at, (answer, _) in answers.items():
        low, high = answer.band(critical)
        yield study.row(
            curve,
            study.metrics[one],
            "contrast_fraction",
            study.answer(answer),
            budget=curve.budgets[at],
            simultaneous_low=low,
            simultaneous_high=high,
            p=answer.p,
            **more,
        )
    for q in study.q:
        yield _log_n_star(study, curve, baseline, (one, other), (a, b), q)


def _contrasts(study: Study, curve: Curve, rank: int, at: int, baseline: Baseline) -> tuple[Floats, Floats]:
    base = baseline.members[at]
    assert base is not None
    return over_under(study, curve, rank, curve.members[at], base)


def _log_n_star(  # noqa: PLR0917
    study: Study,
    curve: Curve,
    baseline: Baseline,
    ranks: tuple[int, int],
    made: tuple[list[Fraction | None], list[Fraction | None]],
    q: float,
) -> CurveRow:
    """Log N*_A - log N*_B of the interpolated N*, by the delta method on the fitted segment."""
    metric, other = (study.metrics[rank] for rank in ranks)
    more = {"metric_b": other.name, "baseline": baseline.name, "q": q}
    logs: list[tuple[float, Floats]] = []
    for rank, fractions in zip(ranks, made, strict=True):
        kept = [f for f in fractions if f is not None]
        found = _log_crossing(study, curve, baseline, rank, kept, q)
        if isinstance(found, str):
            reason = f"{study.metrics[rank].name}: {found}"
            return study.row(curve, metric, "contrast_log_n_star", study.nothing(reason), **more)
        logs.append(found)
    (log_a, slope_a), (log_b, slope_b) = logs
    answer = study.joint.contrast(slope_a - slope_b, log_a - log_b)
    own = study.joint.contrast(slope_a, log_a)
    if own.se is not None and (answer.se is None or answer.se < ROUNDING * own.se):
        return study.row(curve, metric, "contrast_log_n_star", study.exact(0.0, AGREE), **more)
    return study.row(curve, metric, "contrast_log_n_star", study.answer(answer), p=answer.p, **more)


def _log_crossing(  # noqa: PLR0917
    study: Study, curve: Curve, baseline: Baseline, rank: int, fractions: list[Fraction], q: float
) -> tuple[float, Floats] | str:
    """Log N* and its derivatives by the losses, or the reason why there is none."""
    if len(fractions) < len(curve.members):
        return f"{baseline.name} does not exist at every budget of this curve"
    star = stars.n_star_interpolated(numbers(curve.budgets), fractions, q)
    if star.estimate is None:
        return f"N* does not lie between two budgets ({star.reason})"
    fit, pooled = stars.isotonic(stars.values_of(fractions), stars.weights_of(fractions))
    after = int(np.flatnonzero(fit >= q)[0])
    if after == 0:
        return "N* does not lie between two budgets (at most one vote)"
    if star.low is None or star.high is None:
        return "the interval of N* is not bounded by the budgets tried"
    share = stars.crossing_share(fit, after, q)
    gap = float(np.log(curve.budgets[after] / curve.budgets[after - 1]))  # type: ignore[operator]  # curves have numbers
    weights = ((1 - share) * pooled[after - 1] + share * pooled[after]) * (-gap / (fit[after] - fit[after - 1]))
    slopes = [study.joint.slope(*_contrasts(study, curve, rank, at, baseline)) for at in range(len(fractions))]
    return float(np.log(star.estimate)), np.asarray(sum(w * s for w, s in zip(weights, slopes, strict=True)))
