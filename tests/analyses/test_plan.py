"""Plans: components by hand and by slow twins, the best number of votes, and what a design would show."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

import saturation as sat
from saturation.analyses.planning import laws, simulated
from saturation.analyses.planning.components import ONE_VOTE, TRUNCATED, VoteScores, components_of
from saturation.analyses.planning.costs import Costs
from saturation.analyses.planning.laws import given_forecasts
from saturation.analyses.planning.people import NOBODY_TWICE, people_of
from saturation.analyses.planning.plan import DEFAULT_METRICS, RANKED
from saturation.analyses.planning.power import detectable, power
from saturation.analyses.planning.rows import BEYOND_PILOT, NO_TWO_MODELS, TOO_DEAR
from saturation.analyses.planning.spreads import AT_MOST, ITEMS_ALIKE, NO_NOISE, UNANIMOUS, _positive
from saturation.analyses.planning.subjects import NOTHING_LEFT, of_panel, of_votes
from saturation.errors import UsageError
from saturation.metrics.catalogue import CATALOGUE, metric
from saturation.resampling.fieller import FiellerSet
from saturation.results import PlanRow
from saturation.tables.builders import panel_from_arrays, votes_from_counts
from saturation.tables.panel import Ballots, Votes
from tests import naive
from tests.statistical import plans

PRICES = {"cost_per_vote": 1.0, "cost_per_item": 4.0, "total": 1000.0}


def votes_with_ids(triples, n_labels=2):
    """Votes from (item, person, label)."""
    triples = sorted(triples)
    item, person, label = (np.array(column) for column in zip(*triples, strict=True))
    counts = np.zeros((item.max() + 1, n_labels), dtype=np.int64)
    np.add.at(counts, (item, label), 1)
    ballots = Ballots(tuple(f"w{p:02d}" for p in range(person.max() + 1)), item, person, label)
    ids = tuple(f"q{i:03d}" for i in range(len(counts)))
    return Votes(item_ids=ids, labels=tuple("abc"[:n_labels]), counts=counts, ballots=ballots)


def crowd(seed, n_items=12, n_people=6, n_votes=3, n_labels=2):
    draw = np.random.default_rng(seed)
    return votes_with_ids(
        [
            (i, int(p), int(draw.integers(n_labels)))
            for i in range(n_items)
            for p in draw.choice(n_people, n_votes, replace=False)
        ],
        n_labels,
    )


def row_of(result, quantity, **keys):
    found = [r for r in result.rows if r.quantity == quantity and all(getattr(r, k) == v for k, v in keys.items())]
    assert len(found) == 1, (quantity, keys, len(found))
    return found[0]


# --- components -------------------------------------------------------------------------------------------------------


def test_components_are_the_slow_twins():
    draw = np.random.default_rng(3)
    counts = draw.integers(0, 4, (15, 3)) + np.eye(15, 3, dtype=int) + np.eye(15, 3, -3, dtype=int) + [0, 1, 1]
    table = draw.normal(size=(15, 3))
    found = components_of(VoteScores(table, counts, None))
    scores = [[table[i, k] for k in range(3) for _ in range(counts[i, k])] for i in range(15)]
    items, votes = naive.vote_components(scores)
    assert found.items == pytest.approx(items, rel=1e-12)
    assert found.votes == pytest.approx(votes, rel=1e-12)
    assert found.mean == pytest.approx(np.mean([np.mean(one) for one in scores]), rel=1e-12)


def test_people_are_the_slow_twin_whatever_the_assignment():
    for seed, n_votes in ((0, 3), (1, 2), (2, 6)):
        votes = crowd(seed, n_votes=n_votes)
        table = np.random.default_rng(seed + 9).normal(size=votes.counts.shape)
        found = people_of(table, votes.counts, votes.ballots)
        triples = [
            (i, p, table[i, k])
            for i, p, k in zip(votes.ballots.item, votes.ballots.annotator, votes.ballots.label, strict=True)
        ]
        assert found.variance == pytest.approx(naive.person_component(triples), rel=1e-10)


def test_people_by_hand():
    # everybody on every item, each person's score constant (0, 1, 2): deviations -1, 0, 1 on both items
    votes = votes_with_ids([(i, p, p) for i in range(2) for p in range(3)], n_labels=3)
    found = people_of(np.tile([0.0, 1.0, 2.0], (2, 1)), votes.counts, votes.ballots)
    assert found.variance == pytest.approx(1.0)  # the sample variance of 0, 1, 2
    # means over items share the same three people: one chance in three that two votes are one person's
    assert found.shared == pytest.approx(1 / 3)


def test_people_who_vote_once_cannot_be_told_from_noise():
    votes = votes_with_ids([(i, 2 * i + j, j) for i in range(4) for j in range(2)])
    found = people_of(np.tile([0.0, 1.0], (4, 1)), votes.counts, votes.ballots)
    assert found.reason == NOBODY_TWICE
    assert math.isnan(found.variance)
    assert found.interval(0.95).reason == NOBODY_TWICE


def test_shared_people_do_not_hide_the_items():
    """Everybody votes on everything: without the part that people share, sigma_I^2 would miss sigma_A^2 / A."""
    draw = np.random.default_rng(0)
    estimates, plain = [], []
    item_sd, person_sd = 1.0, 1.5
    for _ in range(400):
        n_items, n_people = 20, 3
        item, person = item_sd * draw.normal(size=n_items), person_sd * draw.normal(size=n_people)
        scores = item[:, None] + person + draw.normal(size=(n_items, n_people))
        # a label of its own for every vote carries any score
        votes = votes_with_ids([(i, p, p) for i in range(n_items) for p in range(n_people)], n_labels=3)
        found = components_of(VoteScores(scores, votes.counts, votes.ballots))
        estimates.append((found.items, found.votes, found.people.variance))
        plain.append(components_of(VoteScores(scores, votes.counts, None)).items)
    mean, se = np.mean(estimates, axis=0), np.std(estimates, axis=0) / 20
    truth = np.array([1.0, 1.0 + 2.25, 2.25])
    assert (np.abs(mean - truth) < 4 * se).all()
    assert abs(np.mean(plain) - (1.0 - 2.25 / 3)) < 4 * np.std(plain) / 20


def test_vote_scores_are_the_metrics_own():
    draw = np.random.default_rng(5)
    probs = draw.dirichlet([1, 1, 1], (2, 8))
    counts = draw.integers(1, 5, (8, 3))
    panel = panel_from_arrays(probs[:, None], counts, conditions=[{"method": "a"}, {"method": "b"}])
    for name in ("cross_entropy", "brier_vote", "top_vote_share"):
        one = of_panel(panel, "method=a", None).vote_scores(metric(name))
        assert one.means().mean() == pytest.approx(sat.evaluate(panel, metrics=[name]).rows[0].unc.estimate, rel=1e-12)
    for name in ("kl", "brier", "cross_entropy"):
        both = of_panel(panel, "method=a", "method=b").vote_scores(metric(name))
        rows = sat.evaluate(panel, metrics=[name]).rows
        assert both.means().mean() == pytest.approx(rows[0].unc.estimate - rows[1].unc.estimate, rel=1e-10)


# --- the best number of votes -----------------------------------------------------------------------------------------


def test_best_number_of_votes_is_the_formula_and_beats_its_neighbours():
    for ratio, item in ((9.0, 4.0), (2.0, 30.0), (0.5, 1.0), (40.0, 10.0)):
        costs = Costs(vote=1.0, item=item, total=1e7, most_votes=200)
        best = costs.best(ratio)
        assert abs(best - math.sqrt(ratio * item)) < 1
        cost = {n: (1 + ratio / n) * (item + n) for n in (best - 1, best, best + 1) if n}
        assert min(cost, key=cost.get) == best
    assert Costs(vote=1.0, item=4.0, total=1e6, most_votes=30).best(np.inf) == 30
    assert Costs(vote=1.0, item=4.0, total=1e6, most_votes=30).best(0.0) == 1


def test_with_few_items_the_rest_of_the_money_buys_votes():
    # 1000 / (4 + N) items, but only 50: up to N = 16 they are all had
    costs = Costs(vote=1.0, item=4.0, total=1000.0, most_votes=100, most_items=50)
    assert costs.best(9.0) == 16
    assert (costs.items(16), costs.spent(16)) == (50, 1000.0)


def test_optimum_and_width_by_hand():
    # scores 0/1 by label of a forecast fixed on the first: two items split 1:1, two unanimous
    counts = [[2, 2], [2, 2], [4, 0], [0, 4]]
    panel = panel_from_arrays([[0.9, 0.1]] * 4, counts)
    result = sat.plan(panel, **PRICES, metrics=["top_vote_share"], max_votes=50)
    # s^2 = 1/3, 1/3, 0, 0; means .5, .5, 1, 0: variance 1/6, less (1/6)/4
    votes, items = 1 / 6, 1 / 6 - 1 / 24
    assert row_of(result, "component", component="votes").unc.estimate == pytest.approx(votes)
    assert row_of(result, "component", component="items").unc.estimate == pytest.approx(items)
    best = row_of(result, "optimum")
    assert (best.budget, best.items, best.cost) == (2, 166, 996.0)  # sqrt(4/3 * 4) = 2.3; (1 + 1.33/2)(6) < (1.44)(7)
    width = row_of(result, "width", budget=2)
    assert width.unc.se == pytest.approx(math.sqrt((items + votes / 2) / 166))
    assert width.unc.estimate == pytest.approx(2 * 1.974446 * width.unc.se, rel=1e-5)  # t, 165 df
    assert row_of(result, "width", budget=5).unc.reason == BEYOND_PILOT


def test_a_pilot_that_says_little_leaves_the_optimum_open():
    draw = np.random.default_rng(6)
    counts = np.stack([draw.multinomial(2, [0.5, 0.5]) for _ in range(10)])
    probs = draw.dirichlet([4, 4], 10)
    best = row_of(sat.plan(panel_from_arrays(probs, counts), **PRICES, metrics=["brier_vote"], max_votes=40), "optimum")
    assert best.unc.low == 1
    assert best.unc.high > 20
    assert BEYOND_PILOT in best.unc.reason


@pytest.mark.parametrize(
    ("found", "items", "ends"),
    [
        (FiellerSet("bounded", 0.5, 2.0), 1.0, (0.5, 2.0)),
        (FiellerSet("bounded", -0.5, 2.0), 1.0, (0.0, 2.0)),
        (FiellerSet("bounded", -9.0, -2.0), -1.0, (np.inf, np.inf)),  # sigma_I^2 below 0 beyond doubt
        (FiellerSet("complement", -3.0, 2.0), 1.0, (2.0, np.inf)),  # 2 and more, or sigma_I^2 below 0
        (FiellerSet("complement", -3.0, 2.0), -1.0, (2.0, np.inf)),
        (FiellerSet("whole line", None, None), 1.0, (0.0, np.inf)),
    ],
)
def test_ratios_of_variances_above_zero(found, items, ends):
    assert _positive(found, items) == ends


def test_unanimous_items_need_one_vote():
    counts = [[4, 0], [4, 0], [0, 4], [4, 0]]
    result = sat.plan(panel_from_arrays([[0.9, 0.1]] * 4, counts), **PRICES, metrics=["brier_vote"])
    best = row_of(result, "optimum").unc
    assert (best.estimate, best.low, best.high, best.reason) == (1.0, 1.0, 1.0, UNANIMOUS)


def test_items_that_do_not_differ_take_as_many_votes_as_allowed():
    result = sat.plan(panel_from_arrays([[0.9, 0.1]] * 4, [[2, 2]] * 4), **PRICES, metrics=["brier_vote"])
    best = row_of(result, "optimum")
    assert best.budget == 4
    assert ITEMS_ALIKE in best.unc.reason
    items = row_of(result, "component", component="items").unc
    assert items.estimate == 0.0
    assert items.reason.startswith(TRUNCATED)


def test_no_noise_at_all_is_a_reason():
    result = sat.plan(panel_from_arrays([[0.9, 0.1]] * 4, [[4, 0]] * 4), **PRICES, metrics=["brier_vote"])
    assert row_of(result, "optimum").unc.reason == NO_NOISE
    assert all(r.unc.estimate is None for r in result.rows if r.quantity == "width")


@pytest.mark.parametrize(
    "metrics", [("brier_vote",), DEFAULT_METRICS, ("kl", "accuracy", "dist_ece", "macro_f1", "aurc")]
)
@pytest.mark.parametrize(
    "counts",
    [
        [[1, 0], [0, 1], [1, 0], [1, 0]],
        [[3, 1]],
        [[3, 1], [1, 3]],
        [[2, 0], [2, 0], [2, 0]],
        [[5, 5], [5, 5], [5, 5]],
        [[2, 0], [0, 2], [1, 1]],
        [[1, 1], [3, 1], [1, 0], [0, 9]],
    ],
)
def test_degenerate_pilots_give_reasons(counts, metrics):
    for pilot in (votes_from_counts(counts), panel_from_arrays([[0.7, 0.3]] * len(counts), counts)):
        result = sat.plan(pilot, **PRICES, metrics=metrics)
        for record in result.records():
            if record["estimate"] is None:
                assert record["reason"]
            else:
                assert record["low"] is None or record["low"] <= record["high"]
                assert record["low"] is not None or record["reason"], record


def test_single_votes_say_what_is_missing():
    counts = [[1, 0], [0, 1], [1, 0]]
    panel = panel_from_arrays([[0.7, 0.3]] * 3, counts)
    assert row_of(sat.plan(panel, **PRICES, metrics=["brier_vote"]), "optimum").unc.reason == ONE_VOTE
    alone = sat.plan(votes_from_counts(counts), **PRICES, metrics=["brier_vote"])
    assert alone.rows[0].unc.reason == NOTHING_LEFT


# --- power ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("effect", "n"), [(0.3, 20), (0.1, 400), (0.5, 9)])
def test_power_is_that_of_statsmodels(effect, n):
    expected = TTestPower().power(effect, n, alpha=0.05, df=n - 1, alternative="two-sided")
    assert power(effect, 1 / math.sqrt(n), n - 1) == pytest.approx(expected, abs=1e-6)
    found = detectable(1 / math.sqrt(n), n - 1)
    assert TTestPower().power(found, n, alpha=0.05, alternative="two-sided") == pytest.approx(0.8, abs=1e-6)


def two_models(seed=0, n_items=60):
    draw = np.random.default_rng(seed)
    truth = draw.dirichlet([1, 1], n_items)
    counts = np.stack([draw.multinomial(6, p) for p in truth])
    good = 0.6 * truth + 0.2
    poor = 0.2 * truth + 0.4
    return panel_from_arrays([good, poor], counts, conditions=[{"method": "soft"}, {"method": "hard"}])


def test_power_of_two_models():
    panel = two_models()
    names = {"a": "method=soft", "b": "method=hard", "metrics": ["brier", "tvd"]}
    planned = sat.plan(panel, **PRICES, **names, difference=-0.02)
    own = sat.plan(panel, **PRICES, **names)
    compared = sat.compare(panel, a="method=soft", b="method=hard", metrics=["brier"], n_resamples=99).rows[0].unc
    found = row_of(own, "difference", metric="brier").unc
    assert found.estimate == pytest.approx(compared.estimate, rel=1e-12)
    assert found.low == pytest.approx(compared.low, rel=1e-9)
    for name in ("brier", "tvd"):
        wide, chance, least = (row_of(planned, q, metric=name, budget=5).unc for q in ("width", "power", "detectable"))
        items = row_of(planned, "width", metric=name, budget=5).items
        assert chance.estimate == pytest.approx(power(0.02, wide.se, items - 1), rel=1e-9)
        assert chance.low <= chance.estimate <= chance.high
        assert power(least.estimate, wide.se, items - 1) == pytest.approx(0.8, abs=1e-6)
    spread = row_of(own, "power", metric="brier", budget=5).unc
    assert spread.low <= spread.estimate <= spread.high


def test_one_model_has_no_power_row_but_a_reason():
    result = sat.plan(two_models(), **PRICES, a="method=soft", metrics=["brier_vote"])
    assert row_of(result, "power").unc.reason == NO_TWO_MODELS


# --- simulated metrics ------------------------------------------------------------------------------------------------


def test_simulation_finds_the_components_of_a_mean_over_votes():
    """Of a score that is a mean over votes, v(N) under the fitted law is sigma_I^2 + sigma_V^2 / N, with no bias."""
    panel = two_models(2, 400)
    subject = of_panel(panel, "method=soft", None)
    (drawn,) = simulated.simulate(subject, [metric("brier_vote")], (1, 4, 20), seed=1)
    parameters = simulated.law(subject)
    total = parameters.sum(axis=1, keepdims=True)
    p = parameters / total
    table = subject.vote_scores(metric("brier_vote")).table
    # p_i is Dirichlet: its mean score sum_k p_ik g_ik has variance [sum_k p_k g_k^2 - (sum_k p_k g_k)^2] / (total + 1)
    mean, second = (p * table).sum(axis=1), (p * table**2).sum(axis=1)
    spread = (second - mean**2) / (total[:, 0] + 1)
    items = mean.var(ddof=1) + spread.mean()
    votes = (second - (mean**2 + spread)).mean()
    for place, n in enumerate((1, 4, 20)):
        assert drawn.variances[0, place] == pytest.approx(items + votes / n, rel=0.05)
        assert drawn.values[0, place] == pytest.approx(drawn.against_everybody[0], abs=0.01)
    # and these are the components that the votes themselves show, but for noise
    own = components_of(subject.vote_scores(metric("brier_vote")))
    assert items == pytest.approx(own.items, abs=2.5 * own.spread(np.array([1.0, 0.0])))
    assert votes == pytest.approx(own.votes, abs=2.5 * own.spread(np.array([0.0, 1.0])))


def test_law_given_forecasts_finds_what_it_was_made_of():
    draw = np.random.default_rng(1)
    forecasts = draw.dirichlet([1, 1, 1], 3000)
    tempered = forecasts**0.5 * [1.0, 2.0, 0.5]
    means = tempered / tempered.sum(axis=1, keepdims=True)
    counts = np.stack([draw.multinomial(4, draw.dirichlet(6 * q)) for q in means])
    found = given_forecasts(counts, forecasts[None]) - counts
    assert found.sum(axis=1) == pytest.approx(6.0, rel=0.15)
    assert np.abs(found / found.sum(axis=1, keepdims=True) - means).mean() < 0.02


def test_law_given_forecasts_climbs_to_the_top():
    draw = np.random.default_rng(2)
    forecasts = draw.dirichlet([1, 1], (2, 50))
    counts = draw.integers(0, 4, (50, 2)) + np.array([1, 0])
    problem = laws._Problem(counts.astype(float), np.log(forecasts))
    theta = draw.normal(size=5)
    slope = [(problem.loss(theta + 1e-6 * one)[0] - problem.loss(theta - 1e-6 * one)[0]) / 2e-6 for one in np.eye(5)]
    assert problem.loss(theta)[1] == pytest.approx(slope, abs=1e-7)


def test_bias_of_a_distance_is_what_more_votes_take_off():
    result = sat.plan(two_models(1, 200), **PRICES, a="method=soft", metrics=["tvd", "brier"], max_votes=20)
    tvd = [r.unc.estimate for r in result.rows if (r.quantity, r.metric) == ("bias", "tvd")]
    assert tvd == sorted(tvd, reverse=True)
    brier = [r for r in result.rows if (r.quantity, r.metric) == ("bias", "brier")]
    assert brier[0].unc.estimate is None  # a single vote cannot be corrected
    assert all(abs(r.unc.estimate) < 0.01 for r in brier[1:])


def test_the_optimum_of_a_biased_metric_has_the_smallest_error():
    result = sat.plan(two_models(1, 200), **PRICES, a="method=soft", metrics=["tvd"], max_votes=20)
    best = row_of(result, "optimum")
    of = {q: {r.budget: r.unc for r in result.rows if r.quantity == q} for q in ("width", "bias")}
    error = {n: of["width"][n].se ** 2 + of["bias"][n].estimate ** 2 for n in of["width"]}
    assert best.budget == min(error, key=error.get)
    narrowest = min(of["width"], key=lambda n: of["width"][n].se)
    assert narrowest < best.budget  # few votes on many items: a narrow interval around another value
    assert best.unc.low <= best.budget <= best.unc.high


def test_ranks_are_refused_with_a_reason():
    names = [n for n in CATALOGUE if metric(n).features is None]
    result = sat.plan(two_models(), **PRICES, a="method=soft", metrics=names[:1])
    assert row_of(result, "optimum").unc.reason == RANKED


# --- the wrong metric -------------------------------------------------------------------------------------------------


def test_the_wrong_metric_by_hand():
    result = sat.plan(two_models(), **PRICES, a="method=soft", metrics=["brier_vote", "tvd"], max_votes=20)
    best = {r.metric: r.budget for r in result.rows if r.quantity == "optimum"}
    row = row_of(result, "wrong_metric", metric="brier_vote", metric_b="tvd")
    assert row.budget == best["tvd"]
    items, votes = (
        row_of(result, "component", metric="brier_vote", component=c).unc.estimate for c in ("items", "votes")
    )
    own, theirs = best["brier_vote"], best["tvd"]
    ratio = (items + votes / theirs) / (1000 // (4 + theirs)) / ((items + votes / own) / (1000 // (4 + own)))
    assert row.unc.estimate == pytest.approx(math.sqrt(ratio), rel=1e-12)
    assert row.unc.estimate >= 1


# --- people, options, form --------------------------------------------------------------------------------------------


def test_the_floor_falls_with_people_alone():
    votes = crowd(4, n_items=60, n_people=8, n_votes=4)
    one = sat.plan(votes, **PRICES, metrics=["top_vote_share"], annotators=8)
    more = sat.plan(votes, **{**PRICES, "total": 1e6}, metrics=["top_vote_share"], annotators=32)
    rich = sat.plan(votes, **{**PRICES, "total": 1e6}, metrics=["top_vote_share"], annotators=8)
    floor = [row_of(r, "floor").unc.estimate for r in (one, more, rich)]
    assert floor[0] == floor[2]
    assert floor[1] < floor[0] / 1.9 or floor[0] == 0
    people = row_of(one, "component", component="annotators").unc
    width = row_of(rich, "width", budget=3)
    variance = width.unc.se**2
    parts = [row_of(rich, "component", component=c).unc.estimate for c in ("items", "votes")]
    assert variance == pytest.approx((parts[0] + parts[1] / 3) / width.items + people.estimate / 8)


def test_rows_do_not_depend_on_order_or_other_metrics():
    draw = np.random.default_rng(8)
    counts = draw.integers(0, 5, (30, 3)) + np.array([1, 1, 0])
    ids = [f"i{n:02d}" for n in range(30)]
    forward = votes_from_counts(counts, item_ids=ids)
    backward = votes_from_counts(counts[::-1], item_ids=ids[::-1])
    one = sat.plan(forward, **PRICES, metrics=["tvd", "brier_vote"], rng=4)
    two = sat.plan(backward, **PRICES, metrics=["tvd", "brier_vote"], rng=4)
    assert one.records() == two.records()
    alone = sat.plan(forward, **PRICES, metrics=["tvd"], rng=4)
    keys = {(r.quantity, r.budget): r for r in one.rows if r.metric == "tvd" and r.metric_b is None}
    for row in alone.rows:
        if row.quantity in ("width", "bias") and (row.quantity, row.budget) in keys:
            assert keys[row.quantity, row.budget] == row


def test_labels_alone_take_one_vote_of_every_item_away():
    votes = crowd(1, n_items=20)
    found = of_votes(votes, "annotator", 0)
    assert (found.human.counts.sum(axis=1) == 2).all()
    assert (votes.counts >= found.human.counts).all()
    tallied = np.zeros_like(found.human.counts)
    np.add.at(tallied, (found.ballots.item, found.ballots.label), 1)
    assert (tallied == found.human.counts).all()
    assert of_votes(votes, "base_rate", 0).human.counts.sum() == 60


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cost_per_vote": 0.0}, "cost_per_vote is 0"),
        ({"cost_per_item": 0.0}, "very small cost"),
        ({"total": 9.0}, "does not pay for two items"),
        ({"difference": 0.1}, "needs two models"),
        ({"a": "method=soft"}, "no predictions"),
        ({"annotators": 5}, "no annotator ids"),
        ({"forecast": "oracle"}, "unknown forecast"),
        ({"max_items": 1}, "at least 2"),
        ({"max_votes": 0}, "max_votes is 0"),
        ({"level": 0.3}, "level is 0.3"),
    ],
)
def test_options_that_make_no_sense(options, words):
    with pytest.raises(UsageError, match=words):
        sat.plan(votes_from_counts([[2, 1], [1, 2], [3, 0]]), **{**PRICES, **options})


def test_models_must_be_named():
    panel = two_models()
    with pytest.raises(UsageError, match="several conditions"):
        sat.plan(panel, **PRICES)
    with pytest.raises(UsageError, match="same condition"):
        sat.plan(panel, **PRICES, a="method=soft", b="method=soft")
    with pytest.raises(UsageError, match="labels alone"):
        sat.plan(panel, **PRICES, a="method=soft", forecast="annotator")


def test_too_dear_designs_are_said_so():
    result = sat.plan(two_models(), cost_per_vote=1, cost_per_item=4, total=16, a="method=soft", metrics=["brier_vote"])
    assert row_of(result, "width", budget=5).unc.reason == TOO_DEAR


def test_it_says_that_it_is_about_evaluation():
    budgets = [{"method": "soft", "budget": 3}, {"method": "soft", "budget": 10}]
    panel = replace(
        two_models(), conditions=panel_from_arrays([[[0.5, 0.5]]] * 2, [[1, 1]], conditions=budgets).conditions
    )
    result = sat.plan(panel, **PRICES, a="budget=3", metrics=["brier_vote"])
    assert [note.code for note in result.notes][:2] == ["plan_for_evaluation", "no_training_plan"]


def test_the_keys_of_a_row():
    result = sat.plan(two_models(), **PRICES, a="method=soft", metrics=["brier_vote"])
    assert list(result.records()[0]) == [
        "quantity", "metric", "metric_b", "a", "b", "component", "budget", "items", "annotators", "cost",
        "planned_difference", "estimate", "low", "high", "se", "level", "interval", "estimator", "design",
        "n_resamples", "n_items", "n_cells", "reason",
    ]  # fmt: skip
    assert [f.name for f in fields(PlanRow)][-1] == "unc"
    assert result.to_frame().height == len(result.rows)


def test_caps_are_said_so():
    result = sat.plan(two_models(), **PRICES, a="method=soft", metrics=["brier_vote"], max_votes=1)
    assert row_of(result, "optimum").unc.reason == AT_MOST


def test_intervals_of_planted_components_hold():
    """Sixty fixed pilots: fewer than 106 of 120 has a chance of about 1% at 95%, even if both metrics were one."""
    for name, (held, asked) in plans.coverage(plans.Setting(200, 5, 30, 0.7), 60).items():
        if name.startswith(("sigma", "width", "best N")) and "step" not in name:
            assert asked == 120
            assert held / asked > 0.88, name
