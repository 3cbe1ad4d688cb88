"""Read files of strangers: bounded, nothing executed, every fault named by file and row or key.

Rules (the codes in errors): C01 a file cannot be read as what it should be; C02 a field is missing or of the wrong
type; C03 a value is impossible; C04 something is there twice; C05 a file contradicts itself; C06 a file is too large.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from saturation.errors import DataError, Problem, UsageError
from saturation.tables.sources import ARCHIVES, refuse_streams

MAX_BYTES = 2 * 1024**3
MAX_TEXT = 1_000_000
"""Characters of one text (a premise, a conversation)."""
_PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib", ".npz")


def fail(rule: str, message: str, path: Path, *, row: int | None = None, item: str | None = None) -> NoReturn:
    """Raise the one problem that stops a conversion."""
    raise DataError([Problem(rule, message, file=str(path), row=row, item=item)])


def source_files(sources: Sequence[str | Path], suffixes: Sequence[str], skip: Sequence[str] = ()) -> list[Path]:
    """The files behind sources; a folder stands for its files with one of the suffixes.

    Parameters
    ----------
    sources
        Files or folders.
    suffixes
        What the format reads.
    skip
        Ends of names that lie beside the data in such folders and are something else.
    """
    files: list[Path] = []
    for source in sources:
        files += _files_of(str(source), suffixes, skip)
    twice = sorted({str(path) for path in files if files.count(path) > 1})
    if twice:
        raise UsageError(f"{twice[0]} is given twice; its votes would count twice")
    return files


def _files_of(source: str, suffixes: Sequence[str], skip: Sequence[str]) -> list[Path]:
    refuse_streams(source)
    path = Path(source)
    if path.is_dir():
        found = [one for one in sorted(path.iterdir()) if one.is_file() and one.suffix.lower() in suffixes]
        found = [one for one in found if not one.name.startswith(".") and not one.name.endswith(tuple(skip))]
        if not found:
            raise UsageError(f"the folder {path} holds no file of this format ({', '.join(suffixes)})")
        return found
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    suffix = path.suffix.lower()
    if suffix in ARCHIVES:
        raise UsageError(f"{path} is an archive; unpack it first and name the file inside")
    if suffix in _PICKLES:
        raise UsageError(f"{path} is a pickle, which can run code when it is read; it is not read here")
    if suffix not in suffixes:
        raise UsageError(f"{path}: this format is read from {', '.join(suffixes)} files")
    return [path]


def read_text(path: Path) -> str:
    """A whole UTF-8 file."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        fail("C06", f"the file has {size:,} bytes, the limit is {MAX_BYTES:,}", path)
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fail("C01", f"line {line} is not UTF-8 text", path)


def read_json(path: Path) -> dict[str, Any]:
    """A file that holds one JSON object."""
    content = _parse(read_text(path), path, None)
    if not isinstance(content, dict):
        fail("C01", "the file does not hold one JSON object", path)
    return content


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Row number (from 1) and object of each line that is not empty."""
    for row, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        content = _parse(line, path, row)
        if not isinstance(content, dict):
            fail("C01", "the line is not one JSON object", path, row=row)
        yield row, content


class _RepeatedKeyError(ValueError):
    """A key that a JSON object has twice."""


def _parse(text: str, path: Path, row: int | None) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except _RepeatedKeyError as error:
        fail("C04", str(error), path, row=row)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, " if row is None else ""
        fail("C01", f"not JSON: {error.msg} ({where}column {error.colno})", path, row=row)
    except RecursionError:
        fail("C01", "JSON objects are nested too deeply", path, row=row)
    except ValueError as error:
        fail("C01", f"not JSON: {error}", path, row=row)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _RepeatedKeyError(f"the key {twice[:80]!r} is there twice; one of the two would be lost")
    return content


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def read_array(path: Path) -> NDArray[Any]:
    """A NumPy array; never a pickle, and the file is as long as its header says."""
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        fail("C01", f"not a NumPy array without objects: {error}", path)
    if mapped.nbytes > MAX_BYTES:
        fail("C06", f"the array has {mapped.nbytes:,} bytes, the limit is {MAX_BYTES:,}", path)
    return np.array(mapped)


class Fields:
    """Fields of one JSON object, each checked when it is asked for.

    Parameters
    ----------
    content
        The object.
    path, row, item
        Where it stands, for errors.
    """

    def __init__(self, content: object, path: Path, *, row: int | None = None, item: str | None = None) -> None:
        self.path = path
        self.row = row
        self.item = item
        if not isinstance(content, dict):
            self.fail("C02", "not a JSON object")
        self.content: dict[str, Any] = content

    def fail(self, rule: str, message: str) -> NoReturn:
        """Raise a problem of this object."""
        fail(rule, message, self.path, row=self.row, item=self.item)

    def need(self, name: str) -> Any:
        """A field that has to be there."""
        if name not in self.content:
            self.fail("C02", f"the field {name!r} is missing")
        return self.content[name]

    def text(self, name: str) -> str:
        """A text that is not empty; whole numbers are taken as text."""
        value = as_text(self.need(name))
        if value is None or not value:
            self.fail("C02", f"the field {name!r} is not a text")
        if len(value) > MAX_TEXT:
            self.fail("C06", f"the field {name!r} has more than {MAX_TEXT:,} characters")
        return value

    def optional(self, name: str) -> str | None:
        """A text, or None where the field is missing, null or empty."""
        return None if self.content.get(name) in (None, "") else self.text(name)

    def mapping(self, name: str) -> Mapping[str, Any]:
        """A field that is an object."""
        value = self.need(name)
        if not isinstance(value, dict):
            self.fail("C02", f"the field {name!r} is not an object")
        return value

    def sequence(self, name: str) -> list[Any]:
        """A field that is a list."""
        value = self.need(name)
        if not isinstance(value, list):
            self.fail("C02", f"the field {name!r} is not a list")
        return value

    def numbers(self, name: str, length: int) -> list[float]:
        """A list of finite numbers."""
        values = self.sequence(name)
        if len(values) != length or not all(_is_number(value) for value in values):
            self.fail("C02", f"the field {name!r} is not a list of {length} finite numbers")
        return [float(value) for value in values]

    def whole(self, name: str) -> list[int]:
        """A list of whole numbers of at least 0."""
        values = self.sequence(name)
        if not all(is_whole(value) and value >= 0 for value in values):
            self.fail("C02", f"the field {name!r} is not a list of whole numbers of at least 0")
        return list(values)


def as_text(value: object) -> str | None:
    """Text as it is, whole numbers as text; None for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if is_whole(value) else None


def is_whole(value: object) -> bool:
    """Whether a value is a whole number (true and false are none)."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
