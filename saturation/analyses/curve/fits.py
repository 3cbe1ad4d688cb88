"""Curves through budgets: a + b N^-c and a + b exp(-c N) by generalised least squares, with profile intervals.

Functions of budgets, losses and their covariance; they know no panel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from saturation.analyses.curve.forms import Form, basis, basis_slope, end
from saturation.analyses.curve.profile import AtRates, Profile, profile, whitener_of
from saturation.resampling.intervals import critical
from saturation.resampling.linearized import Covariance
from saturation.typing import Floats

PARAMETERS = 3
FEWEST_POINTS = PARAMETERS + 2
"""AICc needs more points than parameters + 1."""
TOO_FEW_POINTS = "no fit: a curve of three numbers needs at least {} budgets; this one has {}"
NO_SPREAD = "no fit: two budgets agree on every item, or the losses do not vary, so that nothing weighs the points"
ENDS_WITH_THE_SEARCH = "an end of the interval is an end of the rates looked at"
FLAT = "no fit: the losses are the same at every budget"
SETTLES_NOWHERE = "open: the points do not exclude a curve that settles at no level"


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A number read off a fit.

    Attributes
    ----------
    value
        None where the fit does not give it.
    low, high
        Profile interval; None where it is open on that side.
    se
        By the delta method; None at the edge of what the form can be.
    slope
        (budgets,) its derivatives by the losses.
    reason
        Why something is missing.
    """

    value: float | None
    low: float | None
    high: float | None
    se: float | None
    slope: Floats
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A fitted curve l(N) = level + fall g_c(N), which is a + b N^-c or a + b exp(-c N).

    Attributes
    ----------
    form
        Which family.
    budgets
        (budgets,) ascending.
    covariance
        Of the points, as weighed.
    level
        Nominal coverage of the intervals.
    """

    form: Form
    budgets: Floats
    covariance: Covariance
    level: float
    profile: Profile

    @property
    def rate(self) -> float:
        """The best c."""
        return float(self.profile.rates[self.profile.best])

    @property
    def fall(self) -> float:
        """The derivative of the curve at the smallest budget by log N, or by N: negative where more votes help."""
        return float(self.profile.fall[self.profile.best])

    @property
    def misfit(self) -> float:
        """Weighted residual sum of squares."""
        return float(self.profile.squares[self.profile.best])

    @property
    def misfit_df(self) -> int:
        """Points less parameters."""
        return len(self.budgets) - PARAMETERS

    @property
    def misfit_p(self) -> float:
        """P of points that far from the curve if it is right: F, as the weights are estimated themselves."""
        _, df = self.covariance.variance(self._slope(np.array([0.0, 1.0, 0.0])))
        share = self.misfit / self.misfit_df
        if not np.isfinite(df):
            return float(special.chdtrc(self.misfit_df, self.misfit))
        return float(special.fdtrc(self.misfit_df, df, share))

    @property
    def aicc(self) -> float:
        """Q + 2 k + 2 k (k + 1) / (n - k - 1), k = 3: comparable between fits of the same points."""
        k, n = PARAMETERS, len(self.budgets)
        return self.misfit + 2 * k + 2 * k * (k + 1) / (n - k - 1)

    @property
    def inflation(self) -> float:
        """What widens the intervals where the points reject the curve: Q / (n - 3) (Birge's ratio), else 1."""
        return self.misfit / self.misfit_df if self.misfit_p < 1 - self.level else 1.0

    @property
    def at_edge(self) -> str | None:
        """Where the best rate is an end of those looked at, in words."""
        if self.rate == 0:
            straight = "log N" if self.form.name == "power" else "N"
            return f"the best curve is a straight line in {straight}, which settles at no level"
        if self.rate == self.profile.rates[-1]:
            return f"the best {self.form.rate_words} is {self.rate:.3g}, the largest looked at"
        return None

    def asymptote(self) -> Estimate:
        """a, what the curve settles at with ever more votes."""
        if self.rate == 0:
            low, high = self.profile.interval(end, self._cut(self._slope(np.array([1.0, 0.0, 0.0]))))
            return Estimate(None, low, high, None, np.zeros(len(self.budgets)), self.at_edge)
        made = self._estimate(end, -1 / self.rate**2)
        return replace(made, reason=SETTLES_NOWHERE) if made.low is None or made.high is None else made

    def exponent(self) -> Estimate:
        """c, how fast the curve falls."""
        slope = self._slope(np.array([0.0, 0.0, 1 / self.fall]), with_rate=True)
        low, high = self.profile.rates_within(self._cut(slope))
        cut_off = ENDS_WITH_THE_SEARCH if low == 0 or high == self.profile.rates[-1] else None
        reason = "; ".join(filter(None, (self.at_edge, cut_off))) or None
        return Estimate(self.rate, low, high, None if self.at_edge else self._se(slope), slope, reason)

    def predict(self, budget: float) -> Estimate:
        """The loss at a number of votes."""
        x = self.form.distance(budget, float(self.budgets[0]))
        return self._estimate(lambda rates: basis(rates, x), float(basis_slope(self.rate, x)))

    def _estimate(self, at: AtRates, at_slope: float) -> Estimate:
        """Level + fall x at(rate), whose derivative by the rate is fall x ``at_slope``."""
        here = float(at(np.array([self.rate]))[0])
        slope = self._slope(np.array([1.0, here, at_slope]))
        low, high = self.profile.interval(at, self._cut(slope))
        value = float(self.profile.level[self.profile.best]) + self.fall * here
        return Estimate(value, low, high, self._se(slope), slope)

    def _slope(self, by: Floats, *, with_rate: bool | None = None) -> Floats:
        return self.profile.slope(by, with_rate=self.at_edge is None if with_rate is None else with_rate)

    def _se(self, slope: Floats) -> float:
        return float((self.inflation * self.covariance.variance(slope)[0]) ** 0.5)

    def _cut(self, slope: Floats) -> float:
        """How much worse than the best a curve in the interval may be: t^2 with the number's degrees of freedom."""
        return float(self.inflation * critical(self.level, self.covariance.variance(slope)[1]) ** 2)


def fit_curve(
    form: Form, budgets: Sequence[int], losses: Floats, covariance: Covariance, level: float = 0.95
) -> Fit | str:
    """A curve through the losses at several budgets, or the reason why there is none.

    Generalised least squares, (l - curve)' V^-1 (l - curve) smallest, V the covariance of the points with the seeds'
    part smoothed over budgets (few seeds leave it too noisy to be inverted). Intervals are profiles: all values whose
    best curve is worse than the best of all by t^2 at most, with the degrees of freedom of the number itself.

    Parameters
    ----------
    form
        Of :data:`saturation.analyses.curve.forms.FORMS`.
    budgets
        (budgets,) ascending; at least 5.
    losses
        (budgets,) in the metric's units, lower better.
    covariance
        Of these losses.
    level
        Nominal coverage.

    Examples
    --------
    Points that lie on 0.2 + 0.5 / N, each known to 0.01:

    >>> from saturation.analyses.curve.forms import POWER
    >>> none, n = np.zeros((5, 5)), np.array([1, 2, 5, 10, 20])
    >>> known = Covariance(np.eye(5) * 1e-4, none, none, none, items_df=999, seeds_df=0, annotators_df=np.inf)
    >>> fit = fit_curve(POWER, n, 0.2 + 0.5 / n, known)
    >>> round(fit.asymptote().value, 6), round(fit.exponent().value, 6), round(fit.predict(100).value, 6)
    (0.2, 1.0, 0.205)
    """
    n = np.asarray(budgets, dtype=np.float64)
    if len(n) < FEWEST_POINTS:
        return TOO_FEW_POINTS.format(FEWEST_POINTS, len(n))
    weighed = smoothed(covariance, n)
    spread = matrix_of(weighed)
    whitener = None if spread is None else whitener_of(spread)
    if whitener is None:
        return NO_SPREAD
    made = Fit(form, n, weighed, level, profile(form, n, np.asarray(losses, dtype=np.float64), whitener))
    return FLAT if made.fall == 0 else made


def smoothed(covariance: Covariance, budgets: Floats) -> Covariance:
    """The covariance with a seeds' part of few numbers: variances v N^p and one correlation for every two budgets.

    Three seeds give two degrees of freedom: a matrix from them has directions without any spread, and least squares
    would lean on these. The total variance is kept.
    """
    variances = np.diag(covariance.seeds)
    if covariance.seeds_df == 0 or not (variances > 0).all():
        return covariance
    x = np.log(budgets) - np.log(budgets).mean()
    power = float((x * np.log(variances)).sum() / (x * x).sum())
    smooth = np.exp(power * x)
    sd = np.sqrt(smooth * variances.mean() / smooth.mean())
    shared = covariance.seeds / (sd[:, None] * sd)
    size = len(sd)
    correlation = float(np.clip((shared.sum() - np.trace(shared)) / (size * (size - 1)), 0, 0.99))
    part = sd[:, None] * sd * (correlation + (1 - correlation) * np.eye(size))
    return replace(covariance, seeds=part)


def matrix_of(covariance: Covariance) -> Floats | None:
    """The covariance matrix of all points with the variances that intervals have; None where a point has none."""
    units = np.eye(len(covariance.items))
    variances = np.array([covariance.variance(unit)[0] for unit in units])
    if not (np.isfinite(variances) & (variances > 0)).all():
        return None
    sd = np.sqrt(variances)
    return np.asarray(covariance.correlation(units) * sd[:, None] * sd)
