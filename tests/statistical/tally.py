"""Sums over replications: all that the tables need, so that a setting is one small file."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields

from tests.statistical.quantities import Answer


@dataclass(slots=True)
class Tally:
    """Counts of one quantity in one setting.

    Attributes
    ----------
    asked, defined
        Replications, and those that gave an interval.
    below, above
        Intervals that lie wholly below or above the truth (above, too: a set with a hole around it); the others hold
        it.
    bounded, width
        Intervals with two finite ends, and the sum of their widths.
    estimates, total, squares
        Replications with an estimate; sums of estimate - truth and of its square.
    """

    asked: int = 0
    defined: int = 0
    below: int = 0
    above: int = 0
    bounded: int = 0
    width: float = 0.0
    estimates: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, answer: Answer, true: float) -> None:
        """Count one replication."""
        self.asked += 1
        if answer.estimate is not None:
            self.estimates += 1
            self.total += answer.estimate - true
            self.squares += (answer.estimate - true) ** 2
        if answer.low is None or answer.high is None:
            return
        self.defined += 1
        if answer.outside:
            self.above += answer.low < true < answer.high
            return
        self.below += answer.high < true
        self.above += answer.low > true
        width = answer.high - answer.low
        if math.isfinite(width):
            self.bounded += 1
            self.width += width

    @property
    def covered(self) -> int:
        """Intervals that hold the truth."""
        return self.defined - self.below - self.above

    @property
    def coverage(self) -> float:
        """Share of intervals that hold the truth; NaN without one."""
        return self.covered / self.defined if self.defined else math.nan

    @property
    def mean_width(self) -> float:
        """Mean width of bounded intervals; NaN without one."""
        return self.width / self.bounded if self.bounded else math.nan

    @property
    def bias(self) -> float:
        """Mean of estimate - truth; NaN without an estimate."""
        return self.total / self.estimates if self.estimates else math.nan

    def to_dict(self) -> dict[str, float]:
        """For JSON."""
        return asdict(self)


def merge(tallies: Iterable[Tally]) -> Tally:
    """Their sums, added in the order given."""
    whole = Tally()
    for one in tallies:
        for field in fields(Tally):
            setattr(whole, field.name, getattr(whole, field.name) + getattr(one, field.name))
    return whole


def range_of(n: int, chance: float, level: float) -> tuple[float, float]:
    """The central range of a binomial share: outside it, on either side, with at most (1 - level) / 2 each.

    Examples
    --------
    >>> range_of(200, 0.95, 0.99)
    (0.905, 0.985)
    """
    from scipy.stats import binom

    low, high = binom.interval(level, n, chance)
    return float(low) / n, float(high) / n


def share_interval(covered: int, n: int, level: float) -> tuple[float, float]:
    """Clopper-Pearson interval of a share."""
    from scipy.stats import beta

    tail = (1 - level) / 2
    low = 0.0 if covered == 0 else float(beta.ppf(tail, covered, n - covered + 1))
    high = 1.0 if covered == n else float(beta.ppf(1 - tail, covered + 1, n - covered))
    return low, high
