"""What a model's entropy is good for: finding ambiguous items (AUROC) and answering the easy ones first (AURC)."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

from saturation.metrics.entropy import RANK_DECIMALS, entropy, entropy_of_counts
from saturation.metrics.majority import top_vote_share
from saturation.metrics.metric import over_leading_axes
from saturation.metrics.ranks import dense_codes, weight_of_codes
from saturation.typing import Counts, Floats, Ints, Probs, Scores, Weights

AMBIGUOUS_ABOVE = 0.75
"""Items are ambiguous when H(h) lies strictly above this quantile of all items."""


def auroc_ambiguous(probs: Probs, counts: Counts) -> Floats:
    """How well H(m) finds the items with H(h) strictly above its .75 quantile; higher is better, range [0, 1].

    Parameters
    ----------
    probs
        (..., items, labels) model probabilities.
    counts
        (items, labels) votes.

    Returns
    -------
    (...); NaN where no item is ambiguous.

    Examples
    --------
    >>> import numpy as np
    >>> c = np.array([[4, 0], [4, 0], [4, 0], [2, 2]])
    >>> float(auroc_ambiguous(c / 4, c))
    1.0
    """
    positive, one = ambiguous(counts), np.ones((1, probs.shape[-2]))
    return over_leading_axes(lambda p: weighted_auroc(dense_codes(entropy(p)), positive, one)[0], probs)


def aurc(probs: Probs, counts: Counts) -> Floats:
    """Area under the risk-coverage curve, answering by rising H(m), risk 1 - h[argmax m]; lower is better.

    Range [0, 1]; see ``weighted_aurc``.
    """
    one = np.ones((1, probs.shape[-2]))
    return over_leading_axes(lambda p: weighted_aurc(*scores_and_risks(p, counts), one)[0], probs)


def aurc_excess(probs: Probs, counts: Counts) -> Floats:
    """``aurc`` minus that of the best possible order; lower is better, 0 is perfect."""
    one = np.ones((1, probs.shape[-2]))
    return over_leading_axes(lambda p: weighted_aurc_excess(*scores_and_risks(p, counts), one)[0], probs)


def scores_and_risks(probs: Probs, counts: Counts) -> tuple[Ints, Floats]:
    """Dense codes of H(m) and the risks 1 - h[argmax m] of (items, labels)."""
    return dense_codes(entropy(probs)), 1 - top_vote_share(probs, counts)


def ambiguous(counts: Counts) -> Floats:
    """1 for items whose H(h) lies strictly above its .75 quantile, else 0; rounded to 12 decimals first. (items,)."""
    rounded = np.round(entropy_of_counts(counts), RANK_DECIMALS)
    return np.asarray(rounded > np.quantile(rounded, AMBIGUOUS_ABOVE), dtype=np.float64)


def weighted_auroc(codes: Ints, positive: Floats, weights: Weights) -> Floats:
    """Chance that a positive item scores above a negative one, ties one half (Hanley and McNeil 1982).

    Parameters
    ----------
    codes
        (items,) dense rank codes of the score.
    positive
        (items,) 1 or 0.
    weights
        (B, items).

    Returns
    -------
    (B,) in [0, 1]; NaN where one class has no weight.

    Examples
    --------
    >>> import numpy as np
    >>> codes, positive = np.array([0, 1, 1, 2]), np.array([0.0, 0.0, 1.0, 1.0])
    >>> weighted_auroc(codes, positive, np.ones((1, 4))).tolist()  # (1 + .5 + 2)/4
    [0.875]
    """
    above = weight_of_codes(codes, weights * positive)
    below = weight_of_codes(codes, weights * (1 - positive))
    beaten = np.cumsum(below, axis=-1) - below / 2
    return _share((above * beaten).sum(axis=-1), above.sum(axis=-1) * below.sum(axis=-1))


def auroc_leave_one_out(codes: Ints, positive: Floats) -> Scores:
    """``weighted_auroc`` without each item; which items are positive stays as it was. (items,)."""
    above = np.bincount(codes, weights=positive)
    below = np.bincount(codes, weights=1 - positive)
    beaten = (np.cumsum(below) - below / 2)[codes]
    lost = (above.sum() - np.cumsum(above) + above / 2)[codes]
    wins = float((positive * beaten).sum())
    n_above, n_below = above.sum() - positive, below.sum() - (1 - positive)
    return _share(wins - np.where(positive > 0, beaten, lost), n_above * n_below)


def weighted_aurc(codes: Ints, risk: Floats, weights: Weights) -> Floats:
    """Area under the risk-coverage curve: mean over j of the mean risk of the j items that come first.

    (1/I) sum_j mean risk of the j lowest scores (Geifman et al. 2019), averaged over the orders of tied items: in a
    tie group of weight W and mean risk r that begins after weight C and risk S, the t-th place has mean risk
    (S + t r)/(C + t), and the sum over t = 1 ... W is r W + (S - r C)(psi(C + W + 1) - psi(C + 1)).

    Parameters
    ----------
    codes
        (items,) dense rank codes of the score; the lowest are answered first.
    risk
        (items,).
    weights
        (B, items).

    Returns
    -------
    (B,) in the range of ``risk``.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_aurc(np.array([0, 1]), np.array([0.0, 1.0]), np.ones((1, 2))).tolist()  # (0 + 1/2)/2
    [0.25]
    """
    size, total, start, before = _groups(codes, risk, weights)
    mean = np.divide(total, size, out=np.zeros_like(size), where=size > 0)
    places = mean * size + (before - mean * start) * _harmonic(start, size)
    return np.asarray(places.sum(axis=-1) / weights.sum(axis=-1))


def aurc_leave_one_out(codes: Ints, risk: Floats) -> Scores:
    """``weighted_aurc`` without each item, (items,): later groups begin one place and the item's risk earlier."""
    size, total, start, before = (part[0] for part in _groups(codes, risk, np.ones((1, len(codes)))))
    mean = total / size
    places = mean * size + (before - mean * start) * _harmonic(start, size)
    done = np.cumsum(places) - places
    later = slice(1, None)
    moved = np.zeros_like(places)
    slope = np.zeros_like(places)
    slope[later] = _harmonic(start[later] - 1, size[later])
    moved[later] = mean[later] * size[later] + (before[later] - mean[later] * (start[later] - 1)) * slope[later]
    moved_after = np.cumsum(moved[::-1])[::-1] - moved
    slope_after = np.cumsum(slope[::-1])[::-1] - slope
    rest = size[codes] - 1
    kept = np.divide(total[codes] - risk, rest, out=np.zeros_like(rest), where=rest > 0)
    own = kept * rest + (before[codes] - kept * start[codes]) * _harmonic(start[codes], rest)
    return np.asarray((done[codes] + own + moved_after[codes] - risk * slope_after[codes]) / (len(codes) - 1))


def weighted_aurc_excess(codes: Ints, risk: Floats, weights: Weights) -> Floats:
    """``weighted_aurc`` minus that of the best order, the one by risk itself; 0 is perfect. (B,)."""
    return weighted_aurc(codes, risk, weights) - weighted_aurc(dense_codes(risk), risk, weights)


def aurc_excess_leave_one_out(codes: Ints, risk: Floats) -> Scores:
    """``weighted_aurc_excess`` without each item. (items,)."""
    return aurc_leave_one_out(codes, risk) - aurc_leave_one_out(dense_codes(risk), risk)


def _groups(codes: Ints, risk: Floats, weights: Weights) -> tuple[Floats, Floats, Floats, Floats]:
    """Weight and risk of each tie group, and weight and risk before it: four (B, groups)."""
    size = weight_of_codes(codes, weights)
    total = weight_of_codes(codes, weights * risk)
    return size, total, np.cumsum(size, axis=-1) - size, np.cumsum(total, axis=-1) - total


def _harmonic(start: Floats, size: Floats) -> Floats:
    """1/(start + 1) + ... + 1/(start + size)."""
    return np.asarray(digamma(start + size + 1) - digamma(start + 1))


def _share(part: Floats, whole: Floats) -> Floats:
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0))
