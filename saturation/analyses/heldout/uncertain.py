"""A number against each part of the votes and its change between parts, all on the same items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.annotator_part import moves_of
from saturation.analyses.cases import with_reason
from saturation.analyses.context import Sample, Statistic
from saturation.analyses.crowd import Moves
from saturation.analyses.heldout.divisions import NAMES, Part
from saturation.analyses.heldout.measured import Measured
from saturation.resampling import intervals
from saturation.resampling.intervals import Interval
from saturation.resampling.linearized import Covariance, Influence, covariance
from saturation.typing import Floats

ONE_ITEM = "one item only: no spread over items"
WITHOUT_AN_ITEM = "it does not exist without one of the items"
SAME = "the same on both sides whatever the model: its correction is unbiased at any number of votes"
NO_CHANGE = "the same on every item: no spread to build an interval from"
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Number:
    """An estimate with its interval; estimate None: why is in the interval."""

    estimate: float | None
    interval: Interval
    se: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """One statistic against several parts.

    Attributes
    ----------
    sample
        Cells and items.
    measured
        By part; None where the statistic does not exist there.
    moves
        By part: how it moves with the annotators; None where that is not known.
    level
        Nominal coverage.
    is_correlation
        Whether intervals with other annotators are made on Fisher's z.
    """

    sample: Sample
    measured: tuple[Measured | None, ...]
    moves: tuple[Moves | None, ...]
    level: float
    is_correlation: bool = False

    def alone(self, part: int, condition: int) -> Number:
        """The statistic against one part."""
        own = self.measured[part]
        assert own is not None, "asked for where it exists"
        moved = self.moves[part]
        if moved is not None and condition in moved.reasons and np.isfinite(own.values[condition]):
            return Number(float(own.values[condition]), intervals.none(moved.reasons[condition]))
        people = None if moved is None else _people_of(moved, condition)
        made = self._number((own,), (1.0,), condition, people)
        if people is None or not self.is_correlation or made.interval.low is None:
            return made
        return self._on_z(made, own, condition, people)

    def difference(self, one: int, other: int, condition: int) -> Number:
        """Against one part minus against the other."""
        pair = (self.measured[one], self.measured[other])
        assert pair[0] is not None, "asked for where both exist"
        assert pair[1] is not None, "asked for where both exist"
        apart = NAMES[other] != "all"
        people = _people_of_pair(self.moves[one], self.moves[other], condition, apart=apart)
        made = self._number((pair[0], pair[1]), (1.0, -1.0), condition, people)
        size = max(abs(own.values[condition]) for own in pair if own is not None)
        if made.estimate is None or made.se is None or max(abs(made.estimate), made.se) > _ROUNDING * max(size, 1.0):
            return made
        if any(one is not None and one.estimator == "exact" for one in pair):
            return Number(0.0, Interval(0.0, 0.0, "exact", SAME), 0.0)
        return Number(0.0, intervals.none(NO_CHANGE))

    def _on_z(self, made: Number, own: Measured, condition: int, people: _People) -> Number:
        """A correlation whose annotators change, on Fisher's z."""
        assert made.estimate is not None, "it has an interval"
        assert made.se is not None, "it has an interval"
        if abs(made.estimate) >= 1:
            return made
        parts = people.added_to(self._influence((own,), (1.0,), condition, made.estimate))
        _, df = parts.variance(np.array([1.0]))
        sd_z = made.se / (1 - made.estimate**2)
        on_z = intervals.fisher_z(made.estimate, sd_z, self.level, df, "linearized_t")
        return replace(made, interval=with_reason(on_z, parts.reason))

    def _number(
        self, several: tuple[Measured, ...], signs: tuple[float, ...], condition: int, people: _People | None
    ) -> Number:
        estimate = sum(sign * float(one.values[condition]) for sign, one in zip(signs, several, strict=True))
        if not np.isfinite(estimate):
            return Number(None, intervals.none(_lost(several, condition)))
        if min(len(places) for places in self.sample.places) < 2:
            return Number(estimate, intervals.none(ONE_ITEM))
        influence = self._influence(several, signs, condition, estimate)
        if not all(np.isfinite(values).all() for values in influence.values):
            return Number(estimate, intervals.none(WITHOUT_AN_ITEM))
        parts = covariance(influence) if people is None else people.added_to(influence)
        alone = np.array([1.0])
        variance, _ = parts.variance(alone)
        return Number(estimate, _interval(parts, estimate, alone, self.level), float(variance**0.5))

    def _influence(
        self, several: tuple[Measured, ...], signs: tuple[float, ...], condition: int, estimate: float
    ) -> Influence:
        def combined(of: Sequence[tuple[Floats, ...]]) -> tuple[Floats, ...]:
            return tuple(
                np.add.reduce([sign * one[split][condition] for sign, one in zip(signs, of, strict=True)])[None]
                for split in range(len(self.sample.places))
            )

        return Influence(
            estimates=np.array([estimate]),
            cells=combined([one.cells for one in several]),
            values=combined([one.moves for one in several]),
            items_of_split=self.sample.places,
            n_items=self.sample.n_items,
        )


@dataclass(frozen=True, slots=True)
class _People:
    """What the annotators add: V_A, V_w and their degrees of freedom."""

    whole: float
    within: float
    df: float
    within_df: float

    def added_to(self, influence: Influence) -> Covariance:
        whole, within = np.array([[self.whole]]), np.array([[self.within]])
        return covariance(influence, whole, self.df, within, self.within_df)


def moves_with_people(sample: Sample, statistics: Sequence[Statistic], part: Part, seed: int) -> list[Moves | None]:
    """How statistics against one part move with its annotators; None where ids are not known, or of one person."""
    if part.ballots is None or len(np.unique(part.ballots.annotator)) < 2:  # ids may be of the other pool
        return [None] * len(statistics)
    human = replace(sample.human, counts=part.draws[0])
    return list(moves_of(replace(sample, human=human, ballots=part.ballots), statistics, seed))


def _people_of(moved: Moves, condition: int) -> _People:
    whole, within = moved.variances
    return _People(float(whole[condition]), float(within[condition]), moved.df, moved.within_df)


def _people_of_pair(one: Moves | None, other: Moves | None, condition: int, *, apart: bool) -> _People | None:
    """Of a difference. Of parts that share no vote the noise of single votes adds up; else V_w is not taken off."""
    if one is None or other is None or one.people.shape != other.people.shape:
        return None
    if condition in one.reasons or condition in other.reasons:
        return None
    change = one.people[condition] - other.people[condition]
    whole, df = one.growth * float((change**2).sum()), min(one.df, other.df)
    if not apart:
        return _People(whole, 0.0, df, float("inf"))
    within = float(one.variances[1][condition] + other.variances[1][condition])
    return _People(whole, within, df, min(one.within_df, other.within_df))


def _interval(parts: Covariance, estimate: float, alone: Floats, level: float) -> Interval:
    made = parts.interval(estimate, alone, level)
    return made if made.low is not None else with_reason(made, parts.reason)


def _lost(several: Sequence[Measured], condition: int) -> str:
    """Why a number does not exist."""
    for one in several:
        values = np.concatenate([cells[condition] for cells in one.cells])
        lost = int((~np.isfinite(values)).sum())
        if lost:
            where = f" (in {lost} of {len(values)} cells)" if len(values) > 1 else ""
            return f"{one.undefined}{where}"
    return "one of the two is infinite"
