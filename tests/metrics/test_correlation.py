"""Entropy correlations: twins, ties, weights that stand for copies, delete-one values, constants."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saturation.metrics import ranks
from saturation.metrics.catalogue import metric
from saturation.metrics.entropy import entropy, entropy_of_counts
from saturation.metrics.metric import Human
from tests import naive

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=14)
RANKED = {
    "spearman": (ranks.spearman, ranks.spearman_leave_one_out),
    "kendall": (ranks.kendall, ranks.kendall_leave_one_out),
}


def study(n_items=40, n_labels=3, seed=0):
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(n_labels, 0.8), n_items)
    return probs, rng.multinomial(6, np.full(n_labels, 1 / n_labels), n_items)


def slow(name, x, y):
    if name == "spearman":
        return naive.pearson(naive.mid_ranks(x), naive.mid_ranks(y))
    return naive.kendall(x, y)


def codes(values):
    return np.unique(values, return_inverse=True)[1]


@pytest.mark.parametrize("name", RANKED)
@settings(max_examples=60, deadline=None)
@given(pairs=PAIRS)
def test_rank_statistics_and_their_delete_one_values(name, pairs):
    x, y = (list(side) for side in zip(*pairs, strict=True))
    fast, leave_one_out = RANKED[name]
    value = fast(codes(x), codes(y), np.ones((1, len(x))))
    np.testing.assert_allclose(value, [slow(name, x, y)], rtol=0, atol=1e-12)
    expected = [slow(name, x[:i] + x[i + 1 :], y[:i] + y[i + 1 :]) if len(x) > 2 else math.nan for i in range(len(x))]
    np.testing.assert_allclose(leave_one_out(codes(x), codes(y)), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", RANKED)
@settings(max_examples=60, deadline=None)
@given(pairs=PAIRS, seed=st.integers(0, 1000))
def test_whole_weights_are_copies_of_items(name, pairs, seed):
    x, y = (np.array(side) for side in zip(*pairs, strict=True))
    weights = np.random.default_rng(seed).multinomial(len(x), np.full(len(x), 1 / len(x)), 3)
    fast, _ = RANKED[name]
    expected = [slow(name, np.repeat(x, w).tolist(), np.repeat(y, w).tolist()) for w in weights]
    np.testing.assert_allclose(fast(codes(x), codes(y), weights.astype(float)), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(fast(codes(x), codes(y), weights * 0.37), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", RANKED)
def test_more_items_than_one_block(name):
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 200, 600), rng.integers(0, 30, 600)
    fast, leave_one_out = RANKED[name]
    value = fast(codes(x), codes(y), np.ones((1, 600)))[0]
    from scipy import stats

    peer = stats.spearmanr(x, y) if name == "spearman" else stats.kendalltau(x, y)
    assert value == pytest.approx(peer.statistic, abs=1e-12)
    dropped = leave_one_out(codes(x), codes(y))
    kept = np.arange(600) != 599
    alone = fast(codes(x[kept]), codes(y[kept]), np.ones((1, 599)))[0]
    assert dropped[599] == pytest.approx(alone, abs=1e-12)


def test_rounding_noise_cannot_break_a_tie():
    assert ranks.dense_codes(np.array([0.1 + 0.2, 0.3, 0.5])).tolist() == [0, 0, 1]


def test_pearson_against_the_twin():
    probs, counts = study()
    expected = naive.pearson([naive.entropy(m) for m in probs.tolist()], [naive.entropy_of(c) for c in counts.tolist()])
    assert metric("entropy_correlation").value(probs, Human(counts)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", ["spearman", "kendall"])
def test_kinds_and_names_agree(kind):
    probs, counts = study()
    x = [round(naive.entropy(sorted(m)), 12) for m in probs.tolist()]
    y = [round(naive.entropy_of(sorted(c)), 12) for c in counts.tolist()]
    for spec in (kind, f"entropy_correlation[kind={kind}]"):
        assert metric(spec).value(probs, Human(counts)) == pytest.approx(slow(kind, x, y), abs=1e-12)
    stacked = metric(kind).value(np.stack([probs, probs[::-1]]), Human(counts))
    assert stacked.shape == (2,)


def weighted_features(made, probs, human, weights):
    features = made.features(probs, human)
    return made.combine((features * weights).sum(axis=-1) / weights.sum())


@pytest.mark.parametrize(
    "name", ["entropy_correlation", "entropy_correlation_within", "kl", "macro_f1", "accuracy", "brier"]
)
def test_weighted_feature_means_are_copies_of_items(name):
    probs, counts = study(30, 3, 3)
    groups = np.arange(30) % 3
    weights = np.random.default_rng(1).integers(0, 4, 30)
    made = metric(name)
    copies = made.value(
        np.repeat(probs, weights, axis=0),
        Human(np.repeat(counts, weights, axis=0), groups=np.repeat(groups, weights)),
    )
    value = weighted_features(made, probs, Human(counts, groups=groups), weights)
    assert value == pytest.approx(float(copies), abs=1e-12)


@pytest.mark.parametrize("name", ["entropy_correlation", "entropy_correlation_within", "kl", "entropy_bias"])
def test_influence_values_are_the_derivative_with_respect_to_a_weight(name):
    probs, counts = study(25, 3, 6)
    human = Human(counts, groups=np.array([0] * 10 + [1] * 12 + [-1] * 3))
    made = metric(name)
    influence = made.influence(made.features(probs, human))
    assert influence.shape == (25,)
    assert abs(influence.mean()) < 1e-14
    step = 1e-6
    for i in range(25):
        up, down = np.ones(25), np.ones(25)
        up[i] += step
        down[i] -= step
        slope = weighted_features(made, probs, human, up) - weighted_features(made, probs, human, down)
        assert influence[i] == pytest.approx(25 * float(slope) / (2 * step), abs=1e-6)


def test_within_groups_by_centring():
    probs, counts = study(30, 3, 9)
    groups = np.array([0] * 12 + [1] * 15 + [-1] * 3)
    x, y = entropy(probs)[:27].copy(), entropy_of_counts(counts)[:27].copy()
    for members in (slice(0, 12), slice(12, 27)):
        x[members] -= x[members].mean()
        y[members] -= y[members].mean()
    expected = naive.pearson(x.tolist(), y.tolist())
    value = metric("entropy_correlation_within").value(probs, Human(counts, groups=groups))
    assert value == pytest.approx(expected, abs=1e-12)


def test_between_group_differences_alone_are_no_correlation_within():
    probs = np.array([[1.0, 0.0], [0.9, 0.1], [0.6, 0.4], [0.5, 0.5]])
    counts = np.array([[9, 1], [10, 0], [5, 5], [6, 4]])
    human = Human(counts, groups=np.array([0, 0, 1, 1]))
    assert metric("entropy_correlation").value(probs, human) > 0.5
    assert metric("entropy_correlation_within").value(probs, human) < 0


def test_constants_have_no_correlation_and_no_warning():
    probs, counts = study(12)
    constant = np.tile([0.2, 0.5, 0.3], (12, 1))
    unanimous = np.tile([0, 6, 0], (12, 1))
    for name in ("entropy_correlation", "spearman", "kendall", "entropy_correlation_within"):
        made = metric(name)
        groups = np.zeros(12, dtype=int)
        assert math.isnan(made.value(constant, Human(counts, groups=groups))), name
        assert math.isnan(made.value(probs, Human(unanimous, groups=groups))), name
        assert "same for every item" in made.undefined
    made = metric("entropy_correlation")
    assert np.isnan(made.influence(made.features(constant, Human(counts)))).all()
    one_item = np.zeros(12)
    one_item[3] = 12
    assert math.isnan(weighted_features(made, probs, Human(counts), one_item))


def test_without_groups_there_is_no_within():
    probs, counts = study(12)
    made = metric("entropy_correlation_within")
    assert math.isnan(made.value(probs, Human(counts)))
    assert math.isnan(made.value(probs, Human(counts, groups=np.full(12, -1))))
    assert made.undefined.startswith("no groups are known")
    assert np.isnan(made.influence(made.features(probs, Human(counts)))).all()


def test_perfect_correlation_does_not_leave_the_interval():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(50, [0.4, 0.4, 0.2], 100)
    value = float(metric("entropy_correlation").value(counts / 50, Human(counts)))
    assert 1 - 1e-12 < value <= 1
