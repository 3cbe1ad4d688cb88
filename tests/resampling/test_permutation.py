"""Sign flips: enumeration, exact laws, random flips with their Monte Carlo error, and size at the null."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from saturation.errors import UsageError
from saturation.resampling.permutation import (
    exact_p,
    flipped_means,
    saddlepoint_p,
    sign_flip,
    signs,
)
from tests import naive


def normal(n, shift=0.0, seed=0):
    return np.random.default_rng(seed).normal(shift, 1.0, n)


@pytest.mark.parametrize("seed", range(4))
def test_enumeration_equals_loops_over_every_pattern(seed):
    d = normal(9, 0.4, seed)
    assert exact_p(d) == (naive.sign_flip_p(d.tolist()), "enumeration")


def test_zeros_do_not_count():
    d = np.array([1.0, 0.0, 2.0, 3.0, 0.0])
    assert exact_p(d)[0] == exact_p(d[d != 0])[0] == 0.25  # 2 of 8 patterns of +-1 +-2 +-3 reach 6
    assert exact_p(np.zeros(4))[0] is None


def test_exact_convolution_of_whole_numbers_is_the_binomial():
    """12 ones of 20, 8 minus ones: |S| >= 4 means at least 12 or at most 8 heads of 20."""
    d = np.array([1.0] * 12 + [-1.0] * 8)
    p, law = exact_p(d)
    assert law == "exact convolution"
    assert p == pytest.approx(stats.binomtest(12, 20).pvalue, rel=1e-12)


@pytest.mark.parametrize("unit", [1.0, 1 / 3, 1 / 6, 1e-7])
def test_exact_convolution_equals_enumeration_on_any_unit(unit):
    multiples = np.array([1, -2, 3, 2, 5, 3, 1, -1, 4, 2, 2, -3, 1, 1, 2, -1, 4, 1])  # 18 of them: a law, not a list
    p, law = exact_p(multiples * unit)
    assert law == "exact convolution"
    assert p == pytest.approx(naive.sign_flip_p(multiples.tolist()), rel=1e-12)


@pytest.mark.parametrize("shift", [0.0, 0.3, 0.9])
def test_convolution_and_saddlepoint_equal_enumeration(shift):
    d = normal(17, shift, 3)
    expected = naive.sign_flip_p(d.tolist())
    p, law = exact_p(d)
    assert law == "convolution"
    assert p == pytest.approx(expected, rel=2e-3)  # 131,072 patterns: the law has steps of 1.5e-5
    assert saddlepoint_p(d) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.06, 0.2])
def test_convolution_and_saddlepoint_agree_on_many(shift):
    """Two independent derivations, from p near 1 to 1e-13."""
    d = np.random.default_rng(1).exponential(1.0, 1500) * np.random.default_rng(2).choice([-1, 1], 1500) + shift
    p, law = exact_p(d)
    assert law == "convolution"
    assert p == pytest.approx(saddlepoint_p(d), rel=5e-3)


def test_the_saddlepoint_is_continuous_where_it_divides_by_nothing():
    d = normal(400)
    centred = d - d.mean()
    shifts = (0.0, 1e-9, 1e-6, 3e-6, 1e-5, 1e-3)
    found = [saddlepoint_p(centred + shift) for shift in shifts]
    expected = [2 * stats.norm.sf(abs((centred + s).sum()) / np.sqrt(((centred + s) ** 2).sum())) for s in shifts]
    assert found == pytest.approx(expected, rel=1e-3)


def test_all_on_one_side_is_the_smallest_attainable():
    assert exact_p(np.full(40, 0.1))[0] == 2.0**-39
    assert saddlepoint_p(np.full(40, 0.1)) == 2.0**-39
    assert 0 < exact_p(normal(5000) ** 2 + 0.1)[0] < 1e-300  # below every float that could be reached by dividing


def test_flips_use_the_documented_bits():
    drawn = signs(5, 3, 6, 130)
    expected = [[naive.flip_sign(5, flip, item) for item in range(130)] for flip in range(3, 6)]
    assert drawn.tolist() == expected


def test_flips_do_not_depend_on_threads_blocks_or_company():
    d = np.stack([normal(40, 0, 1), normal(40, 0, 2)])
    both = flipped_means(d, 7, 500)
    assert np.array_equal(both, flipped_means(d, 7, 500, threads=1))
    assert np.array_equal(both[:, :1], flipped_means(d[:1], 7, 500))
    assert np.array_equal(both[:200], flipped_means(d, 7, 200))


def test_random_flips_agree_with_scipy_and_the_exact_law():
    """Within 4 Monte Carlo standard errors: 6e-5 odds of failing by chance, and the seeds are fixed."""
    d = normal(60, 0.22, 5)
    test = sign_flip(d, seed=1, n_flips=9999)
    scipy = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=9999, rng=np.random.default_rng(0)
    )
    assert abs(test.p_flips - test.p) < 4 * test.se_flips
    assert abs(scipy.pvalue - test.p) < 4 * test.se_flips
    assert test.se_flips == pytest.approx(np.sqrt(test.p_flips * (1 - test.p_flips) / 9999))


def test_not_finite_is_refused():
    with pytest.raises(UsageError, match="finite"):
        exact_p(np.array([1.0, np.nan]))


def test_size_at_the_null():
    """600 studies of 30 skewed but symmetric differences: 30 rejections expected, sd 5.3.

    The range 9..51 is 4 sd wide on either side: odds of failing by chance below 1e-4, and the seed is fixed.
    """
    generator = np.random.default_rng(11)
    rejected = sum(exact_p(generator.laplace(size=30) ** 3)[0] <= 0.05 for _ in range(600))
    assert 9 <= rejected <= 51
