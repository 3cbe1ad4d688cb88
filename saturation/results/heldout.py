"""Rows of ``heldout``: scores against votes that training did not see, beside those against the other votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from saturation.conditions import Condition
from saturation.results.result import Result
from saturation.results.rows import Uncertainty

if TYPE_CHECKING:
    from saturation.typing import Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutRow:
    """One metric of one condition against one part of the votes, or its change from one part to another.

    Attributes
    ----------
    pool
        Scored against: ``heldout``, ``train``, ``all`` votes; ``heldout - all`` and ``heldout - train`` are differences
        on the same items.
    votes
        Votes an item in it, the harmonic mean over items; None for a difference.
    repeats
        Random divisions that Monte Carlo values are means over; None where no value of the row is.
    direction
        Which way the metric is better.
    unc
        The raw value against these votes.
    mc_se
        Monte Carlo standard error of the raw value; None where there is none.
    floor
        What a perfect model would be expected to score against so few votes.
    corrected, corrected_low, corrected_high
        The value against the population; of the entropy correlation r / sqrt(R), disattenuated.
    reliability, reliability_low, reliability_high
        Of the entropy correlation: R, how well the entropies of so many votes predict those of as many others.
    """

    metric: str
    condition: Condition
    pool: str
    votes: float | None = None
    repeats: int | None = None
    direction: Direction
    unc: Uncertainty
    mc_se: float | None = None
    floor: float | None = None
    corrected: float | None = None
    corrected_low: float | None = None
    corrected_high: float | None = None
    reliability: float | None = None
    reliability_low: float | None = None
    reliability_high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutResult(Result[HeldOutRow]):
    """Scores against held-out votes, training votes and all votes, and the differences between them."""

    command: ClassVar[str] = "heldout"
    row_type = HeldOutRow
