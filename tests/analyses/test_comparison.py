"""compare: scipy and statsmodels on its own differences, limits, reasons, invariances, and the words it uses."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from saturation.analyses.comparing.comparison import DEFAULT_TESTS, compare
from saturation.analyses.comparing.tests import TESTS
from saturation.conditions import Condition
from saturation.errors import DataError, UsageError
from saturation.metrics.catalogue import DEFAULT_METRICS, all_names
from saturation.resampling.draw import item_weights
from saturation.resampling.linearized import ONE_SEED, Influence, covariance
from saturation.resampling.paired import NO_DIFFERENCE, NO_SPREAD
from saturation.tables.builders import panel_from_arrays
from saturation.tables.door import read_panel
from tests import naive

NAMES = ("first", "other", "third")
KEYS = (
    "metric", "a", "b", "quantity",
    "estimate", "low", "high", "se", "level", "interval", "estimator", "design", "n_resamples", "n_items", "n_cells",
    "reason",
    "favours", "test", "alternative", "statistic", "df", "p", "p_adjusted", "adjustment", "family_size", "margin",
    "wins", "losses", "ties", "n_pairs", "sentence",
)  # fmt: skip


def panel_of(n_items=40, n_seeds=1, n_labels=3, noise=(0.3, 0.6, 0.9), seed=0, n_votes=20, n_conditions=2):
    """Conditions whose predictions are the votes' distribution with ever more noise."""
    generator = np.random.default_rng(seed)
    truth = generator.dirichlet(np.ones(n_labels), n_items)
    counts = np.array([generator.multinomial(n_votes, p) for p in truth])
    probs = []
    for c in range(n_conditions):
        shifts = generator.normal(size=(n_seeds, n_items, n_labels)) * noise[c]
        logits = np.log(truth + 0.02) + shifts + 0.1 * generator.normal(size=(n_seeds, 1, n_labels))
        probs.append(np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True))
    conditions = [{"method": "soft", "kind": NAMES[c]} for c in range(n_conditions)]
    return panel_from_arrays(np.stack(probs), counts, conditions=conditions)


def in_splits(panel, members):
    """The same panel cut into overlapping splits of its items."""
    places = tuple(np.array(m) for m in members)
    return replace(
        panel,
        splits=tuple(f"s{i}" for i in range(len(places))),
        seeds=panel.seeds * len(places),
        items_of_split=places,
        probs=tuple(panel.probs[0][:, :, m] for m in places),
    )


OVERLAPPING = (range(24), range(16, 40), [*range(8), *range(24, 40)])
PAIR = {"a": "kind=first", "b": "kind=other", "n_resamples": 199}


def rows_of(result, **wanted):
    return [row for row in result.rows if all(getattr(row, key) == value for key, value in wanted.items())]


def row_of(result, **wanted):
    (row,) = rows_of(result, **wanted)
    return row


def brier(panel):
    """(conditions, seeds, items) written anew."""
    h = panel.votes.counts / panel.votes.counts.sum(axis=1, keepdims=True)
    return ((panel.probs[0] - h) ** 2).sum(axis=-1)


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_tests_over_items_equal_scipy():
    panel = panel_of()
    a, b = brier(panel)[:, 0]
    result = compare(panel, metrics=["brier"], adjustment="none", **PAIR)
    t = stats.ttest_rel(a, b)
    for row in (row_of(result, test="paired_t"), row_of(result, quantity="difference")):
        assert (row.statistic, row.p) == pytest.approx((t.statistic, t.pvalue))
        ends = t.confidence_interval(0.95)
        assert (row.unc.low, row.unc.high) == pytest.approx((ends.low, ends.high))
    wilcoxon = stats.wilcoxon(a, b, method="exact")
    row = row_of(result, test="wilcoxon")
    assert (row.statistic, row.p) == pytest.approx((wilcoxon.statistic, wilcoxon.pvalue))
    flips = stats.permutation_test(
        (a - b,), np.mean, permutation_type="samples", n_resamples=9999, rng=np.random.default_rng(0)
    )
    own = row_of(result, test="sign_flip").p
    half = max(own, 1 / 5000) / 2  # scipy doubles the smaller tail: so is its Monte Carlo error
    assert abs(own - flips.pvalue) < 4 * 2 * np.sqrt(half * (1 - half) / 9999)
    d = a - b
    assert row_of(result, quantity="cohen_dz").unc.estimate == pytest.approx(d.mean() / d.std(ddof=1))
    assert row_of(result, quantity="superiority").unc.estimate == pytest.approx((d < 0).mean())
    assert row_of(result, quantity="relative_change").unc.estimate == pytest.approx(a.mean() / b.mean() - 1)


