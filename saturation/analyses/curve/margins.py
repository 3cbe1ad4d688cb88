"""The default non-inferiority margin: what the votes' own noise costs a perfect model (m = p).

A difference to the ceiling smaller than that cannot matter more than the reference itself is uncertain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saturation.analyses.curve.study import Margin
from saturation.analyses.losses import humans, sign
from saturation.errors import UsageError
from saturation.metrics.agreement import base_rate
from saturation.metrics.metric import Human, Metric
from saturation.streams import Purpose, uniforms
from saturation.tables.panel import Panel
from saturation.typing import Counts, Floats, Ints

N_DRAWS = 20
"""Draws of fresh votes behind a margin without a closed form; its Monte Carlo error is printed with it."""


def margins_of(panel: Panel, metrics: Sequence[Metric], margin: float | None, seed: int) -> dict[str, Margin]:
    """A margin for each metric by name: the one given, or the m = p noise of the reference."""
    if margin is not None:
        if not 0 < margin < float("inf"):
            raise UsageError(f"margin is {margin}; give a positive number in the metric's units")
        return {m.name: Margin(margin, f"margin {margin:g} as given") for m in metrics}
    found = {m.name: _closed(panel, m) for m in metrics if m.floor is not None and m.direction != "none"}
    others = [m for m in metrics if m.name not in found and m.direction != "none"]
    if others:
        found |= _simulated(panel, others, seed)
    return found


def _closed(panel: Panel, metric: Metric) -> Margin:
    """What p is expected to score, less what the observed shares h score: a mean over items, then over cells."""
    assert metric.floor is not None
    floor, counts = metric.floor(panel.votes.counts), panel.votes.counts
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    noise = [
        float(floor[items].mean() - metric.value(shares[items], human))
        for items, human in zip(panel.items_of_split, humans(panel), strict=True)
    ]
    return _margin(metric, float(np.average(noise, weights=[len(seeds) for seeds in panel.seeds])), "closed form")


def _simulated(panel: Panel, metrics: Sequence[Metric], seed: int) -> dict[str, Margin]:
    """Loss of m = p less loss of m = h, both against n_i fresh votes from p = (c + A pi) / (n + A)."""
    population = base_rate(panel.votes.counts)
    size = population.strength
    if not 0 < size < float("inf"):  # NaN: no item has two votes
        why = "no margin: the votes do not show how the items' populations differ; give margin="
        return {m.name: Margin(None, why) for m in metrics}
    totals = panel.votes.totals
    p = (panel.votes.counts + size * population.distribution) / (totals[:, None] + size)
    noise = np.zeros((N_DRAWS, len(metrics)))
    for draw in range(N_DRAWS):
        counts = _fresh(p, totals, seed, draw)
        for weight, human in zip([len(s) for s in panel.seeds], humans(panel, counts), strict=True):
            noise[draw] += weight * _excess(metrics, p, human)
    noise /= panel.n_cells
    errors = noise.std(axis=0, ddof=1) / N_DRAWS**0.5
    how = f"p = (c + A pi) / (n + A), A = {size:.3g}, {N_DRAWS} draws, Monte Carlo error"
    return {
        m.name: _margin(m, float(mean), f"{how} {error:.1g}")
        for m, mean, error in zip(metrics, noise.mean(axis=0), errors, strict=True)
    }


def _excess(metrics: Sequence[Metric], p: Floats, human: Human) -> Floats:
    assert human.items is not None
    own = p[human.items]
    drawn = human.counts / human.counts.sum(axis=1, keepdims=True)
    return np.array([sign(m) * float(m.value(own, human) - m.value(drawn, human)) for m in metrics])


def _fresh(p: Floats, totals: Ints, seed: int, draw: int) -> Counts:
    """(items, labels) counts of n_i votes from p_i; vote v of item i depends on (seed, draw, i, v) only."""
    width = int(totals.max())
    at = np.arange(len(p))[:, None] * width + np.arange(width)
    chance = uniforms(seed, Purpose.REFERENCE, np.array(draw), at)
    edges = p.cumsum(axis=1)[:, :-1]
    label = (chance[:, :, None] >= edges[:, None, :]).sum(axis=-1)
    cast = np.arange(width) < totals[:, None]
    return np.stack([((label == k) & cast).sum(axis=1) for k in range(p.shape[1])], axis=1)


def _margin(metric: Metric, noise: float, how: str) -> Margin:
    if not np.isfinite(noise) or noise <= 0:
        return Margin(None, "no margin: the m = p noise of the votes does not exist here; give margin=")
    return Margin(noise, f"margin = the m = p noise of the votes, {noise:.3g} ({how})")
