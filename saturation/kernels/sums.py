"""Weighted sums over items, in item order. No checks here."""

from __future__ import annotations

from numba import njit

from saturation.typing import Floats, Weights


@njit(nogil=True, error_model="numpy", cache=True)
def weighted_sums(weights: Weights, features: Floats, start: int, stop: int, out: Floats) -> None:
    """Fill rows start..stop of ``out`` (resamples, features), zeros before.

    ``weights`` (resamples, items); ``features`` (items, features), so that the inner loop runs over neighbours in
    memory. Each sum is made in item order whatever the block, so its bits never change; items of weight zero are
    left out, which is exact (and right for an infinite score).
    """
    n_items, n_features = features.shape
    for b in range(start, stop):
        for i in range(n_items):
            weight = weights[b, i]
            if weight != 0.0:
                for f in range(n_features):
                    out[b, f] += weight * features[i, f]
