"""What passes between a reader of a published format and the code that writes our tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saturation.elicitation import Rule, Spread, Variety
from saturation.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

NLI_LABELS = ("entailment", "neutral", "contradiction")
ABDUCTION_LABELS = ("1", "2")
CIFAR_LABELS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of a conversion; a format takes some of them, None means that one was not given.

    Attributes
    ----------
    labels
        Label names in order.
    item_column, annotator_column, label_column
        Names of these columns in a plain table.
    variety, spread, gamma, rule
        How soft votes are made of responses, see ``elicitation.soft_labels``.
    strict
        Whether responses that contradict themselves are refused.
    """

    labels: tuple[str, ...] | None = None
    item_column: str | None = None
    annotator_column: str | None = None
    label_column: str | None = None
    variety: Variety | None = None
    spread: Spread | None = None
    gamma: float | None = None
    rule: Rule | None = None
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Log:
    """What a reader left out or mended; goes into ``convert.json``.

    Attributes
    ----------
    dropped, repaired
        One entry a kind: ``what``, ``number``, ``why``.
    notes
        Sentences that a user of the tables should know.
    records
        By path, how many records (items, votes, predictions) the file holds.
    """

    dropped: list[dict[str, Any]] = field(default_factory=list)
    repaired: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    records: dict[str, int] = field(default_factory=dict)

    def read(self, path: str | Path, number: int) -> None:
        """Say how many records a file holds."""
        self.records[str(path)] = number

    def drop(self, what: str, number: int, why: str) -> None:
        """Count something that was left out; zero is not worth an entry."""
        if number:
            self.dropped.append({"what": what, "number": number, "why": why})

    def repair(self, what: str, number: int, why: str) -> None:
        """Count something that was mended; zero is not worth an entry."""
        if number:
            self.repaired.append({"what": what, "number": number, "why": why})

    def note(self, sentence: str) -> None:
        """Keep a sentence, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Conversion:
    """What a reader found.

    Attributes
    ----------
    tables
        Frames by table name: votes or vote_counts, soft_votes, items, splits, predictions.
    labels
        Label names in order.
    """

    tables: Mapping[str, pl.DataFrame]
    labels: tuple[str, ...]


def counts_frame(item_ids: Iterable[str], counts: Iterable[Iterable[int]], labels: tuple[str, ...]) -> pl.DataFrame:
    """A vote_counts frame from ids and one row of counts an item."""
    import polars as pl

    rows = [list(row) for row in counts]
    columns = {f"n_{label}": pl.Series([row[k] for row in rows], dtype=pl.Int64) for k, label in enumerate(labels)}
    return pl.DataFrame({"item_id": pl.Series(list(item_ids), dtype=pl.String)} | columns)


def items_frame(rows: Iterable[Mapping[str, str | None]]) -> pl.DataFrame:
    """An items frame; columns in first-seen order, null where an item lacks one, columns without a value left out."""
    import polars as pl

    kept = list(rows)
    names = list(dict.fromkeys(name for row in kept for name in row))
    frame = pl.DataFrame({name: pl.Series([row.get(name) for row in kept], dtype=pl.String) for name in names})
    return frame.select(name for name in names if frame[name].null_count() < len(frame))


def label_names(options: Options, number: int) -> tuple[str, ...]:
    """Names of labels that a source knows by index only: ``--labels``, else "0", "1", ..."""
    if options.labels is None:
        return tuple(str(k) for k in range(number))
    if len(options.labels) != number:
        raise UsageError(f"the source has {number} labels, {len(options.labels)} names were given (--labels)")
    return options.labels
