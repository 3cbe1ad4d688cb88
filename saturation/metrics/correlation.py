"""Pearson's r of model and human entropy, over all items and within sources, as functions of feature means."""

from __future__ import annotations

from typing import Literal

import numpy as np

from saturation.errors import UsageError
from saturation.metrics import ranks
from saturation.metrics.entropy import entropy, entropy_of_counts
from saturation.metrics.metric import Human, over_leading_axes
from saturation.typing import Counts, Floats, Ints, Probs, Scores

Kind = Literal["pearson", "spearman", "kendall"]

CONSTANT_VARIANCE = 1e-24
"""A side whose entropies agree to 12 decimals counts as constant."""
ROUNDING = 1e-12
"""A variance below this part of its second moment is rounding noise."""


def entropy_correlation(probs: Probs, counts: Counts, *, kind: Kind = "pearson") -> Floats:
    """Correlation over items of H(m) and H(h); higher is better, range [-1, 1].

    Parameters
    ----------
    probs
        (..., items, labels) model probabilities.
    counts
        (items, labels) votes.
    kind
        ``pearson``, ``spearman`` or ``kendall`` (tau-b).

    Returns
    -------
    (...); NaN where either side is constant.

    Examples
    --------
    >>> import numpy as np
    >>> m = np.array([[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]])
    >>> round(float(entropy_correlation(m, np.array([[5, 5], [9, 1], [10, 0]]))), 12)
    1.0
    """
    if kind == "pearson":
        return combine_pearson(entropy_features(probs, Human(counts)).mean(axis=-1))
    if kind not in ranks.RANKED:
        raise UsageError(f"kind of entropy_correlation can be pearson, spearman or kendall, not {kind!r}")
    one = np.ones((1, probs.shape[-2]))
    return over_leading_axes(lambda p: ranks.RANKED[kind](*ranks.entropy_pairs(p, counts), one)[0], probs)


def entropy_correlation_within(probs: Probs, counts: Counts, groups: Ints) -> Floats:
    """Pooled within-group Pearson correlation of H(m) and H(h), both centred by group; higher is better.

    Parameters
    ----------
    groups
        (items,) codes; items with -1 are left out.

    Returns
    -------
    (...) in [-1, 1]; NaN where within the groups either side is constant.
    """
    return combine_within(within_group_features(probs, Human(counts, groups=groups)).mean(axis=-1))


def entropy_features(probs: Probs, human: Human) -> Floats:
    """(..., 5, items): x, y, x^2, y^2, xy of the entropies, centred so that the moments keep their digits."""
    x = entropy(probs)
    y = np.broadcast_to(entropy_of_counts(human.counts), x.shape)
    return pearson_features(x, y)


def pearson_features(x: Floats, y: Floats) -> Floats:
    """(..., items) pairs to (..., 5, items) features of ``combine_pearson``."""
    x = x - x.mean(axis=-1, keepdims=True)
    y = y - y.mean(axis=-1, keepdims=True)
    return np.stack([x, y, x * x, y * y, x * y], axis=-2)


def combine_pearson(means: Floats) -> Floats:
    """Pearson's r from the means (..., 5) of the features; NaN where a side is constant."""
    x, y, xx, yy, xy = np.moveaxis(means, -1, 0)
    return _ratio(xy - x * y, xx - x * x, yy - y * y, xx, yy)


def pearson_influence(features: Floats) -> Scores:
    """Influence values of r with mean 0: xy - r (x^2 + y^2) / 2 of the standardised pair, (..., items)."""
    x, y = features[..., 0, :], features[..., 1, :]
    x = x - x.mean(axis=-1, keepdims=True)
    y = y - y.mean(axis=-1, keepdims=True)
    return _influence(x, y, combine_pearson(features.mean(axis=-1)))


def within_group_features(probs: Probs, human: Human) -> Floats:
    """Features of the pooled within-group r: (..., 3 + 3 G, items).

    x^2, y^2, xy, then for each group its indicator and its x and y; the means of a group are therefore taken anew in
    every resample. Items without a group are zero everywhere; without any group only the first three rows remain.
    """
    x = entropy(probs)
    y = np.broadcast_to(entropy_of_counts(human.counts), x.shape)
    member = group_members(human)
    known = member.any(axis=0)
    x = np.where(known, x - x.mean(axis=-1, keepdims=True), 0.0)
    y = np.where(known, y - y.mean(axis=-1, keepdims=True), 0.0)
    spread = np.broadcast_to(member, (*x.shape[:-1], *member.shape))
    pooled = np.stack([x * x, y * y, x * y], axis=-2)
    return np.concatenate([pooled, spread, spread * x[..., None, :], spread * y[..., None, :]], axis=-2)


def group_members(human: Human) -> Floats:
    """(groups, items) indicators; no rows where groups are not known."""
    if human.groups is None:
        return np.zeros((0, np.asarray(human.counts).shape[-2]))
    codes = np.unique(human.groups[human.groups >= 0])
    return np.asarray(human.groups == codes[:, None], dtype=np.float64)


def combine_within(means: Floats) -> Floats:
    """Pooled within-group r from the means of ``within_group_features``; NaN without groups or without spread."""
    xx, yy, xy = np.moveaxis(means[..., :3], -1, 0)
    weight, x, y = np.split(means[..., 3:], 3, axis=-1)
    share: Floats = np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0)
    var_x = xx - (x * x * share).sum(axis=-1)
    var_y = yy - (y * y * share).sum(axis=-1)
    return _ratio(xy - (x * y * share).sum(axis=-1), var_x, var_y, xx, yy)


def within_influence(features: Floats) -> Scores:
    """Influence values of the pooled within-group r, mean 0; items without a group have none. (..., items)."""
    weight, x, y = np.split(features[..., 3:, :], 3, axis=-2)
    share = weight.mean(axis=-1, keepdims=True)
    x = (x - weight * x.mean(axis=-1, keepdims=True) / share).sum(axis=-2)
    y = (y - weight * y.mean(axis=-1, keepdims=True) / share).sum(axis=-2)
    return _influence(x, y, combine_within(features.mean(axis=-1)))


def _influence(x: Floats, y: Floats, r: Floats) -> Scores:
    """From centred pairs; NaN wherever r is."""
    defined = np.isfinite(r)
    scale_x = np.where(defined, (x * x).mean(axis=-1), np.nan)
    scale_y = np.where(defined, (y * y).mean(axis=-1), np.nan)
    x = x / np.sqrt(scale_x)[..., None]
    y = y / np.sqrt(scale_y)[..., None]
    return np.asarray(x * y - r[..., None] * (x * x + y * y) / 2)


def _ratio(cov: Floats, var_x: Floats, var_y: Floats, square_x: Floats, square_y: Floats) -> Floats:
    """Cov / sqrt(var_x var_y), clipped to [-1, 1]; NaN where a variance is nothing but rounding."""
    varies = (var_x > np.maximum(CONSTANT_VARIANCE, ROUNDING * square_x)) & (
        var_y > np.maximum(CONSTANT_VARIANCE, ROUNDING * square_y)
    )
    scale = np.sqrt(np.where(varies, var_x * var_y, 1.0))
    return np.where(varies, np.clip(cov / scale, -1.0, 1.0), np.nan)
