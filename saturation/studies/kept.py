"""Finished analyses kept in a folder, so that an interrupted study goes on where it stopped.

A result is kept under a key of everything it depends on: the tables as they were let in, every option, the version and
the very code of this package. A changed vote, option or formula is another key, and an old file is never read for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib.resources import files as resources
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from saturation import files
from saturation.results import Result, plain, version
from saturation.results.stored import dump, dump_rows, load, load_rows
from saturation.tables.panel import Panel, Votes

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Kept:
    """Results by key in a folder; without a folder nothing is kept.

    Attributes
    ----------
    folder
        Where files are; None: nowhere.
    say
        Called with the name of each analysis before it is run or read.
    """

    folder: Path | None = None
    say: Callable[[str], None] = lambda _: None

    def result(self, name: str, depends_on: Mapping[str, Any], make: Callable[[], Result[Any]]) -> Any:
        """The result of an analysis: from the folder where it is there, else made and kept."""
        return load(self._text(name, depends_on, lambda: dump(make())))

    def rows(
        self, name: str, depends_on: Mapping[str, Any], kind: type[R], make: Callable[[], Sequence[R]]
    ) -> tuple[R, ...]:
        """Rows of one kind, likewise."""
        made = self._text(name, depends_on, lambda: json.dumps(dump_rows(make()), allow_nan=False))
        return load_rows(json.loads(made), kind)

    def _text(self, name: str, depends_on: Mapping[str, Any], make: Callable[[], str]) -> str:
        """The stored text; made and found results are both read from it, so that they have the same bits."""
        self.say(name)
        found = self._read(name, depends_on)
        if found is None:
            found = make()
            self._write(name, depends_on, found)
        return found

    def _read(self, name: str, depends_on: Mapping[str, Any]) -> str | None:
        path = self._path(name, depends_on)
        return path.read_text(encoding="utf-8") if path is not None and path.is_file() else None

    def _write(self, name: str, depends_on: Mapping[str, Any], text: str) -> None:
        path = self._path(name, depends_on)
        if path is not None:
            files.make_folder(path.parent)
            files.write_text(path, text)

    def _path(self, name: str, depends_on: Mapping[str, Any]) -> Path | None:
        return None if self.folder is None else self.folder / f"{key_of(name, depends_on)}.json"


def key_of(name: str, depends_on: Mapping[str, Any]) -> str:
    """Hex digest of a name and everything the result depends on."""
    whole = {"name": name, "version": version(), "code": _code(), "depends_on": plain(depends_on)}
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def fingerprint(data: Votes | Panel) -> str:
    """Hex digest of a table as it was let in: every field, so that none can be forgotten."""
    digest = hashlib.sha256()
    _feed(digest, data)
    return digest.hexdigest()


def _feed(digest: Any, value: object) -> None:
    """Names, shapes and bits of a value, its parts first in a fixed order."""
    if isinstance(value, np.ndarray):
        digest.update(repr((value.shape, value.dtype.str)).encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif is_dataclass(value):
        _feed(digest, {one.name: getattr(value, one.name) for one in fields(value)})
    elif isinstance(value, Mapping):
        _feed(digest, [(name, value[name]) for name in sorted(value)])
    elif isinstance(value, list | tuple):
        digest.update(f"{type(value).__name__}{len(value)}".encode())
        for one in value:
            _feed(digest, one)
    else:
        digest.update(f"{value!r};".encode())


@cache
def _code() -> str:
    """Hex digest of the code of this package."""
    digest = hashlib.sha256()
    for path in sorted(Path(str(resources("saturation"))).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
