"""The page of a study: tables across its models and data sets first, then one link a model to its own page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from saturation.report import equivalents_page, html, murphy_page, study_figures, study_grids
from saturation.report.contrast_grids import gap_grids
from saturation.report.grids import Grid
from saturation.report.section import Section, Words, picture
from saturation.results import AcrossRow, StudyResult, version
from saturation.studies import gaps, phrases

NOTHING_FOUND = "where two sides are not told apart, the data do not tell; it is no evidence that they are equal"
LEAD_WORTH = (
    "The votes of N people are combined with the base rate and scored against votes that are not theirs, as the model "
    "is; the model is worth the N whose score it has. It replaces so many people only for what the metric measures."
)


@dataclass(frozen=True, slots=True)
class Link:
    """One model's own page."""

    name: str
    target: str
    facts: str


def page(study: StudyResult, targets: Mapping[tuple[str, str], str], *, repeat: str | None = None) -> str:
    """The study as one HTML file.

    Parameters
    ----------
    study
        A finished study.
    targets
        Where the page of each part is, by (data, model).
    repeat
        The command line that makes it again; None where it was made from Python.
    """
    names = study_grids.names_of(study)
    links = [
        Link(names[key] or key[1], targets[key], " · ".join(html.facts_of(part.report)))
        for key, part in zip(names, study.parts, strict=True)
    ]
    return html.environment().get_template("study.html.j2").render(
        css=html.resource("page.css"),
        title=title_of(study),
        facts=_facts(study),
        sections=sections_of(study),
        links=links,
        notes=[phrases.sentence(note.message) for note in study.notes],
        settings=html.settings_of(study.settings),
        inputs=study.inputs,
        repeat=repeat,
        version=version(),
    )  # fmt: skip


def title_of(study: StudyResult) -> str:
    """What was studied, in a line."""
    models = len({part.model for part in study.parts})
    return f"A study of {_counted(len(study.data), 'data set')} and {_counted(models, 'model')}"


def sections_of(study: StudyResult) -> list[Section]:
    """Overview tables in the order of a paper; each only where the study has something for it."""
    made = (part(study) for part in SECTIONS)
    return [section for section in made if section is not None]


def _answer(study: StudyResult) -> Section | None:
    grid = study_grids.stars_grid(study)
    if not grid.rows:
        return None
    return Section(
        "answer",
        "How many annotators, by metric",
        "The smallest budget that is shown to keep the share of what training on all votes gains. The metric decides: "
        "fix it before the budget.",
        (),
        (grid,),
    )


def _main(study: StudyResult) -> Section:
    return Section(
        "main",
        "Every condition",
        "Means over splits and seeds. A condition in bold was found to be better than its baseline, after adjustment "
        "over every comparison of this study; one that is not may still be. Splits share items, so cells won are no "
        "independent trials.",
        (),
        study_grids.main_grids(study),
    )


def _shares(study: StudyResult) -> Section | None:
    metrics = study_figures.metrics_of(study)
    if not metrics:
        return None
    drawn = tuple(
        picture(study_figures.study_fractions(study, metric=one), f"share-{at}",
                phrases.metric(one))
        for at, one in enumerate(metrics)
    )  # fmt: skip
    return Section(
        "shares",
        "How much of the improvement each budget keeps",
        "0% is the baseline, 100% the ceiling of the same model; whiskers are intervals, the dashed line is 90%.",
        drawn,
        (study_grids.side_by_side_grid(study),),
    )


def _across(study: StudyResult) -> Section | None:
    if not study.across:
        return None
    return Section(
        "across",
        "Models and data sets side by side",
        "Models of one data set are scored on the same items, so their differences are paired. Data sets have items of "
        "their own: their variances add, and only shares of an improvement are compared, not the metrics themselves.",
        (),
        study_grids.across_grids(study),
        words=(Words("In words", across_sentences(study)),),
    )


def across_sentences(study: StudyResult) -> tuple[str, ...]:
    """For each pair: in which metrics and budgets the shares kept differ, and where nothing is told."""
    names = study_grids.names_of(study)
    pairs: dict[str, list[AcrossRow]] = {}
    for row in study.across:
        if row.quantity == "fraction_difference":
            pairs.setdefault(study_grids.pair_name(row, names), []).append(row)
    said = [f"{name}: {_differ(rows)}." for name, rows in pairs.items()]
    return (*said, phrases.sentence(NOTHING_FOUND)) if said else ()


