"""Where a result goes: stdout or one file, in one format. Never over an input, never half."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from saturation.errors import UsageError

if TYPE_CHECKING:
    from saturation.report.output import Printable
    from saturation.results import Note, Result

    R = TypeVar("R", bound=Result[Any])

SUFFIXES = {".json": "json", ".csv": "csv", ".md": "md", ".tex": "tex", ".parquet": "parquet"}
INPUT_OPTIONS = ("votes", "predictions", "items", "splits", "files", "source")
WIDTH = 100
"""Characters a line where there is no terminal."""


def print_result(result: Printable, format: str | None = None, out: Path | None = None, quiet: bool = False) -> None:
    """Write a result to ``out`` or stdout; remarks that the format cannot hold go to stderr.

    Parameters
    ----------
    result
        A ``Result``, ``ReportResult`` or ``Listing``.
    format
        ``table``, ``json``, ``csv``, ``md``, ``tex`` or ``parquet``; None: by the suffix of ``out``, else ``table``.
    out
        File to write; None: stdout.
    quiet
        Say nothing on stderr.
    """
    from saturation.report import output as report

    kind = resolve_format(format, out)
    refuse_inputs(out, (Path(one.path) for one in result.inputs))
    if out is not None:
        report.write(result, out, kind)
        _say(f"wrote {out}", quiet)
    elif kind == "table":
        click.echo(report.as_table(result, width=_width(), ascii_only=not _unicode(), color=_colour()), nl=False)
    else:
        click.echo(report.render(result, kind).encode(), nl=False)
    if kind in ("csv", "parquet"):
        say_notes(result.notes, quiet)


def resolve_format(format: str | None, out: Path | None) -> str:
    """The one format that ``--format`` and the suffix of ``--out`` agree on."""
    if out is None:
        if format == "parquet":
            raise UsageError("parquet is not for reading on a screen: add --out FILE.parquet")
        return format or "table"
    suffix = out.suffix.lower()
    by_suffix = SUFFIXES.get(suffix)
    if by_suffix is None:
        raise UsageError(f"--out {out} does not say what to write: end it in one of {' '.join(SUFFIXES)}")
    if format not in (None, by_suffix):
        raise UsageError(f"--out {out} means {by_suffix}, but --format says {format}: drop one of them")
    return by_suffix


def refuse_inputs(out: Path | None, inputs: Iterable[Path]) -> None:
    """An output may not be one of the inputs."""
    if out is None:
        return
    for path in inputs:
        if path.exists() and out.exists() and path.samefile(out):
            raise UsageError(f"--out {out} is an input of this run; choose another file")


def check_outputs(given: Mapping[str, Any]) -> None:
    """Find fault with ``--out`` and ``--format`` before anything is computed."""
    out = given.get("out")
    if "overwrite" not in given and "format" in given:
        resolve_format(given["format"], out)
    inputs = [path for name in INPUT_OPTIONS for path in _paths(given.get(name))]
    refuse_inputs(out, inputs)
    if out is not None and "overwrite" not in given and not out.parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.parent}; make it first")


def with_settings(result: R, settings: Mapping[str, Any]) -> R:
    """The result with the options of the door beside those of the analysis (which win)."""
    return replace(result, settings={**settings, **result.settings})


def say_notes(notes: Iterable[Note], quiet: bool) -> None:
    """Warnings and remarks on stderr."""
    for note in notes:
        _say(f"note: {note.message}", quiet)


def _paths(value: Any) -> tuple[Path, ...]:
    if value is None:
        return ()
    return tuple(Path(one) for one in value) if isinstance(value, list | tuple) else (Path(value),)


def _say(text: str, quiet: bool) -> None:
    if not quiet:
        click.echo(text, err=True)


def _width() -> int:
    return min(shutil.get_terminal_size((WIDTH, 40)).columns, 160) if _terminal() else WIDTH


def _terminal() -> bool:
    return sys.stdout.isatty()


def _colour() -> bool:
    return _terminal() and not os.environ.get("NO_COLOR")


def _unicode() -> bool:
    return "utf" in (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
