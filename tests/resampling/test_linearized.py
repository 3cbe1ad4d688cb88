"""Few-seeds variances: formulas with loops, known variances by simulation, Fieller sets, simultaneous bands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from saturation.errors import UsageError
from saturation.resampling.fieller import FiellerSet, fieller, union
from saturation.resampling.linearized import ONE_SEED, Covariance, Influence, covariance
from saturation.resampling.max_t import max_t, max_t_p, semidefinite_root
from tests import naive

OVERLAPPING = (np.array([0, 1, 2, 5]), np.array([2, 3, 5, 6, 8]), np.array([0, 2, 7]))


def influence_of(values, items, n_items):
    """Means over cells of plain scores: values[s] is (statistics, seeds, items)."""
    cells = tuple(v.mean(axis=2) for v in values)
    return Influence(np.concatenate(cells, axis=1).mean(axis=1), cells, tuple(values), tuple(items), n_items)


def random_influence(n_seeds=3, size=2, seed=0):
    generator = np.random.default_rng(seed)
    values = [generator.normal(size=(size, n_seeds, len(items))) for items in OVERLAPPING]
    return influence_of(values, OVERLAPPING, 9)


@pytest.mark.parametrize("n_seeds", [1, 2, 5])
@pytest.mark.parametrize("seed", range(4))
def test_parts_equal_the_formulas_with_loops(n_seeds, seed):
    influence = random_influence(n_seeds, 1, seed)
    expected = naive.few_seeds_variance([v[0].tolist() for v in influence.values], OVERLAPPING)
    got = covariance(influence)
    assert got.items[0, 0] == pytest.approx(expected["items"], rel=1e-12)
    assert got.seeds[0, 0] == pytest.approx(expected["seeds"], rel=1e-12, abs=0)
    assert got.error[0, 0] == pytest.approx(expected["error"], rel=1e-12, abs=0)
    assert got.variance(np.array([1.0])) == pytest.approx((expected["variance"], expected["df"]), rel=1e-12)


def test_a_contrast_is_the_statistic_of_the_contrast():
    influence = random_influence(3, 3)
    contrast = np.array([1.0, -2.0, 0.5])
    combined = influence.combine(contrast[None], np.array([contrast @ influence.estimates]))
    whole = covariance(influence).variance(contrast)
    assert covariance(combined).variance(np.array([1.0])) == pytest.approx(whole, rel=1e-10)


def test_an_item_in_two_splits_is_one_observation():
    """Two splits of the same items, one seed, equal scores: the variance is s^2 / I, not half of it."""
    scores = np.array([1.0, 2.0, 6.0, 7.0])
    same = influence_of([scores[None, None], scores[None, None]], [np.arange(4), np.arange(4)], 4)
    assert covariance(same).variance(np.array([1.0]))[0] == pytest.approx(scores.var(ddof=1) / 4, rel=1e-12)
    apart = influence_of([scores[None, None], scores[None, None]], [np.arange(4), np.arange(4, 8)], 8)
    # 8 distinct items: 8/7 * 2 * sum d^2 / 64 with sum d^2 = 9 + 4 + 4 + 9 = 26
    assert covariance(apart).variance(np.array([1.0]))[0] == pytest.approx(8 / 7 * 2 * 26 / 64, rel=1e-12)


def test_unequal_seeds_weigh_splits_by_their_cells():
    """Split 1 with 3 of 4 cells; the item part is sum over items of (share_s d / I_s)^2 * U/(U-1)."""
    one, three = np.array([[[0.0, 2.0]]]), np.array([[[0.0, 4.0]] * 3])
    got = covariance(influence_of([one, three], [np.arange(2), np.arange(2, 4)], 4))
    expected = 4 / 3 * (2 * (0.25 * 1 / 2) ** 2 + 2 * (0.75 * 2 / 2) ** 2)
    assert got.items[0, 0] == pytest.approx(expected, rel=1e-12)
    assert got.reason == ONE_SEED


def test_one_seed_carries_its_reason_and_the_items_df():
    got = covariance(random_influence(1, 1))
    assert got.variance(np.array([1.0]))[1] == 7  # items 0 1 2 3 5 6 7 8: 8 distinct, less 1
    interval = got.interval(0.0, np.array([1.0]))
    assert (interval.method, interval.reason) == ("linearized_t", ONE_SEED)


def test_annotators_are_added():
    influence = random_influence(3, 1)
    draws = np.array([[1.0, 2.0, 6.0]])
    with_ids = replace(influence, annotators=draws)
    without, _ = covariance(influence).variance(np.array([1.0]))
    assert covariance(with_ids).variance(np.array([1.0]))[0] == pytest.approx(without + 7.0, rel=1e-12)
    given = covariance(influence, annotators=np.array([[0.5]]), annotators_df=3)
    assert given.variance(np.array([1.0]))[0] == pytest.approx(without + 0.5, rel=1e-12)


def of_people(within, *, annotators=0.5):
    """One statistic: V_items = 1 with 99 df, V_A with 4 df, V_w with 9."""
    one, none = np.eye(1), np.zeros((1, 1))
    return Covariance(
        one, none, none, annotators * one, items_df=99, seeds_df=0, annotators_df=4, within=within * one, within_df=9
    )


def test_what_annotators_and_items_share_counts_once():
    """V_A = .5, V_w = .2: V = 1 + .3; V_A / sqrt(df_A) = .3/2 + .2/3 = .21667, df_A = (.5/.21667)^2 = 5.325.

    df = 1.3^2 / (1/99 + .21667^2) = 1.69 / (.010101 + .046944) = 29.626.
    """
    variance, df = of_people(0.2).variance(np.ones(1))
    assert (variance, df) == (pytest.approx(1.3), pytest.approx(29.626, abs=1e-3))


def test_annotators_who_do_nothing_alike_take_nothing_away():
    """V_w = .7 above V_A = .5: V = V_items; V_A is then noise with 9 df: df = 1 / (1/99 + .25/9)."""
    variance, df = of_people(0.7).variance(np.ones(1))
    assert (variance, df) == (pytest.approx(1.0), pytest.approx(1 / (1 / 99 + 0.25 / 9)))


def test_ratio_with_a_shared_part_inverts_the_test_that_variances_give():
    """Every f0 of a grid: inside exactly where abs(num - f0 den) <= t sqrt V(f0), df at the estimate."""
    generator = np.random.default_rng(4)
    over, under = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    for _ in range(30):
        items, seeds, error, people, within = (0.02 * a @ a.T for a in generator.normal(size=(5, 2, 2)))
        cov = Covariance(items, seeds, error, people, 40, 4, 12, within, 20)
        numerator, denominator = generator.uniform(0.2, 1.5, 2)
        found = cov.ratio(numerator, denominator, over, under, 0.9)
        df = cov.variance(over - numerator / denominator * under)[1]
        for f0 in np.linspace(-5, 5, 401):
            variance, _ = cov.variance(over - f0 * under)
            gap = abs(numerator - f0 * denominator) - stats.t.ppf(0.95, df) * variance**0.5
            if abs(gap) < 1e-6 or found.shape == "whole line":
                continue
            outside = not found.low <= f0 <= found.high
            if found.shape == "complement":
                outside = found.low < f0 < found.high
            assert outside == (gap > 0), (f0, found)


def test_known_variance_by_simulation():
    """z = item + seed + noise with variances 1, .05, .3; two splits of 30 items sharing 10, three seeds each.

    Var of the mean: items: (20 + 20 + 10 * 4) / (2 * 30)^2 = .02222; seeds .05 / 6 = .00833; noise .3 / 180 = .00167.
    """
    generator = np.random.default_rng(1)
    items = (np.arange(30), np.arange(20, 50))
    estimates, variances, covered = [], [], []
    for _ in range(600):
        of_item = generator.normal(size=50)
        values = [
            of_item[chosen]
            + generator.normal(scale=0.05**0.5, size=(1, 3, 1))
            + generator.normal(scale=0.3**0.5, size=(1, 3, 30))
            for chosen in items
        ]
        influence = influence_of(values, items, 50)
        got = covariance(influence)
        variances.append(got.variance(np.array([1.0]))[0])
        estimates.append(influence.estimates[0])
        interval = got.interval(influence.estimates[0], np.array([1.0]))
        covered.append(interval.low <= 0 <= interval.high)
    truth = 80 / 3600 + 0.05 / 6 + 0.3 / 180
    assert np.mean(variances) == pytest.approx(
        truth, rel=0.06
    )  # sd of the mean about 1.2%, and the maximum adds a little
    assert np.var(estimates) == pytest.approx(truth, rel=0.2)  # sd of a variance sqrt(2/600) = 5.8%
    assert 0.925 < np.mean(covered) < 0.98  # sd .009


def test_p_value_and_interval_agree():
    got = covariance(random_influence(3, 1))
    contrast = np.array([1.0])
    variance, df = got.variance(contrast)
    estimate = stats.t.ppf(0.975, df) * variance**0.5
    assert got.p_value(estimate, contrast) == pytest.approx(0.05, rel=1e-9)
    assert got.interval(estimate * 1.001, contrast).low > 0
    assert got.interval(estimate * 0.999, contrast).low < 0


def test_no_spread_and_one_item_are_reasons():
    flat = covariance(influence_of([np.ones((1, 2, 3))], [np.arange(3)], 3))
    assert flat.interval(1.0, np.array([1.0])).low is None
    assert flat.p_value(1.0, np.array([1.0])) is None
    single = covariance(influence_of([np.ones((1, 2, 1))], [np.arange(1)], 1))
    assert "one item" in single.interval(1.0, np.array([1.0])).reason


def test_shapes_are_checked():
    with pytest.raises(UsageError, match="influence values"):
        Influence(np.zeros(2), (np.zeros((2, 3)),), (np.zeros((1, 3, 4)),), (np.arange(4),), 4)


def test_adding_a_statistic_changes_no_bit():
    influence = random_influence(3, 4)
    few = replace(
        influence,
        estimates=influence.estimates[:1],
        cells=tuple(c[:1] for c in influence.cells),
        values=tuple(v[:1] for v in influence.values),
    )
    assert covariance(few).items[0, 0] == covariance(influence).items[0, 0]
    assert covariance(few).error[0, 0] == covariance(influence).error[0, 0]
    assert covariance(few).seeds[0, 0] == covariance(influence).seeds[0, 0]


def holds_by_test(value, numerator, denominator, cov, df, level=0.95):
    variance = cov[0, 0] - 2 * value * cov[0, 1] + value**2 * cov[1, 1]
    return (numerator - value * denominator) ** 2 <= stats.t.ppf((1 + level) / 2, df) ** 2 * variance


@pytest.mark.parametrize(
    ("numerator", "denominator", "rho", "shape"),
    [
        (2.0, 4.0, 0.0, "bounded"),
        (2.0, 4.0, 0.8, "bounded"),
        (-2.0, 4.0, 0.5, "bounded"),
        (2.0, -4.0, 0.5, "bounded"),
        (9.0, 1.0, 0.0, "complement"),
        (-9.0, 1.0, 0.3, "complement"),
        (0.5, 1.0, 0.0, "whole line"),
    ],
)
def test_fieller_is_the_inversion_of_the_test(numerator, denominator, rho, shape):
    cov = np.array([[0.5, 0.5 * rho], [0.5 * rho, 0.5]])
    got = fieller(numerator, denominator, cov, 12)
    assert got.shape == shape
    for value in np.linspace(-30, 30, 2001):
        assert got.holds(value) == holds_by_test(value, numerator, denominator, cov, 12)


def test_fieller_with_a_sure_denominator_is_the_t_interval():
    got = fieller(3.0, 2.0, np.array([[0.04, 0], [0, 0.0]]), 9)
    half = stats.t.ppf(0.975, 9) * 0.2
    assert (got.low, got.high) == pytest.approx(((3 - half) / 2, (3 + half) / 2))


@pytest.mark.parametrize("case", range(30))
def test_ratio_inverts_the_larger_of_both_variances(case):
    generator = np.random.default_rng(case)
    items, annotators = (a @ a.T for a in generator.normal(size=(2, 2, 2)))
    seeds = np.diag(generator.exponential(size=2) * generator.choice([0.1, 2.0]))
    error = seeds * generator.uniform(0, 1.5, size=2)
    cov = Covariance(items, seeds, error, annotators, 30, 4, 20.0)
    numerator, denominator = generator.normal(scale=4, size=2)
    over, under = np.eye(2)
    got = cov.ratio(numerator, denominator, over, under, 0.9)
    _, df = cov.variance(over - numerator / denominator * under)
    for value in np.linspace(-20, 20, 801):
        variance, _ = cov.variance(over - value * under)
        expected = (numerator - value * denominator) ** 2 <= stats.t.ppf(0.95, df) ** 2 * variance
        assert got.holds(value) == expected, (case, value)


def test_df_is_never_below_the_part_with_the_fewest():
    """V = 1 + 3 - 3 = 1, so Satterthwaite alone would give 1 / (1/29 + 9/1) = 0.11 and a half width of 1e9 and more."""
    one = np.array([1.0])
    cov = Covariance(np.eye(1), 3 * np.eye(1), 3 * np.eye(1), np.zeros((1, 1)), 29, 1, np.inf)
    assert cov.variance(one) == (1.0, 1.0)
    assert cov.interval(0.0, one).high == pytest.approx(stats.t.ppf(0.975, 1))


def test_ratio_of_a_numerator_that_is_zero_but_for_rounding():
    """0 / den is 0 whatever the denominator's spread; a variance of -1e-19 is a zero that was rounded."""
    zero = np.zeros((2, 2))
    cov = Covariance(np.diag([-1.6e-19, 2.6e-4]), zero, zero, zero, 59, 0, np.inf)
    assert cov.ratio(0.0, 0.24, np.array([1.0, 0]), np.array([0, 1.0])) == FiellerSet("bounded", 0.0, 0.0)


