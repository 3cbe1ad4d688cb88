"""Scores against a majority label, with every rule for ties, and against a fresh annotator."""

from __future__ import annotations

import numpy as np

from saturation.errors import UsageError
from saturation.metrics.common import Flags, pick, shares
from saturation.metrics.metric import Human, as_human
from saturation.streams import Purpose, uniforms
from saturation.typing import Counts, Floats, Ints, Probs, Scores, TieRule


def majority_credit(human: Human, *, ties: TieRule = "share", seed: int = 0) -> Floats:
    """How much of an item each label earns as its majority label.

    Parameters
    ----------
    human
        Counts, and the published majority for ``ties="column"``.
    ties
        ``first`` or ``last`` mode in label order; ``random`` mode, by ``seed`` and the item's rank; ``share``: equal
        parts; ``any``: full credit for every mode (rows then sum to the number of modes); ``column``: the published
        label.
    seed
        For ``random`` only.

    Returns
    -------
    (..., items, labels) in [0, 1]; NaN where nobody voted, except under ``column``.

    Raises
    ------
    UsageError
        For an unknown rule, or ``column`` where an item has no published majority.

    Examples
    --------
    >>> import numpy as np
    >>> tied = Human(np.array([[2, 2, 1]]))
    >>> [majority_credit(tied, ties=rule).tolist()[0] for rule in ("last", "share", "any")]
    [[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [1.0, 1.0, 0.0]]
    """
    counts = np.asarray(human.counts)
    if ties == "column":
        return _one_hot(_published(human), counts.shape[-1])
    voted = counts.sum(axis=-1, keepdims=True) > 0
    return np.where(voted, _credit_of_modes(counts, ties, human.items, seed), np.nan)


def _credit_of_modes(counts: Counts, ties: TieRule, items: Ints | None, seed: int) -> Floats:
    n_labels = counts.shape[-1]
    modes = counts == counts.max(axis=-1, keepdims=True)
    if ties == "any":
        return np.asarray(modes, dtype=np.float64)
    if ties == "share":
        return np.asarray(modes / modes.sum(axis=-1, keepdims=True))
    if ties == "first":
        return _one_hot(modes.argmax(axis=-1), n_labels)
    if ties == "last":
        return _one_hot(n_labels - 1 - modes[..., ::-1].argmax(axis=-1), n_labels)
    if ties == "random":
        return _one_hot(_random_mode(modes, items, seed), n_labels)
    raise UsageError(f"unknown tie rule {ties!r}; choose first, last, random, share, any or column")


def accuracy(
    probs: Probs,
    counts: Counts | Human,
    *,
    ties: TieRule = "share",
    seed: int = 0,
    model_ties: TieRule = "first",
) -> Scores:
    """Whether the model's top label is the majority label; higher is better, range [0, 1].

    Parameters
    ----------
    probs
        (..., items, labels) model probabilities.
    counts
        (items, labels) votes, or a ``Human`` with a published majority.
    ties
        Tie rule of the human side, see ``majority_credit``. Baan et al. (2022) take ``last``, numpy ``first``.
    seed
        For random ties.
    model_ties
        ``first``, or ``share`` where a tie of the model is chance, e.g. when votes play the model.

    Returns
    -------
    (..., items)

    Examples
    --------
    >>> import numpy as np
    >>> accuracy(np.array([[0.9, 0.1], [0.9, 0.1]]), np.array([[2, 2], [3, 1]])).tolist()
    [0.5, 1.0]
    """
    credit = majority_credit(as_human(counts), ties=ties, seed=seed)
    if model_ties == "first":
        return pick(credit, top_label(probs))
    if model_ties == "share":
        return np.asarray((majority_credit(Human(probs)) * credit).sum(axis=-1))
    raise UsageError(f"ties of the model can be 'first' or 'share', not {model_ties!r}")


def top_vote_share(probs: Probs, counts: Counts) -> Scores:
    """Share of votes for the model's top label: the chance that a fresh annotator agrees; higher is better.

    Range [0, 1]. Linear in h, so unbiased at any number of votes.

    Examples
    --------
    >>> import numpy as np
    >>> top_vote_share(np.array([[0.9, 0.1]]), np.array([[3, 1]])).tolist()
    [0.75]
    """
    return pick(shares(counts), top_label(probs))


def top_label(probs: Probs) -> Ints:
    """(..., items) index of the largest probability; the first where several are equal."""
    return np.asarray(probs.argmax(axis=-1), dtype=np.int64)


def tied_tops(probs: Probs) -> Ints:
    """(...) number of items whose largest probability is shared by several labels."""
    modes = (probs == probs.max(axis=-1, keepdims=True)).sum(axis=-1)
    return np.asarray((modes > 1).sum(axis=-1), dtype=np.int64)


def _published(human: Human) -> Ints:
    if human.majority is None:
        raise UsageError("ties 'column' needs a published majority: give an items table with majority_label")
    unknown = int((human.majority < 0).sum())
    if unknown:
        raise UsageError(f"ties 'column': {unknown} items have no published majority_label; choose another rule")
    return human.majority


def _random_mode(modes: Flags, items: Ints | None, seed: int) -> Ints:
    """The r-th mode of every item, r uniform over its modes and fixed by (seed, item)."""
    ranks = np.arange(modes.shape[-2], dtype=np.int64) if items is None else items
    place = np.floor(uniforms(seed, Purpose.TIES, ranks, np.zeros_like(ranks)) * modes.sum(axis=-1))
    return np.asarray((np.cumsum(modes, axis=-1) > place[..., None]).argmax(axis=-1), dtype=np.int64)


def _one_hot(label: Ints, n_labels: int) -> Floats:
    return np.asarray(label[..., None] == np.arange(n_labels), dtype=np.float64)
