"""Weighted sums of per-item features: all that a resample of items needs."""

from __future__ import annotations

import numpy as np

from saturation.resampling.blocks import run_blocks
from saturation.typing import Floats, Weights

_COMPILED_FROM = 20_000_000
"""Multiplications from which starting the compiled loop is worth its start-up time."""
_FEW_ROWS = 16
"""Resamples up to which each is summed along the items, rather than all together item by item."""


def weighted_sums(weights: Weights, features: Floats, threads: int | None = None) -> Floats:
    """Weighted sums of each feature over the items, for each resample.

    Sums are made in item order, without BLAS, so that the bits do not depend on threads, on how resamples are cut
    into blocks or on what other features there are. Items of weight zero are left out (0 * inf counts as 0).

    Parameters
    ----------
    weights
        (resamples, items)
    features
        (features, items)
    threads
        Threads to use; None: all usable cores.

    Returns
    -------
    (resamples, features)

    Examples
    --------
    >>> weighted_sums(np.array([[1.0, 2.0, 0.0]]), np.array([[0.5, 0.25, 9.0], [1.0, 1.0, 1.0]]))
    array([[1., 3.]])
    """
    by_item = np.ascontiguousarray(features.T, dtype=np.float64)
    out = np.zeros((weights.shape[0], by_item.shape[1]))
    if weights.size * by_item.shape[1] < _COMPILED_FROM:
        _in_numpy(weights, by_item, out)
    else:
        _compiled(np.ascontiguousarray(weights, dtype=np.float64), by_item, out, threads)
    return out


def _in_numpy(weights: Weights, by_item: Floats, out: Floats) -> None:
    """The same additions in the same order as the compiled loop."""
    if len(weights) < _FEW_ROWS:
        for row, weight in enumerate(weights):
            used = np.flatnonzero(weight)
            if len(used):
                out[row] += np.cumsum(weight[used, None] * by_item[used], axis=0)[-1]
        return
    finite = np.asarray(np.isfinite(by_item).all(axis=1))
    for i in range(by_item.shape[0]):
        weight = weights[:, i, None]
        if finite[i]:
            out += weight * by_item[i]
        else:
            used = weight[:, 0] != 0
            out[used] += weight[used] * by_item[i]


def _compiled(weights: Weights, by_item: Floats, out: Floats, threads: int | None) -> None:
    from saturation.kernels import sums

    run_blocks(lambda start, stop: sums.weighted_sums(weights, by_item, start, stop, out), len(out), threads)
