"""Fractions, N* and their bounds, without a panel."""

import numpy as np
import pytest
from scipy import optimize, special, stats

from saturation.analyses import n_star as stars
from saturation.analyses.fractions import BASELINE_IS_CEILING, WORSE_CEILING, Fraction, fraction
from saturation.analyses.joint import percentile_p
from saturation.resampling.linearized import Covariance, Influence, covariance


def spread_of(matrix, items_df=99):
    none = np.zeros_like(matrix)
    return Covariance(matrix, none, none, none, items_df=items_df, seeds_df=5, annotators_df=np.inf)


def random_influence(rng, sizes=(30, 25), seeds=3, statistics=3, estimates=(1.0, 0.62, 0.5)):
    values, cells, items = [], [], []
    for size in sizes:
        items.append(np.sort(rng.choice(40, size, replace=False)))
        of_item = rng.normal(0, 0.4, (statistics, 1, size))
        of_seed = rng.normal(0, 0.02, (statistics, seeds, 1))
        values.append(of_item + of_seed + rng.normal(0, 0.1, (statistics, seeds, size)))
        cells.append(np.array(estimates)[:, None] + of_seed[..., 0])
    return Influence(np.array(estimates), tuple(cells), tuple(values), tuple(items), 40)


BASE, AT, CEIL = np.eye(3)


def test_a_line_from_baseline_to_ceiling_is_no_finding():
    """Any losses would give exp(.9 ln 2) = 1.87 for budgets 1 and 2."""
    found = stars.n_star_interpolated([1, 2], [BASELINE, CEILING], 0.9)
    assert (found.estimate, found.low, found.high) == (None, None, None)
    assert found.reason == stars.NOTHING_BETWEEN


def test_losses_that_are_the_same_on_every_item_are_no_certainty():
    """What rounding leaves as a spread (1e-16 of losses near 1) is none: no share, rather than one without width."""
    made = fraction(np.array([1.0, 0.62, 0.5]), BASE - AT, BASE - CEIL, spread_of(np.diag([1e-32, 2e-32, 1e-32])))
    assert (made.estimate, made.low, made.high, made.interval) == (None, None, None, "none")
    assert "the same on every item" in made.reason
    assert fraction(np.array([1.0, 0.62, 0.5]), BASE - AT, BASE - CEIL, spread_of(np.eye(3) * 1e-18)).low is not None


def test_fieller_limits_are_where_the_test_stops_rejecting():
    rng = np.random.default_rng(1)
    parts = covariance(random_influence(rng))
    losses = np.array([1.0, 0.62, 0.5])
    made = fraction(losses, BASE - AT, BASE - CEIL, parts)
    _, df = parts.variance((BASE - AT) - made.estimate * (BASE - CEIL))
    t = special.stdtrit(df, 0.975)

    def rejected(f0):
        contrast = (BASE - AT) - f0 * (BASE - CEIL)
        return abs(contrast @ losses) > t * parts.variance(contrast)[0] ** 0.5

    grid = np.linspace(made.low - 0.2, made.high + 0.2, 4001)
    inside = grid[[not rejected(f0) for f0 in grid]]
    assert made.estimate == pytest.approx(0.38 / 0.5)
    assert inside.min() == pytest.approx(made.low, abs=2e-4)
    assert inside.max() == pytest.approx(made.high, abs=2e-4)
    # the one-sided bound is the lower end at level .90
    t90 = special.stdtrit(df, 0.95)
    contrast = (BASE - AT) - made.lower * (BASE - CEIL)
    assert contrast @ losses == pytest.approx(t90 * parts.variance(contrast)[0] ** 0.5)


@pytest.mark.parametrize("numerator", [0.004, 0.0195, 0.0206, 0.3])
def test_p_is_below_five_percent_exactly_when_the_interval_excludes_zero(numerator):
    parts = spread_of(np.diag([1e-4, 1e-9, 1e-9]))
    made = fraction(np.array([1.0, 1 - numerator, 0.5]), BASE - AT, BASE - CEIL, parts)
    assert (made.p < 0.05) == (made.low > 0)


def test_ceiling_and_baseline_are_exact():
    parts = spread_of(np.eye(3) * 1e-4)
    losses = np.array([1.0, 0.6, 0.5])
    own = fraction(losses, BASE - CEIL, BASE - CEIL, parts)
    zero = fraction(losses, BASE - BASE, BASE - CEIL, parts)
    assert (own.estimate, own.low, own.high, own.interval) == (1.0, 1.0, 1.0, "exact")
    assert "needs no interval" in own.reason
    assert (zero.estimate, zero.interval) == (0.0, "exact")


