"""How far people differ: the variance over annotators of their mean score, sigma_A^2.

Let y be the score against a vote, y = item + person + rest. Within an item, deviations r from the item's mean are free
of the item. Of the products of one person's deviations on *different* items the rest drops out, so that

    sigma_A^2 = [sum_a D_a^2 - sum_ia r_ia^2] / [sum_ab C_ab^2 - sum_i sum_ab C_iab^2],    D_a = sum_i r_ia,

is unbiased for any assignment of people to items and whatever the rest's variance is from item to item; C_i = diag(x_i)
- x_i x_i' / n_i for the votes x_i of item i, and C is their sum (the method of moments, Henderson 1953; Searle, Casella
and McCulloch 1992, chapter 5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from saturation.resampling.intervals import Interval, none
from saturation.tables.panel import Ballots
from saturation.typing import Counts, Floats, Ints

NOBODY_TWICE = "nobody voted on two items that others voted on too: people cannot be told from noise"
ONE_PERSON = "one annotator: no spread over annotators"
NO_SPREAD = "no interval: on every item all people score alike"


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """The spread between annotators.

    Attributes
    ----------
    variance
        sigma_A^2 as estimated, which may be below 0; NaN where it cannot be.
    shared
        What is missing from the variance between the items' means since items share people: sigma_A^2 times the
        chance that two votes on different items are one person's.
    n_annotators
        Who voted.
    squares, noise, weight, df
        sum_a D_a^2, sum_ia r_ia^2, the denominator, and the degrees of freedom of the first: what an interval needs.
    reason
        Why there is no estimate.
    """

    variance: float
    shared: float
    n_annotators: int
    squares: float = 0.0
    noise: float = 0.0
    weight: float = 0.0
    df: float = 0.0
    reason: str | None = None

    def interval(self, level: float) -> Interval:
        """Of sigma_A^2: sum_a D_a^2 is nearly a multiple of a chi-square, the noise taken off it is known well."""
        if self.reason is not None:
            return none(self.reason)
        if self.squares <= 0:
            return none(NO_SPREAD)
        low, high = (
            (self.df * self.squares / float(special.chdtri(self.df, tail)) - self.noise) / self.weight
            for tail in ((1 - level) / 2, (1 + level) / 2)
        )
        return Interval(max(low, 0.0), max(high, 0.0), "normal")


def people_of(table: Floats, counts: Counts, ballots: Ballots) -> People:
    """The spread between annotators of a score.

    Parameters
    ----------
    table
        (items, labels) score of the forecast of an item against a vote for a label.
    counts
        (items, labels) votes.
    ballots
        The same votes with their annotators.
    """
    n_people = len(ballots.annotator_ids)
    if n_people < 2:
        return People(np.nan, 0.0, n_people, reason=ONE_PERSON)
    n = counts.sum(axis=1).astype(np.float64)
    scores = table[ballots.item, ballots.label]
    means = np.bincount(ballots.item, scores, minlength=len(n)) / n
    item, person, votes, deviation = _pairs(ballots, scores - means[ballots.item])
    own = _own_squares(item, person, votes, n, n_people)
    whole = _all_squares(item, person, votes, n, n_people)
    of_people, noise = _sums(person, deviation, n_people), _sums(person, deviation**2, n_people)
    weight = float((whole - own).sum())
    if weight <= 1e-9 * float(whole.sum()):
        return People(np.nan, 0.0, n_people, reason=NOBODY_TWICE)
    variance = float((of_people**2).sum() - noise.sum()) / weight
    return People(
        variance=variance,
        shared=max(variance, 0.0) * _chance_of_one_person(item, person, votes, n, n_people),
        n_annotators=n_people,
        squares=float((of_people**2).sum()),
        noise=float(noise.sum()),
        weight=weight,
        df=_joined(
            _effective(max(variance, 0.0) * whole + noise),
            _shared_variance(item, person, deviation, of_people),
            float((of_people**2).sum()),
        ),
    )


def _pairs(ballots: Ballots, deviations: Floats) -> tuple[Ints, Ints, Floats, Floats]:
    """Every (item, annotator) once: both, the votes and the sum of the deviations."""
    n_people = len(ballots.annotator_ids)
    code, place = np.unique(ballots.item * n_people + ballots.annotator, return_inverse=True)
    votes = np.bincount(place).astype(np.float64)
    return code // n_people, code % n_people, votes, _sums(place, deviations, len(code))


def _own_squares(item: Ints, person: Ints, votes: Floats, n: Floats, n_people: int) -> Floats:
    """(annotators,) sum_i sum_b C_iab^2."""
    together = _sums(item, votes**2, len(n))[item] / n[item] ** 2
    return _sums(person, votes**2 * (1 - 2 * votes / n[item] + together), n_people)


def _all_squares(item: Ints, person: Ints, votes: Floats, n: Floats, n_people: int) -> Floats:
    """(annotators,) sum_b C_ab^2."""
    from scipy.sparse import csr_array

    scaled = csr_array((votes / np.sqrt(n[item]), (item, person)), shape=(len(n), n_people))
    common = scaled.T @ scaled  # (annotators, annotators) sum_i x_ia x_ib / n_i
    load = _sums(person, votes, n_people)
    squares: Floats = np.asarray(common.multiply(common).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(squares - 2 * load * common.diagonal() + load**2)


def _chance_of_one_person(item: Ints, person: Ints, votes: Floats, n: Floats, n_people: int) -> float:
    """Mean over pairs of items of sum_a x_ia x_ja / (n_i n_j)."""
    share = votes / n[item]
    both = float((_sums(person, share, n_people) ** 2).sum() - (share**2).sum())
    return both / (len(n) * (len(n) - 1))


def _shared_variance(item: Ints, person: Ints, deviation: Floats, of_people: Floats) -> float:
    """What items add to the variance of sum_a D_a^2: people of a kind share what is peculiar to them on an item.

    The products of different people on one item; a person alone is in the chi-square already.
    """
    seen = np.bincount(person, minlength=len(of_people))
    own = of_people[person] * (deviation - (of_people / np.maximum(seen, 1))[person])
    return 4 * max(float((np.bincount(item, own) ** 2).sum() - (own**2).sum()), 0.0)


def _joined(df: float, variance: float, squares: float) -> float:
    """Degrees of freedom of a sum of squares to whose variance the items add theirs."""
    return 2 / (2 / df + variance / squares**2) if squares > 0 else df


def _sums(place: Ints, values: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(place, values, minlength=size), dtype=np.float64)


def _effective(expected: Floats) -> float:
    """Degrees of freedom of a sum of squares with these expectations; one is lost to the mean."""
    return max(float(expected.sum() ** 2 / (expected**2).sum()) - 1, 1.0)
