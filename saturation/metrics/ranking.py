"""Whether the model orders the labels of an item as its annotators do."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from saturation.errors import UsageError
from saturation.metrics.common import shares
from saturation.typing import Counts, Floats, Probs, Scores

RankTies = Literal["stable", "tolerant"]


def rank_agreement(probs: Probs, counts: Counts, *, ties: RankTies = "stable") -> Scores:
    """1 where both sides put the labels in the same order, else 0 (RankCS of Baan et al. 2022); higher is better.

    Parameters
    ----------
    probs
        (..., items, labels) model probabilities.
    counts
        (items, labels) votes.
    ties
        ``stable``: both stable argsorts are equal, so tied votes count in label order. ``tolerant``: pairs of
        labels with equal votes are ignored; every other pair must be ordered strictly alike.

    Returns
    -------
    (..., items); NaN where nobody voted.

    Examples
    --------
    >>> import numpy as np
    >>> m, c = np.array([[0.2, 0.1, 0.7]]), np.array([[1, 1, 3]])
    >>> [float(rank_agreement(m, c, ties=rule)[0]) for rule in ("stable", "tolerant")]
    [0.0, 1.0]
    """
    human = shares(counts)
    order = np.argsort(human, axis=-1, kind="stable")
    voted = np.isfinite(human).all(axis=-1)
    if ties == "stable":
        same = np.argsort(probs, axis=-1, kind="stable") == order
        return np.where(voted, same.all(axis=-1), np.nan)
    if ties == "tolerant":
        return np.where(voted, _tolerant(probs, human, order), np.nan)
    raise UsageError(f"ties of rank_agreement can be stable or tolerant, not {ties!r}")


def _tolerant(probs: Probs, human: Floats, order: NDArray[np.intp]) -> Scores:
    """In order of the votes, wherever they rise, every model value before must lie below every one after."""
    shape = np.broadcast_shapes(probs.shape, order.shape)
    model = np.take_along_axis(np.broadcast_to(probs, shape), np.broadcast_to(order, shape), axis=-1)
    votes = np.take_along_axis(human, order, axis=-1)
    before = np.maximum.accumulate(model, axis=-1)[..., :-1]
    after = np.minimum.accumulate(model[..., ::-1], axis=-1)[..., ::-1][..., 1:]
    tied = votes[..., 1:] == votes[..., :-1]
    return np.asarray((tied | (before < after)).all(axis=-1), dtype=np.float64)
