"""Points of a label-side curve by Monte Carlo, where no exact way exists; each carries its Monte Carlo error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.labels.plan import Plan
from saturation.analyses.labels.series import CONSTANT, Point, without_rounding
from saturation.metrics.metric import Human, Metric
from saturation.resampling.draw import subsample
from saturation.resampling.exact_moments import Draw
from saturation.resampling.exact_states import Score, distinct_rows
from saturation.resampling.jackknife import pseudo_values
from saturation.streams import Purpose, words
from saturation.typing import Floats, Ints

MAX_DRAWS = 400
"""Draws are n_resamples, at most this many: the Monte Carlo error is printed, and is then small beside the spread."""
INFLUENCE_DRAWS = 16
"""Influence values are averaged over this many draws."""
DRAWS_OF_RANKS = 100
"""Most draws of metrics that compare pairs of items or sort them."""
CELLS_A_BLOCK = 1_000_000
MAX_CELLS = 20_000_000
"""Most items times labels times draws at one budget; a large table needs fewer draws for the same error."""
VOTES_A_CELL = 10
"""Votes of an item that cost as much to draw from as one more label."""
FEWEST_DRAWS = 50


@dataclass(frozen=True, slots=True)
class Draws:
    """How the votes are drawn: seed, number of draws, threads."""

    seed: int
    number: int
    threads: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Some draws at one budget: ``targets`` (draws, items, labels), ``reference`` likewise or (items, labels)."""

    targets: Ints
    reference: Ints


@dataclass(frozen=True, slots=True, eq=False)
class DrawnMoments:
    """Mean and variance over draws (scores, items), and the Monte Carlo variance (scores,) of the sum over items."""

    mean: Floats
    variance: Floats
    of_sum: Floats
    n_draws: int


def item_moments(counts: Ints, draw: Draw, scores: Sequence[Score], draws: Draws, *, symmetric: bool) -> DrawnMoments:
    """Moments of item scores over draws of each distinct item; items with equal counts share their draws.

    Items add up their own variances, so that few draws tell the spread of the whole set well.
    """
    rows, row = distinct_rows(counts, symmetric=symmetric)
    draws = affordable(draws, rows)
    total, centred = np.zeros((len(scores), len(rows))), np.zeros((len(scores), len(rows)))
    first: Floats | None = None
    for _, drawn in _blocks(rows, draw, draws):
        reference = np.broadcast_to(drawn.reference, drawn.targets.shape)
        values = np.stack([score(drawn.targets, reference) for score in scores])
        first = values[:, 0] if first is None else first
        for value in np.moveaxis(values, 1, 0):  # draw by draw, so that blocks change no bit
            gap = value - first  # squares about a value of the row itself lose no digits
            total += gap
            centred += gap**2
    assert first is not None
    n_draws = draws.number
    variance = np.maximum(centred - total**2 / n_draws, 0.0) / (n_draws - 1)
    weight = np.bincount(row, minlength=len(rows))
    return DrawnMoments(
        (first + total / n_draws)[:, row], variance[:, row], (weight**2 * variance).sum(axis=1) / n_draws, n_draws
    )


