"""Temperature and smoothing strength fitted on development votes, from arrays alone.

Both minimise the soft cross-entropy, - sum h ln m averaged over items, of what a model trained on hard labels says
about items that it was not trained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from saturation.errors import UsageError
from saturation.metrics.common import shares
from saturation.metrics.divergence import DEFAULT_FLOOR, cross_entropy
from saturation.typing import Counts, Floats, Probs, Scores, Weights

Weighting: TypeAlias = Literal["items", "votes"]
"""Whether every item counts alike, or as often as it was voted on."""

COLDEST, HOTTEST = 0.01, 100.0
"""Bounds of a fitted temperature."""
AT_COLDEST = f"no temperature above {COLDEST:g} is best: the development votes are as the model says, only surer"
AT_HOTTEST = f"no temperature below {HOTTEST:g} is best: the development votes go against the model, or not with it"
FLAT = "every label has the same score on every item, so that no temperature changes anything"
_CELLS_AT_ONCE = 1 << 21
_STEPS = 200
_CLOSE = 1e-11
"""Newton steps end when they move less, relatively: the next would move by about the square of that."""


@dataclass(frozen=True, slots=True)
class Temperature:
    """A fitted temperature.

    Attributes
    ----------
    value
        T; None where no temperature changes anything.
    converged
        Whether the minimum lies inside the bounds (``COLDEST``, ``HOTTEST``).
    reason
        Why not, in words.
    loss_before, loss_after
        Soft cross-entropy in nats at T = 1 and at T.
    """

    value: float | None
    converged: bool
    reason: str | None
    loss_before: float
    loss_after: float


@dataclass(frozen=True, slots=True)
class Tuned:
    """A chosen smoothing strength.

    Attributes
    ----------
    strength
        The one with the smallest loss; the smallest of those that tie.
    losses
        (strength, soft cross-entropy in nats) of all, by strength.
    """

    strength: float
    losses: tuple[tuple[float, float], ...]


def log_scores(probs: Probs, floor: float = DEFAULT_FLOOR) -> Floats:
    """Probabilities as logits: ln max(p, floor), which is what is left of logits but for a number an item.

    Examples
    --------
    >>> log_scores(np.array([[1.0, 0.0]]), floor=0.01).round(4).tolist()
    [[0.0, -4.6052]]
    """
    if not 0 < floor < 1:
        raise UsageError(f"the floor is {floor}; give a probability above 0")
    return np.log(np.maximum(probs, floor))


def apply_temperature(scores: Floats, temperature: float) -> Probs:
    """softmax(scores / T): flatter than the model for T > 1, sharper for T < 1.

    Parameters
    ----------
    scores
        (..., labels) finite logits or log probabilities.
    temperature
        T > 0.

    Returns
    -------
    (..., labels) rows on the simplex.

    Examples
    --------
    >>> apply_temperature(np.log(np.array([0.8, 0.2])), 2.0).round(4).tolist()  # sqrt 4 : 1
    [0.6667, 0.3333]
    """
    if not 0 < temperature < np.inf:
        raise UsageError(f"the temperature is {temperature}; give a positive number")
    return _softmax(_checked_scores(scores) / temperature)


def fit_temperature(scores: Floats, targets: Counts | Floats, *, weights: Weighting = "items") -> Temperature:
    """The temperature that minimises the soft cross-entropy (Guo et al. 2017, eq. 9, with votes for labels).

    - sum_i w_i sum_k h_ik ln softmax(z_i / T)_k is convex in 1/T: its minimum is unique, found by Newton steps that
    are kept inside a bracket.

    Parameters
    ----------
    scores
        (items, labels) finite logits, or log probabilities (:func:`log_scores`).
    targets
        (items, labels) votes, or label distributions; every row has a positive sum.
    weights
        ``items``: every item counts alike; ``votes``: by its votes.

    Returns
    -------
    Temperature
        At a bound it is that bound, not converged, with the reason.

    Raises
    ------
    UsageError
        When scores are not finite, targets negative or empty, or shapes differ.

    Examples
    --------
    >>> z = np.array([[2.0, 0.0], [0.0, 2.0]])
    >>> votes = np.array([[3, 1], [1, 3]])  # ln 3 apart where the model says 2
    >>> fitted = fit_temperature(z, votes)
    >>> round(fitted.value, 9), round(float(2 / np.log(3)), 9)
    (1.820478453, 1.820478453)
    """
    scores, human, item_weights = _checked(scores, targets, weights)
    before = _loss(scores, human, item_weights, 1.0)
    if _is_flat(scores):
        return Temperature(None, False, FLAT, before, before)
    value = float(_minima(scores, human, item_weights[None], 1.0)[0])
    reason = AT_COLDEST if value <= COLDEST else AT_HOTTEST if value >= HOTTEST else None
    return Temperature(value, reason is None, reason, before, _loss(scores, human, item_weights, value))


def resampled_temperatures(
    scores: Floats, targets: Counts | Floats, resamples: Weights, *, weights: Weighting = "items"
) -> Floats:
    """The temperature fitted anew in every resample of the items.

    Parameters
    ----------
    scores, targets, weights
        As in :func:`fit_temperature`.
    resamples
        (resamples, items) how often each item is in it.

    Returns
    -------
    (resamples,) kept inside the bounds; NaN where a resample holds no item, or no temperature changes anything.

    Examples
    --------
    >>> z, votes = np.array([[2.0, 0.0], [1.0, 0.0]]), np.array([[3, 1], [3, 1]])
    >>> alone = resampled_temperatures(z, votes, np.array([[2.0, 0.0], [0.0, 2.0]]))
    >>> (alone * np.log(3)).round(9).tolist()  # T ln 3 is 2 for the first item and 1 for the other
    [2.0, 1.0]
    """
    scores, human, item_weights = _checked(scores, targets, weights)
    chosen = np.asarray(resamples, dtype=np.float64) * item_weights
    if _is_flat(scores):
        return np.full(len(chosen), np.nan)
    start = float(_minima(scores, human, item_weights[None], 1.0)[0])
    rows = max(1, _CELLS_AT_ONCE // scores.size)
    blocks = [_minima(scores, human, chosen[first : first + rows], 1 / start) for first in range(0, len(chosen), rows)]
    found = np.concatenate(blocks) if blocks else np.zeros(0)
    return np.where(chosen.sum(axis=1) > 0, found, np.nan)


def tune_smoothing(
    strengths: Sequence[float],
    probs: Probs,
    targets: Counts | Floats,
    *,
    weights: Weighting = "items",
    floor: float = DEFAULT_FLOOR,
) -> Tuned:
    """The smoothing strength whose models have the smallest soft cross-entropy.

    Parameters
    ----------
    strengths
        (strengths,) distinct, as the models were trained with.
    probs
        (strengths, ..., items, labels) what these models say; axes between (training seeds) are averaged over.
    targets
        (items, labels) development votes, or label distributions.
    weights
        ``items``: every item counts alike; ``votes``: by its votes.
    floor
        Probabilities below it are raised to it.

    Examples
    --------
    >>> probs = np.array([[[0.99, 0.01]], [[0.8, 0.2]]])
    >>> tune_smoothing([0.05, 0.4], probs, np.array([[8, 2]])).strength
    0.4
    """
    if not len(strengths) or len(set(strengths)) < len(strengths) or len(probs) != len(strengths):
        raise UsageError(f"{len(strengths)} strengths are given for {len(probs)} models; give each its own")
    human, item_weights = _checked_targets(targets, weights)
    order = np.argsort(np.asarray(strengths, dtype=np.float64))
    scored = smoothing_scores(probs, human, floor=floor)
    losses = [float((scored[i] * item_weights).sum() / item_weights.sum()) for i in order]
    values = [float(strengths[i]) for i in order]
    return Tuned(values[int(np.argmin(losses))], tuple(zip(values, losses, strict=True)))


def smoothing_scores(probs: Probs, targets: Counts | Floats, *, floor: float = DEFAULT_FLOOR) -> Scores:
    """(strengths, items) soft cross-entropy in nats of every item, averaged over the axes between (seeds)."""
    scored = cross_entropy(np.asarray(probs, dtype=np.float64), targets, floor=floor)
    return np.asarray(scored.reshape(len(scored), -1, scored.shape[-1]).mean(axis=1))


def item_weights_of(targets: Counts | Floats, weights: Weighting) -> Floats:
    """(items,) how much every item counts."""
    return _checked_targets(targets, weights)[1]


# --- the minimum ------------------------------------------------------------------------------------------------------


def _minima(scores: Floats, human: Floats, weights: Weights, start: float) -> Floats:
    """(resamples,) temperatures: roots in u = 1/T of the derivative of the loss, which never falls with u."""
    low, high = np.full(len(weights), 1 / HOTTEST), np.full(len(weights), 1 / COLDEST)
    said = (human * scores).sum(axis=-1)
    still_falls = _derivatives(scores, said, weights, high)[0] <= 0
    rises_already = ~still_falls & (_derivatives(scores, said, weights, low)[0] >= 0)
    u = np.where(still_falls, high, np.where(rises_already, low, np.clip(start, low, high)))
    settled = still_falls | rises_already
    for _ in range(_STEPS):
        if settled.all():
            break
        slope, curvature = _derivatives(scores, said, weights, u)
        low, high = np.where(slope < 0, u, low), np.where(slope > 0, u, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = u - slope / curvature
        inside = (newton >= low) & (newton <= high)
        moved = np.where(slope == 0, u, np.where(inside, newton, (low + high) / 2))
        near = np.abs(moved - u) <= _CLOSE * u
        u, settled = np.where(settled, u, moved), settled | near  # whatever the other resamples still need
    return np.asarray(np.clip(1 / u, COLDEST, HOTTEST))


def _derivatives(scores: Floats, said: Floats, weights: Weights, u: Floats) -> tuple[Floats, Floats]:
    """(resamples,) first and second derivative in u of the loss: sum w (E_m z - E_h z) and sum w Var_m z."""
    m = _softmax(scores * u[:, None, None])
    mean = (m * scores).sum(axis=-1)
    variance = (m * (scores - mean[..., None]) ** 2).sum(axis=-1)
    return (weights * (mean - said)).sum(axis=-1), (weights * variance).sum(axis=-1)


def _loss(scores: Floats, human: Floats, weights: Floats, temperature: float) -> float:
    scaled = scores / temperature
    scaled = scaled - scaled.max(axis=-1, keepdims=True)
    of_item = np.log(np.exp(scaled).sum(axis=-1)) - (human * scaled).sum(axis=-1)
    return float((weights * of_item).sum() / weights.sum())


def _softmax(scores: Floats) -> Probs:
    grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=-1, keepdims=True))


def _is_flat(scores: Floats) -> bool:
    return bool(np.ptp(scores, axis=-1).max(initial=0.0) <= 1e-12)


# --- what may come in -------------------------------------------------------------------------------------------------


def _checked(scores: Floats, targets: Counts | Floats, weights: Weighting) -> tuple[Floats, Floats, Floats]:
    checked = _checked_scores(scores)
    human, item_weights = _checked_targets(targets, weights)
    if checked.shape != human.shape:
        raise UsageError(f"scores have shape {checked.shape}, targets {human.shape}; they need one row an item each")
    return checked, human, item_weights


def _checked_scores(scores: Floats) -> Floats:
    checked = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(checked).all():
        raise UsageError("a score is not finite; take log probabilities with a floor (log_scores)")
    return checked


def _checked_targets(targets: Counts | Floats, weights: Weighting) -> tuple[Floats, Floats]:
    """Label distributions, and how much every item counts."""
    if weights not in ("items", "votes"):
        raise UsageError(f"weights are {weights!r}; choose items or votes")
    given = np.asarray(targets, dtype=np.float64)
    totals = given.sum(axis=-1)
    if given.ndim != 2 or not len(given) or not (np.isfinite(given) & (given >= 0)).all() or (totals <= 0).any():
        raise UsageError("targets are (items, labels) votes or shares, none negative, no row empty, at least one item")
    return shares(given), totals if weights == "votes" else np.ones(len(given))
