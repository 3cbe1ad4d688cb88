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
from saturation.metrics.metric import Human
from saturation.typing import Floats, Probs, TieRule


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
