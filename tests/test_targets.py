"""Training targets by hand, on the simplex, and in step with how scoring treats ties and the base rate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from saturation import targets
from saturation.errors import UsageError
from saturation.metrics.agreement import base_rate
from saturation.metrics.majority import majority_credit
from saturation.metrics.metric import Human

COUNTS = arrays(np.int64, (6, 4), elements=st.integers(0, 5)).filter(lambda c: (c.sum(axis=1) > 0).all())


def on_the_simplex(rows):
    return rows.min() >= 0 and np.abs(rows.sum(axis=1) - 1).max() < 1e-12


@given(COUNTS)
def test_every_target_lies_on_the_simplex(counts):
    prior = targets.BaseRatePrior(np.full(4, 0.25), 1.24)
    for rows in (
        targets.hard(counts),
        targets.smoothing(targets.hard(counts), 0.3),
        targets.soft(counts),
        targets.dirichlet(counts),
        targets.dirichlet(counts, prior=prior),
        targets.base_rate(prior, 6),
    ):
        assert rows.shape == (6, 4)
        assert on_the_simplex(rows)


@pytest.mark.parametrize("rule", ["first", "last", "random", "share", "column"])
@given(counts=COUNTS, seed=st.integers(0, 50))
def test_training_and_scoring_break_ties_alike(rule, counts, seed):
    majority, items = np.array([0, 1, 2, 3, 0, 1]), np.array([3, 8, 9, 11, 40, 41])
    credit = majority_credit(Human(counts, majority=majority, items=items), ties=rule, seed=seed)
    hard = targets.hard(counts, ties=rule, seed=seed, majority=majority, items=items)
    np.testing.assert_array_equal(hard, credit)


def test_smoothing_by_hand():
    # .8 (0, 1, 0) + .2/3
    expected = [[0.2 / 3, 0.8 + 0.2 / 3, 0.2 / 3]]
    np.testing.assert_allclose(targets.smoothing(np.array([[0.0, 1.0, 0.0]]), 0.2), expected, atol=1e-15)
    with pytest.raises(UsageError, match=r"strength must lie in \[0, 1\]"):
        targets.smoothing(np.array([[1.0, 0.0]]), 1.5)


def test_dirichlet_by_hand():
    counts = np.array([[3, 1, 0], [0, 0, 0]])
    # 1/K: (3 + 1/3, 1 + 1/3, 1/3)/5; nobody voted: uniform
    np.testing.assert_allclose(targets.dirichlet(counts), [[2 / 3, 4 / 15, 1 / 15], [1 / 3] * 3], atol=1e-15)
    np.testing.assert_allclose(targets.dirichlet(counts, alpha=1), [[4 / 7, 2 / 7, 1 / 7], [1 / 3] * 3], atol=1e-15)
    prior = targets.BaseRatePrior(np.array([0.5, 0.25, 0.25]), 4.0)
    # (3 + 2, 1 + 1, 0 + 1)/8; nobody voted: the base rate
    expected = [[5 / 8, 2 / 8, 1 / 8], [0.5, 0.25, 0.25]]
    np.testing.assert_allclose(targets.dirichlet(counts, prior=prior), expected, atol=1e-15)


def test_a_base_rate_worth_endless_votes_is_the_target():
    prior = targets.fit_base_rate(np.array([[1, 1], [1, 1], [2, 0], [0, 2]]))
    assert prior.strength == math.inf  # disagreement 1/2 = chance
    assert targets.dirichlet(np.array([[9, 0]]), prior=prior).tolist() == [[0.5, 0.5]]


def test_base_rate_by_hand_and_as_scoring_fits_it():
    counts = np.array([[3, 0], [0, 3], [2, 1], [1, 2], [1, 0], [0, 1]])
    prior = targets.fit_base_rate(counts)
    # of the four items with pairs: disagreement 0, 0, 2/3, 2/3; chance 1/2; rho 2/3; A = 2
    assert prior.strength == pytest.approx(2, abs=1e-13)
    other = base_rate(counts)
    assert prior.strength == pytest.approx(other.strength, abs=1e-13)
    np.testing.assert_array_equal(prior.distribution, other.distribution)


def test_refusals():
    counts = np.array([[2, 1], [0, 0]])
    with pytest.raises(UsageError, match="1 items have no votes"):
        targets.hard(counts)
    with pytest.raises(UsageError, match="1 items have no votes"):
        targets.soft(counts)
    with pytest.raises(UsageError, match="not 'any'"):
        targets.hard(counts[:1], ties="any")
    with pytest.raises(UsageError, match="majority_label for every item"):
        targets.hard(counts[:1], ties="column")
    with pytest.raises(UsageError, match="alpha must be a positive number"):
        targets.dirichlet(counts, alpha=0)
    with pytest.raises(UsageError, match="not both"):
        targets.dirichlet(counts, alpha=1, prior=targets.BaseRatePrior(np.array([0.5, 0.5]), 1.0))
    with pytest.raises(UsageError, match="two votes or more"):
        targets.fit_base_rate(np.array([[1, 0], [0, 1]]))
    with pytest.raises(UsageError, match="more than one label"):
        targets.fit_base_rate(np.array([[4, 0], [3, 0]]))
