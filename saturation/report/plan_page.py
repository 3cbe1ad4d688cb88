"""A plan in a report: what to buy for each metric, in words, pictures and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from saturation.report import style
from saturation.report.grids import Content, Grid, grid_of
from saturation.report.plan_figures import metrics_of, optimum_of, plan, widths_of
from saturation.report.section import Section, Words, picture
from saturation.results import PlanResult, PlanRow, ReportResult
from saturation.studies import phrases

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAD = (
    "This is about evaluating models, not about training them: how many items, and votes an item, buy the narrowest "
    "interval for a given sum. Each line is a metric; its mark is the best number of votes, the bar at the bottom the "
    "numbers that the pilot cannot tell from it, the band how far it leaves the width open. Where a metric is no "
    "mean over votes, few votes bias it, so that its mark lies to the right of the narrowest interval."
)


def part(report: ReportResult) -> list[Section]:
    """One section where a plan was made."""
    if "plan" not in report.sections:
        return []
    result: Any = report.sections["plan"]
    return [
        Section(
            "plan",
            "What to buy for an evaluation",
            LEAD,
            (
                picture(plan(result), "plan-all", "Width to expect by votes an item"),
                *(
                    picture(plan(result, metric=one), f"plan-{place}", phrases.metric(one))
                    for place, one in enumerate(metrics_of(result))
                    if widths_of(result, one)
                ),
            ),
            (design_grid(result), *wrong_metric_grids(result)),
            words=(Words("In words", sentences(result)),),
        )
    ]


def plan_figure(result: PlanResult) -> Figure:
    """All metrics in one panel."""
    return style.figure_of(plan(result, style.new_axes(5.6, 3.4)))


def sentences(result: PlanResult) -> tuple[str, ...]:
    """What to buy by each metric, one sentence each, with what the pilot cannot say."""
    return tuple(_sentence(result, one) for one in metrics_of(result))


def design_grid(result: PlanResult) -> Grid:
    """Widths by design (rows) and metric (columns); the best one of a metric stands out."""
    rows = [row for row in result.rows if row.quantity == "width" and row.budget is not None]
    best = {one: found.budget for one in metrics_of(result) if (found := optimum_of(result, one)) is not None}

    def cell(row: PlanRow) -> Content:
        return Content(phrases.with_interval(row.unc), row.unc.reason, best.get(row.metric) == row.budget)

    def design(row: PlanRow) -> str:
        return f"{phrases.budget(row.budget or 0)} on {row.items or 0:,}"

    levels = phrases.levels(row.unc for row in rows)
    caption = f"Width of the interval to expect {levels}; the best number of votes of each metric stands out."
    return grid_of(caption, "votes, items", rows, design, lambda row: phrases.metric(row.metric), cell)


def wrong_metric_grids(result: PlanResult) -> tuple[Grid, ...]:
    """Expected error of each metric (rows) at the best design for another (columns)."""
    rows = [row for row in result.rows if row.quantity == "wrong_metric"]
    if not rows:
        return ()
    levels = phrases.levels(row.unc for row in rows)
    return (
        grid_of(
            f"Expected error where votes are bought for another metric, relative to the best design {levels}.",
            "metric",
            rows,
            lambda row: phrases.metric(row.metric),
            lambda row: f"bought for {phrases.metric_inside(row.metric_b)}",
            lambda row: Content(phrases.with_interval(row.unc), row.unc.reason),
            folded=len(rows) > 12,
        ),
    )


def _sentence(result: PlanResult, metric: str) -> str:
    name, best = phrases.metric(metric), optimum_of(result, metric)
    if best is None or best.unc.low is None or best.unc.high is None:
        found = next(row for row in result.rows if (row.quantity, row.metric) == ("optimum", metric))
        return phrases.sentence(f"{name}: no plan: {found.unc.reason}")
    votes = "one vote" if best.budget == 1 else f"{phrases.budget(best.budget or 0)} votes"
    span = f"{phrases.budget(int(best.unc.low))} to {phrases.budget(int(best.unc.high))}"
    told = "no other number is as good" if best.unc.low == best.unc.high else f"the pilot cannot tell {span} apart"
    width = next((row for row in widths_of(result, metric) if row.budget == best.budget), None)
    level = phrases.share(best.unc.level or 0.95)
    expects = "" if width is None else f", for a {level} interval {phrases.with_interval(width.unc)} wide"
    reason = f". {phrases.sentence(best.unc.reason)}" if best.unc.reason else ""
    return phrases.sentence(f"{name}: {votes} on each of {best.items or 0:,} items ({told}){expects}{reason}")
