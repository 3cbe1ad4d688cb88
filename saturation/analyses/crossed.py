"""Resample items x seeds: one weight per distinct item, used in every split that has it, and seeds within splits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saturation.analyses.losses import humans, sign
from saturation.metrics.metric import Metric
from saturation.resampling.draw import item_weights, seed_weights
from saturation.resampling.sums import weighted_sums
from saturation.tables.panel import Panel
from saturation.typing import Floats, Weights

_BLOCK = 256
"""Resamples at a time: bounds the memory; it cannot change a number."""


def resampled_losses(
    panel: Panel,
    metrics: Sequence[Metric],
    n_resamples: int,
    seed: int,
    threads: int | None = None,
    *,
    redraw_seeds: bool = True,
) -> Floats:
    """The losses of every (metric, condition) in each resample of items x seeds, or of items alone.

    The same draw serves every condition, budget and metric.

    Returns
    -------
    (resamples, metrics x conditions), ordered as in :class:`~saturation.analyses.losses.Losses`.
    """
    distinct, rank = np.unique(np.concatenate(panel.items_of_split), return_inverse=True)
    ranks = np.split(rank, np.cumsum([len(items) for items in panel.items_of_split])[:-1])
    features = _features(panel, metrics)
    n_seeds = tuple(len(seeds) for seeds in panel.seeds)
    size = len(metrics) * len(panel.conditions)
    out = np.empty((n_resamples, size))
    for start in range(0, n_resamples, _BLOCK):
        stop = min(start + _BLOCK, n_resamples)
        items = item_weights(seed, start, stop, len(distinct))
        total = np.zeros((stop - start, size))
        of_seeds = seed_weights(seed, start, stop, n_seeds) if redraw_seeds else _every_seed(stop - start, n_seeds)
        for split, seeds in enumerate(of_seeds):
            cells = _cells(panel, metrics, features[split], items[:, ranks[split]], split, threads)
            total += (cells * seeds[:, None, :]).sum(axis=-1)
        out[start:stop] = total / sum(n_seeds)
    return out


def _every_seed(n_resamples: int, n_seeds: tuple[int, ...]) -> tuple[Weights, ...]:
    return tuple(np.ones((n_resamples, n)) for n in n_seeds)


def _features(panel: Panel, metrics: Sequence[Metric]) -> list[list[Floats | None]]:
    """Per split and metric (conditions x seeds x features, items); None for rank statistics."""
    made: list[list[Floats | None]] = []
    for probs, human in zip(panel.probs, humans(panel), strict=True):
        n_items = probs.shape[-2]
        made.append([None if m.features is None else m.features(probs, human).reshape(-1, n_items) for m in metrics])
    return made


def _cells(  # noqa: PLR0917
    panel: Panel,
    metrics: Sequence[Metric],
    features: Sequence[Floats | None],
    weights: Weights,
    split: int,
    threads: int | None,
) -> Floats:
    """(resamples, metrics x conditions, seeds) losses of one split under item weights."""
    n_conditions, n_seeds = panel.probs[split].shape[:2]
    whole = weights.sum(axis=1)
    found = []
    for metric, flat in zip(metrics, features, strict=True):
        if flat is None or metric.combine is None:
            values = _ranked(panel, metric, weights, split)
        else:
            sums = weighted_sums(weights, flat, threads) / np.where(whole > 0, whole, np.nan)[:, None]
            values = metric.combine(sums.reshape(len(weights), n_conditions, n_seeds, -1))
        found.append(sign(metric) * values)
    return np.concatenate(found, axis=1)


def _ranked(panel: Panel, metric: Metric, weights: Weights, split: int) -> Floats:
    assert metric.ranked is not None
    probs, human = panel.probs[split], humans(panel)[split]
    values = [[metric.ranked(one, human, weights) for one in seeds] for seeds in probs]
    return np.asarray(np.moveaxis(np.array(values), -1, 0))
