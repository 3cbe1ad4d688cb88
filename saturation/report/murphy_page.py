"""The decomposition in a report: which conditions are drawn, the table of corrected terms, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from saturation.conditions import Condition
from saturation.report import murphy_figures, style
from saturation.report.grids import Cell, Grid, intervals_of
from saturation.report.plotdata import short_names
from saturation.results import MurphyResult, MurphyRow, Uncertainty
from saturation.studies import phrases

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = {
    "brier": "Brier score ↓",
    "rel_corrected": "miscalibration (rel) ↓",
    "res_corrected": "resolution (res) ↑",
    "unc_corrected": "uncertainty of the labels (unc)",
}
"""Terms of the table; the plug-in ones are biased by the noise in the bins."""


def headline_conditions(result: MurphyResult) -> tuple[Condition, ...]:
    """At most three conditions to draw: hard labels, the smallest and the largest soft budget of one model.

    Where a study has none of these: its first three conditions.
    """
    known = murphy_figures.conditions_of(result)
    own = [one for one in known if one.model == known[0].model] if known else []
    hard = [one for one in own if one.method == "hard" and one.budget is None]
    soft = sorted((one for one in own if one.method == "soft" and one.budget), key=lambda one: one.budget or 0)
    chosen = dict.fromkeys((*hard[:1], *soft[:1], *soft[-1:]))
    return tuple(chosen) or known[:3]


def murphy_grid(result: MurphyResult) -> Grid:
    """Corrected terms (columns) of every condition (rows)."""
    rows = _plain(result)
    names = short_names(str(row.condition) for row in rows)
    cells: dict[str, dict[str, MurphyRow]] = {}
    for row in rows:
        cells.setdefault(names[str(row.condition)], {})[row.term] = row
    reasons = [row.unc.reason for row in rows if row.unc.reason and row.term in COLUMNS]
    notes = {reason: number for number, reason in enumerate(dict.fromkeys(reasons), 1)}
    body = tuple((name, tuple(_cell(found[term], notes) for term in COLUMNS)) for name, found in cells.items())
    caption = f"Terms of the Brier score against the distribution of votes, mean over cells {intervals_of(rows)}."
    return Grid(caption, ("condition", *COLUMNS.values()), body, tuple(map(phrases.sentence, notes)))


def sentences(result: MurphyResult) -> tuple[str, ...]:
    """What the terms of the drawn conditions mean, one sentence each."""
    chosen = headline_conditions(result)
    names = short_names(str(one) for one in murphy_figures.conditions_of(result))
    found = {(row.condition, row.term): row.unc for row in _plain(result)}
    made = (_sentence(names[str(one)], {term: found[one, term] for term in COLUMNS}) for one in chosen)
    return tuple(text for text in made if text)


def reliability_figure(result: MurphyResult) -> Figure:
    """One reliability diagram for each headline condition."""
    from matplotlib.figure import Figure

    chosen = headline_conditions(result)
    with style.drawing():
        figure = Figure(figsize=(3.7 * len(chosen), 3.8), layout="constrained")
        axes = list(figure.subplots(1, len(chosen), squeeze=False).flat)
    for ax, condition in zip(axes, chosen, strict=True):
        murphy_figures.reliability(result, ax, condition=exact(condition, murphy_figures.conditions_of(result)))
    return figure


def exact(condition: Condition, known: Sequence[Condition]) -> str:
    """A selector of one condition: columns that only others have must be null."""
    columns = dict.fromkeys(name for one in known for name, _ in one.values)
    null = [f"{name}=null" for name in columns if condition.get(name) is None]
    return ",".join([str(condition), *null])


def _plain(result: MurphyResult) -> list[MurphyRow]:
    return [row for row in result.rows if row.versus is None]


def _cell(row: MurphyRow, notes: dict[str, int]) -> Cell:
    return Cell(phrases.with_interval(row.unc), notes.get(row.unc.reason or ""))


def _sentence(name: str, unc: dict[str, Uncertainty]) -> str:
    score, rel, res, labels = (unc[term] for term in COLUMNS)
    if None in (score.estimate, rel.estimate, res.estimate, labels.estimate):
        return ""
    costs = _told(rel, "miscalibration costs {}", "no miscalibration can be told from none ({})")
    whole = f"the {phrases.number(labels.estimate)} that the labels' differences between items would cost"
    gains = _told(
        res,
        f"telling items apart takes {{}} off {whole}",
        "no gain from telling items apart can be told from none ({})",
    )
    return phrases.sentence(f"{name}: of a Brier score of {phrases.with_interval(score)}, {costs}; {gains}")


def _told(unc: Uncertainty, positive: str, otherwise: str) -> str:
    """The first words where the term is above 0; the others only where an interval could not tell it from 0."""
    if unc.low is None:
        return positive.format(f"{phrases.with_interval(unc)} (no interval: {unc.reason})")
    return (positive if unc.low > 0 else otherwise).format(phrases.with_interval(unc))
