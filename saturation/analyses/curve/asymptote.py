"""The fitted asymptote as a ceiling: one more statistic beside the losses, its uncertainty carried along.

An asymptote is a smooth function of the losses at the budgets of a curve, homogeneous of degree one in them, so that
its derivatives by the losses, times the losses, give the asymptote itself. To everything that knows linear contrasts
(shortfalls, fractions, N*) it is a condition like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.curve.curves import Baseline, Curve
from saturation.analyses.curve.fit_rows import embedded, fits_of, preferred, reach, rejection
from saturation.analyses.curve.fits import SETTLES_NOWHERE, Fit
from saturation.analyses.curve.forms import FORMS
from saturation.analyses.curve.study import Study
from saturation.analyses.fractions import dot, not_distinguishable
from saturation.analyses.joint import Answer
from saturation.analyses.losses import Losses
from saturation.results import CurveRow, Uncertainty
from saturation.typing import Floats

FARTHEST = 1e6
"""Numbers of votes beyond it are not searched for."""
_STEP = 0.05
"""Step in log N on the way to an end of an interval."""


@dataclass(frozen=True, slots=True, eq=False)
class Asymptote:
    """What one curve settles at in one metric, or the reason why nothing is known about it."""

    curve: Curve
    rank: int
    fit: Fit | None
    reason: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Asymptotes:
    """The study with its asymptotes as ceilings, and the fits behind them by (metric rank, ceiling index)."""

    study: Study
    found: dict[tuple[int, int], Asymptote]


def with_asymptotes(study: Study) -> Asymptotes:
    """The study with the asymptote of every ceiling's own curve in place of that ceiling.

    The ceiling of a curve is a condition of some curve: ``soft`` of the same model, else its own. What that curve
    settles at, by the form with the smaller AICc, takes its place. A metric without one gets the reason.
    """
    hosts = list(dict.fromkeys(_host(study, curve.ceiling) for curve in study.curves if curve.ceiling is not None))
    n = study.losses.n_conditions
    found = {
        (rank, n + place): _asymptote(study, host, rank)
        for rank in range(len(study.metrics))
        for place, host in enumerate(hosts)
    }
    places = {host: n + place for place, host in enumerate(hosts)}
    curves = tuple(
        curve if curve.ceiling is None else replace(curve, ceiling=places[_host(study, curve.ceiling)])
        for curve in study.curves
    )
    names = (*study.names, *(f"asymptote of {host.text}" for host in hosts))
    return Asymptotes(replace(_extended(study, found, len(hosts)), curves=curves, names=names), found)


def extrapolated_rows(made: Asymptotes) -> Iterator[CurveRow]:
    """``n_star_fit``: the N at which the fitted curve itself has kept q of the gain, also beyond the grid."""
    study = made.study
    for curve, baselines in zip(study.curves, study.baselines, strict=True):
        for rank, metric in enumerate(study.metrics):
            if curve.ceiling is None or not curve.is_curve or metric.direction == "none":
                continue
            asymptote = made.found[rank, curve.ceiling]
            own = curve if asymptote.curve.members == curve.members else None
            for baseline in baselines if own is not None else ():
                yield from _star_rows(study, curve, rank, asymptote, baseline)


def _star_rows(study: Study, curve: Curve, rank: int, asymptote: Asymptote, baseline: Baseline) -> Iterator[CurveRow]:
    """One row for each q: where the fitted curve has kept it, over one baseline."""
    for q in study.q:
        found = _star(study, curve, rank, asymptote, baseline, q)
        unc = study.nothing(found) if isinstance(found, str) else found
        metric = study.metrics[rank]
        yield study.row(curve, metric, "n_star_fit", replace(unc, estimator="fit"), q=q, baseline=baseline.name)


def _star(  # noqa: PLR0917
    study: Study, curve: Curve, rank: int, asymptote: Asymptote, baseline: Baseline, q: float
) -> Uncertainty | str:
    """N from (1 - q) (l_base - a) = l(N) - a, and all N at which the two sides are not told apart."""
    problem = _no_star(study, curve, rank, asymptote, baseline)
    if problem is not None:
        return problem
    fit, base, ceiling = asymptote.fit, baseline.members[0], curve.ceiling
    assert fit is not None
    assert base is not None
    assert ceiling is not None
    gain = study.losses.difference(rank, base, ceiling)
    share = (1 - q) * dot(gain, study.joint.losses) * fit.rate / -fit.fall
    number = max(fit.form.at(-float(np.log(share)) / fit.rate, float(fit.budgets[0])), 1.0)
    if number > FARTHEST:
        return f"more than {FARTHEST:,.0f} votes by the {fit.form.words}"

    def left(budget: float) -> Answer:
        """(1 - q) (l_base - a) - (l(N) - a): 0 where N keeps q exactly."""
        own = embedded(study, curve, rank, fit.predict(budget).slope) - study.losses.unit(rank, ceiling)
        return study.joint.contrast((1 - q) * gain - own)

    low, high = _not_told_apart(left, number)
    words = filter(
        None, (f"by the {fit.form.words}", reach(fit, number), rejection(fit), study.joint.covariance.reason)
    )
    return study.unc(number, low=low, high=high, interval=left(number).interval.method, reason="; ".join(words))


def _no_star(study: Study, curve: Curve, rank: int, asymptote: Asymptote, baseline: Baseline) -> str | None:
    """Why the fitted curve has no N*, if it has none."""
    fit, base, ceiling = asymptote.fit, baseline.members[0], curve.ceiling
    if fit is None:
        return asymptote.reason
    if base is None or len(set(baseline.members)) > 1:
        return f"{baseline.name} changes with the budget"
    assert ceiling is not None
    reason = study.losses.reason(rank, base, ceiling)
    if reason is not None:
        return reason
    gain = study.joint.contrast(study.losses.difference(rank, base, ceiling))
    if gain.p is None or gain.p >= 1 - study.joint.level:
        return not_distinguishable(1.0 if gain.p is None else gain.p)
    if fit.fall >= 0 or gain.estimate <= 0:
        return "the fitted curve does not fall from the baseline to its asymptote"
    return None


def _not_told_apart(left: Callable[[float], Answer], number: float) -> tuple[float, float | None]:
    """The N around ``number`` at which an answer's interval holds 0; None where that never ends."""

    def holds(log_budget: float) -> bool:
        made = left(float(np.exp(log_budget))).interval
        return made.low is not None and made.high is not None and made.low <= 0 <= made.high

    centre, farthest = float(np.log(number)), float(np.log(FARTHEST))
    down = _edge(holds, centre, -_STEP, 0.0)
    up = _edge(holds, centre, _STEP, farthest)
    return 1.0 if down is None else float(np.exp(down)), None if up is None else float(np.exp(up))


