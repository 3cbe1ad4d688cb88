"""Convert a published data set into our tables, with an account of what was read, dropped and repaired."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saturation import files
from saturation.datasets.conversion import Conversion, Log, Options
from saturation.datasets.formats import check_options, format_named
from saturation.datasets.hashing import hash_column, read_or_make_key
from saturation.datasets.reading import source_files
from saturation.elicitation import Rule, Spread, Variety
from saturation.errors import DataError, UsageError
from saturation.results import SCHEMA, Input, Listing, Note, as_dict, version
from saturation.tables.io import load, write_table
from saturation.tables.meta import Metadata
from saturation.tables.provenance import describe
from saturation.tables.schema import TABLES
from saturation.tables.validate import validate

if TYPE_CHECKING:
    import polars as pl

ACCOUNT = "convert.json"
_WITHOUT_LABELS = ("items", "splits")


def convert(
    format: str,
    sources: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    labels: Sequence[str] | None = None,
    item_column: str | None = None,
    annotator_column: str | None = None,
    label_column: str | None = None,
    variety: Variety | None = None,
    spread: Spread | None = None,
    gamma: float | None = None,
    rule: Rule | None = None,
    strict: bool = False,
    hash_annotators: bool = False,
    hash_key_file: str | Path | None = None,
    overwrite: bool = False,
) -> Listing:
    r"""Read files of a published format and write our tables and ``convert.json`` into a folder.

    Parameters
    ----------
    format
        A name of ``saturation.datasets.FORMATS``.
    sources
        Files, or folders of them.
    out
        Folder for the tables: ``votes`` (with annotator ids) or ``vote_counts`` (without), ``soft_votes``,
        ``items``, ``splits``, ``predictions``, as far as the source holds them.
    labels, item_column, annotator_column, label_column
        Names in the source; each format takes some of them.
    variety, spread, gamma, rule
        How soft votes are made of responses, see ``saturation.elicitation.soft_labels``; default T2, clamp, 0.10 and
        ``repaired`` (``published`` for cifar10s).
    strict
        Refuse responses that contradict themselves.
    hash_annotators
        Replace annotator ids by HMAC-SHA256 pseudonyms.
    hash_key_file
        The key; made, readable by you alone, if the file does not exist. Never written into ``out``.
    overwrite
        Whether ``out`` may hold files that are not ours; they are left alone.

    Returns
    -------
    Listing
        One row a table: ``table``, ``file``, ``rows``, ``items``, ``annotators``, ``labels``.

    Raises
    ------
    UsageError
        For an unknown format, an option that the format does not take, or a folder with other files.
    DataError
        For a source that is not what it should be, with file and row or key.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = pathlib.Path(name)
    ...     _ = (folder / "mine.csv").write_text("item_id,annotator_id,label\nq1,a,yes\nq1,b,no\n")
    ...     rows = convert("long", folder / "mine.csv", folder / "tables").records()
    >>> rows[0]["table"], rows[0]["rows"], rows[0]["labels"]
    ('votes', 2, 'no, yes')
    """
    options = Options(
        labels=None if labels is None else tuple(labels),
        item_column=item_column,
        annotator_column=annotator_column,
        label_column=label_column,
        variety=variety,
        spread=spread,
        gamma=gamma,
        rule=rule,
        strict=strict,
    )
    check_options(format, options)
    chosen = format_named(format)
    given = [sources] if isinstance(sources, str | Path) else list(sources)
    if not given:
        raise UsageError(f"name the files to convert: {chosen.what}")
    paths = source_files(given, chosen.suffixes, chosen.skip)
    folder = Path(out)
    _check_folder(folder, paths, overwrite)
    key = _key(hash_annotators, hash_key_file, folder)
    log = Log()
    found = chosen.reader()(paths, options, log)
    tables = _with_pseudonyms(found, key, format)
    _check(tables, found.labels, paths)
    settings = {"format": format, **_settings(options, key)}
    inputs = tuple(Input(format, str(path), files.sha256(path), log.records[str(path)]) for path in paths)
    rows = _write(folder, tables, found.labels, describe(f"convert {format}", inputs, **_settings(options, key)))
    notes = tuple(Note("convert", sentence) for sentence in (*log.notes, *_sentences(log)))
    shown = tuple({name: value for name, value in row.items() if name != "sha256"} for row in rows)
    result = Listing(command="convert", rows=shown, settings=settings, inputs=inputs, notes=notes)
    files.write_text(folder / ACCOUNT, _account(found, result, rows, log))
    return result


def _settings(options: Options, key: bytes | None) -> dict[str, Any]:
    return {
        "labels": None if options.labels is None else list(options.labels),
        "item_column": options.item_column,
        "annotator_column": options.annotator_column,
        "label_column": options.label_column,
        "variety": options.variety,
        "spread": options.spread,
        "gamma": options.gamma,
        "rule": options.rule,
        "strict": options.strict,
        "hash_annotators": key is not None,
    }


def _key(hash_annotators: bool, path: str | Path | None, out: Path) -> bytes | None:
    if hash_annotators and path is None:
        raise UsageError("--hash-annotators needs --hash-key-file FILE: a key, made there if the file does not exist")
    if path is not None and not hash_annotators:
        raise UsageError("--hash-key-file is for --hash-annotators")
    return None if path is None else read_or_make_key(Path(path), out)


def _with_pseudonyms(found: Conversion, key: bytes | None, format: str) -> dict[str, pl.DataFrame]:
    tables = dict(found.tables)
    if key is None:
        return tables
    named = [name for name, frame in tables.items() if "annotator_id" in frame.columns]
    if not named:
        raise UsageError(f"these {format} files have no annotator ids to hash")
    return tables | {name: hash_column(tables[name], key) for name in named}


def _check_folder(folder: Path, paths: Sequence[Path], overwrite: bool) -> None:
    """New, empty or of an earlier conversion; never a folder in which an input would be replaced."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {folder} is a file: name a folder")
    outputs = {(folder / name).resolve() for name in (ACCOUNT, *(f"{table}.parquet" for table in TABLES))}
    for path in paths:
        if path.resolve() in outputs:
            raise UsageError(f"--out {folder} would replace the source {path}: choose another folder")
    if folder.is_dir() and not overwrite and any(folder.iterdir()) and not (folder / ACCOUNT).is_file():
        raise UsageError(
            f"--out {folder} holds other files and no {ACCOUNT}: choose another folder, or add --overwrite"
        )


