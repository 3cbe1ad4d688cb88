"""Ceilings and annotator equivalents in a report: words, tables, figures, files."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from saturation import plot
from saturation.analyses.worth.ceiling import ceiling
from saturation.analyses.worth.equivalents import equivalents
from saturation.errors import UsageError
from saturation.report import ceiling_page, equivalents_page, html
from saturation.report.equivalents_page import worth_text
from saturation.report.folder import write_report
from saturation.results import CeilingRow, EquivalentsResult, EquivalentsRow, Uncertainty
from saturation.studies.report import make_report
from saturation.tables.builders import panel_from_arrays
from tests.analyses.test_equivalents import study
from tests.report.fakes import DATA, HOSTILE


@pytest.fixture(scope="module")
def panel():
    made = study(n_items=80, worth=(1, 3, 9), n_seeds=2)
    bad = np.tile([0.05, 0.05, 0.9], (1, 2, 80, 1))
    conditions = (*made.conditions, replace(made.conditions[0], values=(("method", "hard"), ("model", "model"))))
    return replace(made, conditions=conditions, probs=(np.concatenate([made.probs[0], bad]),))


@pytest.fixture(scope="module")
def worth(panel):
    return equivalents(panel, n_resamples=20)


@pytest.fixture(scope="module")
def people(panel):
    return ceiling(panel, n_resamples=20)


def row_of(estimate=None, low=None, high=None, censored=None, **more):
    unc = Uncertainty(estimate, low=low, high=high, interval="linearized_t", level=0.95)
    facts = {"quantity": "equivalent", "reference": "disjoint", "reference_size": 5, "direction": "lower"}
    return EquivalentsRow(**{"metric": "kl", **facts, **more}, unc=unc, censored=censored)


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (row_of(6.96, 5.2, 9.1), "7 [5.2, 9.1]"),
        (row_of(6.96, 5.2), "7 [5.2, open]"),
        (row_of(censored="above", low=40.0), "> all tried [40, open]"),
        (row_of(censored="below", high=0.0), "worse than nobody"),
        (row_of(censored="below", low=0.0, high=3.21), "worse than nobody [0, 3.2]"),
        (row_of(), "undefined"),
    ],
)
def test_numbers_of_annotators_as_people_read_them(row, text):
    assert worth_text(row) == text


def test_a_sentence_says_what_is_known_and_what_is_not():
    rows = (
        row_of(7.0, 5.0, 9.0, condition="model=m,method=soft", metric="cross_entropy"),
        row_of(3.0, 2.0, 4.0, condition="model=m,method=soft", metric="entropy_correlation"),
        row_of(censored="above", low=9.0, condition="model=m,method=soft", metric="tvd"),
        row_of(censored="below", high=0.0, condition="model=m,method=soft", metric="jsd"),
        row_of(censored="below", low=0.0, high=3.0, condition="model=m,method=soft", metric="accuracy"),
        row_of(condition="model=m,method=soft", metric="dist_ece"),
    )
    (text,) = equivalents_page.sentences(EquivalentsResult(rows=rows, settings={}, data=DATA))
    assert text == (
        "Soft: worth about 7 [5, 9] annotators by cross-entropy and 3 [2, 4] by entropy correlation; beyond what these "
        "data can say by total variation distance; not told from asking nobody by accuracy; worse than asking nobody "
        "by Jensen–Shannon divergence; not known by distribution calibration error (see the table)."
    )


def test_tables_hold_the_rows(worth, people):
    grid = equivalents_page.worth_grid(worth)
    assert [name for name, _ in grid.rows] == ["soft, N = 1", "soft, N = 3", "soft, N = 9", "hard"]
    (row,) = [r for r in worth.rows if (r.quantity, r.metric, r.condition) == ("equivalent", "tvd", str(_soft(worth)))]
    column = grid.head.index("Total variation distance") - 1
    assert grid.rows[0][1][column].text == worth_text(row)
    levels = ceiling_page.ceilings_grid(people)
    assert levels.head[1:] == ("noise alone", "another crowd")
    assert [name.split(" (")[0].rstrip(" ↓↑") for name, _ in levels.rows][:2] == [
        "KL divergence",
        "Jensen–Shannon divergence",
    ]
    assert len(ceiling_page.distances_grid(people).rows) == 4


def _soft(worth):
    return next(row.condition for row in worth.rows if row.condition)


def test_distance_in_words_is_no_stronger_than_its_interval():
    def text(low, high, beats=False):
        unc = Uncertainty(0.5 * (low + high), low=low, high=high, interval="linearized_t", reason="why")
        row = CeilingRow(quantity="distance", kind="noise_only", metric="kl", direction="lower", unc=unc, beats=beats)
        return ceiling_page._away(row, 1)

    assert text(0.1, 0.3).endswith("away from the noise alone")
    assert text(-0.1, 0.3).startswith("not told from the noise alone")
    assert text(-0.3, -0.1, beats=True).startswith("better than that by")


@pytest.mark.parametrize("metric", ["cross_entropy", "entropy_correlation"])
def test_figures_draw_what_the_rows_say(worth, metric):
    ax = plot.equivalents(worth, metric=metric)
    curve = ax.get_lines()[0]
    crowd = [row for row in worth.rows if (row.quantity, row.metric) == ("crowd", metric)]
    assert list(curve.get_xdata()) == [row.crowd_size for row in crowd]
    assert list(curve.get_ydata()) == [row.unc.estimate for row in crowd]
    crossings = {
        row.unc.estimate
        for row in worth.rows
        if (row.quantity, row.metric) == ("equivalent", metric) and row.unc.estimate
    }
    drawn = {float(line.get_xdata()[0]) for line in ax.get_lines()[1:] if len(line.get_xdata()) == 1}
    assert drawn & crossings
    constant = {"hard"} if metric == "cross_entropy" else set()  # a constant model has no entropy correlation
    assert {text.get_text() for text in ax.texts} == {"soft, N = 1", "soft, N = 9"} | constant


def test_ceilings_are_levels_beside_models_and_points_alone(people, panel):
    ax = plot.ceiling(people, metric="tvd")
    levels = [r.unc.estimate for r in people.rows if (r.quantity, r.metric) == ("ceiling", "tvd")]
    vertical = [line.get_xdata()[0] for line in ax.get_lines() if list(line.get_ydata()) == [0, 1]]
    assert vertical == pytest.approx(levels)
    alone = plot.ceiling(ceiling(panel.votes, metrics=["tvd"], n_resamples=20))
    assert [text.get_text() for text in alone.get_yticklabels()] == ["noise alone", "another crowd"]


def test_unknown_metrics_and_conditions_are_named(worth, people):
    with pytest.raises(UsageError, match="no crowds by kl in this result; it has cross_entropy"):
        plot.equivalents(worth, metric="kl")
    with pytest.raises(UsageError, match="no condition 'x'"):
        plot.equivalents(worth, conditions=["x"])
    with pytest.raises(UsageError, match="no ceiling by aurc in this result"):
        plot.ceiling(people, metric="aurc")


def test_a_report_holds_both(panel, tmp_path):
    report = make_report(panel.votes, panel, metrics=("brier", "spearman", "entropy"), n_resamples=20)
    assert {row.metric for row in report.sections["ceiling"].rows} == {"brier"}  # ranks have commands of their own
    write_report(report, tmp_path / "out", repeat="saturation report")
    sections = json.loads((tmp_path / "out" / "results.json").read_text())["sections"]
    assert len(sections["equivalents"]) == len(report.sections["equivalents"].rows)
    page = (tmp_path / "out" / "index.html").read_text()
    assert 'id="equivalents"' in page
    assert 'id="ceiling"' in page
    assert (tmp_path / "out" / "tables" / "ceiling.csv").exists()
    assert (tmp_path / "out" / "figures" / "equivalents.svg").exists()
    assert "equivalents" not in make_report(panel.votes, metrics=("brier",), n_resamples=20).sections


def test_names_cannot_break_the_page():
    counts = np.random.default_rng(0).multinomial(8, [0.5, 0.3, 0.2], size=30)
    panel = panel_from_arrays(
        np.tile([0.5, 0.3, 0.2], (2, 30, 1)),
        counts,
        conditions=[{"method": "soft", "corpus": HOSTILE}, {"method": "hard"}],
    )
    report = make_report(panel.votes, panel, metrics=("brier",), n_resamples=10)
    assert HOSTILE not in html.page(report, repeat="saturation report")
