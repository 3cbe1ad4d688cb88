"""What every annotator is asked, in which order, with the labels in which order: decided once, by seed and person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from saturation.errors import UsageError
from saturation.streams import Purpose, words


@dataclass(frozen=True, slots=True)
class Task:
    """One question: an item, for the first time (0) or again (1, for self-consistency)."""

    item: int
    repeat: int


@dataclass(frozen=True, slots=True)
class Sheet:
    """The questions of one annotator.

    Attributes
    ----------
    tasks
        In the order in which they are asked.
    labels
        Order in which the labels are shown, as indices.
    """

    tasks: tuple[Task, ...]
    labels: tuple[int, ...]


def sheet(n_items: int, n_labels: int, rank: int, *, repeats: int = 0, seed: int = 0) -> Sheet:
    """The questions of the ``rank``-th annotator: every item in an order of their own, then some of the first again.

    A pure function of its arguments, so that a server that starts again asks the same.

    Examples
    --------
    >>> made = sheet(3, 2, 0, repeats=1)
    >>> sorted(task.item for task in made.tasks[:3]), made.tasks[3].repeat, made.tasks[3].item == made.tasks[0].item
    ([0, 1, 2], 1, True)
    """
    if not 0 <= repeats <= n_items:
        raise UsageError(f"{repeats} repeats of {n_items} items: give a number from 0 to {n_items}")
    order = _shuffled(n_items, seed, 2 * rank)
    tasks = [Task(item, 0) for item in order] + [Task(item, 1) for item in order[:repeats]]
    return Sheet(tuple(tasks), tuple(_shuffled(n_labels, seed, 2 * rank + 1)))


def _shuffled(n: int, seed: int, stream: int) -> Sequence[int]:
    return [
        int(k) for k in np.argsort(words(seed, Purpose.COLLECTING, np.array([stream]), np.arange(n)), kind="stable")
    ]
