"""Macro F1 against the majority label, as a function of feature means."""

from __future__ import annotations

import numpy as np

from saturation.metrics.majority import majority_credit, top_label
from saturation.metrics.metric import Human, as_human
from saturation.typing import Counts, Floats, Probs, TieRule


def macro_f1(probs: Probs, counts: Counts | Human, *, ties: TieRule = "share", seed: int = 0) -> Floats:
    """Macro F1 of the top label against the majority label; higher is better, range [0, 1].

    Parameters
    ----------
    probs
        (..., items, labels) model probabilities.
    counts
        (items, labels) votes, or a ``Human`` with a published majority.
    ties, seed
        See ``majority.majority_credit``.

    Returns
    -------
    (...)

    Examples
    --------
    >>> import numpy as np
    >>> m, c = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[3, 1], [1, 3]])
    >>> float(macro_f1(m, c))
    1.0
    """
    return combine_macro_f1(macro_f1_features(probs, as_human(counts), ties=ties, seed=seed).mean(axis=-1))


def macro_f1_features(probs: Probs, human: Human, *, ties: TieRule = "share", seed: int = 0) -> Floats:
    """(..., 3 labels, items): hits, predictions and majority items of each label.

    Ties of the votes earn fractional credit (1 / number of modes) under ``share``. Under ``any`` an item whose
    predicted label is a mode counts wholly as that label, else in equal parts for its modes.
    """
    n_labels = probs.shape[-1]
    predicted = np.asarray(top_label(probs)[..., None] == np.arange(n_labels), dtype=np.float64)
    actual = np.broadcast_to(majority_credit(human, ties=ties, seed=seed), predicted.shape)
    hit = predicted * actual
    if ties == "any":
        shared = np.broadcast_to(majority_credit(human, ties="share"), predicted.shape)
        actual = np.where(hit.any(axis=-1, keepdims=True), hit, shared)
    parts = np.concatenate([hit, predicted, actual], axis=-1)
    return np.ascontiguousarray(np.swapaxes(parts, -1, -2))


def combine_macro_f1(means: Floats) -> Floats:
    """Mean over labels of 2 hits / (predictions + majority items); labels with neither are left out.

    Parameters
    ----------
    means
        (..., 3 labels) means of ``macro_f1_features``.

    Returns
    -------
    (...) in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> m, c = np.array([[0.9, 0.1], [0.8, 0.2]]), np.array([[3, 1], [1, 3]])
    >>> features = macro_f1_features(m, Human(c))
    >>> round(float(combine_macro_f1(features.mean(axis=-1))), 12)  # (2/3 + 0)/2
    0.333333333333
    """
    hit, predicted, actual = np.split(means, 3, axis=-1)
    whole = predicted + actual
    occurs = whole != 0  # NaN, from an item without votes, stays in and stays NaN
    f1 = np.divide(2 * hit, whole, out=np.zeros_like(whole), where=occurs)
    return np.asarray(f1.sum(axis=-1) / occurs.sum(axis=-1))
