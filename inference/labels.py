"""Which output of a model is which label: by name, never by position."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from saturation.errors import UsageError
from saturation.typing import Counts, Floats, Ints

_PLACEHOLDER = re.compile(r"label_\d+", re.IGNORECASE)
_FAR_BETTER = 5.0
"""How many standard errors another order has to be better by, before anybody is warned."""


def match(head: Mapping[int, str], labels: Sequence[str], names: Mapping[str, str] | None = None) -> Ints:
    """For each of our labels, the output of the model that has its name.

    Parameters
    ----------
    head
        The model's ``id2label``.
    labels
        Our labels, in the order of the tables.
    names
        Model name -> our label, for names that differ; others are compared with case folded.

    Raises
    ------
    UsageError
        When the names are placeholders, or the two sets differ; the message names both sets and ``--label-map``.

    Examples
    --------
    >>> match({0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}, ("entailment", "neutral", "contradiction")).tolist()
    [2, 1, 0]
    """
    given = {_fold(theirs): ours for theirs, ours in (names or {}).items()}
    unknown = sorted(set(given) - {_fold(name) for name in head.values()})
    if unknown:
        raise UsageError(f"--label-map names {', '.join(unknown)}; the model has {', '.join(head.values())}")
    placeholders = [name for name in head.values() if _PLACEHOLDER.fullmatch(name) and _fold(name) not in given]
    if placeholders:
        raise UsageError(
            f"the model calls its outputs {', '.join(head.values())}, which says nothing about their meaning; "
            f"say it with --label-map {placeholders[0]}=..., for the labels {', '.join(labels)}"
        )
    called = {index: _fold(given.get(_fold(name), name)) for index, name in head.items()}
    wanted = {_fold(label): label for label in labels}
    if sorted(called.values()) != sorted(wanted) or len(wanted) < len(labels):
        raise UsageError(
            f"the model has the labels {', '.join(head.values())}, the tables {', '.join(labels)}: not the same set; "
            "name the differing ones with --label-map MODEL_NAME=label,..."
        )
    place = {name: index for index, name in called.items()}
    return np.array([place[name] for name in wanted], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class BetterOrder:
    """Another order of a model's outputs that fits the votes far better.

    Attributes
    ----------
    order
        (labels,) which column would stand for each label.
    gain
        How much higher the mean log probability of a vote would be, nats.
    """

    order: tuple[int, ...]
    gain: float


def better_order(probs: Floats, counts: Counts) -> BetterOrder | None:
    """Whether the votes fit the columns of ``probs`` far better in another order: a sign of swapped labels.

    The best order is exact: log probability is additive, so it is an assignment problem. It counts as far better when
    its mean gain over items is more than five standard errors above 0.

    Parameters
    ----------
    probs
        (items, labels) probabilities.
    counts
        (items, labels) votes of the same items.

    Examples
    --------
    >>> probs = np.tile([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]], (20, 1))
    >>> better_order(probs, np.tile([[0, 9, 1], [9, 0, 1]], (20, 1))).order
    (1, 0, 2)
    """
    logs = np.log(np.maximum(probs, 1e-15))
    fit = counts.T.astype(np.float64) @ logs
    rows, order = linear_sum_assignment(-fit)
    if (order == rows).all():
        return None
    gains = (counts * (logs[:, order] - logs)).sum(axis=1) / counts.sum(axis=1)
    error = gains.std(ddof=1) / len(gains) ** 0.5 if len(gains) > 1 else np.inf
    if gains.mean() <= _FAR_BETTER * error:
        return None
    return BetterOrder(tuple(int(column) for column in order), float(gains.mean()))


def _fold(name: str) -> str:
    return " ".join(name.casefold().split())
