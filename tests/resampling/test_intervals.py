"""Intervals against hand arithmetic and scipy given the same resamples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from saturation.resampling import intervals
from saturation.resampling.draw import item_weights
from saturation.resampling.jackknife import leave_one_out, pseudo_values


@pytest.fixture(scope="module")
def sample():
    return np.random.default_rng(3).exponential(size=40)


@pytest.fixture(scope="module")
def distribution(sample):
    return (item_weights(0, 0, 2000, 40) * sample).sum(axis=1) / 40


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize(("ours", "method"), [("bca", "BCa"), ("percentile", "percentile"), ("basic", "basic")])
def test_scipy_gives_the_same_ends_from_the_same_resamples(sample, distribution, level, ours, method):
    given = stats._resampling.BootstrapResult(
        confidence_interval=None, bootstrap_distribution=distribution, standard_error=None
    )
    scipys = stats.bootstrap(
        (sample,), np.mean, n_resamples=0, confidence_level=level, method=method, bootstrap_result=given
    ).confidence_interval
    if ours == "bca":
        deleted = leave_one_out(sample[None], lambda means: means[..., 0])
        got = intervals.bca(distribution, sample.mean(), deleted, level)
    elif ours == "basic":
        got = intervals.basic(distribution, sample.mean(), level)
    else:
        got = intervals.percentile(distribution, level)
    assert got.method == ours
    assert got.low == pytest.approx(scipys.low, abs=1e-12)
    assert got.high == pytest.approx(scipys.high, abs=1e-12)


def test_bca_extrapolates_nowhere():
    values = np.linspace(0, 1, 1001)
    jackknife = np.arange(10.0)
    for estimate in (0.005, 0.995):
        refused = intervals.bca(values, estimate, jackknife)
        assert (refused.low, refused.high, refused.method) == (None, None, "none")
        assert "lie below the estimate" in refused.reason
    assert intervals.bca(values, 0.5, jackknife).low is not None


@pytest.mark.parametrize("make", [intervals.percentile, lambda d: intervals.bca(d, 1.0, np.arange(3.0))])
def test_no_spread_is_a_reason(make):
    assert "all resamples agree" in make(np.ones(100)).reason


def test_undefined_resamples_are_counted_or_refused():
    values = np.arange(1000.0)
    values[:5] = np.nan
    assert intervals.percentile(values).reason == "5 of 1000 resamples are undefined and left out"
    values[:11] = np.nan
    assert intervals.percentile(values).reason == "the statistic is undefined in 11 of 1000 resamples"
    assert intervals.percentile(values).low is None


def test_student_t_and_normal():
    """t_{.975, 4} = 2.776445."""
    got = intervals.normal(1.0, 2.0, 0.95, df=4)
    assert (got.low, got.high) == pytest.approx((1 - 5.55289, 1 + 5.55289), abs=1e-5)
    assert intervals.normal(1.0, 2.0, 0.95, df=float("inf")) == intervals.normal(1.0, 2.0, 0.95)
    assert intervals.normal(1.0, 0.0).low is None
    assert intervals.normal(1.0, float("nan")).low is None


def test_fisher_z():
    """artanh .5 = .549306; .549306 +- 1.959964 * .1 = .353310, .745303; tanh: .339310, .632327."""
    got = intervals.fisher_z(0.5, 0.1)
    assert (got.low, got.high) == pytest.approx((0.33931, 0.63233), abs=1e-4)
    assert "infinite" in intervals.fisher_z(1.0, 0.1).reason


def test_studentized_by_hand():
    """t* quantiles of -10..10 at 90%: -9, 9 -> 2 -+ 9 * .5."""
    got = intervals.studentized(2.0, 0.5, np.arange(-10.0, 11.0), 0.9)
    assert (got.low, got.high) == (-2.5, 6.5)


def test_inverted_p_agrees_with_the_printed_interval(distribution, sample):
    estimate = sample.mean()
    for null in np.quantile(distribution, [0.01, 0.02, 0.03, 0.3, 0.98]):
        p = intervals.inversion_p(lambda level: intervals.percentile(distribution, level), null)
        printed = intervals.percentile(distribution, 0.95)
        assert (p < 0.05) == (not printed.low <= null <= printed.high)
    p = intervals.inversion_p(lambda level: intervals.normal(estimate, 0.2, level), 0.0)
    assert p == pytest.approx(2 * stats.norm.sf(estimate / 0.2), abs=1e-9)
    assert intervals.inversion_p(lambda level: intervals.none("no"), 0.0) is None


def test_studentized_p_counts_the_sample_itself():
    assert intervals.studentized_p(9.0, np.zeros(99)) == 0.01


def test_jackknife_of_a_ratio_against_recomputing(sample):
    features = np.stack([sample, sample**2])

    def variance(means):
        return means[..., 1] - means[..., 0] ** 2

    expected = [np.delete(sample, i).var() for i in range(40)]
    assert leave_one_out(features, variance) == pytest.approx(expected, abs=1e-13)
    pseudo = [40 * sample.var() - 39 * e for e in expected]
    assert pseudo_values(features, variance) == pytest.approx(pseudo, abs=1e-11)
    assert leave_one_out(features[None, None], variance).shape == (1, 1, 40)


def test_rounding_is_no_spread():
    """0.1 + 0.2 differs from 0.3 by 6e-17: an interval of that width would be a claim of certainty."""
    drawn = np.array([0.3, 0.1 + 0.2] * 50)
    assert intervals.percentile(drawn).low is None
    assert intervals.normal(0.3, float(drawn.std(ddof=1))).low is None
    assert intervals.normal(0.0, 1e-17).low is not None
    assert intervals.agree(np.array([np.inf, np.inf]))
    assert not intervals.agree(np.array([1.0, np.inf]))
