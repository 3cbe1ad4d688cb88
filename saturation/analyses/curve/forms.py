"""The two forms that a curve may be fitted with; functions of numbers of votes that know no data.

Both are written l(N) = level + slope g_c(N) with g_c(N_1) = 0 at the smallest budget, so that the slowest curve (rate
c = 0) is a limit like any other: a straight line in log N, or in N, which settles at no level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.typing import Floats

_SERIES, _SERIES_OF_SLOPE = 1e-6, 1e-3
"""Below them the power series are more exact than the quotients, which cancel."""


@dataclass(frozen=True, slots=True)
class Form:
    """A family of curves with one rate.

    Attributes
    ----------
    name
        As options and rows spell it.
    words, formula
        For people.
    rate_words
        What c is in the formula.
    """

    name: str
    words: str
    formula: str
    rate_words: str

    def distance(self, budgets: Floats | float, first: float) -> Floats:
        """What the rate multiplies: log (N / N_1), or N - N_1."""
        n = np.asarray(budgets, dtype=np.float64)
        return np.log(n / first) if self.name == "power" else n - first

    def at(self, distance: float, first: float) -> float:
        """The number of votes at a distance from the smallest budget."""
        return float(first * np.exp(distance)) if self.name == "power" else first + distance

    def largest_rate(self, budgets: Floats) -> float:
        """The end of the rates looked at: 3, or where e^-5 of the fall is left after the smallest step."""
        return 3.0 if self.name == "power" else 5.0 / float(np.diff(budgets).min())


POWER = Form("power", "power law", "a + b N^-c", "exponent c")
EXPONENTIAL = Form("exponential", "exponential", "a + b exp(-c N)", "rate c")
FORMS = {form.name: form for form in (POWER, EXPONENTIAL)}


def basis(rates: Floats, distance: Floats) -> Floats:
    """(rates, budgets) g_c = (1 - exp(-c x)) / c at x = ``distance``; x itself at c = 0.

    Examples
    --------
    >>> basis(np.array([0.0, 1.0]), np.log([1.0, 2.0])).round(6).tolist()  # ln 2; 1 - 1/2
    [[0.0, 0.693147], [0.0, 0.5]]
    """
    t = np.multiply.outer(np.asarray(rates, dtype=np.float64), distance)
    small = np.abs(t) < _SERIES
    share = np.where(small, 1 - t / 2, -np.expm1(-t) / np.where(small, 1.0, t))
    return np.asarray(distance * share)


def basis_slope(rate: float, distance: Floats) -> Floats:
    """(budgets,) the derivative of g_c by c: (x exp(-c x) - g_c) / c, -x^2 / 2 at c = 0."""
    t = rate * distance
    small = np.abs(t) < _SERIES_OF_SLOPE
    safe = np.where(small, 1.0, t)
    series = -1 / 2 + t / 3 - t**2 / 8 + t**3 / 30
    return np.asarray(distance**2 * np.where(small, series, (np.exp(-t) + np.expm1(-t) / safe) / safe))


def end(rates: Floats) -> Floats:
    """(rates,) the value that g_c settles at, 1/c; infinite at c = 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(1 / np.asarray(rates, dtype=np.float64))
