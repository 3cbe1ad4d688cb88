"""A grid as a LaTeX table for the booktabs package."""

from __future__ import annotations

from collections.abc import Iterable

from saturation.report.grids import Cell, Grid
from saturation.report.output import latex


def table(grid: Grid) -> str:
    r"""A ``tabular`` with its caption, ready to be used, as a comment above and its footnotes below.

    Examples
    --------
    >>> print(table(Grid("Shares", ("metric", "5"), (("kl", (Cell("90%", 1, True),)),), ("Few items.",))))
    % \usepackage{booktabs}
    % Shares
    \begin{tabular}{lr}
    \toprule
    metric & 5 \\
    \midrule
    kl & \textbf{90\%}\textsuperscript{1} \\
    \bottomrule
    \end{tabular}
    \par{\footnotesize \textsuperscript{1}~Few items.}
    <BLANKLINE>
    """
    lines = [
        r"% \usepackage{booktabs}",
        f"% {latex(grid.caption)}",
        rf"\begin{{tabular}}{{l{'r' * (len(grid.head) - 1)}}}",
        r"\toprule",
        _row(map(latex, grid.head)),
        r"\midrule",
        *(_row([latex(name), *map(_cell, cells)]) for name, cells in grid.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    notes = [rf"\textsuperscript{{{number}}}~{latex(note)}" for number, note in enumerate(grid.notes, 1)]
    lines += [rf"\par{{\footnotesize {' '.join(notes)}}}"] if notes else []
    return "\n".join(lines) + "\n"


def _cell(cell: Cell) -> str:
    text = latex(cell.text) or "--"
    strong = rf"\textbf{{{text}}}" if cell.strong else text
    return strong if cell.note is None else rf"{strong}\textsuperscript{{{cell.note}}}"


def _row(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
