"""The decomposition in a report: its table, its words, its figure, its files."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from saturation.analyses.murphy.decomposition import murphy
from saturation.conditions import Condition
from saturation.report import html, murphy_page, parts
from saturation.report.folder import write_report
from saturation.results import MurphyResult
from saturation.studies.report import make_report
from tests.analyses.test_evaluate import study

CONDITIONS = (
    Condition.of(model="m", method="hard"),
    Condition.of(model="m", method="hard", budget=5),
    Condition.of(model="m", method="soft", budget=2),
    Condition.of(model="m", method="soft", budget=10),
    Condition.of(model="m", method="soft", budget=50),
)


@pytest.fixture(scope="module")
def panel():
    return replace(study(n_conditions=5, n_items=60), conditions=CONDITIONS)


@pytest.fixture(scope="module")
def result(panel) -> MurphyResult:
    return murphy(panel, outcome="soft", versus="budget=50")


def test_hard_and_the_ends_of_the_soft_curve_are_drawn(result):
    assert murphy_page.headline_conditions(result) == (CONDITIONS[0], CONDITIONS[2], CONDITIONS[4])
    figure = murphy_page.reliability_figure(result)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["hard", "soft, N = 2", "soft, N = 50"]
    others = murphy(study(n_conditions=4, n_items=30), outcome="soft")
    assert len(murphy_page.headline_conditions(others)) == 2  # soft alone: both ends


def test_the_table_has_the_corrected_terms_of_every_condition(result):
    grid = murphy_page.murphy_grid(result)
    assert [name for name, _ in grid.rows] == ["hard", "hard, N = 5", "soft, N = 2", "soft, N = 10", "soft, N = 50"]
    (row,) = [r for r in result.rows if (r.condition, r.term, r.versus) == (CONDITIONS[3], "rel_corrected", None)]
    shown = grid.rows[3][1][1].text.replace("\u2212", "-")
    assert float(shown.split(" ")[0]) == pytest.approx(row.unc.estimate, abs=0.001)
    assert grid.head[2] == "miscalibration (rel) ↓"


def test_words_say_what_cannot_be_told_from_calibrated(result):
    rows = []
    for row in result.rows:
        unc = row.unc
        if row.term == "rel_corrected" and row.versus is None:
            low = 0.01 if row.condition == CONDITIONS[0] else -0.01
            unc = replace(unc, estimate=0.02, low=low, high=0.03)
        rows.append(replace(row, unc=unc))
    first, second, _ = murphy_page.sentences(replace(result, rows=tuple(rows)))
    assert first.startswith("Hard: of a Brier score of ")
    assert "miscalibration costs 0.020 [0.010, 0.030]" in first
    assert "no miscalibration can be told from none (0.020 [−0.010, 0.030])" in second


def first_sentence(result, **terms):
    """The first condition's sentence with some terms' uncertainty replaced."""
    rows = [
        replace(row, unc=replace(row.unc, **terms[row.term]))
        if row.term in terms and row.condition == CONDITIONS[0] and row.versus is None
        else row
        for row in result.rows
    ]
    return murphy_page.sentences(replace(result, rows=tuple(rows)))[0]


def test_words_say_when_no_gain_from_telling_items_apart_is_shown(result):
    text = first_sentence(result, res_corrected={"estimate": 0.001, "low": -0.004, "high": 0.006})
    assert "no gain from telling items apart can be told from none (0.0010 [−0.0040, 0.0060])" in text
    assert "takes" not in text


def test_a_term_without_an_interval_is_not_called_indistinguishable_from_none(result):
    bare = {"estimate": 0.01, "low": None, "high": None, "interval": "none", "reason": "one item only"}
    text = first_sentence(result, rel_corrected=bare, res_corrected=bare)
    assert "told from none" not in text
    assert text.count("(no interval: one item only)") == 2


def test_undefined_terms_have_no_sentence_and_a_reason_in_the_table():
    one = murphy(replace(study(n_items=1, n_conditions=2), has_draws=True), outcome="soft")
    assert murphy_page.sentences(one) == ()
    grid = murphy_page.murphy_grid(one)
    assert grid.rows[0][1][1].text == "undefined"
    assert any("one item only" in note for note in grid.notes)


def test_a_report_holds_it(panel, tmp_path):
    report = make_report(panel.votes, panel, metrics=("brier",), n_resamples=20)
    assert list(report.sections) == ["curve", "evaluate", "murphy", "compare", "equivalents", "ceiling", "label_curve"]
    assert report.sections["murphy"].settings["outcome"] == ["soft"]
    assert "reliability" in parts.report_figures(report)
    write_report(report, tmp_path / "out")
    for name in ("tables/murphy.csv", "tables/murphy.tex", "figures/reliability.svg", "figures/reliability.pdf"):
        assert (tmp_path / "out" / name).stat().st_size > 0
    rows = json.loads((tmp_path / "out" / "results.json").read_text())["sections"]["murphy"]
    assert {row["term"] for row in rows} >= {"rel", "res_corrected", "residual"}
    page = html.page(report)
    assert 'id="murphy"' in page
    assert page.count('aria-labelledby="murphy-') == 4  # the section and three pictures


def test_numbers_that_the_report_shows_are_the_commands(panel):
    report = make_report(panel.votes, panel, metrics=("brier",), n_resamples=20)
    alone = murphy(panel, outcome="soft", n_resamples=20)
    assert [r.unc.estimate for r in report.sections["murphy"].rows] == [r.unc.estimate for r in alone.rows]
    assert np.array_equal([b.observed for b in report.sections["murphy"].diagram], [b.observed for b in alone.diagram])
