"""Results as JSON and back again, every number bit by bit, so that a long study can go on where it stopped."""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from saturation.conditions import Condition
from saturation.results.flat import as_dict, extra_columns, flatten, plain
from saturation.results.result import MurphyResult, ReliabilityBin, Result
from saturation.results.rows import DataSummary, Input, Note, Uncertainty


def dump(result: Result[Any]) -> str:
    """A result as one JSON text.

    Examples
    --------
    >>> from saturation.results import EvaluateResult
    >>> data = DataSummary(n_items=1, n_labels=2, n_votes=3, votes_min=3, votes_max=3)
    >>> empty = EvaluateResult(rows=(), settings={"seed": 0}, data=data)
    >>> load(dump(empty)) == empty
    True
    """
    body = {
        "command": result.command,
        "rows": dump_rows(result.rows),
        "settings": plain(result.settings),
        "data": as_dict(result.data),
        "inputs": [as_dict(one) for one in result.inputs],
        "notes": [as_dict(one) for one in result.notes],
        "diagram": dump_rows(result.diagram) if isinstance(result, MurphyResult) else [],
    }
    return json.dumps(body, ensure_ascii=False, allow_nan=False)


def load(text: str) -> Result[Any]:
    """What :func:`dump` wrote."""
    body = json.loads(text)
    kind = _kind(body["command"])
    more: dict[str, Any] = {}
    if issubclass(kind, MurphyResult):
        more["diagram"] = load_rows(body["diagram"], ReliabilityBin)
    return kind(
        rows=load_rows(body["rows"], kind.row_type),
        settings=body["settings"],
        data=DataSummary(**body["data"]),
        inputs=tuple(Input(**one) for one in body["inputs"]),
        notes=tuple(Note(**one) for one in body["notes"]),
        **more,
    )


def dump_rows(rows: typing.Sequence[Any]) -> list[dict[str, Any]]:
    """Rows as flat dictionaries with every key."""
    extra = extra_columns(rows)
    return [flatten(row, extra) for row in rows]


def load_rows(records: typing.Sequence[Mapping[str, Any]], row_type: type[Any]) -> tuple[Any, ...]:
    """Rows from flat dictionaries."""
    return tuple(_row(record, row_type) for record in records)


def _kind(command: str) -> type[Result[Any]]:
    """The class of a command's results."""
    from saturation import results

    known = (getattr(results, name) for name in results.__all__)
    return next(one for one in known if isinstance(one, type) and issubclass(one, Result) and one.command == command)


def _row(record: Mapping[str, Any], row_type: type[Any]) -> Any:
    made: dict[str, Any] = {}
    own = {"condition", *(one.name for one in (*fields(row_type), *fields(Uncertainty)))}
    for one in fields(row_type):
        if one.type in ("Condition", Condition):
            made[one.name] = Condition.of(**{name: record[name] for name in record if name not in own})
        elif one.type in ("Uncertainty", Uncertainty):
            made[one.name] = Uncertainty(**{inner.name: record[inner.name] for inner in fields(Uncertainty)})
        elif one.name in record:
            made[one.name] = record[one.name]
        elif one.default is MISSING:
            raise KeyError(one.name)
    return row_type(**made)
