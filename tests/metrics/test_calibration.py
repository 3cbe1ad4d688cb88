"""Bins and calibration errors against their slow twins and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saturation.errors import UsageError
from saturation.metrics.bins import bin_index, bin_table
from saturation.metrics.catalogue import metric
from saturation.metrics.metric import Human
from tests import naive

VALUES = st.lists(st.integers(0, 20).map(lambda k: k / 20), min_size=1, max_size=40)


@settings(max_examples=100, deadline=None)
@given(values=VALUES, bins=st.integers(1, 15))
def test_equal_width_bins_are_right_closed(values, bins):
    assert bin_index(np.array(values), bins).tolist() == [naive.bin_of(v, bins) for v in values]


@settings(max_examples=100, deadline=None)
@given(values=VALUES, bins=st.integers(1, 15))
def test_equal_count_bins_keep_ties_together(values, bins):
    assert bin_index(np.array(values), bins, "count").tolist() == naive.equal_count_bins(values, bins)


@settings(max_examples=100, deadline=None)
@given(values=VALUES, bins=st.integers(1, 15), seed=st.integers(0, 99))
def test_row_order_does_not_matter(values, bins, seed):
    order = np.random.default_rng(seed).permutation(len(values))
    for binning in ("width", "count", "quantile"):
        whole = bin_index(np.array(values), bins, binning)
        np.testing.assert_array_equal(bin_index(np.array(values)[order], bins, binning), whole[order])


def test_quantile_bins_by_hand():
    # quartiles of 1..5 (/10) are .2, .3, .4: (.1, .2], (.2, .3], (.3, .4], (.4, .5]
    assert bin_index(np.array([0.1, 0.2, 0.3, 0.4, 0.5]), 4, "quantile").tolist() == [0, 0, 1, 2, 3]


def test_leading_axes_are_independent():
    rng = np.random.default_rng(0)
    values = rng.random((2, 3, 25)).round(1)
    for binning in ("width", "count", "quantile"):
        together = bin_index(values, 4, binning)
        for a in range(2):
            for b in range(3):
                np.testing.assert_array_equal(together[a, b], bin_index(values[a, b], 4, binning))


def test_every_bin_is_returned_and_counts_add_up():
    forecast, outcome = np.array([0.05, 0.1, 0.95]), np.array([0.0, 1.0, 0.5])
    for binning in ("width", "count", "quantile"):
        table = bin_table(forecast, outcome, 10, binning)
        assert len(table.n) == len(table.lower) == len(table.upper) == len(table.outcome) == 10
        assert table.n.sum() == 3
        assert np.isnan(table.forecast[table.n == 0]).all()
    table = bin_table(forecast, outcome)
    assert table.n.tolist() == [2, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert table.outcome[0] == 0.5
    assert table.forecast[0] == pytest.approx(0.075, abs=1e-15)


def test_unknown_binning_and_no_bins_are_refused():
    with pytest.raises(UsageError, match="unknown binning 'mass'"):
        bin_index(np.array([0.5]), 10, "mass")
    with pytest.raises(UsageError, match="bins must be at least 1"):
        bin_index(np.array([0.5]), 0)


def forecasts(n_items=60, n_labels=4, seed=0):
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(n_labels, 0.5), n_items)
    return probs, rng.multinomial(5, np.full(n_labels, 1 / n_labels), n_items)


def index_of(values, bins, binning):
    if binning == "count":
        return naive.equal_count_bins(list(values), bins)
    return [naive.bin_of(v, bins) for v in values]


@pytest.mark.parametrize("binning", ["width", "count"])
@pytest.mark.parametrize("bins", [1, 7, 10])
def test_top_label_errors(bins, binning):
    probs, counts = forecasts()
    confidence = [float(max(m)) for m in probs]
    credit = [naive.majority_credit(list(c), "share")[naive.top(list(m))] for m, c in zip(probs, counts, strict=True)]
    votes = [naive.shares(list(c))[naive.top(list(m))] for m, c in zip(probs, counts, strict=True)]
    index = index_of(confidence, bins, binning)
    options = f"[bins={bins};binning={binning}]"
    human = Human(counts)
    ece = naive.calibration_error(confidence, credit, index, bins)
    assert metric("ece" + options).value(probs, human) == pytest.approx(ece, abs=1e-14)
    assert metric("adaptive_ece" + options).value(probs, human) == pytest.approx(ece, abs=1e-14)
    top = naive.calibration_error(confidence, votes, index, bins)
    assert metric("dist_ece_top" + options).value(probs, human) == pytest.approx(top, abs=1e-14)


@pytest.mark.parametrize("binning", ["width", "count"])
def test_classwise_errors(binning):
    probs, counts = forecasts()
    against_votes, against_majority = [], []
    for k in range(4):
        forecast = [float(m[k]) for m in probs]
        index = index_of(forecast, 10, binning)
        votes = [naive.shares(list(c))[k] for c in counts]
        credit = [naive.majority_credit(list(c), "last")[k] for c in counts]
        against_votes.append(naive.calibration_error(forecast, votes, index, 10))
        against_majority.append(naive.calibration_error(forecast, credit, index, 10))
    human = Human(counts)
    dist = metric(f"dist_ece[binning={binning}]").value(probs, human)
    classwise = metric(f"classwise_ece[binning={binning};ties=last]").value(probs, human)
    assert dist == pytest.approx(sum(against_votes) / 4, abs=1e-14)
    assert classwise == pytest.approx(sum(against_majority) / 4, abs=1e-14)


def test_a_model_that_is_the_votes_is_calibrated_against_them():
    _, counts = forecasts()
    probs = counts / counts.sum(axis=1, keepdims=True)
    assert metric("dist_ece").value(probs, Human(counts)) < 1e-15
    assert metric("dist_ece_top").value(probs, Human(counts)) < 1e-15


def test_ece_by_hand():
    # confidences .9 .9 .6; right, wrong, right: bins (.8, .9] gap abs(.9 - .5) over 2/3, (.5, .6] gap .4 over 1/3
    probs, counts = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6]]), np.array([[3, 0], [0, 3], [1, 2]])
    assert metric("ece").value(probs, Human(counts)) == pytest.approx(0.4, abs=1e-15)


def test_macro_f1_against_the_twin():
    probs, counts = forecasts(40, 3, 4)
    expected = naive.macro_f1(probs.tolist(), counts.tolist())
    assert metric("macro_f1").value(probs, Human(counts)) == pytest.approx(expected, abs=1e-14)


def test_macro_f1_leaves_out_labels_that_never_occur():
    probs, counts = np.array([[0.8, 0.2, 0.0], [0.3, 0.7, 0.0]]), np.array([[5, 0, 0], [1, 4, 0]])
    assert metric("macro_f1").value(probs, Human(counts)) == 1.0


def test_macro_f1_with_full_credit_for_any_mode():
    # item 1 is tied and predicted as a mode: it is right, whole. Item 2 is tied and missed: half an item of labels 0, 1
    probs, counts = np.array([[0.8, 0.2, 0.0], [0.1, 0.2, 0.7]]), np.array([[2, 2, 0], [2, 2, 0]])
    # label 0: 2 * 1 / (1 + 1.5); label 1: 0 / .5; label 2: 0 / 1
    assert metric("macro_f1[ties=any]").value(probs, Human(counts)) == pytest.approx(0.8 / 3, abs=1e-15)
