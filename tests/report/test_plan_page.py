"""A plan in words, tables and pictures."""

from __future__ import annotations

import numpy as np
import pytest

import saturation as sat
from saturation.errors import UsageError
from saturation.report import plan_page
from saturation.report.plan_figures import optimum_of, widths_of
from saturation.results import ReportResult
from saturation.tables.builders import votes_from_counts

PRICES = {"cost_per_vote": 0.1, "cost_per_item": 0.5, "total": 100.0}


@pytest.fixture(scope="module")
def planned():
    draw = np.random.default_rng(4)
    counts = np.stack([draw.multinomial(8, p) for p in draw.dirichlet([1, 1, 1], 40)])
    return sat.plan(votes_from_counts(counts), **PRICES, metrics=["brier_vote", "tvd", "jsd"])


def test_one_sentence_a_metric_with_number_interval_and_doubt(planned):
    told = plan_page.sentences(planned)
    assert len(told) == 3
    best = optimum_of(planned, "brier_vote")
    assert f"{best.budget} votes on each of {best.items} items" in told[0]
    assert "95% interval" in told[0]
    assert "training" in plan_page.LEAD


def test_table_marks_the_best_design_of_each_metric(planned):
    grid = plan_page.design_grid(planned)
    best = {m: optimum_of(planned, m) for m in ("brier_vote", "tvd", "jsd")}
    for column, row in enumerate(best.values()):
        strong = [name for name, cells in grid.rows if cells[column].strong]
        assert strong == [f"{row.budget} on {row.items}"]


def test_figure_marks_the_best_number_of_votes(planned):
    ax = sat.plot.plan(planned, metric="brier_vote")
    best = optimum_of(planned, "brier_vote")
    marks = [line for line in ax.lines if line.get_marker() == "o"]
    assert [(list(line.get_xdata())) for line in marks] == [[best.budget]]
    drawn = next(line for line in ax.lines if len(line.get_xdata()) > 2)
    assert list(drawn.get_ydata()) == [row.unc.estimate for row in widths_of(planned, "brier_vote")]
    assert sat.plot.plan(planned).get_title(loc="left").startswith("Width to expect")
    with pytest.raises(UsageError, match="was not planned"):
        sat.plot.plan(planned, metric="kl")


def test_a_plan_without_numbers_says_why():
    result = sat.plan(votes_from_counts([[1, 0], [0, 1]]), **PRICES, metrics=["brier_vote"])
    assert "every item has a single vote" in plan_page.sentences(result)[0]
    assert not plan_page.design_grid(result).rows
    sat.plot.plan(result)


def test_section_only_where_there_is_a_plan(planned):
    report = ReportResult(sections={"plan": planned}, settings={}, data=planned.data)
    (section,) = plan_page.part(report)
    assert section.anchor == "plan"
    assert len(section.pictures) == 4
    assert plan_page.part(ReportResult(sections={}, settings={}, data=planned.data)) == []
