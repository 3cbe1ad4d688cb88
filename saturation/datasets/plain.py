"""Plain tables of one's own: ``long`` (one row a vote) and ``wide`` (one row an item, one column of counts a label)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from saturation.datasets.conversion import Conversion, Log, Options
from saturation.errors import UsageError
from saturation.tables.findings import ROW
from saturation.tables.io import Loaded, load
from saturation.tables.labels import from_values
from saturation.tables.meta import Metadata
from saturation.tables.validate import validate

if TYPE_CHECKING:
    import polars as pl


def read_long(paths: list[Path], options: Options, log: Log) -> Conversion:
    """One row a vote. Without an annotator column the votes become counts, and other columns are left out."""
    loaded = _load(paths, log)
    wanted = {"item_id": options.item_column, "annotator_id": options.annotator_column, "label": options.label_column}
    loaded = loaded.renamed(wanted)
    _need(loaded, "item_id", "label")
    names = options.labels or (None if loaded.meta is None else loaded.meta.labels)
    loaded = replace(loaded, meta=Metadata("votes", names))
    votes = validate(loaded, "votes").drop(ROW)
    labels = names or from_values(votes["label"].unique().to_list())
    if names is None:
        log.note(f"labels in the order {', '.join(labels)}; --labels sets another")
    if "annotator_id" in votes.columns:
        return Conversion(tables={"votes": votes}, labels=labels)
    log.drop("columns", len(votes.columns) - 2, "votes without annotator ids become counts, one row an item")
    return Conversion(tables={"vote_counts": _count(votes, labels)}, labels=labels)


def read_wide(paths: list[Path], options: Options, log: Log) -> Conversion:
    """One row an item. Columns ``n_<label>``, or those that ``--labels`` names; other columns stay as attributes."""
    loaded = _load(paths, log).renamed({"item_id": options.item_column})
    _need(loaded, "item_id")
    present = loaded.frame.columns
    labels = options.labels or tuple(name.removeprefix("n_") for name in present if name.startswith("n_"))
    if not labels:
        raise UsageError(f"{loaded.name} has no n_<label> column: say which columns are counts, --labels a,b,c")
    columns = {label: label if label in present and f"n_{label}" not in present else f"n_{label}" for label in labels}
    missing = [label for label, column in columns.items() if column not in present]
    if missing:
        raise UsageError(f"{loaded.name} has no column {missing[0]} (or n_{missing[0]})")
    frame = loaded.frame.rename({column: f"n_{label}" for label, column in columns.items()})
    loaded = replace(loaded, frame=frame, meta=Metadata("vote_counts", labels))
    return Conversion(tables={"vote_counts": validate(loaded, "vote_counts").drop(ROW)}, labels=labels)


def _load(paths: list[Path], log: Log) -> Loaded:
    loaded = load(paths, "votes")
    for one in loaded.inputs:
        log.read(one.path, one.rows)
    return loaded


def _need(loaded: Loaded, *required: str) -> None:
    for ours in required:
        if ours not in loaded.frame.columns:
            option = "--" + ours.removesuffix("_id") + "-column"
            columns = ", ".join(loaded.columns)
            raise UsageError(f"{loaded.name} has no column {ours!r}: name it with {option} (columns: {columns})")


def _count(votes: pl.DataFrame, labels: tuple[str, ...]) -> pl.DataFrame:
    import polars as pl

    columns = [(pl.col("label") == label).sum().cast(pl.Int64).alias(f"n_{label}") for label in labels]
    return votes.group_by("item_id", maintain_order=True).agg(columns)
