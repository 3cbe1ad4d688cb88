"""Curves through budgets, without a panel: against scipy's least squares, and intervals against brute force."""

import numpy as np
import pytest
from scipy import optimize, special, stats

from saturation.analyses.curve.fits import (
    ENDS_WITH_THE_SEARCH,
    FLAT,
    NO_SPREAD,
    SETTLES_NOWHERE,
    fit_curve,
    matrix_of,
    smoothed,
)
from saturation.analyses.curve.forms import EXPONENTIAL, FORMS, POWER, basis, basis_slope
from saturation.analyses.curve.profile import whitener_of
from saturation.resampling.linearized import Covariance, Influence, covariance

N = np.array([1.0, 2.0, 3.0, 5.0, 10.0, 20.0])


def known(matrix, items_df=99, seeds=None, seeds_df=0):
    none = np.zeros_like(matrix)
    return Covariance(
        matrix, none if seeds is None else seeds, none, none, items_df=items_df, seeds_df=seeds_df, annotators_df=np.inf
    )


def curve(form, n, a, b, c):
    return a + b * (n**-c if form is POWER else np.exp(-c * n))


def points(form=POWER, a=0.3, b=0.4, c=0.8, noise=0.003, seed=0):
    """Losses with correlated errors and their covariance."""
    rng = np.random.default_rng(seed)
    root = np.tril(rng.normal(size=(6, 6))) * 0.3 + np.eye(6)
    spread = noise**2 * (root @ root.T + 4.0)
    return curve(form, N, a, b, c) + np.linalg.cholesky(spread) @ rng.normal(size=6), spread


@pytest.mark.parametrize(("form", "start"), [(POWER, (0.3, 0.4, 0.8)), (EXPONENTIAL, (0.3, 0.6, 0.3))])
def test_estimates_and_standard_errors_agree_with_scipy(form, start):
    losses, spread = points(form, *start)
    fit = fit_curve(form, N, losses, known(spread))
    found, their = optimize.curve_fit(
        lambda n, a, b, c: curve(form, n, a, b, c), N, losses, p0=start, sigma=spread, absolute_sigma=True, xtol=1e-14
    )
    a, c = fit.asymptote(), fit.exponent()
    assert a.value == pytest.approx(found[0], rel=1e-5)
    assert c.value == pytest.approx(found[2], rel=1e-5)
    assert a.se == pytest.approx(their[0, 0] ** 0.5, rel=1e-3)
    assert c.se == pytest.approx(their[2, 2] ** 0.5, rel=1e-3)
    rest = losses - curve(form, N, *found)
    misfit = rest @ np.linalg.solve(spread, rest)
    assert fit.misfit == pytest.approx(misfit, rel=1e-6)
    # k = 3 of n = 6 points: Q + 6 + 24/2
    assert fit.aicc == pytest.approx(misfit + 6 + 12, rel=1e-6)
    assert fit.misfit_p == pytest.approx(stats.f.sf(misfit / 3, 3, 99), rel=1e-5)
    far = 200.0
    assert fit.predict(far).value == pytest.approx(curve(form, far, *found), rel=1e-5)


@pytest.mark.parametrize("form", [POWER, EXPONENTIAL])
def test_profile_intervals_are_where_the_best_curve_through_a_value_is_just_bad_enough(form):
    """Brute force: minimise the squares under a fixed asymptote, and under a fixed prediction at 80."""
    losses, spread = points(form, c=0.8 if form is POWER else 0.3)
    fit = fit_curve(form, N, losses, known(spread))
    inverse = np.linalg.inv(spread)
    cut = special.stdtrit(99, 0.975) ** 2

    def squares(a, b, c):
        rest = losses - curve(form, N, a, b, c)
        return rest @ inverse @ rest

    def shape(c):
        return 80.0**-c if form is POWER else np.exp(-80.0 * c)

    def worst(kind, value):
        """Smallest squares of a curve with this asymptote, or this value at 80."""

        def objective(free):
            b, c = free
            return squares(value if kind == "asymptote" else value - b * shape(c), b, c)

        starts = [(0.4, c) for c in (0.2, 0.5, 1.0, 1.5)]
        return min(optimize.minimize(objective, s, method="Nelder-Mead", options=TIGHT).fun for s in starts)

    for kind, made in (("asymptote", fit.asymptote()), ("prediction", fit.predict(80))):
        for end in (made.low, made.high):
            assert worst(kind, end) - fit.misfit == pytest.approx(cut, rel=0.02)


