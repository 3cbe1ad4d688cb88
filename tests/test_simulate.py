"""Simulated studies: reproducible, of the promised shape, and with the truth that the formulas say."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from saturation.conditions import Condition
from saturation.errors import UsageError
from saturation.results import CurveRow, DataSummary, EvaluateResult, EvaluateRow, SaturationResult, Uncertainty
from saturation.simulate import draws, learner, planted_coverage, population, study, truth, truth_table

SUMMARY = DataSummary(n_items=600, n_labels=3, n_votes=60000, votes_min=100, votes_max=100)


@pytest.fixture(scope="module")
def one():
    return study(3)


@pytest.fixture(scope="module")
def planted():
    return truth_table(n_runs=40, items_per_run=1000)


def test_a_study_is_a_function_of_its_seed(one):
    again = study(3)
    assert all(again.tables()[name].equals(frame) for name, frame in one.tables().items())
    assert not study(4).votes.equals(one.votes)


def test_the_study_has_the_promised_shape(one):
    votes = one.votes
    assert votes.group_by("item_id").len()["len"].unique().to_list() == [100]
    assert votes.select("item_id", "annotator_id").is_duplicated().sum() == 0
    assert votes["annotator_id"].n_unique() == 150
    parts = one.splits.group_by("split", "part").len().sort("split", "part")
    assert parts["len"].to_list() == [100, 200, 300] * 3  # dev, test, train in 42, 43, 44
    assert one.splits["split"].unique().sort().to_list() == ["42", "43", "44"]
    assert one.items["source"].unique().sort().to_list() == ["captions", "speech"]
    per_cell = one.predictions.group_by("model", "method", "budget", "strength", "alpha", "seed", "split", "part").len()
    assert per_cell.filter(part="test")["len"].unique().to_list() == [200]
    assert per_cell.filter(part="dev")["len"].unique().to_list() == [100]
    assert per_cell.height == 16 * 9 * 2
    joined = one.predictions.join(one.splits, on=["item_id", "split", "part"], how="anti")
    assert joined.height == 0


def test_partitions_overlap_as_random_ones_do(one):
    test = one.splits.filter(part="test")
    sets = [set(test.filter(split=split)["item_id"]) for split in ("42", "43", "44")]
    shared = len(sets[0] & sets[1])
    # hypergeometric: mean 200 * 200/600 = 66.7, sd sqrt(200 * 1/3 * 2/3 * 400/599) = 5.4; six sd either way
    assert abs(shared - 66.7) < 6 * 5.4


def test_probabilities_are_on_the_simplex_in_single_precision(one):
    probs = one.predictions.select("p_yes", "p_maybe", "p_no")
    assert set(probs.dtypes) == {pl.Float32}
    values = probs.to_numpy().astype(float)
    assert np.abs(values.sum(axis=1) - 1).max() < 1e-6
    assert values.min() > 0


def test_a_fresh_vote_has_the_closed_form_distribution():
    """(1 - w) softmax(u) + w r, w = .2 * .45 + .8 * .03 = .114: mean share of a label over 300 crowds of 60 votes."""
    assert math.isclose(population.MEAN_CARELESSNESS, 0.114)
    items = population.draw_items(5, np.arange(4))
    total = np.zeros((4, 3))
    crowds = 300
    for crowd in range(crowds):
        votes = population.cast_votes(1000 + crowd, items, 60, 80)
        total += population.count_labels(votes.label)
    share = total / (60 * crowds)
    # votes of a crowd are independent given the items, so sd <= sqrt(.25 / 18000) = .0037; five sd
    assert np.abs(share - items.probs).max() < 5 * 0.0037
    assert not np.allclose(items.probs, items.careful, atol=0.01)


def test_votes_of_one_annotator_hang_together():
    """A careless annotator names the favourite label on unrelated items: votes are not independent over items."""
    items = population.draw_items(8, np.arange(600))
    votes = population.cast_votes(8, items, 100, 150)
    residual = (votes.label == 1) - items.probs[:, [1]]
    sums = np.bincount(votes.annotator.ravel(), weights=residual.ravel(), minlength=150)
    independent = np.bincount(
        votes.annotator.ravel(), weights=np.repeat(items.probs[:, 1] * (1 - items.probs[:, 1]), 100), minlength=150
    )
    # independent votes: sum of squares / expectation = 1 with sd sqrt(2 / 150) = .12
    assert (sums**2).sum() / independent.sum() > 1 + 6 * 0.12


def test_annotators_differ_in_care():
    """Votes of careful people (w = .03) hit a clear item's best label more often than those of careless (w = .45)."""
    items = population.draw_items(8, np.arange(600))
    votes = population.cast_votes(8, items, 100, 150)
    clear = np.flatnonzero(items.careful.max(axis=1) > 0.95)
    hit = votes.label[clear] == items.careful[clear].argmax(axis=1)[:, None]
    who = votes.annotator[clear].ravel()
    rate = np.bincount(who, weights=hit.ravel(), minlength=150) / np.bincount(who, minlength=150)
    # careful: at least .97 * .95 = .92; careless: at most .55 + .45 times the share of their favourite, about a third
    assert (rate > 0.9).mean() == pytest.approx(0.8, abs=0.12)
    assert (rate < 0.8).mean() == pytest.approx(0.2, abs=0.12)


