"""What the next step buys: the gain from each budget of a curve to the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from saturation.analyses.across.sides import Side
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
            yield Step(
                metric=metric.name,
                direction=metric.direction,
                budget=budget,
                budget_next=after,
                unc=study.nothing(str(reason)) if answer is None else study.answer(answer),
                p=None if answer is None else answer.p,
            )
