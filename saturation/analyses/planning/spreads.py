"""One metric's noise as a function of the votes an item, and what that says about the best number of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.analyses.planning.components import Components
from saturation.analyses.planning.costs import Costs
from saturation.analyses.planning.simulated import Simulated
from saturation.resampling.fieller import FiellerSet, fieller
from saturation.resampling.intervals import critical
from saturation.typing import Floats

NO_NOISE = "the pilot shows no noise at all: every vote on every item scores alike"
UNANIMOUS = "votes on one item never differ in score, so that a second vote adds nothing: one is enough"
ITEMS_ALIKE = (
    "the items differ no more than the noise of their votes explains, so that votes on few items are as good as votes "
    "on many: as many an item as are allowed"
)
AT_MOST = "at the largest number of votes allowed: the optimum may lie beyond (--max-votes)"
UPPER_END = "the upper end is the largest number of votes allowed: more may be as good (--max-votes)"


LAW_ERROR = 0.06
"""Standard error of ln v(N) from the form of the law: planned standard errors are off by up to 6% where label
distributions are no Dirichlet (tests/statistical/README.md)."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best number of votes an item, and the numbers that the pilot cannot tell from it."""

    budget: int
    low: int
    high: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A mean over votes: v(N) = sigma_I^2 + sigma_V^2 / N."""

    parts: Components
    level: float

    @property
    def df(self) -> float:
        """Degrees of freedom of the components."""
        return self.parts.df

    def variance(self, budget: int) -> float | None:
        """Variance of one item's value at so many votes; None where undefined or 0."""
        return self.parts.variance(budget) or None

    def log_se(self, budget: int) -> float:
        """Standard error of ln v(N)."""
        return self.parts.spread(self._relative(budget))

    def error(self, budget: int, n_items: int) -> float | None:
        """Expected squared error v(N) / I: a mean over votes has no bias. None where undefined."""
        variance = self.variance(budget)
        return None if variance is None else variance / n_items

    def log_error_se(self, budget: int, n_items: int, other: int, n_others: int) -> float:
        """Standard error of the logarithm of the ratio of two designs' expected squared errors."""
        del n_items, n_others  # known numbers: nothing about them is uncertain
        return self.parts.spread(self._relative(budget) - self._relative(other))

    def optimum(self, costs: Costs) -> Optimum | str:
        """From Fieller's set of sigma_V^2 / sigma_I^2, of which the best number of votes is a rising function."""
        items, votes = self.parts.items, self.parts.votes
        if votes <= 0:
            return NO_NOISE if items <= 0 else Optimum(1, 1, 1, UNANIMOUS)
        low, high = _positive(self._set(), items)
        best = costs.best(votes / items if items > 0 else np.inf)
        return Optimum(best, costs.best(low), costs.best(high), ITEMS_ALIKE if items <= 0 else None)

    def _relative(self, budget: int) -> Floats:
        return np.array([1.0, 1 / budget]) / self.parts.variance(budget)

    def _set(self) -> FiellerSet:
        swapped = self.parts.covariance[::-1, ::-1]
        found = fieller(self.parts.votes, self.parts.items, swapped, self.parts.df, self.level)
        return FiellerSet("whole line", None, None) if found is None else found


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A metric whose v(N) was simulated; standard errors are jackknifed over groups of items."""

    parts: Simulated
    level: float

    @property
    def df(self) -> float:
        """Degrees of freedom over groups."""
        return float(len(self.parts.variances) - 2)

    def variance(self, budget: int) -> float | None:
        """Variance of one item's value at so many votes; None where undefined or 0."""
        value = float(self._variances(budget)[0])
        return value if np.isfinite(value) and value > 0 else None

    def bias(self, budget: int) -> tuple[float, float]:
        """How far the value against so many votes lies from the value against everybody, and its standard error."""
        found = self._biases(budget)
        return float(found[0]), float(np.hypot(_jackknife(found), self.parts.mc_biases[self.parts.at(budget)]))

    def value(self, budget: int) -> tuple[float, float]:
        """The value to expect against so many votes, and its standard error in the pilot."""
        found = self.parts.values[:, self.parts.at(budget)]
        return float(found[0]), _jackknife(found)

    def log_se(self, budget: int) -> float:
        """Standard error of ln v(N): of other items, of the simulation, and of a law that is not quite right."""
        variances, place = self._variances(budget), self.parts.at(budget)
        simulated = self.parts.mc_variances[place] / variances[0]
        return float(np.sqrt(_jackknife(_log(variances)) ** 2 + simulated**2 + LAW_ERROR**2))

    def error(self, budget: int, n_items: int) -> float | None:
        """Expected squared error v(N) / I + bias^2; None where undefined."""
        return None if self.variance(budget) is None else float(self._errors(budget, n_items)[0])

    def log_error_se(self, budget: int, n_items: int, other: int, n_others: int) -> float:
        """Standard error of the logarithm of the ratio of two designs' expected squared errors."""
        return _jackknife(_log(self._errors(budget, n_items)) - _log(self._errors(other, n_others)))

    def optimum(self, costs: Costs) -> Optimum | str:
        """The best budget simulated, with those from the first to the last that are not significantly worse."""
        errors = {n: self.error(n, costs.items(n)) for n in self.parts.budgets if costs.items(n) >= 2}
        known = {n: error for n, error in errors.items() if error is not None}
        if not known:
            return NO_NOISE
        best = min(known, key=lambda n: known[n])
        edge = critical(self.level, self.df)
        near = [best]
        for n, error in known.items():
            se = self.log_error_se(n, costs.items(n), best, costs.items(best))
            if not np.log(error / known[best]) > edge * se:  # an undefined se excludes nothing
                near.append(n)
        return Optimum(best, min(near), max(near))

    def _variances(self, budget: int) -> Floats:
        return np.asarray(self.parts.variances[:, self.parts.at(budget)])

    def _biases(self, budget: int) -> Floats:
        return np.asarray(self.parts.values[:, self.parts.at(budget)] - self.parts.against_everybody)

    def _errors(self, budget: int, n_items: int) -> Floats:
        return np.asarray(self._variances(budget) / n_items + self._biases(budget) ** 2)


Spread = Linear | Drawn


def _jackknife(values: Floats) -> float:
    """Standard error from values without each of g groups (the first value is of all items)."""
    left_out = values[1:]
    size = len(left_out)
    return float(np.sqrt((size - 1) / size * ((left_out - left_out.mean()) ** 2).sum()))


def _log(values: Floats) -> Floats:
    """Logarithms; NaN where there is none."""
    return np.log(values, out=np.full(len(values), np.nan), where=values > 0)


def _positive(found: FiellerSet, items: float) -> tuple[float, float]:
    """The ends of the ratios above 0 in the set; beyond infinity the items' variance is below 0, and counts as 0."""
    if found.low is None or found.high is None:
        return 0.0, np.inf
    if found.shape == "bounded":
        return (max(found.low, 0.0), max(found.high, 0.0)) if items > 0 else (np.inf, np.inf)
    return max(found.high, 0.0) if found.low <= 0 else 0.0, np.inf
