"""The draws behind simultaneous bands."""

import numpy as np
import pytest
from scipy import special, stats

from saturation.resampling.max_t import _largest, chi_squared_quantiles, max_t
from saturation.streams import Purpose, uniforms


@pytest.mark.parametrize("df", [1.0, 1.7, 4.0, 60.0, 1e6])
def test_quantiles_against_scipy(df):
    z = np.linspace(-4.3, 4.3, 999)
    assert chi_squared_quantiles(z, df) == pytest.approx(stats.chi2.ppf(special.ndtr(z), df), rel=1e-11)


def test_draws_are_the_quotient_of_normals_and_an_inverted_chi_squared():
    """|(.6 z1 + .8 z2)| and |z1| over the root of chi-squared by scipy's own inversion, draw by draw."""
    n = 500
    z1, z2 = (special.ndtri(uniforms(9, Purpose.MAX_T, np.arange(n), np.full(n, k))) for k in (1, 2))
    chance = uniforms(9, Purpose.MAX_T, np.arange(n), np.zeros(n, dtype=np.int64))
    slow = np.maximum(np.abs(z1), np.abs(0.6 * z1 + 0.8 * z2)) / np.sqrt(stats.chi2.ppf(chance, 3.5) / 3.5)
    assert _largest(np.array([[1, 0.6], [0.6, 1]]), 3.5, 9, n) == pytest.approx(slow, rel=1e-11)


def test_a_band_does_not_depend_on_the_bands_before_it():
    small, large = np.eye(2), np.full((5, 5), 0.5) + 0.5 * np.eye(5)
    first = max_t(large, 6.5, seed=21)
    assert max_t(small, 6.5, seed=21) < first
    assert max_t(large, 6.5, seed=21) == first