def test_undefined_where_the_denominator_is_not_distinguishable_from_zero():
    parts = spread_of(np.eye(3) * 1e-2)
    made = fraction(np.array([0.55, 0.52, 0.5]), BASE - AT, BASE - CEIL, parts)
    # t = .05 / sqrt(.02) = .354
    assert made.denominator_p == pytest.approx(2 * stats.t.sf(0.05 / 0.02**0.5, 99), rel=1e-6)
    assert made.estimate is None
    assert made.low is None
    assert "not distinguishable" in made.reason
    assert made.fieller.shape in ("complement", "whole line")


def test_a_share_that_is_the_same_for_every_item_is_exact():
    """Loss s_i (1/N + 1/R) at N = 1, 2, 10: (1 - 1/2) / (1 - 1/10) = 5/9 for every item, however much s_i varies."""
    spread = np.random.default_rng(0).exponential(size=40)
    values = spread * np.array([1.0, 0.5, 0.1])[:, None, None] + spread * 0.1
    means = values.mean(axis=2)
    cov = covariance(Influence(means[:, 0], (means,), (values,), (np.arange(40),), 40))
    made = fraction(means[:, 0], BASE - AT, BASE - CEIL, cov)
    assert (made.interval, made.se) == ("exact", 0.0)
    assert made.low == made.high == made.estimate == pytest.approx(5 / 9)


@pytest.mark.parametrize(("end", "share"), [(0, 0.0), (2, 1.0)])
def test_agreeing_with_an_end_on_all_items_gives_no_interval(end, share):
    """A budget that scores as the baseline (or the ceiling) on all of these items: other items need not repeat it."""
    values = np.random.default_rng(0).normal(size=(3, 1, 40)) + np.array([1.0, 1.0, 0.0])[:, None, None]
    values[1] = values[end]
    means = values.mean(axis=2)
    cov = covariance(Influence(means[:, 0], (means,), (values,), (np.arange(40),), 40))
    made = fraction(means[:, 0], BASE - AT, BASE - CEIL, cov)
    assert (made.estimate, made.low, made.high, made.lower, made.interval) == (share, None, None, None, "none")
    assert made.reason.startswith("no interval")


def test_baseline_that_is_the_ceiling():
    made = fraction(np.array([1.0, 0.6, 0.5]), CEIL - AT, CEIL - CEIL, spread_of(np.eye(3)))
    assert (made.estimate, made.reason) == (None, BASELINE_IS_CEILING)


def test_ceiling_worse_than_baseline_is_said_and_has_no_n_star():
    parts = spread_of(np.eye(3) * 1e-6)
    made = fraction(np.array([0.5, 0.9, 1.0]), BASE - AT, BASE - CEIL, parts)
    assert made.estimate == pytest.approx(0.8)
    assert WORSE_CEILING in made.reason
    assert stars.n_star([1, 10], [made, made], 0.5).reason == WORSE_CEILING


def test_no_spread_is_a_reason():
    made = fraction(np.array([1.0, 0.6, 0.5]), BASE - AT, BASE - CEIL, spread_of(np.zeros((3, 3))))
    assert made.estimate is None
    assert made.reason


def known(estimate, half, lower_half=None):
    lower = estimate - (half if lower_half is None else lower_half)
    return Fraction(
        estimate, estimate, 1.0, low=estimate - half, high=estimate + half, lower=lower, se=half / 2, interval="fieller"
    )


CEILING = Fraction(1.0, 1.0, 1.0, low=1.0, high=1.0, lower=1.0, se=0.0, interval="exact")
BASELINE = Fraction(0.0, 0.0, 1.0, low=0.0, high=0.0, lower=0.0, se=0.0, interval="exact")


def test_n_star_is_the_smallest_of_the_unbroken_run():
    # lower bounds .92, .88 (fails), .93, .97: the pass at N = 1 does not count behind the failure at N = 3
    made = [known(0.95, 0.03), known(0.93, 0.05), known(0.96, 0.03), known(0.98, 0.01), CEILING]
    found = stars.n_star([1, 3, 5, 10, 20], made, 0.9)
    assert found.estimate == 5
    assert found.censored is None
    assert "(3, 5]" in found.reason


