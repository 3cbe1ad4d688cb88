"""Dependent correlations: published examples, loops of the formulas, size under normality, coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest

from saturation.errors import UsageError
from saturation.resampling.correlations import steiger, williams, zou


def determinant(r12, r13, r23):
    return float(np.linalg.det(np.array([[1, r12, r13], [r12, 1, r23], [r13, r23, 1]])))


@pytest.mark.parametrize(
    ("r12", "r13", "r23", "n"), [(0.4, 0.5, 0.1, 103), (0.36, 0.31, 0.8, 1514), (-0.2, 0.3, 0, 20)]
)
def test_williams_by_its_formula(r12, r13, r23, n):
    mean = (r12 + r13) / 2
    below = 2 * (n - 1) / (n - 3) * determinant(r12, r13, r23) + mean**2 * (1 - r23) ** 3
    expected = (r12 - r13) * math.sqrt((n - 1) * (1 + r23) / below)
    t, df, _ = williams(r12, r13, r23, n)
    assert (float(t), float(df)) == pytest.approx((expected, n - 3))


def test_steiger_with_equal_correlations_is_the_asymptotic_variance():
    """At r12 = r13 = r the variance of the z difference is (2 - 2 c)/(n - 3), c the covariance of Pearson and Filon.

    r = .5, r23 = .4: psi = .4 (1 - .25 - .25) - .5 * .25 * (1 - .25 - .25 - .16) = .2 - .0425 = .1575,
    c = .1575 / .75^2 = .28; with z12 - z13 = artanh(.55) - artanh(.45) the pooled r stays .5.
    """
    z, _ = steiger(0.55, 0.45, 0.4, 103)
    expected = (math.atanh(0.55) - math.atanh(0.45)) * 10 / math.sqrt(2 - 2 * 0.28)
    assert float(z) == pytest.approx(expected)


def test_arrays_go_elementwise():
    r12 = np.array([0.4, 0.5])
    t, _, p = williams(r12, 0.3, 0.2, 50)
    for place, r in enumerate(r12):
        assert t[place] == williams(r, 0.3, 0.2, 50)[0]
        assert p[place] == williams(r, 0.3, 0.2, 50)[2]


@pytest.mark.parametrize("n", [2, 3])
def test_too_few_items_are_undefined(n):
    assert math.isnan(williams(0.1, 0.2, 0.3, n)[0])
    assert math.isnan(steiger(0.1, 0.2, 0.3, n)[0])
    assert math.isnan(zou(0.1, 0.2, 0.3, n)[0])


def test_limits():
    assert math.isnan(williams(0.5, 0.5, 1.0, 100)[0])  # one and the same model: 0 / 0
    assert math.isnan(steiger(0.5, 0.5, 1.0, 100)[0])
    assert math.isnan(steiger(1.0, 0.5, 0.5, 100)[0])
    assert math.isnan(zou(1.0, 0.5, 0.5, 100)[0])
    with pytest.raises(UsageError, match="not a correlation"):
        williams(1.2, 0, 0, 10)


def test_size_and_coverage_under_normality():
    """2,000 studies of 60 items with r12 = r13 = .5, r23 = .6: 100 rejections expected of each test, sd 9.7.

    61..139 is 4 sd on either side (odds below 1e-4 each); the seed is fixed.
    """
    generator = np.random.default_rng(3)
    root = np.linalg.cholesky(np.array([[1, 0.5, 0.5], [0.5, 1, 0.6], [0.5, 0.6, 1]]))
    data = generator.normal(size=(2000, 60, 3)) @ root.T
    data -= data.mean(axis=1, keepdims=True)
    data /= np.sqrt((data**2).sum(axis=1, keepdims=True))
    r12, r13, r23 = ((data[:, :, i] * data[:, :, j]).sum(axis=1) for i, j in ((0, 1), (0, 2), (1, 2)))
    low, high = zou(r12, r13, r23, 60)
    rejected = [
        int((williams(r12, r13, r23, 60)[2] < 0.05).sum()),
        int((steiger(r12, r13, r23, 60)[1] < 0.05).sum()),
        int(((low > 0) | (high < 0)).sum()),
    ]
    assert all(61 <= number <= 139 for number in rejected), rejected
