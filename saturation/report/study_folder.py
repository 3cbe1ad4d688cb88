"""A study as a folder: the overview, every table and figure for a paper, and a report for each model and data set."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saturation import files
from saturation.report import grid_latex, output, parts, study_figures, study_grids, study_page, style, svg
from saturation.report.folder import RESULTS, write_report
from saturation.results import Listing, Note, StudyResult
from saturation.studies import phrases

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODELS = "models"
_OF_THE_DOOR = "checks"
"""The one table of a report that is not stacked: what was read is in ``results.json`` by data set."""


def write_study(study: StudyResult, out: Path, *, repeat: str | None = None) -> Path:
    """Write a study, file by file, each whole or not at all, after everything has been drawn.

    Returns
    -------
    Path
        The page, ``out/index.html``.
    """
    slugs = slugs_of((part.data, part.model) for part in study.parts)
    targets = {key: f"{MODELS}/{slug}/index.html" for key, slug in slugs.items()}
    page = study_page.page(study, targets, repeat=repeat)
    figures = study_figures_of(study)
    tables = tables_of(study)
    grids = grids_of(study)
    for folder in (out, out / "figures", out / "tables", out / MODELS):
        files.make_folder(folder)
    for name, figure in figures.items():
        svg.save(figure, out / "figures" / f"{name}.svg")
        svg.save(figure, out / "figures" / f"{name}.pdf")
    for name, table in tables.items():
        output.write(table, out / "tables" / f"{name}.csv", "csv")
    for name, made in grids.items():
        files.write_text(out / "tables" / f"{name}.tex", "\n".join(grid_latex.table(grid) for grid in made))
    for part in study.parts:
        write_report(part.report, out / MODELS / slugs[part.data, part.model])
    files.write_text(out / "index.html", page)
    output.write(study, out / RESULTS, "json")
    return out / "index.html"


def tables_of(study: StudyResult) -> dict[str, Listing]:
    """Every table with all its rows: those across the study, and those of its reports stacked by data set."""
    tables = {name: Listing(command=study.command, rows=tuple(rows)) for name, rows in study.tables().items()}
    stacked: dict[str, list[dict[str, Any]]] = {}
    for part in study.parts:
        held_out = {name: result for name, result in part.report.sections.items() if name == "heldout"}
        for name, table in (parts.report_tables(part.report) | held_out).items():
            if name != _OF_THE_DOOR:
                stacked.setdefault(name, []).extend({"data": part.data, **row} for row in table.records())
    made = {
        name: Listing(command=study.command, rows=tuple(_alike(_once(rows)))) for name, rows in stacked.items() if rows
    }
    return {name: table for name, table in tables.items() if table.rows} | made


def _once(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without repetition: the labels alone are the same for every model of a data set."""
    return list({tuple(row.items()): row for row in rows}.values())


def grids_of(study: StudyResult) -> dict[str, tuple[Any, ...]]:
    """The tables of the page by file name, for LaTeX."""
    found = {
        "n_star": (study_grids.stars_grid(study),),
        "main": study_grids.main_grids(study),
        "fractions": (study_grids.side_by_side_grid(study),),
        "across": study_grids.across_grids(study),
        "advice": study_grids.advice_grids(study),
    }
    sections = {section.anchor: section.grids for section in study_page.sections_of(study)}
    found |= {name: sections[name] for name in ("targets", "heldout", "worth", "murphy") if name in sections}
    kept = {name: tuple(grid for grid in made if grid.rows) for name, made in found.items()}
    return {name: made for name, made in kept.items() if made}


def study_figures_of(study: StudyResult) -> dict[str, Figure]:
    """One figure a metric."""
    return {
        f"fractions_{slug}": style.figure_of(study_figures.study_fractions(study, metric=metric))
        for metric, slug in slugs_of(study_figures.metrics_of(study)).items()
    }


def slugs_of(names: Iterable[Any]) -> dict[Any, str]:
    """Names that any file system takes, all different.

    Examples
    --------
    >>> slugs_of([("a b", "m/1"), ("a-b", "m 1"), "kl[floor=1e-6]"])
    {('a b', 'm/1'): 'a-b-m-1', ('a-b', 'm 1'): 'a-b-m-1-2', 'kl[floor=1e-6]': 'kl-floor-1e-6'}
    """
    made: dict[Any, str] = {}
    for name in names:
        text = name if isinstance(name, str) else "-".join(name)
        plain = re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-")[:80] or "unnamed"
        slug, count = plain, 1
        while slug.casefold() in {one.casefold() for one in made.values()}:
            count += 1
            slug = f"{plain}-{count}"
        made[name] = slug
    return made


def _alike(rows: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """Rows with the same keys: condition columns that only some data sets have are null elsewhere."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return ({name: row.get(name) for name in names} for row in rows)


def overview(study: StudyResult) -> Listing:
    """N* of every metric for people: one line a metric, model and data set, one column a share."""
    names = study_grids.names_of(study)
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for row, text in study_grids.star_texts(study):
        line = lines.setdefault((names[row.data, row.model], row.metric), {})
        line[f"for {phrases.share(row.q or 0)}"] = text
    heads = dict.fromkeys(head for line in lines.values() for head in line)
    rows = tuple(
        {"study": name or study.parts[0].data, "metric": metric, **{head: line.get(head, "") for head in heads}}
        for (name, metric), line in lines.items()
    )
    return Listing(command=study.command, rows=rows, settings=study.settings, inputs=study.inputs, notes=_about(study))


def _about(study: StudyResult) -> tuple[Note, ...]:
    """What the numbers of the overview are, in one sentence."""
    baselines = dict.fromkeys(phrases.baseline(row.baseline) for row in study.advice if row.baseline)
    return (
        Note(
            "overview",
            f"annotators per item that keep a share of the improvement over {phrases.listed(baselines)}; in brackets "
            "the interval, > N: more than the budgets tried can show",
        ),
    )