def test_n_star_interval_inverts_the_test():
    # q = .9: N = 1 is below, N = 3 [.82, .92] and N = 5 [.87, .97] hold it, N = 10 [.93, .97] is above: N* in (1, 10]
    made = [known(0.5, 0.1), known(0.87, 0.05), known(0.92, 0.05), known(0.95, 0.02), CEILING]
    found = stars.n_star([1, 3, 5, 10, 20], made, 0.9)
    assert (found.low, found.estimate, found.high) == (1, 10, 10)


def test_n_star_interval_holds_the_estimate_where_the_fractions_fall_back():
    """At N = 3 the lower limit is above q, at 5 and 10 it is not: the interval ends where all later ones are, at 20.

    It begins above N = 1, the only budget that is excluded.
    """
    made = [BASELINE, known(0.95, 0.01), known(0.90, 0.03), known(0.92, 0.03), known(0.96, 0.01), CEILING]
    found = stars.n_star([1, 3, 5, 10, 20, 50], made, 0.9)
    assert (found.estimate, found.low, found.high) == (20, 1, 20)


def test_n_star_above_when_only_the_ceiling_qualifies():
    found = stars.n_star([1, 10, 100], [BASELINE, known(0.92, 0.05), CEILING], 0.9)
    assert (found.estimate, found.censored) == (None, "above")
    assert found.reason == "> 10: no budget tried below the ceiling is shown to keep that much"


def test_a_censored_n_star_is_not_said_to_be_the_ceiling_or_more():
    # f(10) = .8 +- .01 is clearly below .9, so N* is more than 10; whether 11 or 100 was not tried
    found = stars.n_star([1, 10, 100], [BASELINE, known(0.8, 0.01), CEILING], 0.9)
    assert (found.censored, found.low) == ("above", 10)


def test_n_star_below_when_the_smallest_passes_unless_it_is_one_vote():
    made = [known(0.97, 0.01), known(0.98, 0.01), CEILING]
    few = stars.n_star([3, 10, 100], made, 0.9)
    one = stars.n_star([1, 10, 100], made, 0.9)
    assert (few.estimate, few.censored, few.low, few.high) == (None, "below", 0, 3)
    assert (one.estimate, one.censored, one.low, one.high) == (1, None, 0, 1)


def test_n_star_without_a_ceiling_among_its_budgets_tests_the_largest_too():
    found = stars.n_star([1, 10], [known(0.5, 0.01), known(0.95, 0.01)], 0.9)
    assert found.estimate == 10


def test_an_unbounded_set_neither_passes_nor_excludes():
    unbounded = Fraction(0.95, 0.95, 1.0, se=0.3)
    found = stars.n_star([1, 10, 100], [BASELINE, unbounded, CEILING], 0.9)
    assert (found.censored, found.low) == ("above", 1)
    middle = stars.n_star_interpolated([1, 10, 100], [BASELINE, unbounded, CEILING], 0.9)
    assert (middle.low, middle.high) == (1.0, 100.0)
    assert middle.estimate == pytest.approx(10 ** (0.9 / 0.95))


def test_n_star_of_an_undefined_fraction_has_its_reason():
    found = stars.n_star([1, 10], [Fraction(None, 0.0, 0.0, reason="because"), CEILING], 0.9)
    assert (found.estimate, found.reason) == (None, "because")


def test_interpolation_by_hand():
    # between N = 10 (.8) and N = 100 (1): .9 is half way in log N; limits .7 and .9 cross at 2/3 and 0
    found = stars.n_star_interpolated([1, 10, 100], [BASELINE, known(0.8, 0.1), CEILING], 0.9)
    assert found.estimate == pytest.approx(10**1.5)
    assert found.low == pytest.approx(10)
    assert found.high == pytest.approx(10 ** (1 + 2 / 3))


def test_an_n_star_between_two_budgets_is_interval_censored():
    # f(10) = .80 +- .02 is clearly below .9, f(20) = .95 +- .02 clearly above: anything in (10, 20]
    made = [BASELINE, known(0.80, 0.02), known(0.95, 0.02), CEILING]
    found = stars.n_star([1, 10, 20, 100], made, 0.9)
    assert (found.estimate, found.low, found.high) == (20, 10, 20)


