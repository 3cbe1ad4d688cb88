"""Where nothing is defined: reasons in words, never a traceback. And which items are used."""

import dataclasses

import numpy as np
import pytest

from saturation.analyses.curve.saturation import saturation_curve
from saturation.conditions import Condition
from saturation.tables.builders import panel_from_arrays
from tests.analyses.planted import (
    BLUR,
    CONDITIONS,
    HARD,
    SOFT,
    find,
    study,
    undefined_rows_have_reasons,
)


@pytest.fixture(scope="module")
def panel():
    return study()


def test_one_seed_says_so():
    made = saturation_curve(study(n_seeds=1, splits=1), metrics=["kl"])
    row = find(made, "fraction", "kl", budget=10, method="soft", baseline="hard")
    assert row.unc.estimate is not None
    assert "one seed" in row.unc.reason
    assert "one seed" in find(made, "value", "kl", budget=10).unc.reason
    assert "one seed" in find(made, "n_star", "kl", q=0.9, baseline="hard").unc.reason


def test_one_item():
    undefined_rows_have_reasons(saturation_curve(study(n_items=1, splits=1)))


def test_two_labels_and_many_labels():
    undefined_rows_have_reasons(saturation_curve(study(n_labels=2)))
    made = undefined_rows_have_reasons(
        saturation_curve(study(n_labels=200, n_items=12, n_seeds=2, splits=1), metrics=["kl", "tvd", "accuracy"])
    )
    assert find(made, "fraction", "kl", budget=10, method="soft", baseline="hard").unc.estimate is not None


def test_unanimous_items():
    one = study()
    counts = np.zeros_like(one.votes.counts)
    counts[:, 0] = 40
    made = undefined_rows_have_reasons(
        saturation_curve(dataclasses.replace(one, votes=dataclasses.replace(one.votes, counts=counts)))
    )
    row = find(made, "fraction", "entropy_correlation", budget=10, method="soft", baseline="hard")
    assert row.unc.estimate is None
    assert "entropy" in row.unc.reason or "constant" in row.unc.reason


def test_baseline_with_constant_entropy_is_a_reason():
    base = Condition.of(model="m", method="base_rate")
    BLUR[base] = 0.0
    one = study(conditions=(*CONDITIONS, base))
    at = one.conditions.index(base)
    for probs in one.probs:
        probs[at] = [0.5, 0.3, 0.2]
    made = saturation_curve(one, metrics=["kl", "entropy_correlation"])
    assert find(made, "fraction", "kl", budget=10, method="soft", baseline="base_rate").unc.estimate is not None
    row = find(made, "fraction", "entropy_correlation", budget=10, method="soft", baseline="base_rate")
    assert row.unc.estimate is None
    assert "method=base_rate" in row.unc.reason


def test_baseline_equal_to_the_ceiling():
    one = study()
    hard, top = one.conditions.index(HARD), one.conditions.index(SOFT[3])
    for probs in one.probs:
        probs[hard] = probs[top]
    made = undefined_rows_have_reasons(saturation_curve(one))
    assert find(made, "fraction", "kl", budget=10, method="soft", baseline="hard").unc.estimate is None


def test_signed_metrics_have_values_and_no_fraction(panel):
    made = saturation_curve(panel, metrics=["entropy_bias"])
    assert {r.quantity for r in made.rows} == {"value", "fraction"}
    assert all(r.unc.estimate is None and r.unc.reason for r in made.rows if r.quantity == "fraction")


def test_points_only():
    made = saturation_curve(study(conditions=(HARD, SOFT[3])), metrics=["kl"])
    assert any(note.code == "no_curve" for note in made.notes)
    assert {r.quantity for r in made.rows} <= {"value", "shortfall", "fraction"}


def test_all_metrics_at_once(panel):
    made = undefined_rows_have_reasons(
        saturation_curve(study(n_items=15, votes=10, splits=1), metrics=["all"], baselines=["hard"])
    )
    assert len({r.metric for r in made.rows}) > 25


# --- item sets ----------------------------------------------------------------------------------------------------


def ragged(short):
    one = study()
    counts = one.votes.counts.copy()
    for item in range(short):
        kept = np.zeros(3, dtype=np.int64)
        kept[:] = (3, 2, 1)
        counts[item] = kept
    return dataclasses.replace(one, votes=dataclasses.replace(one.votes, counts=counts))


def test_one_item_set_for_the_whole_curve():
    one = ragged(6)
    used = np.unique(np.concatenate(one.items_of_split))
    made = saturation_curve(one, metrics=["kl"])
    assert {r.unc.n_items for r in made.rows} == {int((used >= 6).sum())}
    assert "item_set" in {n.code for n in made.notes}


def test_items_stay_where_the_votes_cannot_be_those_of_the_budgets():
    one = ragged(40)
    used = np.unique(np.concatenate(one.items_of_split))
    made = saturation_curve(one, metrics=["kl"])
    assert {r.unc.n_items for r in made.rows} == {len(used)}
    assert "ragged_all_items" in {n.code for n in made.notes}


def test_per_budget_items_come_with_a_warning():
    one = ragged(6)
    used = np.unique(np.concatenate(one.items_of_split))
    made = saturation_curve(one, metrics=["kl"], ragged="per-budget")
    assert "ragged_per_budget" in {n.code for n in made.notes}
    assert find(made, "value", "kl", budget=3, method="soft").unc.n_items == len(used)
    assert find(made, "value", "kl", budget=10, method="soft").unc.n_items == int((used >= 6).sum())


def test_panel_from_arrays_goes_through():
    rng = np.random.default_rng(2)
    counts = rng.multinomial(10, [0.5, 0.5], 20)
    probs = rng.dirichlet([2, 2], (2, 20))
    made = saturation_curve(
        panel_from_arrays(probs, counts, conditions=[{"method": "soft", "budget": 1}, {"method": "soft", "budget": 9}])
    )
    assert find(made, "value", "kl", budget=9).unc.estimate is not None
