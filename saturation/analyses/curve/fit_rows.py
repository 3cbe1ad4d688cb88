"""Rows of the curves fitted through budgets: what they settle at, how fast, and what they say beyond the grid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from saturation.analyses.curve.curves import ASYMPTOTE, Curve
from saturation.analyses.curve.fits import Estimate, Fit, fit_curve
from saturation.analyses.curve.forms import FORMS
from saturation.analyses.curve.study import Study, numbers
from saturation.analyses.losses import sign
from saturation.errors import UsageError
from saturation.results import CurveRow, Uncertainty
from saturation.typing import Floats

HARDLY = 2.0
"""Forms whose AICc differs by less are hardly told apart (Burnham and Anderson 2002, section 2.6)."""
NEGATED = "fitted on the loss scale, the metric negated, and printed in its own units"
CRITERION = "a criterion to choose by, needs no interval"


Numbered: TypeAlias = tuple[str, int | None, Uncertainty]
"""Quantity, budget and the number itself."""


@dataclass(frozen=True, slots=True)
class FitOptions:
    """Which forms are fitted, and the numbers of votes they predict."""

    forms: tuple[str, ...] = ()
    predict: tuple[int, ...] = ()


def fit_options(fits: Sequence[str] | None, predict: Sequence[int], ceiling: str | None) -> FitOptions:
    """Checked options: both forms where predictions or a fitted ceiling are asked for and no form is named."""
    for name in fits or ():
        if name not in FORMS:
            raise UsageError(f"no fit is called {name!r}; known are {', '.join(FORMS)}")
    for budget in predict:
        if budget < 1:
            raise UsageError(f"predict is {budget}; give numbers of votes, 1 or more")
    asked = fits is not None and len(fits) > 0
    wanted = tuple(dict.fromkeys(fits or ())) if asked else tuple(FORMS) if predict or ceiling == ASYMPTOTE else ()
    return FitOptions(wanted, tuple(dict.fromkeys(predict)))


def spaced(budgets: Sequence[int], n: int = 16, beyond: float = 5.0) -> tuple[int, ...]:
    """Numbers of votes to draw a fit through, evenly spaced in log N, with the largest tried and 5 times it.

    Examples
    --------
    >>> spaced([1, 3, 10], n=6)
    (1, 2, 5, 10, 23, 50)
    """
    first, last = min(budgets), max(budgets)
    grid = np.geomspace(first, beyond * last, n)
    return tuple(sorted({*(round(float(one)) for one in grid), last}))


def fits_of(study: Study, curve: Curve, rank: int, forms: Sequence[str]) -> dict[str, Fit | str]:
    """A fit for each form, or the reason why there is none, of the losses of one curve and metric."""
    reason = study.losses.reason(rank, *curve.members)
    if reason is not None:
        return dict.fromkeys(forms, reason)
    at = np.array([study.losses.index(rank, member) for member in curve.members])
    own = study.joint.covariance.map(lambda part: part[np.ix_(at, at)])
    budgets, losses, level = numbers(curve.budgets), study.joint.losses[at], study.joint.level
    return {name: fit_curve(FORMS[name], budgets, losses, own, level) for name in forms}


def preferred(fits: Mapping[str, Fit | str]) -> Fit | None:
    """The fit with the smallest AICc; the first of equals."""
    found = [one for one in fits.values() if isinstance(one, Fit)]
    return min(found, key=lambda one: one.aicc) if found else None


def embedded(study: Study, curve: Curve, rank: int, slope: Floats) -> Floats:
    """(statistics,) a contrast from derivatives by the losses of one curve."""
    contrast = np.zeros(len(study.joint.losses))
    contrast[[study.losses.index(rank, member) for member in curve.members]] = slope
    return contrast


def fit_rows(study: Study, curve: Curve, rank: int, options: FitOptions) -> Iterator[CurveRow]:
    """For each form: asymptote, exponent, predictions and AICc; one row with the reason where there is no fit.

    ``baseline`` names the form; a fit knows no ceiling.
    """
    fits = fits_of(study, curve, rank, options.forms)
    made: Iterator[Numbered]
    for name, fit in fits.items():
        if isinstance(fit, str):
            made = iter([("fit_asymptote", None, replace(study.nothing(fit), estimator="fit"))])
        else:
            made = _numbers(study, rank, fit, fits, options.predict)
        for quantity, budget, unc in made:
            row = study.row(curve, study.metrics[rank], quantity, unc, budget=budget, baseline=name)
            yield replace(row, ceiling=None)


def _numbers(
    study: Study, rank: int, fit: Fit, fits: Mapping[str, Fit | str], predict: Sequence[int]
) -> Iterator[Numbered]:
    """Quantity, budget and number of everything read off one fit."""
    metric = study.metrics[rank]
    scale = NEGATED if metric.direction == "higher" else None
    yield "fit_asymptote", None, _unc(study, fit, fit.asymptote(), sign(metric), scale)
    yield "fit_exponent", None, _unc(study, fit, fit.exponent(), 1.0, scale)
    for budget in predict:
        yield "fit_prediction", budget, _unc(study, fit, fit.predict(budget), sign(metric), reach(fit, budget), scale)
    words = "; ".join((comparison(fit, fits), _misfit_words(fit), CRITERION))
    yield "fit_aicc", None, study.unc(fit.aicc, estimator="fit", reason=words)


def reach(fit: Fit, budget: float) -> str:
    """Whether a number of votes lies within the budgets that were tried."""
    first, last = fit.budgets[0], fit.budgets[-1]
    if budget > last:
        return f"extrapolated: beyond the largest budget tried, {last:g}"
    if budget < first:
        return f"extrapolated: below the smallest budget tried, {first:g}"
    return f"within the budgets tried, {first:g} to {last:g}"


def comparison(fit: Fit, fits: Mapping[str, Fit | str]) -> str:
    """Which form is preferred, and by how much."""
    others = [one for one in fits.values() if isinstance(one, Fit) and one is not fit]
    if not others:
        return f"{fit.form.words} {fit.form.formula}, the only form fitted"
    other = min(others, key=lambda one: one.aicc)
    apart = other.aicc - fit.aicc
    if abs(apart) < HARDLY:
        return f"{fit.form.words} and {other.form.words} are hardly told apart: their AICc differs by {abs(apart):.2g}"
    better, worse = (fit, other) if apart > 0 else (other, fit)
    return f"{better.form.words} preferred: its AICc is {abs(apart):.3g} below that of the {worse.form.words}"


def rejection(fit: Fit) -> str | None:
    """What is said where the points reject the curve."""
    if fit.inflation == 1:
        return None
    wider = f"intervals are {fit.inflation**0.5:.2g} times as wide for it"
    return f"the points reject this curve (p = {fit.misfit_p:.2g}), {wider}"


def _misfit_words(fit: Fit) -> str:
    return rejection(fit) or f"the points do not reject this curve (p = {fit.misfit_p:.2g})"


def _unc(study: Study, fit: Fit, made: Estimate, units: float, *told: str | None) -> Uncertainty:
    """In the metric's own units (``units`` -1 turns a loss back), with what the interval leaves out."""
    ends = [None if end is None else units * end for end in (made.low, made.high)]
    low, high = ends if units > 0 else ends[::-1]
    return study.unc(
        None if made.value is None else units * made.value,
        low=low,
        high=high,
        se=made.se,
        interval="none" if low is None and high is None else "profile",
        estimator="fit",
        reason="; ".join(filter(None, (*told, made.reason, rejection(fit), study.joint.covariance.reason))) or None,
    )
