"""Tie rules of the majority label."""

from __future__ import annotations

import numpy as np
import pytest

from saturation.errors import UsageError
from saturation.metrics.majority import accuracy, majority_credit, tied_tops
from saturation.metrics.metric import Human

TIED = np.array([[2, 2, 1], [0, 3, 3], [5, 0, 0]])


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("first", [[1, 0, 0], [0, 1, 0], [1, 0, 0]]),
        ("last", [[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
        ("share", [[0.5, 0.5, 0], [0, 0.5, 0.5], [1, 0, 0]]),
        ("any", [[1, 1, 0], [0, 1, 1], [1, 0, 0]]),
        ("column", [[0, 0, 1], [0, 1, 0], [1, 0, 0]]),
    ],
)
def test_credit_by_hand(rule, expected):
    human = Human(TIED, majority=np.array([2, 1, 0]))
    assert majority_credit(human, ties=rule).tolist() == expected


def test_random_ties_are_fair_seeded_and_belong_to_the_item():
    counts = np.tile([3, 0, 3, 3], (6000, 1))
    credit = majority_credit(Human(counts), ties="random", seed=4)
    assert (credit.sum(axis=1) == 1).all()
    # 6000 draws over 3 modes: mean 2000, sd sqrt(6000 * 2/9) = 36.5; 6 sd = 219, odds of a false alarm < 1e-8
    assert credit[:, 1].sum() == 0
    assert np.abs(credit[:, [0, 2, 3]].sum(axis=0) - 2000).max() < 219
    np.testing.assert_array_equal(credit, majority_credit(Human(counts), ties="random", seed=4))
    assert (credit != majority_credit(Human(counts), ties="random", seed=5)).any()
    some = np.array([5, 77, 4000])
    part = majority_credit(Human(counts).take(some), ties="random", seed=4)
    np.testing.assert_array_equal(part, credit[some])


def test_an_unknown_majority_is_refused():
    with pytest.raises(UsageError, match="items table"):
        majority_credit(Human(TIED), ties="column")
    with pytest.raises(UsageError, match="1 items have no published"):
        majority_credit(Human(TIED, majority=np.array([0, -1, 0])), ties="column")


def test_an_unknown_rule_is_refused():
    with pytest.raises(UsageError, match="unknown tie rule 'frist'"):
        majority_credit(Human(TIED), ties="frist")
    with pytest.raises(UsageError, match="ties of the model"):
        accuracy(np.full((3, 3), 1 / 3), TIED, model_ties="last")


def test_ties_of_the_model():
    probs = np.array([[0.4, 0.4, 0.2], [0.4, 0.4, 0.2], [0.2, 0.6, 0.2]])
    assert int(tied_tops(probs)) == 2
    # first: label 0, 0, 1 against credits (.5, .5, 0), (0, .5, .5), (1, 0, 0)
    assert accuracy(probs, TIED).tolist() == [0.5, 0.0, 0.0]
    # share: half of label 0 and half of label 1
    assert accuracy(probs, TIED, model_ties="share").tolist() == [0.5, 0.25, 0.0]
