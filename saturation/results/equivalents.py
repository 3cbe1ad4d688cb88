"""Rows of ``equivalents``: how many annotators a model is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from saturation.results.result import Result
from saturation.results.rows import Uncertainty

if TYPE_CHECKING:
    from saturation.typing import Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalentsRow:
    """What a model is worth by one metric, or one of the scores that this was read from.

    Attributes
    ----------
    quantity
        ``equivalent``: annotators; ``score``: of the model; ``crowd``: of ``crowd_size`` annotators together.
    metric
        The metric of ``score`` and ``crowd``, and by which the model is worth so many annotators.
    condition
        Text form; None for a crowd.
    crowd_size
        N of a crowd, 0 for nobody (the base rate).
    reference
        ``held_out_vote``: one vote that is not the crowd's, averaged over all; ``disjoint``: the same R other votes for
        model and crowd.
    reference_size
        Votes that are scored against: 1, or R.
    direction
        Which way the metric is better.
    unc
        Annotators, or the metric's own units. An interval whose end is null while it has a method is open there.
    mc_se
        Monte Carlo standard error of the estimate; None where it is exact.
    censored
        ``above``: worth more than the largest crowd; ``below``: worse than asking nobody.
    """

    quantity: str
    metric: str
    condition: str | None = None
    crowd_size: int | None = None
    reference: str
    reference_size: int | None
    direction: Direction
    unc: Uncertainty
    mc_se: float | None = None
    censored: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalentsResult(Result[EquivalentsRow]):
    """Annotators that models are worth, with the scores of crowds that they were compared with."""

    command: ClassVar[str] = "equivalents"
    row_type = EquivalentsRow
