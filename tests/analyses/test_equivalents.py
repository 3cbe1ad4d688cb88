"""equivalents: crowds by enumeration, the crossing by hand, planted worth, reasons, invariances."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from saturation.analyses.worth.additive import crowd_score, model_score
from saturation.analyses.worth.combiner import Combiner, other_items_prior, shared_prior
from saturation.analyses.worth.crossing import Track, worth_of
from saturation.analyses.worth.drawn import Crowds, drawn_standings
from saturation.analyses.worth.equivalents import DEFAULT_METRICS, equivalents
from saturation.analyses.worth.held_out import crowd_brier_vote, crowd_cross_entropy
from saturation.analyses.worth.standing import WITHOUT_PEOPLE, Standing
from saturation.analyses.worth.words import worth_reason
from saturation.errors import UsageError
from saturation.metrics.agreement import base_rate
from saturation.metrics.catalogue import all_names, metric
from saturation.metrics.metric import Human
from saturation.resampling.linearized import ONE_SEED, Covariance
from saturation.tables.builders import panel_from_arrays
from saturation.tables.panel import Ballots
from tests import naive

KEYS = ["quantity", "metric", "condition", "crowd_size", "reference", "reference_size", "direction", "estimate", "low",
        "high", "se", "level", "interval", "estimator", "design", "n_resamples", "n_items", "n_cells", "reason",
        "mc_se", "censored"]  # fmt: skip
PI, STRENGTH = np.array([0.5, 0.3, 0.2]), 1.24


def study(seed=0, *, n_items=150, n_votes=20, worth=(3,), n_seeds=1):
    """Models that are the combined answer of ``worth`` people who are not among the voters."""
    generator = np.random.default_rng(seed)
    p = generator.dirichlet(STRENGTH * PI, size=n_items)
    counts = generator.multinomial(n_votes, p)
    seen = [np.stack([generator.multinomial(n, p) for _ in range(n_seeds)]) for n in worth]
    probs = np.stack([(c + STRENGTH * PI) / (n + STRENGTH) for n, c in zip(worth, seen, strict=True)])
    return panel_from_arrays(probs, counts, conditions=[{"method": "soft", "budget": n} for n in worth])


def with_people(panel, n_people=30, seed=0):
    """The same votes, cast by people who each vote on many items."""
    generator = np.random.default_rng(seed)
    item, who, label = [], [], []
    for i, row in enumerate(panel.votes.counts):
        item += [i] * row.sum()
        who += sorted(generator.choice(n_people, row.sum(), replace=False))
        label += list(generator.permutation(np.repeat(np.arange(len(row)), row)))
    names = tuple(f"w{a:03d}" for a in range(n_people))
    ballots = Ballots(names, np.array(item), np.array(who), np.array(label))
    return replace(panel, votes=replace(panel.votes, ballots=ballots))


def found(result, quantity="equivalent"):
    return [row for row in result.rows if row.quantity == quantity]


# --- the scores of crowds ---------------------------------------------------------------------------------------------

COUNTS = np.array([[3, 2, 1], [4, 1, 0], [2, 2, 2], [5, 0, 1], [1, 0, 4]])


@pytest.mark.parametrize("size", range(6))
def test_crowds_against_one_vote_are_every_choice_of_both(size):
    prior = Combiner(np.tile([0.5, 0.2, 0.3], (5, 1)), np.array([0.7, 1.0, 2.0, 3.0, 0.1]))
    log_loss, squared = crowd_cross_entropy(COUNTS, prior, size), crowd_brier_vote(COUNTS, prior, size)
    for i, counts in enumerate(COUNTS):
        if counts.sum() <= size:
            assert np.isnan([log_loss[i], squared[i]]).all()
            continue
        expected = naive.crowd_against_a_vote(counts, prior.base[i], prior.strength[i], size)
        assert (log_loss[i], squared[i]) == pytest.approx(expected, abs=1e-12)


def test_prior_of_an_item_comes_from_the_others():
    prior = other_items_prior(COUNTS)
    for i in range(len(COUNTS)):
        fitted = base_rate(np.delete(COUNTS, i, axis=0))
        assert prior.base[i] == pytest.approx(fitted.distribution, abs=1e-15)
        assert prior.strength[i] == pytest.approx(min(fitted.strength, 1e12), rel=1e-12)


def test_no_prior_without_disagreement_to_learn_from():
    assert shared_prior(np.array([[1, 0], [0, 1]])) is None  # one vote an item
    assert other_items_prior(np.array([[3, 0], [3, 0], [3, 0]])) is None  # one label
    assert other_items_prior(np.array([[3, 1], [1, 3]])) is None  # one other item
    assert other_items_prior(np.array([[3, 0], [3, 0], [0, 3]])) is None  # without the last, one label


ADDITIVE = ("tvd", "jsd", "wasserstein", "squared_hellinger", "soft_accuracy", "reverse_kl[smooth=0.5]")


@pytest.mark.parametrize(("size", "others"), [(0, 2), (2, 2), (3, 2), (2, 4)])
@pytest.mark.parametrize("name", ADDITIVE)
def test_sums_over_labels_are_every_choice_of_crowd_and_reference(name, size, others):
    one, model = metric(name), np.array([0.6, 0.3, 0.1])
    prior = Combiner(np.array([[0.2, 0.5, 0.3]]), np.array([1.7]))
    of_crowd, of_model = naive.crowd_against_others(
        [3, 1, 2], [0.2, 0.5, 0.3], 1.7, size, others,
        lambda answer, votes: float(one.value(np.array([answer]), Human(np.array([votes])))), model,
    )  # fmt: skip
    counts = np.array([[3, 1, 2]])
    assert crowd_score(one, counts, prior, size, others)[0] == pytest.approx(of_crowd, abs=1e-12)
    assert model_score(one, model[None], counts, others)[0] == pytest.approx(of_model, abs=1e-12)
    assert np.isnan(crowd_score(one, counts, prior, size, 7 - size)).all()


def test_drawn_scores_are_means_over_all_draws():
    """TVD of two combined votes against two others of (3, 2, 1): all 6 x 6 pairs of disjoint pairs, to 4 MC errors."""
    counts = np.tile([3, 2, 1], (400, 1))
    counts[200:] = [1, 2, 3]
    panel = panel_from_arrays(np.tile([0.5, 0.3, 0.2], (400, 1)), counts)
    pi, strength = np.array([0.2, 0.5, 0.3]), 2.0
    prior = Combiner(np.tile(pi, (400, 1)), np.full(400, strength))
    standing = drawn_standings(panel, [metric("tvd")], Crowds((0, 2), 2, prior), n_draws=200, seed=0)[0]
    expected = np.zeros(3)
    ways = 0
    for row in ([3, 2, 1], [1, 2, 3]):
        votes = [k for k, number in enumerate(row) for _ in range(number)]
        for crowd in itertools.combinations(range(6), 2):
            for other in itertools.combinations(sorted(set(range(6)) - set(crowd)), 2):
                shares = [[votes[v] for v in chosen].count(k) / 2 for chosen in (crowd, other) for k in range(3)]
                combined = (2 * np.array(shares[:3]) + strength * pi) / (2 + strength)
                for place, answer in enumerate(([0.5, 0.3, 0.2], pi, combined)):
                    expected[place] += np.abs(np.array(answer) - shares[3:]).sum() / 2
                ways += 1
    for place, value in enumerate(expected / ways):
        error = standing.mc_se(standing.unit(place))
        assert 0 < error < 0.002
        assert standing.estimates[place] == pytest.approx(value, abs=4 * error)


# --- the crossing -----------------------------------------------------------------------------------------------------


def track_of(model, crowds, sizes, *, variance=0.0, strength=1.0, name="cross_entropy", spread=None):
    """A model against a curve; the difference of any two has twice the variance."""
    size = 1 + len(crowds)
    none = np.zeros((size, size))
    spread = Covariance(variance * np.eye(size), none, none, none, 10**9, 0, math.inf) if spread is None else spread
    standing = Standing(metric(name), 1, np.array([model, *crowds]), spread, None, {}, False, None, 100, 1)
    return Track(standing, 0, tuple(range(1, size)), tuple(sizes), strength, 0.95)


def test_crossing_is_interpolated_on_one_over_n_plus_a():
    # losses 1/(N + 1): exactly straight there, so that a model of loss .4 is worth 1/.4 - 1 = 1.5
    worth = worth_of(track_of(0.4, [1.0, 0.5, 0.2, 0.1], [0, 1, 4, 9]))
    assert worth.estimate == pytest.approx(1.5, abs=1e-12)
    assert worth.slope == pytest.approx(-1 / 2.5**2, abs=1e-12)  # d/dN 1/(N + 1)
    assert worth.contrast == pytest.approx([1, 0, -2 / 3, -1 / 3, 0])  # 1/2.5 = .4 = 2/3 * .5 + 1/3 * .2


def test_interval_holds_every_n_that_is_not_rejected():
    # all variances v, at a size of the grid (weights 1, -1) se = sqrt(2 v); chosen so that 1.96 se = .1: sizes 1/.5 - 1
    # and 1/.3 - 1 are not at the grid, where the crowd's own variance shrinks to (w^2 + (1 - w)^2) v
    variance = (0.1 / 1.959963984540054) ** 2 / 2
    grid = [0, 1, 4, 9]
    worth = worth_of(track_of(0.4, [1.0, 0.5, 0.2, 0.1], grid, variance=variance))
    assert worth.low == pytest.approx(1.0, abs=1e-9)  # the crowd of one, .1 worse, is just not rejected

    def rejected(loss):
        ends = next((a, b) for a, b in itertools.pairwise([1.0, 0.5, 0.2, 0.1]) if b <= loss <= a)
        share = (ends[0] - loss) / (ends[0] - ends[1])
        se = math.sqrt(variance * (1 + share**2 + (1 - share) ** 2))
        return abs(0.4 - loss) - 1.959963984540054 * se

    assert rejected(1 / (worth.high + 1)) == pytest.approx(0, abs=1e-9)
    assert rejected(1 / (worth.high + 1.01)) > 0


def test_narrow_intervals_are_found_between_the_places_tried():
    # at a loss of .45 (weight 1/6 on the next crowd of loss .2) se = sqrt(v (1 + 25/36 + 1/36)); d loss / d N = -.45^2
    worth = worth_of(track_of(0.45, [1.0, 0.5, 0.2, 0.1], [0, 1, 4, 9], variance=1e-10))
    half = 1.959963984540054 * math.sqrt(1e-10 * 62 / 36) / 0.45**2
    assert worth.high - worth.estimate == pytest.approx(half, rel=1e-3)
    assert worth.estimate - worth.low == pytest.approx(half, rel=1e-3)


def test_without_spread_the_crossing_alone_is_left():
    worth = worth_of(track_of(0.45, [1.0, 0.5, 0.2, 0.1], [0, 1, 4, 9], variance=0.0))
    assert worth.low == pytest.approx(worth.estimate, abs=1e-9)
    assert worth.high == pytest.approx(worth.estimate, abs=1e-9)


def test_higher_is_better_is_mirrored():
    lower = worth_of(track_of(0.4, [1.0, 0.5, 0.2, 0.1], [0, 1, 4, 9], variance=1e-4))
    higher = worth_of(track_of(-0.4, [-1.0, -0.5, -0.2, -0.1], [0, 1, 4, 9], variance=1e-4, name="accuracy"))
    assert (lower.estimate, lower.low, lower.high) == (higher.estimate, higher.low, higher.high)


@pytest.mark.parametrize(
    ("model", "variance", "expected"),
    [
        (1.2, 1e-6, (None, None, 0.0, "below")),  # worse than nobody, and surely so
        (0.05, 1e-6, (None, 9.0, None, "above")),  # better than nine
        (1.0, 1e-6, (0.0, 0.0, "few", None)),  # the base rate itself
        (0.1, 1e-6, (9.0, "many", None, None)),  # as good as the largest crowd
        (0.4, 10.0, (1.5, 0.0, None, None)),  # nothing is excluded
    ],
)
def test_ends(model, variance, expected):
    worth = worth_of(track_of(model, [1.0, 0.5, 0.2, 0.1], [0, 1, 4, 9], variance=variance))
    low = {"many": pytest.approx(8.8, abs=0.2)}.get(expected[1], expected[1])
    high = {"few": pytest.approx(0.005, abs=0.005)}.get(expected[2], expected[2])
    assert worth.estimate == (None if expected[0] is None else pytest.approx(expected[0], abs=1e-9))
    assert (worth.low, worth.high, worth.censored) == (low, high, expected[3])


def test_below_the_smallest_of_crowds_that_do_not_begin_with_nobody():
    worth = worth_of(track_of(1.2, [1.0, 0.5, 0.2, 0.1], [2, 3, 4, 9], variance=1e-6))
    assert (worth.estimate, worth.low, worth.high, worth.censored) == (None, None, 2.0, "below")


@pytest.mark.parametrize(
    ("model", "variance", "said"),
    [
        (1.05, 1e-6, "worse than asking nobody: the base rate alone scores better"),
        (1.05, 0.01, "worse than asking nobody: the base rate alone scores better; not told from asking nobody"),
        (0.05, 1e-6, "better than a crowd of 9, the largest that these votes can form"),
        (
            0.05,
            0.01,
            "better than a crowd of 9, the largest that these votes can form; not told from that one",
        ),
    ],
)
def test_words_beyond_the_grid_are_no_stronger_than_the_interval(model, variance, said):
    track = track_of(model, [1.0, 0.5, 0.2, 0.1], [0, 1, 4, 9], variance=variance)
    found = worth_reason(worth_of(track), 9, track.standing)
    assert found.split("; one seed")[0] == said


# --- the whole analysis -----------------------------------------------------------------------------------------------


def test_rows_have_the_documented_keys_and_every_number_an_interval_or_a_reason():
    result = equivalents(study(), n_resamples=20)
    records = result.records()
    assert all(list(row) == KEYS for row in records)
    assert result.to_frame().columns == KEYS
    assert all(row["reason"] or (row["low"] is not None and row["high"] is not None) for row in records)
    assert all((row["interval"] == "none") <= (row["low"] is None and row["high"] is None) for row in records)
    assert {row["metric"] for row in records} == set(DEFAULT_METRICS)
    assert [row["crowd_size"] for row in records if row["metric"] == "tvd"][2:] == list(range(11))  # 0 .. 20 // 2
    by_vote = [row["crowd_size"] for row in records if row["metric"] == "cross_entropy"][2:]
    assert by_vote == [*range(11), 12, 15, 19]  # all but one of 20
    json.dumps(result.to_dict(), allow_nan=False)


def test_a_model_that_asked_n_people_is_worth_n():
    for row in found(equivalents(study(1, n_items=400, worth=(1, 3, 6)), n_resamples=20)):
        asked = int(row.condition.rpartition("=")[2])
        assert row.unc.low < asked < (row.unc.high or 99), row
        assert row.unc.estimate == pytest.approx(asked, rel=0.35)


def test_linear_scores_are_worth_what_the_score_of_one_vote_is():
    rows = found(equivalents(study(2), metrics=["kl", "cross_entropy", "brier", "brier_vote"]))
    values = [[row.unc.estimate, row.unc.low, row.unc.high] for row in rows]
    assert values[0] == pytest.approx(values[1], rel=1e-9)
    assert values[2] == pytest.approx(values[3], rel=1e-9)
    assert values[0] != pytest.approx(values[2], rel=1e-3)


def test_base_rate_is_nobody_and_worse_is_below():
    panel = study(3)
    h = panel.votes.counts / panel.votes.counts.sum(axis=1, keepdims=True)
    base = (h.sum(axis=0) - h) / (len(h) - 1)
    worse = np.tile([0.05, 0.05, 0.9], (len(h), 1))
    both = panel_from_arrays(
        np.stack([base, worse]), panel.votes.counts, conditions=[{"method": "base_rate"}, {"method": "hard"}]
    )
    nobody, below = found(equivalents(both, metrics=["brier_vote"]))
    assert nobody.unc.estimate == pytest.approx(0, abs=1e-9)
    assert (below.unc.estimate, below.censored, below.unc.low, below.unc.high) == (None, "below", None, 0.0)
    assert below.unc.reason.startswith("worse than asking nobody")


def test_people_themselves_are_beyond_the_grid():
    panel = study(4)
    h = panel.votes.counts / panel.votes.counts.sum(axis=1, keepdims=True)
    row = found(equivalents(panel_from_arrays(h, panel.votes.counts), metrics=["cross_entropy"]))[0]
    assert (row.unc.estimate, row.censored, row.unc.high) == (None, "above", None)
    assert row.unc.low == 19  # all but the vote left out
    assert "better than a crowd of 19" in row.unc.reason


def test_entropy_correlation_of_nobody_is_zero_and_says_so():
    rows = found(equivalents(study(), metrics=["entropy_correlation"], n_resamples=20), "crowd")
    assert (rows[0].crowd_size, rows[0].unc.estimate) == (0, 0.0)
    assert "counts as a correlation of 0" in rows[0].unc.reason
    assert rows[1].unc.estimate > 0.1


def test_a_metric_that_more_people_do_not_improve_is_worth_nothing():
    """The base rate of other items is nearly calibrated, three combined votes are less so, though they know more."""
    rows = equivalents(study(n_items=400, n_votes=10), metrics=["dist_ece", "tvd"], n_resamples=20).rows
    calibration, distance = (row for row in rows if row.quantity == "equivalent")
    crowd = [row.unc.estimate for row in rows if (row.quantity, row.metric) == ("crowd", "dist_ece")]
    assert crowd[-1] > crowd[0]
    assert (calibration.unc.estimate, calibration.censored) == (None, None)
    assert calibration.unc.reason.startswith("more people do not score better by this metric")
    assert distance.unc.estimate is not None


def test_seeds_are_in_the_interval_and_one_seed_is_told():
    one = found(equivalents(study(n_seeds=1), metrics=["cross_entropy"]))[0]
    three = found(equivalents(study(n_seeds=3), metrics=["cross_entropy"]))[0]
    assert ONE_SEED in one.unc.reason
    assert three.unc.reason is None
    assert three.unc.n_cells == 3


def test_annotators_are_in_exact_intervals_and_missing_ones_are_told():
    panel = study(n_items=60)
    names = ["cross_entropy", "tvd", "entropy_correlation"]
    for row in found(equivalents(panel, metrics=names, n_resamples=20)):
        assert (row.unc.design, WITHOUT_PEOPLE in row.unc.reason) == ("crossed", False)
    *exact, drawn = found(equivalents(with_people(panel), metrics=names, n_resamples=20))
    for row in exact:
        assert row.unc.design == "crossed with annotators"
        assert WITHOUT_PEOPLE not in row.unc.reason
    assert drawn.unc.design == "crossed"
    assert WITHOUT_PEOPLE in drawn.unc.reason


def test_annotators_part_is_that_of_leaving_each_out():
    """Half of the people always say the first label: what they do alike on all items is no noise of the items."""
    panel = with_people(study(5, n_items=12, n_votes=8, worth=(2,)), n_people=12)
    ballots = panel.votes.ballots
    label = np.where(ballots.annotator % 2 == 0, 0, ballots.label)
    counts = np.zeros_like(panel.votes.counts)
    np.add.at(counts, (ballots.item, label), 1)
    biased = replace(panel, votes=replace(panel.votes, counts=counts, ballots=replace(ballots, label=label)))
    alone = replace(biased, votes=replace(biased.votes, ballots=None))
    prior = other_items_prior(counts)

    def crowd_of_two(votes):
        rows = [[labels.count(k) for k in range(3)] for _, labels in sorted(votes.items())]
        scores = [
            naive.crowd_against_a_vote(c, p, a, 2)[0] for c, p, a in zip(rows, prior.base, prior.strength, strict=True)
        ]
        return sum(scores) / len(scores)

    votes = list(zip(ballots.item.tolist(), ballots.annotator.tolist(), label.tolist(), strict=True))
    whole, within = naive.crowd_parts(votes, crowd_of_two)
    assert whole > within
    wide, narrow = (
        found(equivalents(one, metrics=["cross_entropy"], budgets=[2]), "crowd")[1].unc for one in (biased, alone)
    )
    assert wide.estimate == narrow.estimate
    assert wide.se**2 == pytest.approx(narrow.se**2 + whole - within, rel=1e-9)


def test_bits_do_not_depend_on_threads_or_the_order_of_conditions():
    panel = study(worth=(1, 3))
    one = equivalents(panel, n_resamples=20, threads=1)
    assert equivalents(panel, n_resamples=20, threads=2).records() == one.records()
    turned = replace(panel, conditions=panel.conditions[::-1], probs=tuple(p[::-1] for p in panel.probs))
    other = equivalents(turned, n_resamples=20).records()
    assert sorted(map(repr, other)) == sorted(map(repr, one.records()))


# --- refusals and degenerate cases ------------------------------------------------------------------------------------


def test_refusals():
    panel = study(n_items=20)
    with pytest.raises(UsageError, match="entropy has no better side"):
        equivalents(panel, metrics=["entropy"])
    with pytest.raises(UsageError, match="a crowd of 20 is too large: 80% of the items have 20 votes"):
        equivalents(panel, budgets=[20])
    with pytest.raises(UsageError, match="sizes of crowds from 1"):
        equivalents(panel, budgets=[0, 3])
    with pytest.raises(UsageError, match="level"):
        equivalents(panel, level=95)


DEGENERATE = {
    "one item": [[3, 2]],
    "one label used": [[5, 0]] * 6,
    "all unanimous": [[5, 0], [0, 5], [5, 0], [0, 5]],
    "one vote each": [[1, 0], [0, 1], [1, 0]],
    "two votes each": [[2, 0], [1, 1], [0, 2], [1, 1]],
    "no agreement": [[1, 1]] * 5,
    "tied everywhere": [[2, 2]] * 5,
    "mostly single votes": [[1, 0], [0, 1]] * 9 + [[2, 1], [1, 2], [3, 0]],
}


@pytest.mark.parametrize("ids", [False, True])
@pytest.mark.parametrize("counts", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_cases_give_reasons(counts, ids):
    names = [name for name in all_names() if metric(name).direction != "none"]
    panel = panel_from_arrays(np.tile([0.6, 0.4], (len(counts), 1)), np.array(counts))
    panel = with_people(panel, n_people=6) if ids else panel
    rows = equivalents(panel, metrics=names, n_resamples=10).records()
    assert {row["metric"] for row in rows} == set(names)
    for row in rows:
        assert row["reason"] or (row["low"] is not None and row["high"] is not None), row
    json.dumps(rows, allow_nan=False)