def _check(tables: Mapping[str, pl.DataFrame], labels: tuple[str, ...], paths: Sequence[Path]) -> None:
    """Check every table before one is written, so that the folder holds a whole conversion or none.

    The row of a problem is that of the table to be; its item is the key in the source.
    """
    for name, frame in tables.items():
        own = None if name in _WITHOUT_LABELS else labels
        try:
            validate(replace(load(frame, name), meta=Metadata(name, own)), name)
        except DataError as error:
            place = f"{name} from {paths[0]}" + (f" (and {len(paths) - 1} more)" if len(paths) > 1 else "")
            raise DataError(replace(problem, file=place) for problem in error.problems) from error


def _write(
    folder: Path, tables: dict[str, pl.DataFrame], labels: tuple[str, ...], provenance: dict[str, Any]
) -> list[dict[str, Any]]:
    """Write the tables; those of an earlier conversion into the same folder that have no successor go away."""
    files.make_folder(folder)
    rows = []
    for name, frame in tables.items():
        path = folder / f"{name}.parquet"
        own = None if name in _WITHOUT_LABELS else labels
        write_table(path, frame, table=name, labels=own, provenance=provenance)
        rows.append(_row(name, path, frame, own))
    if (folder / ACCOUNT).is_file():
        for name in set(TABLES) - set(tables):
            (folder / f"{name}.parquet").unlink(missing_ok=True)
    return rows


def _row(name: str, path: Path, frame: pl.DataFrame, labels: tuple[str, ...] | None) -> dict[str, Any]:
    return {
        "table": name,
        "file": str(path),
        "rows": len(frame),
        "items": frame["item_id"].n_unique(),
        "annotators": frame["annotator_id"].n_unique() if "annotator_id" in frame.columns else None,
        "labels": None if labels is None else ", ".join(labels),
        "sha256": files.sha256(path),
    }


def _account(found: Conversion, result: Listing, rows: Sequence[dict[str, Any]], log: Log) -> str:
    """``convert.json``: no time and no machine, so that the same conversion writes the same bytes."""
    account = {
        "schema": SCHEMA,
        "command": "convert",
        "version": version(),
        "settings": dict(result.settings),
        "inputs": [as_dict(one) for one in result.inputs],
        "labels": list(found.labels),
        "outputs": [row | {"file": Path(row["file"]).name} for row in rows],
        "dropped": log.dropped,
        "repaired": log.repaired,
        "notes": log.notes,
    }
    return json.dumps(account, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _sentences(log: Log) -> list[str]:
    """What was dropped and repaired, for the terminal."""
    return [
        f"{entry['number']:,} {entry['what']} {verb}: {entry['why']}"
        for verb, entries in (("left out", log.dropped), ("repaired", log.repaired))
        for entry in entries
    ]
