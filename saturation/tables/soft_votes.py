"""Soft votes from a checked table: one distribution a row, in canonical order of items and annotators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from saturation.results import Input, Note
from saturation.tables import labels as label_rules
from saturation.tables import validate
from saturation.tables.findings import Findings
from saturation.tables.io import load
from saturation.typing import Floats, Ints, Probs


@dataclass(frozen=True, slots=True, eq=False)
class SoftVotes:
    """Distributions that single annotators gave for single items.

    Attributes
    ----------
    item_ids, annotator_ids, labels
        (items,), (annotators,) in canonical order, (labels,) as declared.
    item, annotator
        (soft votes,) indices into the ids, sorted by (item, annotator).
    probs
        (soft votes, labels) rows on the simplex.
    seconds
        (soft votes,) time spent; None where the table does not say.
    inputs, notes
        What the door saw.
    """

    item_ids: tuple[str, ...]
    annotator_ids: tuple[str, ...]
    labels: tuple[str, ...]
    item: Ints
    annotator: Ints
    probs: Probs
    seconds: Floats | None = None
    inputs: tuple[Input, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def totals(self) -> Ints:
        """(items,) soft votes an item."""
        return np.bincount(self.item, minlength=len(self.item_ids)).astype(np.int64)


def read_soft_votes(sources: Any, *, labels: Sequence[str] | None = None) -> SoftVotes:
    """Read a table of soft votes.

    Parameters
    ----------
    sources
        Paths, folders, globs or data frames with ``item_id``, ``annotator_id``, ``p_<label>`` and perhaps ``seconds``.
    labels
        Label names in order; None: from metadata, else the columns in file order.

    Raises
    ------
    DataError
        With every problem of the table.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"item_id": ["q"], "annotator_id": ["a"], "p_no": [0.25], "p_yes": [0.75]})
    >>> read_soft_votes(frame).probs.tolist()
    [[0.25, 0.75]]
    """
    loaded = load(sources, "soft_votes")
    found = Findings(loaded)
    found.expect("soft_votes")
    names, notes = label_rules.declared(found, loaded.meta, label_rules.option(labels))
    frame = validate.soft_votes(found, loaded.frame, names)
    found.stop()
    known = tuple(names or [name.removeprefix("p_") for name in frame.columns if name.startswith("p_")])
    items, item = _codes(frame["item_id"].to_list())
    people, annotator = _codes(frame["annotator_id"].to_list())
    order = np.lexsort((annotator, item))
    probs = frame.select([f"p_{name}" for name in known]).to_numpy()[order]
    seconds = None
    if "seconds" in frame.columns and frame["seconds"].null_count() == 0:
        seconds = frame["seconds"].to_numpy().astype(np.float64)[order]
    return SoftVotes(items, people, known, item[order], annotator[order], probs, seconds, loaded.inputs, tuple(notes))


def taken(votes: SoftVotes, rows: Ints) -> SoftVotes:
    """The soft votes of some items (ascending indices into ``item_ids``)."""
    place = np.full(len(votes.item_ids), -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    kept = np.flatnonzero(place[votes.item] >= 0)
    return replace(
        votes,
        item_ids=tuple(votes.item_ids[row] for row in rows),
        item=place[votes.item[kept]],
        annotator=votes.annotator[kept],
        probs=votes.probs[kept],
        seconds=None if votes.seconds is None else votes.seconds[kept],
    )


def _codes(names: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """Distinct names by their UTF-8 bytes, and the place of each."""
    ordered = tuple(sorted(set(names), key=str.encode))
    place = {name: rank for rank, name in enumerate(ordered)}
    return ordered, np.array([place[name] for name in names], dtype=np.int64)