def test_the_difference_comes_from_the_shared_engine():
    """Three overlapping splits, three seeds: the linearised t of the difference, and V_items for the paired t."""
    panel = in_splits(panel_of(n_seeds=3), OVERLAPPING)
    scores = brier(in_one(panel))
    d = scores[0] - scores[1]
    values = tuple(d[None, :, list(m)] for m in OVERLAPPING)
    influence = Influence(
        estimates=np.array([np.mean([v.mean() for v in values])]),
        cells=tuple(v.mean(axis=2) for v in values),
        values=values,
        items_of_split=tuple(np.array(m) for m in OVERLAPPING),
        n_items=40,
    )
    parts = covariance(influence)
    variance, df = parts.variance(np.array([1.0]))
    result = compare(panel, metrics=["brier"], tests=["paired_t", "nadeau_bengio"], n_train=80, **PAIR)
    row = row_of(result, quantity="difference")
    assert (row.unc.estimate, row.unc.se, row.df) == pytest.approx((influence.estimates[0], variance**0.5, df))
    t = row_of(result, test="paired_t")
    assert (t.unc.se, t.df) == pytest.approx((parts.items[0, 0] ** 0.5, 39))
    means = np.array([v.mean() for v in values])
    nb = row_of(result, test="nadeau_bengio")  # 24 items tested, 80 trained on
    assert (nb.unc.se, nb.df, nb.n_pairs) == pytest.approx(((1 / 3 + 24 / 80) ** 0.5 * means.std(ddof=1), 2, 3))


def in_one(panel):
    """The panel of one split that :func:`in_splits` was made from, items in order."""
    n_items = len(panel.votes.item_ids)
    probs = np.zeros((*panel.probs[0].shape[:2], n_items, panel.probs[0].shape[-1]))
    for block, places in zip(panel.probs, panel.items_of_split, strict=True):
        probs[:, :, places] = block
    return replace(panel, probs=(probs,), items_of_split=(np.arange(n_items),), splits=("all",), seeds=panel.seeds[:1])


@pytest.mark.parametrize("n_seeds", [1, 3, 10])
@pytest.mark.parametrize("seed", range(3))
def test_p_of_the_difference_is_below_05_exactly_when_its_interval_excludes_0(n_seeds, seed):
    panel = panel_of(n_seeds=n_seeds, noise=(0.5, 0.55, 0.6), seed=seed)
    for row in rows_of(compare(panel, tests=[], **PAIR), quantity="difference"):
        assert (row.p < 0.05) == (not row.unc.low <= 0 <= row.unc.high)


def test_tests_over_items_average_the_seeds_first():
    panel = panel_of(n_items=25, n_seeds=3)
    a, b = brier(panel).mean(axis=1)
    result = compare(panel, metrics=["brier"], **PAIR)
    d = a - b
    t = row_of(result, test="paired_t")
    assert (t.unc.estimate, t.p) == pytest.approx((d.mean(), stats.ttest_rel(a, b).pvalue))
    assert row_of(result, quantity="cohen_dz").unc.estimate == pytest.approx(d.mean() / d.std(ddof=1))
    expected = naive.bca_of_mean(d.tolist(), item_weights(0, 0, 199, 25).tolist(), naive.student_level(0.95, 25))
    bootstrap = row_of(result, test="bootstrap").unc
    assert [bootstrap.low, bootstrap.high] == pytest.approx(expected, rel=1e-9)


