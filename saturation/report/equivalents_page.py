"""Annotator equivalents in a report: how many people each model is worth, in words, pictures and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from saturation.report import style
from saturation.report.equivalents_figures import equivalents, metrics_of, shown_conditions
from saturation.report.grids import Content, Grid, grid_of
from saturation.report.plotdata import short_names
from saturation.report.section import Section, Words, picture
from saturation.results import EquivalentsResult, EquivalentsRow, ReportResult
from saturation.studies import phrases

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAD = (
    "The votes of N people are combined with the base rate and scored against votes that are not theirs, as the model "
    "is; the model is worth the N whose score it has. It replaces so many people only for what the metric measures. "
    "Dashed: the level of a model, thick over the numbers of people that it is not told from."
)


def part(report: ReportResult) -> list[Section]:
    """One section where models were compared with crowds."""
    if "equivalents" not in report.sections:
        return []
    result: Any = report.sections["equivalents"]
    return [
        Section(
            "equivalents",
            "How many annotators is a model worth?",
            LEAD,
            tuple(
                picture(equivalents(result, style.new_axes(4.8, 3.1), metric=m), f"worth-{at}", phrases.metric(m))
                for at, m in enumerate(metrics_of(result))
            ),
            (worth_grid(result),),
            words=(Words("In words", sentences(result)),),
        )
    ]


def sentences(result: EquivalentsResult) -> tuple[str, ...]:
    """One sentence a model that is drawn: what it is worth by every metric, and what these data cannot say."""
    shown = shown_conditions(result)
    names = short_names(row.condition for row in result.rows if row.condition is not None)
    return tuple(_sentence(names[one], _worths(result, one)) for one in shown)


def worth_grid(result: EquivalentsResult) -> Grid:
    """Annotators that each condition (rows) is worth by each metric (columns)."""
    rows = [row for row in result.rows if row.quantity == "equivalent"]
    names = short_names(row.condition for row in rows if row.condition is not None)
    levels = phrases.levels(row.unc for row in rows)
    return grid_of(
        f"Annotators that a model is worth {levels}; scored against one vote left out, or the votes named below.",
        "condition",
        rows,
        lambda row: names[row.condition],
        lambda row: phrases.metric(row.metric),
        lambda row: Content(worth_text(row), row.unc.reason),
    )


def equivalents_figure(result: EquivalentsResult) -> Figure:
    """One panel for each metric, two a row."""
    from matplotlib.figure import Figure

    metrics = metrics_of(result)
    across, down = min(2, max(len(metrics), 1)), max(-(-len(metrics) // 2), 1)
    with style.drawing():
        figure = Figure(figsize=(5.0 * across, 3.1 * down), layout="constrained")
        axes = list(figure.subplots(down, across, squeeze=False).flat)
    for ax, metric in zip(axes, metrics, strict=False):
        equivalents(result, ax, metric=metric)
    for spare in axes[len(metrics) :]:
        spare.set_visible(False)
    return figure


def worth_text(row: EquivalentsRow) -> str:
    """A number of annotators with its interval: ``7 [5, 9]``, ``> 50``, ``worse than nobody``.

    Examples
    --------
    >>> from saturation.results import Uncertainty
    >>> known = Uncertainty(6.96, low=5.2, high=None, interval="linearized_t")
    >>> worth_text(EquivalentsRow(quantity="equivalent", metric="kl", reference="disjoint", reference_size=5,
    ...                           direction="lower", unc=known))
    '7 [5.2, open]'
    """
    unc = row.unc
    if unc.estimate is None and row.censored is None:
        return phrases.NO_ESTIMATE
    limits = ""
    if unc.interval != "none":
        low = "0" if unc.low is None else annotators(unc.low)
        limits = f" [{low}, {'open' if unc.high is None else annotators(unc.high)}]"
    if row.censored == "below":
        return f"worse than nobody{limits if _may_be_somebody(row) else ''}"
    return f"> all tried{limits}" if unc.estimate is None else f"{annotators(unc.estimate)}{limits}"


def annotators(number: float) -> str:
    """A number of annotators with as many digits as anyone needs.

    Examples
    --------
    >>> annotators(0.43), annotators(6.96), annotators(31.7)
    ('0.4', '7', '32')
    """
    return f"{number:.0f}" if number >= 9.95 else f"{number:.1f}".removesuffix(".0")


def _may_be_somebody(row: EquivalentsRow) -> bool:
    """Whether a model below the base rate is not told from it, or from some crowd."""
    return row.censored == "below" and row.unc.low is not None


def _worths(result: EquivalentsResult, condition: str) -> list[EquivalentsRow]:
    return [row for row in result.rows if (row.quantity, row.condition) == ("equivalent", condition)]


def _sentence(name: str, rows: Sequence[EquivalentsRow]) -> str:
    told: dict[str, list[str]] = {"about": [], "above": [], "nobody": [], "below": [], "unknown": []}
    for row in rows:
        metric = phrases.metric_inside(row.metric)
        if row.censored == "below":
            told["nobody" if _may_be_somebody(row) else "below"].append(metric)
        elif row.censored == "above":
            told["above"].append(metric)
        elif row.unc.estimate is None:
            told["unknown"].append(metric)
        else:
            whom = "" if told["about"] else " annotators"
            told["about"].append(f"{worth_text(row)}{whom} by {metric}")
    return phrases.sentence(f"{name}: {'; '.join(_clauses(told))}")


def _clauses(told: dict[str, list[str]]) -> list[str]:
    said = []
    if told["about"]:
        said.append(f"worth about {phrases.listed(told['about'])}")
    if told["above"]:
        said.append(f"beyond what these data can say by {phrases.listed(told['above'])}")
    if told["nobody"]:
        said.append(f"not told from asking nobody by {phrases.listed(told['nobody'])}")
    if told["below"]:
        said.append(f"worse than asking nobody by {phrases.listed(told['below'])}")
    if told["unknown"]:
        said.append(f"not known by {phrases.listed(told['unknown'])} (see the table)")
    return said
