"""Would another order of the label columns agree with the human majority far better? Then say so."""

from __future__ import annotations

import numpy as np

from saturation.results import Note
from saturation.tables.panel import Panel
from saturation.typing import Ints

_FAR = 0.15
"""Least gain in accuracy that is worth a warning."""


def suspicions(panel: Panel) -> list[Note]:
    """One warning a model whose columns look permuted, with the accuracy of both orders."""
    models = dict.fromkeys(condition.model for condition in panel.conditions)
    return [note for model in models for note in _of_model(panel, model)]


def _of_model(panel: Panel, model: str) -> list[Note]:
    own = [
        index
        for index, condition in enumerate(panel.conditions)
        if condition.model == model and condition.method != "base_rate"
    ]
    if not own:
        return []
    confusion, n_items = _confusion(panel, np.array(own))
    total = confusion.sum()
    if not total:
        return []
    order = best_order(confusion)
    declared = float(np.trace(confusion) / total)
    best = float(confusion[order, np.arange(len(order))].sum() / total)
    if best - declared <= max(_FAR, 3 / np.sqrt(n_items)):
        return []
    labels = panel.votes.labels
    better = ", ".join(
        f"p_{labels[column]} as {labels[label]}" for label, column in enumerate(order) if label != column
    )
    message = (
        f"the label columns of model {model} look permuted: the top label is the human majority in {declared:.1%} of "
        f"the predictions as declared, and in {best:.1%} when reading {better}; check the label order of the model"
    )
    return [Note("label_order_suspect", message)]


def best_order(confusion: Ints) -> Ints:
    """For each label the column that should carry its name so that most predictions are right.

    Parameters
    ----------
    confusion
        (columns, labels): how often a column was the top one where a label was the majority.

    Examples
    --------
    >>> import numpy as np
    >>> best_order(np.array([[9, 0, 1], [0, 1, 8], [1, 9, 0]])).tolist()
    [0, 2, 1]
    """
    from scipy.optimize import linear_sum_assignment

    column, label = linear_sum_assignment(confusion, maximize=True)
    return np.asarray(column[np.argsort(label)], dtype=np.int64)


def _confusion(panel: Panel, conditions: Ints) -> tuple[Ints, int]:
    """(columns, labels) top column against majority label; items with tied majorities or tops do not count."""
    n_labels = len(panel.votes.labels)
    counts = panel.votes.counts
    clear = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) == 1
    majority = counts.argmax(axis=1)
    confusion = np.zeros(n_labels * n_labels, dtype=np.int64)
    for probs, items in zip(panel.probs, panel.items_of_split, strict=True):
        kept = np.flatnonzero(clear[items])
        top = probs[conditions][:, :, kept].argmax(axis=-1)
        pairs = top * n_labels + majority[items[kept]]
        confusion += np.bincount(pairs.ravel(), minlength=n_labels * n_labels)
    return confusion.reshape(n_labels, n_labels), int(clear.sum())
