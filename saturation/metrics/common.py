"""What every family needs: shares of counts, raised zeros, units, and picking one label an item."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from saturation.errors import UsageError
from saturation.typing import Counts, Floats, Ints

Flags: TypeAlias = NDArray[np.bool_]
Smooth: TypeAlias = float | Literal["1/K"] | None
"""Votes added to every label; ``1/K`` adds one vote in all."""


def shares(counts: Counts, smooth: Smooth = None) -> Floats:
    """Label distribution h = (c + a) / (n + K a) of every item; NaN where nobody voted and nothing is added.

    Parameters
    ----------
    counts
        (..., items, labels) votes, weights or already shares.
    smooth
        a; None means 0.

    Returns
    -------
    (..., items, labels) float64.

    Examples
    --------
    >>> import numpy as np
    >>> shares(np.array([[3, 1, 0]]), smooth="1/K").round(4).tolist()
    [[0.6667, 0.2667, 0.0667]]
    """
    votes = np.asarray(counts, dtype=np.float64)
    if smooth is not None:
        votes = votes + added_votes(smooth, votes.shape[-1])
    totals = votes.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(votes, totals, out=np.full(votes.shape, np.nan), where=totals > 0))


def added_votes(smooth: float | Literal["1/K"], n_labels: int) -> float:
    """The number of votes that ``smooth`` adds to one label."""
    if smooth == "1/K":
        return 1.0 / n_labels
    if not smooth > 0 or not math.isfinite(smooth):
        raise UsageError(f"smooth must be a positive number of votes per label or '1/K', not {smooth}")
    return float(smooth)


def raised(distribution: Floats, floor: float) -> Floats:
    """The distribution with values below ``floor`` raised to it; the rows touched are renormalised.

    Examples
    --------
    >>> import numpy as np
    >>> raised(np.array([[1.0, 0.0], [0.5, 0.5]]), 0.25).tolist()
    [[0.8, 0.2], [0.5, 0.5]]
    """
    check_floor(floor, distribution.shape[-1])
    touched = below_floor(distribution, floor)
    if not touched.any():
        return distribution
    lifted = np.maximum(distribution, floor)
    return np.where(touched[..., None], lifted / lifted.sum(axis=-1, keepdims=True), distribution)


def below_floor(distribution: Floats, floor: float) -> Flags:
    """Which rows (..., items) have a value below ``floor``; their number is reported as ``floored``."""
    return np.asarray((distribution < floor).any(axis=-1))


def check_floor(floor: float, n_labels: int) -> None:
    """Refuse a floor that is negative or would lift every label."""
    if not 0 <= floor < 1 / n_labels:
        raise UsageError(f"floor must be at least 0 and below 1/{n_labels} for {n_labels} labels, not {floor}")


def in_base(nats: Floats, base: float | None) -> Floats:
    """Nats turned into units of another logarithm; None keeps nats."""
    if base is None:
        return nats
    if not base > 1 or not math.isfinite(base):
        raise UsageError(f"base must be a number above 1 or 'e', not {base}")
    return nats / math.log(base)


def pick(values: Floats, label: Ints) -> Floats:
    """values[..., i, label[..., i]]: one label's value an item, leading axes broadcast."""
    shape = np.broadcast_shapes(values.shape[:-1], label.shape)
    spread = np.broadcast_to(values, (*shape, values.shape[-1]))
    return np.take_along_axis(spread, np.broadcast_to(label, shape)[..., None], axis=-1)[..., 0]
