"""Pairs of conditions as one family: the rows are those of single comparisons, the adjustment is over all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from saturation.analyses.comparing.comparison import compare, compare_pairs
from saturation.conditions import Condition
from saturation.errors import UsageError
from tests.analyses.test_comparison import panel_of

PAIRS = [("kind=first", "kind=other"), ("kind=third", "kind=first")]
OPTIONS = {"metrics": ["kl", "tvd"], "tests": [], "n_resamples": 99}


@pytest.fixture(scope="module")
def panel():
    return panel_of(n_seeds=2, n_conditions=3, noise=(0.2, 0.25, 0.2))


def differences(result):
    return [row for row in result.rows if row.quantity == "difference"]


def test_every_pair_has_the_numbers_of_its_own_comparison(panel):
    together = differences(compare_pairs(panel, PAIRS, **OPTIONS))
    for a, b in PAIRS:
        for alone in differences(compare(panel, a=a, b=b, **OPTIONS)):
            (row,) = [r for r in together if (r.metric, r.a, r.b) == (alone.metric, alone.a, alone.b)]
            assert (row.unc, row.p) == (alone.unc, alone.p)


def test_the_family_is_all_pairs_and_metrics(panel):
    rows = differences(compare_pairs(panel, PAIRS, **OPTIONS))
    assert [row.family_size for row in rows] == [4] * 4
    raw = sorted(row.p for row in rows)
    by_hand, so_far = {}, 0.0
    for place, p in enumerate(raw):  # Holm: (4 - place) p, never below the step before
        so_far = max(so_far, min((4 - place) * p, 1.0))
        by_hand[p] = so_far
    assert [row.p_adjusted for row in rows] == pytest.approx([by_hand[row.p] for row in rows], rel=1e-12)


def test_turning_a_pair_round_changes_the_sign_alone(panel):
    one, other = (differences(compare_pairs(panel, [pair], **OPTIONS))[0] for pair in (PAIRS[0], PAIRS[0][::-1]))
    assert other.unc.estimate == pytest.approx(-one.unc.estimate, rel=1e-12)
    assert (other.unc.low, other.unc.high) == pytest.approx((-one.unc.high, -one.unc.low), rel=1e-12)
    assert other.p == pytest.approx(one.p, rel=1e-9)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "pairs is empty"),
        ([("kind=first", "kind=first")], "are the same condition"),
        ([PAIRS[0], PAIRS[0]], "is named twice"),
        ([("kind=first", "kind=none")], "no condition matches"),
    ],
)
def test_pairs_that_say_nothing_are_refused(panel, pairs, message):
    with pytest.raises(UsageError, match=message):
        compare_pairs(panel, pairs, **OPTIONS)


def test_a_condition_of_the_panel_names_itself_even_where_its_text_fits_others(panel):
    first, _, third = panel.conditions
    wider = replace(panel, conditions=(first, Condition((*first.values, ("budget", 5))), third))
    (row, *_) = differences(compare_pairs(wider, [(first, third)], **OPTIONS))
    assert row.unc == differences(compare_pairs(panel, [(first, third)], **OPTIONS))[0].unc
    with pytest.raises(UsageError, match="2 conditions match"):
        compare_pairs(wider, [(str(first), third)], **OPTIONS)
