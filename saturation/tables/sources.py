"""Which files an option means, and what kind each is: suffix and first bytes must agree."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from saturation.errors import DataError, Problem, UsageError
from saturation.tables.schema import SIDECAR_SUFFIX

Format: TypeAlias = Literal["parquet", "csv", "jsonl", "arrow"]

SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".arrow": "arrow", ".ipc": "arrow", ".feather": "arrow",
}  # fmt: skip
READABLE = ".parquet, .csv, .jsonl (or .ndjson), .arrow (or .ipc, .feather)"

ARCHIVES = (".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".zst", ".7z", ".rar")
_PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib", ".npy", ".npz")
_SHEETS = (".xlsx", ".xls", ".ods", ".tsv", ".txt", ".json")
_MAGIC = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"PK\x03\x04", "a zip archive or spreadsheet"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x80\x02", "a pickle"),
    (b"\x80\x03", "a pickle"),
    (b"\x80\x04", "a pickle"),
    (b"\x80\x05", "a pickle"),
    (b"FEA1", "an old (version 1) feather file"),
    (b"\xff\xff\xff\xff", "an Arrow stream (write the file format, not the stream format)"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (b"%PDF", "a PDF"),
    (b"\x89HDF", "an HDF5 file"),
)
_BOM = b"\xef\xbb\xbf"


def expand(sources: Iterable[str | Path]) -> list[Path]:
    """The files behind paths, folders and globs, each group sorted by name.

    Raises
    ------
    UsageError
        For what is not a table file on this machine, by name.
    """
    files: list[Path] = []
    for source in sources:
        files += _files_of(str(source))
    return files


def format_of(path: Path) -> Format:
    """The format that a file's suffix names.

    Raises
    ------
    UsageError
        When we neither read nor write such files.

    Examples
    --------
    >>> format_of(Path("votes.ndjson"))
    'jsonl'
    """
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    if suffix in ARCHIVES:
        raise UsageError(f"{path} is an archive; unpack it first and name the table inside")
    if suffix in _PICKLES:
        raise UsageError(f"{path} is a pickle or array file, which can run code or has no column names; save a table")
    if suffix in _SHEETS:
        raise UsageError(f"{path}: {suffix} files are not read here; save it as one of {READABLE}, or see `convert`")
    raise UsageError(f"{path}: unknown suffix {suffix or '(none)'!r}; tables are {READABLE}")


def sniff(path: Path) -> Format:
    """The format of a file whose suffix and first bytes agree."""
    expected = format_of(path)
    try:
        with path.open("rb") as stream:
            head = stream.read(4096)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    if not head.strip():
        raise DataError([Problem("F02", "the file is empty", file=str(path))])
    found = _content(head)
    if found != expected:
        message = f"the suffix says {expected}, the content is {found}; rename the file or save it again"
        raise DataError([Problem("F01", message, file=str(path))])
    return expected


def _content(head: bytes) -> str:
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    text = head.removeprefix(_BOM).lstrip()
    if b"\x00" in text:
        return "binary"
    if text.startswith(b"{"):
        return "jsonl"
    return "a JSON array (write one object a line)" if text.startswith(b"[") else "csv"


def refuse_streams(source: str) -> None:
    """Only files on this machine are read: neither standard input nor a remote address."""
    if source == "-":
        raise UsageError("'-' (standard input) is not read; name a file")
    if re.match(r"[a-z][a-z0-9+.-]+:/", source, flags=re.IGNORECASE):  # a path object has one slash left of two
        raise UsageError(f"{source} is a remote address; download it first and name the file")


def _files_of(source: str) -> list[Path]:
    refuse_streams(source)
    path = Path(source)
    if path.is_dir():
        return _files_in(path)
    if path.exists():
        format_of(path)
        if not path.is_file():
            raise UsageError(f"{source} is a device or a pipe; save the table in a file")
        return [path]
    if any(mark in source for mark in "*?["):
        matches = [Path(name) for name in sorted(glob.glob(source, recursive=True))]
        files = [match for match in matches if match.is_file() and not match.name.endswith(SIDECAR_SUFFIX)]
        if files:
            for match in files:
                format_of(match)
            return files
        raise UsageError(f"no file matches {source!r}")
    raise UsageError(f"there is no file {source}")


def _files_in(folder: Path) -> list[Path]:
    """The table files of a folder; files of other kinds (a README, sidecars) are none."""
    files = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in SUFFIXES and path.is_file()]
    files = [path for path in files if not path.name.startswith(".")]
    if not files:
        raise UsageError(f"the folder {folder} holds no table ({READABLE})")
    return files
