"""Corrections for few votes: unbiasedness by enumeration of every possible row of counts, estimators by twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saturation.errors import UsageError
from saturation.metrics import corrections, distance, divergence, entropy
from saturation.metrics.agreement import base_rate, krippendorff_alpha, pairwise_disagreement
from saturation.metrics.catalogue import metric
from saturation.metrics.estimators import ESTIMATORS, population_entropy, resolve_estimator
from saturation.metrics.metric import Human
from tests import naive

COUNTS = st.lists(st.integers(0, 9), min_size=2, max_size=5).filter(lambda c: sum(c) >= 2)
SLOW_ESTIMATORS = {
    "plugin": naive.entropy_of,
    "miller_madow": lambda c: naive.entropy_of(c) + (sum(x > 0 for x in c) - 1) / (2 * sum(c)),
    "chao_shen": naive.chao_shen,
    "jackknife": naive.zahl_jackknife,
    "grassberger": naive.grassberger,
}


def expectation(score, p, n):
    """Mean of score(rows of counts) over n votes drawn from p."""
    rows = naive.compositions(n, len(p))
    chance = [
        math.factorial(n) * math.prod(q**x / math.factorial(x) for q, x in zip(p, row, strict=True)) for row in rows
    ]
    return float(np.dot(chance, score(np.array(rows))))


def repeated(m, rows):
    return np.tile(m, (len(rows), 1))


@pytest.mark.parametrize("name", SLOW_ESTIMATORS)
@settings(max_examples=60, deadline=None)
@given(c=COUNTS)
def test_estimators_against_their_twins(name, c):
    value = population_entropy(np.array([c]), name)
    np.testing.assert_allclose(value, [SLOW_ESTIMATORS[name](c)], rtol=0, atol=1e-10)


def test_grassberger_by_hand():
    # two votes that differ: psi(2) - G(1) = (1 - gamma) + gamma + ln 2
    assert population_entropy(np.array([[1, 1]]), "grassberger")[0] == pytest.approx(1 + math.log(2), abs=1e-12)


def test_all_singletons_count_as_one_fewer():
    # n = 2, f1 = 2 -> 1: C = 1/2, C h = 1/4 twice: 2 (1/4) ln 4 / (1 - (3/4)^2)
    expected = 0.5 * math.log(4) / (1 - 0.75**2)
    assert population_entropy(np.array([[1, 1, 0]]), "chao_shen")[0] == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("n", [2, 3, 8])
def test_brier_correction_is_unbiased(n):
    p, m = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    truth = ((p - m) ** 2).sum()
    corrected = expectation(lambda rows: corrections.brier_corrected(repeated(m, rows), rows), p, n)
    assert corrected == pytest.approx(truth, abs=1e-12)
    raw = expectation(lambda rows: distance.brier(repeated(m, rows), rows), p, n)
    assert raw == pytest.approx(truth + (1 - (p**2).sum()) / n, abs=1e-12)
    floor = expectation(corrections.brier_floor, p, n)
    assert floor == pytest.approx(expectation(lambda rows: distance.brier(repeated(p, rows), rows), p, n), abs=1e-12)
    vote_floor = expectation(corrections.brier_vote_floor, p, n)
    assert vote_floor == pytest.approx(1 - (p**2).sum(), abs=1e-12)


@pytest.mark.parametrize("name", ["cross_entropy", "brier_vote", "top_vote_share"])
def test_scores_linear_in_the_votes_are_their_own_correction(name):
    p, m = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.1, 0.7])
    made = metric(name)
    few = expectation(lambda rows: made.corrected(repeated(m, rows), Human(rows)), p, 3)
    many = expectation(lambda rows: made.features(repeated(m, rows), Human(rows))[0], p, 9)
    assert few == pytest.approx(many, abs=1e-12)


@pytest.mark.parametrize(("estimator", "n", "worst"), [("grassberger", 10, 0.05), ("jackknife", 20, 0.10)])
def test_kl_correction_and_floor_leave_only_the_bias_of_the_entropy_estimate(estimator, n, worst):
    p, m = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.2, 0.6])
    truth = float((p * np.log(p / m)).sum())
    bias = expectation(lambda rows: population_entropy(rows, estimator), p, n) - naive.entropy(p)
    corrected = expectation(lambda rows: corrections.kl_corrected(repeated(m, rows), rows, estimator=estimator), p, n)
    assert corrected == pytest.approx(truth - bias, abs=1e-12)
    floor = expectation(lambda rows: corrections.kl_floor(rows, estimator=estimator), p, n)
    perfect = expectation(lambda rows: divergence.kl(repeated(p, rows), rows), p, n)
    assert floor == pytest.approx(perfect + bias, abs=1e-12)
    assert abs(bias) < worst * perfect


@pytest.mark.parametrize(
    ("p", "n", "estimator", "bias"),
    [
        ((0.6, 0.3, 0.1), 5, "plugin", -0.227),
        ((0.6, 0.3, 0.1), 10, "chao_shen", -0.010),
        ((0.6, 0.3, 0.1), 20, "jackknife", 0.004),
        ((0.5, 0.5), 10, "chao_shen", -0.042),
        ((0.9, 0.08, 0.02), 20, "chao_shen", 0.032),
        ((0.9, 0.08, 0.02), 10, "grassberger", -0.026),
    ],
)
def test_the_bias_that_the_module_states(p, n, estimator, bias):
    slow = expectation(lambda rows: np.array([SLOW_ESTIMATORS[estimator](list(c)) for c in rows]), p, n)
    assert slow - naive.entropy(p) == pytest.approx(bias, abs=6e-4)


def test_entropy_bias_correction_uses_the_same_estimate():
    counts, probs = np.array([[6, 3, 1], [5, 5, 0]]), np.array([[0.2, 0.2, 0.6], [1.0, 0.0, 0.0]])
    corrected = corrections.entropy_bias_corrected(probs, counts, estimator="jackknife")
    expected = entropy.entropy(probs) - population_entropy(counts, "jackknife")
    np.testing.assert_array_equal(corrected, expected)


def test_one_vote_is_null_and_never_a_warning():
    counts, probs = np.array([[1, 0], [3, 1]]), np.full((2, 2), 0.5)
    for name in ("kl", "brier", "entropy_bias"):
        values = metric(name).corrected(probs, Human(counts))
        assert math.isnan(values[0])
        assert math.isfinite(values[1])
        assert math.isnan(metric(name).floor(counts)[0]) if metric(name).floor else True


def test_corrected_values_may_be_negative():
    counts = np.array([[6, 3, 1]])
    assert corrections.brier_corrected(counts / 10, counts)[0] < 0
    assert corrections.kl_corrected(counts / 10, counts)[0] < 0


def test_the_estimator_follows_the_median_number_of_votes():
    few, many = np.array([[5, 4], [5, 4], [90, 10]]), np.array([[5, 5], [5, 5], [1, 0]])
    assert resolve_estimator(few) == "chao_shen"
    assert resolve_estimator(many) == "jackknife"
    assert resolve_estimator(few, "grassberger") == "grassberger"
    np.testing.assert_array_equal(population_entropy(few), population_entropy(few, "chao_shen"))
    made = metric("kl[entropy_estimator=grassberger;base=2]").floor(few)
    np.testing.assert_allclose(made, corrections.kl_floor(few, estimator="grassberger") / math.log(2))


def test_weights_and_unknown_estimators_are_refused():
    with pytest.raises(UsageError, match="whole vote counts"):
        population_entropy(np.array([[0.5, 1.5]]), "jackknife")
    with pytest.raises(UsageError, match="unknown entropy estimator 'bayes'"):
        population_entropy(np.array([[2, 2]]), "bayes")


@settings(max_examples=40, deadline=None)
@given(c=COUNTS)
def test_estimators_do_not_depend_on_label_order_or_empty_labels(c):
    for name in ESTIMATORS:
        alone = population_entropy(np.array([c]), name)
        np.testing.assert_array_equal(population_entropy(np.array([c[::-1]]), name), alone)
        np.testing.assert_allclose(population_entropy(np.array([[0, *c, 0]]), name), alone, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(c=COUNTS)
def test_pairwise_disagreement(c):
    np.testing.assert_allclose(pairwise_disagreement(np.array([c])), [naive.pairwise_disagreement(c)], atol=1e-12)


@pytest.mark.parametrize("n", [2, 5])
def test_pairwise_disagreement_is_unbiased(n):
    p = np.array([0.5, 0.3, 0.2])
    assert expectation(pairwise_disagreement, p, n) == pytest.approx(1 - (p**2).sum(), abs=1e-12)


def test_alpha_and_base_rate_by_hand():
    # disagreement 0, 0, 2/3, 2/3: mean 1/3; pi = 1/2, 1/2: chance 1/2; rho = 2/3, alpha = 1/3, A = 2
    counts = np.array([[3, 0], [0, 3], [2, 1], [1, 2]])
    assert krippendorff_alpha(counts) == pytest.approx(1 / 3, abs=1e-15)
    prior = base_rate(counts)
    assert prior.strength == pytest.approx(2, abs=1e-14)
    np.testing.assert_allclose(prior.distribution, [0.5, 0.5], rtol=0, atol=1e-15)


def test_items_with_one_vote_count_for_the_base_rate_only():
    prior = base_rate(np.array([[2, 0], [0, 2], [1, 0], [0, 1]]))
    assert prior.distribution.tolist() == [0.5, 0.5]
    assert prior.rho == 0
    assert math.isnan(base_rate(np.array([[1, 0], [0, 1]])).rho)
    assert math.isnan(krippendorff_alpha(np.array([[4, 0], [3, 0]])))
