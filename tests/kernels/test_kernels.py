"""Compiled loops against their slow twins, for any cut into blocks."""

from __future__ import annotations

import numpy as np
import pytest

from saturation.kernels import sums
from saturation.resampling import draw
from saturation.resampling.sums import _in_numpy, weighted_sums
from tests import naive

# with the compiler off, the mixer's wanted overflow of unsigned words is a NumPy warning
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

COUNTS = np.array([[3, 0, 2], [1, 0, 0], [0, 0, 0], [2, 2, 5], [0, 7, 1]])


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("seed", [0, 2**40])
def test_redrawn_votes_equal_the_twin(seed, threads):
    got = draw.redraw_votes(seed, 3, 8, COUNTS, threads=threads)
    assert got.tolist() == [naive.redraw_votes(seed, b, COUNTS) for b in range(3, 8)]


@pytest.mark.parametrize("threads", [1, 2])
def test_subsamples_are_prefixes_of_the_twins_orders(threads):
    counts = COUNTS[[0, 3, 4]]
    got = draw.subsample(9, 2, 7, counts, (1, 3), reference_size=2, threads=threads)
    for row, b in enumerate(range(2, 7)):
        for i, order in enumerate(naive.vote_orders(9, b, counts)):
            for j, budget in enumerate((1, 3)):
                assert got.targets[row, j, i].tolist() == [order[:budget].count(k) for k in range(3)]
            assert got.reference[row, i].tolist() == [order[3:5].count(k) for k in range(3)]


@pytest.mark.parametrize("threads", [1, 2])
def test_compiled_and_numpy_sums_have_the_twins_bits(threads, monkeypatch):
    generator = np.random.default_rng(0)
    weights = generator.poisson(1.0, (7, 23)).astype(float)
    features = generator.normal(size=(5, 23)) * 10.0 ** generator.integers(-8, 8, (5, 23))
    expected = np.array(naive.weighted_sums(weights.tolist(), features.tolist()))
    assert weighted_sums(weights, features).tobytes() == expected.tobytes()
    monkeypatch.setattr("saturation.resampling.sums._FEW_ROWS", 0)
    assert weighted_sums(weights, features).tobytes() == expected.tobytes()
    monkeypatch.setattr("saturation.resampling.sums._COMPILED_FROM", 0)
    assert weighted_sums(weights, features, threads=threads).tobytes() == expected.tobytes()


def test_an_infinite_score_counts_only_where_its_item_is_drawn():
    weights = np.array([[1.0, 0.0, 2.0], [1.0, 1.0, 1.0]])
    by_item = np.array([[1.0], [np.inf], [2.0]])
    compiled, in_numpy = np.zeros((2, 1)), np.zeros((2, 1))
    sums.weighted_sums(weights, by_item, 0, 2, compiled)
    _in_numpy(weights, by_item, in_numpy)
    assert compiled.tolist() == in_numpy.tolist() == [[5.0], [np.inf]]
    many = weighted_sums(np.tile(weights, (20, 1)), by_item.T)
    assert many[:2].tolist() == [[5.0], [np.inf]]


def test_a_sum_does_not_depend_on_what_stands_beside_it():
    generator = np.random.default_rng(1)
    weights, features = generator.exponential(size=(9, 50)), generator.normal(size=(11, 50))
    whole = weighted_sums(weights, features)
    assert all(weighted_sums(weights, features[[f]])[:, 0].tobytes() == whole[:, f].tobytes() for f in range(11))
    assert weighted_sums(weights[4:6], features).tobytes() == whole[4:6].tobytes()
