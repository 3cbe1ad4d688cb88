"""The rows of one file, as they are written: parquet, Arrow IPC, CSV without type inference, JSONL."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from saturation.errors import DataError, Problem
from saturation.tables.sources import Format

if TYPE_CHECKING:
    import polars as pl


def read_rows(path: Path, data: bytes, kind: Format) -> pl.DataFrame:
    """All rows of a file's bytes; CSV columns are text, in the other formats what the file says.

    Bytes, not the path, go to the readers: those would take a name such as ``[a].csv`` for a pattern.

    Raises
    ------
    DataError
        For a file that is damaged, not UTF-8, or has broken rows, by row.
    """
    if kind in ("csv", "jsonl"):
        text = _text(path, data)
        return _read_csv(path, text) if kind == "csv" else _read_jsonl(path, text)
    return _read_binary(path, data, kind)


def _read_binary(path: Path, data: bytes, kind: Format) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.read_parquet(data) if kind == "parquet" else pl.read_ipc(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise DataError([Problem("F04", f"the file is damaged or cut off: {error}", file=str(path))]) from error


def _text(path: Path, data: bytes) -> str:
    """Text without byte order mark; names the first line that is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"line {line} is not UTF-8 text; save the file as UTF-8"
        raise DataError([Problem("F03", message, file=str(path))]) from error


def _read_csv(path: Path, text: str) -> pl.DataFrame:
    import polars as pl

    header = _csv_header(path, text)
    width = len(header)
    try:
        frame = pl.read_csv(text.encode(), infer_schema=False)
        frame.columns = header  # the reader leaves doubled quotes in names as they are
    except pl.exceptions.PolarsError as error:
        problems = _ragged_rows(path, text, width) or [Problem("F04", f"not readable as CSV: {error}", file=str(path))]
        raise DataError(problems) from error
    if len(frame) and frame[:, -1].null_count():
        problems = _ragged_rows(path, text, width)
        if problems:
            raise DataError(problems)
    _refuse_second_header(path, frame)
    return frame


def _refuse_second_header(path: Path, frame: pl.DataFrame) -> None:
    """Files joined by ``cat`` keep every header, which in a table of votes would read as one more item and label."""
    if frame.is_empty():
        return
    suspects = (frame[:, 0] == frame.columns[0]).arg_true().to_list()
    rows = [row for row in suspects if list(frame.row(row)) == frame.columns]
    if not rows:
        return
    message = "the header again; files of one table are given one by one, not joined"
    raise DataError([Problem("F04", message, file=str(path), row=row + 1) for row in rows])


def _csv_header(path: Path, text: str) -> list[str]:
    """Column names."""
    header = next(csv.reader(StringIO(text, newline="")), [])
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


def _ragged_rows(path: Path, text: str, width: int) -> list[Problem]:
    """Rows whose number of cells is not that of the header."""
    problems = []
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        next(reader)
        for row, cells in enumerate(reader, start=1):
            if cells and len(cells) != width:
                message = f"{len(cells)} cells, the header has {width}"
                problems.append(Problem("F04", message, file=str(path), row=row))
    except csv.Error as error:
        problems.append(Problem("F04", f"line {reader.line_num}: {error}", file=str(path)))
    return problems


def _read_jsonl(path: Path, text: str) -> pl.DataFrame:
    import polars as pl

    try:
        frame = pl.read_ndjson(text.encode(), infer_schema_length=None)
    except pl.exceptions.PolarsError as error:
        problems = _broken_lines(path, text) or [Problem("F04", f"not readable as JSONL: {error}", file=str(path))]
        raise DataError(problems) from error
    _check_names(frame.columns, path)
    return frame


def _broken_lines(path: Path, text: str) -> list[Problem]:
    """Lines that are not one JSON object."""
    problems = []
    lines = [line for line in text.split("\n") if line.strip()]
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
