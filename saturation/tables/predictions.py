"""A table of predictions, checked and typed: which column is what, and rows that are distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from saturation.conditions import STANDARD_COLUMNS
from saturation.tables import labels as label_rules
from saturation.tables.columns import as_floats, as_text, as_whole, check_ids, check_least, check_words, need
from saturation.tables.findings import ROW, Findings, cell, option
from saturation.tables.schema import NEVER_CONDITIONS, PARTS, reserved_names
from saturation.tables.simplex import check_simplex, renormalise
from saturation.typing import Floats

if TYPE_CHECKING:
    import polars as pl

_TEXT = ("item_id", "model", "method", "prior", "split", "part", "member")
_RANGES = {"strength": (0.0, 1.0), "alpha": (0.0, None), "temperature": (None, None)}


@dataclass(frozen=True, slots=True)
class Predictions:
    """What a predictions table holds.

    Attributes
    ----------
    frame
        Typed rows; model, seed and split are always there; a null seed belongs to a base rate.
    labels
        Names of the ``p_`` columns.
    condition_columns
        Condition columns that are there: the standard ones first, the rest alphabetically.
    probs
        (rows, labels) on the simplex.
    renormalised
        How many rows had to be divided by their sum (32-bit rounding).
    """

    frame: pl.DataFrame
    labels: tuple[str, ...]
    condition_columns: tuple[str, ...]
    probs: Floats
    renormalised: int


def read_predictions(
    found: Findings,
    names: tuple[str, ...] | None,
    *,
    voted: tuple[str, ...] | None = None,
    open_labels: bool = False,
    condition_columns: Sequence[str] = (),
    ignore_columns: Sequence[str] = (),
) -> Predictions:
    """Check a table of predictions.

    Parameters
    ----------
    found
        Where problems go; holds the rows.
    names
        Declared labels; None: all ``p_`` columns.
    voted
        Labels of the votes, to compare with; ``open_labels`` says whether the predictions may add to them.
    condition_columns, ignore_columns
        Further columns that are conditions, and columns to leave out.
    """
    frame = found.loaded.frame
    need(found, frame, ignore_columns, " (it was to be ignored)")
    frame = frame.drop(ignore_columns)
    need(found, frame, ("item_id",), " (ignored columns are gone)" if ignore_columns else "")
    need(found, frame, condition_columns, " (it was declared a condition column)")
    labels = label_rules.from_columns(found, frame, "p_", names)
    label_rules.check_names(found, labels)
    if voted is not None:
        _compare_labels(found, labels, voted, open_labels)
    _check_columns(found, frame, labels, condition_columns)
    found.stop()
    frame = as_floats(found, frame, ["p_" + label for label in labels], "P01")
    frame = _typed_keys(found, frame)
    frame, extra = _typed_extras(frame, condition_columns)
    columns = tuple(name for name in STANDARD_COLUMNS if name in frame.columns) + extra
    probs = check_simplex(found, frame, labels)
    _check_repeats(found, frame, columns)
    found.stop()
    probs, renormalised = renormalise(probs)
    return Predictions(frame, labels, columns, probs, renormalised)


def _compare_labels(found: Findings, labels: tuple[str, ...], voted: tuple[str, ...], open_labels: bool) -> None:
    """Labels are matched by name, never by position."""
    for label in voted:
        if label not in labels:
            found.add("A01", f"the votes have the label {label!r}, the predictions have no column {'p_' + label!r}")
    if not open_labels:
        for label in labels:
            if label not in voted:
                message = f"column {'p_' + label!r} is none of the votes' labels ({', '.join(voted[:20])})"
                found.add("A02", f"{message}; rename it or pass {option('labels')}")
    found.stop()


def _check_columns(found: Findings, frame: pl.DataFrame, labels: tuple[str, ...], declared: Sequence[str]) -> None:
    """Every column has a meaning, or its user says what to do with it."""
    reserved = reserved_names()
    for name in declared:
        if name in reserved or name.startswith(("p_", "z_", "logprob_", "__")):
            found.add("P06", f"{name!r} has a fixed meaning here and cannot be a condition column; rename it")
    known = {ROW, *STANDARD_COLUMNS, *NEVER_CONDITIONS, *declared}
    known |= {prefix + label for prefix in ("p_", "z_") for label in labels}
    unknown = [name for name in frame.columns if name not in known and not name.startswith("logprob_")]
    if unknown:
        listed = ",".join(unknown)
        found.add(
            "P05",
            f"columns of unknown meaning: {', '.join(unknown)}; if they say how a model was trained pass "
            f"--condition-columns {listed} (condition_columns=), otherwise --ignore-columns {listed} (ignore_columns=)",
        )


def _typed_keys(found: Findings, frame: pl.DataFrame) -> pl.DataFrame:
    """Key columns with their types; those that are missing get one constant value."""
    import polars as pl

    frame = as_text(found, frame, *_TEXT)
    constants = {"model": "model", "split": "all", "seed": 0}
    frame = frame.with_columns(
        pl.lit(value).alias(name) for name, value in constants.items() if name not in frame.columns
    )
    check_ids(found, frame, "item_id", "model", "method", "split", "member")
    check_words(found, frame, "part", PARTS, "P11")
    if "budget" in frame.columns:
        frame = as_whole(found, frame, ["budget"], "P08")
        check_least(found, frame, "budget", 1, "P08")
    frame = as_whole(found, frame, [name for name in ("seed", "draw") if name in frame.columns], "P10")
    if frame["seed"].null_count() == len(frame):
        frame = frame.with_columns(pl.lit(0, dtype=pl.Int64).alias("seed"))
    found.add_rows("P10", frame.filter(pl.col("seed").is_null() & ~_is_base_rate(frame)), "seed is empty")
    return _typed_numbers(found, frame)


def _typed_numbers(found: Findings, frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    for name, (low, high) in _RANGES.items():
        if name not in frame.columns:
            continue
        if frame.schema[name] == pl.Float32:  # 0.1, not 0.10000000149
            frame = frame.with_columns(pl.col(name).cast(pl.String))
        frame = as_floats(found, frame, [name], "P09")
        column = pl.col(name)
        wrong = column <= 0 if low is None else column < low
        wrong = wrong | column.is_infinite() | (column > high if high is not None else pl.lit(value=False))
        found.add_rows("P09", frame.filter(wrong), cell(name, f"{name} is ", ", which is out of range"))
    return frame


def _is_base_rate(frame: pl.DataFrame) -> pl.Expr:
    import polars as pl

    return pl.col("method") == "base_rate" if "method" in frame.columns else pl.lit(value=False)


def _typed_extras(frame: pl.DataFrame, declared: Sequence[str]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Declared condition columns: numbers where every value is written as one, so that all formats agree."""
    import polars as pl

    names = tuple(sorted(set(declared) - set(STANDARD_COLUMNS)))
    for name in names:
        text = frame[name].cast(pl.String)
        text = text.set(text == "", None)
        whole, number = text.cast(pl.Int64, strict=False), text.cast(pl.Float64, strict=False)
        if (whole.cast(pl.String) == text).all() and whole.null_count() == text.null_count():
            text = whole
        elif number.null_count() == text.null_count() and number.is_finite().all():
            text = number
        frame = frame.with_columns(text.alias(name))
    return frame, names


def _check_repeats(found: Findings, frame: pl.DataFrame, columns: tuple[str, ...]) -> None:
    import polars as pl

    key = [*columns, "seed", "split", "item_id", *(["member"] if "member" in frame.columns else [])]
    duplicated = pl.struct(key).is_duplicated() & ~pl.struct(key).is_first_distinct()
    rows = frame.filter(duplicated)
    if rows.is_empty():
        return
    if "method" not in frame.columns:
        found.add(
            "P07", "an item has several rows; add a column `method` (and `budget`, `seed`, ...) that tells them apart"
        )
        return
    found.add_rows("P04", rows, f"an earlier row has the same {', '.join(key)}")