def test_noise_of_nested_budgets_falls_as_one_over_n():
    """Cov(mean of first M, mean of first N) = 1 / max(M, N); 12000 draws, sd of each estimate < 1.5 / sqrt(12000)."""
    noise = learner._draw_noise(11, 0, np.arange(4000))
    flat = {budget: values.ravel() for budget, values in noise.votes.items()}
    for small in (1, 5, 20):
        for large in (20, 100):
            expected = 1 / max(small, large)
            sd = math.sqrt((1 / small) * (1 / large) + expected**2) / math.sqrt(12000)
            assert abs((flat[small] * flat[large]).mean() - expected) < 5 * sd


def test_an_item_keeps_its_misreading_in_every_cell():
    ranks = np.arange(500)
    items = population.draw_items(2, ranks)
    top = -3  # soft, budget 100
    first, second = (np.log(learner.predict(2, cell, items, ranks)[top]) for cell in (0, 1))
    evidence = np.log(items.probs)
    errors = [(x - evidence) - (x - evidence).mean(axis=1, keepdims=True) for x in (first, second)]
    assert np.corrcoef(errors[0].ravel(), errors[1].ravel())[0, 1] > 0.8


def test_random_rows_do_not_depend_on_their_neighbours():
    whole = draws.uniform(4, draws.Kind.VOTE, np.arange(10), 6)
    assert np.array_equal(draws.uniform(4, draws.Kind.VOTE, np.array([7]), 6)[0], whole[7])
    assert not np.array_equal(draws.uniform(4, draws.Kind.CROWD, np.array([7]), 6)[0], whole[7])


