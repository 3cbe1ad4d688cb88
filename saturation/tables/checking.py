"""What is in some files: which tables, and every problem they have, alone and together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saturation.errors import DataError, Problem
from saturation.results import Input, Note
from saturation.tables.align import conditions_of
from saturation.tables.door import read_panel
from saturation.tables.findings import Findings
from saturation.tables.io import Loaded, load
from saturation.tables.predictions import read_predictions
from saturation.tables.schema import table_named
from saturation.tables.side_by_side import Side, differences
from saturation.tables.sources import expand
from saturation.tables.validate import validate
from saturation.tables.votes import VoteOptions, votes_of

if TYPE_CHECKING:
    import polars as pl

_PREDICTION_COLUMNS = ("model", "method", "budget", "seed", "split")


@dataclass(frozen=True, slots=True)
class FileCheck:
    """One file that passed.

    Attributes
    ----------
    table
        What it was taken for, and in ``taken_by`` why: metadata, columns or --as.
    labels
        In order; empty where the table has none.
    conditions, seeds, splits
        Of predictions; ``splits`` also of a splits table.
    provenance
        What the file says about itself.
    """

    path: str
    table: str
    taken_by: str
    rows: int
    items: int
    labels: tuple[str, ...] = ()
    annotators: int | None = None
    conditions: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    splits: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Files that passed, and remarks on them together.

    Attributes
    ----------
    notes
        What aligning votes and predictions said, where both were given, and where files differ in labels and items.
    """

    files: tuple[FileCheck, ...]
    inputs: tuple[Input, ...]
    notes: tuple[Note, ...] = ()


def check_files(paths: Iterable[str | Path], as_: str | None = None) -> CheckResult:
    """Check files, each alone and, where there are votes and predictions, together.

    Parameters
    ----------
    paths
        Files, folders, globs.
    as_
        Which table they are, where neither metadata nor columns say it.

    Raises
    ------
    DataError
        With every problem of every file.
    UsageError
        For a source that is not a table file, or an unknown table name.
    """
    if as_ is not None:
        table_named(as_)
    passed: list[tuple[Loaded, FileCheck]] = []
    problems: list[Problem] = []
    for path in expand(paths):
        try:
            loaded = load(path, "table")
            passed.append((loaded, _check(loaded, as_)))
        except DataError as error:
            problems += error.problems
    if problems:
        raise DataError(problems)
    inputs = tuple(one for loaded, _ in passed for one in loaded.inputs)
    notes = (*_together(passed), *differences([_side(*one) for one in passed]))
    return CheckResult(tuple(check for _, check in passed), inputs, notes)


def _side(loaded: Loaded, check: FileCheck) -> Side:
    return Side(check.path, check.table, check.labels, frozenset(map(str, loaded.frame["item_id"].unique().to_list())))


def detect(loaded: Loaded, as_: str | None = None) -> tuple[str, str]:
    """Which table it is, and how that is known.

    Examples
    --------
    >>> import polars as pl
    >>> detect(load(pl.DataFrame({"item_id": ["a"], "split": ["1"], "part": ["test"]}), "table"))
    ('splits', 'columns')
    """
    if as_ is not None:
        Findings(loaded).expect(as_)
        return as_, "--as"
    if loaded.meta is not None:
        return loaded.meta.table, "metadata"
    names = loaded.columns
    found = Findings(loaded)
    candidates = _candidates(set(names))
    if len(candidates) != 1:
        shown = ", ".join(names)
        what = f"could be {' or '.join(candidates)}" if candidates else "is none of our tables"
        other = "" if candidates else ", or rename its columns by `saturation convert long` or `wide`"
        found.add("T02", f"a table with the columns {shown} {what}; say which it is with --as TABLE{other}")
    found.stop()
    return candidates[0], "columns"


def _candidates(names: set[str]) -> list[str]:
    """Tables that a set of columns could be."""
    if "item_id" not in names:
        return []
    counts = sum(name.startswith("n_") for name in names) > 1
    probs = sum(name.startswith("p_") for name in names) > 1
    trained = any(name in names for name in _PREDICTION_COLUMNS)
    annotated = "annotator_id" in names
    found = {
        "votes": "label" in names,
        "vote_counts": counts,
        "soft_votes": probs and annotated,
        "predictions": probs and (trained or not annotated),
        "splits": {"split", "part"} <= names and not probs,
    }
    return [table for table, fits in found.items() if fits] or ["items"]


def _check(loaded: Loaded, as_: str | None) -> FileCheck:
    table, taken_by = detect(loaded, as_)
    about = FileCheck(
        path=loaded.name,
        table=table,
        taken_by=taken_by,
        rows=len(loaded.frame),
        items=0,
        provenance={} if loaded.meta is None else loaded.meta.provenance,
    )
    return _details(loaded, about)


def _details(loaded: Loaded, about: FileCheck) -> FileCheck:
    if about.table in ("votes", "vote_counts"):
        if loaded.meta is None:
            validate(loaded, about.table)
        votes = votes_of(loaded, VoteOptions())
        annotators = None if votes.ballots is None else len(votes.ballots.annotator_ids)
        return replace(about, items=len(votes.item_ids), labels=votes.labels, annotators=annotators, notes=votes.notes)
    if about.table == "predictions":
        return _prediction_details(loaded, about)
    frame = validate(loaded, about.table)
    items = frame["item_id"].n_unique()
    if about.table == "splits":
        return replace(about, items=items, splits=_distinct(frame, "split"))
    if about.table == "soft_votes":
        labels = tuple(name.removeprefix("p_") for name in frame.columns if name.startswith("p_"))
        labels = labels if loaded.meta is None or loaded.meta.labels is None else loaded.meta.labels
        return replace(about, items=items, labels=labels, annotators=frame["annotator_id"].n_unique())
    return replace(about, items=items)


def _prediction_details(loaded: Loaded, about: FileCheck) -> FileCheck:
    names = None if loaded.meta is None else loaded.meta.labels
    extra = () if loaded.meta is None else loaded.meta.condition_columns
    table = read_predictions(Findings(loaded), names, condition_columns=extra)
    conditions, _ = conditions_of(table.frame, table.condition_columns)
    return replace(
        about,
        items=table.frame["item_id"].n_unique(),
        labels=table.labels,
        conditions=tuple(map(str, conditions)),
        seeds=tuple(table.frame["seed"].drop_nulls().unique().sort().to_list()),
        splits=_distinct(table.frame, "split"),
    )


def _distinct(frame: pl.DataFrame, name: str) -> tuple[str, ...]:
    return tuple(frame[name].unique().sort().to_list())


def _together(passed: list[tuple[Loaded, FileCheck]]) -> tuple[Note, ...]:
    """Align votes and predictions where both are there; returns what that said."""
    by_table: dict[str, list[Loaded]] = {}
    for loaded, check in passed:
        by_table.setdefault(check.table, []).append(loaded)
    human = [table for table in ("votes", "vote_counts") if table in by_table]
    if len(human) != 1 or "predictions" not in by_table:
        return ()
    panel = read_panel(
        by_table[human[0]],
        by_table["predictions"],
        items=by_table.get("items"),
        splits=by_table.get("splits"),
        part="all",
    )
    said = {note for _, check in passed for note in check.notes}
    return tuple(note for note in panel.notes if note not in said)
