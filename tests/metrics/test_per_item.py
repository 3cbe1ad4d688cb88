"""Per-item metrics against their slow twins, by hand, and by the identities that tie them together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saturation.errors import UsageError
from saturation.metrics import common, distance, divergence, entropy, majority, ranking
from saturation.metrics.catalogue import metric
from saturation.metrics.metric import Human
from tests import naive

TOLERANCE = 1e-12

TWINS = {
    "kl": (divergence.kl, naive.kl),
    "kl floor": (lambda m, c: divergence.kl(m, c, floor=0.003), lambda m, c: naive.kl(m, c, 0.003)),
    "reverse_kl": (divergence.reverse_kl, naive.reverse_kl),
    "reverse_kl smooth": (
        lambda m, c: divergence.reverse_kl(m, c, smooth=0.5),
        lambda m, c: naive.reverse_kl(m, c, smooth=0.5),
    ),
    "reverse_kl 1/K": (
        lambda m, c: divergence.reverse_kl(m, c, smooth="1/K"),
        lambda m, c: naive.reverse_kl(m, c, smooth=1 / len(c)),
    ),
    "cross_entropy": (divergence.cross_entropy, naive.cross_entropy),
    "jsd": (divergence.jsd, naive.jsd),
    "js_distance": (divergence.js_distance, lambda m, c: math.sqrt(naive.jsd(m, c))),
    "tvd": (distance.tvd, naive.tvd),
    "manhattan": (distance.manhattan, lambda m, c: 2 * naive.tvd(m, c)),
    "soft_accuracy": (distance.soft_accuracy, lambda m, c: 1 - naive.tvd(m, c)),
    "squared_hellinger": (distance.squared_hellinger, naive.squared_hellinger),
    "hellinger": (distance.hellinger, lambda m, c: math.sqrt(naive.squared_hellinger(m, c))),
    "brier": (distance.brier, naive.brier),
    "brier_vote": (distance.brier_vote, naive.brier_vote),
    "wasserstein": (distance.wasserstein, naive.wasserstein),
    "entropy": (lambda m, c: entropy.entropy(m), lambda m, c: naive.entropy(m)),
    "entropy_bias": (entropy.entropy_bias, lambda m, c: naive.entropy(m) - naive.entropy(naive.shares(c))),
    "entropy_error": (entropy.entropy_error, lambda m, c: abs(naive.entropy(m) - naive.entropy(naive.shares(c)))),
    "accuracy": (majority.accuracy, lambda m, c: naive.majority_credit(c, "share")[naive.top(m)]),
    "accuracy first": (
        lambda m, c: majority.accuracy(m, c, ties="first"),
        lambda m, c: naive.majority_credit(c, "first")[naive.top(m)],
    ),
    "accuracy last": (
        lambda m, c: majority.accuracy(m, c, ties="last"),
        lambda m, c: naive.majority_credit(c, "last")[naive.top(m)],
    ),
    "accuracy any": (
        lambda m, c: majority.accuracy(m, c, ties="any"),
        lambda m, c: naive.majority_credit(c, "any")[naive.top(m)],
    ),
    "top_vote_share": (majority.top_vote_share, lambda m, c: naive.shares(c)[naive.top(m)]),
    "rank_agreement": (ranking.rank_agreement, lambda m, c: naive.rank_agreement(m, c, "stable")),
    "rank_agreement tolerant": (
        lambda m, c: ranking.rank_agreement(m, c, ties="tolerant"),
        lambda m, c: naive.rank_agreement(m, c, "tolerant"),
    ),
}

BOUNDS = {
    "kl": (0, math.inf),
    "reverse_kl": (0, math.inf),
    "cross_entropy": (0, math.inf),
    "jsd": (0, math.log(2)),
    "js_distance": (0, math.sqrt(math.log(2))),
    "tvd": (0, 1),
    "soft_accuracy": (0, 1),
    "hellinger": (0, 1),
    "brier": (0, 2),
    "brier_vote": (0, 2),
    "accuracy": (0, 1),
    "top_vote_share": (0, 1),
}


def study(n_items: int, n_labels: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and votes with everything awkward in them: zeros, one-hot rows, ties, unanimous items."""
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(n_labels, 0.4), n_items)
    counts = rng.multinomial(7, rng.dirichlet(np.full(n_labels, 0.5)), n_items)
    probs[0] = np.eye(n_labels)[0]
    counts[0] = 5 * np.eye(n_labels, dtype=int)[-1]
    probs[1] = 1 / n_labels
    counts[1] = 1
    counts[2] = 0
    counts[2, :2] = 4
    probs[2] = 0
    probs[2, :2] = 0.5
    return probs, counts


