"""Results as text or a file: table, JSON, CSV, Markdown, LaTeX, parquet. All from the same rows."""

from __future__ import annotations

import csv
import io
import json
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from saturation import files
from saturation.report.compare_layout import as_one_table, is_comparison, sentences
from saturation.report.layout import Layout, Page, arrange
from saturation.report.summary import as_summary
from saturation.results import Listing, ReportResult, Result, StudyResult, frame

if TYPE_CHECKING:
    import polars as pl

Printable: TypeAlias = Result[Any] | Listing | ReportResult | StudyResult

_NOTHING = "no rows"
_SENTENCE = 50
"""A cell longer than this is text to be broken into lines."""
_LEAST_ROOM = 20
_GAP = 3
"""Characters between two columns of a grid."""


def render(result: Printable, format: str) -> str:
    """A result as text.

    Parameters
    ----------
    result
        What a command or function returned.
    format
        ``table``, ``json``, ``csv``, ``md`` or ``tex``.

    Returns
    -------
    str
        Ends in a line feed.
    """
    return _RENDERERS[format](result)


def write(result: Printable, path: Path, format: str) -> None:
    """Write a result to a file, whole or not at all."""
    if format == "parquet":
        _write_parquet(result, path)
    else:
        files.write_text(path, render(result, format))


def as_json(result: Printable) -> str:
    """The envelope; floats with every digit they have, never NaN."""
    return json.dumps(result.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv(result: Printable) -> str:
    r"""The JSON rows with the same keys; null is an empty field.

    Examples
    --------
    >>> as_csv(Listing(command="metrics", rows=({"name": "kl", "order": 2, "range": None},)))
    'name,order,range\nkl,2,\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_to_frame(result).columns)
    writer.writerows(list(record.values()) for record in records_of(result))
    return text.getvalue()


def as_table(result: Printable, *, width: int = 100, ascii_only: bool = False, color: bool = False) -> str:
    """For people: what may be concluded, aligned columns no wider than ``width``, then footnotes and remarks."""
    if isinstance(result, ReportResult):
        return as_summary(result, width)
    page = _page(result.records())
    left_out: dict[str, None] = {}
    blocks = ["".join(f"{textwrap.fill(line, width)}\n" for line in page.sentences)]
    for section in page.sections:
        narrow, dropped = _narrowed(section, width)
        left_out |= dict.fromkeys(dropped)
        title = f"{textwrap.fill(narrow.title, width)}\n" if narrow.title else ""
        blocks.append(title + _draw(narrow, width, ascii_only, color))
    lines = [*_below(page), *_notes(result)]
    if left_out:
        lines.append(f"not shown for want of width: {', '.join(left_out)} (--format csv has every column)")
    blocks.append("".join(f"{textwrap.fill(line, width)}\n" for line in lines))
    return "\n".join(block for block in blocks if block) if page.sections else f"{_NOTHING}\n{blocks[-1]}"


def as_markdown(result: Printable) -> str:
    """What may be concluded, a pipe table a section, then footnotes and remarks as a list."""
    page = _page(records_of(result))
    said = "\n".join(f"- {_md(line)}" for line in page.sentences)
    blocks = [said, *([_markdown_table(section) for section in page.sections] or [_NOTHING])]
    below = "\n".join(f"- {_md(line)}" for line in [*_below(page), *_notes(result)])
    return "\n\n".join(block for block in (*blocks, below) if block) + "\n"


def as_latex(result: Printable) -> str:
    r"""A ``tabular`` a section, for booktabs; what may be concluded before it, footnotes and remarks after it."""
    page = _page(records_of(result))
    said = "\n".join(rf"\par {latex(line)}" for line in page.sentences)
    blocks = [said, *([_latex_table(section) for section in page.sections] or [f"% {_NOTHING}"])]
    below = "\n".join(rf"\par{{\footnotesize {latex(line)}}}" for line in [*_below(page), *_notes(result)])
    return "\n\n".join(block for block in (r"% \usepackage{booktabs}", *blocks, below) if block) + "\n"


def latex(text: str) -> str:
    r"""Text that LaTeX prints as it stands.

    Examples
    --------
    >>> print(latex("a_b & 5% \\ {x} ~ ^ < 1"))
    a\_b \& 5\% \textbackslash{} \{x\} \textasciitilde{} \textasciicircum{} \textless{} 1
    """
    return "".join(_LATEX.get(character, character) for character in text)


def records_of(result: Printable) -> list[dict[str, Any]]:
    """The rows a format without sections shows: of a report, its answers."""
    return result.answer_records() if isinstance(result, ReportResult) else result.records()


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",  # a bracket at the start of a row would be read as an option of the line break before it
    "\n": " ",
    "\u2212": "$-$",
    "\u00b1": r"$\pm$",
    "\u00d7": r"$\times$",
    "\u2264": r"$\leq$",
    "\u2265": r"$\geq$",
    "\u221e": r"$\infty$",
    "\u2193": r"$\downarrow$",
    "\u2191": r"$\uparrow$",
    "\u2192": r"$\rightarrow$",
    "\u2013": "--",
    "\u2014": "---",
    "\u2026": r"\ldots{}",
    "\u2019": "'",
} | {character: f"\\{character}" for character in "&%$#_{}"}

_RENDERERS: Mapping[str, Callable[[Any], str]] = {
    "table": as_table,
    "json": as_json,
    "csv": as_csv,
    "md": as_markdown,
    "tex": as_latex,
}


def _to_frame(result: Printable) -> pl.DataFrame:
    return frame(result.answer_records(), {}) if isinstance(result, ReportResult) else result.to_frame()


def _write_parquet(result: Printable, path: Path) -> None:
    """The rows as columns; the envelope without the rows is kept in the file's metadata."""
    import pyarrow.parquet as pq

    about = {key: value for key, value in result.to_dict().items() if key not in ("results", "sections", "answers")}
    table = _to_frame(result).to_arrow()
    metadata = {"saturation_result": json.dumps(about, allow_nan=False, ensure_ascii=False)}
    with files.atomic_path(path) as temporary:
        pq.write_table(table.replace_schema_metadata(metadata), temporary, compression="zstd")


def _narrowed(layout: Layout, width: int) -> tuple[Layout, list[str]]:
    """Without the least important columns where the line is too short, and which those were."""
    dropped = []
    while _width_of(layout) > width and layout.droppable is not None:
        dropped.append(layout.droppable)
        layout = layout.without(layout.droppable)
    return layout, dropped


def _width_of(layout: Layout) -> int:
    return sum(_column_widths(layout)) + _GAP * (len(layout.keys) - 1)


def _draw(layout: Layout, width: int, ascii_only: bool, color: bool) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.ASCII2 if ascii_only else box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for header, numeric in zip(layout.headers, layout.numeric, strict=True):
        table.add_column(Text(header), justify="right" if numeric else "left", overflow="fold")
    rooms = _rooms(layout, width)
    for row in layout.rows:
        table.add_row(*(Text(_broken(cell, room)) for cell, room in zip(row, rooms, strict=True)))
    console = Console(
        file=io.StringIO(), width=width, force_terminal=color, no_color=not color, highlight=False, legacy_windows=False
    )
    with console.capture() as captured:
        console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def _rooms(layout: Layout, width: int) -> list[int]:
    """How wide each column may be: the widest column of words gives what the line lacks."""
    rooms = _column_widths(layout)
    words = [place for place, numeric in enumerate(layout.numeric) if not numeric]
    lacking = _width_of(layout) - width
    if lacking > 0 and words:
        widest = max(words, key=lambda place: rooms[place])
        rooms[widest] = max(rooms[widest] - lacking, _LEAST_ROOM)
    return rooms


def _broken(cell: str, room: int) -> str:
    """A condition that is too long for its column, broken after its commas and never within a value.

    Examples
    --------
    >>> print(_broken("model=m,method=dirichlet,alpha=0.3333333333333333", 26))
    model=m,method=dirichlet,
    alpha=0.3333333333333333
    """
    if len(cell) <= room or " " in cell or "," not in cell:
        return cell
    lines = [""]
    for part in re.findall(r"[^,]+,?|,", cell):
        if lines[-1] and len(lines[-1]) + len(part) > room:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _markdown_table(layout: Layout) -> str:
    rule = ["---:" if numeric else "---" for numeric in layout.numeric]
    rows = [[_md(cell) for cell in row] for row in (layout.headers, *layout.rows)]
    lines = [f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:])]
    return "\n".join([f"**{_md(layout.title)}**", "", *lines] if layout.title else lines)


