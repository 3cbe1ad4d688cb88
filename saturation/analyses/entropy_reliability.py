"""Reliability of the human entropies: how well one crowd's entropies predict another's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.metrics.entropy import entropy_term
from saturation.metrics.entropy_reliability import (
    FEW_VOTES,
    TOO_FEW_VOTES,
    half_size,
    reliability_from_moments,
    spearman_brown,
    step_up_factor,
)
from saturation.resampling.exact_cells import prepare
from saturation.resampling.exact_moments import Additive, Draw, additive_moments
from saturation.typing import Floats, Ints

TOO_FEW = "no reliability below 6 votes an item"
BIASED = "Spearman-Brown biased low at so few votes"
NOT_POSITIVE = "it is not above 0, so nothing can be divided by it"
CONSTANT = "the entropies do not vary between items"
TOO_MUCH = "too many votes and labels to compute the exact variances"


@dataclass(frozen=True, slots=True)
class Reliability:
    """Reliability of H(h) at the votes at hand.

    Attributes
    ----------
    value
        R_n, the correlation of the entropies of two disjoint crowds of n votes; None where undefined.
    half
        R of half crowds, from which it is scaled.
    half_size
        Votes in a half crowd.
    reason
        Why there is none, or what to keep in mind.
    """

    value: float | None
    half: float | None = None
    half_size: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class HalfMoments:
    """Per-item moments of the entropies of two disjoint half crowds: each (items,), nats and nats squared."""

    mean: Floats
    variance: Floats
    covariance: Floats


def half_moments(counts: Ints, size: int) -> HalfMoments | None:
    """E H, Var H and Cov(H_A, H_B) for two disjoint crowds of ``size`` votes of each item, exactly.

    Parameters
    ----------
    counts
        (items, labels), at least 2 ``size`` votes an item.
    size
        Votes in each crowd.

    Returns
    -------
    HalfMoments
        None where exact variances would take too long.
    """
    # Cov(A, B) = (Var(A + B) - Var A - Var B) / 2, and A and B have the same law
    one = Additive(entropy_term)
    both = Additive(lambda a, b: entropy_term(a, b) + entropy_term(b, a))
    moments = additive_moments(prepare(counts), Draw("disjoint", size, size), [one, both])
    if moments.variance is None:
        return None
    variance, together = moments.variance
    return HalfMoments(moments.mean[0], variance, together / 2 - variance)


def reliability(counts: Ints) -> Reliability:
    """R_n of the entropies of ``counts``, from exact moments of disjoint halves and Spearman-Brown.

    R_half = [Var_i E H + mean_i Cov(H_A, H_B)] / [Var_i E H + mean_i Var H] for halves of floor(min n / 2) votes;
    R_n = g R_half / (1 + (g - 1) R_half) with g = n / half, n the harmonic mean of the items' votes.

    Parameters
    ----------
    counts
        (items, labels) integer votes; items without votes are left out.

    Examples
    --------
    >>> reliability(np.array([[3, 1], [2, 2]])).reason
    'no reliability below 6 votes an item'
    """
    counts = np.asarray(counts, dtype=np.int64)
    totals = counts.sum(axis=1)
    counts, totals = counts[totals > 0], totals[totals > 0]
    if len(counts) == 0 or totals.min() < TOO_FEW_VOTES:
        return Reliability(None, reason=TOO_FEW)
    size = half_size(counts)
    moments = half_moments(counts, size)
    if moments is None:
        return Reliability(None, reason=TOO_MUCH)
    half = reliability_from_moments(moments.mean, moments.variance, moments.covariance)
    if not np.isfinite(half):
        return Reliability(None, half_size=size, reason=CONSTANT)
    whole = spearman_brown(half, step_up_factor(counts))
    remarks = (BIASED if totals.min() < FEW_VOTES else None, None if whole > 0 else NOT_POSITIVE)
    value = float(whole) if np.isfinite(whole) else None
    return Reliability(value, float(half), size, "; ".join(filter(None, remarks)) or None)
