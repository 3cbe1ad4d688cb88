"""The data sets of a study as a TOML file: one table a data set, paths relative to the file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from saturation.errors import UsageError

FILES = ("votes", "predictions", "items", "splits")
COLUMNS = ("item_column", "annotator_column", "label_column")


def read_listing(path: Path) -> dict[str, dict[str, Any]]:
    """What is given for each data set: files as tuples of paths, ``labels``, and names of columns.

    Raises
    ------
    UsageError
        For a file that cannot be read, no data set, a key that is unknown, or files that are missing.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from error
    if not content:
        raise UsageError(f"{path} lists no data set; write [name], votes = [...] and predictions = [...]")
    return {name: _entry(f"{path}: [{name}]", path.parent, entry) for name, entry in content.items()}


def _entry(where: str, folder: Path, entry: Any) -> dict[str, Any]:
    if not isinstance(entry, Mapping):
        raise UsageError(f"{where} is no table; write [name] and the files below it")
    known = (*FILES, "labels", *COLUMNS)
    for key in entry:
        if key not in known:
            raise UsageError(f"{where} has an unknown key {key!r}; known are {', '.join(known)}")
    for key in ("votes", "predictions"):
        if not entry.get(key):
            raise UsageError(f"{where} names no {key}")
    made: dict[str, Any] = {key: tuple(folder / one for one in _texts(where, key, entry.get(key, []))) for key in FILES}
    if "labels" in entry:
        made["labels"] = _texts(where, "labels", entry["labels"])
    for key in COLUMNS:
        if key in entry:
            (made[key],) = _texts(where, key, entry[key])
    return made


def _texts(where: str, key: str, value: Any) -> tuple[str, ...]:
    """One text or a list of texts."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(one, str) and one for one in texts):
        raise UsageError(f"{where}: {key} is {value!r}; give a text or a list of texts")
    return tuple(texts)
