"""Generalised least squares of a line in a basis with one rate, for every rate at once.

For a given rate the curve is level + fall g_c: two numbers with closed forms. What is left to search is the rate
alone, on a grid that is refined around the best; intervals are unions over the rates that are not much worse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from saturation.analyses.curve.forms import Form, basis, basis_slope
from saturation.typing import Floats

N_RATES = 401
_ZOOMS = 10
_FAR_WORSE = 50.0
"""A curve worse by this much (in squared standard errors) is in no interval; the dense grid ends there."""
_SINGULAR = 1e-12

AtRates = Callable[[Floats], Floats]
"""(rates,) -> (rates,): how far along the basis a number lies, so that it is level + fall x that."""


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The best line for every rate.

    Attributes
    ----------
    distance
        (budgets,) as the form measures it.
    whitener
        (budgets, budgets) W with W' W the inverse of the points' covariance.
    rates, level, fall
        (rates,) ascending; the best level and fall for each.
    squares
        (rates,) weighted residual sums of squares.
    spread
        Variances of level, their covariance, variance of fall: (rates,) each.
    best
        Index of the best rate.
    """

    distance: Floats
    whitener: Floats
    rates: Floats
    level: Floats
    fall: Floats
    squares: Floats
    spread: tuple[Floats, Floats, Floats]
    best: int

    def interval(self, at: AtRates, cut: float) -> tuple[float | None, float | None]:
        """All values of level + fall x at(rate) whose curve is worse than the best by ``cut`` at most.

        An end is None where the values have no bound: at rate 0 a curve settles at no level.
        """
        left = cut - (self.squares - self.squares[self.best])
        kept = np.flatnonzero(left >= 0)
        left, where = left[kept], at(self.rates)[kept]
        level, fall = self.level[kept], self.fall[kept]
        of_level, both, of_fall = (part[kept] for part in self.spread)
        far = ~np.isfinite(where)
        falls = np.sqrt(of_fall * left)
        opens_down = bool((far & (fall - falls < 0)).any())
        opens_up = bool((far & (fall + falls > 0)).any())
        near = ~far
        value = level[near] + fall[near] * where[near]
        variance = of_level[near] + 2 * where[near] * both[near] + where[near] ** 2 * of_fall[near]
        half = np.sqrt(variance * left[near])
        low = None if opens_down or not near.any() else float((value - half).min())
        high = None if opens_up or not near.any() else float((value + half).max())
        return low, high

    def rates_within(self, cut: float) -> tuple[float, float]:
        """The rates whose best curve is worse than the best of all by ``cut`` at most."""
        worse = np.sqrt(np.maximum(self.squares - self.squares[self.best], 0.0))
        kept = np.flatnonzero(worse <= cut**0.5)
        return self._where(worse, kept[0], -1, cut**0.5), self._where(worse, kept[-1], 1, cut**0.5)

    def _where(self, worse: Floats, inside: int, step: int, cut: float) -> float:
        """Where a curve is worse by the cut, between a rate inside and the next; the last rate where none is."""
        outside = inside + step
        if not 0 <= outside < len(worse):
            return float(self.rates[inside])
        share = (cut - worse[inside]) / (worse[outside] - worse[inside])
        return float(self.rates[inside] + share * (self.rates[outside] - self.rates[inside]))

    def slope(self, by: Floats, *, with_rate: bool) -> Floats:
        """(budgets,) derivatives by the losses of a number whose derivatives by (level, fall, fall x rate) are ``by``.

        Gauss-Newton: D (J' W' W J)^-1 J' W' W, J the derivatives of the curve. The fall in the third of them keeps J
        away from singular where a curve is nearly flat. Without ``with_rate`` the rate is taken as known (it is an end
        of the rates looked at).
        """
        rate = float(self.rates[self.best])
        columns = [np.ones(len(self.distance)), basis(np.array([rate]), self.distance)[0]]
        if with_rate:
            columns.append(basis_slope(rate, self.distance))
        own = np.stack([_times(self.whitener, column) for column in columns])
        gram = np.array([[float((a * b).sum()) for b in own] for a in own])
        weights = np.linalg.solve(gram, by[: len(own)])
        whitened = sum(w * one for w, one in zip(weights, own, strict=True))
        return _times(self.whitener.T, np.asarray(whitened))


