"""Where a crowd's curve crosses a model's score: the number of annotators a model is worth, and its interval.

Between two crowd sizes the curve is interpolated on 1/(N + A), on which losses of combined votes are nearly straight.
The interval inverts the paired test: it holds every N at which the interval of score(model) - score(crowd of N)
contains 0, so it is never a spread of resampled N, which would be undefined where a resampled curve is not crossed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.analyses.worth.standing import Standing
from saturation.resampling.intervals import critical
from saturation.typing import Floats

POINTS = 4
"""Places between two neighbouring crowd sizes at which the test is tried before its limits are refined."""
_LEAST_STRENGTH = 1e-3


@dataclass(frozen=True, slots=True)
class Worth:
    """How many annotators a model is worth.

    Attributes
    ----------
    estimate
        None where the curve is not crossed.
    low, high
        Ends of the interval; None: ``high`` beyond the crowds tried, ``low`` below nobody.
    censored
        ``below``: worse than nobody; ``above``: better than the largest crowd; None.
    tested
        Whether there is an interval at all.
    contrast
        (statistics,) model minus crowd at the estimate; None where censored.
    slope
        Change of the crowd's score with one more annotator there.
    """

    estimate: float | None
    low: float | None
    high: float | None
    censored: str | None
    tested: bool
    contrast: Floats | None = None
    slope: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """One model against a curve of crowds.

    Attributes
    ----------
    standing
        Model and crowds.
    model
        Statistic of the model.
    crowds
        Statistics of the crowds, by size.
    sizes
        (crowds,) ascending N.
    strength
        A of the interpolation.
    level
        Nominal coverage.
    """

    standing: Standing
    model: int
    crowds: tuple[int, ...]
    sizes: tuple[int, ...]
    strength: float
    level: float

    @property
    def better(self) -> float:
        """1 where a larger score is worse."""
        return -1.0 if self.standing.metric.direction == "higher" else 1.0

    @property
    def rises(self) -> bool:
        """Whether the largest crowd scores better than nobody; a single size has nothing to rise to."""
        first, last = (self.standing.estimates[self.crowds[g]] for g in (0, -1))
        return len(self.crowds) == 1 or self.better * float(last - first) < 0

    def size_at(self, place: float) -> float:
        """N at a place along the curve: place 1.5 is halfway on 1/(N + A) between the second and the third crowd."""
        left, share = self._segment(place)
        if share == 0:
            return float(self.sizes[left])
        ends = [1 / (self.sizes[g] + max(self.strength, _LEAST_STRENGTH)) for g in (left, left + 1)]
        return 1 / ((1 - share) * ends[0] + share * ends[1]) - max(self.strength, _LEAST_STRENGTH)

    def contrast(self, place: float) -> Floats:
        """(statistics,) model minus crowd at a place."""
        left, share = self._segment(place)
        found = self.standing.unit(self.model) - (1 - share) * self.standing.unit(self.crowds[left])
        return found if share == 0 else found - share * self.standing.unit(self.crowds[left + 1])

    def excess(self, place: float) -> float:
        """How much worse than the crowd at a place the model is, in the metric's units."""
        left, share = self._segment(place)
        estimates = self.standing.estimates
        crowd = estimates[self.crowds[left]]
        if share:
            crowd = (1 - share) * crowd + share * estimates[self.crowds[left + 1]]
        return self.better * float(estimates[self.model] - crowd)

    def rejected(self, place: float) -> float:
        """Positive where the test at the level says that model and crowd differ, negative where it does not."""
        assert self.standing.spread is not None
        variance, df = self.standing.spread.variance(self.contrast(place))
        return float(abs(self.excess(place)) - critical(self.level, df) * max(variance, 0.0) ** 0.5)

    def _segment(self, place: float) -> tuple[int, float]:
        left = min(int(place), len(self.sizes) - 1)
        return left, place - left


def worth_of(track: Track) -> Worth:
    """The first crossing, from nobody upwards, and all sizes that the paired test does not tell from the model."""
    last = len(track.sizes) - 1
    at_sizes = [track.excess(float(g)) for g in range(last + 1)]
    place = _crossing(at_sizes)
    censored = None if place is not None else "below" if at_sizes[0] > 0 else "above"
    limits = None if track.standing.spread is None else _limits(track, place)
    low, high = _ends(track, limits, censored)
    if place is None:
        return Worth(None, low, high, censored, limits is not None)
    return Worth(track.size_at(place), low, high, None, limits is not None, track.contrast(place), _slope(track, place))


def _crossing(excess: list[float]) -> float | None:
    """The place where the model stops being better than the crowd; None where it is worse from the start or never."""
    if excess[0] > 0:
        return None
    if excess[0] == 0:
        return 0.0
    for g in range(1, len(excess)):
        if excess[g] >= 0:
            return g - 1 + excess[g - 1] / (excess[g - 1] - excess[g])
    return None


def _limits(track: Track, crossing: float | None) -> tuple[float | None, float | None] | tuple[()]:
    """Places of the first and the last crowd that is not rejected, None at an open end; () where all are rejected.

    The crossing itself, where there is no difference, is never rejected, however narrow the interval around it.
    """
    last = len(track.sizes) - 1
    tried = {float(p) for p in np.linspace(0, last, last * POINTS + 1)} | (
        {crossing} if crossing is not None else set()
    )
    places = sorted(tried)
    kept = [p for p, place in enumerate(places) if place == crossing or track.rejected(place) <= 0]
    if not kept:
        return ()
    first, final = kept[0], kept[-1]
    low = None if first == 0 else _edge(track, places[first], places[first - 1])
    high = None if final == len(places) - 1 else _edge(track, places[final], places[final + 1])
    return low, high


def _edge(track: Track, inside: float, outside: float) -> float:
    for _ in range(36):
        middle = (inside + outside) / 2
        if track.rejected(middle) <= 0:
            inside = middle
        else:
            outside = middle
    return inside


def _ends(
    track: Track, limits: tuple[float | None, float | None] | tuple[()] | None, censored: str | None
) -> tuple[float | None, float | None]:
    """Limits in annotators. Nobody is the least there can be; the largest crowd is not the most."""
    if limits is None:
        return None, None
    if not limits:  # told from every crowd tried
        return (float(track.sizes[-1]), None) if censored == "above" else (None, float(track.sizes[0]))
    low, high = limits
    return 0.0 if low is None else track.size_at(low), None if high is None else track.size_at(high)


def _slope(track: Track, place: float) -> float | None:
    """Change of the crowd's score a further annotator brings at a place."""
    left = min(int(place), len(track.sizes) - 2)
    if left < 0:
        return None
    share, width = place - left, track.strength if track.strength > _LEAST_STRENGTH else _LEAST_STRENGTH
    estimates = track.standing.estimates
    ends = [1 / (track.sizes[g] + width) for g in (left, left + 1)]
    per_inverse = float(estimates[track.crowds[left + 1]] - estimates[track.crowds[left]]) / (ends[1] - ends[0])
    inverse = (1 - share) * ends[0] + share * ends[1]
    return -per_inverse * inverse**2
