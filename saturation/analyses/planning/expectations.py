"""What a design would show: standard error, width of the interval, power."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.analyses.planning.costs import Costs
from saturation.analyses.planning.people import People
from saturation.analyses.planning.spreads import Spread
from saturation.resampling.intervals import critical

POWER = 0.8
"""Power at which a difference counts as detectable."""


@dataclass(frozen=True, slots=True)
class Range:
    """A number with an interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Expected:
    """The standard error of a design, and the degrees of freedom of the interval built from it."""

    se: Range
    df: float

    def width(self, level: float) -> Range:
        """Of the interval, 2 t se."""
        factor = 2 * critical(level, self.df)
        return Range(factor * self.se.value, factor * self.se.low, factor * self.se.high)


def expected(spread: Spread, people: People | None, costs: Costs, budget: int, n_people: int | None) -> Expected | None:
    """Standard error with ``budget`` votes on as many items as are affordable; None where undefined.

    Var = v(N) / I + sigma_A^2 / A. The interval joins those of the two terms (Zou and Donner 2008): the lower end lies
    below by the root of the sum of the squares of their distances to their own lower ends, the upper end likewise.
    """
    variance, n_items = spread.variance(budget), costs.items(budget)
    if variance is None or n_items < 2:
        return None
    stretch = float(np.exp(critical(spread.level, spread.df) * spread.log_se(budget)))
    of_items = Range(variance / n_items, variance / n_items / stretch, variance / n_items * stretch)
    of_people = people_range(people, n_people, spread.level)
    total = of_items.value + of_people.value
    below = ((of_items.value - of_items.low) ** 2 + (of_people.value - of_people.low) ** 2) ** 0.5
    above = ((of_items.high - of_items.value) ** 2 + (of_people.high - of_people.value) ** 2) ** 0.5
    se = Range(total**0.5, max(total - below, 0.0) ** 0.5, (total + above) ** 0.5)
    df = float(n_items - 1)
    if of_people.value > 0 and n_people is not None:
        df = total**2 / (of_items.value**2 / df + of_people.value**2 / max(n_people - 1, 1))
    return Expected(se, max(df, 1.0))


def people_range(people: People | None, n_people: int | None, level: float) -> Range:
    """sigma_A^2 / A; zeros where it is not known."""
    if people is None or n_people is None or people.reason is not None:
        return Range(0.0, 0.0, 0.0)
    value, made = max(people.variance, 0.0), people.interval(level)
    low, high = (value if end is None else end for end in (made.low, made.high))
    return Range(value / n_people, min(low, value) / n_people, max(high, value) / n_people)