TIGHT = {"xatol": 1e-9, "fatol": 1e-10, "maxiter": 4000}


def test_exponent_interval_is_where_the_squares_rise_by_t_squared():
    losses, spread = points()
    fit = fit_curve(POWER, N, losses, known(spread))
    inverse = np.linalg.inv(spread)
    for end in (fit.exponent().low, fit.exponent().high):
        design = np.stack([np.ones(6), N**-end], axis=1)
        best = np.linalg.solve(design.T @ inverse @ design, design.T @ inverse @ losses)
        rest = losses - design @ best
        assert rest @ inverse @ rest - fit.misfit == pytest.approx(special.stdtrit(99, 0.975) ** 2, rel=0.02)


@pytest.mark.parametrize("form", [POWER, EXPONENTIAL])
def test_derivatives_by_the_losses(form):
    """Numerically, by moving one loss; and an asymptote is its derivatives times the losses (degree one)."""
    losses, spread = points(form, c=0.8 if form is POWER else 0.3, noise=1e-4)
    fit = fit_curve(form, N, losses, known(spread))
    own = fit.asymptote()
    step = 1e-5
    for at in range(6):
        up, down = (
            fit_curve(form, N, losses + move * np.eye(6)[at], known(spread)).asymptote().value for move in (step, -step)
        )
        assert (up - down) / (2 * step) == pytest.approx(own.slope[at], rel=2e-3, abs=1e-3)
    assert own.slope @ losses == pytest.approx(own.value, rel=1e-7)
    assert own.slope.sum() == pytest.approx(1.0, rel=1e-9)  # losses that all grow by 1 settle 1 higher


def test_points_in_a_straight_line_in_log_n_settle_at_no_level():
    fit = fit_curve(POWER, N, 0.5 - 0.05 * np.log(N), known(np.eye(6) * 1e-4))
    own = fit.asymptote()
    assert own.value is None
    assert "settles at no level" in own.reason
    assert fit.exponent().value == 0.0
    assert fit.predict(100).value == pytest.approx(0.5 - 0.05 * np.log(100), abs=1e-9)
    assert fit.predict(100).low < fit.predict(100).value < fit.predict(100).high


def test_an_asymptote_is_open_where_a_straight_line_is_not_excluded():
    fit = fit_curve(POWER, N, 0.2 + 0.3 * N**-0.3, known(np.eye(6) * 1e-3))
    own = fit.asymptote()
    assert own.value == pytest.approx(0.2, rel=1e-5)
    assert own.low is None
    assert own.reason == SETTLES_NOWHERE
    assert (fit.exponent().low, fit.exponent().reason) == (0.0, ENDS_WITH_THE_SEARCH)


def test_a_fast_curve_ends_at_the_largest_exponent():
    fit = fit_curve(POWER, N, 0.2 + 0.3 * N**-6.0, known(np.eye(6) * 1e-8))
    assert fit.exponent().value == 3.0
    assert "largest looked at" in fit.exponent().reason
    assert fit.exponent().se is None


@pytest.mark.parametrize("form", [POWER, EXPONENTIAL])
def test_flat_losses_have_a_fit_and_an_interval_without_bounds(form):
    rng = np.random.default_rng(2)
    losses = 0.4 + 1e-4 * rng.normal(size=6)
    fit = fit_curve(form, N, losses, known(np.eye(6) * 1e-6))
    own = fit.asymptote()
    assert own.low is None
    assert own.high is None
    assert own.reason
    assert np.isfinite(fit.exponent().se or 0.0)
    assert fit_curve(form, N, np.full(6, 0.4), known(np.eye(6) * 1e-6)) == FLAT
    nearly = fit_curve(form, N, 0.4 + 1e-13 / N, known(np.eye(6) * 1e-6))
    assert np.isfinite(nearly.predict(100).se)
    assert nearly.exponent().low == 0.0


def test_too_few_points_and_no_spread_are_reasons():
    assert "at least 5 budgets; this one has 4" in fit_curve(POWER, N[:4], N[:4], known(np.eye(4)))
    assert fit_curve(POWER, N, 1 / N, known(np.zeros((6, 6)))) == NO_SPREAD
    tied = np.eye(6)
    tied[1, 2] = tied[2, 1] = 1.0  # two budgets that agree on every item
    assert fit_curve(POWER, N, 1 / N, known(tied)) == NO_SPREAD
    one_item = known(np.eye(6), items_df=0)
    assert fit_curve(POWER, N, 1 / N, one_item) == NO_SPREAD


