"""Paired tests: hand arithmetic, scipy, a slow BCa, limits without spread, size at the null."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from saturation.errors import UsageError
from saturation.resampling import effects, intervals
from saturation.resampling import paired as tests_of
from saturation.resampling.draw import item_weights
from saturation.resampling.paired import NO_DIFFERENCE, NO_SPREAD
from tests import naive


def normal(n, shift=0.3, seed=0):
    return np.random.default_rng(seed).normal(shift, 1.0, n)


def moments(d, weights):
    return np.stack([(weights * d).mean(axis=1), (weights * d**2).mean(axis=1)], axis=1)


def shares(d, weights):
    return (weights * effects.better(d)).mean(axis=1)


def bootstrap_of(d, n=999, seed=0):
    weights = item_weights(seed, 0, n, len(d))
    return weights, (weights * d).sum(axis=1) / len(d), (d.sum() - d) / (len(d) - 1)


@pytest.mark.parametrize("seed", range(4))
def test_paired_t_equals_scipy(seed):
    a, b = normal(30, 0.3, seed), normal(30, 0.0, seed + 50)
    expected = stats.ttest_rel(a, b)
    test = tests_of.paired_t(a - b)
    assert (test.statistic, test.p, test.df) == pytest.approx((expected.statistic, expected.pvalue, 29))
    ends = expected.confidence_interval(0.95)
    assert (test.interval.low, test.interval.high) == pytest.approx((ends.low, ends.high))


def test_wilcoxon_ties_sizes_that_are_equal_but_for_rounding():
    # thirds: 1 - 1/3 and 2/3 are one size but two floats; in whole numbers of thirds the ties are plain
    thirds = np.array([2, -2, 2, 1, -1, 3, 2, 1, -2, 3, 1, 2], dtype=float)
    floats = np.array(
        [1 - 1 / 3, -2 / 3, 1 - 1 / 3, 1 / 3, -(1 - 2 / 3), 1, 2 / 3, 1 - 2 / 3, -(1 - 1 / 3), 1, 1 / 3, 2 / 3]
    )
    assert len(np.unique(np.abs(floats))) > 3
    assert tests_of.wilcoxon(floats).p == pytest.approx(stats.wilcoxon(thirds, method="asymptotic").pvalue, rel=1e-12)


@pytest.mark.parametrize(("n", "decimals"), [(12, 9), (50, 9), (51, 9), (80, 1), (20, 0)])
def test_wilcoxon_equals_scipy_exact_asymptotic_and_with_ties(n, decimals):
    d = np.round(normal(n, 0.3), decimals)
    d = d[d != 0]
    exact = len(d) <= 50 and len(np.unique(np.abs(d))) == len(d)
    expected = stats.wilcoxon(d, method="exact" if exact else "asymptotic")
    test = tests_of.wilcoxon(np.concatenate([d, [0.0, 0.0]]))
    assert (test.statistic, test.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_sign_test_equals_scipy():
    for wins, losses in ((9, 0), (7, 2), (3, 3), (0, 5)):
        assert tests_of.sign_test(wins, losses) == pytest.approx(stats.binomtest(wins, wins + losses).pvalue)


def test_nadeau_bengio_by_hand():
    """Differences 1, 2, 3 of three splits, a fifth tested: se^2 = (1/3 + 1/4) 1, t = 2 / sqrt(7/12), df 2."""
    test = tests_of.nadeau_bengio(np.array([1.0, 2.0, 3.0]), 0.25)
    t = 2 / math.sqrt(7 / 12)
    assert (test.statistic, test.p) == pytest.approx((t, 2 * stats.t.sf(t, 2)))
    with pytest.raises(UsageError, match="above 0"):
        tests_of.nadeau_bengio(np.array([1.0, 2.0]), 0.0)
    assert "one split" in tests_of.nadeau_bengio(np.array([1.0]), 0.25).interval.reason


def test_tost_equals_statsmodels():
    from statsmodels.stats.weightstats import ttost_paired

    a, b = normal(40, 0.1, 1), normal(40, 0.0, 2)
    own = tests_of.paired_t(a - b)
    made = tests_of.tost(own.estimate, own.se, own.df, 0.5)
    assert made.p == pytest.approx(ttost_paired(a, b, -0.5, 0.5)[0])
    inside = made.interval.low > -0.5 and made.interval.high < 0.5
    assert inside == (made.p < 0.05)


def test_noninferiority_is_one_side_of_it():
    assert tests_of.noninferiority(0.1, 0.2, 10, 0.5).p == pytest.approx(stats.t.sf(2.0, 10))
    assert tests_of.noninferiority(-3.0, 0.2, 10, 0.5).p < 1e-6
    assert tests_of.noninferiority(0.6, 0.2, 10, 0.5).p > 0.5


@pytest.mark.parametrize("seed", range(3))
def test_bca_equals_the_slow_one_and_p_inverts_it(seed):
    d = np.random.default_rng(seed).exponential(1.0, 25) - 0.7
    weights, means, without = bootstrap_of(d)
    made = tests_of.bca_test(means, float(d.mean()), without)
    assert [made.interval.low, made.interval.high] == pytest.approx(
        naive.bca_of_mean(d.tolist(), weights.tolist(), naive.student_level(0.95, 25)), rel=1e-9
    )
    inverted = intervals.inversion_p(
        lambda level: intervals.bca(means, float(d.mean()), without, naive.student_level(level, 25))
    )
    assert made.p == pytest.approx(inverted, rel=1e-6)


@pytest.mark.parametrize("shift", [0.2, 0.4, 0.45, 0.5, 0.6, 2.0])
def test_bca_p_is_below_05_exactly_when_the_interval_excludes_0(shift):
    d = np.random.default_rng(8).exponential(1.0, 30) - 1 + shift
    _, means, without = bootstrap_of(d)
    made = tests_of.bca_test(means, float(d.mean()), without)
    assert (made.p < 0.05) == (not made.interval.low <= 0 <= made.interval.high)
    assert made.p >= 2 / 1000


CONSTANT = np.full(20, 0.1)


def test_a_constant_difference_is_the_limit_and_significant_everywhere():
    weights = item_weights(0, 0, 99, 20)
    t = tests_of.paired_t(CONSTANT)
    assert (t.p, t.statistic, t.interval.low, t.interval.reason) == (0.0, None, None, NO_SPREAD)
    assert tests_of.wilcoxon(CONSTANT).p < 0.05
    bootstrap = tests_of.bca_test(np.full(99, 0.1), 0.1, CONSTANT)
    assert (bootstrap.p, bootstrap.interval.reason) == (0.02, NO_SPREAD)
    assert tests_of.nadeau_bengio(np.full(3, 0.1), 0.25).p == 0.0
    assert tests_of.tost(0.1, 0.0, 19, 0.2).p == 0.0
    assert tests_of.tost(0.1, 0.0, 19, 0.05).p == 1.0
    dz = effects.cohen_dz(CONSTANT, moments(CONSTANT, weights))
    assert dz.estimate is None
    assert dz.interval.reason == effects.INFINITE


def test_no_difference_at_all_is_a_reason():
    nothing = np.zeros(5)
    for made in (
        tests_of.paired_t(nothing),
        tests_of.wilcoxon(nothing),
        tests_of.bca_test(nothing, 0.0, nothing),
        tests_of.nadeau_bengio(np.zeros(3), 0.2),
        effects.cohen_dz(nothing, np.zeros((9, 2))),
    ):
        assert made.p is None
        assert made.interval.reason == NO_DIFFERENCE


def test_one_pair_is_a_reason():
    assert tests_of.paired_t(np.array([0.3])).interval.reason == tests_of.ONE_PAIR
    assert effects.cohen_dz(np.array([0.3]), np.ones((9, 2))).interval.reason
    assert effects.superiority(np.array([0.3]), np.ones(9)).interval.method == "exact"


def test_rounding_is_no_difference():
    a, b = np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.4, 0.5])
    d = tests_of.settled(b - a, 0.5)
    assert d.min() == d.max()
    assert not tests_of.settled(np.array([1e-14, -3e-15]), 1.0).any()
    kept = np.array([1e-9, 0.5])
    assert np.array_equal(tests_of.settled(kept, 1.0), kept)


def test_cohen_dz_interval_holds_the_truth():
    """d_z = .5: 100 studies of 40 pairs, 95 covered expected; 87 is 3.7 sd below (odds 1e-3), the seed is fixed."""
    generator = np.random.default_rng(0)
    covered = 0
    for study in range(100):
        d = generator.normal(0.5, 1.0, 40)
        made = effects.cohen_dz(d, moments(d, item_weights(study, 0, 399, 40))).interval
        covered += made.low <= 0.5 <= made.high
    assert covered >= 87


def test_superiority_counts_ties_half():
    d = np.array([1.0, 2.0, 0.0, -1.0, 3.0, 0.0])
    made = effects.superiority(d, shares(d, item_weights(0, 0, 499, 6)))
    assert made.estimate == pytest.approx(4 / 6)  # 3 wins and 2 ties of 6
    assert made.interval.method == "bca"
    binomial = stats.binomtest(14, 20).proportion_ci(0.95, "exact")
    made = effects.superiority(np.array([1.0] * 14 + [-1.0] * 6), np.ones(9))
    assert (made.interval.low, made.interval.high) == pytest.approx((binomial.low, binomial.high))


def test_size_at_the_null():
    """600 studies of 40 pairs of skewed scores: 30 rejections expected, sd 5.3.

    Paired t: 9..51 is 4 sd on either side (odds of failing by chance below 1e-4; the seed is fixed). The bootstrap is
    known to reject somewhat too often on 40 skewed pairs (about 7%): up to 69, again with 4 sd to spare.
    """
    generator = np.random.default_rng(4)
    by_t = by_bootstrap = 0
    for study in range(600):
        d = generator.exponential(1.0, 40) - generator.exponential(1.0, 40)
        by_t += tests_of.paired_t(d).p < 0.05
        _, means, without = bootstrap_of(d, 299, study)
        by_bootstrap += tests_of.bca_test(means, float(d.mean()), without).p < 0.05
    assert 9 <= by_t <= 51
    assert 9 <= by_bootstrap <= 69


@pytest.mark.parametrize("n_resamples", [40, 41, 99, 400])
def test_bca_p_and_interval_agree_for_whole_numbers_and_few_resamples(n_resamples):
    """Sums of few whole differences are often exactly 0, where several shares have the same quantile."""
    checked = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        d = (-1) ** seed * (rng.integers(-1, 3, 12) + 0.0)
        _, means, without = bootstrap_of(d, n_resamples, seed)
        made = tests_of.bca_test(means, float(d.mean()), without)
        if made.interval.low is not None:
            checked += 1
            assert (made.p < 0.05) == (not made.interval.low <= 0 <= made.interval.high), seed
    assert checked > 50


def test_bca_needs_enough_resamples_for_its_p():
    """2 / (39 + 1) is not below .05: an interval that excludes 0 could not have its p."""
    d = np.arange(1.0, 21.0)
    _, means, without = bootstrap_of(d, 39)
    made = tests_of.bca_test(means, 10.5, without)
    assert (made.p, made.interval.low, made.estimate) == (None, None, 10.5)
    assert made.interval.reason == "BCa at level 0.95 needs 40 resamples, and there are 39"
