"""Calibration errors: of the top label, label by label, and against the annotators themselves.

Every one is sum over bins of abs(sum of differences in the bin) / I, so a feature is one bin's differences and
zero elsewhere. Bins are fixed by the full sample: a resample reweights the items within them and does not move
them. All are order 1 and biased up by noise; the corrected REL of the Murphy decomposition is the unbiased
quadratic twin.
"""

from __future__ import annotations

import numpy as np

from saturation.metrics.bins import Binning, bin_index
from saturation.metrics.common import shares
from saturation.metrics.majority import accuracy, majority_credit, top_vote_share
from saturation.metrics.metric import Human, as_human
from saturation.typing import Counts, Floats, Probs, TieRule


def ece(
    probs: Probs,
    counts: Counts | Human,
    *,
    bins: int = 10,
    binning: Binning = "width",
    ties: TieRule = "share",
    seed: int = 0,
) -> Floats:
    """Expected calibration error of the top label against the majority (Naeini et al. 2015; Guo et al. 2017).

    sum over bins of n_b/I abs(mean confidence - mean accuracy); lower is better, order 1, range [0, 1].

    Parameters
    ----------
    probs
        (..., items, labels) model probabilities.
    counts
        (items, labels) votes, or a ``Human`` with a published majority.
    bins, binning
        See ``bins.bin_index``.
    ties, seed
        See ``majority.majority_credit``.

    Returns
    -------
    (...)

    Examples
    --------
    >>> import numpy as np
    >>> m, c = np.array([[0.75, 0.25], [0.75, 0.25]]), np.array([[3, 0], [0, 3]])
    >>> float(ece(m, c))  # confidence .75, right half of the time
    0.25
    """
    features = top_label_features(probs, as_human(counts), bins=bins, binning=binning, ties=ties, seed=seed)
    return absolute_sum(features.mean(axis=-1))


def adaptive_ece(
    probs: Probs,
    counts: Counts | Human,
    *,
    bins: int = 10,
    binning: Binning = "count",
    ties: TieRule = "share",
    seed: int = 0,
) -> Floats:
    """``ece`` in bins of equal count, tied confidences kept together (Nguyen and O'Connor 2015)."""
    return ece(probs, counts, bins=bins, binning=binning, ties=ties, seed=seed)


def classwise_ece(
    probs: Probs,
    counts: Counts | Human,
    *,
    bins: int = 10,
    binning: Binning = "width",
    ties: TieRule = "share",
    seed: int = 0,
) -> Floats:
    """Calibration error of every label against the majority, averaged over labels (Kull et al. 2019).

    Lower is better, order 1, range [0, 1].
    """
    features = classwise_features(probs, as_human(counts), bins=bins, binning=binning, ties=ties, seed=seed)
    return label_mean_of_absolute_sums(features.mean(axis=-1), bins)


def dist_ece(probs: Probs, counts: Counts | Human, *, bins: int = 10, binning: Binning = "width") -> Floats:
    """Calibration error of every label against its share of the votes, averaged over labels.

    Per label sum over bins of n_b/I abs(mean m_k - mean h_k); lower is better, order 1, range [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> m, c = np.array([[0.75, 0.25], [0.75, 0.25]]), np.array([[3, 1], [1, 3]])
    >>> float(dist_ece(m, c))  # .75 against .5 and .25 against .5
    0.25
    """
    features = distribution_features(probs, as_human(counts), bins=bins, binning=binning)
    return label_mean_of_absolute_sums(features.mean(axis=-1), bins)


def dist_ece_top(probs: Probs, counts: Counts | Human, *, bins: int = 10, binning: Binning = "width") -> Floats:
    """Calibration error of the top label against its share of the votes; lower is better, order 1, range [0, 1]."""
    return absolute_sum(top_share_features(probs, as_human(counts), bins=bins, binning=binning).mean(axis=-1))


def top_label_features(
    probs: Probs,
    human: Human,
    *,
    bins: int = 10,
    binning: Binning = "width",
    ties: TieRule = "share",
    seed: int = 0,
) -> Floats:
    """Confidence minus majority accuracy, one feature a bin of the confidence (Naeini et al. 2015; Guo et al. 2017).

    Parameters
    ----------
    probs
        (..., items, labels) model probabilities.
    human
        The human side.
    bins, binning
        See ``bins.bin_index``.
    ties, seed
        See ``majority.majority_credit``.

    Returns
    -------
    (..., bins, items); ``absolute_sum`` of its means over items is the error.
    """
    confidence = probs.max(axis=-1)
    return _by_bin(confidence, confidence - accuracy(probs, human, ties=ties, seed=seed), bins, binning)


def top_share_features(probs: Probs, human: Human, *, bins: int = 10, binning: Binning = "width") -> Floats:
    """Confidence minus the share of votes for the top label, one feature a bin: (..., bins, items)."""
    confidence = probs.max(axis=-1)
    return _by_bin(confidence, confidence - top_vote_share(probs, human.counts), bins, binning)


def classwise_features(
    probs: Probs,
    human: Human,
    *,
    bins: int = 10,
    binning: Binning = "width",
    ties: TieRule = "share",
    seed: int = 0,
) -> Floats:
    """m_k minus the majority credit of k, one feature a label and bin (Kull et al. 2019).

    Returns (..., labels * bins, items); ``label_mean_of_absolute_sums`` of its means over items is the error.
    """
    return _by_label_and_bin(probs, majority_credit(human, ties=ties, seed=seed), bins, binning)


def distribution_features(probs: Probs, human: Human, *, bins: int = 10, binning: Binning = "width") -> Floats:
    """m_k minus h_k, one feature a label and bin: (..., labels * bins, items)."""
    return _by_label_and_bin(probs, shares(human.counts), bins, binning)


def absolute_sum(means: Floats) -> Floats:
    """Sum over bins of abs(mean difference): the top-label errors. (..., bins) -> (...)."""
    return np.asarray(np.abs(means).sum(axis=-1))


def label_mean_of_absolute_sums(means: Floats, bins: int) -> Floats:
    """The classwise errors: sums over the bins of a label, averaged over labels. (..., labels * bins) -> (...)."""
    return np.asarray(np.abs(means).sum(axis=-1) / (means.shape[-1] // bins))


def _by_bin(values: Floats, differences: Floats, bins: int, binning: Binning) -> Floats:
    """(..., items) differences spread over (..., bins, items), each in its own bin."""
    inside = bin_index(values, bins, binning)[..., None, :] == np.arange(bins)[:, None]
    return np.where(inside, differences[..., None, :], 0.0)


def _by_label_and_bin(probs: Probs, outcome: Floats, bins: int, binning: Binning) -> Floats:
    forecast = np.ascontiguousarray(np.swapaxes(probs, -1, -2))
    features = _by_bin(forecast, forecast - np.swapaxes(outcome, -1, -2), bins, binning)
    return features.reshape(*features.shape[:-3], -1, features.shape[-1])
