"""Reliability of the entropies."""

import json

import numpy as np
import pytest

from saturation.analyses.entropy_reliability import half_moments, reliability
from tests import naive


def test_moments_of_two_halves_equal_full_enumeration():
    counts = np.array([[3, 2, 1], [0, 4, 3], [6, 0, 0], [1, 1, 5]])
    found = half_moments(counts, 3)
    for item, row in enumerate(counts):
        mean, variance = naive.draw_moments(row, lambda x, _: naive.entropy_of(x), "disjoint", 3, 3)
        product, _ = naive.draw_moments(row, lambda x, y: naive.entropy_of(x) * naive.entropy_of(y), "disjoint", 3, 3)
        assert found.mean[item] == pytest.approx(mean, abs=1e-12)
        assert found.variance[item] == pytest.approx(variance, abs=1e-12)
        assert found.covariance[item] == pytest.approx(product - mean**2, abs=1e-12)


def test_few_votes():
    assert reliability(np.array([[3, 2], [5, 1]])).value is None
    few = reliability(np.array([[4, 3], [7, 0], [5, 2], [1, 6]]))
    assert few.half_size == 3
    assert "biased low" in few.reason
    assert "do not vary" in reliability(np.array([[8, 0], [0, 8]])).reason


def test_spearman_brown_with_ragged_votes():
    """Votes 10 and 14: halves of 5; harmonic mean 2/(1/10 + 1/14) = 35/3, so R = g r/(1 + (g - 1) r), g = 7/3."""
    found = reliability(np.array([[5, 5], [9, 1], [14, 0], [7, 7]])[[0, 2]])
    g = 7 / 3
    assert found.half_size == 5
    assert found.value == pytest.approx(g * found.half / (1 + (g - 1) * found.half), rel=1e-12)


def test_halves_that_disagree_are_not_stepped_up_beyond_the_pole():
    """Entropies that vary by chance alone, 6 votes of one item and about 60 of the rest: g above 10, a pole at -.1."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        totals = np.array([6, *rng.integers(40, 80, 11)])
        found = reliability(np.array([rng.multinomial(n, [0.3, 0.4, 0.3]) for n in totals]))
        assert found.value is None or -1 <= found.value <= 1
        if found.half < 0:
            assert "not above 0" in found.reason


@pytest.mark.realdata
def test_snli_halves(shared_data, reference):
    """R_N of disjoint crowds of N of 100 votes, and Spearman-Brown .9228 at N = 50."""
    path = shared_data / "chaosnli" / "data" / "chaosNLI_v1.0" / "chaosNLI_snli.jsonl"
    counts = np.array([json.loads(line)["label_count"] for line in path.read_text().splitlines()])
    stored = reference["label_side"]["split_half_disjoint_exact/snli"]
    for size, value in stored.items():
        moments = half_moments(counts, int(size))
        if value is None:
            continue
        between = moments.mean.var()
        r = (between + moments.covariance.mean()) / (between + moments.variance.mean())
        assert r == pytest.approx(value, abs=1e-9)
    assert reliability(counts).value == pytest.approx(0.9228, abs=5e-5)