def test_items_in_several_splits_have_one_difference():
    """Item 0 is in two of three splits, two seeds: its own difference is the mean of four."""
    panel = in_splits(panel_of(n_items=7, n_seeds=2), ([0, 1, 2, 3], [2, 3, 4], [0, 4, 5, 6]))
    scores = brier(in_one(panel))
    own = (scores[0] - scores[1]).mean(axis=0)
    result = compare(panel, metrics=["brier"], tests=["wilcoxon"], **PAIR)
    assert row_of(result, quantity="cohen_dz").unc.estimate == pytest.approx(own.mean() / own.std(ddof=1))
    assert row_of(result, quantity="superiority").unc.estimate == pytest.approx((own < 0).mean())


def test_romano_wolf_of_the_difference_is_the_chance_of_so_large_a_t():
    """Two metrics: the larger t against the largest of two correlated t's, the smaller against its own law."""
    panel = panel_of(noise=(0.5, 0.56))
    result = compare(panel, metrics=["kl", "tvd"], tests=[], adjustment="romano_wolf", **PAIR)
    rows = sorted(rows_of(result, quantity="difference"), key=lambda row: -abs(row.statistic))
    h = panel.votes.counts / panel.votes.counts.sum(axis=1, keepdims=True)
    m = panel.probs[0][:, 0]
    kl = np.where(h > 0, h * np.log(np.where(h > 0, h, 1) / m), 0).sum(axis=-1)
    tvd = np.abs(h - m).sum(axis=-1) / 2
    r = stats.pearsonr(kl[0] - kl[1], tvd[0] - tvd[1])[0]
    generator = np.random.default_rng(0)
    z = generator.multivariate_normal([0, 0], [[1, r], [r, 1]], 200_000)
    t = np.abs(z) / np.sqrt(generator.chisquare(39, 200_000) / 39)[:, None]
    expected = (t.max(axis=1) >= abs(rows[0].statistic)).mean()
    error = 4 * np.sqrt(expected * (1 - expected) / 20_000)  # 20,000 draws of ours: odds of failing below 1e-4
    assert rows[0].p_adjusted == pytest.approx(expected, abs=error)
    assert rows[0].p_adjusted > rows[0].p
    second = max(rows[0].p_adjusted, rows[1].p)
    assert rows[1].p_adjusted == pytest.approx(second, abs=0.015)


def test_sign_flips_exchange_a_and_b_of_an_item_in_every_split():
    """Seven items in three overlapping splits, two seeds: all 128 ways to exchange the two predictions of items."""
    splits = ([0, 1, 2, 3], [2, 3, 4], [0, 4, 5, 6])
    whole = panel_of(n_items=7, n_seeds=2, noise=(0.3, 0.7))
    scores = brier(whole)

    def difference(swapped):
        values = []
        for members in splits:
            for a, b in zip(scores[0], scores[1], strict=True):
                d = [(b[i] - a[i]) if swapped[i] else (a[i] - b[i]) for i in members]
                values.append(sum(d) / len(d))
        return sum(values) / len(values)

    observed = difference([False] * 7)
    patterns = [difference(swapped) for swapped in itertools.product((False, True), repeat=7)]
    expected = sum(abs(value) >= abs(observed) - 1e-12 for value in patterns) / 128
    row = row_of(compare(in_splits(whole, splits), metrics=["brier"], tests=["sign_flip"], **PAIR), test="sign_flip")
    assert (row.statistic, row.p) == pytest.approx((observed, expected))


def test_of_calibration_errors_resamples_give_the_spread_alone():
    """With ten seeds others have percentiles; the noise in bins would be counted twice."""
    result = compare(panel_of(n_seeds=10), metrics=["dist_ece", "kl"], tests=[], **PAIR)
    found = {row.metric: row.unc for row in rows_of(result, quantity="difference")}
    assert (found["kl"].interval, found["dist_ece"].interval) == ("percentile", "linearized_t")
    assert (found["dist_ece"].low + found["dist_ece"].high) / 2 == pytest.approx(found["dist_ece"].estimate)