def profile(form: Form, budgets: Floats, losses: Floats, whitener: Floats) -> Profile:
    """The best lines for a grid of rates that holds the best rate and is dense around it."""
    distance = form.distance(budgets, float(budgets[0]))
    data = _Whitened(distance, _times(whitener, losses), _times(whitener, np.ones(len(losses))), whitener)
    coarse = _coarse(form, budgets)
    best, step = _minimum(data, coarse)
    squares = data.lines(coarse)[2]
    plausible = np.flatnonzero(squares <= squares.min() + _FAR_WORSE)
    low = min(coarse[max(plausible[0] - 1, 0)], best - step)
    high = max(coarse[min(plausible[-1] + 1, len(coarse) - 1)], best + step)
    dense = np.linspace(max(low, 0.0), min(high, coarse[-1]), N_RATES)
    rates = np.unique(np.concatenate([coarse, dense, [best]]))
    level, fall, squares, spread = data.lines(rates)
    at = int(np.searchsorted(rates, best))
    return Profile(distance, whitener, rates, level, fall, squares, spread, at)


def whitener_of(covariance: Floats) -> Floats | None:
    """W with W' W the inverse of a covariance; None where it is singular."""
    values, vectors = np.linalg.eigh(covariance)
    if not np.isfinite(values).all() or values[0] <= _SINGULAR * values[-1]:
        return None
    return np.asarray((vectors / np.sqrt(values)).T)


@dataclass(frozen=True, slots=True, eq=False)
class _Whitened:
    """The points and the constant, whitened."""

    distance: Floats
    losses: Floats
    ones: Floats
    whitener: Floats

    def lines(self, rates: Floats) -> tuple[Floats, Floats, Floats, tuple[Floats, Floats, Floats]]:
        """Level, fall, residual squares and their spread for each rate.

        The constant is taken out of both sides first: normal equations of the raw columns would cancel.
        """
        g = (basis(rates, self.distance)[:, None, :] * self.whitener).sum(axis=-1)
        one, size = self.ones, float((self.ones**2).sum())
        mean_y, mean_g = float((one * self.losses).sum()) / size, (g * one).sum(axis=1) / size
        y, own = self.losses - mean_y * one, g - mean_g[:, None] * one
        squares = (own**2).sum(axis=1)
        fall = (own * y).sum(axis=1) / squares
        rest = y - fall[:, None] * own
        spread = (1 / size + mean_g**2 / squares, -mean_g / squares, 1 / squares)
        return mean_y - fall * mean_g, fall, (rest**2).sum(axis=1), spread


def _coarse(form: Form, budgets: Floats) -> Floats:
    largest = form.largest_rate(budgets)
    if form.name == "power":
        return np.linspace(0, largest, N_RATES)
    slowest = 1e-3 / float(budgets[-1] - budgets[0])
    return np.concatenate([[0.0], np.geomspace(slowest, largest, N_RATES - 1)])


def _minimum(data: _Whitened, rates: Floats) -> tuple[float, float]:
    """The best rate by ever finer grids around it, and the last step."""
    for _ in range(_ZOOMS):
        at = int(data.lines(rates)[2].argmin())
        low, high = rates[max(at - 1, 0)], rates[min(at + 1, len(rates) - 1)]
        best, step = float(rates[at]), float(high - low)
        rates = np.linspace(low, high, 21)
    return best, step


def _times(matrix: Floats, vector: Floats) -> Floats:
    return np.asarray((matrix * vector).sum(axis=1))
