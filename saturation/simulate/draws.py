"""Random arrays of a simulation: each a pure function of (seed, what it is for, where it is used)."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from saturation.streams import Purpose, uniforms
from saturation.typing import Floats, Ints

_KIND_SHIFT = 40


class Kind(IntEnum):
    """What a random array is for; a new use takes a new number, so that it never shifts another."""

    SOURCE = 1
    LEANING = 2
    MISREADING = 3
    CARELESS = 4
    FAVOURITE = 5
    ASSIGNMENT = 6
    VOTE = 7
    PARTITION = 8
    CELL = 9
    VOTE_NOISE = 10
    RUN_NOISE = 11
    CROWD = 12


def uniform(seed: int, kind: Kind, streams: NDArray[np.integer], width: int) -> Floats:
    """(streams, width) uniform numbers in (0, 1); row i depends on (seed, kind, streams[i]) alone."""
    rows = (int(kind) << _KIND_SHIFT) + np.asarray(streams, dtype=np.int64)
    return uniforms(seed, Purpose.SIMULATE, rows[:, None], np.arange(width))


def normal(seed: int, kind: Kind, streams: NDArray[np.integer], width: int) -> Floats:
    """(streams, width) standard normal numbers, by inversion."""
    from scipy.special import ndtri

    return np.asarray(ndtri(uniform(seed, kind, streams, width)), dtype=np.float64)


def order(seed: int, kind: Kind, streams: NDArray[np.integer], width: int) -> Ints:
    """(streams, width) random permutations of range(width)."""
    return np.argsort(uniform(seed, kind, streams, width), axis=1, kind="stable").astype(np.int64)
