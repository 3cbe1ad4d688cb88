"""Intervals with room for a bounded bias."""

import pytest
from scipy import stats

from saturation.resampling.bias_aware import bias_aware, biased_critical
from saturation.resampling.intervals import Interval, none


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("bias", [0.0, 0.3, 1.5, 5.9, 6.1, 40.0])
def test_the_critical_value_covers_at_the_largest_bias(bias, level):
    """P(-c <= Z + bias <= c) by the normal distribution itself."""
    c = biased_critical(level, bias)
    assert stats.norm.cdf(c - bias) - stats.norm.cdf(-c - bias) == pytest.approx(level, abs=1e-9)


def test_halves_are_stretched_alike():
    """Bias of one standard error: c = 2.646, Phi(1.646) - Phi(-3.646) = .9501 - .0001; halves 1 and 3 by 1.350."""
    made = bias_aware(Interval(9.0, 13.0, "bca", "told"), 10.0, 0.5, 0.5)
    stretch = stats.ncx2.ppf(0.95, 1, 1) ** 0.5 / stats.norm.ppf(0.975)
    assert stretch == pytest.approx(1.350, abs=1e-3)
    assert (made.low, made.high) == (pytest.approx(10 - stretch), pytest.approx(10 + 3 * stretch))
    assert (made.method, made.reason) == ("bca", "told")


def test_nothing_to_stretch():
    interval = Interval(1.0, 2.0, "normal")
    assert bias_aware(interval, 1.5, 0.2, 0.0) == interval
    assert bias_aware(none("told"), 1.5, 0.2, 0.1) == none("told")
    assert bias_aware(interval, 1.5, None, 0.1) == interval
