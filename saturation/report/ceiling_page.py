"""Human ceilings in a report: what people themselves would score, and how far the models are from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from saturation.report import style
from saturation.report.ceiling_figures import KINDS, ceiling, ceilings_of, height_of, metrics_of, models_of
from saturation.report.compare_page import metric_head
from saturation.report.equivalents_figures import shown_among
from saturation.report.grids import Content, Grid, grid_of
from saturation.report.plotdata import short_names
from saturation.report.section import Section, Words, picture
from saturation.results import CeilingResult, CeilingRow, ReportResult
from saturation.studies import phrases

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAD = (
    "No model scores perfectly against a handful of votes, and neither would people. Noise alone: a model that knows "
    "exactly how people would vote. Another crowd: the votes of other people in the model's place."
)


def part(report: ReportResult) -> list[Section]:
    """One section where ceilings were computed."""
    if "ceiling" not in report.sections:
        return []
    result: Any = report.sections["ceiling"]
    metrics = metrics_of(result)
    has_models = any(row.condition for row in result.rows)
    return [
        Section(
            "ceiling",
            "How well would people themselves score?",
            LEAD,
            tuple(
                picture(
                    ceiling(result, style.new_axes(4.8, height_of(len(models_of(result, m)))), metric=m),
                    f"ceiling-{at}",
                    phrases.metric(m),
                )
                for at, m in enumerate(metrics)
            ),
            (ceilings_grid(result), *((distances_grid(result),) if has_models else ())),
            words=(Words("In words", sentences(result)),),
        )
    ]


def sentences(result: CeilingResult) -> tuple[str, ...]:
    """One sentence a metric: its ceilings, and which of the drawn models is nearest."""
    return tuple(_sentence(result, metric) for metric in metrics_of(result))


def ceilings_grid(result: CeilingResult) -> Grid:
    """Ceilings (columns) by metric (rows)."""
    rows = [
        row for row in result.rows if row.quantity == "ceiling" and (row.combiner != "raw" or _is_the_only(result, row))
    ]
    levels = phrases.levels(row.unc for row in rows)
    return grid_of(
        f"What people themselves would score, in the metric's units {levels}.",
        "metric",
        rows,
        metric_head,
        lambda row: KINDS[row.kind][0],
        lambda row: Content(phrases.with_interval(row.unc), row.unc.reason),
    )


def distances_grid(result: CeilingResult) -> Grid:
    """Distances of every condition (rows) from the noise alone, by metric (columns)."""
    rows = [row for row in result.rows if row.quantity == "distance" and row.kind == "noise_only"]
    names = short_names(row.condition for row in rows if row.condition)
    levels = phrases.levels(row.unc for row in rows)
    return grid_of(
        f"Model minus the noise alone, in the metric's units {levels}; in bold where a model is better than that.",
        "condition",
        rows,
        lambda row: names[row.condition],
        metric_head,
        lambda row: Content(phrases.with_interval(row.unc), row.unc.reason, bool(row.beats)),
        folded=True,
    )


def ceiling_figure(result: CeilingResult) -> Figure:
    """One panel for each metric, two a row."""
    from matplotlib.figure import Figure

    metrics = metrics_of(result)
    most = max((len(models_of(result, m)) for m in metrics), default=0)
    down = max(-(-len(metrics) // 2), 1)
    with style.drawing():
        figure = Figure(figsize=(11.0, height_of(most) * down), layout="constrained")
        axes = list(figure.subplots(down, 2, squeeze=False).flat)
    for ax, metric in zip(axes, metrics, strict=False):
        ceiling(result, ax, metric=metric)
    for spare in axes[len(metrics) :]:
        spare.set_visible(False)
    return figure


def _is_the_only(result: CeilingResult, row: CeilingRow) -> bool:
    """Whether a metric has no other crowd than the raw one."""
    return not any(
        (other.metric, other.kind, other.combiner) == (row.metric, row.kind, "dirichlet") for other in result.rows
    )


def _sentence(result: CeilingResult, metric: str) -> str:
    said = [f"{KINDS[row.kind][0]} {phrases.with_interval(row.unc)}" for row in ceilings_of(result, metric)]
    text = f"{phrases.metric(metric)}: {', '.join(said)}"
    rows = [row for row in result.rows if (row.quantity, row.metric, row.kind) == ("distance", metric, "noise_only")]
    known = {row.condition: row for row in rows if row.condition and row.unc.estimate is not None}
    if not known:
        return phrases.sentence(text)
    worse = 1 if rows[0].direction == "lower" else -1
    best = min(shown_among(list(known)), key=lambda one: worse * (known[one].unc.estimate or 0.0))
    names = short_names(row.condition for row in rows if row.condition)
    return phrases.sentence(f"{text}; {names[best]} is {_away(known[best], worse)}")


def _away(row: CeilingRow, worse: int) -> str:
    """How far a model is from the noise alone, in words no stronger than its interval."""
    unc = row.unc
    distance = phrases.with_interval(unc)
    if row.beats:
        return f"better than that by {distance}: {unc.reason}"
    if unc.low is None or unc.high is None:
        return f"{distance} away from the noise alone, without an interval ({unc.reason})"
    told = unc.low > 0 if worse > 0 else unc.high < 0
    return f"{distance} away from the noise alone" if told else f"not told from the noise alone ({distance})"
