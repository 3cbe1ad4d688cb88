"""Label-side curves from a law of items: every outcome listed, hand arithmetic, planted laws, edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from saturation.analyses.labels.label_curve import label_curve
from saturation.analyses.labels.model_draws import virtual_votes
from saturation.analyses.labels.model_population import population_means
from saturation.analyses.labels.model_sums import law_means
from saturation.errors import UsageError
from saturation.populations import Population
from saturation.populations.laws import Laws
from saturation.resampling.exact_moments import Additive
from saturation.tables.panel import Ballots, Votes
from tests import naive

WEIGHTS = [0.3, 0.7]
CONCENTRATIONS = [[0.4, 1.0, 0.6], [4.0, 2.0, 2.0]]


def the_law():
    totals = np.array([sum(a) for a in CONCENTRATIONS])
    return Population("dirichlet_mixture", np.array(WEIGHTS), np.array(CONCENTRATIONS) / totals[:, None], totals)


def votes_of(counts, **more):
    counts = np.asarray(counts)
    ids = tuple(f"i{k:05d}" for k in range(len(counts)))
    return Votes(item_ids=ids, labels=tuple("abcdefghij"[: counts.shape[1]]), counts=counts, **more)


def pilot(n_items=200, n_votes=3, a=(0.5, 0.4, 0.34), seed=4):
    rng = np.random.default_rng(seed)
    return np.array([rng.multinomial(n_votes, p) for p in rng.dirichlet(a, n_items)])


def find(result, quantity, name, budget=None, q=None):
    rows = [r for r in result.rows if (r.quantity, r.metric, r.budget, r.q) == (quantity, name, budget, q)]
    assert len(rows) == 1
    return rows[0]


def shares(votes, alpha=0.0):
    return [(v + alpha) / (sum(votes) + alpha * len(votes)) for v in votes]


SCORES = {
    "brier": (0.0, lambda m, h: sum((x - y) ** 2 for x, y in zip(m, h, strict=True))),
    "tvd": (0.0, lambda m, h: sum(abs(x - y) for x, y in zip(m, h, strict=True)) / 2),
    "kl": (1 / 3, lambda m, h: sum(y * math.log(y / x) for x, y in zip(m, h, strict=True) if y)),
    "wasserstein": (0.5, lambda m, h: sum(abs(sum(m[: k + 1]) - sum(h[: k + 1])) for k in range(len(m) - 1))),
}
TERMS = {
    "brier": lambda m, h: (m - h) ** 2,
    "tvd": lambda m, h: np.abs(m - h) / 2,
    "kl": lambda m, h: np.where(h > 0, h * np.log(np.where(h > 0, h, 1) / m), 0.0),
    "wasserstein": lambda m, h: np.abs(m - h),
}


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize(("budget", "size"), [(1, 3), (3, 2)])
def test_sums_over_labels_equal_every_outcome_in_turn(name, budget, size):
    alpha, score = SCORES[name]
    expected = naive.law_expectation(
        lambda target, reference: score(shares(target, alpha), shares(reference)), WEIGHTS, CONCENTRATIONS, budget, size
    )
    statistic = Additive(TERMS[name], alpha=alpha, cumulative=name == "wasserstein")
    assert law_means(the_law().laws, budget, size, [statistic])[0, 0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", SCORES)
def test_the_population_is_the_limit_of_many_other_votes(name):
    """Against R votes the excess falls as 1/R at first, so that 2 E(2R) - E(R) is next to the limit."""
    alpha = SCORES[name][0]
    statistic = Additive(TERMS[name], alpha=alpha, cumulative=name == "wasserstein")
    some, more = (law_means(the_law().laws, 4, size, [statistic])[0, 0] for size in (1500, 3000))
    assert population_means(the_law().laws, 4, [statistic])[0, 0] == pytest.approx(2 * more - some, rel=2e-4)


@pytest.mark.parametrize("concentration", [0.2, 3.0, 900.0, 1200.0, 1e6, np.inf])
def test_brier_and_kl_against_the_population_in_closed_form(concentration):
    mean = np.array([0.5, 0.3, 0.2])
    laws = Laws(np.ones((1, 1)), mean[None, None], np.array([[1 / concentration]]))
    brier, kl = (Additive(TERMS["brier"]), Additive(TERMS["kl"], alpha=1 / 3))
    found = population_means(laws, 2, [brier, kl])[:, 0]
    agreement = 0.0 if np.isinf(concentration) else 1 / (concentration + 1)
    squares = (mean**2 + mean * (1 - mean) * agreement).sum()
    assert found[0] == pytest.approx((1 - squares) / 2, rel=1e-9)
    # E sum p ln p - sum_n E[p; n] ln((n + 1/3)/3): p after n of 2 votes has mean (A pi + n)/(A + 2)
    expected = 0.0
    for p in mean:
        if np.isinf(concentration):
            expected += p * np.log(p)
            chances, after = stats.binom.pmf([0, 1, 2], 2, p), [p, p, p]
        else:
            a = concentration * p
            expected += p * (special.digamma(a + 1) - special.digamma(concentration + 1))
            chances = stats.betabinom.pmf([0, 1, 2], 2, a, concentration - a)
            after = [(a + n) / (concentration + 2) for n in range(3)]
        expected -= sum(c * q * np.log((n + 1 / 3) / 3) for n, (c, q) in enumerate(zip(chances, after, strict=True)))
    assert found[1] == pytest.approx(expected, rel=1e-5)


def test_curves_against_the_population_are_named_so():
    result = label_curve(
        votes_of(pilot()),
        metrics=["brier", "entropy_correlation"],
        budgets=[2, 200],
        estimator="model",
        population="dirichlet",
        reference_size="population",
    )
    row = find(result, "value", "brier", 2)
    assert (row.reference, row.reference_size) == ("population", None)
    assert result.settings["reference_size"] == "population"
    # 200 votes nearly are the population
    assert find(result, "value", "entropy_correlation", 200).unc.estimate == pytest.approx(1.0, abs=0.03)


def test_laws_side_by_side_in_blocks_change_no_bit(monkeypatch):
    law = the_law().laws
    three = Laws(
        np.repeat(law.weights, 3, axis=0), np.repeat(law.means, 3, axis=0), law.spreads * np.array([[1], [2], [3.0]])
    )
    statistics = [Additive(TERMS["tvd"]), Additive(TERMS["brier"])]
    whole = law_means(three, 5, 7, statistics)
    monkeypatch.setattr("saturation.analyses.labels.model_sums.CELLS_A_BLOCK", 1)
    assert (law_means(three, 5, 7, statistics) == whole).all()


def test_entropy_correlation_and_accuracy_are_within_their_monte_carlo_error():
    budget, size = 3, 4
    votes = np.repeat(pilot(400, 4), 2, axis=0)
    result = label_curve(
        votes_of(votes),
        metrics=["entropy_correlation", "accuracy", "entropy_rmse"],
        budgets=[budget],
        estimator="model",
        population="dirichlet",
        reference_size=size,
    )
    from saturation.populations import fit_population

    law = fit_population(votes, kind="dirichlet")
    a = (law.means * law.concentrations[:, None]).tolist()

    def expect(f):
        return naive.law_expectation(f, [1.0], a, budget, size)

    h = naive.entropy_of
    x, y = expect(lambda t, r: h(t)), expect(lambda t, r: h(r))
    xx, yy = expect(lambda t, r: h(t) ** 2), expect(lambda t, r: h(r) ** 2)
    xy = expect(lambda t, r: h(t) * h(r))
    agree = expect(
        lambda t, r: np.mean([r[k] == max(r) for k in range(3) if t[k] == max(t)]),
    )
    truths = {
        "entropy_correlation": (xy - x * y) / math.sqrt((xx - x * x) * (yy - y * y)),
        "accuracy": agree,
        "entropy_rmse": math.sqrt(xx + yy - 2 * xy),
    }
    for name, truth in truths.items():
        row = find(result, "value", name, budget)
        assert abs(row.unc.estimate - truth) < 4.5 * row.mc_se, name
        assert row.mc_se < 0.01


def test_virtual_votes_are_nested_and_follow_the_law():
    law = the_law()
    votes = virtual_votes(law, 3, (2, 4), 3)
    assert (votes.targets.sum(axis=2) == [[2], [4]]).all()
    assert (votes.targets[0] <= votes.targets[1]).all()
    assert (votes.reference.sum(axis=1) == 3).all()
    few = virtual_votes(law, 3, (2, 4), 3, part=7)
    assert (few.targets == votes.targets[:, : len(few.reference)]).all()
    for counts in [(4, 0, 0), (1, 2, 1)]:
        chance = sum(
            w * naive.dirichlet_multinomial_pmf(counts, a) for w, a in zip(WEIGHTS, CONCENTRATIONS, strict=True)
        )
        found = (votes.targets[1] == counts).all(axis=1).mean()
        assert abs(found - chance) < 4.5 * math.sqrt(chance / len(votes.reference))


def test_an_interval_holds_what_other_laws_would_say_unless_one_is_named():
    given = {"metrics": ["kl", "entropy_correlation"], "budgets": [3, 30], "estimator": "model"}
    open_shape = label_curve(votes_of(pilot(300)), **given)
    one_shape = label_curve(votes_of(pilot(300)), **given, population="dirichlet")
    note = next(note.message for note in open_shape.notes if note.code == "model")
    assert "which the votes do not rule out" in note
    for name in given["metrics"]:
        wide, narrow = (find(result, "value", name, 30).unc for result in (open_shape, one_shape))
        assert wide.estimate == narrow.estimate
        assert wide.se > narrow.se


def test_budgets_beyond_the_pilot_have_values_with_intervals():
    result = label_curve(votes_of(pilot()), metrics=["brier", "kl"], estimator="model", population="dirichlet")
    assert [r.budget for r in result.rows if (r.quantity, r.metric) == ("value", "kl")] == [1, 2, 3, 5, 10, 20, 50, 100]
    for row in result.rows:
        if row.quantity == "value":
            assert row.unc.low < row.unc.estimate < row.unc.high
            assert (row.unc.reason is None) == (row.metric == "brier")  # two votes show Brier; the rest is shape
            assert (row.unc.estimator, row.unc.interval, row.reference_size) == ("model", "normal", 100)
    # brier's share of the gain is the same under every law: (1 - 1/10)/(1 - 1/100)
    row = find(result, "fraction", "brier", 10)
    assert row.unc.estimate == pytest.approx(0.9 / 0.99, rel=1e-9)
    assert row.unc.interval == "exact"
    assert find(result, "n_star", "kl", q=0.9).unc.estimate == 50
    assert any(note.code == "model" and "up to order 3" in note.message for note in result.notes)
    assert result.settings["estimator"] == "model"


def test_spread_is_that_of_new_items():
    estimates, errors = [], []
    for seed in range(30):
        result = label_curve(
            votes_of(pilot(150, 3, seed=seed)), metrics=["jsd"], budgets=[10], estimator="model", population="dirichlet"
        )
        row = find(result, "value", "jsd", 10)
        estimates.append(row.unc.estimate)
        errors.append(row.unc.se)
    assert np.mean(errors) == pytest.approx(np.std(estimates, ddof=1), rel=0.4)  # a spread of 30 is known within 13%


def test_the_model_agrees_with_full_data_of_the_same_law():
    rng = np.random.default_rng(8)
    probs = rng.dirichlet([0.5, 0.4, 0.34], 1500)
    many = np.array([rng.multinomial(60, p) for p in probs])
    few = np.array([rng.multinomial(5, p) for p in rng.dirichlet([0.5, 0.4, 0.34], 1500)])
    names = ["kl", "jsd", "tvd", "brier", "hellinger", "accuracy"]
    full = label_curve(votes_of(many), metrics=names, budgets=[2, 20])
    small = label_curve(votes_of(few), metrics=names, budgets=[2, 20], estimator="model", reference_size=40)
    for name in names:
        for budget in (2, 20):
            a, b = (find(one, "value", name, budget) for one in (full, small))
            assert abs(a.unc.estimate - b.unc.estimate) < 4 * math.hypot(a.unc.se, b.unc.se), (name, budget)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([[1, 0], [0, 1], [1, 0]], "one vote an item"),
        ([[3, 0], [0, 3]], "unanimous"),
        ([[2], [2]], "unanimous"),
        ([[2, 1]], "one item only"),
    ],
)
def test_where_no_law_can_be_fitted_every_row_says_why(counts, words):
    result = label_curve(votes_of(counts), metrics=["brier", "entropy_correlation"], estimator="model", budgets=[1, 9])
    assert result.rows
    assert all(row.unc.estimate is None and words in row.unc.reason for row in result.rows)


def test_items_all_alike_give_noise_only_and_no_correlation():
    counts = np.array([[2, 0], [0, 2], [1, 1], [1, 1]] * 20)
    result = label_curve(votes_of(counts), metrics=["brier", "entropy_correlation"], budgets=[2, 8], estimator="model")
    # p = (1/2, 1/2) for all: (1 - 1/2)(1/2 + 1/100)
    assert find(result, "value", "brier", 2).unc.estimate == pytest.approx(0.255, rel=1e-9)
    assert abs(find(result, "value", "entropy_correlation", 8).unc.estimate) < 0.05


def test_infinite_and_set_metrics_have_reasons():
    result = label_curve(
        votes_of(pilot()),
        metrics=["kl", "reverse_kl", "dist_ece"],
        alpha="none",
        budgets=[1, 5],
        estimator="model",
        population="dirichlet",
    )
    assert "infinite" in find(result, "value", "kl", 5).unc.reason
    assert "infinite" in find(result, "value", "reverse_kl", 5).unc.reason
    assert "whole set of items" in find(result, "value", "dist_ece", 5).unc.reason


def test_threads_change_no_bit():
    given = {"metrics": ["jsd", "entropy_correlation"], "budgets": [2, 9], "estimator": "model"}
    one, two = (label_curve(votes_of(pilot(60)), **given, threads=threads).rows for threads in (1, 2))
    assert one == two


def test_people_who_label_many_items_are_named():
    ballots = Ballots(
        annotator_ids=("p", "q", "r"),
        item=np.repeat(np.arange(4), 3),
        annotator=np.tile(np.arange(3), 4),
        label=np.array([0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1]),
    )
    counts = np.array([[2, 1], [1, 2], [3, 0], [0, 3]])
    result = label_curve(votes_of(counts, ballots=ballots), metrics=["jsd"], budgets=[5], estimator="model")
    assert "other annotators are not in this interval" in find(result, "value", "jsd", 5).unc.reason


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"estimator": "bayes"}, "unknown estimator"),
        ({"estimator": "model", "population": "gauss"}, "unknown law"),
        ({"population": "dirichlet"}, "belong to estimator model"),
        ({"reference_size": 10}, "belong to estimator model"),
        ({"estimator": "model", "reference": "all"}, "not with all"),
        ({"estimator": "model", "ragged": "per-budget"}, "all items at every budget"),
        ({"estimator": "model", "reference_size": 0}, "at least 1 vote"),
        ({"estimator": "model", "budgets": [0]}, "from 1"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, words):
    with pytest.raises(UsageError, match=words):
        label_curve(votes_of(pilot(20)), metrics=["brier"], **options)


def test_a_budget_beyond_the_votes_names_the_fitted_model():
    result = label_curve(votes_of(pilot(20)), metrics=["brier"], budgets=[1, 30])
    assert "--estimator model" in find(result, "value", "brier", 30).unc.reason
