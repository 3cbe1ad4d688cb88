"""What a small pilot foresees, in a report: a law's curves, marked as such, in words, pictures and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from saturation.report import figures, grids, style
from saturation.report.plotdata import metrics_of
from saturation.report.section import Section, Words, picture
from saturation.results import LabelCurveResult, LabelCurveRow, ReportResult
from saturation.studies import phrases

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAD = (
    "Your votes cannot be drawn from at budgets beyond their own number. These curves come from a law of items that "
    "was fitted to them: they are about a crowd that nobody has asked yet. The Brier curve needs no more than your "
    "votes show; the others rest on the shape of the law, and their intervals hold if that shape is right. On real "
    "sets thinned to 3 and 5 votes an item it was not quite: entropy correlations came out too high, divergences at "
    "many votes too low, often by more than the interval, most where dissent is rare. Collect more votes on some items "
    "before you rely on them."
)
ROUNDING = 1e-6


def part(report: ReportResult) -> list[Section]:
    """One section where a law was fitted."""
    if "pilot" not in report.sections:
        return []
    result: Any = report.sections["pilot"]
    return [
        Section(
            "pilot",
            "What more votes are expected to show",
            LEAD,
            tuple(
                picture(pilot_curve(result, style.new_axes(), metric=one), f"pilot-{place}", phrases.metric(one))
                for place, one in enumerate(metrics_of(result))
            ),
            (grids.values_grid(result), grids.fractions_grid(result), grids.n_star_grid(result)),
            words=(Words("In words", (*sentences(result), *_law(result))),),
        )
    ]


def pilot_curve(result: LabelCurveResult, ax: Axes | None = None, *, metric: str | None = None) -> Axes:
    """The label-side curve of a fitted law, dashed, because it was not observed."""
    ax = figures.label_curve(result, ax, metric=metric)
    for line in ax.lines:
        line.set_linestyle("--")
    return ax


def sentences(result: LabelCurveResult) -> tuple[str, ...]:
    """One sentence a metric: how many votes are expected to keep a share of the gain."""
    return tuple(_sentence(result, one) for one in metrics_of(result))


def _sentence(result: LabelCurveResult, metric: str) -> str:
    rows = [row for row in result.rows if (row.quantity, row.metric) == ("n_star_interpolated", metric)]
    largest = max((row.budget for row in result.rows if row.budget is not None), default=0)
    told = [_share(row, largest) for row in rows]
    if not told:
        return phrases.sentence(f"{phrases.metric(metric)}: nothing was asked")
    return phrases.sentence(f"{phrases.metric(metric)}: {', '.join(told)}")


def _share(row: LabelCurveRow, largest: int) -> str:
    gain = f"{row.q or 0:.0%} of what {largest} votes gain over one"
    if row.unc.estimate is None:
        return f"{gain}: {row.unc.reason}"
    low, high = row.unc.low, row.unc.high
    about = f"{gain} is expected from about {row.unc.estimate:.3g} votes"
    if low is None or high is None:
        return about
    if high - low < ROUNDING * high:
        return f"{about}, whatever the law"
    return f"{about} [{low:.3g}, {high:.3g}]"


def _law(result: LabelCurveResult) -> tuple[str, ...]:
    """Which law it was, and what its intervals are about."""
    return tuple(phrases.sentence(note.message) for note in result.notes if note.code == "model")
