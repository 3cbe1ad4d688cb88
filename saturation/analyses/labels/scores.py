"""Item scores of drawn votes against reference votes: what enumeration and Monte Carlo evaluate."""

from __future__ import annotations

import numpy as np

from saturation.analyses.labels.exact import entropies
from saturation.errors import UsageError
from saturation.metrics.metric import Human, Metric
from saturation.metrics.spec import split_spec
from saturation.resampling.exact_states import Score
from saturation.typing import Floats, Ints

TIES = ("share", "any", "first", "last")
SYMMETRIC = ("js_distance", "hellinger", "entropy_error", "entropy_rmse")
"""Metrics that do not care which label is which."""


def score_of(metric: Metric, alpha: float, ties: str) -> tuple[Score, bool]:
    """The score of an item metric, and whether it does not care which label is which.

    ``accuracy`` is the agreement of modes: the share of the drawn votes' modes (``ties`` chooses among them) that are
    modes of the reference. ``top_vote_share`` is the reference's share of the drawn votes' mode.
    """
    name, told = split_spec(metric.name)
    if name in ("accuracy", "top_vote_share"):
        rule = told.get("ties", ties)
        if rule not in TIES:
            raise UsageError(
                f"{metric.name}: between votes and votes, ties {rule!r} mean nothing; use {', '.join(TIES)}"
            )
        score = mode_agreement if name == "accuracy" else top_vote_share
        return lambda drawn, reference: score(drawn, reference, rule), rule in ("share", "any")

    if name == "entropy_error":
        return lambda drawn, reference: np.abs(entropies(drawn, alpha) - entropies(reference, 0.0)), True

    def smoothed(drawn: Ints, reference: Ints) -> Floats:
        assert metric.features is not None
        votes = drawn + alpha
        target = votes / votes.sum(axis=-1, keepdims=True)
        return metric.features(target, Human(reference))[..., 0, :]

    return smoothed, name in SYMMETRIC


def squared_entropy_error(alpha: float) -> Score:
    """(H(target) - H(reference))^2, whose root mean is ``entropy_rmse``."""
    return lambda drawn, reference: np.asarray((entropies(drawn, alpha) - entropies(reference, 0.0)) ** 2)


def mode_agreement(drawn: Ints, reference: Ints, ties: str = "share") -> Floats:
    """How much of the drawn votes' majority is a mode of the reference, in [0, 1].

    Parameters
    ----------
    drawn, reference
        (..., labels) votes.
    ties
        ``share``: the share of the drawn modes that are modes of the reference; ``any``: whether one is; ``first``,
        ``last``: whether that one is.

    Examples
    --------
    >>> mode_agreement(np.array([2, 2, 1]), np.array([5, 3, 3])).item()
    0.5
    """
    return _over_modes(drawn, reference == reference.max(axis=-1, keepdims=True), ties)


def top_vote_share(drawn: Ints, reference: Ints, ties: str = "share") -> Floats:
    """Share of the reference's votes for the drawn votes' mode; ``any``: for the best of tied modes.

    Examples
    --------
    >>> top_vote_share(np.array([2, 2, 1]), np.array([5, 3, 2])).item()
    0.4
    """
    return _over_modes(drawn, reference / reference.sum(axis=-1, keepdims=True), ties)


def _over_modes(drawn: Ints, credit: Floats | np.ndarray[tuple[int, ...], np.dtype[np.bool_]], ties: str) -> Floats:
    modes = drawn == drawn.max(axis=-1, keepdims=True)
    credit = np.where(modes, credit, 0.0)
    if ties == "any":
        return np.asarray(credit.max(axis=-1))
    if ties == "share":
        return np.asarray(credit.sum(axis=-1) / modes.sum(axis=-1))
    n_labels = modes.shape[-1]
    first = modes.argmax(axis=-1) if ties == "first" else n_labels - 1 - modes[..., ::-1].argmax(axis=-1)
    return np.asarray(np.take_along_axis(credit, first[..., None], axis=-1)[..., 0])