def _differ(rows: list[AcrossRow]) -> str:
    if not rows[0].paired:
        return "on different items; the table has an interval for each budget, and no test is made"
    told = {
        metric: [r for r in rows if r.metric == metric and _apart(r)]
        for metric in dict.fromkeys(r.metric for r in rows)
    }
    parts = [
        f"{phrases.metric_inside(metric or '')} at {phrases.listed(phrases.budget(r.budget or 0) for r in found)}"
        for metric, found in told.items()
        if found
    ]
    size = max((row.family_size or 0 for row in rows), default=0)
    tests = f"{size} tests"
    if not parts:
        return f"shares kept are told apart at no budget in any metric ({tests}, Holm's method)"
    return f"shares kept are told apart in {phrases.listed(parts)} votes ({tests}, Holm's method)"


def _apart(row: AcrossRow) -> bool:
    return row.p_adjusted is not None and row.unc.level is not None and row.p_adjusted < 1 - row.unc.level


def _advice(study: StudyResult) -> Section | None:
    grids = study_grids.advice_grids(study)
    if not grids[0].rows:
        return None
    return Section(
        "advice",
        "What the next step buys",
        "From each budget to the next one tried, on the same items and seeds. This is about votes for training; how "
        "many votes an evaluation needs is another question.",
        (),
        grids,
    )


def _targets(study: StudyResult) -> Section | None:
    names = study_grids.names_of(study)
    words: list[Words] = []
    grids: list[Grid] = []
    for part in study.parts:
        curve: Any = part.report.sections["curve"]
        name = names[part.data, part.model]
        lines = tuple(gaps.gap_summaries(curve.rows))
        words += [Words(name or "In words", lines)] if lines else []
        grids += [
            replace(grid, caption=f"{name}: {grid.caption}", folded=True) for grid in gap_grids(curve) if grid.rows
        ]
    if not words:
        return None
    return Section(
        "targets",
        "Other targets at the same budget",
        "The share of the gap between soft labels at a budget and the ceiling that another target closes.",
        (),
        tuple(grids),
        words=tuple(words),
    )


def _worth(study: StudyResult) -> Section | None:
    grids = _grids_of(study, "equivalents", equivalents_page.worth_grid)
    if not grids:
        return None
    return Section("worth", "How many annotators is a model worth?", LEAD_WORTH, (), grids)


def _held_out(study: StudyResult) -> Section | None:
    grids = _grids_of(study, "heldout", study_grids.held_out_grid)
    grids += _grids_of(study, "heldout", study_grids.held_out_corrected_grid)
    if not grids:
        return None
    return Section(
        "heldout",
        "Against votes that training did not see",
        "Fewer votes to score against alone make distances larger and correlations smaller, so raw values are not "
        "comparable with those above; corrected ones are, where there is a correction.",
        (),
        grids,
    )


def _murphy(study: StudyResult) -> Section | None:
    grids = _grids_of(study, "murphy", murphy_page.murphy_grid)
    if not grids:
        return None
    return Section(
        "murphy",
        "Calibrated, or only telling items apart?",
        "Terms of the Brier score for every condition; pictures are on the page of each model.",
        (),
        grids,
    )


def _grids_of(study: StudyResult, section: str, grid_of: Callable[[Any], Grid]) -> tuple[Grid, ...]:
    """The table of a section of every report, folded, under the name of its part."""
    names = study_grids.names_of(study)
    made = [
        (names[part.data, part.model], grid_of(part.report.sections[section]))
        for part in study.parts
        if section in part.report.sections
    ]
    return tuple(replace(grid, caption=_headed(name, grid.caption), folded=True) for name, grid in made if grid.rows)


def _headed(name: str, caption: str) -> str:
    """A caption with the name of its part, where it has one."""
    return f"{name}: {caption}" if name else caption


def _facts(study: StudyResult) -> list[str]:
    return [
        f"{data}: {summary.n_items:,} items, {summary.n_labels:,} labels, {summary.n_votes:,} votes"
        for data, summary in study.data.items()
    ]


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


SECTIONS = (_answer, _main, _shares, _across, _advice, _targets, _held_out, _worth, _murphy)
"""In the order of the page; each gives nothing where the study has nothing for it."""
