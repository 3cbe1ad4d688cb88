"""Counter-based random words: a pure function of (seed, purpose, stream, counter).

No state, so thread count, block size and the number of conditions cannot change a result, and asking for more
resamples extends the same sequence. The mixer is the splitmix64 finaliser; kernels repeat it inside their own
file. ``word`` is the pure-Python mirror that every vectorised and compiled version is tested against.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from saturation.errors import UsageError
from saturation.typing import Floats, Words

GOLDEN = 0x9E3779B97F4A7C15
STREAM_OFFSET = 0xD1B54A32D192ED03
_MASK = 0xFFFFFFFFFFFFFFFF


class Purpose(IntEnum):
    """What random words are for; a new use takes a new number, so that it never shifts another."""

    ITEMS = 1
    SEEDS = 2
    ANNOTATORS = 3
    VOTES = 4
    SUBSAMPLE = 5
    REFERENCE = 6
    TIES = 7
    SIGNS = 8
    SIMULATE = 9
    SPLITS = 10
    MAX_T = 11
    OWNERS = 12
    POPULATION = 13
    CEILING = 14
    PLANNING = 20
    VOTE_SPLITS = 21
    TRAINING_ORDER = 40
    TRAINING_LABELS = 41
    HELD_OUT = 42
    SOFT_VOTES = 43
    COLLECTING = 44


def mix64(value: int) -> int:
    """The splitmix64 finaliser on one 64-bit word.

    Examples
    --------
    >>> hex(mix64(GOLDEN))
    '0xe220a8397b1dcdaf'
    """
    value &= _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def key(seed: int, purpose: int, stream: int) -> int:
    """The key of one stream; ``word`` adds counters to it."""
    return mix64(mix64(seed + GOLDEN * purpose) ^ mix64(stream + STREAM_OFFSET))


def word(seed: int, purpose: int, stream: int, counter: int) -> int:
    """One 64-bit random word.

    Parameters
    ----------
    seed
        The user's resample seed.
    purpose
        A :class:`Purpose`.
    stream
        What the draw belongs to (a resample, an item), by canonical rank.
    counter
        The position within the stream.
    """
    return mix64(key(seed, purpose, stream) + GOLDEN * (counter + 1))


def words(seed: int, purpose: int, streams: NDArray[np.integer], counters: NDArray[np.integer]) -> Words:
    """Random words for broadcast arrays of streams and counters: ``word`` in NumPy.

    Examples
    --------
    >>> import numpy as np
    >>> grid = words(7, Purpose.ITEMS, np.arange(2)[:, None], np.arange(3))
    >>> int(grid[1, 2]) == word(7, Purpose.ITEMS, 1, 2)
    True
    """
    with np.errstate(over="ignore"):
        keys = _mix(np.uint64(mix64(seed + GOLDEN * purpose)) ^ _mix(_u64(streams) + np.uint64(STREAM_OFFSET)))
        return _mix(keys + np.uint64(GOLDEN) * (_u64(counters) + np.uint64(1)))


def uniforms(seed: int, purpose: int, streams: NDArray[np.integer], counters: NDArray[np.integer]) -> Floats:
    """Uniform numbers in the open interval (0, 1), 53 bits each."""
    top = (words(seed, purpose, streams, counters) >> np.uint64(11)).astype(np.float64)
    return (top + 0.5) * 2.0**-53


def _u64(values: NDArray[np.integer]) -> Words:
    return np.asarray(values).astype(np.uint64)


def _mix(values: Words) -> Words:
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def seed_of(rng: int | np.random.Generator) -> int:
    """The resample seed behind ``rng``: an integer as it is, or one integer drawn from a NumPy generator.

    Raises
    ------
    UsageError
        When it is neither, or negative.

    Examples
    --------
    >>> seed_of(7)
    7
    """
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise UsageError(f"the seed is {rng!r}; give a whole number from 0, or a NumPy Generator")
    return int(rng)
