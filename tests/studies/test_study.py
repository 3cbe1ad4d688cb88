"""A whole study: what is compared with what, one family of tests, kept results, and words for what is missing."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import numpy as np
import pytest

import saturation as sat
from saturation.analyses.comparing.comparison import compare
from saturation.analyses.heldout.heldout import heldout
from saturation.conditions import Condition
from saturation.errors import UsageError
from saturation.report.study_page import page
from saturation.results import AcrossRow, AdviceRow, EvaluateResult, EvaluateRow, MainRow, MurphyResult, Uncertainty
from saturation.results.stored import dump, load
from saturation.studies import study_tables
from saturation.studies.kept import Kept, fingerprint, key_of
from saturation.studies.study import of_model, study
from saturation.tables.builders import votes_from_counts
from saturation.tables.panel import Ballots
from tests.analyses.test_across import of, two_models

OPTIONS = {"metrics": ("kl", "brier"), "n_resamples": 50}
COND = ["condition", "model", "method", "budget", "strength", "alpha"]
UNC = ["estimate", "low", "high", "se", "level", "interval", "estimator", "design", "n_resamples", "n_items", "n_cells",
       "reason"]  # fmt: skip


@pytest.fixture(scope="module")
def panel():
    return two_models(n_items=40)


@pytest.fixture(scope="module")
def other():
    return of_model(two_models(seed=1, n_items=40), "m")


@pytest.fixture(scope="module")
def result(panel, other):
    return study({"one": panel, "two": other}, cost_per_vote=0.5, cost_per_item=2.0, **OPTIONS)


def test_the_keys_of_every_table(result):
    tables = result.tables()
    assert list(tables["main"][0]) == [
        "data", "metric", *COND, "direction", *UNC, "cell_sd", "against", "difference", "difference_low",
        "difference_high", "difference_reason", "p", "p_adjusted", "adjustment", "family_size", "favours", "wins",
        "losses", "ties", "n_cells_compared",
    ]  # fmt: skip
    assert list(tables["across"][0]) == [
        "quantity", "metric", "data", "model", "curve", "data_b", "model_b", "curve_b", "budget", "baseline",
        "direction", "paired", *UNC, "simultaneous_low", "simultaneous_high", "p", "p_adjusted", "family_size",
    ]  # fmt: skip
    assert list(tables["advice"][0]) == [
        "data", "model", "curve", "metric", "quantity", "budget", "budget_next", "baseline", "q", "direction", *UNC,
        "p", "censored", "cost", "cost_next", "per_cost", "per_cost_low", "per_cost_high",
    ]  # fmt: skip
    for rows in tables.values():
        assert all(list(row) == list(rows[0]) for row in rows)
    json.dumps(result.to_dict(), allow_nan=False)


def test_every_number_has_an_interval_or_a_reason(result):
    for rows in result.tables().values():
        for row in rows:
            assert row["estimate"] is not None or row["reason"] or row["censored"], row
            assert row["low"] is not None or row["reason"], row
    for row in result.main:
        assert (row.difference_low is None) == (row.difference_reason is not None)


def test_each_model_and_data_set_has_its_report(result):
    assert [(part.data, part.model) for part in result.parts] == [("one", "m"), ("one", "n"), ("two", "m")]
    for part in result.parts:
        assert {row.model for row in part.report.sections["curve"].rows} == {part.model}
        assert list(part.report.sections)[:3] == ["curve", "evaluate", "murphy"]


def test_main_rows_are_conditions_minus_hard_labels_of_their_model(result, panel):
    row = next(r for r in result.main if (r.data, r.metric, r.condition) == ("one", "brier", of("n", budget=3)))
    alone = compare(panel, a="model=n,method=soft,budget=3", b="model=n,method=hard", metrics=("brier",), tests=())
    difference, won = alone.rows[0], next(r for r in alone.rows if r.quantity == "wins")
    assert row.against == "model=n,method=hard"
    assert (row.difference, row.difference_low, row.difference_high) == pytest.approx(
        (difference.unc.estimate, difference.unc.low, difference.unc.high), rel=1e-9
    )
    assert row.difference == pytest.approx(
        row.unc.estimate
        - next(
            r.unc.estimate for r in result.main if (r.data, r.metric, r.condition) == ("one", "brier", of("n", "hard"))
        )
    )
    assert (row.wins, row.losses, row.ties, row.n_cells_compared) == (won.wins, won.losses, won.ties, won.n_pairs)
    assert row.favours == "condition"  # Brier is better when lower


def test_p_is_adjusted_over_every_data_set_and_model(result):
    tested = [row for row in result.main if row.p is not None]
    assert len(tested) == 3 * 4 * 2  # parts x conditions but the baseline x metrics
    assert {row.family_size for row in tested} == {24}
    so_far = 0.0
    for place, row in enumerate(sorted(tested, key=lambda r: r.p)):
        so_far = max(so_far, min((24 - place) * row.p, 1.0))
        assert row.p_adjusted == pytest.approx(so_far, rel=1e-9)
        assert (row.favours is not None) == (so_far < 0.05)
    paired = [row for row in result.across if row.quantity == "fraction_difference" and row.paired]
    assert {row.family_size for row in paired} == {3 * 2}  # budgets below the ceiling x metrics


def test_the_baseline_can_be_chosen(panel):
    found = study({"one": panel}, against="method=soft,budget=1", **OPTIONS)
    hard = next(row for row in found.main if (row.metric, row.condition) == ("kl", of("m", "hard")))
    itself = next(row for row in found.main if (row.metric, row.condition) == ("kl", of("m", budget=1)))
    assert (hard.against, hard.favours, hard.difference > 0) == ("model=m,method=soft,budget=1", "baseline", True)
    assert (itself.difference, itself.difference_reason) == (None, study_tables.IS_BASELINE)
    with pytest.raises(UsageError, match="no condition matches"):
        study({"one": panel}, against="method=soft,budget=7", **OPTIONS)


def test_a_baseline_shares_every_column_that_does_not_describe_the_target():
    known = tuple(
        Condition.of(model="m", corpus=corpus, **target)
        for corpus in ("x", "y")
        for target in ({"method": "hard"}, {"method": "soft", "budget": 3})
    )
    pairs = study_tables.against_baseline(known, None)
    assert [(a.get("corpus"), a.method, b.get("corpus"), b.method) for a, b in pairs] == [
        ("x", "soft", "x", "hard"), ("y", "soft", "y", "hard"),
    ]  # fmt: skip
    assert len(study_tables.against_baseline(known, "method=hard")) == 2


def test_models_are_paired_on_one_data_set_and_data_sets_are_independent(result):
    pairs = {(r.data, r.model, r.data_b, r.model_b, r.paired) for r in result.across}
    assert pairs == {
        ("one", "m", "one", "n", True), ("one", "m", "two", "m", False), ("one", "n", "two", "m", False),
    }  # fmt: skip
    assert not [r for r in result.across if not r.paired and (r.quantity == "value_difference" or r.p is not None)]


def test_a_model_is_compared_with_itself_where_both_data_sets_have_several(panel):
    rows = study({"one": panel, "two": two_models(seed=1, n_items=40)}, **OPTIONS).across
    assert {(r.model, r.model_b) for r in rows if not r.paired} == {("m", "m"), ("n", "n")}


def test_costs_are_those_of_an_item_and_its_votes(result):
    step = next(r for r in result.advice if (r.quantity, r.budget, r.budget_next) == ("next_step", 3, 10))
    assert (step.cost, step.cost_next) == (2 + 3 * 0.5, 2 + 10 * 0.5)
    assert step.per_cost == pytest.approx(step.unc.estimate / 3.5, rel=1e-12)
    assert (step.per_cost_low, step.per_cost_high) == pytest.approx((step.unc.low / 3.5, step.unc.high / 3.5))
    free = study({"one": of_model(two_models(n_items=40), "m")}, **OPTIONS).advice
    assert {(row.cost, row.per_cost) for row in free} == {(None, None)}


def test_n_star_of_the_advice_is_that_of_the_report(result):
    for part in result.parts:
        stars = {
            (r.metric, r.q): r.unc
            for r in part.report.sections["curve"].rows
            if r.quantity == "n_star" and r.method == "soft" and r.baseline == "hard"
        }
        own = [r for r in result.advice if (r.data, r.model, r.quantity) == (part.data, part.model, "n_star")]
        assert {(r.metric, r.q): r.unc for r in own} == stars


def test_without_a_curve_there_is_a_main_table_and_no_advice():
    conditions = (of("m", "hard"), of("m", budget=40), of("n", budget=3))
    found = study({"one": two_models(n_items=40, conditions=conditions)}, **OPTIONS)
    assert (found.across, found.advice) == ((), ())
    reasons = {str(row.condition): row.difference_reason for row in found.main}
    assert reasons["model=n,method=soft,budget=3"] == study_tables.NO_BASELINE
    assert reasons["model=m,method=soft,budget=40"] is None


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"cost_per_vote": 1.0}, "both the cost of a vote and the cost of an item"),
        ({"cost_per_vote": -1.0, "cost_per_item": 0.0}, "the cost of one vote is -1"),
        ({"ceiling": "asymptote"}, "name a condition as the ceiling"),
        ({"votes": {"elsewhere": None}}, "'elsewhere', which has no panel"),
    ],
)
def test_contradictions_are_refused(panel, more, message):
    with pytest.raises(UsageError, match=message):
        study({"one": panel}, **OPTIONS, **more)


def test_no_data_set_is_refused():
    with pytest.raises(UsageError, match="no data set"):
        study({})


def degenerate():
    """Studies in which something does not exist."""
    panel = two_models(n_items=24)
    counts = panel.votes.counts
    unanimous, single = np.zeros_like(counts), np.zeros_like(counts)
    unanimous[:, 0] = 40
    single[np.arange(24), np.arange(24) % 3] = 1
    return {
        "one item": two_models(n_items=1, splits=1, n_seeds=1),
        "unanimous": replace(panel, votes=replace(panel.votes, counts=unanimous)),
        "one vote an item": replace(panel, votes=replace(panel.votes, counts=single)),
        "constant models": replace(panel, probs=tuple(probs * 0 + 1 / 3 for probs in panel.probs)),
    }


@pytest.mark.parametrize("name", ["one item", "unanimous", "one vote an item", "constant models"])
def test_what_does_not_exist_is_a_reason_and_the_page_is_made(name):
    found = study({"d": degenerate()[name]}, metrics=("kl", "entropy_correlation"), n_resamples=50)
    for rows in found.tables().values():
        assert rows
        for row in rows:
            assert row["estimate"] is not None or row["reason"] or row["censored"], row
            assert row["low"] is not None or row["reason"], row
    json.dumps(found.to_dict(), allow_nan=False)
    assert 'id="main"' in page(found, {(part.data, part.model): "x" for part in found.parts})


def test_threads_change_no_number(panel):
    one, two = (study({"one": panel}, threads=threads, **OPTIONS) for threads in (1, 2))
    assert one.tables() == two.tables()


# --- results that are kept --------------------------------------------------------------------------------------------


def test_an_interrupted_study_goes_on_where_it_stopped(panel, tmp_path, monkeypatch):
    whole = study({"one": panel}, **OPTIONS)
    said = []

    def stop(text):
        said.append(text)
        if text == "one: every condition against its baseline":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study({"one": panel}, kept=Kept(tmp_path, stop), **OPTIONS)
    done = len(list(tmp_path.glob("*.json")))
    assert done == len(said) - 1 - 1  # the labels' curve is one for both models, and the last one was not made

    def refuse(*_args, **_options):
        raise AssertionError("what is there is not made again")

    monkeypatch.setattr("saturation.analyses.curve.saturation.saturation_curve", refuse)
    again = study({"one": panel}, kept=Kept(tmp_path), **OPTIONS)
    assert again == whole


def test_kept_results_are_found_by_everything_they_depend_on(panel, other):
    one = key_of("curve", {"data": fingerprint(panel), "q": (0.9,)})
    assert one == key_of("curve", {"data": fingerprint(panel), "q": (0.9,)})
    assert one != key_of("curve", {"data": fingerprint(other), "q": (0.9,)})
    assert one != key_of("curve", {"data": fingerprint(panel), "q": (0.95,)})
    assert one != key_of("evaluate", {"data": fingerprint(panel), "q": (0.9,)})
    votes = panel.votes
    changed = votes.counts.copy()
    changed[0, 0] += 1
    grouped = replace(votes, groups={"source": ("a",) * len(votes.item_ids)})
    probs = tuple(p.copy() for p in panel.probs)
    probs[0][0, 0, 0] = probs[0][0, 0, 0, ::-1]
    found = {
        fingerprint(one)
        for one in (
            panel, replace(panel, votes=replace(votes, counts=changed)), replace(panel, votes=grouped),
            replace(panel, probs=probs), replace(panel, has_draws=False), replace(panel, splits=("x", "y")),
        )
    }  # fmt: skip
    assert len(found) == 6


def test_who_voted_and_in_which_pool_is_part_of_a_table():
    ballots = Ballots(("a", "b"), np.array([0, 0]), np.array([0, 1]), np.array([0, 1]))
    votes = replace(votes_from_counts([[1, 1]]), ballots=ballots)
    pools = {"train": np.array([[1, 0]]), "heldout": np.array([[0, 1]])}
    found = {
        fingerprint(one)
        for one in (
            votes, replace(votes, ballots=None), replace(votes, pools=pools), replace(votes, majority=np.array([0])),
            replace(votes, ballots=replace(ballots, annotator_ids=("a", "c"))),
            replace(votes, ballots=replace(ballots, pool=np.array([0, 1]))),
        )
    }  # fmt: skip
    assert len(found) == 6
    assert fingerprint(votes) == fingerprint(replace(votes, counts=votes.counts.copy()))


def test_votes_with_pools_are_also_scored_against_those_held_out():
    panel = of_model(two_models(n_items=40), "m")
    counts = panel.votes.counts
    pools = {"train": counts - counts // 4, "heldout": counts // 4}
    known = replace(panel, votes=replace(panel.votes, pools=pools))
    (part,) = study({"one": known}, **OPTIONS).parts
    direct = heldout(known, metrics=OPTIONS["metrics"])
    assert [row.unc for row in part.report.sections["heldout"].rows] == [row.unc for row in direct.rows]
    (without,) = study({"one": panel}, **OPTIONS).parts
    assert "heldout" not in without.report.sections


def test_changed_code_is_another_key(monkeypatch):
    before = key_of("curve", {})
    monkeypatch.setattr("saturation.studies.kept._code", lambda: "other")
    assert key_of("curve", {}) != before


def test_results_come_back_bit_by_bit(result):
    for part in result.parts:
        for made in part.report.sections.values():
            assert load(dump(made)) == made
            assert load(dump(made)).to_dict() == made.to_dict()
    murphy = result.parts[0].report.sections["murphy"]
    assert isinstance(murphy, MurphyResult)
    assert murphy.diagram


def test_conditions_with_free_columns_come_back(result):
    rows = tuple(
        EvaluateRow(metric="kl", condition=c, direction="lower", unc=Uncertainty(0.1 + 0.2, reason="none"))
        for c in (Condition.of(model="1", corpus='a,"b"', size=3), Condition.of(model="m", budget=5, corpus="10"))
    )
    made = EvaluateResult(rows=rows, settings={"seed": 0}, data=result.parts[0].report.data)
    assert load(dump(made)) == made


def test_public_name():
    assert sat.study is study
    assert {f.name for f in fields(MainRow)} & {f.name for f in fields(AcrossRow)} & {f.name for f in fields(AdviceRow)}