def test_ratio_where_the_error_exceeds_the_seeds():
    """What is left after V_e is no covariance and excludes every ratio: the items' own set is the answer."""
    zero = np.zeros((2, 2))
    cov = Covariance(0.01 * np.eye(2), zero, np.eye(2), zero, 29, 2, np.inf)
    alone = Covariance(0.01 * np.eye(2), zero, zero, zero, 29, 0, np.inf)
    assert cov.ratio(1.0, 2.0, *np.eye(2)) == alone.ratio(1.0, 2.0, *np.eye(2))


def test_union_of_sets():
    bounded, gap = FiellerSet("bounded", 2.0, 5.0), FiellerSet("complement", 0.0, 3.0)
    assert union(bounded, gap, at=4.0) == union(gap, bounded, at=4.0) == FiellerSet("complement", 0.0, 2.0)
    assert union(FiellerSet("bounded", -1.0, 5.0), gap, at=4.0).shape == "whole line"
    assert union(FiellerSet("bounded", -4.0, 1.0), gap, at=-2.0) == FiellerSet("complement", 1.0, 3.0)
    assert union(gap, FiellerSet("complement", 1.0, 4.0), at=9.0) == FiellerSet("complement", 1.0, 3.0)
    assert union(gap, FiellerSet("complement", 3.5, 4.0), at=9.0).shape == "whole line"


