"""Scores against votes that are drawn: what they are on average over all draws, exactly where that is a sum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from saturation.analyses.heldout.divisions import Part
from saturation.metrics.common import added_votes, raised
from saturation.metrics.metric import Human, Metric
from saturation.resampling.exact_laws import marginal
from saturation.resampling.exact_moments import Draw
from saturation.resampling.exact_states import state_moments
from saturation.typing import Counts, Floats, Ints, Probs, Scores

_ROUNDING = 1e-9
_FLOORED = ("kl", "cross_entropy")
STATES = 1 << 22
"""Most states times labels that are listed for the corrections of one part."""


def exact_scores(metric: Metric, probs: Probs, part: Part, items: Ints, floor: float) -> Scores | None:
    """Expected scores over all draws of the part's votes, for metrics that are sums over labels.

    E score = sum_k sum_j P(c_k = j) g(m_k, j / R), P hypergeometric.

    Parameters
    ----------
    probs
        (..., items, labels) models.
    items
        Which of the part's items these are.
    floor
        Model probabilities below it are raised to it in ``kl`` and ``cross_entropy``.

    Returns
    -------
    (..., items); None where the metric is no such sum, or its sum would be infinite.
    """
    if metric.term is None or metric.kind != "item" or part.whole is None:
        return None
    assert metric.features is not None
    whole = part.whole[items]
    models = raised(probs, floor) if metric.family in _FLOORED else probs
    with np.errstate(divide="ignore", invalid="ignore"):
        votes = _of_labels(metric, whole)
        here = _sum(metric, models, _shares(metric, votes[..., None], whole.sum(axis=1)), np.ones((1, 1, 1)))
        told = metric.features(probs, Human(whole))[..., 0, :]
        if not np.allclose(here, told, rtol=_ROUNDING, atol=_ROUNDING):
            return None  # a floor of the metric's own
        out = np.empty(probs.shape[:-1])
        sizes = part.sizes[items]
        for size in np.unique(sizes):
            own = np.flatnonzero(sizes == size)
            out[..., own] = _drawn(metric, models[..., own, :], whole[own], int(size))
    return out if np.isfinite(out).all() else None


def _drawn(metric: Metric, models: Probs, whole: Ints, size: int) -> Scores:
    """Expected scores of items that all have ``size`` votes drawn."""
    votes = _of_labels(metric, whole)
    totals = np.broadcast_to(whole.sum(axis=1, keepdims=True), votes.shape)
    law = marginal(totals.ravel(), votes.ravel(), size, replace=False).reshape(*votes.shape, size + 1)
    drawn = np.broadcast_to(np.arange(size + 1), law.shape)
    return _sum(metric, models, _shares(metric, drawn, np.full(len(whole), size)), law)


def _of_labels(metric: Metric, values: Ints) -> Ints:
    """Votes of every label, or of it and those before it."""
    return values.cumsum(axis=-1) if metric.cumulative else values


def _shares(metric: Metric, votes: Ints, sizes: Ints) -> Floats:
    """(items, labels, steps) shares of so many votes among ``sizes`` of an item, smoothed as the metric does."""
    n_labels = votes.shape[1]
    added = 0.0 if metric.smooth is None else added_votes(metric.smooth, n_labels)
    prior = added * (np.arange(1, n_labels + 1) if metric.cumulative else np.ones(n_labels))
    return np.asarray((votes + prior[:, None]) / (sizes + n_labels * added)[:, None, None])


def _sum(metric: Metric, models: Probs, human: Floats, law: Floats) -> Scores:
    """(..., items) sums over labels k and steps j of law_kj g(m_k, h_kj)."""
    assert metric.term is not None
    said = models.cumsum(axis=-1) if metric.cumulative else models
    out = np.empty(models.shape[:-1])
    for place in np.ndindex(models.shape[:-2]):
        values = metric.term(np.broadcast_to(said[place][..., None], human.shape), human)
        out[place] = np.where(law > 0, law * values, 0.0).sum(axis=-1).sum(axis=-1)
    return out


def mean_of_counts(score: Callable[[Counts], Scores], part: Part, n_labels: int) -> tuple[Scores, bool]:
    """(items,) mean over draws of what depends on the votes alone, not on which label is which; and whether exactly.

    Exactly by listing all ways to draw the votes, where they are not too many; else over the draws of the part.
    """
    out = np.stack([score(counts) for counts in part.draws]).mean(axis=0)
    if part.whole is None:
        return out, True
    exact = True
    for size in np.unique(part.sizes):
        own = np.flatnonzero(part.sizes == size)
        found = state_moments(
            part.whole[own], Draw("all", int(size)), [lambda drawn, _: score(drawn)], limit=STATES * n_labels
        )
        out[own[found.listed]] = found.mean[0][found.listed]
        exact = exact and bool(found.listed.all())
    return out, exact
