"""Rows turned into a grid: a line and a column each, and a numbered reason where a cell needs one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from saturation.report.grids import Cell, Grid
from saturation.studies import phrases

Content = tuple[str, str | None, bool]
"""Text of a cell, its footnote, whether it stands out."""


def pivot(
    caption: str,
    corner: str,
    rows: Iterable[Any],
    *,
    line: Callable[[Any], str],
    column: Callable[[Any], str],
    cell: Callable[[Any], Content],
    folded: bool = False,
) -> Grid:
    """A grid with the lines and columns in the order of the rows.

    Parameters
    ----------
    caption, corner, folded
        As in :class:`~saturation.report.grids.Grid`.
    rows
        Of a result.
    line, column
        Where a row goes.
    cell
        What stands there.

    Examples
    --------
    >>> made = pivot("", "", [("a", 1), ("a", 2), ("b", 1)], line=lambda r: r[0], column=lambda r: str(r[1]),
    ...              cell=lambda r: ("x", "because" if r == ("b", 1) else None, False))
    >>> made.head, [[c.text for c in cells] for _, cells in made.rows], made.rows[1][1][0].note, made.notes
    (('', '1', '2'), [['x', 'x'], ['x', '']], 1, ('Because.',))
    """
    cells = {(line(row), column(row)): cell(row) for row in rows}
    lines = dict.fromkeys(one for one, _ in cells)
    head = tuple(dict.fromkeys(one for _, one in cells))
    notes = {note: number for number, note in enumerate(dict.fromkeys(n for _, n, _ in cells.values() if n), 1)}
    empty: Content = ("", None, False)
    body = tuple((one, tuple(_cell(cells.get((one, name), empty), notes) for name in head)) for one in lines)
    return Grid(caption, (corner, *head), body, tuple(map(phrases.sentence, notes)), folded)


def _cell(content: Content, notes: dict[str, int]) -> Cell:
    text, note, strong = content
    return Cell(text, None if note is None else notes[note], strong)
