"""A report as a folder: ``index.html``, ``results.json``, ``figures/`` and ``tables/``."""

from __future__ import annotations

import json
from pathlib import Path

from saturation import files
from saturation.errors import UsageError
from saturation.report import html, output, parts, svg
from saturation.results import SCHEMA, ReportResult

RESULTS = "results.json"
KEPT = ".parts"
"""Finished analyses of a study that may have been interrupted."""
_FIGURE_KINDS = ("svg", "pdf")
_TABLE_KINDS = ("csv", "tex")


def check_folder(out: Path, *, overwrite: bool = False) -> None:
    """Refuse a folder that holds somebody else's files; called before anything is computed.

    Parameters
    ----------
    out
        Where the report is to go: new, empty, or an earlier report of ours.
    overwrite
        Whether other files may be there too; they are left alone.

    Raises
    ------
    UsageError
        When ``out`` is a file, or holds files and no ``results.json`` of ours.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is a file: name a folder")
    ours = (out / KEPT).is_dir() or _is_ours(out / RESULTS)
    if out.is_dir() and not overwrite and any(out.iterdir()) and not ours:
        raise UsageError(
            f"--out {out} holds other files and no {RESULTS} of ours: choose another folder, "
            "or add --overwrite to write beside them"
        )


def write_report(report: ReportResult, out: Path, *, repeat: str | None = None) -> Path:
    """Write a report, file by file, each whole or not at all, after everything has been drawn.

    Returns
    -------
    Path
        The page, ``out/index.html``.
    """
    page = html.page(report, repeat=repeat)
    figures = parts.report_figures(report)
    tables = parts.report_tables(report)
    for folder in (out, out / "figures", out / "tables"):
        files.make_folder(folder)
    for name, figure in figures.items():
        for kind in _FIGURE_KINDS:
            svg.save(figure, out / "figures" / f"{name}.{kind}")
    for name, table in tables.items():
        for kind in _TABLE_KINDS:
            output.write(table, out / "tables" / f"{name}.{kind}", kind)
    files.write_text(out / "index.html", page)
    output.write(report, out / RESULTS, "json")
    return out / "index.html"


def _is_ours(path: Path) -> bool:
    """Whether an earlier run of ours wrote this."""
    if not path.is_file():
        return False
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("schema") == SCHEMA
