"""Read and write our tables: the only code that does. Parquet (zstd), CSV without type inference, JSONL, Arrow IPC.

Text stays text on both ways: a cell such as ``=1+1`` is neither escaped nor interpreted, so that every id
survives a round trip. Open CSV files of strangers in a spreadsheet with care, as always.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saturation import files
from saturation.errors import DataError, Problem, UsageError
from saturation.results import Input
from saturation.tables import meta as metadata
from saturation.tables.findings import ROW
from saturation.tables.meta import Metadata
from saturation.tables.read_files import read_rows
from saturation.tables.schema import METADATA_KEY, example
from saturation.tables.sources import Format, expand, format_of, sniff

if TYPE_CHECKING:
    import polars as pl

FRAME = "(data frame)"
"""How a frame in memory is named in messages and inputs."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Rows of one table as they were read, with the way back to file and row.

    Attributes
    ----------
    frame
        All files in one, with the hidden column ``findings.ROW``.
    meta
        What the files say about themselves; None where they say nothing.
    inputs
        One entry a file.
    starts
        Position of each file's first row in ``frame``.
    """

    frame: pl.DataFrame
    meta: Metadata | None
    inputs: tuple[Input, ...]
    starts: tuple[int, ...]

    @property
    def name(self) -> str:
        """The file, or the first of several."""
        more = len(self.inputs) - 1
        return self.inputs[0].path + (f" (and {more} more)" if more else "")

    @property
    def columns(self) -> list[str]:
        """Names of the columns that the file has."""
        return [name for name in self.frame.columns if name != ROW]

    def renamed(self, names: Mapping[str, str | None]) -> Loaded:
        """The same rows with our names (keys) for the columns that an option names (values); None: as it is.

        Raises
        ------
        UsageError
            When there is no such column, or our name is taken by another.
        """
        frame = self.frame
        for ours, theirs in names.items():
            if theirs is None or theirs == ours:
                continue
            if theirs not in frame.columns:
                raise UsageError(f"{self.name} has no column {theirs!r}; its columns are {', '.join(self.columns)}")
            if ours in frame.columns:
                raise UsageError(f"{self.name} has a column {ours!r} already; drop it or do not name {theirs!r}")
            frame = frame.rename({theirs: ours})
        return replace(self, frame=frame)

    def place(self, position: int) -> tuple[str, int]:
        """File and data row (from 1) of a row of ``frame``."""
        index = bisect_right(self.starts, position) - 1
        return self.inputs[index].path, position - self.starts[index] + 1


def load(sources: Any, role: str) -> Loaded:
    """Read paths, folders, globs or frames (polars, pandas, pyarrow) as one table.

    Parameters
    ----------
    sources
        One source or a list of them; rows are concatenated, columns must agree.
    role
        What the table is for: votes, predictions, items, splits, soft_votes.

    Raises
    ------
    UsageError
        For a source that is not a table file on this machine.
    DataError
        For a file that cannot be read, or files that do not fit together.
    """
    parts = [part for source in _as_list(sources) for part in _parts(source, role)]
    if not parts:
        raise UsageError(f"no {role} table is given")
    _refuse_repeats([one.path for part in parts for one in part.inputs if one.path != FRAME])
    return parts[0] if len(parts) == 1 else _concatenate(parts)


def read_frame(sources: Any) -> tuple[pl.DataFrame, Metadata | None]:
    """Rows and metadata of a table, nothing checked beyond the file itself.

    Examples
    --------
    >>> import polars as pl
    >>> frame, meta = read_frame(pl.DataFrame({"item_id": ["q1"], "label": ["yes"]}))
    >>> frame.columns, meta
    (['item_id', 'label'], None)
    """
    loaded = load(sources, "table")
    return loaded.frame.drop(ROW), loaded.meta


def write_table(
    path: str | Path,
    frame: Any,
    *,
    table: str,
    labels: Sequence[str] | None = None,
    condition_columns: Sequence[str] = (),
    provenance: Mapping[str, Any] | None = None,
) -> Path:
    """Validate a table and write it, whole or not at all, with its metadata.

    Parameters
    ----------
    path
        The suffix decides the format. CSV, JSONL and Arrow files get ``<path>.meta.json`` beside them.
    frame
        A polars or pandas data frame or a pyarrow table.
    table
        Name of the table (``schema.TABLES``).
    labels
        Label names in order; needed for every table but items and splits.
    condition_columns
        Condition columns beyond the standard ones.
    provenance
        Where the table comes from (``provenance.describe``); JSON values.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    DataError
        With every problem of the table; nothing is written.
    UsageError
        When the suffix is unknown or the folder cannot be written to.
    """
    from saturation.tables.validate import validate

    path = Path(path)
    kind = format_of(path)
    meta = Metadata(table, None if labels is None else tuple(labels), tuple(condition_columns), dict(provenance or {}))
    raw = replace(load(frame, table), meta=meta)
    clean = validate(raw, table).drop(ROW)
    _write(path, clean, kind, meta)
    return path


def write_example(path: str | Path, table: str) -> Path:
    """Write a template: the columns of a table and its example row, without metadata, to be edited."""
    path = Path(path)
    _write(path, example(table), format_of(path), None)
    return path


def _write(path: Path, frame: pl.DataFrame, kind: Format, meta: Metadata | None) -> None:
    with files.atomic_path(path) as temporary:
        if kind == "parquet":
            inside = None if meta is None else {METADATA_KEY: meta.to_json()}
            frame.write_parquet(temporary, compression="zstd", metadata=inside)
        elif kind == "csv":
            frame.write_csv(temporary)
        elif kind == "jsonl":
            frame.write_ndjson(temporary)
        else:
            frame.write_ipc(temporary, compression="zstd")
    if kind != "parquet" and meta is not None:
        files.write_text(metadata.sidecar(path), meta.to_json() + "\n")


def _refuse_repeats(paths: list[str]) -> None:
    """A file given twice would count its rows twice."""
    seen: set[Path] = set()
    for path in paths:
        if Path(path).resolve() in seen:
            raise UsageError(f"{path} is given twice; its rows would count twice")
        seen.add(Path(path).resolve())


def _as_list(sources: Any) -> list[Any]:
    return list(sources) if isinstance(sources, list | tuple) else [sources]


def _parts(source: Any, role: str) -> list[Loaded]:
    if isinstance(source, Loaded):
        return [source]
    if isinstance(source, str | Path):
        return [_load_file(path, role) for path in expand([source])]
    frame, meta = _from_memory(source)
    return [_numbered(frame, meta, Input(role, FRAME, None, len(frame)))]


def _load_file(path: Path, role: str) -> Loaded:
    kind = sniff(path)
    data = path.read_bytes()
    frame = read_rows(path, data, kind)
    meta = _metadata_of(path, data, kind)
    return _numbered(frame, meta, Input(role, str(path), files.sha256(path), len(frame)))


def _numbered(frame: pl.DataFrame, meta: Metadata | None, one: Input) -> Loaded:
    """Number the rows; rows that are wholly empty (blank lines) are none."""
    import polars as pl

    if frame.is_empty():
        raise DataError([Problem("F02", "the table has no rows", file=one.path)])
    if ROW in frame.columns:
        raise DataError([Problem("F05", f"the column name {ROW!r} is used inside; rename it", file=one.path)])
    frame = frame.with_row_index(ROW).filter(~pl.all_horizontal(pl.exclude(ROW).is_null()))
    return Loaded(frame, meta, (one,), (0,))


def _concatenate(parts: list[Loaded]) -> Loaded:
    import polars as pl

    first = parts[0]
    problems = [
        Problem("F06", _difference(first, part), file=part.name)
        for part in parts[1:]
        if set(part.frame.columns) != set(first.frame.columns) or not _same_metadata(first, part)
    ]
    if problems:
        raise DataError(problems)
    starts, frames = [], []
    start = 0
    for part in parts:
        starts += [start + own for own in part.starts]
        frames.append(part.frame.with_columns(pl.col(ROW) + start).select(first.frame.columns))
        start += sum(one.rows for one in part.inputs)
    try:
        frame = pl.concat(frames, how="vertical_relaxed")
    except pl.exceptions.SchemaError as error:
        raise DataError([Problem("F06", f"column types differ between the files: {error}", file=first.name)]) from error
    inputs = tuple(one for part in parts for one in part.inputs)
    return Loaded(frame, first.meta, inputs, tuple(starts))


def _same_metadata(a: Loaded, b: Loaded) -> bool:
    return (a.meta is None and b.meta is None) or (a.meta is not None and b.meta is not None and a.meta.agrees(b.meta))


def _difference(a: Loaded, b: Loaded) -> str:
    only_a = [name for name in a.frame.columns if name not in b.frame.columns]
    only_b = [name for name in b.frame.columns if name not in a.frame.columns]
    if only_a or only_b:
        return f"columns differ from {a.name}: only there {only_a}, only here {only_b}; give one table an option"
    return f"the metadata differs from that of {a.name} (table, labels or condition columns)"


def _from_memory(source: Any) -> tuple[pl.DataFrame, Metadata | None]:
    import polars as pl

    library = type(source).__module__.partition(".")[0]
    if isinstance(source, pl.LazyFrame):
        return source.collect(), None
    if isinstance(source, pl.DataFrame):
        return source, None
    if library == "pandas":
        repeated = sorted({str(name) for name in source.columns[source.columns.duplicated()]})
        if repeated:
            raise DataError([Problem("F05", f"column {repeated[0]!r} is there twice", file=FRAME)])
        return _from_pandas(source), None
    if library == "pyarrow":
        text = (source.schema.metadata or {}).get(METADATA_KEY.encode())
        frame = pl.DataFrame(pl.from_arrow(source))
        return frame, None if text is None else _parse(text.decode(), FRAME)
    raise UsageError(
        f"cannot read a table from {type(source).__name__}; give a path or a polars, pandas or pyarrow table"
    )


def _from_pandas(source: Any) -> pl.DataFrame:
    import polars as pl

    try:
        frame: pl.DataFrame = pl.from_pandas(source.rename(columns=str), nan_to_null=True)
    except (TypeError, ValueError) as error:  # what pyarrow raises for a column of mixed types
        message = f"a column mixes types, so that it has no one meaning: {error}"
        raise DataError([Problem("T06", message, file=FRAME)]) from error
    return frame


def _metadata_of(path: Path, data: bytes, kind: Format) -> Metadata | None:
    import polars as pl

    if kind == "parquet":
        text = pl.read_parquet_metadata(BytesIO(data)).get(METADATA_KEY)
        return None if text is None else _parse(text, str(path))
    beside = metadata.sidecar(path)
    if not beside.exists():
        return None
    try:
        return _parse(beside.read_text(encoding="utf-8"), str(beside))
    except UnicodeDecodeError as error:
        raise DataError([Problem("F07", "the metadata is not UTF-8 text", file=str(beside))]) from error


def _parse(text: str, name: str) -> Metadata:
    try:
        return metadata.parse(text)
    except ValueError as error:
        raise DataError([Problem("F07", str(error), file=name)]) from error
