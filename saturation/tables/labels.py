"""Which labels a table has, in which order, and where that order was taken from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from saturation.errors import UsageError
from saturation.results import Note
from saturation.tables import findings
from saturation.tables.columns import UNPRINTABLE
from saturation.tables.findings import Findings
from saturation.tables.meta import Metadata
from saturation.tables.schema import MAX_CHARACTERS, MAX_LABELS

if TYPE_CHECKING:
    import polars as pl

_TOTAL_ROWS = 10
"""From how many rows on a column that equals the sum of the others is taken for a total."""


def option(labels: Sequence[str] | None) -> tuple[str, ...] | None:
    """The labels that a caller declares.

    Raises
    ------
    UsageError
        When they are fewer than two or repeat.

    Examples
    --------
    >>> option(["no", "yes"])
    ('no', 'yes')
    """
    if labels is None:
        return None
    if isinstance(labels, str):
        raise UsageError(f"labels are a list of texts, not the text {labels!r}")
    names = tuple(str(label) for label in labels)
    if len(names) < 2:
        raise UsageError(f"{len(names)} label is declared; at least two are needed")
    if len(set(names)) < len(names):
        raise UsageError(f"the declared labels repeat: {', '.join(names)}")
    return names


def declared(
    found: Findings, meta: Metadata | None, asked: tuple[str, ...] | None
) -> tuple[tuple[str, ...] | None, list[Note]]:
    """Labels that metadata or the caller declares; metadata wins, and they must be the same set."""
    if meta is None or meta.labels is None:
        return asked, []
    if asked is None or asked == meta.labels:
        return meta.labels, []
    if set(asked) != set(meta.labels):
        found.add("F07", f"the metadata declares the labels {', '.join(meta.labels)}, --labels {', '.join(asked)}")
        found.stop()
    order = ",".join(meta.labels)
    message = f"the label order is that of the metadata of {found.loaded.name} ({order}), not that of --labels"
    return meta.labels, [Note("labels_from_metadata", message)]


def from_columns(found: Findings, frame: pl.DataFrame, prefix: str, names: tuple[str, ...] | None) -> tuple[str, ...]:
    """Labels of a wide table: the declared ones, else all ``n_`` or ``p_`` columns in file order."""
    columns = [name for name in frame.columns if name.startswith(prefix)]
    if names is not None:
        for label in names:
            if prefix + label not in columns:
                found.add("L03", f"the label {label!r} has no column {prefix + label!r}")
        found.stop()
        return names
    if len(columns) < 2:
        found.add(
            "L01", f"{len(columns)} columns begin with {prefix!r}; there must be one for each of at least two labels"
        )
        found.stop()
    if len(columns) <= MAX_LABELS:
        _check_label_columns(found, frame, columns)
    labels = tuple(name.removeprefix(prefix) for name in columns)
    check_names(found, labels)
    found.stop()
    return labels


def from_values(values: Iterable[str]) -> tuple[str, ...]:
    """Distinct labels in order: numeric if all are numbers, by code points otherwise.

    Examples
    --------
    >>> from_values(["10", "9", "10"]), from_values(["b", "10", "9"])
    (('9', '10'), ('10', '9', 'b'))
    """
    distinct = sorted(set(values))
    if all(_is_number(value) for value in distinct):
        distinct.sort(key=float)
    return tuple(distinct)


def twins(labels: Sequence[str]) -> list[Note]:
    """A warning where labels differ in case, spaces or Unicode form alone: most likely one label written twice.

    Examples
    --------
    >>> [note.code for note in twins(["no", "yes", "Yes "])], twins(["no", "yes"])
    (['labels_alike'], [])
    """
    alike: dict[str, list[str]] = {}
    for label in labels:
        alike.setdefault(" ".join(unicodedata.normalize("NFKC", label).casefold().split()), []).append(label)
    shown = [" and ".join(repr(name) for name in names) for names in alike.values() if len(names) > 1]
    if not shown:
        return []
    message = f"labels that differ in case, spaces or Unicode form only count as different labels: {'; '.join(shown)}"
    return [Note("labels_alike", message)]


def check_names(found: Findings, labels: Sequence[str]) -> None:
    """Note labels that are too many, empty, too long or unprintable."""
    if len(labels) > MAX_LABELS:
        found.add("L05", f"{len(labels):,} labels; at most {MAX_LABELS:,} are possible. Is the right column the label?")
        found.stop()
    for label in labels:
        if not label or len(label) > MAX_CHARACTERS or _unprintable(label):
            found.add(
                "L04", f"the label {label[:80]!r} is empty, unprintable or longer than {MAX_CHARACTERS:,} characters"
            )


def _unprintable(text: str) -> bool:
    import polars as pl

    return bool(pl.Series([text]).str.contains(UNPRINTABLE)[0])


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)", text, flags=re.ASCII) is not None


def _check_label_columns(found: Findings, frame: pl.DataFrame, columns: list[str]) -> None:
    """Refuse columns that cannot be labels although their names begin like one (``n_votes``, ``p_value``)."""
    import polars as pl

    advice = f"so it is no label; rename it or pass {findings.option('labels')}"
    other = [name for name in columns if not _castable(frame.schema[name])]
    for name in other:
        found.add("L02", f"column {name!r} holds {frame.schema[name]}, {advice}")
    if other:
        return
    numbers = frame.select(pl.col(columns).cast(pl.Float64, strict=False))
    column = pl.col(columns)
    if columns[0].startswith("n_"):
        fits, what = (column >= 0) & (column == column.round()), "vote counts"
        for name in _totals(numbers):
            found.add("L02", f"column {name!r} is the sum of the others on every row, {advice}")
    else:
        fits, what = column.is_finite(), "probabilities"
    good = numbers.select(fits.fill_null(value=False).sum()).row(0)
    for name, number in zip(columns, good, strict=True):
        if 2 * number < len(frame):
            found.add("L02", f"column {name!r} does not hold {what}, {advice}")


def _totals(numbers: pl.DataFrame) -> list[str]:
    """Columns that equal the sum of all others on every row, such as ``n_votes``."""
    import polars as pl

    if numbers.width < 3 or len(numbers) < _TOTAL_ROWS:
        return []
    everything = pl.lit(numbers.sum_horizontal())
    same = numbers.select((pl.all() * 2 == everything).all()).row(0)
    return [name for name, total in zip(numbers.columns, same, strict=True) if total]


def _castable(dtype: pl.DataType) -> bool:
    import polars as pl

    return dtype.is_numeric() or dtype in (pl.String, pl.Null)
