"""What a table says about itself: labels, condition columns and provenance, as JSON beside or inside the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from saturation.tables.schema import SCHEMA, SIDECAR_SUFFIX, TABLES


@dataclass(frozen=True, slots=True)
class Metadata:
    """Content of the parquet key ``saturation`` and of ``<file>.meta.json``.

    Attributes
    ----------
    table
        Which of our tables it is.
    labels
        Label names in order; None where the table leaves them open (items, splits).
    condition_columns
        Condition columns beyond the standard ones.
    provenance
        Where the table comes from, free form.
    """

    table: str
    labels: tuple[str, ...] | None = None
    condition_columns: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """One line of JSON, keys in a fixed order."""
        content = {
            "schema": SCHEMA,
            "table": self.table,
            "labels": None if self.labels is None else list(self.labels),
            "condition_columns": list(self.condition_columns),
            "provenance": dict(self.provenance),
        }
        return json.dumps(content, ensure_ascii=False)

    def agrees(self, other: Metadata) -> bool:
        """Whether two files can be parts of one table; their provenance may differ."""
        mine = (self.table, self.labels, self.condition_columns)
        return mine == (other.table, other.labels, other.condition_columns)


def parse(text: str) -> Metadata:
    """Read metadata.

    Raises
    ------
    ValueError
        With one sentence on what is wrong; the caller knows the file.

    Examples
    --------
    >>> parse('{"schema": 1, "table": "votes", "labels": ["no", "yes"]}').labels
    ('no', 'yes')
    """
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"the metadata is not JSON ({error.msg}, line {error.lineno})") from error
    if not isinstance(content, dict):
        raise ValueError("the metadata is not a JSON object")
    if content.get("schema") != SCHEMA:
        raise ValueError(f"the metadata has schema {content.get('schema')!r}; this version reads schema {SCHEMA}")
    if content.get("table") not in TABLES:
        raise ValueError(f"the metadata names the table {content.get('table')!r}; the tables are {', '.join(TABLES)}")
    labels = content.get("labels")
    provenance = content.get("provenance") or {}
    if not isinstance(provenance, dict):
        raise ValueError("provenance in the metadata is not a JSON object")
    return Metadata(
        table=content["table"],
        labels=None if labels is None else _texts(labels, "labels"),
        condition_columns=_texts(content.get("condition_columns") or [], "condition_columns"),
        provenance=provenance,
    )


def sidecar(path: Path) -> Path:
    """Where the metadata of a CSV, JSONL or Arrow file lies."""
    return path.with_name(path.name + SIDECAR_SUFFIX)


def _texts(values: object, name: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{name} in the metadata is not a list of texts")
    return tuple(values)