def _edge(holds: Callable[[float], bool], start: float, step: float, end: float) -> float | None:
    """Where holds() ends on the way from ``start``, to within a thousandth of a step; None if not before ``end``."""
    inside = start
    while abs(end - inside) > abs(step) and holds(inside + step):
        inside += step
    if abs(end - inside) <= abs(step):
        if holds(end):
            return None
        outside = end
    else:
        outside = inside + step
    while abs(outside - inside) > abs(step) / 1000:
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


def _host(study: Study, ceiling: int) -> Curve:
    return next(curve for curve in study.curves if ceiling in curve.members)


def _asymptote(study: Study, host: Curve, rank: int) -> Asymptote:
    if not host.is_curve:
        return Asymptote(host, rank, None, f"no asymptote: {host.text} has one budget only")
    fits = fits_of(study, host, rank, tuple(FORMS))
    fit = preferred(fits)
    if fit is None:
        return Asymptote(host, rank, None, str(next(iter(fits.values()))))
    own = fit.asymptote()
    if own.value is None or own.low is None or own.high is None:
        return Asymptote(host, rank, None, f"no asymptote: {own.reason or SETTLES_NOWHERE}")
    return Asymptote(host, rank, fit, None)


def _extended(study: Study, found: dict[tuple[int, int], Asymptote], n_hosts: int) -> Study:
    """Losses and their joint uncertainty with the asymptotes as further conditions of every metric."""
    losses, joint, n = study.losses, study.joint, study.losses.n_conditions
    size = len(joint.losses)
    slopes = np.stack([_slope(study, one) for one in found.values()])
    values = np.array(
        [np.nan if one.fit is None else float(one.fit.asymptote().value or 0.0) for one in found.values()]
    )
    order = np.concatenate(
        [
            np.append(np.arange(rank * n, (rank + 1) * n), size + rank * n_hosts + np.arange(n_hosts))
            for rank in range(len(study.metrics))
        ]
    )
    estimates = np.concatenate([joint.losses, values])[order]
    influence = losses.influence.combine(np.concatenate([np.eye(size), slopes])[order], estimates)
    drawn = joint.distribution
    if drawn is not None:
        drawn = np.concatenate([drawn, _products(drawn, slopes)], axis=1)[:, order]
    grown = joint.covariance.map(lambda part: _grown(part, slopes))
    misfit = np.concatenate([np.zeros(size), [_misfit_variance(one) for one in found.values()]])
    covariance = replace(grown, items=grown.items + np.diag(misfit)).map(lambda part: part[np.ix_(order, order)])
    return replace(
        study,
        losses=replace(losses, n_conditions=n + n_hosts, influence=influence, reasons=_reasons(losses, found, n_hosts)),
        joint=replace(joint, losses=estimates, covariance=covariance, distribution=drawn),
    )


def _slope(study: Study, one: Asymptote) -> Floats:
    if one.fit is None:
        return np.zeros(len(study.joint.losses))
    return embedded(study, one.curve, one.rank, one.fit.asymptote().slope)


def _misfit_variance(one: Asymptote) -> float:
    """What the asymptote's variance gains where the points reject its curve."""
    if one.fit is None or one.fit.inflation == 1:
        return 0.0
    return float((one.fit.asymptote().se or 0.0) ** 2 * (1 - 1 / one.fit.inflation))


def _reasons(losses: Losses, found: dict[tuple[int, int], Asymptote], n_hosts: int) -> dict[int, str]:
    """Reasons at their new positions, and those of missing asymptotes."""
    n = losses.n_conditions
    moved = {(at // n) * (n + n_hosts) + at % n: reason for at, reason in losses.reasons.items()}
    missing = {
        rank * (n + n_hosts) + place: one.reason for (rank, place), one in found.items() if one.reason is not None
    }
    return moved | missing


def _grown(matrix: Floats, slopes: Floats) -> Floats:
    """The covariance of the statistics and of combinations of them."""
    across = _products(matrix, slopes)
    return np.block([[matrix, across], [across.T, _products(across.T, slopes)]])


def _products(rows: Floats, slopes: Floats) -> Floats:
    """(n, S) by (k, S) -> (n, k), each a sum over the nonzero slopes in their order."""
    out = np.zeros((len(rows), len(slopes)))
    for k, slope in enumerate(slopes):
        used = np.flatnonzero(slope)
        out[:, k] = (rows[:, used] * slope[used]).sum(axis=1)
    return out
