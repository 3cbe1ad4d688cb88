"""The way in: votes and panels from files or frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from saturation.errors import UsageError
from saturation.results import Note
from saturation.tables import labels as label_rules
from saturation.tables import validate
from saturation.tables.align import Missing, Part, PredictionOptions, align
from saturation.tables.findings import ROW, Findings
from saturation.tables.io import Loaded, load
from saturation.tables.panel import Panel, Votes
from saturation.tables.votes import Duplicates, MissingLabels, VoteOptions, as_attribute, votes_of, with_majority

if TYPE_CHECKING:
    import polars as pl


def read_votes(
    sources: Any,
    *,
    labels: Sequence[str] | None = None,
    missing_labels: MissingLabels = "error",
    duplicates: Duplicates = "error",
    items: Any = None,
    item_column: str | None = None,
    annotator_column: str | None = None,
    label_column: str | None = None,
) -> Votes:
    """Read votes: a long table of single votes or a wide table of counts.

    Parameters
    ----------
    sources
        Paths, folders, globs, or data frames (polars, pandas, pyarrow); one or a list.
    labels
        Label names in order. None: from metadata, else from the columns (counts) or values (votes).
    missing_labels
        What to do with votes without a label, and items without votes.
    duplicates
        What to do when an annotator labels an item twice.
    items
        An items table: published majority, groups.
    item_column, annotator_column, label_column
        Names of these columns in a plain table that does not use ours.

    Returns
    -------
    Votes
        In canonical order, with notes on everything that was left out.

    Raises
    ------
    DataError
        With every problem of the tables, by file, row and item.
    UsageError
        For an unknown option or a source that is not a table file.

    Examples
    --------
    >>> import polars as pl
    >>> votes = read_votes(pl.DataFrame({"item_id": ["q1", "q2"], "n_no": [7, 0], "n_yes": [3, 5]}))
    >>> votes.labels, votes.counts.tolist()
    (('no', 'yes'), [[7, 3], [0, 5]])
    """
    _one_of("missing_labels", missing_labels, MissingLabels)
    _one_of("duplicates", duplicates, Duplicates)
    options = VoteOptions(
        label_rules.option(labels), missing_labels, duplicates, item_column, annotator_column, label_column
    )
    votes = votes_of(load(sources, "votes"), options)
    return votes if items is None else with_items(votes, load(items, "items"))


def read_panel(
    votes: Any,
    predictions: Any,
    *,
    items: Any = None,
    splits: Any = None,
    labels: Sequence[str] | None = None,
    condition_columns: Sequence[str] = (),
    ignore_columns: Sequence[str] = (),
    part: Part = "test",
    missing: Missing = "error",
    missing_labels: MissingLabels = "error",
    duplicates: Duplicates = "error",
    item_column: str | None = None,
    annotator_column: str | None = None,
    label_column: str | None = None,
) -> Panel:
    """Read votes and predictions of the same items and align them by item, label, condition, seed and split.

    Parameters
    ----------
    votes
        As ``sources`` of :func:`read_votes`, or votes that were read already.
    predictions
        Paths, folders, globs or data frames of predictions.
    items, splits
        Further tables: item attributes; the part of each item in each split.
    labels, missing_labels, duplicates, item_column, annotator_column, label_column
        As in :func:`read_votes`.
    condition_columns, ignore_columns
        Columns of the predictions that are conditions beyond the standard ones, and columns to leave out.
    part
        Which items are analysed, where the predictions or the splits table say the part; ``all`` takes every row.
    missing
        What to do with items predicted under some cells of a split only.

    Returns
    -------
    Panel
        In canonical order, so that the order of rows, files and columns changes no bit.

    Raises
    ------
    DataError
        With every problem, by file, row and item.
    UsageError
        For an unknown option or a source that is not a table file.

    Examples
    --------
    >>> import polars as pl
    >>> counts = pl.DataFrame({"item_id": ["q1", "q2"], "n_no": [7, 0], "n_yes": [3, 5]})
    >>> probs = pl.DataFrame({"item_id": ["q2", "q1"], "p_yes": [0.9, 0.2], "p_no": [0.1, 0.8]})
    >>> panel = read_panel(counts, probs)
    >>> panel.probs[0][0, 0].tolist(), panel.splits, panel.seeds
    ([[0.8, 0.2], [0.1, 0.9]], ('all',), ((0,),))
    """
    _one_of("part", part, Part)
    _one_of("missing", missing, Missing)
    if isinstance(votes, Votes):
        own = votes if items is None else with_items(votes, load(items, "items"))
    else:
        own = read_votes(
            votes,
            labels=labels,
            missing_labels=missing_labels,
            duplicates=duplicates,
            items=items,
            item_column=item_column,
            annotator_column=annotator_column,
            label_column=label_column,
        )
    options = PredictionOptions(
        label_rules.option(labels), _texts("condition_columns", condition_columns),
        _texts("ignore_columns", ignore_columns), part, missing,
    )  # fmt: skip
    table = None if splits is None else load(splits, "splits")
    panel = align(own, load(predictions, "predictions"), options, None if table is None else checked_splits(table))
    return panel if table is None else replace(panel, inputs=(*panel.inputs, *table.inputs))


def with_items(votes: Votes, loaded: Loaded) -> Votes:
    """Votes with the attributes and published majorities of an items table."""
    import polars as pl

    found = Findings(loaded)
    found.expect("items")
    frame = validate.items(found, loaded.frame)
    found.stop()
    voted = pl.DataFrame({"item_id": votes.item_ids}, schema={"item_id": pl.String})
    joined = voted.join(frame, on="item_id", how="left", maintain_order="left")
    groups = dict(votes.groups)
    for name in joined.columns:
        if name in ("item_id", "majority_label", ROW):
            continue
        values = as_attribute(joined[name])
        if name in groups and groups[name] != values:
            _check_agreement(found, joined, name, groups[name], values)
        groups[name] = values
    found.stop()
    absent = joined[ROW].null_count()
    notes = []
    if absent:
        notes.append(Note("items_without_attributes", f"{absent:,} voted items are not in the items table"))
    votes = replace(votes, groups=groups, inputs=(*votes.inputs, *loaded.inputs), notes=(*votes.notes, *notes))
    return with_majority(found, votes, joined) if "majority_label" in joined.columns else votes


def _check_agreement(
    found: Findings, joined: pl.DataFrame, name: str, here: Sequence[str | None], there: Sequence[str | None]
) -> None:
    differ = [
        index for index, (a, b) in enumerate(zip(here, there, strict=True)) if a != b and joined[ROW][index] is not None
    ]
    texts = [f"{name} is {there[index]!r} here and {here[index]!r} in the votes" for index in differ]
    found.add_rows("A08", joined[differ], texts)


def checked_splits(loaded: Loaded) -> pl.DataFrame:
    """The rows of a splits table, typed and checked."""
    found = Findings(loaded)
    found.expect("splits")
    frame = validate.splits(found, loaded.frame)
    found.stop()
    return frame


def _one_of(name: str, value: str, words: Any) -> None:
    allowed = get_args(words)
    if value not in allowed:
        raise UsageError(f"{name}={value!r} is not possible; choose one of {', '.join(allowed)}")


def _texts(name: str, values: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise UsageError(f"{name} are a list of texts, not the text {values!r}")
    return tuple(values)
