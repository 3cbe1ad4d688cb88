"""Moments by listing states, against full enumeration in plain loops."""

import math

import numpy as np
import pytest

from saturation.errors import UsageError
from saturation.resampling import exact_states
from saturation.resampling.exact_cells import prepare
from saturation.resampling.exact_moments import Additive, Draw, additive_moments
from saturation.resampling.exact_states import count_states, list_states, state_moments
from tests import naive

COUNTS = np.array([[3, 2, 1], [0, 4, 3], [6, 0, 0], [2, 3, 1], [1, 1, 5], [1, 2, 3]])
DRAWS = [Draw("all", 3), Draw("all", 6), Draw("plug_in", 4), Draw("rest", 2), Draw("rest", 5), Draw("disjoint", 2, 3),
         Draw("disjoint", 3, 3), Draw("disjoint", 1, 1)]  # fmt: skip


def distance(drawn, reference):
    gap = drawn / drawn.sum(axis=1, keepdims=True) - reference / reference.sum(axis=1, keepdims=True)
    return np.sqrt((gap**2).sum(axis=1))


def slow_distance(drawn, reference):
    return math.sqrt(sum((x / sum(drawn) - y / sum(reference)) ** 2 for x, y in zip(drawn, reference, strict=True)))


def first_label(drawn, reference):
    """Not symmetric: which label it is matters."""
    return drawn[:, 0] * 1.0 - reference[:, 1]


@pytest.mark.parametrize("draw", DRAWS, ids=str)
def test_moments_equal_full_enumeration(draw):
    symmetric = state_moments(COUNTS, draw, [distance])
    plain = state_moments(COUNTS, draw, [distance, first_label], symmetric=False)
    for item, row in enumerate(COUNTS):
        slow = naive.draw_moments(row, slow_distance, draw.reference, draw.budget, draw.reference_size)
        for found in (symmetric, plain):
            assert found.mean[0, item] == pytest.approx(slow[0], abs=1e-12)
            assert found.variance[0, item] == pytest.approx(slow[1], abs=1e-12)
        slow = naive.draw_moments(row, lambda x, y: x[0] - y[1], draw.reference, draw.budget, draw.reference_size)
        assert plain.mean[1, item] == pytest.approx(slow[0], abs=1e-12)
        assert plain.variance[1, item] == pytest.approx(slow[1], abs=1e-11)


@pytest.mark.parametrize("draw", DRAWS, ids=str)
def test_states_and_pairs_agree_on_an_additive_statistic(draw):
    def brier(drawn, reference):
        return distance(drawn, reference) ** 2

    by_pairs = additive_moments(prepare(COUNTS), draw, [Additive(lambda m, h: (m - h) ** 2)])
    by_states = state_moments(COUNTS, draw, [brier])
    np.testing.assert_allclose(by_states.mean, by_pairs.mean, atol=1e-13)
    np.testing.assert_allclose(by_states.variance, by_pairs.variance, atol=1e-13)


def test_states_are_complete_and_bounded():
    for replace in (False, True):
        states = list_states(COUNTS, 4, replace=replace)
        found = np.bincount(states.row, minlength=len(COUNTS))
        assert (found <= count_states(COUNTS, 4, replace=replace)).all()
        np.testing.assert_allclose(np.bincount(states.row, states.probability), 1.0)
        assert (states.drawn.sum(axis=1) == 4).all()
        for row, drawn, p in zip(states.row, states.drawn, states.probability, strict=True):
            exact = naive.probability_of_draw(tuple(map(int, COUNTS[row])), tuple(map(int, drawn)), replace)
            assert p == pytest.approx(float(exact), abs=1e-14)
    # three labels with enough votes: (4 + 2)(4 + 1)/2 = 15 states
    assert count_states(np.array([[9, 9, 9]]), 4, replace=False)[0] == 15


@pytest.mark.parametrize("draw", [Draw("all", 3), Draw("rest", 3), Draw("disjoint", 2, 3), Draw("plug_in", 3)], ids=str)
def test_too_many_states_are_left_to_monte_carlo(monkeypatch, draw):
    monkeypatch.setattr(exact_states, "MAX_STATES", 0)
    assert not state_moments(COUNTS, draw, [distance]).listed.any()


@pytest.mark.parametrize("draw", [Draw("all", 3), Draw("disjoint", 2, 2)], ids=str)
def test_a_limit_on_all_items_together_takes_those_with_few_states_first(draw):
    """The unanimous item has 1 state of 3 labels (times 1 split): 3 cells. The others have more."""
    whole = state_moments(COUNTS, draw, [distance])
    some = state_moments(COUNTS, draw, [distance], limit=3)
    assert whole.listed.all()
    assert some.listed.tolist() == [False, False, True, False, False, False]
    assert some.mean[0, 2] == whole.mean[0, 2]
    more = state_moments(COUNTS, draw, [distance], limit=30)
    assert 1 < more.listed.sum() < 4
    np.testing.assert_allclose(more.mean[:, more.listed], whole.mean[:, more.listed], atol=1e-14)
    np.testing.assert_allclose(more.variance[:, more.listed], whole.variance[:, more.listed], atol=1e-14)


def test_labels_without_votes_cost_nothing_and_change_nothing():
    wide = np.concatenate(
        [np.zeros((len(COUNTS), 4), dtype=int), COUNTS, np.zeros((len(COUNTS), 93), dtype=int)], axis=1
    )
    narrow, states = list_states(COUNTS, 4, replace=True), list_states(wide, 4, replace=True)
    assert states.drawn.shape[1] == 100
    assert (states.drawn[:, 4:7] == narrow.drawn).all()
    assert (states.probability == narrow.probability).all()
    rows, row = exact_states.distinct_rows(wide, symmetric=False)
    assert (rows[row] == wide).all()


def test_blocks_do_not_change_a_bit(monkeypatch):
    whole = state_moments(COUNTS, Draw("disjoint", 2, 3), [distance])
    monkeypatch.setattr(exact_states, "CELLS_A_BLOCK", 1)
    pieces = state_moments(COUNTS, Draw("disjoint", 2, 3), [distance])
    assert (whole.mean == pieces.mean).all()
    assert (whole.variance == pieces.variance).all()


def test_too_few_votes_is_an_error():
    with pytest.raises(UsageError, match="too few"):
        state_moments(COUNTS, Draw("rest", 6), [distance])
