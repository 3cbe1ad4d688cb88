"""What a study trains on and predicts: items with texts, the votes that training may see, and the splits."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from inference.items import Items
from saturation.errors import DataError, Problem, UsageError
from saturation.streams import Purpose, words
from saturation.tables import io
from saturation.tables.panel import Votes
from saturation.tables.soft_votes import SoftVotes, taken
from saturation.tables.validate import validate
from saturation.targets import draw_votes
from saturation.typing import Ints

PARTS = ("train", "dev", "test")


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """One split: rows of the training, development and test items, in canonical order; no item is in two."""

    train: Ints
    dev: Ints
    test: Ints

    def __post_init__(self) -> None:
        everything = np.concatenate([self.train, self.dev, self.test])
        if len(np.unique(everything)) < len(everything):
            raise UsageError("an item is in two parts of one split")
        short = [name for name in PARTS if len(getattr(self, name)) == 0]
        if short:
            raise UsageError(f"a split has no {' and no '.join(short)} items: training needs all three parts")


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Items with votes and texts, in canonical order.

    Attributes
    ----------
    items
        With texts.
    labels
        In the order of the votes table.
    counts
        (items, labels) votes that training (and early stopping) may see.
    held_out
        (items, labels) votes that it may not; None where all are for training.
    splits
        By name.
    soft
        Soft votes of these items and these labels; None where the study has none.
    without_text, without_votes
        How many items were left out.
    """

    items: Items
    labels: tuple[str, ...]
    counts: Ints
    held_out: Ints | None
    splits: Mapping[str, Parts]
    without_text: int
    without_votes: int
    soft: SoftVotes | None = None

    def digest(self, split: str) -> str:
        """A hash of everything that a run of this split reads."""
        parts = self.splits[split]
        told = hashlib.sha256()
        for text in (
            *self.labels,
            *(word for row in zip(self.items.ids, self.items.texts, strict=True) for word in (row[0], *row[1])),
        ):
            told.update(f"{len(text)}:{text}".encode())
        for array in (self.counts, parts.train, parts.dev, parts.test):
            told.update(np.ascontiguousarray(array, dtype=np.int64).tobytes())
        if self.soft is not None:
            told.update(self.soft.item.tobytes() + self.soft.probs.tobytes())
        return told.hexdigest()


def material(
    items: Items, votes: Votes, splits: Mapping[str, Parts] | None, *, heldout: int = 0, seed: int = 0
) -> Material:
    """Join items and votes by id.

    Parameters
    ----------
    items, votes
        As read.
    splits
        By name, as rows of the *joined* items (see ``read_splits``); None: to be added later.
    heldout
        Votes of every item that training never sees, drawn without replacement; a table whose votes carry pools is
        split already.
    seed
        Of that draw.

    Raises
    ------
    UsageError
        When nothing joins, or both pools and ``heldout`` are given.
    """
    texts = set(items.ids)
    rows = [row for row, item in enumerate(votes.item_ids) if item in texts]
    if not rows:
        raise UsageError("no item has both a text and votes: are these tables of the same data?")
    if votes.pools and heldout:
        raise UsageError("the votes carry pools already: drop heldout, or the column pool")
    counts, held_out = _pools(votes, np.array(rows), heldout, seed)
    return Material(
        items=items.take([votes.item_ids[row] for row in rows]),
        labels=votes.labels,
        counts=counts,
        held_out=held_out,
        splits=splits or {},
        without_text=len(votes.item_ids) - len(rows),
        without_votes=len(items.ids) - len(rows),
    )


def _pools(votes: Votes, rows: Ints, heldout: int, seed: int) -> tuple[Ints, Ints | None]:
    if votes.pools:
        return votes.pools["train"][rows], votes.pools["heldout"][rows]
    counts = votes.counts[rows]
    if not heldout:
        return counts, None
    need = f"has too few votes: {heldout} are to be held out and at least 1 to be trained on"
    totals = counts.sum(axis=1)
    short = [Problem("M02", need, item=votes.item_ids[row]) for row in rows[totals <= heldout]]
    if short:
        raise DataError(short)
    kept_out = draw_votes(counts, (heldout,), seed=_stream(seed, Purpose.HELD_OUT))[heldout]
    return counts - kept_out, kept_out


def with_soft_votes(made: Material, soft: SoftVotes) -> Material:
    """The material with the soft votes of its items, labels in its order.

    Raises
    ------
    UsageError
        When the labels are others, or an item has no soft votes.
    """
    if set(soft.labels) != set(made.labels):
        raise UsageError(f"soft votes have the labels {', '.join(soft.labels)}, votes {', '.join(made.labels)}")
    place = {item: row for row, item in enumerate(soft.item_ids)}
    missing = [item for item in made.items.ids if item not in place]
    if missing:
        raise UsageError(f"{len(missing)} items have no soft votes, the first is {missing[0]!r}: leave them out")
    own = taken(soft, np.array([place[item] for item in made.items.ids], dtype=np.int64))
    column = [own.labels.index(label) for label in made.labels]
    return replace(made, soft=replace(own, labels=made.labels, probs=np.ascontiguousarray(own.probs[:, column])))


def random_splits(n_items: int, names: Sequence[str], *, dev: float, test: float) -> dict[str, Parts]:
    """Random partitions of the items, one a name; a name that is a number is its own seed.

    Parameters
    ----------
    n_items
        In canonical order, so that a split does not depend on the order of a table.
    names
        For instance 42, 43, 44.
    dev, test
        Shares of the items.
    """
    if not (dev > 0 and test > 0 and dev + test < 1):
        raise UsageError(f"shares of dev {dev} and test {test}: both above 0, together below 1")
    made = {}
    for name in names:
        order = np.argsort(words(_name_seed(name), Purpose.SPLITS, np.array([0]), np.arange(n_items)), kind="stable")
        n_test, n_dev = max(1, round(test * n_items)), max(1, round(dev * n_items))
        cut = (np.sort(order[n_test + n_dev :]), np.sort(order[n_test : n_test + n_dev]), np.sort(order[:n_test]))
        made[name] = Parts(*cut)
    return made


def read_splits(source: Any, ids: Sequence[str], names: Sequence[str] | None = None) -> dict[str, Parts]:
    """Splits from a table; items that are not in ``ids`` are left out of all parts.

    Raises
    ------
    UsageError
        When a split that is asked for is not there.
    """
    frame = validate(io.load(source, "splits"), "splits")
    place = {item: row for row, item in enumerate(ids)}
    present = sorted(frame["split"].unique().to_list(), key=str.encode)
    missing = [name for name in names or () if name not in present]
    if missing:
        raise UsageError(f"the splits table has no split {', '.join(missing)}; it has {', '.join(present)}")
    made = {}
    for name in names or present:
        own = frame.filter(frame["split"] == name)
        rows = {part: own.filter(own["part"] == part)["item_id"].to_list() for part in PARTS}
        made[name] = Parts(
            *(np.array(sorted(place[item] for item in rows[part] if item in place), dtype=np.int64) for part in PARTS)
        )
    return made


def _name_seed(name: str) -> int:
    if name.isascii() and name.isdigit():
        return int(name)
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], "big")


def _stream(seed: int, purpose: int) -> int:
    """A seed of its own for one purpose, so that held-out votes and training draws are independent."""
    return int(words(seed, purpose, np.array([0]), np.array([0]))[0] >> np.uint64(1))