def _latex_table(layout: Layout) -> str:
    align = "".join(_latex_columns(layout))
    rows = [" & ".join(latex(cell) for cell in cells) + r" \\" for cells in (layout.headers, *layout.rows)]
    head = [rf"\begin{{tabular}}{{{align}}}", r"\toprule", rows[0], r"\midrule"]
    lines = [*head, *rows[1:], r"\bottomrule", r"\end{tabular}"]
    return "\n".join([rf"\par\textbf{{{latex(layout.title)}}}\par", *lines] if layout.title else lines)


def _latex_columns(layout: Layout) -> list[str]:
    """Flush right for numbers, a paragraph of its share of the line for sentences."""
    long = [width > _SENTENCE for width in _column_widths(layout)]
    share = f"{0.8 / max(sum(long), 1):.2f}"
    return [
        rf"p{{{share}\linewidth}}" if sentence else "r" if numeric else "l"
        for sentence, numeric in zip(long, layout.numeric, strict=True)
    ]


def _column_widths(layout: Layout) -> list[int]:
    from rich.cells import cell_len

    return [max(map(cell_len, column)) for column in zip(layout.headers, *layout.rows, strict=True)]


def _page(records: list[dict[str, Any]]) -> Page:
    """Records laid out; a comparison as one table with its sentences."""
    if not is_comparison(records):
        return arrange(records)
    return replace(arrange(as_one_table(records)), sentences=sentences(records))


def _below(page: Page) -> list[str]:
    """The caption and the numbered footnotes."""
    caption = [page.caption] if page.caption else []
    return caption + [f"({number}) {reason}" for number, reason in enumerate(page.footnotes, 1)]


def _notes(result: Printable) -> list[str]:
    return [f"note: {note.message}" for note in result.notes]


def _md(text: str) -> str:
    """Text inside a Markdown table cell."""
    for character in "\\|<>*_`[]&~":
        text = text.replace(character, f"\\{character}")
    return text.replace("\n", " ")
