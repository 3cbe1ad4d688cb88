"""Contests: one metric, condition a against condition b on the same cells and items.

Differences are always a - b in the metric's own units. The difference of a contest comes from the engine of curves and
evaluations (items, training seeds and annotators together); the arrays beside it are what paired tests over items,
cells or splits are made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.annotator_part import has_annotators
from saturation.analyses.crossed import resampled_losses
from saturation.analyses.joint import Joint, from_resamples
from saturation.analyses.losses import Losses, humans, losses_of, sign
from saturation.analyses.redrawn import asked_design, linearised
from saturation.metrics.metric import Metric
from saturation.resampling import intervals
from saturation.resampling.designs import FROM_SEEDS
from saturation.resampling.mixed import Cells
from saturation.resampling.paired import NO_DIFFERENCE, NO_SPREAD, ROUNDING, Paired, settled, undefined
from saturation.tables.panel import Panel
from saturation.typing import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """Everything that the contests of one comparison share.

    Attributes
    ----------
    panel
        With the compared conditions only.
    metrics
        (metrics,)
    losses, joint
        Of every (metric, condition), and their joint uncertainty.
    level, n_resamples, seed, threads
        As given.
    design
        What the difference redraws.
    n_drawn
        Resamples behind the difference; None where it is linearised.
    """

    panel: Panel
    metrics: tuple[Metric, ...]
    losses: Losses
    joint: Joint
    level: float
    n_resamples: int
    seed: int
    threads: int | None
    design: str
    n_drawn: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Differences of a per-item metric, item by item.

    Attributes
    ----------
    own
        (items,) mean difference of each distinct item over the cells that have it.
    parts
        (items,) each item's part in the difference: their mean is the difference. With one split they are ``own``.
    long
        Every item in every cell.
    """

    own: Floats
    parts: Floats
    long: Cells


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """One metric, a against b.

    Attributes
    ----------
    metric
        The metric.
    rank, a, b
        Position of the metric, and of the two conditions in the panel of the :class:`Field`.
    contrast
        (statistics,) coefficients of the losses that give a - b in the metric's units.
    difference
        The difference with its uncertainty from the engine that all analyses share.
    reason
        Why the metric does not exist on one of the two sides; None where it does.
    cells
        One (seeds,) array of differences a split.
    items
        Differences of the items; None where the metric belongs to a set of items.
    """

    metric: Metric
    rank: int
    a: int
    b: int
    contrast: Floats
    difference: Paired
    reason: str | None
    cells: tuple[Floats, ...]
    items: Items | None

    @property
    def better(self) -> int:
        """1 where a larger value is better, -1 where a smaller one is, 0 where neither."""
        return {"higher": 1, "lower": -1, "none": 0}[self.metric.direction]


def field_of(
    panel: Panel,
    metrics: Sequence[Metric],
    *,
    design: str | None,
    level: float,
    n_resamples: int,
    seed: int,
    threads: int | None,
) -> Field:
    """Losses of the compared conditions and their joint uncertainty, as a saturation curve has them."""
    losses = losses_of(panel, metrics)
    meant = asked_design(design, panel, "crossed with annotators" if has_annotators(panel) else "crossed")
    many = min(len(seeds) for seeds in panel.seeds) >= FROM_SEEDS
    drawn = None
    if many and meant.name == "crossed":
        drawn = resampled_losses(panel, metrics, n_resamples, seed, threads)
        spread = from_resamples(drawn, [len(seeds) for seeds in panel.seeds])
    else:
        spread, losses = linearised(meant, losses, panel, seed, threads)
    return Field(
        panel=panel,
        metrics=tuple(metrics),
        losses=losses,
        joint=Joint(losses.influence.estimates, spread, drawn, level, seed),
        level=level,
        n_resamples=n_resamples,
        seed=seed,
        threads=threads,
        design=meant.name,
        n_drawn=None if drawn is None else n_resamples,
    )


def contest_of(field: Field, rank: int, a: int, b: int) -> Contest:
    """One metric (by position), condition a against condition b (positions in the field's panel)."""
    metric, losses = field.metrics[rank], field.losses
    contrast = sign(metric) * losses.difference(rank, a, b)
    one, other = losses.index(rank, a), losses.index(rank, b)
    values = losses.influence.estimates[[one, other]]
    reason = losses.reason(rank, a, b)
    cells = tuple(sign(metric) * (cell[one] - cell[other]) for cell in losses.influence.cells)
    if not np.isfinite(values).all():
        found, items = undefined(str(reason)), None
    else:
        size = float(np.abs(values).max())
        estimate = sign(metric) * float(values[0] - values[1])
        found = undefined(reason, estimate) if reason else _difference(field, metric, contrast, size)
        items = items_of(field.panel, metric, a, b) if metric.kind == "item" else None
    missing = None if np.isfinite(values).all() else reason
    return Contest(metric, rank, a, b, contrast, found, missing, cells, items)


def _difference(field: Field, metric: Metric, contrast: Floats, size: float) -> Paired:
    """The engine's answer, with the limits where nothing varies but rounding.

    Calibration errors are biased up by noise, and resampling doubles it: of resamples they take the spread alone.
    """
    is_rough = metric.kind == "set" and metric.order == 1
    joint = replace(field.joint, distribution=None) if is_rough else field.joint
    answer = joint.contrast(contrast)
    variance, df = joint.covariance.variance(contrast)
    if not np.isfinite(variance):
        return Paired(answer.interval, answer.estimate)
    quantum = ROUNDING * size
    if variance**0.5 <= quantum:
        if abs(answer.estimate) <= quantum:
            return undefined(NO_DIFFERENCE, 0.0)
        return Paired(intervals.none(NO_SPREAD), answer.estimate, 0.0, se=0.0)
    studentised = None if joint.distribution is not None else answer.estimate / variance**0.5
    return Paired(
        interval=answer.interval,
        estimate=answer.estimate,
        p=answer.p,
        statistic=studentised,
        df=None if studentised is None else df,
        se=answer.se,
    )


def items_of(panel: Panel, metric: Metric, a: int, b: int) -> Items:
    """Differences of a per-item metric on all cells."""
    assert metric.features is not None
    n_items = len(panel.votes.item_ids)
    total, count, parts = np.zeros(n_items), np.zeros(n_items), np.zeros(n_items)
    values, item, cell = [], [], []
    size, first = 0.0, 0
    for probs, human, places in zip(panel.probs, humans(panel), panel.items_of_split, strict=True):
        scores = metric.features(probs[[a, b]], human)[..., 0, :]
        n_seeds, n_here = scores.shape[1:]
        size = max(size, float(np.abs(scores).max(initial=0.0)))
        differences = scores[0] - scores[1]
        total[places] += differences.sum(axis=0)
        count[places] += n_seeds
        parts[places] += differences.sum(axis=0) / (n_here * panel.n_cells)
        values.append(differences.ravel())
        item.append(np.tile(places, n_seeds))
        cell.append(np.repeat(np.arange(first, first + n_seeds), n_here))
        first += n_seeds
    there = count > 0
    own = settled(total[there] / count[there], size)
    shared = own if len(panel.splits) == 1 else settled(parts[there] * int(there.sum()), size)
    rank = np.cumsum(there) - 1
    long = Cells(settled(np.concatenate(values), size), rank[np.concatenate(item)], np.concatenate(cell))
    return Items(own, shared, long)
