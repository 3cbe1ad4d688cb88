"""How statistics move with the annotators, and how much of that the items' spread holds already.

Deleting annotator a moves the score of every item that a voted on; psi_ia is the change, about its mean over the
votes of the item (:meth:`~saturation.analyses.removals.Removals.centred`). With D_a = sum_i psi_ia the delete-one
jackknife of A annotators and the part of it that is the votes' own noise, as if no two items had a person in common,

    V_A = (A - 1)/A sum_a D_a^2,    V_w = (A - 1)/A sum_ia psi_ia^2,

differ by what people do alike on different items, (A - 1)/A sum_a sum_{i != j} psi_ia psi_ja. V_items holds V_w (votes
make item scores vary) but not that, so V_A - V_w is what an interval about another crowd adds to it, where it is
positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturation.resampling.linearized import Covariance
from saturation.typing import Floats

WITHOUT_A_VOTE = "no interval: it does not exist without one of the votes"
NOTHING_SEEN = (
    "no interval: with so few votes an item it changes alike whosever vote is left out, which shows nothing of the "
    "annotators (design items leaves them out)"
)


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """How several statistics move with the annotators.

    Attributes
    ----------
    people
        (statistics, annotators or groups) D_a.
    noise
        (statistics, n) whose squares add up to sum_ia psi_ia^2.
    growth
        (A - 1)/A.
    df, within_df
        Degrees of freedom of V_A - V_w and of V_w.
    reasons
        By statistic: why V_A is not known; it then counts as unmoved.
    """

    people: Floats
    noise: Floats
    growth: float
    df: float
    within_df: float
    reasons: dict[int, str]

    def minus(self, other: Moves) -> Moves:
        """How the differences of the same statistics of two conditions move."""
        return replace(
            self,
            people=self.people - other.people,
            noise=self.noise - other.noise,
            reasons={**other.reasons, **self.reasons},
        )

    def only(self, rows: Sequence[int]) -> Moves:
        """Some of the statistics."""
        return replace(self, people=self.people[list(rows)], noise=self.noise[list(rows)])

    def beside(self, other: Moves) -> Moves:
        """These statistics, then others that move with the same votes."""
        return replace(
            self,
            people=np.concatenate([self.people, other.people]),
            noise=np.concatenate([self.noise, other.noise]),
        )

    def added_to(self, parts: Covariance) -> Covariance:
        """The covariance of the same statistics over items and seeds, and over annotators too."""
        return replace(
            parts,
            annotators=self.growth * products(self.people),
            annotators_df=self.df,
            within=self.growth * products(self.noise),
            within_df=self.within_df,
        )

    @property
    def variances(self) -> tuple[Floats, Floats]:
        """(statistics,) V_A and V_w."""
        return self.growth * (self.people**2).sum(axis=1), self.growth * (self.noise**2).sum(axis=1)


def products(values: Floats) -> Floats:
    """(statistics, n) -> sums of products; one pair never depends on which others there are, so no BLAS."""
    return np.stack([(row * values).sum(axis=-1) for row in values])


def degrees_of_freedom(load: Floats) -> tuple[float, float]:
    """Degrees of freedom of V_A - V_w and of V_w, at least 1, from the number of votes of everybody.

    Of a sum of squares whose terms have the sizes v they are (sum v)^2 / sum v^2, less one for the mean. What people
    do alike on all their items has the size n^2, the noise of single votes the size n.

    Examples
    --------
    >>> import numpy as np
    >>> degrees_of_freedom(np.array([5, 5, 5, 5]))
    (3.0, 3.0)
    >>> degrees_of_freedom(np.array([30, 10, 10, 10]))  # 1200^2 / 840,000 - 1, at least 1; 60^2 / 1200 - 1
    (1.0, 2.0)
    """
    return _kish(load.astype(np.float64) ** 2) - 1, _kish(load.astype(np.float64)) - 1


def _kish(sizes: Floats) -> float:
    return max(float(sizes.sum() ** 2 / (sizes**2).sum()), 2.0)