def test_wins_over_cells_and_their_warning():
    panel = in_splits(panel_of(n_seeds=3, noise=(0.1, 1.5)), OVERLAPPING)
    result = compare(panel, metrics=["kl"], **PAIR)
    wins = row_of(result, quantity="wins")
    assert (wins.wins, wins.losses, wins.ties, wins.n_pairs, wins.unc.estimate) == (9, 0, 0, 9, 1.0)
    assert wins.unc.low is None
    assert "not independent" in wins.unc.reason
    cells = row_of(result, test="sign_cells")
    assert (cells.p, cells.favours) == (2 / 2**9, "a")
    assert "0.00391" in cells.unc.reason
    assert "not independent trials" in cells.unc.reason


def test_mixed_model_agrees_with_the_difference_in_a_balanced_study():
    panel = panel_of(n_seeds=4)
    result = compare(panel, metrics=["brier"], tests=["mixed_model"], **PAIR)
    mixed, own = row_of(result, test="mixed_model"), row_of(result, quantity="difference")
    assert mixed.unc.estimate == pytest.approx(own.unc.estimate)
    assert mixed.unc.se == pytest.approx(own.unc.se, rel=0.05)  # likelihood pools a variance of 0 with the rest
    crossed = compare(in_splits(panel, OVERLAPPING), metrics=["brier"], tests=["mixed_model"], **PAIR)
    assert row_of(crossed, test="mixed_model").unc.low is not None


def test_dependent_correlations():
    panel = panel_of(n_items=60)
    result = compare(panel, metrics=["entropy_correlation", "kl"], tests=["williams", "steiger", "zou"], **PAIR)
    h = stats.entropy(panel.votes.counts, axis=1)
    a, b = (stats.entropy(panel.probs[0][c, 0], axis=1) for c in range(2))
    r12, r13, r23 = (stats.pearsonr(x, y)[0] for x, y in ((a, h), (b, h), (a, b)))
    assert row_of(result, quantity="difference", metric="entropy_correlation").unc.estimate == pytest.approx(r12 - r13)
    determinant = np.linalg.det([[1, r12, r13], [r12, 1, r23], [r13, r23, 1]])
    below = 2 * 59 / 57 * determinant + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    t = row_of(result, test="williams", metric="entropy_correlation")
    assert (t.statistic, t.df) == pytest.approx(((r12 - r13) * np.sqrt(59 * (1 + r23) / below), 57))
    zou = row_of(result, test="zou", metric="entropy_correlation")
    assert (zou.p < 0.05) == (not zou.unc.low <= 0 <= zou.unc.high)
    assert "entropy_correlation only" in row_of(result, test="zou", metric="kl").unc.reason


