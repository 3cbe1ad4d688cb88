"""Reliability of entropies from moments, on every split of a small crowd."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from saturation.metrics.entropy_reliability import (
    disattenuated,
    half_size,
    reliability_from_moments,
    spearman_brown,
    step_up_factor,
)
from tests import naive


def halves(counts):
    """Entropies of every ordered pair of disjoint halves of an item's votes."""
    votes = [k for k, number in enumerate(counts) for _ in range(number)]
    half, pairs = len(votes) // 2, []
    for first in itertools.combinations(range(len(votes)), half):
        rest = [i for i in range(len(votes)) if i not in first]
        for second in itertools.combinations(rest, half):
            rows = [[sum(votes[i] == k for i in part) for k in range(len(counts))] for part in (first, second)]
            pairs.append(tuple(naive.entropy_of(row) for row in rows))
    return pairs


@pytest.mark.parametrize("items", [[(2, 2), (4, 0), (3, 1)], [(2, 2, 1), (3, 1, 1), (5, 0, 0), (2, 3, 0)]])
def test_it_is_the_correlation_over_items_and_splits(items):
    pairs = [halves(c) for c in items]
    mean = np.array([np.mean([a for a, _ in p]) for p in pairs])
    var = np.array([np.var([a for a, _ in p]) for p in pairs])
    cov = np.array([np.mean([a * b for a, b in p]) for p in pairs]) - mean**2
    # every item has equally many splits, so the pooled list weighs items equally
    pooled = [pair for p in pairs for pair in p]
    expected = naive.pearson([a for a, _ in pooled], [b for _, b in pooled])
    assert reliability_from_moments(mean, var, cov) == pytest.approx(expected, abs=1e-12)


def test_no_spread_has_no_reliability():
    zero = np.zeros(3)
    assert math.isnan(reliability_from_moments(zero, zero, zero))


def test_spearman_brown():
    # 2 (.6) / 1.6
    assert float(spearman_brown(np.array(0.6))) == pytest.approx(0.75, abs=1e-15)
    # three times as long: 3 (.5) / 2
    assert float(spearman_brown(np.array(0.5), 3)) == pytest.approx(0.75, abs=1e-15)
    # the reference's split half of 50 votes stepped up to 100
    assert float(spearman_brown(np.array(0.8566697603149124))) == pytest.approx(0.9228, abs=5e-5)


def test_spearman_brown_is_never_positive_for_crowds_that_disagree_nor_below_minus_one():
    # g = 7: -.7/.4 is below -1; the pole at -1/6; -1.4/-.2 would be +7; -.35/.7 = -.5 is a correlation
    found = spearman_brown(np.array([-0.1, -1 / 6, -0.2, -1.0, -0.05]), 7)
    assert np.isnan(found[:4]).all()
    assert float(found[4]) == pytest.approx(-0.5, abs=1e-12)
    assert float(spearman_brown(np.array(-1 / 3))) == pytest.approx(-1, abs=1e-12)  # g = 2: -2/3 over 2/3


def test_ragged_votes_take_the_smallest_half_and_the_harmonic_mean():
    counts = np.array([[4, 2], [3, 9], [6, 6]])
    assert half_size(counts) == 3
    # harmonic mean of 6, 12, 12 is 9: three halves of 3
    assert step_up_factor(counts) == pytest.approx(3, abs=1e-15)
    assert math.isnan(step_up_factor(np.array([[1, 0]])))


def test_disattenuated():
    np.testing.assert_allclose(disattenuated(np.array([0.4, 0.9]), np.array([0.25, 0.64])), [0.8, 1.125])
    assert math.isnan(disattenuated(np.array(0.4), np.array(0.0)))
    assert math.isnan(disattenuated(np.array(0.4), np.array(math.nan)))
