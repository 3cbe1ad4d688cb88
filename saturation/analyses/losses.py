"""The losses of all conditions and metrics of a panel on its cells, and how each item moves them.

One table (metrics x conditions) of statistics that every shortfall, fraction and contrast is a combination of.
Losses are metrics with the sign that makes lower better; rows turn them back into the metric's own units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from saturation.analyses.context import group_codes, plain
from saturation.metrics.common import below_floor
from saturation.metrics.metric import Human, Metric
from saturation.resampling.linearized import Influence
from saturation.tables.panel import Panel
from saturation.typing import Counts, Floats, Probs


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """Losses of every (metric, condition) and why some do not exist.

    Attributes
    ----------
    metrics
        (metrics,)
    n_conditions
        Statistic ``m * n_conditions + c`` is metric m of condition c.
    influence
        Of all statistics; undefined ones have estimate NaN and influence 0.
    reasons
        By statistic: why its value, or its spread, does not exist.
    n_items
        Distinct items behind the statistics.
    n_cells
        Split x seed cells.
    """

    metrics: tuple[Metric, ...]
    n_conditions: int
    influence: Influence
    reasons: dict[int, str]
    n_items: int
    n_cells: int

    def index(self, metric: int, condition: int) -> int:
        """Position of a statistic."""
        return metric * self.n_conditions + condition

    def unit(self, metric: int, condition: int) -> Floats:
        """(statistics,) the contrast that is this statistic alone."""
        contrast = np.zeros(len(self.influence.estimates))
        contrast[self.index(metric, condition)] = 1.0
        return contrast

    def difference(self, metric: int, one: int, other: int) -> Floats:
        """(statistics,) the contrast loss of ``one`` - loss of ``other``."""
        return self.unit(metric, one) - self.unit(metric, other)

    def reason(self, metric: int, *conditions: int) -> str | None:
        """Why a combination of these conditions does not exist, if it does not."""
        found = (self.reasons.get(self.index(metric, c)) for c in conditions)
        return next((reason for reason in found if reason is not None), None)


def sign(metric: Metric) -> float:
    """What turns a metric into a loss: -1 where higher is better."""
    return -1.0 if metric.direction == "higher" else 1.0


def humans(panel: Panel, counts: Counts | None = None) -> list[Human]:
    """The human side of every split; ``counts`` in place of the votes' own."""
    votes = panel.votes
    codes = group_codes(panel)
    whole = Human(votes.counts if counts is None else counts, votes.majority, None if codes is None else codes[1])
    return [whole.take(items) for items in panel.items_of_split]


def losses_of(panel: Panel, metrics: Sequence[Metric]) -> Losses:
    """All losses of a panel, plain means over cells, with their influence values."""
    sides = humans(panel)
    reasons: dict[int, str] = {}
    estimates: list[Floats] = []
    values: list[list[Floats]] = [[] for _ in panel.splits]
    means: list[list[Floats]] = [[] for _ in panel.splits]
    n_conditions = len(panel.conditions)
    for rank, metric in enumerate(metrics):
        cells, moves = [], []
        for probs, human in zip(panel.probs, sides, strict=True):
            cell, move = cell_values(metric, probs, human)
            cells.append(sign(metric) * cell)
            moves.append(sign(metric) * move)
        joined = np.concatenate(cells, axis=1)
        spoiled = _reasons(metric, panel, joined, moves)
        reasons |= {rank * n_conditions + c: reason for c, reason in spoiled.items()}
        estimates.append(joined.mean(axis=1))
        for split, (cell, move) in enumerate(zip(cells, moves, strict=True)):
            cell[list(spoiled)], move[list(spoiled)] = 0.0, 0.0
            means[split].append(cell)
            values[split].append(move)
    influence = Influence(
        estimates=np.concatenate(estimates),
        cells=tuple(np.concatenate(kept) for kept in means),
        values=tuple(np.concatenate(kept) for kept in values),
        items_of_split=panel.items_of_split,
        n_items=len(panel.votes.item_ids),
    )
    distinct = len(np.unique(np.concatenate(panel.items_of_split)))
    return Losses(tuple(metrics), n_conditions, influence, reasons, distinct, panel.n_cells)


def cell_values(metric: Metric, probs: Probs, human: Human) -> tuple[Floats, Floats]:
    """The metric of each condition and seed, and how much each item moves it.

    Parameters
    ----------
    probs
        (conditions, seeds, items, labels)

    Returns
    -------
    (conditions, seeds) and (conditions, seeds, items); NaN where undefined.
    """
    statistic = plain(metric)
    shape, n_items = probs.shape[:2], probs.shape[-2]
    models = probs.reshape(-1, *probs.shape[2:])
    if n_items > 1 or metric.influence is not None:
        value, moves = statistic.value_and_influence(models, human)
    else:  # nothing is left without the only item
        value, moves = statistic.value(models, human), np.full((len(models), n_items), np.nan)
    return value.reshape(shape), moves.reshape(*shape, n_items)


def keep_items(panel: Panel, kept: NDArray[np.bool_]) -> Panel:
    """The panel with some items only (mask over the distinct items); indices keep pointing at all votes."""
    masks = [kept[items] for items in panel.items_of_split]
    return replace(
        panel,
        items_of_split=tuple(items[mask] for items, mask in zip(panel.items_of_split, masks, strict=True)),
        probs=tuple(probs[:, :, mask] for probs, mask in zip(panel.probs, masks, strict=True)),
    )


def _reasons(metric: Metric, panel: Panel, cells: Floats, moves: Sequence[Floats]) -> dict[int, str]:
    """By condition: why the metric, or its spread over items, does not exist."""
    found = {}
    for c, condition in enumerate(panel.conditions):
        lost = int((~np.isfinite(cells[c])).sum())
        if lost:
            found[c] = f"{metric.name} of {condition} in {lost} of {cells.shape[1]} cells: {metric.undefined}"
        elif any(not np.isfinite(move[c]).all() for move in moves):
            found[c] = f"no interval: {metric.name} of {condition} does not exist without one of the items"
    return found


def floored_rows(panel: Panel, metrics: Sequence[Metric], floor: float) -> int:
    """Predicted rows with a probability below the floor, where a metric raises it."""
    if not any(metric.family in ("kl", "cross_entropy") for metric in metrics):
        return panel.summary.floored
    return sum(int(below_floor(probs, floor).sum()) for probs in panel.probs)
