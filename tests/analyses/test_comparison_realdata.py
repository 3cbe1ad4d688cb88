"""compare on the three RoBERTa runs of ChaosNLI-SNLI: scipy, statsmodels, and a slow BCa on the same resamples."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.stats.multitest import multipletests

from saturation.analyses.comparing.comparison import compare
from saturation.conditions import Condition
from saturation.datasets import convert
from saturation.resampling.draw import item_weights
from saturation.tables.door import read_panel
from tests import naive

pytestmark = pytest.mark.realdata
METRICS = ("kl", "tvd", "brier", "accuracy", "entropy_correlation")


@pytest.fixture(scope="module")
def panel(shared_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("roberta")
    convert("chaosnli", shared_data / "chaosnli/data/chaosNLI_v1.0/chaosNLI_snli.jsonl", folder / "votes")
    convert("baan-predictions", shared_data / "chaosnli/data/predictions", folder / "predictions")
    return read_panel(folder / "votes/vote_counts.parquet", folder / "predictions/predictions.parquet")


@pytest.fixture(scope="module")
def runs(panel):
    """The three training runs as conditions."""
    names = tuple(Condition.of(model="roberta-base", run=run) for run in range(3))
    return replace(panel, conditions=names, seeds=((0,),), probs=(panel.probs[0][0][:, None],))


@pytest.fixture(scope="module")
def result(runs):
    return compare(runs, a="run=0", b=["run=1", "run=2"], metrics=METRICS, tests=["all"], margin=0.05)


def scores(runs):
    """Per-item scores of every run, written anew: [metric](runs, items)."""
    counts = runs.votes.counts
    h = counts / counts.sum(axis=1, keepdims=True)
    m = runs.probs[0][:, 0]
    top = counts == counts.max(axis=1, keepdims=True)
    credit = top / top.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(h > 0, h * np.log(h / m), 0.0)
    return {
        "kl": ratio.sum(axis=-1),
        "tvd": np.abs(h - m).sum(axis=-1) / 2,
        "brier": ((h - m) ** 2).sum(axis=-1),
        "accuracy": np.take_along_axis(credit[None], m.argmax(axis=-1)[..., None], axis=-1)[..., 0],
    }


def row_of(result, **wanted):
    (row,) = [row for row in result.rows if all(getattr(row, key) == value for key, value in wanted.items())]
    return row


@pytest.mark.parametrize("metric", ["kl", "tvd", "brier", "accuracy"])
@pytest.mark.parametrize("run", [1, 2])
def test_scipy(runs, result, metric, run):
    own = scores(runs)[metric]
    a, b, name = own[0], own[run], str(runs.conditions[run])
    t = stats.ttest_rel(a, b)
    row = row_of(result, metric=metric, b=name, test="paired_t")
    assert (row.statistic, row.p) == pytest.approx((t.statistic, t.pvalue), rel=1e-6)
    d = np.round(a - b, 12)
    w = stats.wilcoxon(d[d != 0], method="approx")
    row = row_of(result, metric=metric, b=name, test="wilcoxon")
    assert (row.statistic, row.p) == pytest.approx((w.statistic, w.pvalue), rel=1e-6)
    flips = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=4999, batch=500, rng=np.random.default_rng(1)
    )
    p = row_of(result, metric=metric, b=name, test="sign_flip").p
    half = max(p, 1 / 2500) / 2  # scipy doubles the smaller tail: so is its Monte Carlo error
    assert abs(p - flips.pvalue) < 4 * 2 * np.sqrt(half * (1 - half) / 4999)


def test_an_independent_slow_bca(runs):
    few = compare(runs, a="run=0", b="run=2", metrics=["kl"], tests=["bootstrap"], n_resamples=199, rng=3)
    own = scores(runs)["kl"]
    weights = item_weights(3, 0, 199, 1514)
    expected = naive.bca_of_mean((own[0] - own[2]).tolist(), weights.tolist(), naive.student_level(0.95, 1514))
    row = row_of(few, test="bootstrap")
    assert [row.unc.low, row.unc.high] == pytest.approx(expected, rel=1e-6)
    scipy = stats.bootstrap(
        (own[0] - own[2],), np.mean, n_resamples=4999, batch=500, method="BCa", rng=np.random.default_rng(0)
    )
    large = row_of(compare(runs, a="run=0", b="run=2", metrics=["kl"], tests=["bootstrap"]), test="bootstrap").unc
    ends = scipy.confidence_interval
    assert (large.low, large.high) == pytest.approx((ends.low, ends.high), abs=0.1 * large.se)


def test_multipletests(result):
    for test in ("paired_t", "wilcoxon", "sign_flip", "bootstrap", "tost"):
        rows = [row for row in result.rows if row.test == test and row.p is not None]
        expected = multipletests([row.p for row in rows], method="holm")[1]
        assert [row.p_adjusted for row in rows] == pytest.approx(expected.tolist())


def test_mixed_model_is_that_of_statsmodels(panel):
    """Temperature 2 against the model as it is: three seeds crossed with 61 items, and with all 1,514."""
    sharp = panel.probs[0][0]
    flat = np.sqrt(sharp) / np.sqrt(sharp).sum(axis=-1, keepdims=True)
    both = replace(
        panel,
        conditions=(Condition.of(method="hard"), Condition.of(method="temperature")),
        probs=(np.stack([sharp, flat]),),
    )
    some = np.arange(0, 1514, 25)
    small = replace(
        both, votes=both.votes.take(some), items_of_split=(np.arange(len(some)),), probs=(both.probs[0][:, :, some],)
    )
    result = compare(
        small, a="method=hard", b="method=temperature", metrics=["kl"], tests=["mixed_model"], n_resamples=49
    )
    row = row_of(result, test="mixed_model")
    h = small.votes.counts / small.votes.counts.sum(axis=1, keepdims=True)
    cost = np.where(h > 0, h * np.log(np.where(h > 0, h, 1) / small.probs[0]), 0).sum(axis=-1)
    d = cost[0] - cost[1]
    frame = pd.DataFrame(
        {"d": d.ravel(), "seed": np.repeat(range(3), len(some)), "item": np.tile(range(len(some)), 3), "all": 1}
    )
    parts = {"item": "0 + C(item)", "seed": "0 + C(seed)"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a variance near 0 is told as being near the boundary
        fit = smf.mixedlm("d ~ 1", frame, groups="all", vc_formula=parts).fit(reml=True)
    assert row.unc.estimate == pytest.approx(float(fit.fe_params.iloc[0]), rel=1e-6)
    assert row.unc.se == pytest.approx(float(fit.bse_fe.iloc[0]), rel=2e-3)
    whole = compare(
        both, a="method=hard", b="method=temperature", metrics=["kl"], tests=["mixed_model"], n_resamples=49
    )
    mixed, own = row_of(whole, test="mixed_model").unc, row_of(whole, quantity="difference").unc
    assert (mixed.estimate, mixed.se) == pytest.approx((own.estimate, own.se), rel=1e-3)


def test_unequal_runs_are_told_apart_and_alike_ones_are_not_called_equal(result, runs):
    kl = row_of(result, metric="kl", b=str(runs.conditions[1]), quantity="difference")
    assert kl.favours == "b"
    alone = row_of(result, metric="kl", b=str(runs.conditions[2]), quantity="difference")
    assert alone.p < 0.05 < alone.p_adjusted
    assert "no conclusion" in alone.sentence