def affordable(draws: Draws, counts: Ints) -> Draws:
    """As many draws of a table of counts as ``MAX_CELLS`` allows, at least ``FEWEST_DRAWS`` where so many are asked."""
    cells = max(counts.size, int(counts.sum()) // VOTES_A_CELL, 1)
    number = max(MAX_CELLS // cells, FEWEST_DRAWS)
    return replace(draws, number=min(draws.number, number))


def set_points(
    counts: Ints, plan: Plan, draws: Draws, *, asked: Sequence[tuple[Metric, float]], human: Human
) -> list[list[Point]]:
    """Points (metrics, budgets) of metrics of whole sets of items, which share the draws.

    Parameters
    ----------
    counts
        (union items, labels) of the plan.
    plan, draws
        Items and budgets; how votes are drawn.
    asked
        Metrics, each with the votes added to every label of its target.
    human
        Groups and the like of the union items.
    """
    found: list[list[Point]] = [[] for _ in asked]
    for budget, members in zip(plan.budgets, plan.members, strict=True):
        own = counts[members]
        of_items = human.take(np.flatnonzero(members).astype(np.int64))
        law, few = plan.draw(budget), affordable(draws, own)
        runs = [_Run.of(metric, alpha, few.number, len(own)) for metric, alpha in asked]
        for start, drawn in _blocks(own, law, few):
            for offset, target in enumerate(drawn.targets):
                side = _side(drawn, offset, of_items)
                for run in runs:
                    run.add(start + offset, target, side)
        for points, run in zip(found, runs, strict=True):
            point = run.point()
            if point.estimate is None and budget == 1 and run.metric.is_correlation:
                _, drawn = next(_blocks(own, law, replace(few, number=1)))
                point = _counted(point, run.metric, _side(drawn, 0, of_items))
            points.append(point)
    return found


@dataclass(slots=True, eq=False)
class _Run:
    """One metric's values (draws,) and summed influence (items,), filled draw by draw."""

    metric: Metric
    alpha: float
    values: Floats
    influence: Floats

    @classmethod
    def of(cls, metric: Metric, alpha: float, n_draws: int, n_items: int) -> _Run:
        """Metrics without sums over items (ranks) compare pairs of items or sort them, so they get fewer draws."""
        number = n_draws if metric.features is not None else min(n_draws, DRAWS_OF_RANKS)
        return cls(metric, alpha, np.empty(number), np.zeros(n_items))

    def add(self, draw: int, target: Ints, side: Human) -> None:
        """Evaluate one draw, unless there are enough."""
        if draw >= len(self.values):
            return
        votes = target + self.alpha
        shares = votes / votes.sum(axis=-1, keepdims=True)
        self.values[draw] = float(self.metric.value(shares, side))
        if draw < INFLUENCE_DRAWS:
            self.influence += _influence(self.metric, shares, side, self.values[draw])

    def point(self) -> Point:
        """The point of all draws."""
        used = min(len(self.values), INFLUENCE_DRAWS)
        return _point(self.values, self.influence / used, undefined=self.metric.undefined)


def _side(drawn: Drawn, offset: int, of_items: Human) -> Human:
    reference = drawn.reference if drawn.reference.ndim == 2 else drawn.reference[offset]
    return Human(reference, of_items.majority, of_items.groups, of_items.items)


def _counted(point: Point, metric: Metric, side: Human) -> Point:
    """A correlation that is undefined only because one vote has the same entropy in every item counts as 0.

    Not where the reference is constant too: it has no correlation with itself then.
    """
    shares = side.counts / side.counts.sum(axis=-1, keepdims=True)
    with_itself = float(metric.value(shares, side))
    return replace(point, reason=CONSTANT, counts_as=0.0) if np.isfinite(with_itself) else point


def _point(values: Floats, items: Floats, *, undefined: str = "undefined") -> Point:
    if not np.isfinite(values).all():
        lost = int((~np.isfinite(values)).sum())
        reason = f"undefined in {lost} of {len(values)} draws ({undefined})"
        return Point(None, estimator="monte_carlo", n_resamples=len(values), reason=reason)
    mean = float(values.mean())
    sd = without_rounding(float(values.std(ddof=1)), mean)
    return Point(
        mean,
        influence=items,
        draw_sd=sd,
        mc_se=sd / len(values) ** 0.5,
        estimator="monte_carlo",
        n_resamples=len(values),
    )


def _blocks(counts: Ints, draw: Draw, draws: Draws) -> Iterator[tuple[int, Drawn]]:
    """Blocks of draws that fit in memory; draw b depends on the seed and b alone."""
    cells = counts.size if draw.reference != "plug_in" else counts.shape[0] * max(draw.budget, counts.shape[1])
    size = max(1, CELLS_A_BLOCK // max(cells, 1))
    for start in range(0, draws.number, size):
        stop = min(start + size, draws.number)
        yield start, _draw(counts, draw, (start, stop), draws)


def _draw(counts: Ints, draw: Draw, block: tuple[int, int], draws: Draws) -> Drawn:
    start, stop = block
    if draw.reference == "plug_in":
        return Drawn(with_replacement(draws.seed, start, stop, counts, draw.budget), counts)
    found = subsample(draws.seed, start, stop, counts, (draw.budget,), draw.reference_size, threads=draws.threads)
    targets = found.targets[:, 0]
    if found.reference is not None:
        return Drawn(targets, found.reference)
    return Drawn(targets, counts - targets if draw.reference == "rest" else counts)


def with_replacement(seed: int, start: int, stop: int, counts: Ints, budget: int) -> Ints:
    """(draws, items, labels) ``budget`` votes of each item drawn with replacement; larger budgets extend smaller."""
    n_items, n_labels = counts.shape
    streams = np.arange(start, stop)[:, None, None] * n_items + np.arange(n_items)[:, None]
    random = words(seed, Purpose.VOTES, streams, np.arange(budget)) >> np.uint64(32)
    ballot = (random * counts.sum(axis=1)[:, None].astype(np.uint64)) >> np.uint64(32)
    starts = counts.sum(axis=1).cumsum() - counts.sum(axis=1)
    label_of_vote = np.repeat(np.tile(np.arange(n_labels), n_items), counts.ravel())
    cell = label_of_vote[ballot.astype(np.int64) + starts[:, None]] + np.arange(n_items)[:, None] * n_labels
    cell += (np.arange(stop - start) * n_items * n_labels)[:, None, None]
    tally = np.bincount(cell.ravel(), minlength=(stop - start) * n_items * n_labels)
    return tally.reshape(stop - start, n_items, n_labels).astype(np.int64)


def _influence(metric: Metric, target: Floats, side: Human, value: float) -> Floats:
    """(items,) influence values of one draw: in closed form, or delete-one pseudo-values; one item has none."""
    if len(target) < 2 or not np.isfinite(value):
        return np.zeros(len(target))
    if metric.features is None:
        assert metric.leave_one_out is not None
        n_items = len(target)
        return np.asarray(n_items * value - (n_items - 1) * metric.leave_one_out(target, side))
    assert metric.combine is not None
    features = metric.features(target, side)
    return metric.influence(features) if metric.influence else pseudo_values(features, metric.combine)
