"""How a label-side curve moves with the people who voted: its points once more with a vote gone from every item.

Of N votes against R others, an item with n = N + R votes has no such number when one of them is gone. So all votes are
looked at with R - 1 others instead, on n - 1 and, as the mean over the votes that can go, on all n; their difference
is what the vote brings. Where a smaller R makes the whole number larger, differences shrink by the same factor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.crowd import Moves, degrees_of_freedom
from saturation.analyses.labels import exact as label_exact
from saturation.analyses.labels.plan import Plan
from saturation.analyses.labels.series import Point
from saturation.analyses.redrawn import of_design
from saturation.analyses.removals import Removals
from saturation.metrics.metric import Metric
from saturation.resampling.designs import DESIGNS
from saturation.resampling.exact_cells import prepare
from saturation.resampling.exact_moments import Draw, additive_moments
from saturation.resampling.exact_states import Score, state_moments
from saturation.resampling.linearized import Covariance
from saturation.tables.panel import Votes
from saturation.typing import Floats, Ints

Scores = Callable[[Ints, Draw], Floats | None]
"""(counts, what is drawn) -> (statistics, rows) mean scores of rows of counts; None where they would take too long."""


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """The people behind the votes of the items of a plan.

    Attributes
    ----------
    removals
        Every (item, label) that loses a vote; items are those of the plan.
    draws
        By budget: what is drawn with a vote less, None where that is not possible.
    members
        (budgets, items of the plan) which of them a budget uses.
    design
        What intervals redraw.
    """

    removals: Removals
    draws: tuple[Draw | None, ...]
    members: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
    design: str

    @classmethod
    def of(cls, votes: Votes, plan: Plan, design: str) -> Crowd:
        """Of the votes that a plan chose its items from."""
        used = votes.take(plan.items)
        assert used.ballots is not None, "a crowd has annotator ids"
        totals = used.counts.sum(axis=1)
        draws = (
            _with_a_vote_less(plan.draw(budget), int(totals[members].min()))
            for budget, members in zip(plan.budgets, plan.members, strict=True)
        )
        removals = Removals.of(used.ballots, used.counts, vote_by_vote=True)
        return cls(removals, tuple(draws), plan.members, design)

    def added_to(self, items: Covariance, people: Floats) -> Covariance:
        """The covariance under the design, from that over items and what every vote changes (statistics, rows)."""
        df, within_df = degrees_of_freedom(self.removals.load)
        moves = Moves(
            people=self.removals.people(people),
            noise=self.removals.noise(people),
            growth=1 - 1 / self.removals.n_annotators,
            df=df,
            within_df=within_df,
            reasons={},
        )
        return of_design(moves.added_to(items), DESIGNS[self.design])

    def scored(self, points: Sequence[Sequence[Point]], scores: Scores) -> list[list[Point]]:
        """Points (statistics, budgets) of means of item scores, with what every vote changes in them."""
        made: list[list[Point]] = [[] for _ in points]
        for j in range(len(self.draws)):
            found = self._at(j, scores)
            for row, (out, of_statistic) in enumerate(zip(made, points, strict=True)):
                out.append(self._known(of_statistic[j], None if found is None else found[row], j))
        return made

    def correlated(self, points: Sequence[Point], alpha: float) -> list[Point]:
        """Points (budgets,) of the entropy correlation, with what every vote changes in its linear score."""
        made = []
        for j, point in enumerate(points):
            found = self._at(j, lambda counts, draw: label_exact.entropy_products(counts, draw, alpha))
            made.append(point if found is None else self._of_correlation(point, found, j))
        return made

    def _at(self, j: int, scores: Scores) -> Floats | None:
        """(statistics, rows) scores with a vote gone at one budget; 0 for items that it does not use."""
        draw, inside = self.draws[j], self.members[j][self.removals.item]
        if draw is None:
            return None
        found = scores(self.removals.counts[inside], draw)
        if found is None:
            return None
        out = np.zeros((len(found), len(inside)))
        out[:, inside] = found
        return out

    def _known(self, point: Point, found: Floats | None, j: int) -> Point:
        if point.estimate is None or found is None or not np.isfinite(found).all():
            return point
        draw, smaller = self.draws[j], self._mean(found, j)
        fewer = draw is not None and draw.reference == "disjoint"
        shrink = point.estimate / smaller if fewer and 0 < point.estimate < smaller else 1.0
        return replace(point, people=shrink * self.removals.centred(found))

    def _of_correlation(self, point: Point, found: Floats, j: int) -> Point:
        if point.estimate is None:
            return point
        x, y, xx, yy, xy = found
        mean_x, mean_y = self._mean(x, j), self._mean(y, j)
        var_x, var_y = self._mean(xx, j) - mean_x**2, self._mean(yy, j) - mean_y**2
        covariance = self._mean(xy, j) - mean_x * mean_y
        if not min(var_x, var_y) > label_exact.CONSTANT_VARIANCE:
            return point
        r, scale = covariance / (var_x * var_y) ** 0.5, (var_x * var_y) ** 0.5
        score = (xy - mean_y * x - mean_x * y) / scale - r / 2 * (
            (xx - 2 * mean_x * x) / var_x + (yy - 2 * mean_y * y) / var_y
        )
        return replace(point, people=self.removals.centred(np.where(self.members[j][self.removals.item], score, 0.0)))

    def _mean(self, found: Floats, j: int) -> float:
        """Mean over the items of a budget of the mean over the votes that can go."""
        votes = np.bincount(self.removals.item, weights=self.removals.times, minlength=self.members.shape[1])
        each = self.removals.times / votes[self.removals.item]
        return float((each * found)[self.members[j][self.removals.item]].sum() / self.members[j].sum())


def additive_scores(metrics: Sequence[Metric], alphas: Sequence[float], n_labels: int) -> Scores:
    """Scores of metrics that all sum a term over labels, or all over cumulative shares."""
    statistics = [label_exact.additive_statistic(m, a, n_labels) for m, a in zip(metrics, alphas, strict=True)]

    def scores(counts: Ints, draw: Draw) -> Floats:
        prepared = prepare(counts, cumulative=metrics[0].cumulative)
        return additive_moments(prepared, draw, statistics, variance=False).mean

    return scores


def listed_scores(scores: Sequence[Score], *, symmetric: bool) -> Scores:
    """Scores by listing the states of every item, where those are few enough."""

    def listed(counts: Ints, draw: Draw) -> Floats | None:
        found = state_moments(counts, draw, scores, symmetric=symmetric)
        return found.mean if found.listed.all() else None

    return listed


def _with_a_vote_less(draw: Draw, fewest: int) -> Draw | None:
    """What n - 1 votes can be drawn for: with R - 1 others where all are needed; None where nothing can."""
    if draw.reference == "disjoint":
        assert draw.reference_size is not None
        size = min(draw.reference_size, fewest - 1 - draw.budget)
        return replace(draw, reference_size=size) if size > 0 else None
    needed = {"rest": draw.budget + 1, "all": draw.budget, "plug_in": 1}[draw.reference]
    return draw if fewest - 1 >= needed else None
