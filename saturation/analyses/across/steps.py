"""What the next step buys: the gain from each budget of a curve to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from saturation.analyses.across.differences import agrees, without_spread
from saturation.analyses.across.sides import Side
from saturation.analyses.curve.study import Study
from saturation.analyses.joint import Answer
from saturation.results import Uncertainty
from saturation.typing import Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """l_N - l_next of one metric, positive where more votes help."""

    metric: str
    direction: Direction
    budget: int
    budget_next: int
    unc: Uncertainty
    p: float | None


def steps_of(side: Side) -> Iterator[Step]:
    """Every step of every metric that has a better and a worse, with paired intervals."""
    study = side.study
    points = [(b, m) for b, m in zip(side.curve.budgets, side.curve.members, strict=True) if b is not None]
    for rank, metric in enumerate(study.metrics):
        if metric.direction == "none":
            continue
        for (budget, here), (after, there) in pairwise(points):
            reason = study.losses.reason(rank, here, there)
            answer = None if reason else study.joint.contrast(study.losses.difference(rank, here, there))
            own = [study.joint.contrast(study.losses.unit(rank, member)).se for member in (here, there)]
            still = answer is not None and agrees(answer, own)
            yield Step(
                metric=metric.name,
                direction=metric.direction,
                budget=budget,
                budget_next=after,
                unc=_gain(study, answer, own, reason),
                p=None if answer is None or still else answer.p,
            )


def _gain(study: Study, answer: Answer | None, own: Sequence[float | None], reason: str | None) -> Uncertainty:
    """A step with its interval, or why it has none."""
    if answer is None:
        return study.nothing(str(reason))
    return without_spread(study, answer, own) if agrees(answer, own) else study.answer(answer)