@pytest.mark.parametrize(("adjustment", "theirs"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_adjusted_over_metrics_and_conditions_of_one_test(adjustment, theirs):
    panel = panel_of(n_conditions=3, noise=(0.5, 0.55, 0.6))
    result = compare(panel, a="kind=first", b=["kind=other", "kind=third"], n_resamples=199, adjustment=adjustment)
    for test in (None, "paired_t", "bootstrap"):
        rows = rows_of(result, test=test, quantity="difference" if test is None else "test")
        counted = [row for row in rows if row.p is not None]
        expected = multipletests([row.p for row in counted], method=theirs)[1]
        assert [row.p_adjusted for row in counted] == pytest.approx(expected.tolist())
        assert {row.family_size for row in rows} == {len(counted)}
        assert all(row.p_adjusted is None and row.unc.reason for row in rows if row.p is None)


def test_romano_wolf_where_there_are_resamples():
    panel = panel_of(n_conditions=3, noise=(0.5, 0.55, 0.6))
    kwargs = {"a": "kind=first", "b": ["kind=other", "kind=third"], "n_resamples": 999, "metrics": ["kl", "brier"]}
    result = compare(panel, adjustment="romano_wolf", tests=["sign_flip", "bootstrap", "wilcoxon"], **kwargs)
    holm = compare(panel, adjustment="holm", tests=["sign_flip", "bootstrap"], **kwargs)
    for test, quantity in ((None, "difference"), ("sign_flip", "test"), ("bootstrap", "test")):
        pairs = zip(
            rows_of(result, test=test, quantity=quantity), rows_of(holm, test=test, quantity=quantity), strict=True
        )
        for row, other in pairs:
            assert row.p <= row.p_adjusted <= other.p_adjusted * 1.3 + 0.02  # dependence gains, up to Monte Carlo error
    for row in rows_of(result, test="wilcoxon"):
        assert row.p_adjusted is None
        assert "Romano-Wolf needs the resamples" in row.unc.reason


# --- limits and reasons -----------------------------------------------------------------------------------------------


def constant_difference():
    """Votes all for one label, a gives it .7 and b .8: tvd is .3 and .2 on every item."""
    counts = np.tile([10, 0], (12, 1))
    probs = np.stack([np.tile([0.7, 0.3], (12, 1)), np.tile([0.8, 0.2], (12, 1))])
    return panel_from_arrays(probs, counts, conditions=[{"kind": "first"}, {"kind": "other"}])


def test_a_constant_difference_is_significant_under_every_paired_test():
    """A = B + 0.1 on 12 items."""
    result = compare(constant_difference(), metrics=["tvd"], **PAIR)
    difference = row_of(result, quantity="difference")
    assert difference.unc.estimate == pytest.approx(0.1)
    assert (difference.p, difference.favours, difference.unc.reason) == (0.0, "b", NO_SPREAD)
    for test in ("paired_t", "wilcoxon", "sign_flip", "bootstrap"):
        row = row_of(result, test=test)
        assert row.p < 0.05, test
        assert row.favours == "b", test
    assert row_of(result, test="sign_flip").p == pytest.approx(2 / 2**12)
    assert row_of(result, quantity="superiority").unc.estimate == 0.0
    assert row_of(result, quantity="superiority").unc.high == pytest.approx(1 - 0.025 ** (1 / 12))


def test_a_shifted_score_is_significant_under_every_paired_test():
    """A = B + 0.1 with items that differ: tvd of a is .1 above that of b everywhere."""
    base = np.linspace(0.05, 0.6, 15)
    probs = np.stack([np.stack([1 - (base + s), base + s], axis=1) for s in (0.1, 0.0)])
    panel = panel_from_arrays(probs, np.tile([10, 0], (15, 1)), conditions=[{"kind": "first"}, {"kind": "other"}])
    result = compare(panel, metrics=["tvd"], **PAIR)
    for test in ("paired_t", "wilcoxon", "sign_flip", "bootstrap"):
        assert row_of(result, test=test).p < 0.05, test


def test_the_same_predictions_twice():
    panel = panel_of()
    same = replace(panel, probs=(np.repeat(panel.probs[0][:1], 2, axis=0),))
    result = compare(same, **PAIR)
    for row in result.rows:
        assert row.p is None
        assert row.favours is None
    assert row_of(result, quantity="difference", metric="kl").unc.reason == NO_DIFFERENCE
    assert "no conclusion" in row_of(result, quantity="difference", metric="kl").sentence


def odd_panels():
    generator = np.random.default_rng(1)
    two = [{"kind": "first"}, {"kind": "other"}]
    some = generator.dirichlet(np.ones(3), (2, 8))
    flat = np.full((2, 8, 3), 1 / 3)
    counts = generator.multinomial(5, [0.5, 0.3, 0.2], 8)
    tied = np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.6, 0.4], [0.4, 0.6]]])
    yield "one item", panel_from_arrays(some[:, :1], counts[:1], conditions=two)
    yield "two items tied everywhere", panel_from_arrays(tied, [[1, 1], [1, 1]], conditions=two)
    yield "all unanimous", panel_from_arrays(some, np.tile([4, 0, 0], (8, 1)), conditions=two)
    yield "constant models", panel_from_arrays(flat, counts, conditions=two)
    yield "constant model against another", panel_from_arrays(np.stack([flat[0], some[1]]), counts, conditions=two)
    yield "one vote an item", panel_from_arrays(some, np.eye(3, dtype=int)[[0, 1, 2, 0, 1, 2, 0, 1]], conditions=two)
    yield "two items", panel_from_arrays(some[:, :2], counts[:2], conditions=two)
    yield "a certain model", panel_from_arrays(np.stack([np.eye(3)[[0] * 8], some[0]]), counts, conditions=two)


