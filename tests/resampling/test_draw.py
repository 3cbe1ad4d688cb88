"""The draws themselves: exact twins, the right law, and rows that depend on (seed, resample) alone."""

from __future__ import annotations

import numpy as np
import pytest

from saturation.errors import UsageError
from saturation.resampling import draw
from saturation.streams import Purpose, uniforms
from tests import naive

# with the compiler off, the mixer's wanted overflow of unsigned words is a NumPy warning
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


@pytest.mark.parametrize("strata", [None, [1, 0, 1, 2, 1, 0, 2]])
def test_item_weights_equal_the_twin(strata):
    got = draw.item_weights(4, 5, 9, 7, None if strata is None else np.array(strata))
    assert got.tolist() == [naive.item_weights(4, b, strata or [0] * 7) for b in range(5, 9)]


def test_strata_keep_their_size():
    strata = np.array([0, 1] * 10 + [1] * 5)
    weights = draw.item_weights(0, 0, 50, 25, strata)
    assert (weights[:, strata == 0].sum(axis=1) == 10).all()
    assert (weights[:, strata == 1].sum(axis=1) == 15).all()


@pytest.mark.parametrize("at_once", [1, 7, 1 << 20])
def test_rows_do_not_depend_on_the_block(at_once, monkeypatch):
    whole = draw.item_weights(1, 0, 20, 11)
    monkeypatch.setattr(draw, "_DRAWS_AT_ONCE", at_once)
    assert (draw.item_weights(1, 0, 20, 11) == whole).all()
    assert (draw.item_weights(1, 6, 9, 11) == whole[6:9]).all()
    assert (draw.annotator_weights(1, 6, 9, 4) == draw.annotator_weights(1, 0, 20, 4)[6:9]).all()
    counts = np.array([[2, 3], [4, 1]])
    assert (draw.redraw_votes(1, 6, 9, counts) == draw.redraw_votes(1, 0, 20, counts)[6:9]).all()


def test_item_weights_are_multinomial():
    """n = 8, 20,000 resamples: each weight has mean 1, variance 7/8, covariances -1/8.

    The standard error of a variance is about sqrt(2.6 / 20,000) = .011; of a mean .0066. Five of each.
    """
    weights = draw.item_weights(2, 0, 20_000, 8)
    assert (weights.sum(axis=1) == 8).all()
    assert np.abs(weights.mean(axis=0) - 1).max() < 0.033
    expected = np.eye(8) - 1 / 8
    assert np.abs(np.cov(weights.T) - expected).max() < 0.055


def test_seed_weights_are_drawn_within_splits():
    three, two = draw.seed_weights(0, 0, 20_000, (3, 2))
    assert (three.sum(axis=1) == 3).all()
    assert (two.sum(axis=1) == 2).all()
    # P(one seed drawn twice) = 1/2 for two seeds; sd .0035
    assert abs((two[:, 0] == 1).mean() - 0.5) < 0.0177
    # splits are independent
    assert abs(np.corrcoef(three[:, 0], two[:, 0])[0, 1]) < 0.036


def test_annotator_weights_are_exponential():
    weights = draw.annotator_weights(5, 0, 3, 2)
    u = uniforms(5, Purpose.ANNOTATORS, np.arange(3)[:, None], np.arange(2))
    assert np.allclose(weights, -np.log(u), rtol=0, atol=0)
    many = draw.annotator_weights(5, 0, 50_000, 2)
    assert abs(many.mean() - 1) < 0.016  # sd 1/sqrt(1e5) = .0032
    assert abs((many > 1).mean() - np.exp(-1)) < 0.008  # sd .0015
    assert (many > 0).all()


def test_redrawn_votes_are_multinomial():
    """n = 10, h = (.5, .3, .2): means 5, 3, 2; variances 2.5, 2.1, 1.6; covariance of the first two -1.5."""
    drawn = draw.redraw_votes(0, 0, 20_000, np.array([[5, 3, 2]]))[:, 0]
    assert (drawn.sum(axis=1) == 10).all()
    assert np.abs(drawn.mean(axis=0) - [5, 3, 2]).max() < 0.056  # sd .0112
    covariance = np.cov(drawn.T)
    assert np.abs(np.diag(covariance) - [2.5, 2.1, 1.6]).max() < 0.125  # sd .025
    assert abs(covariance[0, 1] + 1.5) < 0.125


def test_subsamples_are_hypergeometric_and_disjoint():
    """4 of 10 votes (5, 3, 2): mean 4 h = 2, variance 4 * .25 * 6/9 = .6667."""
    drawn = draw.subsample(0, 0, 20_000, np.array([[5, 3, 2]]), (1, 4), reference_size=3)
    first, small = drawn.targets[:, 1, 0], drawn.targets[:, 0, 0]
    assert abs(first[:, 0].mean() - 2) < 0.029
    assert abs(first[:, 0].var() - 2 / 3) < 0.034
    assert (small <= first).all()
    assert (first + drawn.reference[:, 0] <= [5, 3, 2]).all()
    # the reference is a draw of 3 others: mean 1.5, and Cov = -4 * 3 * .25 / 9
    assert abs(drawn.reference[:, 0, 0].mean() - 1.5) < 0.028
    assert abs(np.cov(first[:, 0], drawn.reference[:, 0, 0])[0, 1] + 1 / 3) < 0.03


def test_a_smaller_set_of_budgets_draws_the_same_votes():
    counts = np.array([[5, 3, 2], [6, 6, 0]])
    few = draw.subsample(3, 0, 10, counts, (1, 3)).targets
    many = draw.subsample(3, 0, 10, counts, (1, 2, 3, 7)).targets
    assert (few == many[:, [0, 2]]).all()


@pytest.mark.parametrize("budgets", [(), (0, 1), (3, 1), (2, 2)])
def test_budgets_must_ascend(budgets):
    with pytest.raises(UsageError, match="ascending"):
        draw.subsample(0, 0, 1, np.array([[5, 5]]), budgets)


def test_too_few_votes_are_counted_in_the_message():
    with pytest.raises(UsageError, match="1 of 2 items have fewer than 6 votes"):
        draw.subsample(0, 0, 1, np.array([[5, 5], [2, 3]]), (1, 4), reference_size=2)


@pytest.mark.parametrize("counts", [[[0.5, 1.0]], [[-1, 2]], [[np.nan, 1]]])
def test_weights_are_no_votes(counts):
    with pytest.raises(UsageError, match="whole"):
        draw.redraw_votes(0, 0, 1, np.array(counts))
