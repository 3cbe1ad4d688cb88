"""What our tables look like: names, key columns, types, and an example row each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, TypeAlias

from saturation.conditions import STANDARD_COLUMNS, Condition
from saturation.errors import UsageError
from saturation.results import CurveRow, EvaluateRow, LabelCurveRow, Uncertainty

if TYPE_CHECKING:
    import polars as pl

SCHEMA = 1
"""Version of the file format."""
METADATA_KEY = "saturation"
SIDECAR_SUFFIX = ".meta.json"

MAX_LABELS = 1000
MAX_CHARACTERS = 1000
MAX_VOTES = 10_000
"""Most votes of one item: exact laws list every number that can be drawn, and no crowd is larger."""
SIMPLEX_TOLERANCE = 1e-6
"""How far a row of probabilities may be from summing to 1 (rows written with 32 bits are off by about 1e-7)."""
ROUNDING = 1e-12
"""Rows off by no more than this are taken as they are; float64 rounding of 1,000 labels stays below."""

PARTS = ("train", "dev", "test")
POOLS = ("train", "heldout")
NEVER_CONDITIONS = (
    "item_id", "seed", "split", "draw", "part", "member", "n_tokens", "truncated", "label_mass", "seconds",
    "fitted_temperature", "fitted_strength",
)  # fmt: skip
"""Columns of a predictions table with a fixed meaning; ``logprob_*`` are a further family."""

TableName: TypeAlias = Literal["votes", "vote_counts", "soft_votes", "predictions", "items", "splits"]
Kind: TypeAlias = Literal["text", "whole", "float"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: its type, what it means, and whether it must be there."""

    name: str
    kind: Kind
    meaning: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One of our tables.

    Attributes
    ----------
    row
        What one row is.
    key
        Columns that identify a row.
    prefix
        ``n_`` or ``p_`` where there is a column a label.
    example
        One row, for two labels ``yes`` and ``no``.
    """

    name: TableName
    row: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    prefix: str | None
    example: dict[str, str | int | float | None]


_ITEM = Column("item_id", "text", "the item", required=True)
_ANNOTATOR = Column("annotator_id", "text", "the person; may be absent")
_SECONDS = Column("seconds", "float", "time spent")
_SPLIT = Column("split", "text", "name of the item partition")
_PART = Column("part", "text", "train, dev or test")

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table(
            "votes",
            "one annotator's label of one item",
            ("item_id", "annotator_id"),
            (
                _ITEM,
                _ANNOTATOR,
                Column("label", "text", "what the annotator chose", required=True),
                _SECONDS,
                Column("pool", "text", "train or heldout"),
            ),
            None,
            {"item_id": "q1", "annotator_id": "a7", "label": "yes", "seconds": 4.2},
        ),
        Table(
            "vote_counts",
            "one item",
            ("item_id",),
            (_ITEM,),
            "n_",
            {"item_id": "q1", "n_yes": 7, "n_no": 3, "source": "news"},
        ),
        Table(
            "soft_votes",
            "one annotator's distribution over one item",
            ("item_id", "annotator_id"),
            (_ITEM, Column("annotator_id", "text", "the person", required=True), _SECONDS),
            "p_",
            {"item_id": "q1", "annotator_id": "a7", "p_yes": 0.8, "p_no": 0.2},
        ),
        Table(
            "predictions",
            "one item under one condition, seed and split",
            ("model", "method", "budget", "seed", "split", "item_id"),
            (
                _ITEM,
                Column("model", "text", "name of the model"),
                Column("method", "text", "hard, smoothing, soft, dirichlet, temperature, base_rate, or your own"),
                Column("budget", "whole", "votes an item that the target was built from; empty = all"),
                Column("strength", "float", "smoothing strength"),
                Column("alpha", "float", "pseudo-votes a label"),
                Column("prior", "text", "name of the prior"),
                Column("temperature", "float", "what logits were divided by"),
                Column("seed", "whole", "training seed"),
                _SPLIT,
                _PART,
                Column("draw", "whole", "which draw of votes trained it"),
                Column("member", "text", "member of an ensemble; averaged"),
            ),
            "p_",
            {
                "item_id": "q1", "model": "roberta-base", "method": "soft", "budget": 10, "seed": 0, "split": "42",
                "part": "test", "p_yes": 0.7, "p_no": 0.3,
            },
        ),
        Table(
            "items",
            "one item",
            ("item_id",),
            (_ITEM, Column("majority_label", "text", "the published majority")),
            None,
            {"item_id": "q1", "majority_label": "yes", "text": "Is this a question?", "source": "news"},
        ),
        Table(
            "splits",
            "one item in one split",
            ("item_id", "split"),
            (
                _ITEM,
                Column("split", "text", "name of the item partition", required=True),
                Column("part", "text", "train, dev or test", required=True),
            ),
            None,
            {"item_id": "q1", "split": "42", "part": "test"},
        ),
    )
}  # fmt: skip
"""Our tables by name."""

_LATER_KEYS = (
    "versus", "outcome", "binning", "bins", "bins_used", "label", "term", "a", "b", "favours", "test", "alternative",
    "statistic", "df", "p_adjusted", "adjustment", "family_size", "wins", "losses", "ties", "n_pairs", "sentence",
)  # fmt: skip


def reserved_names() -> frozenset[str]:
    """Names that a user's condition column cannot take: the keys of result rows and the columns of ours."""
    rows = (EvaluateRow, LabelCurveRow, CurveRow, Uncertainty)
    keys = {one.name for row in rows for one in fields(row)} - {"unc"}
    return frozenset((keys | {"condition", "annotator_id", *_LATER_KEYS, *NEVER_CONDITIONS}) - set(STANDARD_COLUMNS))


def table_named(name: str) -> Table:
    """The table of that name.

    Raises
    ------
    UsageError
        When there is none; the message lists them.

    Examples
    --------
    >>> table_named("splits").key
    ('item_id', 'split')
    """
    if name not in TABLES:
        raise UsageError(f"there is no table {name!r}; the tables are {', '.join(TABLES)}")
    return TABLES[name]


def example(name: str) -> pl.DataFrame:
    """One example row of a table, as a frame that passes its own validation.

    Examples
    --------
    >>> example("vote_counts").to_dicts()
    [{'item_id': 'q1', 'n_yes': 7, 'n_no': 3, 'source': 'news'}]
    """
    import polars as pl

    return pl.DataFrame([table_named(name).example])


def condition_of(columns: tuple[str, ...], values: tuple[str | int | float | None, ...]) -> Condition:
    """The condition of one row of condition columns; model and method are always there."""
    named = dict(zip(columns, values, strict=True))
    return Condition.of(**({"model": "model"} | named))
