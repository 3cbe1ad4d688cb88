"""Do two models agree which metrics saturate first? Kendall's tau of their fractions, metric against metric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from saturation.analyses.across.differences import agrees, row_of, without_spread
from saturation.analyses.across.sides import Side
from saturation.results import Uncertainty
from saturation.results.study import AcrossRow

CONSERVATIVE = (
    "conservative interval: of {n} pairs of metrics {known} are told apart in both studies (together at the level); "
    "the others may stand either way"
)
TOO_FEW = "undefined: fewer than two metrics have a fraction at this budget on both sides"


def rank_rows(one: Side, other: Side, baseline: str) -> Iterator[AcrossRow]:
    """Agreement of the saturation order at every budget below both ceilings.

    tau = (pairs of metrics in the same order - pairs in the opposite order) / pairs. Metrics are fixed; what is
    uncertain is each study's order. A pair's order counts as known where the interval of its difference of fractions
    excludes 0 at a level that holds for every pair on both sides together (Bonferroni); the limits of tau let every
    other pair stand either way. Metrics that are quadratic in the error saturate earlier than linear ones whatever the
    learner does, so a positive tau alone says little about learners.
    """
    names = [m.name for m in one.study.metrics if m.direction != "none"]
    ranks = {
        name: tuple(next(r for r, m in enumerate(side.study.metrics) if m.name == name) for side in (one, other))
        for name in names
        if any(m.name == name for m in other.study.metrics)
    }
    budgets = [b for b in _budgets(one, baseline) if b in _budgets(other, baseline)]
    for budget in budgets:
        known = [
            name
            for name, (i, j) in ranks.items()
            if _has(one, i, baseline, budget) and _has(other, j, baseline, budget)
        ]
        pairs = list(combinations(known, 2))
        if not pairs:
            unc = Uncertainty(None, level=one.study.joint.level, reason=TOO_FEW)
            yield row_of(one, other, "rank_agreement", unc, budget=budget, baseline=baseline, direction="none")
            continue
        level = 1 - (1 - one.study.joint.level) / (2 * len(pairs))
        signs = [
            tuple(
                _order(side, (ranks[m][at], ranks[n][at]), baseline, budget, level)
                for at, side in enumerate((one, other))
            )
            for m, n in pairs
        ]
        yield row_of(
            one, other, "rank_agreement", _tau(one, other, signs), budget=budget, baseline=baseline, direction="none"
        )


Order = tuple[int, bool]
"""Sign of f_m - f_n, and whether it is known."""


def _tau(one: Side, other: Side, signs: list[tuple[Order, ...]]) -> Uncertainty:
    study = one.study
    agreement = [a * b for (a, _), (b, _) in signs]
    known = [both for both, ((_, sure), (_, sure_too)) in zip(agreement, signs, strict=True) if sure and sure_too]
    size, open_pairs = len(signs), len(signs) - len(known)
    return Uncertainty(
        sum(agreement) / size,
        low=(sum(known) - open_pairs) / size,
        high=(sum(known) + open_pairs) / size,
        level=study.joint.level,
        interval="linearized_t",
        design=study.design if study.design == other.study.design else None,
        n_items=study.losses.n_items + (0 if other.study is study else other.study.losses.n_items),
        n_cells=study.losses.n_cells + (0 if other.study is study else other.study.losses.n_cells),
        reason=CONSERVATIVE.format(n=size, known=len(known)),
    )


def _order(side: Side, ranks: tuple[int, int], baseline: str, budget: int, level: float) -> Order:
    joint = replace(side.study.joint, level=level)
    first, second = (side.contrasts(rank, baseline)[budget] for rank in ranks)
    answer, _ = joint.difference(first, second)
    made = [side.fractions(rank, baseline)[budget].se for rank in ranks]
    if agrees(answer, made):
        return int(np.sign(without_spread(side.study, answer, made).estimate or 0.0)), False
    low, high = answer.interval.low, answer.interval.high
    return int(np.sign(answer.estimate)), low is not None and high is not None and (low > 0 or high < 0)


def _has(side: Side, rank: int, baseline: str, budget: int) -> bool:
    made = side.fractions(rank, baseline).get(budget)
    return made is not None and made.estimate is not None


def _budgets(side: Side, baseline: str) -> list[int]:
    rank = next((r for r, m in enumerate(side.study.metrics) if m.direction != "none"), None)
    return [] if rank is None else list(side.contrasts(rank, baseline))
