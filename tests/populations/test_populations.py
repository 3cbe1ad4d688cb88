"""Laws of item distributions: likelihoods by hand, fits against a general optimiser, edges, and what changes no bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import betabinom, dirichlet_multinomial

from saturation.errors import UsageError
from saturation.populations import Population, fit_alternatives, fit_population, refit
from saturation.populations.choice import CANDIDATES, identifiable
from saturation.populations.dirichlet import fit_dirichlet
from saturation.populations.laws import Laws, beta_binomial, row_likelihoods
from saturation.populations.mixtures import fit_mixture
from saturation.populations.steps import steps_of


def votes_of(concentrations, n_items, votes, seed=0):
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(concentrations, n_items)
    numbers = np.broadcast_to(votes, n_items)
    return np.array([rng.multinomial(n, p) for n, p in zip(numbers, probs, strict=True)])


def one_law(mean, concentration):
    return Population("dirichlet", np.ones(1), np.array([mean]), np.array([concentration]))


def test_blocks_of_fits_change_no_bit(monkeypatch):
    counts = votes_of((0.4, 0.6, 0.24), 60, 3)
    law = fit_population(counts, kind="dirichlet_mixture")
    monkeypatch.setattr("saturation.populations.mixtures.CELLS_A_BLOCK", 1)
    other = fit_population(counts, kind="dirichlet_mixture")
    assert (law.means == other.means).all()
    assert (law.concentrations == other.concentrations).all()


def test_steps_add_up_as_single_votes_do():
    counts = np.array([[3, 0, 1], [0, 2, 2], [1, 0, 0], [0, 0, 5]])
    steps, weights = steps_of(counts), np.array([0.5, 2.0, 1.0, 3.0])
    rows = [counts[np.flatnonzero(steps.item_row == row)[0]] for row in range(4)]
    reached = [[sum(w for w, c in zip(weights, rows, strict=True) if c[k] > j) for j in range(5)] for k in range(3)]
    assert steps.of_steps(weights).tolist() == np.ravel(reached).tolist()
    assert steps.of_totals(weights).tolist() == [
        sum(w for w, c in zip(weights, rows, strict=True) if c.sum() > j) for j in range(5)
    ]


def test_likelihood_of_counts_by_hand():
    # a = (1, 2), counts (2, 1): 3!/(2! 1!) x (1 x 2)(2)/(3 x 4 x 5) = 3 x 4/60
    law = one_law([1 / 3, 2 / 3], 3.0)
    assert np.exp(law.log_likelihood(np.array([[2, 1]]))) == pytest.approx([0.2], abs=1e-14)


def test_likelihood_of_a_mixture_agrees_with_scipy():
    counts = np.array([[3, 0, 1], [0, 0, 2], [0, 0, 0], [1, 1, 1]])
    law = Population("dirichlet_mixture", np.array([0.3, 0.7]), np.array([[0.2, 0.3, 0.5]] * 2), np.array([2.0, 9.0]))
    for row, found in zip(counts, law.log_likelihood(counts), strict=True):
        parts = [dirichlet_multinomial.pmf(row, a * law.means[0], row.sum()) for a in (2.0, 9.0)]
        assert np.exp(found) == pytest.approx(0.3 * parts[0] + 0.7 * parts[1], rel=1e-12)


def test_points_are_the_limit_of_large_concentrations():
    counts = np.array([[3, 0, 1], [0, 1, 2]])
    near, at = one_law([0.2, 0.3, 0.5], 1e9), one_law([0.2, 0.3, 0.5], np.inf)
    assert near.log_likelihood(counts) == pytest.approx(at.log_likelihood(counts), rel=1e-7)
    # 4!/(3! 1!) .2^3 .5 = .016
    assert np.exp(at.log_likelihood(counts[:1])) == pytest.approx([0.016], abs=1e-15)


def test_beta_binomial_agrees_with_scipy_and_ends_in_the_binomial():
    found = beta_binomial(np.array([0.3, 0.9]), np.array([1 / 4.0, 1 / 0.5]), 7)
    assert found[0] == pytest.approx(betabinom.pmf(np.arange(8), 7, 1.2, 2.8), rel=1e-12)
    assert found[1] == pytest.approx(betabinom.pmf(np.arange(8), 7, 0.45, 0.05), rel=1e-11)
    # two votes at share 1/4 and no spread: 9/16, 6/16, 1/16
    assert beta_binomial(np.array(0.25), np.array(0.0), 2) == pytest.approx([9 / 16, 6 / 16, 1 / 16], abs=1e-15)
    assert beta_binomial(np.array([0.0, 1.0]), np.array(0.5), 2).tolist() == [[1, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize("a", [(0.4, 0.6, 0.24), (5.0, 3.0, 2.0), (0.05, 0.02, 0.3)])
def test_dirichlet_fit_is_the_maximum_that_a_general_optimiser_finds(a):
    counts = votes_of(a, 300, np.random.default_rng(1).integers(1, 6, 300))
    steps = steps_of(counts)
    found = fit_dirichlet(steps, steps.of_steps(steps.weights), steps.of_totals(steps.weights))

    def loss(logs):
        return -dirichlet_multinomial.logpmf(counts, np.exp(logs), counts.sum(axis=1)).sum()

    best = minimize(loss, np.zeros(3), method="BFGS")
    assert found == pytest.approx(np.exp(best.x), rel=1e-4)
    assert loss(np.log(found)) <= best.fun + 1e-9


def test_a_penalty_keeps_the_concentration_from_the_boundary():
    counts = np.array([[2, 0], [0, 2], [1, 1], [1, 1], [1, 1]])
    steps = steps_of(counts)
    found = fit_dirichlet(steps, steps.of_steps(steps.weights), steps.of_totals(steps.weights), penalty=1.0)

    def loss(logs):
        a = np.exp(logs)
        rho = 1 / (1 + a.sum())
        likelihood = dirichlet_multinomial.logpmf(counts, a, counts.sum(axis=1)).sum()
        return -(likelihood + np.log(rho) + np.log(1 - rho))

    best = minimize(loss, np.zeros(2), method="BFGS")
    assert found == pytest.approx(np.exp(best.x), rel=1e-4)


def test_laws_with_more_parameters_than_outcomes_are_no_candidates():
    # two votes, two labels: 3 outcomes, 2 degrees of freedom; a mixture of two Dirichlets has 5 parameters
    two = steps_of(votes_of((0.5, 0.5), 50, 2))
    assert identifiable(two, CANDIDATES) == (("dirichlet", 1),)
    # five votes, three labels: 20 degrees of freedom are enough for all (3 x 4 - 1 = 11; 5 x 3 - 1 = 14)
    assert identifiable(steps_of(votes_of((0.5, 0.5, 0.5), 50, 5)), CANDIDATES) == CANDIDATES


def test_alternatives_are_what_the_votes_do_not_tell_from_the_chosen_law():
    counts = votes_of((0.4, 0.6, 0.24), 200, 3)
    law = fit_population(counts)
    found = fit_alternatives(counts, law)
    assert {one.name for one in found} == {"dirichlet_mixture"}
    assert fit_alternatives(counts, fit_population(counts, kind="dirichlet")) == ()
    # a law that is told from the truth beyond doubt is none
    two = np.concatenate([votes_of((9, 0.5, 0.5), 1000, 5, 1), votes_of((1, 4, 4), 1000, 5, 2)])
    assert all(one.name != "dirichlet" for one in fit_alternatives(two, fit_population(two)))


def test_dirichlet_recovers_its_truth():
    counts = votes_of((0.5, 1.0, 2.5), 20_000, 3)
    law = fit_population(counts, kind="dirichlet")
    assert law.concentrations[0] == pytest.approx(4.0, rel=0.05)  # standard error .06
    assert law.means[0] == pytest.approx([0.125, 0.25, 0.625], abs=0.01)


def test_votes_no_more_alike_within_items_than_between_give_a_point():
    law = fit_population(np.array([[2, 0], [0, 2], [1, 1], [1, 1], [1, 1]]), kind="dirichlet")
    assert np.isinf(law.concentrations[0])
    assert "all items alike" in law.describe()
    assert law.sample(0, 2).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert law.posterior_mean(np.array([[5, 0]])).tolist() == [[0.5, 0.5]]


def test_em_never_lowers_the_likelihood_and_finds_two_kinds_of_items():
    counts = np.concatenate([votes_of((9, 0.5, 0.5), 400, 5, 1), votes_of((1, 4, 4), 400, 5, 2)])
    steps = steps_of(counts)
    start = Laws(np.array([[0.5, 0.5]]), np.array([[[0.5, 0.3, 0.2], [0.3, 0.3, 0.4]]]), np.array([[1.0, 1.0]]))
    before = (steps.weights * np.log(0.5 * np.exp(row_likelihoods(start, steps)).sum(axis=1)[0])).sum()
    fit = fit_mixture(steps, steps.weights[None], start, points=False)
    assert fit.log_likelihood[0] > before + 100
    law = fit_population(counts, kind="dirichlet_mixture")
    assert law.means[:2].max(axis=0)[0] == pytest.approx(0.9, abs=0.04)


def test_mixture_of_points_finds_planted_points():
    rng = np.random.default_rng(3)
    kinds = np.array([[0.9, 0.1], [0.3, 0.7]])[rng.integers(0, 2, 2000)]
    counts = np.array([rng.multinomial(5, p) for p in kinds])
    law = fit_population(counts, kind="multinomial_mixture")
    assert len(law.weights) == 2
    assert np.sort(law.means[:, 0]) == pytest.approx([0.3, 0.9], abs=0.03)


def test_auto_takes_the_dirichlet_where_it_is_true_and_a_mixture_where_that_is():
    assert fit_population(votes_of((0.4, 0.6, 0.24), 1000, 5)).name == "dirichlet"
    two = np.concatenate([votes_of((9, 0.5, 0.5), 400, 5, 1), votes_of((1, 4, 4), 400, 5, 2)])
    law = fit_population(two)
    assert law.name == "dirichlet_mixture"
    assert law.candidates[0].behind > law.candidates[0].behind_se


def test_sample_has_the_law_s_moments():
    law = Population(
        "dirichlet_mixture", np.array([0.25, 0.75]), np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0.05, np.inf])
    )
    drawn = law.sample(5, 40_000)
    assert drawn.sum(axis=1) == pytest.approx(np.ones(40_000), abs=1e-12)
    assert drawn[:, 0].mean() == pytest.approx(0.375, abs=0.01)
    # E p^2 = pi^2 + pi(1 - pi)/(A + 1): .25 x (.81 + .09/1.05) + .75 x .04
    assert (drawn[:, 0] ** 2).mean() == pytest.approx(0.25 * (0.81 + 0.09 / 1.05) + 0.03, abs=0.01)
    assert (law.sample(5, 10) == drawn[:10]).all()


def test_posterior_mean_weighs_the_components():
    law = Population(
        "multinomial_mixture", np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([np.inf, np.inf])
    )
    # one vote for label 0: weights .9 : .5, mean (.9 x .9 + .5 x .5)/1.4
    assert law.posterior_mean(np.array([[1, 0]]))[0, 0] == pytest.approx(1.06 / 1.4, abs=1e-12)
    with pytest.raises(UsageError, match="does not know"):
        one_law([1.0, 0.0], 2.0).posterior_mean(np.array([[1, 1]]))


def test_labels_without_votes_keep_nothing():
    law = fit_population(np.array([[2, 0, 1], [0, 0, 3], [3, 0, 0], [1, 0, 2]]))
    assert (law.means[:, 1] == 0).all()
    assert law.sample(0, 3)[:, 1].tolist() == [0, 0, 0]
    assert law.log_likelihood(np.array([[1, 1, 0]])).tolist() == [-np.inf]


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([[1, 0], [0, 1]], "one vote an item"),
        ([[3, 0], [0, 2], [0, 1]], "unanimous"),
        ([[3], [2]], "unanimous"),
        ([[3, 1]], "one item only"),
        ([[0, 0], [0, 0]], "second vote"),
    ],
)
def test_what_cannot_be_told_is_refused_in_words(counts, words):
    with pytest.raises(UsageError, match=words):
        fit_population(np.array(counts))


def test_unknown_kind_is_refused():
    with pytest.raises(UsageError, match="unknown law"):
        fit_population(np.array([[2, 1], [1, 2]]), kind="gaussian")


def test_a_resampled_fit_does_not_depend_on_the_others_beside_it():
    counts = votes_of((0.4, 0.6, 0.24), 150, 3)
    steps, rng = steps_of(counts), np.random.default_rng(0)
    weights = rng.multinomial(150, steps.weights / 150, size=7).astype(float)
    for kind in ("dirichlet", "dirichlet_mixture", "multinomial_mixture"):
        law = fit_population(counts, kind=kind)
        together, fewer = refit(law, steps, weights), refit(law, steps, weights[:5])
        assert (together.means[:5] == fewer.means).all()
        assert (together.spreads[:5] == fewer.spreads).all()


def test_a_thousand_labels_and_single_votes_are_no_trouble():
    rng = np.random.default_rng(2)
    probs, votes = rng.dirichlet(np.full(1000, 0.01), 200), rng.integers(1, 4, 200)
    counts = np.array([rng.multinomial(n, p) for n, p in zip(votes, probs, strict=True)])
    law = fit_population(counts, kind="dirichlet")
    assert 4 < law.concentrations[0] < 25
    assert law.means.shape == (1, 1000)
