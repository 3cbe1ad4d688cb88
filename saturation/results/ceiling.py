"""Rows of ``ceiling``: what people themselves would score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from saturation.results.result import Result
from saturation.results.rows import Uncertainty

if TYPE_CHECKING:
    from saturation.typing import Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingRow:
    """A human ceiling by one metric, or how far a model is from it.

    Attributes
    ----------
    quantity
        ``ceiling``; ``score`` of a model against the same votes; ``distance``: model minus ceiling.
    kind
        ``noise_only``: a model that knows the population exactly, so that only the noise of the votes is left;
        ``another_crowd``: the votes of other people.
    metric
        By which, in its own units.
    condition
        Text form; None for a ceiling.
    combiner
        How the other crowd's votes became one distribution: ``raw`` shares, or ``dirichlet``, (c + A pi)/(N + A); None
        for ``noise_only``.
    crowd_size
        Votes an item of the other crowd; None where there is none, or where it differs between items.
    reference_size
        Votes an item that are scored against; None where it differs between items.
    direction
        Which way the metric is better.
    mc_se
        Monte Carlo standard error of the estimate; None where it is not drawn.
    beats
        On ``distance`` only: whether the interval lies on the better side of 0; None where there is no interval.
    """

    quantity: str
    kind: str
    metric: str
    condition: str | None = None
    combiner: str | None = None
    crowd_size: int | None = None
    reference_size: int | None = None
    direction: Direction
    unc: Uncertainty
    mc_se: float | None = None
    beats: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingResult(Result[CeilingRow]):
    """Human ceilings, and with predictions how far models are from them."""

    command: ClassVar[str] = "ceiling"
    row_type = CeilingRow
