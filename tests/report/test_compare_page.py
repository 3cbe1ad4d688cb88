"""Soft labels against the baselines in a report: which pairs, what is said about them, what the tables hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from saturation.conditions import Condition, parse
from saturation.report import compare_page, parts
from saturation.report.html import page
from saturation.results import CompareResult, CompareRow, DataSummary, Uncertainty
from saturation.studies.baseline_contests import contests
from saturation.studies.report import make_report
from tests.analyses.test_across import two_models
from tests.analyses.test_evaluate import study

A, HARD, SMOOTH = "model=m,method=soft,budget=9", "model=m,method=hard", "model=m,method=smoothing,strength=0.1"
DATA = DataSummary(n_items=9, n_labels=2, n_votes=90, votes_min=10, votes_max=10)


def pair(metric, b, estimate, favours, p, relative=None):
    """The rows of one metric and b: difference, relative change, cells won."""
    unc = Uncertainty(estimate, low=estimate - 0.1, high=estimate + 0.1, level=0.95, interval="linearized_t")
    change = relative or Uncertainty(None, reason="b is not told from 0")
    shared = {"metric": metric, "a": A, "b": b}
    return [
        CompareRow(**shared, quantity="difference", unc=unc, favours=favours, p=p / 2, p_adjusted=p, adjustment="holm",
                   family_size=4),
        CompareRow(**shared, quantity="relative_change", unc=change),
        CompareRow(**shared, quantity="wins", unc=Uncertainty(0.9), wins=8, losses=0, ties=1, n_pairs=9),
    ]  # fmt: skip


def half(estimate):
    return Uncertainty(estimate, low=estimate - 0.1, high=estimate + 0.1, level=0.95, interval="fieller")


@pytest.fixture
def result():
    gone = Uncertainty(None, reason="the base rate has no entropy that varies")
    undefined = replace(pair("entropy_correlation", SMOOTH, 0.0, None, 0.5)[0], unc=gone, p=None, p_adjusted=None)
    rows = [
        *pair("kl", HARD, -0.5, "a", 0.004, half(-0.25)),
        *pair("accuracy", HARD, 0.05, None, 0.4, half(0.1)),
        *pair("kl", SMOOTH, 0.5, "b", 0.004),
        undefined,
        *pair("entropy_correlation", SMOOTH, 0.0, None, 0.5)[1:],
    ]
    return CompareResult(rows=tuple(rows), settings={"level": 0.95}, data=DATA)


def test_words_name_the_size_the_interval_and_what_was_not_found(result):
    assert compare_page.sentences(result) == (
        "soft, N = 9 against hard: better in KL divergence (−25% [−35%, −15%]); no finding in accuracy.",
        "soft, N = 9 against smoothing 0.1: worse in KL divergence (0.50 [0.40, 0.60]); "
        "not comparable in entropy correlation (see the table).",
    )


def test_caution_says_how_p_was_adjusted(result):
    said = compare_page.caution(result)
    assert "p is below 0.05 after Holm's method over 4 comparisons" in said
    assert "no evidence that two sides are equal" in said
    assert "smoothing strengths" not in said  # there is one
    plain = replace(result, rows=tuple(replace(r, adjustment="none") for r in result.rows))
    assert "Holm" not in compare_page.caution(plain)


def test_several_strengths_are_not_a_fair_opponent(result):
    more = [replace(r, b=SMOOTH.replace("0.1", "0.2")) for r in result.rows if r.b == SMOOTH and r.metric == "kl"]
    assert "a bound, not a fair opponent" in compare_page.caution(replace(result, rows=(*result.rows, *more)))


def test_tables_hold_differences_adjusted_p_and_cells_won(result):
    grid = compare_page.differences_grid(result)
    assert grid.head == ("a against b", "KL divergence (nats) ↓", "Accuracy ↑", "Entropy correlation ↑")
    (_, hard), (_, smooth) = grid.rows
    assert (hard[0].text, hard[0].strong, hard[1].strong) == ("−0.50 [−0.60, −0.40]", True, False)
    assert smooth[0].text == "0.50 [0.40, 0.60] (b better)"
    assert (smooth[2].text, grid.notes[smooth[2].note - 1]) == (
        "undefined", "The base rate has no entropy that varies.")  # fmt: skip
    tests = compare_page.tests_grid(result)
    assert tests.rows[0][1][0].text == "p = .004, 8/9 (1 tied)"
    assert tests.folded


def test_pairs_are_the_largest_soft_budget_and_the_baselines_of_its_model():
    def of(model, **more):
        return Condition.of(model=model, **more)

    known = (
        of("m", method="base_rate"), of("m", method="hard"), of("m", method="hard", budget=9),
        of("m", method="smoothing", strength=0.1), of("m", method="soft", budget=3), of("m", method="soft", budget=9),
        of("n", method="hard"), of("n", method="soft", budget=5), of("o", method="soft", budget=5),
    )  # fmt: skip
    found = [(a.model, a.budget, b.model, b.method, b.budget) for a, b in contests(known)]
    assert found == [
        ("m", 9, "m", "hard", None), ("m", 9, "m", "smoothing", None), ("m", 9, "m", "base_rate", None),
        ("n", 5, "n", "hard", None),
    ]  # fmt: skip


def test_the_report_has_the_comparison_as_section_table_and_figure():
    conditions = (
        Condition.of(model="m", method="hard"),
        Condition.of(model="m", method="soft", budget=2),
        Condition.of(model="m", method="soft", budget=10),
    )
    panel = replace(study(n_conditions=3, n_items=40), conditions=conditions)
    report = make_report(panel.votes, panel, metrics=("kl", "accuracy"), n_resamples=50)
    compared = report.sections["compare"]
    assert {(row.a, row.b) for row in compared.rows} == {(str(conditions[2]), str(conditions[0]))}
    assert 'id="compare"' in page(report)
    assert "compare" in parts.report_tables(report)
    titles = [ax.get_title(loc="left") for ax in parts.report_figures(report)["compare"].axes if ax.get_visible()]
    assert titles == ["kl", "accuracy"]


def test_several_models_are_compared_each_with_its_own_baselines_in_one_family():
    panel = two_models(n_items=40)
    compared = make_report(panel.votes, panel, metrics=("kl",), n_resamples=50).sections["compare"]
    assert compare_page.sentences(compared)[0].startswith("m, soft, N = 40 against m, hard: ")
    assert {(parse(r.a)[0].model, parse(r.b)[0].model) for r in compared.rows} == {("m", "m"), ("n", "n")}
    assert {r.family_size for r in compared.rows if r.quantity == "difference"} == {2}
    figure = compare_page.compare_figure(compared)
    assert len([ax for ax in figure.axes if ax.get_visible()]) == 2


def test_without_a_baseline_there_is_no_such_section():
    conditions = tuple(Condition.of(model="m", method="soft", budget=b) for b in (2, 10))
    panel = replace(study(n_conditions=2, n_items=40), conditions=conditions)
    report = make_report(panel.votes, panel, metrics=("kl",), n_resamples=50)
    assert "compare" not in report.sections
    assert 'id="compare"' not in page(report)