@pytest.mark.parametrize(
    ("name", "panel"), list(odd_panels()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_odd_data_give_numbers_with_intervals_or_reasons(name, panel):
    result = compare(panel, metrics=["all"], tests=["all"], margin=0.1, n_resamples=49, a="kind=first", b="kind=other")
    json.dumps(result.to_dict(), allow_nan=False)
    for row in result.rows:
        assert row.unc.low is not None or row.unc.reason, row
        if row.quantity == "test" or row.quantity == "difference":
            assert row.p is not None or row.unc.reason, row
        assert row.p is None or 0 <= row.p <= 1


def test_every_metric_and_every_test_on_a_study():
    panel = in_splits(panel_of(n_seeds=2), OVERLAPPING)
    result = compare(
        panel, metrics=["all"], tests=["all"], margin=0.1, n_train=80, n_resamples=99, a="kind=first", b="kind=other"
    )
    assert len(result.rows) == len(all_names()) * (5 + len(TESTS))
    for row in result.rows:
        assert (row.unc.low is not None and row.unc.high is not None) or row.unc.reason, row


def test_one_seed_is_said():
    row = row_of(compare(panel_of(), metrics=["kl"], **PAIR), quantity="difference")
    assert row.unc.reason == ONE_SEED
    assert "training noise is not in it" in row.sentence


# --- words ------------------------------------------------------------------------------------------------------------


def test_sentences():
    clear = row_of(compare(panel_of(noise=(0.1, 1.5)), metrics=["kl"], **PAIR), quantity="difference")
    assert "Lower is better: a is better" in clear.sentence
    assert clear.favours == "a"
    unclear = compare(panel_of(noise=(0.5, 0.5)), metrics=["brier"], margin=0.001, **PAIR)
    row = row_of(unclear, quantity="difference")
    assert row.p > 0.05
    assert "do not tell which of the two is better; this is no evidence that they are equal" in row.sentence
    assert "It is not shown that they are equivalent within 0.001" in row.sentence
    assert row.favours is None
    wide = compare(panel_of(noise=(0.5, 0.5)), metrics=["brier"], margin=0.5, **PAIR)
    row = row_of(wide, quantity="difference")
    assert "They are equivalent within 0.5" in row.sentence
    assert row_of(wide, test="tost").margin == 0.5
    assert row_of(wide, test="tost").unc.level == pytest.approx(0.9)
    undirected = row_of(compare(panel_of(noise=(0.1, 1.5)), metrics=["entropy"], **PAIR), quantity="difference")
    assert undirected.favours is None


def test_a_finding_that_does_not_survive_the_family_says_so():
    for seed in range(40):
        result = compare(panel_of(noise=(0.5, 0.56), seed=seed), tests=[], **PAIR)
        for row in rows_of(result, quantity="difference"):
            if row.p < 0.05 <= row.p_adjusted:
                assert "no conclusion" in row.sentence
                assert row.favours is None
                return
    pytest.fail("no such case among forty studies: make the two conditions more alike")


def test_noninferiority_follows_the_direction():
    """Higher is better for accuracy: a worse by much is not shown to be non-inferior, b is."""
    panel = panel_of(n_items=120, noise=(0.1, 3.0))
    margins = {"accuracy": 0.02, "kl": 0.02}
    good = compare(panel, metrics=["accuracy", "kl"], margin=margins, **PAIR)
    bad = compare(panel, metrics=["accuracy", "kl"], margin=margins, **(PAIR | {"a": "kind=other", "b": "kind=first"}))
    for metric in margins:
        assert row_of(good, metric=metric, test="noninferiority").p < 0.05
        assert row_of(bad, metric=metric, test="noninferiority").p > 0.95


# --- invariances and refusals -----------------------------------------------------------------------------------------


def test_keys_are_those_of_the_interface():
    result = compare(panel_of(), metrics=["kl"], **PAIR)
    assert all(tuple(record) == KEYS for record in result.records())
    assert tuple(result.to_frame().columns) == KEYS
    assert [row.test for row in rows_of(result, quantity="test")] == list(DEFAULT_TESTS)
    assert [r.quantity for r in result.rows[:5]] == ["difference", "relative_change", "cohen_dz", "superiority", "wins"]


def test_other_conditions_metrics_and_threads_change_no_bit():
    panel = panel_of(n_seeds=2, n_conditions=3)
    alone = compare(panel, metrics=["kl"], adjustment="none", **PAIR)
    both = compare(panel, a="kind=first", b=["kind=third", "kind=other"], n_resamples=199, adjustment="none", threads=1)
    found = [row for row in both.rows if row.metric == "kl" and row.b.endswith("other")]
    assert [(r.unc, r.p, r.statistic) for r in found] == [(r.unc, r.p, r.statistic) for r in alone.rows]
    assert [row.b for row in both.rows[:11:10]] == [
        "model=model,method=soft,kind=third",
        "model=model,method=soft,kind=other",
    ]


def test_swapping_a_and_b_turns_the_signs():
    panel = panel_of(n_seeds=2)
    one = compare(panel, **PAIR)
    other = compare(panel, **(PAIR | {"a": "kind=other", "b": "kind=first"}))
    for row, turned in zip(one.rows, other.rows, strict=True):
        if row.quantity in ("difference", "test") and row.p is not None and row.test != "bootstrap":
            assert row.p == pytest.approx(turned.p)
        if row.quantity == "difference":
            assert row.unc.low == pytest.approx(-turned.unc.high)


def test_extending_n_resamples_keeps_what_is_not_resampled():
    few, many = (compare(panel_of(), metrics=["kl"], **(PAIR | {"n_resamples": n})) for n in (99, 199))
    assert row_of(few, test="sign_flip").p == row_of(many, test="sign_flip").p
    assert row_of(few, quantity="difference").unc == row_of(many, quantity="difference").unc


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"b": "kind=first"}, "same condition"),
        ({"b": ["kind=other", "kind=other"]}, "twice"),
        ({"b": []}, "names no condition"),
        ({"b": "kind=nobody"}, "no condition matches"),
        ({"a": "method=soft"}, "2 conditions match"),
        ({"tests": ["t"]}, "unknown test 't'"),
        ({"tests": ["tost"]}, "needs a margin"),
        ({"tests": "paired_t"}, "list of names"),
        ({"margin": -1.0}, "above 0"),
        ({"margin": {"ece": 0.1}}, "not compared"),
        ({"adjustment": "bonferroni"}, "unknown adjustment"),
        ({"level": 0.4}, "above 0.5"),
        ({"n_resamples": 1}, "at least 2"),
        ({"n_train": 0}, "number of items"),
        ({"n_train": 10, "tests": ["paired_t"]}, "none of the tests reads it"),
        ({"margin": 0.1, "tests": ["paired_t"]}, "none of the tests reads it"),
    ],
)
def test_refusals(wrong, message):
    with pytest.raises(UsageError, match=message):
        compare(panel_of(), **(PAIR | wrong))


