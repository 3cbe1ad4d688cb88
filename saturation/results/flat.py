"""Rows as flat dictionaries, envelopes and frames: null instead of NaN, keys and types that do not depend on values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib.metadata import version as _installed_version
from typing import TYPE_CHECKING, Any, Protocol

from saturation.conditions import STANDARD_COLUMNS, Condition
from saturation.results.rows import DataSummary, Input, Note, Uncertainty

if TYPE_CHECKING:
    import polars as pl

SCHEMA = "saturation/1"
COND_COLUMNS = ("model", "method", "budget", "strength", "alpha")


def version() -> str:
    """The installed version of this package."""
    return _installed_version("annotation-saturation")


def flatten(row: object, extra: Sequence[str] = ()) -> dict[str, Any]:
    """One row as a flat dictionary; nested conditions and uncertainties are spread out in place."""
    flat: dict[str, Any] = {}
    for one in fields(row):  # type: ignore[arg-type]
        value = getattr(row, one.name)
        if isinstance(value, Condition):
            flat["condition"] = str(value)
            flat |= {column: finite(value.get(column)) for column in (*COND_COLUMNS, *extra)}
        elif isinstance(value, Uncertainty):
            flat |= as_dict(value)
        else:
            flat[one.name] = finite(value)
    return flat


def as_dict(one: object) -> dict[str, Any]:
    """A flat dataclass as a dictionary, with NaN and infinities as null."""
    return {f.name: finite(getattr(one, f.name)) for f in fields(one)}  # type: ignore[arg-type]


def finite(value: Any) -> Any:
    """NumPy scalars as Python ones; NaN and infinities as None.

    Examples
    --------
    >>> import numpy as np
    >>> finite(np.float64("nan")), finite(np.int64(3)), finite("nan"), finite(float("inf"))
    (None, 3, 'nan', None)
    """
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def plain(value: Any) -> Any:
    """Settings as JSON can hold them: mappings, lists, numbers, words, None."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset) or getattr(value, "ndim", 0) > 0:
        return [plain(one) for one in value]
    value = finite(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


class _Told(Protocol):
    """What an envelope needs of a result."""

    @property
    def command(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def inputs(self) -> tuple[Input, ...]: ...
    @property
    def notes(self) -> tuple[Note, ...]: ...


def envelope(result: _Told, data: DataSummary | None, body: Mapping[str, Any]) -> dict[str, Any]:
    """Everything around the rows that is needed to repeat them."""
    return {
        "schema": SCHEMA,
        "command": result.command,
        "version": version(),
        "inputs": [as_dict(one) for one in result.inputs],
        "settings": plain(result.settings),
        "data": None if data is None else as_dict(data),
        "warnings": [as_dict(note) for note in result.notes],
        **body,
    }


def column_types(row_type: type[Any]) -> dict[str, type]:
    """Columns of a kind of row and what they hold, in order; without the table's own condition columns.

    Examples
    --------
    >>> from saturation.results.rows import LabelCurveRow
    >>> list(column_types(LabelCurveRow).items())[:3]
    [('quantity', <class 'str'>), ('metric', <class 'str'>), ('budget', <class 'int'>)]
    """
    types: dict[str, type] = {}
    for one in fields(row_type):
        if one.type == "Condition":
            types |= {"condition": str} | dict.fromkeys(COND_COLUMNS, str)
            types |= {"budget": int, "strength": float, "alpha": float}
        elif one.type == "Uncertainty":
            types |= column_types(Uncertainty)
        else:
            types[one.name] = {"int": int, "float": float}.get(str(one.type).split(" ", maxsplit=1)[0], str)
    return types


def frame(records: Sequence[Mapping[str, Any]], types: Mapping[str, type]) -> pl.DataFrame:
    """Records as a polars frame whose column types do not depend on which values are null."""
    import polars as pl

    of_type = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
    names = list(records[0]) if records else list(types)
    series = []
    for name in names:
        values = [record[name] for record in records]
        kind = _kind(values, types.get(name))
        series.append(pl.Series(name, [None if v is None else kind(v) for v in values], dtype=of_type[kind]))
    return pl.DataFrame(series)


def _kind(values: Sequence[Any], declared: type | None) -> type:
    """The declared type, unless the values (free condition columns) say otherwise."""
    found = {type(value) for value in values if value is not None}
    if declared is not None and found <= {declared, int}:
        return declared
    if len(found) == 1 and found <= {bool, int, float, str}:
        return found.pop()
    return float if found and found <= {int, float} else str


def extra_columns(rows: Sequence[object]) -> list[str]:
    """Condition columns beyond the standard ones of the rows: prior, temperature, then the alphabet."""
    found: set[str] = set()
    for row in rows:
        condition = getattr(row, "condition", None)
        if isinstance(condition, Condition):
            found |= {name for name, _ in condition.values if name not in COND_COLUMNS}
    standard = [name for name in STANDARD_COLUMNS if name in found]
    return standard + sorted(found - set(STANDARD_COLUMNS))
