"""The rows of one file, as they are written: parquet, Arrow IPC, CSV without type inference, JSONL."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saturation.errors import DataError, Problem
from saturation.tables.sources import Format

if TYPE_CHECKING:
    import polars as pl


def read_rows(path: Path, kind: Format) -> pl.DataFrame:
    """All rows of a file; CSV columns are text, in the other formats what the file says.

    Raises
    ------
    DataError
        For a file that is damaged, not UTF-8, or has broken rows, by row.
    """
    if kind == "csv":
        return _read_csv(path)
    return _read_jsonl(path) if kind == "jsonl" else _read_binary(path, kind)


def _read_binary(path: Path, kind: Format) -> pl.DataFrame:
    import polars as pl

    reader = pl.read_parquet if kind == "parquet" else pl.read_ipc
    options: dict[str, Any] = {} if reader is pl.read_parquet else {"memory_map": False}
    try:
        return reader(path, **options)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError([Problem("F04", f"the file is damaged or cut off: {error}", file=str(path))]) from error


def _read_csv(path: Path) -> pl.DataFrame:
    import polars as pl

    header = _csv_header(path)
    try:
        frame = pl.read_csv(path, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        problems = _ragged_rows(path, len(header)) or [Problem("F04", f"not readable as CSV: {error}", file=str(path))]
        raise DataError(problems) from error
    if len(frame) and frame[:, -1].null_count():
        problems = _ragged_rows(path, len(header))
        if problems:
            raise DataError(problems)
    return frame


def _csv_header(path: Path) -> list[str]:
    """Column names; also the one place where the bytes of a text file are checked to be UTF-8."""
    _check_utf8(path)
    with path.open(encoding="utf-8-sig", newline="") as stream:
        header = next(csv.reader(stream), [])
    _check_names(header, path)
    if len(header) == 1 and any(mark in header[0] for mark in ";\t|"):
        message = f"the header {header[0]!r} is not separated by commas; save the file as comma-separated"
        raise DataError([Problem("F04", message, file=str(path))])
    return header


def _check_names(names: Iterable[str], path: Path) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError([Problem("F05", f"column {name!r} is there twice", file=str(path))])
        if not name.strip():
            raise DataError([Problem("F04", "a column has no name", file=str(path))])
        seen.add(name)


def _check_utf8(path: Path) -> None:
    """Name the first line that is not UTF-8."""
    data = path.read_bytes()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"line {line} is not UTF-8 text; save the file as UTF-8"
        raise DataError([Problem("F03", message, file=str(path))]) from error


def _ragged_rows(path: Path, width: int) -> list[Problem]:
    """Rows whose number of cells is not that of the header."""
    problems = []
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, strict=True)
        try:
            next(reader)
            for row, cells in enumerate(reader, start=1):
                if cells and len(cells) != width:
                    message = f"{len(cells)} cells, the header has {width}"
                    problems.append(Problem("F04", message, file=str(path), row=row))
        except csv.Error as error:
            problems.append(Problem("F04", f"line {reader.line_num}: {error}", file=str(path)))
    return problems


def _read_jsonl(path: Path) -> pl.DataFrame:
    import polars as pl

    _check_utf8(path)
    data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    try:
        frame = pl.read_ndjson(data, infer_schema_length=None)
    except pl.exceptions.PolarsError as error:
        problems = _broken_lines(path, data) or [Problem("F04", f"not readable as JSONL: {error}", file=str(path))]
        raise DataError(problems) from error
    _check_names(frame.columns, path)
    return frame


def _broken_lines(path: Path, data: bytes) -> list[Problem]:
    """Lines that are not one JSON object."""
    problems = []
    lines = [line for line in data.decode("utf-8").split("\n") if line.strip()]
    for row, line in enumerate(lines, start=1):
        try:
            good = isinstance(json.loads(line, parse_constant=_no_constant), dict)
            message = "not a JSON object"
        except ValueError as error:
            good, message = False, f"not JSON: {error}"
        if not good:
            problems.append(Problem("F04", message, file=str(path), row=row))
    return problems


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON; write null")
