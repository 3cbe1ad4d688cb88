"""Draw votes again: the loops over resamples, items and votes. No checks here.

One random word gives two draws: an even position takes the high half of its word, an odd one the low half, and
``(half * size) >> 32`` is uniform over ``size`` outcomes up to a relative bias below ``size / 2**32``. Words are
those of ``saturation.streams`` (stream: the resample; counter: the vote's position // 2); the mixer is repeated
here because a cached kernel does not notice changes in other files.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from saturation.typing import Ints, Words

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_OFFSET = np.uint64(0xD1B54A32D192ED03)
_ONE = np.uint64(1)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@njit(nogil=True, error_model="numpy", cache=True, inline="always")
def _mix(value: np.uint64) -> np.uint64:
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@njit(nogil=True, error_model="numpy", cache=True, inline="always")
def _below(key: np.uint64, position: np.uint64, size: np.uint64) -> np.uint64:
    """An outcome in [0, size) for one position of one stream."""
    word = _mix(key + _GOLDEN * ((position >> _ONE) + _ONE))
    half = word & _LOW if position & _ONE else word >> _HALF
    return (half * size) >> _HALF


@njit(nogil=True, error_model="numpy", cache=True)
def redraw(  # noqa: PLR0917
    base: np.uint64, first: np.uint64, start: int, stop: int, offsets: Words, labels: Ints, out: Ints
) -> None:
    """Multinomial counts: every vote is replaced by a random vote of its item.

    ``base`` (uint64) is the mixed seed and purpose, ``first`` (uint64) the number of resample 0, ``offsets``
    (items + 1, uint64) the position of each item's first vote, ``labels`` (votes,) the label of each vote, ``out``
    (resamples, items, labels) zeros; rows start..stop are filled.
    """
    for b in range(start, stop):
        key = _mix(base ^ _mix(first + np.uint64(b) + _OFFSET))
        for i in range(len(offsets) - 1):
            begin = offsets[i]
            size = offsets[i + 1] - begin
            for v in range(size):
                position = begin + np.uint64(v)
                out[b, i, labels[begin + _below(key, position, size)]] += 1


@njit(nogil=True, error_model="numpy", cache=True)
def subsample(  # noqa: PLR0917
    base: np.uint64,
    first: np.uint64,
    start: int,
    stop: int,
    offsets: Words,
    labels: Ints,
    ends: Ints,
    pool: Ints,
    out: Ints,
) -> None:
    """Counts of the votes ends[j-1]..ends[j] of one random order of each item's votes, not cumulated.

    ``pool`` (longest item,) is scratch memory; ``out`` (resamples, len(ends), items, labels) zeros. The order is a
    partial Fisher-Yates shuffle, so that a prefix of it does not depend on how far it goes.
    """
    for b in range(start, stop):
        key = _mix(base ^ _mix(first + np.uint64(b) + _OFFSET))
        for i in range(len(offsets) - 1):
            begin = offsets[i]
            size = offsets[i + 1] - begin
            for v in range(size):
                pool[v] = labels[begin + np.uint64(v)]
            drawn = 0
            for j in range(len(ends)):
                while drawn < ends[j]:
                    d = np.uint64(drawn)
                    chosen = d + _below(key, begin + d, size - d)
                    label = pool[chosen]
                    pool[chosen] = pool[d]
                    out[b, j, i, label] += 1
                    drawn += 1
