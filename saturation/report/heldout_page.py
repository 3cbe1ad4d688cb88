"""Held-out votes in a report: what changes against unseen votes, and how much of that is their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from saturation.report import style
from saturation.report.equivalents_figures import shown_among
from saturation.report.grids import Content, Grid, grid_of
from saturation.report.heldout_figures import POOLS, heldout, metrics_of
from saturation.report.plotdata import short_names
from saturation.report.section import Section, Words, picture
from saturation.results import HeldOutResult, HeldOutRow, ReportResult, Uncertainty
from saturation.studies import phrases

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAD = (
    "Scores against the votes that training did not see, beside those against the votes that it saw and against all of "
    "them. Fewer votes alone make raw scores look worse; corrected for their number they can be compared. Held-out "
    "votes are about the same items: they say nothing about new ones."
)
CORRECTED = {"heldout": "held-out, corrected", "train": "training, corrected"}


def part(report: ReportResult) -> list[Section]:
    """One section where votes were held out."""
    if "heldout" not in report.sections:
        return []
    result: Any = report.sections["heldout"]
    overlap = tuple(note.message for note in result.notes if note.code == "annotator_overlap")
    return [
        Section(
            "heldout",
            "What remains against held-out votes?",
            LEAD,
            tuple(
                picture(heldout(result, style.new_axes(4.8, 3.1), metric=m), f"heldout-{at}", phrases.metric(m))
                for at, m in enumerate(metrics_of(result))
            ),
            tuple(heldout_grid(result, metric) for metric in metrics_of(result)),
            words=(Words("In words", sentences(result)),)
            + ((Words("Who cast them", tuple(phrases.sentence(one) for one in overlap)),) if overlap else ()),
        )
    ]


def sentences(result: HeldOutResult) -> tuple[str, ...]:
    """One sentence a metric that can be corrected, for the condition that is drawn last."""
    known = list(dict.fromkeys(str(row.condition) for row in result.rows))
    if not known:
        return ()
    chosen = shown_among(known)[-1]
    name = short_names(known)[chosen]
    found = []
    for metric in metrics_of(result):
        rows = {row.pool: row for row in result.rows if (row.metric, str(row.condition)) == (metric, chosen)}
        if rows["heldout"].corrected is not None and rows["train"].corrected is not None:
            found.append(_sentence(name, metric, rows))
    return tuple(found)


def heldout_grid(result: HeldOutResult, metric: str) -> Grid:
    """One metric: conditions in rows; against training and held-out votes as it is and corrected, and what changes."""
    rows = [row for row in result.rows if row.metric == metric]
    names = short_names(str(row.condition) for row in rows)
    shown = [(row, head, unc) for row in rows for head, unc in _columns(row)]
    return grid_of(
        f"{phrases.metric(metric)} {phrases.levels(row.unc for row in rows)}.",
        "condition",
        shown,
        lambda one: names[str(one[0].condition)],
        lambda one: one[1],
        lambda one: Content(phrases.with_interval(one[2]), one[0].unc.reason),
    )


def _columns(row: HeldOutRow) -> list[tuple[str, Uncertainty]]:
    """Heads and numbers of one row; those of all votes are in the files."""
    fixed = corrected_of(row)
    if row.pool == "heldout - train":
        return [("corrected change", fixed) if row.corrected is not None else ("change", row.unc)]
    if row.pool not in ("heldout", "train"):
        return []
    raw = (POOLS[row.pool], row.unc)
    return [raw] if row.corrected is None else [raw, (CORRECTED[row.pool], fixed)]


def heldout_figure(result: HeldOutResult) -> Figure:
    """One panel for each metric, two a row."""
    from matplotlib.figure import Figure

    metrics = metrics_of(result)
    across, down = min(2, max(len(metrics), 1)), max(-(-len(metrics) // 2), 1)
    with style.drawing():
        figure = Figure(figsize=(5.0 * across, 3.1 * down), layout="constrained")
        axes = list(figure.subplots(down, across, squeeze=False).flat)
    for ax, metric in zip(axes, metrics, strict=False):
        heldout(result, ax, metric=metric)
    for spare in axes[len(metrics) :]:
        spare.set_visible(False)
    return figure


def corrected_of(row: HeldOutRow) -> Uncertainty:
    """The corrected value as a number with its interval."""
    return Uncertainty(
        row.corrected,
        low=row.corrected_low,
        high=row.corrected_high,
        level=row.unc.level,
        interval="none" if row.corrected_low is None else row.unc.interval,
    )


def _sentence(name: str, metric: str, rows: dict[str, HeldOutRow]) -> str:
    """Raw, what so few votes do by themselves, and what is left when that is taken out."""
    held, train, change = rows["heldout"], rows["train"], rows["heldout - train"]
    where = phrases.metric_inside(metric)
    raw = (
        f"{name}: {where} is {phrases.with_interval(held.unc)} against the {held.votes:.3g} held-out votes an item and "
        f"{phrases.with_interval(train.unc)} against the {train.votes:.3g} training votes"
    )
    noise = ""
    if held.reliability is not None and train.reliability is not None:
        noise = (
            f"; but the entropies of so few votes are less reliable ({phrases.number(held.reliability, 2)} for "
            f"{phrases.number(train.reliability, 2)})"
        )
    elif held.floor is not None:
        noise = f"; a perfect model would score {phrases.number(held.floor)} against so few votes"
    fixed = corrected_of(change)
    left = f"Corrected for that, the change is {phrases.with_interval(fixed)}: {_verdict(change)}"
    return f"{phrases.sentence(raw + noise)} {phrases.sentence(left)}"


def _verdict(change: HeldOutRow) -> str:
    """What the corrected change may be taken for."""
    low, high = change.corrected_low, change.corrected_high
    if low is None or high is None:
        return "how sure that is cannot be said"
    if low <= 0 <= high:
        return "no sign of anything learned from the training votes alone, which is no proof that there is nothing"
    worse = low > 0 if change.direction == "lower" else high < 0
    return (
        "worse than against the votes that training saw, so that it learned some of their noise or of their annotators"
        if worse
        else "better than against the votes that training saw, which noise learned from them cannot explain"
    )
