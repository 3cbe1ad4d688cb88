"""Forecasts beside what came of them, one row a label that is scored: what Murphy's terms are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from saturation.errors import UsageError
from saturation.metrics.common import pick, shares
from saturation.metrics.majority import majority_credit, top_label
from saturation.metrics.metric import Human
from saturation.typing import Floats, Probs, TieRule

OutcomeName = Literal["votes", "soft", "majority"]
LabelChoice: TypeAlias = int | Literal["sum", "mean", "top"]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Forecasts and what came of them, one row a label that is scored.

    Attributes
    ----------
    outcome
        What is forecast.
    forecast, observed
        (..., rows, items) m and h (or the majority's credit).
    within
        (..., rows, items) variance of one vote of the item, h (1 - h); zero unless the outcome is single votes.
    within_corrected
        The same, unbiased: n h (1 - h) / (n - 1); NaN for single votes.
    """

    outcome: OutcomeName
    forecast: Floats
    observed: Floats
    within: Floats
    within_corrected: Floats


def pairs(
    probs: Probs,
    human: Human,
    *,
    outcome: OutcomeName = "votes",
    label: LabelChoice = "sum",
    ties: TieRule = "share",
    seed: int = 0,
) -> Pairs:
    """Forecasts beside outcomes for every label (``sum``, ``mean``), one label, or the model's top label."""
    if outcome == "majority":
        target = majority_credit(human, ties=ties, seed=seed)
    elif outcome in ("votes", "soft"):
        target = shares(human.counts)
    else:
        raise UsageError(f"unknown outcome {outcome!r}; choose votes, soft or majority")
    forecast, observed = _rows(probs, target, label)
    within, corrected = np.zeros(observed.shape), np.zeros(observed.shape)
    if outcome == "votes":
        n = np.asarray(human.counts, dtype=np.float64).sum(axis=-1)
        within = observed * (1 - observed)
        corrected = within * np.divide(n, n - 1, out=np.full(n.shape, np.nan), where=n > 1)
    shape = np.broadcast_shapes(forecast.shape, observed.shape)
    spread = (np.ascontiguousarray(np.broadcast_to(one, shape)) for one in (forecast, observed, within, corrected))
    return Pairs(outcome, *spread)


def _rows(probs: Probs, target: Floats, label: LabelChoice) -> tuple[Floats, Floats]:
    """(..., rows, items) forecasts and outcomes of the labels that are scored."""
    if label == "top":
        top = top_label(probs)
        return pick(probs, top)[..., None, :], pick(target, top)[..., None, :]
    by_label = np.swapaxes(probs, -1, -2), np.swapaxes(target, -1, -2)
    if label in ("sum", "mean"):
        return by_label
    if not isinstance(label, int) or not 0 <= label < probs.shape[-1]:
        raise UsageError(f"label {label!r} is neither sum, mean, top nor an index below {probs.shape[-1]}")
    return by_label[0][..., label : label + 1, :], by_label[1][..., label : label + 1, :]


def over_labels(values: Floats, label: LabelChoice) -> Floats:
    """(..., rows, terms) -> (..., terms): terms of every row summed or, for ``mean``, averaged."""
    return np.asarray(values.mean(axis=-2) if label == "mean" else values.sum(axis=-2))
