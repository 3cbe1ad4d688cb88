"""AUROC of ambiguous items and the risk-coverage curve."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saturation.metrics import detection
from saturation.metrics.catalogue import metric
from saturation.metrics.metric import Human
from tests import naive


def codes(values):
    return np.unique(values, return_inverse=True)[1]


def without(values, i):
    return [v for j, v in enumerate(values) if j != i]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=12), st.integers(0, 99))
def test_auroc(pairs, seed):
    score, positive = [s for s, _ in pairs], [bool(p) for _, p in pairs]
    mask = np.array(positive, dtype=float)
    n = len(pairs)
    value = detection.weighted_auroc(codes(score), mask, np.ones((1, n)))
    np.testing.assert_allclose(value, [naive.auroc(score, positive)], atol=1e-12)
    dropped = detection.auroc_leave_one_out(codes(score), mask)
    expected = [naive.auroc(without(score, i), without(positive, i)) for i in range(n)]
    np.testing.assert_allclose(dropped, expected, atol=1e-12)
    weights = np.random.default_rng(seed).integers(0, 3, n)
    copied = naive.auroc(np.repeat(score, weights), np.repeat(positive, weights))
    np.testing.assert_allclose(
        detection.weighted_auroc(codes(score), mask, weights[None].astype(float)), [copied], atol=1e-12
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 8)), min_size=2, max_size=6), st.integers(0, 99))
def test_aurc(pairs, seed):
    score, risk = [s for s, _ in pairs], [r / 8 for _, r in pairs]
    n = len(pairs)
    value = detection.weighted_aurc(codes(score), np.array(risk), np.ones((1, n)))
    np.testing.assert_allclose(value, [naive.aurc(score, risk)], atol=1e-12)
    dropped = detection.aurc_leave_one_out(codes(score), np.array(risk))
    np.testing.assert_allclose(dropped, [naive.aurc(without(score, i), without(risk, i)) for i in range(n)], atol=1e-12)
    weights = np.random.default_rng(seed).integers(0, 2, n)
    weights[0] = 2
    copied = naive.aurc(np.repeat(score, weights).tolist(), np.repeat(risk, weights).tolist())
    weighted = detection.weighted_aurc(codes(score), np.array(risk), weights[None].astype(float))
    np.testing.assert_allclose(weighted, [copied], atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 8)), min_size=3, max_size=6))
def test_excess_is_never_negative_and_its_delete_one_values_agree(pairs):
    score, risk = np.array([s for s, _ in pairs]), np.array([r / 8 for _, r in pairs])
    n = len(pairs)
    assert detection.weighted_aurc_excess(codes(score), risk, np.ones((1, n)))[0] >= -1e-12
    dropped = detection.aurc_excess_leave_one_out(codes(score), risk)
    for i in range(n):
        kept = np.arange(n) != i
        alone = detection.weighted_aurc_excess(codes(score[kept]), risk[kept], np.ones((1, n - 1)))
        np.testing.assert_allclose(dropped[i], alone[0], atol=1e-12)


def test_ambiguous_items_lie_strictly_above_the_quantile():
    # entropies 0, 0, 0, ln 2 (as .5, .5): numpy's .75 quantile lies at .25 of the way from 0 to ln 2
    assert detection.ambiguous(np.array([[2, 0], [0, 2], [2, 0], [1, 1]])).tolist() == [0, 0, 0, 1]
    assert detection.ambiguous(np.array([[2, 0], [0, 2]])).tolist() == [0, 0]


def test_unanimous_items_leave_nothing_to_detect():
    probs = np.array([[0.5, 0.5], [0.9, 0.1]])
    made = metric("auroc_ambiguous")
    assert math.isnan(made.value(probs, Human(np.array([[3, 0], [0, 3]]))))
    assert "ambiguous" in made.undefined


def test_from_probabilities():
    rng = np.random.default_rng(3)
    probs, counts = rng.dirichlet(np.ones(3), 6), rng.multinomial(8, [0.5, 0.3, 0.2], 6)
    score = [round(naive.entropy(sorted(m)), 12) for m in probs.tolist()]
    risk = [1 - naive.shares(c)[naive.top(m)] for m, c in zip(probs.tolist(), counts.tolist(), strict=True)]
    human = Human(counts)
    assert metric("aurc").value(probs, human) == pytest.approx(naive.aurc(score, risk), abs=1e-12)
    best = naive.aurc(risk, risk)
    assert metric("aurc_excess").value(probs, human) == pytest.approx(naive.aurc(score, risk) - best, abs=1e-12)
    for name in ("aurc", "aurc_excess", "auroc_ambiguous", "spearman", "kendall"):
        assert metric(name).leave_one_out(probs, human).shape == (6,)
