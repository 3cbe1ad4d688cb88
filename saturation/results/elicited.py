"""Rows of ``elicit-compare``: soft votes and plain votes against the same other votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from saturation.results.result import Result
from saturation.results.rows import Uncertainty

if TYPE_CHECKING:
    from saturation.typing import Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class ElicitedRow:
    """One number about soft votes and plain votes.

    Attributes
    ----------
    quantity
        ``value``: score of the mean of ``n`` votes of one ``side``; ``equivalent_votes``: plain votes that score as
        ``n`` soft votes do; ``limit``: as all soft votes there could be; ``break_even_seconds``: the time of a plain
        vote at which both take as long; ``time_ratio``: time of the equivalent plain votes over that of ``n`` soft
        votes, above 1 where soft votes are cheaper; ``bias_squared``, ``variance``: of one soft vote against the
        distribution of votes.
    metric
        The metric of ``value``, and by which the others are equivalent.
    side
        ``soft`` or ``votes``; None for what is about both.
    n
        Votes an item; None on the side ``soft`` for all that each item has, where items differ.
    seconds
        Annotator seconds an item that ``n`` votes take; None where not known.
    reference_size
        Other plain votes that both sides are scored against.
    direction
        Which way the metric is better.
    unc
        In the metric's units, votes, seconds, or a ratio.
    mc_se
        Monte Carlo standard error of the estimate.
    censored
        ``above``: more plain votes than were tried; ``below``: fewer than one.
    """

    quantity: str
    metric: str
    side: str | None = None
    n: int | None = None
    seconds: float | None = None
    reference_size: int | None = None
    direction: Direction
    unc: Uncertainty
    mc_se: float | None = None
    censored: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ElicitedResult(Result[ElicitedRow]):
    """Soft votes and plain votes side by side."""

    command: ClassVar[str] = "elicit-compare"
    row_type = ElicitedRow