def test_noninferiority_stops_at_the_first_budget_above_the_margin():
    # upper bounds .005, .02, .008 against .01: 10 passes, 3 fails and ends the sequence
    limits = [(0.001, 0.006), (0.002, 0.022), (-0.002, 0.011), (0.0, 0.0)]
    found = stars.n_star_noninferiority([1, 3, 10, 100], [0.005, 0.02, 0.008, 0.0], limits, 0.01, 3)
    # no lower limit excludes the margin, so neither does any budget; the first from which on all are below it is 100
    assert (found.estimate, found.low, found.high) == (10, 0, 100)
    limits[0] = (0.02, 0.03)  # one vote is clearly worse than the margin
    found = stars.n_star_noninferiority([1, 3, 10, 100], [0.025, 0.02, 0.008, 0.0], limits, 0.01, 3)
    assert (found.estimate, found.low, found.high) == (10, 1, 100)
    none = stars.n_star_noninferiority([1, 3, 10, 100], [0.005, 0.02, 0.01, 0.0], limits, 0.01, 3)
    assert none.censored == "above"


def test_isotonic_agrees_with_scipy():
    rng = np.random.default_rng(3)
    for _ in range(50):
        values, weights = rng.normal(size=7), rng.uniform(0.1, 5, 7)
        fit, matrix = stars.isotonic(values, weights)
        np.testing.assert_allclose(fit, optimize.isotonic_regression(values, weights=weights).x, atol=1e-12)
        np.testing.assert_allclose(matrix @ values, fit, atol=1e-12)


def test_percentile_p_knows_its_resolution():
    """1 of 100 resamples just below 0, the others far above: between the first two order statistics, not 2e-10."""
    drawn = np.concatenate([[-1e-9], np.linspace(1, 2, 99)])
    assert percentile_p(drawn) == percentile_p(drawn + 1) == 2 / 101


def test_percentile_p_inverts_the_percentile_interval():
    rng = np.random.default_rng(5)
    for shift in (1.0, 1.9, 2.0, 2.3):
        drawn = rng.normal(shift, 1, 999)
        p = percentile_p(drawn)
        low, high = np.quantile(drawn, [p / 2, 1 - p / 2])
        assert min(abs(low), abs(high)) < 1e-9


@pytest.mark.parametrize(("seed_sd", "n_seeds"), [(0.0, 3), (0.03, 3)])
def test_fraction_covers_its_truth(seed_sd, n_seeds):
    """Two overlapping splits, three seeds, truth .8: at a true .95, 400 studies leave [.92, .985] in 0.4% of runs."""
    rng = np.random.default_rng(11)
    truth = np.array([1.0, 0.6, 0.5])
    covered = defined = 0
    for _ in range(400):
        item_effect = rng.normal(0, 0.3, (3, 60)) + rng.normal(0, 0.5, 60)
        cells, values, items = [], [], []
        for _split in range(2):
            chosen = np.sort(rng.choice(60, 40, replace=False))
            noise = rng.normal(0, seed_sd, (3, n_seeds, 1)) + rng.normal(0, 0.2, (3, n_seeds, 40))
            z = truth[:, None, None] + item_effect[:, None, chosen] + noise
            values.append(z)
            cells.append(z.mean(axis=2))
            items.append(chosen)
        estimates = np.concatenate(cells, axis=1).mean(axis=1)
        parts = covariance(Influence(estimates, tuple(cells), tuple(values), tuple(items), 60))
        made = fraction(estimates, BASE - AT, BASE - CEIL, parts)
        if made.fieller is not None:
            defined += 1
            covered += made.fieller.holds(0.8)
    assert defined == 400
    assert 0.92 <= covered / defined <= 0.985


def test_a_loss_that_needs_every_item_has_no_interval():
    """A rank correlation may not exist without one of the items: its influence is no number, and so no se is given."""
    matrix = np.diag([1e-4, np.nan, 1e-4])
    none = np.zeros((3, 3))
    spread = Covariance(matrix, none, none, none, items_df=99, seeds_df=5, annotators_df=np.inf)
    made = fraction(np.array([1.0, 0.6, 0.5]), np.array([1.0, -1.0, 0.0]), np.array([1.0, 0.0, -1.0]), spread)
    assert made.estimate == pytest.approx(0.8)
    assert (made.low, made.high, made.se, made.interval) == (None, None, None, "none")
    assert "without one of the items" in made.reason