def test_metrics_of_the_truth_by_hand():
    """Two items, counts (3, 1, 0) and (0, 2, 2), model (.5, .25, .25) on both.

    tvd: (.25 + 0 + .25)/2 = .25 and (.5 + .25 + .25)/2 = .5, mean .375. brier: .0625 + 0 + .0625 = .125 and
    .25 + .0625 + .0625 = .375, mean .25. kl: .75 ln 1.5 + .25 ln 1 and .5 ln 2 + .5 ln 2 = ln 2.
    accuracy: the first label is right on item 1 and wrong on item 2: .5.
    """
    probs = np.array([[[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]])
    counts = np.array([[3, 1, 0], [0, 2, 2]])
    assert truth.METRICS["tvd"](probs, counts)[0] == pytest.approx(0.375)
    assert truth.METRICS["brier"](probs, counts)[0] == pytest.approx(0.25)
    assert truth.METRICS["kl"](probs, counts)[0] == pytest.approx((0.75 * math.log(1.5) + math.log(2)) / 2)
    assert truth.METRICS["accuracy"](probs, counts)[0] == 0.5
    assert math.isnan(truth.METRICS["entropy_correlation"](probs, counts)[0])
    # tied majority: the second label shares the credit of item 2, and wins nothing on item 1
    assert truth.METRICS["accuracy"](probs[..., [1, 0, 2]], counts)[0] == pytest.approx(0.25)


def test_distribution_calibration_error_of_the_truth_by_loops():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet([1, 1, 1], size=(2, 400))
    counts = rng.multinomial(20, [0.5, 0.3, 0.2], size=400)
    human = counts / 20
    for condition in range(2):
        errors = []
        for start in (0, 200):
            for label in range(3):
                total = 0.0
                for b in range(10):
                    inside = [
                        i for i in range(start, start + 200) if b / 10 < probs[condition, i, label] <= (b + 1) / 10
                    ]
                    if inside:
                        gap = np.mean([probs[condition, i, label] - human[i, label] for i in inside])
                        total += len(inside) / 200 * abs(gap)
                errors.append(total)
        assert truth.METRICS["dist_ece"](probs, counts)[condition] == pytest.approx(np.mean(errors), abs=1e-12)


def test_the_truth_agrees_with_a_study_of_many_items(planted):
    """An independent simulation with other formulas; both have Monte Carlo error, so five joint standard errors."""
    ranks = np.arange(30000)
    items = population.draw_items(77, ranks)
    human = population.fresh_counts(77, items, ranks, 100) / 100
    values = []
    for cell in range(30):
        some = slice(cell * 1000, (cell + 1) * 1000)
        probs = learner.predict(77, cell, items.take(ranks[some]), ranks[some])[10]  # soft, budget 10
        h = human[some]
        logs = np.log(np.where(h > 0, h / probs, 1.0))
        entropy = [-(x * np.log(np.where(x > 0, x, 1.0))).sum(axis=1) for x in (h, probs)]
        values.append([(h * logs).sum(axis=1).mean(), np.corrcoef(entropy[0], entropy[1])[0, 1]])
    mean, se = np.mean(values, axis=0), np.std(values, axis=0, ddof=1) / np.sqrt(30)
    condition = "model=planted,method=soft,budget=10"
    for rank, metric in enumerate(("kl", "entropy_correlation")):
        row = planted.filter(metric=metric, quantity="value", condition=condition).row(0, named=True)
        assert abs(row["value"] - mean[rank]) < 5 * math.hypot(se[rank], row["mc_se"])


def test_fractions_and_n_star_follow_from_the_values(planted):
    """f = (l_base - l_N) / (l_base - l_ceil) recomputed from the value rows, for kl and for a correlation."""
    curve = "model=planted,method=soft"
    for metric in ("kl", "entropy_correlation"):
        value = {row["condition"]: row["value"] for row in planted.filter(metric=metric, quantity="value").to_dicts()}
        base, ceiling = value["model=planted,method=hard"], value[f"{curve},budget=100"]
        own = planted.filter(metric=metric, curve=curve, baseline="hard")
        f = {n: (base - value[f"{curve},budget={n}"]) / (base - ceiling) for n in (1, 3, 5, 10, 20, 50)}
        for row in own.filter(quantity="fraction").to_dicts():
            assert row["value"] == pytest.approx(f[row["budget"]], abs=1e-12)
        shortfall = planted.filter(metric=metric, curve=curve, quantity="shortfall", budget=10)["value"][0]
        sign = 1 if metric == "kl" else -1
        assert shortfall == pytest.approx(sign * (value[f"{curve},budget=10"] - ceiling), abs=1e-12)
        reached = own.filter(quantity="n_star", q=0.9)["value"][0]
        assert reached == min(n for n in (*f, 100) if all(f.get(m, 1.0) >= 0.9 for m in (*f, 100) if m >= n))


def test_the_story_is_that_of_the_paper(planted):
    """KL is nearly saturated where the entropy correlation is only half way; smoothing never gets there."""
    at_three = planted.filter(quantity="fraction", curve="model=planted,method=soft", budget=3, baseline="hard")
    f = dict(zip(at_three["metric"], at_three["value"], strict=True))
    assert f["kl"] > 0.85
    assert f["entropy_correlation"] < 0.6
    r = planted.filter(quantity="value", metric="entropy_correlation")
    smoothing = r.filter(pl.col("condition").str.contains("smoothing"))["value"].max()
    assert r.filter(condition="model=planted,method=soft,budget=100")["value"][0] > smoothing + 0.1


def test_quantities_that_are_undefined_have_no_truth(planted):
    assert planted.filter(metric="entropy_correlation", baseline="base_rate").height == 0
    assert planted["value"].is_finite().all()


def test_crossing_is_linear_in_log_n():
    """Half way from f = .8 at 10 to f = 1 at 40 is f = .9 at sqrt(400) = 20."""
    assert truth._crossing(10, 40, 0.8, 1.0, 0.9) == pytest.approx(20)


def _evaluated(condition, low, high, reason=None):
    unc = Uncertainty(estimate=0.1, low=low, high=high, reason=reason)
    return EvaluateRow(metric="kl", condition=condition, direction="lower", unc=unc)


def test_coverage_compares_the_right_rows():
    small = pl.DataFrame(
        {
            "metric": ["kl", "kl"],
            "quantity": ["value", "fraction"],
            "condition": ["model=planted,method=hard", None],
            "curve": [None, "model=planted,method=soft"],
            "budget": [None, 10],
            "baseline": [None, "hard"],
            "q": [None, None],
            "value": [0.5, 0.9],
        },
        schema_overrides={"q": pl.Float64},
    )
    hard = Condition.of(model="planted", method="hard")
    for low, high, expected in ((0.4, 0.6, True), (0.6, 0.7, False), (None, None, None)):
        result = EvaluateResult(rows=(_evaluated(hard, low, high),), settings={}, data=SUMMARY)
        assert planted_coverage(result, small)["covered"].to_list() == [expected]

    def fraction(**keys):
        unc = Uncertainty(estimate=0.8, low=keys.pop("low", None), high=keys.pop("high", None))
        row = CurveRow(
            quantity="fraction", metric="kl", curve="model=planted,method=soft", budget=10, baseline="hard",
            direction="lower", unc=unc, **keys,
        )  # fmt: skip
        result = SaturationResult(rows=(row,), settings={}, data=SUMMARY)
        return planted_coverage(result, small)["covered"].to_list()

    assert fraction(low=0.85, high=0.95, fieller_shape="bounded") == [True]
    assert fraction(fieller_shape="whole line") == [True]
    assert fraction(fieller_shape="complement", fieller_low=0.5, fieller_high=0.95) == [False]
    assert fraction(fieller_shape="complement", fieller_low=0.95, fieller_high=1.5) == [True]


def test_coverage_refuses_what_has_no_truth(planted):
    other = _evaluated(Condition.of(model="mine", method="hard"), 0, 1)
    with pytest.raises(UsageError, match="simulated study"):
        planted_coverage(EvaluateResult(rows=(other,), settings={}, data=SUMMARY), planted)
    with pytest.raises(UsageError, match="no planted truth"):
        planted_coverage("nothing", planted)


def test_an_n_star_at_the_open_end_of_its_interval_is_not_covered():
    """N* found at 20 is in (10, 20]: a true 10 is outside, a true 20 inside, and interpolated ones keep both ends."""
    from saturation.simulate.coverage import _covered

    row = {"low": 10.0, "high": 20.0, "quantity": "n_star"}
    assert [_covered(value, row) for value in (10.0, 10.5, 20.0, 21.0)] == [False, True, True, False]
    assert _covered(10.0, row | {"quantity": "n_star_interpolated"})