@st.composite
def studies(draw):
    return study(draw(st.integers(3, 9)), draw(st.integers(2, 6)), draw(st.integers(0, 10_000)))


@pytest.mark.parametrize("name", TWINS)
@settings(max_examples=25, deadline=None)
@given(data=studies())
def test_twin(name, data):
    fast, slow = TWINS[name]
    probs, counts = data
    expected = [slow([float(y) for y in m], [int(x) for x in c]) for m, c in zip(probs, counts, strict=True)]
    np.testing.assert_allclose(fast(probs, counts), expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("n_labels", [2, 200])
@pytest.mark.parametrize("name", TWINS)
def test_twin_with_two_and_two_hundred_labels(name, n_labels):
    fast, slow = TWINS[name]
    probs, counts = study(4, n_labels, 1)
    expected = [slow([float(y) for y in m], [int(x) for x in c]) for m, c in zip(probs, counts, strict=True)]
    np.testing.assert_allclose(fast(probs, counts), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", BOUNDS)
@settings(max_examples=25, deadline=None)
@given(data=studies())
def test_bounds(name, data):
    probs, counts = data
    low, high = BOUNDS[name]
    values = metric(name).features(probs, Human(counts))
    assert values.min() >= low - TOLERANCE
    assert values.max() <= high + TOLERANCE


@pytest.mark.parametrize("name", ["kl", "jsd", "js_distance", "tvd", "hellinger", "brier", "wasserstein"])
def test_zero_exactly_when_the_model_is_the_vote_shares(name):
    _, counts = study(6, 4, 3)
    probs = counts / counts.sum(axis=1, keepdims=True)
    assert metric(name).features(probs, Human(counts)).max() < 1e-7


@settings(max_examples=25, deadline=None)
@given(data=studies())
def test_identities(data):
    probs, counts = data
    h = counts / counts.sum(axis=1, keepdims=True)
    human_entropy = entropy.entropy_of_counts(counts)
    close = {"rtol": 0, "atol": TOLERANCE}
    np.testing.assert_allclose(
        divergence.kl(probs, counts), divergence.cross_entropy(probs, counts) - human_entropy, **close
    )
    np.testing.assert_allclose(
        distance.brier_vote(probs, counts), distance.brier(probs, counts) + 1 - (h**2).sum(axis=1), **close
    )
    np.testing.assert_allclose(distance.soft_accuracy(probs, counts), 1 - distance.tvd(probs, counts), **close)


LABEL_ORDER_MATTERS = {"wasserstein", "accuracy first", "accuracy last", "rank_agreement"}


@pytest.mark.parametrize("name", [name for name in TWINS if name not in LABEL_ORDER_MATTERS])
def test_another_label_order_changes_nothing(name):
    rng = np.random.default_rng(5)
    probs, counts = rng.dirichlet(np.ones(4), 8), rng.multinomial(6, np.full(4, 0.25), 8)
    order = [2, 0, 3, 1]
    fast, _ = TWINS[name]
    np.testing.assert_allclose(fast(probs[:, order], counts[:, order]), fast(probs, counts), rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("name", TWINS)
def test_leading_axes_and_item_order_change_nothing(name):
    probs, counts = study(7, 3, 8)
    fast, _ = TWINS[name]
    alone = fast(probs, counts)
    stacked = fast(np.stack([probs, probs[::-1]])[:, None], counts)
    assert stacked.shape == (2, 1, 7)
    np.testing.assert_array_equal(stacked[0, 0], alone)
    np.testing.assert_array_equal(fast(probs[::-1], counts[::-1]), alone[::-1])


@pytest.mark.parametrize("name", TWINS)
def test_weights_and_shares_can_stand_for_votes(name):
    """Doubled votes are the same distribution; only smoothing sees how many there are."""
    if "smooth" in name or "1/K" in name:
        return
    probs, counts = study(7, 3, 8)
    fast, _ = TWINS[name]
    np.testing.assert_allclose(fast(probs, counts * 0.5), fast(probs, counts), rtol=0, atol=TOLERANCE)


ADDITIVE = (
    *("kl", "reverse_kl", "cross_entropy", "jsd", "tvd", "manhattan", "soft_accuracy", "squared_hellinger", "brier"),
    *("brier_vote", "entropy", "entropy_bias", "wasserstein", "kl[base=2]", "jsd[base=2]"),
)


def test_terms_add_up_to_their_metric():
    rng = np.random.default_rng(2)
    probs, counts = rng.dirichlet(np.ones(4), 6), rng.multinomial(9, np.full(4, 0.25), 6) + 1
    h = counts / counts.sum(axis=1, keepdims=True)
    seen = []
    for name in ADDITIVE:
        made = metric(name)
        model, human = (np.cumsum(probs, 1), np.cumsum(h, 1)) if made.cumulative else (probs, h)
        np.testing.assert_allclose(
            made.term(model, human).sum(axis=1), made.features(probs, Human(counts))[0], atol=TOLERANCE, err_msg=name
        )
        seen.append(name.split("[")[0])
    from saturation.metrics.catalogue import all_names

    assert {name for name in all_names() if metric(name).term is not None} == set(seen)


def test_nobody_voted_is_not_a_number_without_a_warning():
    probs, counts = np.array([[0.5, 0.5], [0.3, 0.7]]), np.array([[0, 0], [1, 2]])
    for name in ("kl", "jsd", "tvd", "brier", "entropy_error", "accuracy", "accuracy[ties=first]", "top_vote_share",
                 "rank_agreement", "rank_agreement[ties=tolerant]", "wasserstein"):  # fmt: skip
        values = metric(name).features(probs, Human(counts))[0]
        assert math.isnan(values[0])
        assert math.isfinite(values[1])
    for name in ("entropy_correlation", "ece", "dist_ece", "macro_f1", "aurc", "auroc_ambiguous"):
        assert math.isnan(metric(name).value(probs, Human(counts))), name
    for name in ("spearman", "kendall"):
        with pytest.raises(UsageError, match="cannot be ranked"):
            metric(name).value(probs, Human(counts))


def test_raised_rows_are_renormalised_and_flagged():
    # (1, 0) raised to .25 is (1, .25)/1.25
    np.testing.assert_allclose(common.raised(np.array([[1.0, 0.0]]), 0.25), [[0.8, 0.2]])
    assert common.below_floor(np.array([[1.0, 0.0], [0.5, 0.5]]), 1e-15).tolist() == [True, False]


def test_floor_zero_leaves_the_infinity():
    probs, counts = np.array([[1.0, 0.0]]), np.array([[0, 1]])
    assert divergence.kl(probs, counts, floor=0)[0] == math.inf
    made = metric("kl[floor=0]")
    assert made.value(probs, Human(counts)) == math.inf
    assert made.undefined.startswith("infinite")


@pytest.mark.parametrize("floor", [-0.1, 0.5, 1.0])
def test_a_floor_that_lifts_every_label_is_refused(floor):
    with pytest.raises(UsageError, match="floor"):
        divergence.kl(np.array([[1.0, 0.0]]), np.array([[0, 1]]), floor=floor)


@pytest.mark.parametrize(("base", "word"), [(1.0, "base"), (0.5, "base"), (math.inf, "base")])
def test_a_base_that_is_none_is_refused(base, word):
    with pytest.raises(UsageError, match=word):
        divergence.kl(np.array([[1.0, 0.0]]), np.array([[0, 1]]), base=base)


def test_entropies_of_equal_multisets_tie_exactly():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(100, [0.5, 0.3, 0.15, 0.05], 200)
    shuffled = rng.permuted(counts, axis=1)
    np.testing.assert_array_equal(entropy.entropy_of_counts(counts), entropy.entropy_of_counts(shuffled))