def test_unpaired_input_is_refused(tmp_path):
    """The two methods are predicted on different items: nothing can be paired, and the door says so."""
    votes = ["item_id,label", *(f"q{i},{label}" for i in range(6) for label in ("no", "yes", "yes"))]
    rows = [f"q{i},{method},0.4,0.6" for method, items in (("soft", range(4)), ("hard", range(2, 6))) for i in items]
    (tmp_path / "votes.csv").write_text("\n".join(votes) + "\n")
    (tmp_path / "predictions.csv").write_text("\n".join(["item_id,method,p_no,p_yes", *rows]) + "\n")
    with pytest.raises(DataError, match="A03"):
        read_panel(tmp_path / "votes.csv", tmp_path / "predictions.csv")
    panel = read_panel(tmp_path / "votes.csv", tmp_path / "predictions.csv", missing="drop")
    result = compare(panel, a="method=soft", b="method=hard", metrics=["kl"], n_resamples=49)
    assert row_of(result, quantity="difference").n_pairs == 2
    assert result.data.dropped == 4  # two items of each method that the other lacks


def test_conditions_may_be_given_as_conditions():
    panel = panel_of()
    by_text = compare(panel, metrics=["kl"], tests=[], **PAIR)
    given = compare(panel, a=panel.conditions[0], b=[panel.conditions[1]], metrics=["kl"], tests=[], n_resamples=199)
    assert isinstance(panel.conditions[0], Condition)
    assert given.rows == by_text.rows
    assert DEFAULT_METRICS[0] == "kl"
