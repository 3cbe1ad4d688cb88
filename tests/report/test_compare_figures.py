"""Figures and tables of comparisons: every row is drawn where its numbers are, and says what it found."""

from __future__ import annotations

import pytest

from saturation.analyses.comparing.comparison import compare
from saturation.errors import UsageError
from saturation.report.compare_figures import BETTER
from saturation.report.compare_figures import compare as draw
from saturation.report.output import as_table
from tests.analyses.test_comparison import panel_of


@pytest.fixture(scope="module")
def result():
    panel = panel_of(n_seeds=2, n_conditions=3, noise=(0.2, 0.9, 0.2))
    kwargs = {"metrics": ["kl", "tvd", "entropy_bias"], "tests": [], "n_resamples": 99}
    return compare(panel, a="kind=first", b=["kind=other", "kind=third"], **kwargs)


def lines_of(ax):
    return [line for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 2]


def test_every_interval_is_drawn_in_percent(result):
    ax = draw(result)
    rows = [row for row in result.rows if row.quantity == "relative_change"]
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        f"{row.metric} vs kind={row.b.rpartition('=')[2]}" for row in rows
    ]
    drawn = {float(line.get_ydata()[0]): list(line.get_xdata()) for line in lines_of(ax)[1:]}
    for place, row in enumerate(rows):
        if row.unc.low is not None:
            assert drawn[place] == pytest.approx([100 * row.unc.low, 100 * row.unc.high])


def test_colours_say_what_was_found(result):
    ax = draw(result, metric="kl")
    rows = [row for row in result.rows if row.quantity == "difference" and row.metric == "kl"]
    assert rows[0].favours == "a"
    drawn = {float(line.get_ydata()[0]): line.get_color() for line in lines_of(ax)[1:]}
    assert [drawn[place] for place in range(len(rows))] == [BETTER[row.favours][0] for row in rows]
    with pytest.raises(UsageError, match="was not compared"):
        draw(result, metric="jsd")


def test_one_table_with_relative_change_and_cells_won(result):
    table = as_table(result, width=140)
    said, first = table.split("\n\n")[:2]
    assert said.startswith("[b: ")  # what may be concluded comes first
    assert "relative change" in first
    assert "cells won" in first
    assert "2/2" in first
    assert "relative_change" not in table
    assert "[b: kind=other] kl:" in table
    assert "sentence" not in table
