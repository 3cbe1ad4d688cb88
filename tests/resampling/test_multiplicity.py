"""Adjusted p-values: hand arithmetic, statsmodels, loops, and the family-wise error of max-t."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from saturation.errors import UsageError
from saturation.resampling.multiplicity import adjust, benjamini_hochberg, holm, romano_wolf
from tests import naive


@pytest.mark.parametrize(("ours", "theirs"), [(holm, "holm"), (benjamini_hochberg, "fdr_bh")])
@pytest.mark.parametrize("seed", range(5))
def test_equal_to_statsmodels(ours, theirs, seed):
    p = np.random.default_rng(seed).random(9) ** 3
    p[3] = p[5]
    assert ours(p) == pytest.approx(multipletests(p, method=theirs)[1], rel=1e-12)


@pytest.mark.parametrize("adjustment", ["holm", "bh", "none"])
def test_an_undefined_p_stays_undefined_and_is_not_counted(adjustment):
    p = np.array([0.01, 0.2, 0.03])
    with_gap = np.array([0.01, np.nan, 0.2, 0.03])
    adjusted, size = adjust(with_gap, adjustment)
    assert size == 3
    assert np.isnan(adjusted[1])
    assert np.array_equal(adjusted[[0, 2, 3]], adjust(p, adjustment)[0])


@pytest.mark.parametrize("adjustment", ["holm", "bh"])
def test_nothing_to_adjust(adjustment):
    assert np.isnan(adjust(np.array([np.nan]), adjustment)[0]).all()
    assert adjust(np.zeros(0), adjustment)[1] == 0


def test_unknown_adjustment():
    with pytest.raises(UsageError, match="holm"):
        adjust(np.array([0.5]), "bonferoni")


@pytest.mark.parametrize("seed", range(4))
def test_romano_wolf_equals_loops(seed):
    generator = np.random.default_rng(seed)
    t, null = generator.normal(size=6) * 2, generator.normal(size=(99, 6))
    assert romano_wolf(t, null).tolist() == naive.step_down_max_t(t.tolist(), null.tolist())
    t[2] = np.nan
    rest = [0, 1, 3, 4, 5]
    assert romano_wolf(t, null)[rest].tolist() == naive.step_down_max_t(t[rest].tolist(), null[:, rest].tolist())
    assert np.isnan(romano_wolf(t, null)[2])


def test_romano_wolf_gains_from_dependence():
    """Tests that are one and the same cost nothing together; Holm would multiply by 5."""
    null = np.repeat(np.random.default_rng(0).normal(size=(999, 1)), 5, axis=1)
    t = np.full(5, 2.5)
    alone = romano_wolf(t[:1], null[:, :1])
    assert romano_wolf(t, null) == pytest.approx(np.repeat(alone, 5))


def test_family_wise_error_of_romano_wolf():
    """400 families of 4 correlated nulls: 20 rejected families expected, sd 4.4; 2..38 is 4 sd: odds below 1e-4."""
    generator = np.random.default_rng(5)
    mix = np.linalg.cholesky(0.5 * np.eye(4) + 0.5)
    families = 0
    for _ in range(400):
        d = generator.normal(size=(40, 4)) @ mix.T
        flips = generator.choice([-1.0, 1.0], (199, 40))
        scale = np.sqrt((d**2).sum(axis=0))
        families += (romano_wolf(d.sum(axis=0) / scale, flips @ d / scale) <= 0.05).any()
    assert 2 <= families <= 38