def test_points_that_reject_the_curve_widen_its_intervals():
    losses = curve(POWER, N, 0.3, 0.4, 0.8) + 0.02 * np.array([1, -1, 1, -1, 1, -1])
    fit = fit_curve(POWER, N, losses, known(np.eye(6) * 1e-5))
    assert fit.misfit_p < 1e-3
    assert fit.inflation == pytest.approx(fit.misfit / 3)
    own = fit.exponent()
    assert own.se**2 == pytest.approx(fit.inflation * 1e-5 * (own.slope**2).sum())
    # its ends are where the squares rise by t^2 times that
    design = np.stack([np.ones(6), N**-own.low], axis=1)
    rest = losses - design @ np.linalg.lstsq(design, losses, rcond=None)[0]
    rise = (rest @ rest) / 1e-5 - fit.misfit
    assert rise == pytest.approx(fit.inflation * special.stdtrit(99, 0.975) ** 2, rel=0.01)


def test_smoothing_keeps_the_seeds_total_and_a_power_of_n():
    truth = np.outer(N**-0.25, N**-0.25) * (0.4 + 0.6 * np.eye(6))
    made = smoothed(known(np.eye(6), seeds=truth, seeds_df=4), N)
    np.testing.assert_allclose(made.seeds, truth, rtol=1e-12)
    rough = np.diag([4.0, 0.1, 3.0, 0.2, 1.0, 0.1])
    made = smoothed(known(np.eye(6), seeds=rough, seeds_df=2), N)
    assert np.trace(made.seeds) == pytest.approx(np.trace(rough))
    assert smoothed(known(np.eye(6)), N).seeds.sum() == 0


@pytest.mark.parametrize("form", [POWER, EXPONENTIAL])
def test_basis_is_smooth_down_to_the_straight_line(form):
    x = form.distance(N, 1.0)
    np.testing.assert_allclose(basis(np.array([0.0]), x)[0], x)
    for rate in (0.0, 1e-8, 1e-6, 1e-4, 1e-2, 0.5, 3.0):
        near = basis(np.array([rate - 1e-4, rate + 1e-4]), x / 20)
        np.testing.assert_allclose((near[1] - near[0]) / 2e-4, basis_slope(rate, x / 20), rtol=1e-5, atol=1e-9)


def test_matrix_has_the_variances_of_the_intervals():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 4, 50)) + rng.normal(size=(1, 4, 1)) * 0.1
    cells = values.mean(axis=2)
    parts = covariance(Influence(cells.mean(axis=1), (cells,), (values,), (np.arange(50),), 50))
    made = matrix_of(parts)
    for at, unit in enumerate(np.eye(3)):
        assert made[at, at] == pytest.approx(parts.variance(unit)[0])
    np.testing.assert_allclose(whitener_of(made).T @ whitener_of(made), np.linalg.inv(made), rtol=1e-8)


@pytest.mark.parametrize(("form", "n_seeds"), [("power", 1), ("power", 3), ("exponential", 3)])
def test_intervals_cover_the_truth(form, n_seeds):
    """300 items, one split: at a true .95, 150 studies leave [.88, .99] in 0.2% of runs."""
    rng, held, studies = np.random.default_rng(5), np.zeros(3), 150
    a, c = 0.3, 1.0 if form == "power" else 0.3
    fall = N**-c if form == "power" else np.exp(-c * N)
    for _ in range(studies):
        of_item = a + 0.3 * rng.normal(size=300) + np.multiply.outer(fall, 0.4 * (1 + 0.6 * rng.normal(size=300)))
        trained = 0.004 * rng.normal(size=(6, n_seeds, 1)) * (n_seeds > 1)
        values = of_item[:, None] + trained + 0.15 * rng.normal(size=(6, n_seeds, 300))
        cells = values.mean(axis=2)
        parts = covariance(Influence(cells.mean(axis=1), (cells,), (values,), (np.arange(300),), 300))
        fit = fit_curve(FORMS[form], N, cells.mean(axis=1), parts)
        far = a + 0.4 * (80.0**-c if form == "power" else np.exp(-80 * c))
        for at, (made, truth) in enumerate(((fit.asymptote(), a), (fit.exponent(), c), (fit.predict(80), far))):
            low = -np.inf if made.low is None else made.low
            held[at] += low <= truth <= (np.inf if made.high is None else made.high)
    assert ((held / studies >= 0.88) & (held / studies <= 0.995)).all(), held / studies
