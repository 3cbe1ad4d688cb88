"""The harness: keyed random numbers, sums, and runs that can be stopped."""

import numpy as np
import pytest
from scipy.stats import binom

from saturation.metrics.estimators import RESIDUAL
from saturation.metrics.murphy import decompose
from tests.statistical import bias, model, run, truth_murphy
from tests.statistical.quantities import Answer, asked, decomposed, evaluated, labels
from tests.statistical.replicate import replicate
from tests.statistical.settings import Setting, grid
from tests.statistical.store import Store
from tests.statistical.table import misses, pooled
from tests.statistical.tally import Tally, merge, range_of, share_interval
from tests.statistical.truth import Truth

SETTING = Setting(100, 5, 3, annotators=True)


def test_settings_have_names_and_random_numbers_of_their_own():
    every = grid()
    assert len(every) == 3 * 3 * 4 * 2 + 3
    assert len({one.name for one in every}) == len({one.rank for one in every}) == len(every)


def test_a_replication_is_a_function_of_its_key():
    one, again, other = (model.study(0, SETTING, replication) for replication in (4, 4, 5))
    assert np.array_equal(one.probs[0], again.probs[0])
    assert np.array_equal(one.votes.counts, again.votes.counts)
    assert not np.array_equal(one.votes.counts, other.votes.counts)
    assert not np.array_equal(one.votes.counts, model.study(1, SETTING, 4).votes.counts)


def test_a_crowd_votes_from_the_same_distribution_as_fresh_annotators():
    """Mean share of each label over 60 studies of 500 items is the base rate, within five standard errors.

    The crowd's means vary more: the share of label b moves by about .14 an annotator, .026 with 30 of them, beside
    .015 of the items.
    """
    kinds = [Setting(500, 5, 1, ids) for ids in (False, True)]
    means = np.array([[model.study(0, one, r).votes.counts.mean(axis=0) / 5 for r in range(60)] for one in kinds])
    errors = means.std(axis=1, ddof=1) / 60**0.5
    assert (np.abs(means.mean(axis=1) - model.BASE_RATE) < 5 * errors).all()
    assert errors[1, 1] > 1.4 * errors[0, 1]


def test_a_tally_by_hand():
    """Truth 1: [0, 2] holds it, [2, 3] lies above, [0, .5] below, no interval, the complement of (0, 2) misses it."""
    one = Tally()
    for answer in (
        Answer("x", 1.5, 0.0, 2.0),
        Answer("x", 2.5, 2.0, 3.0),
        Answer("x", 0.0, 0.0, 0.5),
        Answer("x", None, None, None),
        Answer("x", None, 0.0, 2.0, outside=True),
        Answer("x", None, 0.0, float("inf")),
    ):
        one.add(answer, 1.0)
    assert (one.asked, one.defined, one.covered, one.below, one.above) == (6, 5, 2, 1, 2)
    assert one.coverage == pytest.approx(2 / 5)
    assert one.mean_width == pytest.approx((2 + 1 + 0.5) / 3)
    assert one.bias == pytest.approx((0.5 + 1.5 - 1) / 3)
    assert merge([one, one]).covered == 4


def test_binomial_ranges():
    """200 at .95: fewer than 181 or more than 197 successes have odds below half a per cent each."""
    low, high = range_of(200, 0.95, 0.99)
    assert (round(200 * low), round(200 * high)) == (181, 197)
    assert binom.cdf(180, 200, 0.95) < 0.005 < binom.cdf(181, 200, 0.95)
    low, high = share_interval(190, 200, 0.99)
    assert binom.sf(189, 200, low) == pytest.approx(0.005)
    assert binom.cdf(190, 200, high) == pytest.approx(0.005)


def test_a_stopped_run_continues_where_it_was(tmp_path):
    true = {"evaluate brier": Truth(0.14, 0.0)}
    whole = replicate(0, SETTING, range(40), true, [evaluated])["evaluate brier"]
    store = Store(tmp_path, 0)
    assert [block for _, block in run.jobs(store, [SETTING], 40)] == [0, 1]
    store.add(SETTING, 1, replicate(0, SETTING, range(20, 40), true, [evaluated]), 1.0)
    again = Store(tmp_path, 0)
    assert [block for _, block in run.jobs(again, [SETTING], 40)] == [0]
    again.add(SETTING, 0, replicate(0, SETTING, range(20), true, [evaluated]), 2.0)
    held = again.results()[SETTING]["evaluate brier"]
    assert (held.asked, held.covered) == (40, whole.covered)
    assert held.total == pytest.approx(whole.total, rel=1e-12)
    assert again.seconds() == 3.0
    with pytest.raises(SystemExit, match="seed 0, not 1"):
        Store(tmp_path, 1).done(SETTING)


def test_tables_name_what_misses():
    good, bad = Tally(asked=1000, defined=1000, below=20, above=30), Tally(asked=1000, defined=1000, below=200)
    plain = Setting(100, 5, 3, annotators=False)
    results = {plain: {}, SETTING: {"good": good, "bad": bad}}
    assert "| I100-n5-S3-ids | bad | .800 (800/1000) |" in misses(results)
    assert "good" not in misses(results)
    assert "| good | - | .950 | .950 |" in pooled(results)


def test_corrections_leave_little_of_the_bias():
    """Brier below a tenth and KL below the fifth that intervals have room for, 20,000 items; four standard errors."""
    for one in bias.biases(20_000):
        limit = 0.1 if one.metric == "brier" else RESIDUAL
        assert one.ratio < limit + 4 * one.ratio_se, one


def test_slow_analyses_are_asked_in_one_of_five_replications():
    crowd, small, long = Setting(500, 20, 3, True), Setting(100, 20, 3, True), Setting(100, 100, 1, False, False)
    for analysis, setting in ((decomposed, crowd), (labels, long)):
        assert [asked(analysis, setting, r) for r in range(6)] == [True, False, False, False, False, True]
    assert all(asked(analysis, setting, 1) for analysis, setting in ((decomposed, small), (evaluated, crowd)))


def test_murphy_truth_is_the_limit_of_the_corrected_terms():
    """Plain terms of 40,000 items with 20,000 votes each, by the package: bias below 1e-4 of both truth and terms."""
    rng = np.random.default_rng(1)
    _, population = model.draw_items(rng, 40_000)
    noise, nothing = rng.standard_normal(population.shape), np.array(0.0)
    probs = model.predict(1, model.evidence(rng, population), noise, nothing, nothing)
    true = truth_murphy.terms(truth_murphy.bin_sums(probs, population))
    made = decompose(probs, np.round(population * 20_000).astype(int))
    for name, value in true.items():
        assert value == pytest.approx(float(made[name]), abs=1e-4)
