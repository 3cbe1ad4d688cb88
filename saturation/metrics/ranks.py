"""Spearman's rho and Kendall's tau-b with weights: re-ranked exactly in every resample, without sorting again.

A resample gives item i the weight w_i. Its weighted mid-rank is the weight below it plus half the weight tied with it,
which prefix sums along one ascending order deliver. With whole weights this is the statistic of the resampled list.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from saturation.errors import UsageError
from saturation.metrics.entropy import RANK_DECIMALS, entropy, entropy_of_counts
from saturation.typing import Counts, Floats, Ints, Probs, Scores, Weights

BLOCK = 256
"""Items compared with all others at a time, which bounds memory."""


def entropy_pairs(probs: Probs, counts: Counts) -> tuple[Ints, Ints]:
    """Dense rank codes (items,) of H(m) and H(h), both rounded to 12 decimals, so that noise breaks no tie."""
    return dense_codes(entropy(probs)), dense_codes(entropy_of_counts(counts))


def dense_codes(values: Floats) -> Ints:
    """0, 1, 2 ... in ascending order, equal for values that agree to 12 decimals.

    Examples
    --------
    >>> import numpy as np
    >>> dense_codes(np.array([0.3, 0.1, 0.1 + 1e-16, 0.2])).tolist()
    [2, 0, 0, 1]
    """
    if not np.isfinite(values).all():
        raise UsageError("an item without votes or probabilities cannot be ranked; leave it out")
    codes = np.unique(np.round(values, RANK_DECIMALS), return_inverse=True)[1]
    return np.asarray(codes, dtype=np.int64)


def spearman(x: Ints, y: Ints, weights: Weights) -> Floats:
    """Spearman's rho of dense codes x, y (items,) under weights (B, items); NaN where a side is constant. (B,).

    Pearson's r of the weighted mid-ranks (Spearman 1904).

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([0, 1, 2]), np.array([0, 2, 1])
    >>> spearman(x, y, np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 2.0]])).tolist()  # second: items 0, 2, 2
    [0.5, 1.0]
    """
    a = centred_mid_ranks(x, weights)
    b = centred_mid_ranks(y, weights)
    cov = (weights * a * b).sum(axis=-1)
    return _correlation(cov, (weights * a * a).sum(axis=-1), (weights * b * b).sum(axis=-1))


def centred_mid_ranks(codes: Ints, weights: Weights) -> Floats:
    """(weight below - weight above) / 2 of every item: its mid-rank minus the mean rank. (B, items)."""
    group_weight = weight_of_codes(codes, weights)
    through = np.cumsum(group_weight, axis=-1)
    return np.asarray((through - (group_weight + through[..., -1:]) / 2)[..., codes])


def weight_of_codes(codes: Ints, weights: Weights) -> Floats:
    """Total weight of each code: (B, codes)."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    return np.asarray(np.add.reduceat(weights[..., order], starts, axis=-1))


def spearman_leave_one_out(x: Ints, y: Ints) -> Scores:
    """Spearman's rho without each item, in closed form: (items,).

    Without item i the centred mid-rank of j is a_j - sign(x_j - x_i)/2, so every sum is the full one minus what i
    took part in.
    """
    one = np.ones((1, len(x)))
    a, b = centred_mid_ranks(x, one)[0], centred_mid_ranks(y, one)[0]
    cov = (a * b).sum() - a * b - (_signed_sum(a, y) + _signed_sum(b, x)) / 2 + concordance(x, y) / 4
    var_x = (a * a).sum() - a * a - _signed_sum(a, x) + _others(x) / 4
    var_y = (b * b).sum() - b * b - _signed_sum(b, y) + _others(y) / 4
    return _correlation(cov, var_x, var_y)


def kendall(x: Ints, y: Ints, weights: Weights) -> Floats:
    """Kendall's tau-b of dense codes x, y (items,) under weights (B, items); NaN where a side is constant. (B,).

    Concordant minus discordant pairs over the root of the pairs untied in x times those untied in y (Kendall 1945);
    copies of an item are tied with each other. Costs B I^2.
    """
    balance = np.zeros(len(weights))
    for start in range(0, len(x), BLOCK):
        signs = _pair_signs(x, y, slice(start, start + BLOCK)).astype(np.float64)
        for b, row in enumerate(weights):
            balance[b] += (row[start : start + BLOCK] * (signs * row).sum(axis=-1)).sum()
    return _correlation(balance, _untied(x, weights), _untied(y, weights))


def kendall_leave_one_out(x: Ints, y: Ints) -> Scores:
    """Kendall's tau-b without each item, in closed form from what each item adds to the pairs: (items,)."""
    own = concordance(x, y)
    one = np.ones((1, len(x)))
    return _correlation(
        own.sum() - 2 * own,
        _untied(x, one)[0] - 2 * _others(x),
        _untied(y, one)[0] - 2 * _others(y),
    )


def concordance(x: Ints, y: Ints) -> Scores:
    """Pairs of each item that agree in order minus those that disagree: sum_j sign(x_j - x_i) sign(y_j - y_i)."""
    parts = [
        _pair_signs(x, y, slice(start, start + BLOCK)).sum(axis=-1, dtype=np.int64) for start in range(0, len(x), BLOCK)
    ]
    return np.concatenate(parts).astype(np.float64)


RANKED: dict[str, Callable[[Ints, Ints, Weights], Floats]] = {"spearman": spearman, "kendall": kendall}


def _pair_signs(x: Ints, y: Ints, rows: slice) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    """sign(x_j - x_i) sign(y_j - y_i) for i in ``rows`` and every j."""
    return _signs(x, rows) * _signs(y, rows)


def _signs(codes: Ints, rows: slice) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    own = codes[rows, None]
    return (codes > own).view(np.int8) - (codes < own).view(np.int8)


def _signed_sum(values: Floats, codes: Ints) -> Scores:
    """sum_j values_j sign(codes_j - codes_i) for every i, by prefix sums over the codes."""
    by_code = np.bincount(codes, weights=values)
    through = np.cumsum(by_code)
    return np.asarray((through[-1] - 2 * through + by_code)[codes])


def _others(codes: Ints) -> Floats:
    """How many items differ from each item."""
    return np.asarray(len(codes) - np.bincount(codes)[codes], dtype=np.float64)


def _untied(codes: Ints, weights: Weights) -> Floats:
    """Weight of the ordered pairs that differ: W^2 - sum over ties W_g^2. (B,)."""
    group_weight = weight_of_codes(codes, weights)
    total = group_weight.sum(axis=-1)
    return np.asarray(total * total - (group_weight * group_weight).sum(axis=-1))


def _correlation(cov: Floats, var_x: Floats, var_y: Floats) -> Floats:
    """Covariance over the root of both variances; NaN where nothing varies.

    With whole weights every sum is a multiple of 1/4, so a constant side has variance 0 exactly.
    """
    varies = (var_x > 1e-9) & (var_y > 1e-9)
    scale = np.sqrt(np.where(varies, var_x * var_y, 1.0))
    return np.where(varies, np.clip(cov / scale, -1.0, 1.0), np.nan)