def test_max_t_of_independent_statistics():
    """P(all of 3 below c) = (2 Phi(c) - 1)^3 = .95 gives c = Phi^-1((1 + .95^(1/3)) / 2) = 2.388; MC error < .02."""
    assert max_t(np.eye(3)) == pytest.approx(stats.norm.ppf((1 + 0.95 ** (1 / 3)) / 2), abs=0.04)
    assert max_t(np.ones((3, 3))) == pytest.approx(1.96, abs=0.04)
    assert max_t(np.eye(1), df=4) == pytest.approx(stats.t.ppf(0.975, 4), abs=0.1)
    assert max_t(np.eye(2), seed=1) == max_t(np.eye(2), seed=1) != max_t(np.eye(2), seed=2)


@pytest.mark.parametrize("seed", range(6))
def test_a_band_is_never_narrower_than_one_interval(seed):
    assert max_t(np.eye(1), 1, seed=seed) >= stats.t.ppf(0.975, 1) * (1 - 1e-12)
    assert max_t(np.ones((2, 2)), seed=seed) >= stats.norm.ppf(0.975) * (1 - 1e-12)


def test_max_t_follows_the_correlation():
    """Against scipy's multivariate normal: P(abs z1 < c and abs z2 < c) = .95 at rho = .7."""
    c = max_t(np.array([[1, 0.7], [0.7, 1]]))
    law = stats.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]])
    inside = law.cdf([c, c], lower_limit=[-c, -c])
    assert inside == pytest.approx(0.95, abs=0.006)  # sd of the share .0015


def test_adjusted_p_agrees_with_the_critical_value():
    correlation = np.array([[1, 0.3], [0.3, 1]])
    c = max_t(correlation, 8)
    low, high = max_t_p(np.array([c * 1.01, -c * 0.99]), correlation, 8)
    assert low < 0.05 < high


def test_root_of_a_singular_matrix():
    matrix = np.array([[1, 1, 0.5], [1, 1, 0.5], [0.5, 0.5, 1]])
    root = semidefinite_root(matrix)
    assert root @ root.T == pytest.approx(matrix, abs=1e-12)


def test_the_mean_of_influence_values_is_immaterial():
    """Mean-zero influence values (as metrics give them) and scores have the same variance: seeds come from cells."""
    influence = random_influence(3, 2)
    mean_zero = replace(influence, values=tuple(v - v.mean(axis=2, keepdims=True) for v in influence.values))
    one = np.array([1.0, 0.0])
    assert covariance(mean_zero).variance(one) == pytest.approx(covariance(influence).variance(one), rel=1e-12)
    assert covariance(mean_zero).seeds[0, 0] > 0
