"""Saturation curves on small studies: against loops, by hand, and where nothing is defined."""

import dataclasses

import numpy as np
import pytest
from scipy import special

from saturation.analyses.label_curve import label_curve
from saturation.analyses.losses import losses_of as losses_table
from saturation.analyses.saturation import saturation_curve
from saturation.conditions import Condition
from saturation.errors import UsageError
from saturation.metrics.catalogue import metrics_of
from saturation.resampling.draw import annotator_weights
from saturation.resampling.linearized import covariance
from saturation.tables.builders import panel_from_arrays, votes_from_counts
from saturation.tables.panel import Ballots, Panel
from tests import naive

SOFT = [Condition.of(model="m", method="soft", budget=b) for b in (1, 3, 10, 40)]
HARD = Condition.of(model="m", method="hard")
SMOOTH = [Condition.of(model="m", method="smoothing", strength=e) for e in (0.1, 0.2)]
DIRICHLET = Condition.of(model="m", method="dirichlet", budget=3, alpha=0.5)
CONDITIONS = (DIRICHLET, HARD, *SMOOTH, *SOFT)
Q_BETWEEN = 0.8
BLUR = {
    DIRICHLET: 0.35,
    HARD: 0.9,
    SMOOTH[0]: 0.75,
    SMOOTH[1]: 0.7,
    SOFT[0]: 0.6,
    SOFT[1]: 0.4,
    SOFT[2]: 0.25,
    SOFT[3]: 0.2,
}


def study(seed=0, n_items=60, n_labels=3, n_seeds=3, splits=2, votes=40, conditions=CONDITIONS):
    """Models are the item's distribution blurred by noise that falls with the budget."""
    rng = np.random.default_rng(seed)
    population = rng.dirichlet(np.ones(n_labels), n_items)
    counts = np.array([rng.multinomial(votes, p) for p in population])
    human = votes_from_counts(counts)
    items = tuple(np.sort(rng.choice(n_items, max(n_items * 2 // 3, 1), replace=False)) for _ in range(splits))
    probs = []
    order = sorted(conditions, key=lambda c: c.sort_key)
    for chosen in items:
        noise = rng.normal(size=(1, 1, len(chosen), n_labels)) + 0.3 * rng.normal(
            size=(len(order), n_seeds, len(chosen), n_labels)
        )
        logits = np.log(population[chosen]) + np.array([BLUR[c] for c in order])[:, None, None, None] * noise
        probs.append(special.softmax(logits, axis=-1))
    return Panel(
        votes=human,
        conditions=tuple(order),
        splits=tuple(str(s) for s in range(splits)),
        seeds=(tuple(range(n_seeds)),) * splits,
        items_of_split=items,
        probs=tuple(probs),
        has_draws=True,
        summary=human.summary,
    )


def find(result, quantity, metric, **wanted):
    rows = [
        r
        for r in result.rows
        if r.quantity == quantity and r.metric == metric and all(getattr(r, k) == v for k, v in wanted.items())
    ]
    assert len(rows) == 1, (quantity, metric, wanted, len(rows))
    return rows[0]


@pytest.fixture(scope="module")
def panel():
    return study()


@pytest.fixture(scope="module")
def result(panel):
    return saturation_curve(panel)


def losses_of(panel, metric):
    """[condition][split][seed][item] by loops."""
    one = {"kl": naive.kl, "brier": naive.brier, "tvd": naive.tvd}[metric]
    return {
        str(c): [
            [[one(list(m), list(panel.votes.counts[i])) for m, i in zip(seed, items, strict=True)] for seed in probs[k]]
            for probs, items in zip(panel.probs, panel.items_of_split, strict=True)
        ]
        for k, c in enumerate(panel.conditions)
    }


@pytest.mark.parametrize("metric", ["kl", "brier", "tvd"])
@pytest.mark.parametrize(("baseline", "base"), [("hard", HARD), ("smoothing[0.1]", SMOOTH[0]), ("smallest", SOFT[0])])
def test_fraction_and_its_limits_agree_with_loops(panel, result, metric, baseline, base):
    scores = losses_of(panel, metric)
    row = find(result, "fraction", metric, budget=10, method="soft", baseline=baseline)
    slow = naive.saturation_fraction(
        scores, str(base), str(SOFT[2]), str(SOFT[3]), panel.items_of_split, lambda df: special.stdtrit(df, 0.975)
    )
    assert row.unc.estimate == pytest.approx(slow["estimate"], rel=1e-10)
    assert row.unc.interval == "fieller"
    assert (row.unc.low, row.unc.high) == (pytest.approx(slow["low"], rel=1e-6), pytest.approx(slow["high"], rel=1e-6))
    assert (row.fieller_low, row.fieller_high, row.fieller_shape) == (row.unc.low, row.unc.high, "bounded")


def test_shortfall_gain_and_their_intervals_agree_with_loops(panel, result):
    scores = losses_of(panel, "brier")
    mean = {c: np.mean([np.mean(cell) for split in z for cell in split]) for c, z in scores.items()}
    short = find(result, "shortfall", "brier", budget=3, method="soft")
    gain = find(result, "gain", "brier", budget=3)
    assert short.unc.estimate == pytest.approx(mean[str(SOFT[1])] - mean[str(SOFT[3])])
    assert gain.unc.estimate == pytest.approx(mean[str(SOFT[0])] - mean[str(SOFT[1])])
    gap = [
        [[a - b for a, b in zip(x, y, strict=True)] for x, y in zip(p, q, strict=True)]
        for p, q in zip(scores[str(SOFT[1])], scores[str(SOFT[3])], strict=True)
    ]
    spread = naive.few_seeds_variance(gap, panel.items_of_split)
    half = special.stdtrit(spread["df"], 0.975) * spread["variance"] ** 0.5
    assert short.unc.low == pytest.approx(short.unc.estimate - half)
    assert short.unc.high == pytest.approx(short.unc.estimate + half)
    assert (short.p < 0.05) == (short.unc.low > 0)
    assert short.simultaneous_low < short.unc.low


def test_values_are_in_natural_units_and_shortfalls_positive_where_there_is_more_to_gain(panel, result):
    value = {b: find(result, "value", "entropy_correlation", budget=b, method="soft").unc for b in (1, 10, 40)}
    short = find(result, "shortfall", "entropy_correlation", budget=1, method="soft").unc
    assert value[40].low < value[40].estimate < value[40].high
    assert value[40].estimate > value[1].estimate
    assert short.estimate == pytest.approx(value[40].estimate - value[1].estimate)
    f = find(result, "fraction", "entropy_correlation", budget=10, method="soft", baseline="smallest").unc
    assert f.estimate == pytest.approx(
        (value[10].estimate - value[1].estimate) / (value[40].estimate - value[1].estimate)
    )


def test_the_ceiling_is_exact(result):
    row = find(result, "fraction", "kl", budget=40, method="soft", baseline="hard")
    short = find(result, "shortfall", "kl", budget=40, method="soft")
    assert (row.unc.estimate, row.unc.interval, row.unc.low) == (1.0, "exact", 1.0)
    assert (short.unc.estimate, short.unc.interval) == (0.0, "exact")
    assert str(SOFT[3]) == row.ceiling


def test_every_baseline_stands_beside_the_others(result):
    names = {r.baseline for r in result.rows if r.quantity == "fraction" and r.method == "soft"}
    assert names == {"smallest", "hard", "smoothing[0.1]", "smoothing[0.2]"}


def test_hard_at_equal_budget_is_its_own_baseline():
    equal = [Condition.of(model="m", method="hard", budget=b) for b in (3, 10)]
    blur = {equal[0]: 0.95, equal[1]: 0.92}
    BLUR.update(blur)
    panel = study(conditions=(*CONDITIONS, *equal))
    result = saturation_curve(panel, metrics=["kl"])
    scores = losses_of(panel, "kl")
    mean = {c: np.mean([np.mean(cell) for split in z for cell in split]) for c, z in scores.items()}
    for budget, base, at in ((3, equal[0], SOFT[1]), (10, equal[1], SOFT[2])):
        row = find(result, "fraction", "kl", budget=budget, method="soft", baseline="hard[N]")
        b, a, top = mean[str(base)], mean[str(at)], mean[str(SOFT[3])]
        assert row.unc.estimate == pytest.approx((b - a) / (b - top))
    star = find(result, "n_star", "kl", q=0.9, method="soft", baseline="hard[N]")
    assert "does not exist at every budget" in star.unc.reason


def test_n_star_follows_from_the_printed_fractions(result):
    for metric in ("kl", "brier", "entropy_correlation"):
        star = find(result, "n_star", metric, q=0.9, baseline="hard")
        one_sided = saturation_result_at_90(metric)
        passes = [one_sided[b] >= 0.9 for b in (1, 3, 10)]
        expected = None
        for budget, passed in zip((10, 3, 1), reversed(passes), strict=True):
            if not passed:
                break
            expected = budget
        assert star.unc.estimate == expected
        assert (star.censored == "above") == (expected is None)


def saturation_result_at_90(metric):
    """Lower limits of two-sided 90% intervals: the one-sided 95% bounds."""
    made = saturation_curve(study(), metrics=[metric], level=0.9)
    rows = [r for r in made.rows if r.quantity == "fraction" and r.baseline == "hard" and r.method == "soft"]
    return {r.budget: r.unc.low for r in rows}


def test_contrasts_within_one_order(panel, result):
    pairs = {(r.metric, r.metric_b) for r in result.rows if r.quantity == "contrast_fraction"}
    assert ("kl", "tvd") not in pairs
    assert ("kl", "brier") in pairs
    a = find(result, "fraction", "kl", budget=3, method="soft", baseline="hard").unc.estimate
    b = find(result, "fraction", "brier", budget=3, method="soft", baseline="hard").unc.estimate
    row = find(result, "contrast_fraction", "kl", metric_b="brier", budget=3, baseline="hard")
    assert row.unc.estimate == pytest.approx(a - b)
    assert row.simultaneous_low < row.unc.low < row.unc.high < row.simultaneous_high


def test_contrasts_by_delete_one_item():
    """The delta method against brute force: leave out every item, one split and one seed."""
    one = study(conditions=(HARD, *SOFT), n_items=60, n_seeds=1, splits=1)
    n_items = len(one.items_of_split[0])

    def contrasts(kept):
        part = dataclasses.replace(
            one, items_of_split=(one.items_of_split[0][kept],), probs=(one.probs[0][:, :, kept],)
        )
        made = saturation_curve(part, metrics=["kl", "brier", "tvd"], baselines=["hard"], q=(Q_BETWEEN,))
        more = {"baseline": "hard"}
        return [
            find(made, "contrast_fraction", "kl", metric_b="brier", budget=3, **more).unc,
            find(made, "contrast_fraction", "kl", metric_b="tvd^2", budget=3, **more).unc,
            find(made, "contrast_log_n_star", "kl", metric_b="brier", **more).unc,
        ]

    every = np.arange(n_items)
    whole = contrasts(every)
    deleted = np.array([[unc.estimate for unc in contrasts(np.delete(every, i))] for i in range(n_items)], dtype=float)
    jackknife = (n_items - 1) / n_items * ((deleted - deleted.mean(axis=0)) ** 2).sum(axis=0)
    for unc, variance in zip(whole, jackknife, strict=True):
        assert unc.se == pytest.approx(variance**0.5, rel=0.15)


def test_squares_by_hand(panel, result):
    scores = losses_of(panel, "tvd")
    mean = {c: np.mean([np.mean(cell) for split in z for cell in split]) ** 2 for c, z in scores.items()}
    hard, at, top = mean[str(HARD)], mean[str(SOFT[1])], mean[str(SOFT[3])]
    kl = find(result, "fraction", "kl", budget=3, method="soft", baseline="hard").unc.estimate
    row = find(result, "contrast_fraction", "kl", metric_b="tvd^2", budget=3, baseline="hard")
    assert row.unc.estimate == pytest.approx(kl - (hard - at) / (hard - top))


def test_proportional_metrics_have_no_contrast():
    made = saturation_curve(study(), metrics=["tvd", "manhattan"])
    row = find(made, "contrast_fraction", "tvd", metric_b="manhattan", budget=3, baseline="hard")
    assert (row.unc.estimate, row.unc.interval) == (0.0, "exact")


def test_gap_closure_by_hand(panel, result):
    scores = losses_of(panel, "brier")
    mean = {c: np.mean([np.mean(cell) for split in z for cell in split]) for c, z in scores.items()}
    row = find(result, "gap_closure", "brier", budget=3)
    soft, other, top = mean[str(SOFT[1])], mean[str(DIRICHLET)], mean[str(SOFT[3])]
    assert row.curve == "model=m,method=dirichlet,alpha=0.5"
    assert row.unc.estimate == pytest.approx((soft - other) / (soft - top))
    assert row.denominator_p == pytest.approx(find(result, "shortfall", "brier", budget=3, method="soft").p)
    assert find(result, "shortfall", "brier", budget=3, method="dirichlet").p is not None


def test_default_margins(panel, result):
    # brier: s^2 / n = (1 - sum h^2) / (n - 1), a mean over items, then over cells
    rows = []
    for items in panel.items_of_split:
        c = panel.votes.counts[items]
        n = c.sum(axis=1)
        rows.append(np.mean((1 - ((c / n[:, None]) ** 2).sum(axis=1)) / (n - 1)))
    assert find(result, "n_star_noninferiority", "brier").margin == pytest.approx(np.mean(rows))
    # tvd: two distributions of 40 votes over three labels differ by a few percent
    assert 0.02 < find(result, "n_star_noninferiority", "tvd").margin < 0.12
    given = saturation_curve(panel, metrics=["tvd"], margin=0.5)
    assert find(given, "n_star_noninferiority", "tvd").unc.estimate == 1
    tiny = saturation_curve(panel, metrics=["tvd"], margin=1e-9)
    assert find(tiny, "n_star_noninferiority", "tvd").censored == "above"


def test_ceiling_can_be_chosen(panel):
    made = saturation_curve(panel, metrics=["kl"], ceiling="method=soft,budget=10")
    assert find(made, "fraction", "kl", budget=10, method="soft", baseline="hard").unc.estimate == 1
    with pytest.raises(UsageError, match="no condition matches"):
        saturation_curve(panel, ceiling="method=soft,budget=11")
    with pytest.raises(UsageError, match="asymptote"):
        saturation_curve(panel, ceiling="asymptote")


def test_two_models_have_their_own_ceiling(panel):
    twice = dataclasses.replace(
        panel,
        conditions=(*panel.conditions, *(Condition.of(**{**dict(c.values), "model": "z"}) for c in panel.conditions)),
        probs=tuple(np.concatenate([p, p[:, :, ::-1]]) for p in panel.probs),
    )
    made = saturation_curve(twice, metrics=["kl"])
    alone = saturation_curve(panel, metrics=["kl"])
    kept = [r for r in made.rows if r.model == "m"]
    assert kept == list(alone.rows)
    assert {r.ceiling for r in made.rows if r.model == "z"} == {"model=z,method=soft,budget=40"}
    chosen = saturation_curve(twice, metrics=["kl"], ceiling="method=soft,budget=10")
    assert {r.ceiling for r in chosen.rows if r.model == "z"} == {"model=z,method=soft,budget=10"}


def test_curve_without_soft_ends_at_its_own_largest_budget():
    ours = [Condition.of(model="m", method="ours", budget=b) for b in (1, 10)]
    BLUR.update({ours[0]: 0.6, ours[1]: 0.2})
    made = saturation_curve(study(conditions=ours), metrics=["kl"])
    assert {r.ceiling for r in made.rows} == {"model=m,method=ours,budget=10"}


def test_baselines_can_be_restricted(panel):
    made = saturation_curve(panel, metrics=["kl"], baselines=["hard"])
    assert {r.baseline for r in made.rows if r.quantity == "fraction"} == {"hard"}
    with pytest.raises(UsageError, match=r"no curve has a baseline 'soft'.*hard"):
        saturation_curve(panel, baselines=["soft"])


@pytest.mark.parametrize(
    ("option", "value"),
    [("q", (0.0,)), ("level", 1.0), ("design", "items"), ("ragged", "some"), ("n_resamples", 1), ("margin", -1.0)],
)
def test_wrong_options_are_refused(panel, option, value):
    with pytest.raises(UsageError, match=option):
        saturation_curve(panel, metrics=["kl"], **{option: value})


def test_one_seed_says_so():
    made = saturation_curve(study(n_seeds=1, splits=1), metrics=["kl"])
    row = find(made, "fraction", "kl", budget=10, method="soft", baseline="hard")
    assert row.unc.estimate is not None
    assert "one seed" in row.unc.reason
    assert "one seed" in find(made, "value", "kl", budget=10).unc.reason
    assert "one seed" in find(made, "n_star", "kl", q=0.9, baseline="hard").unc.reason


def undefined_rows_have_reasons(made):
    for row in made.rows:
        if row.unc.estimate is None or (row.unc.low is None and row.unc.interval == "none"):
            if row.quantity.startswith("n_star") and row.unc.estimate is not None:
                continue
            assert row.unc.reason, row
    made.to_frame()
    return made


def test_one_item():
    undefined_rows_have_reasons(saturation_curve(study(n_items=1, splits=1)))


def test_two_labels_and_many_labels():
    undefined_rows_have_reasons(saturation_curve(study(n_labels=2)))
    made = undefined_rows_have_reasons(
        saturation_curve(study(n_labels=200, n_items=12, n_seeds=2, splits=1), metrics=["kl", "tvd", "accuracy"])
    )
    assert find(made, "fraction", "kl", budget=10, method="soft", baseline="hard").unc.estimate is not None


def test_unanimous_items():
    one = study()
    counts = np.zeros_like(one.votes.counts)
    counts[:, 0] = 40
    made = undefined_rows_have_reasons(
        saturation_curve(dataclasses.replace(one, votes=dataclasses.replace(one.votes, counts=counts)))
    )
    row = find(made, "fraction", "entropy_correlation", budget=10, method="soft", baseline="hard")
    assert row.unc.estimate is None
    assert "entropy" in row.unc.reason or "constant" in row.unc.reason


def test_baseline_with_constant_entropy_is_a_reason():
    base = Condition.of(model="m", method="base_rate")
    BLUR[base] = 0.0
    one = study(conditions=(*CONDITIONS, base))
    at = one.conditions.index(base)
    for probs in one.probs:
        probs[at] = [0.5, 0.3, 0.2]
    made = saturation_curve(one, metrics=["kl", "entropy_correlation"])
    assert find(made, "fraction", "kl", budget=10, method="soft", baseline="base_rate").unc.estimate is not None
    row = find(made, "fraction", "entropy_correlation", budget=10, method="soft", baseline="base_rate")
    assert row.unc.estimate is None
    assert "method=base_rate" in row.unc.reason


def test_baseline_equal_to_the_ceiling():
    one = study()
    hard, top = one.conditions.index(HARD), one.conditions.index(SOFT[3])
    for probs in one.probs:
        probs[hard] = probs[top]
    made = undefined_rows_have_reasons(saturation_curve(one))
    assert find(made, "fraction", "kl", budget=10, method="soft", baseline="hard").unc.estimate is None


def test_signed_metrics_have_values_and_no_fraction(panel):
    made = saturation_curve(panel, metrics=["entropy_bias"])
    assert {r.quantity for r in made.rows} == {"value", "fraction"}
    assert all(r.unc.estimate is None and r.unc.reason for r in made.rows if r.quantity == "fraction")


def test_points_only():
    made = saturation_curve(study(conditions=(HARD, SOFT[3])), metrics=["kl"])
    assert any(note.code == "no_curve" for note in made.notes)
    assert {r.quantity for r in made.rows} <= {"value", "shortfall", "fraction"}


def test_all_metrics_at_once(panel):
    made = undefined_rows_have_reasons(
        saturation_curve(study(n_items=15, votes=10, splits=1), metrics=["all"], baselines=["hard"])
    )
    assert len({r.metric for r in made.rows}) > 25


# --- item sets ----------------------------------------------------------------------------------------------------


def ragged(short):
    one = study()
    counts = one.votes.counts.copy()
    for item in range(short):
        kept = np.zeros(3, dtype=np.int64)
        kept[:] = (3, 2, 1)
        counts[item] = kept
    return dataclasses.replace(one, votes=dataclasses.replace(one.votes, counts=counts))


def test_one_item_set_for_the_whole_curve():
    one = ragged(6)
    used = np.unique(np.concatenate(one.items_of_split))
    made = saturation_curve(one, metrics=["kl"])
    assert {r.unc.n_items for r in made.rows} == {int((used >= 6).sum())}
    assert "item_set" in {n.code for n in made.notes}


def test_items_stay_where_the_votes_cannot_be_those_of_the_budgets():
    one = ragged(40)
    used = np.unique(np.concatenate(one.items_of_split))
    made = saturation_curve(one, metrics=["kl"])
    assert {r.unc.n_items for r in made.rows} == {len(used)}
    assert "ragged_all_items" in {n.code for n in made.notes}


def test_per_budget_items_come_with_a_warning():
    one = ragged(6)
    used = np.unique(np.concatenate(one.items_of_split))
    made = saturation_curve(one, metrics=["kl"], ragged="per-budget")
    assert "ragged_per_budget" in {n.code for n in made.notes}
    assert find(made, "value", "kl", budget=3, method="soft").unc.n_items == len(used)
    assert find(made, "value", "kl", budget=10, method="soft").unc.n_items == int((used >= 6).sum())


# --- resampling ---------------------------------------------------------------------------------------------------


def test_many_seeds_are_resampled():
    """Independent weights on items and seeds give V_items + V_seeds + V_e (the residual is seen by both)."""
    one = study(n_seeds=10, n_items=90)
    made = saturation_curve(one, metrics=["kl"], n_resamples=3000)
    assert made.settings["inference"] == "bootstrap"
    losses = losses_table(one, metrics_of(["kl"]))
    parts = covariance(losses.influence)
    at, top = one.conditions.index(SOFT[1]), one.conditions.index(SOFT[3])
    gap = losses.difference(0, at, top)
    expected = sum(gap @ part @ gap for part in (parts.items, parts.seeds, parts.error))
    row = find(made, "shortfall", "kl", budget=3, method="soft")
    assert row.unc.interval == "percentile"
    assert row.unc.n_resamples == 3000
    assert row.unc.se**2 == pytest.approx(expected, rel=0.15)  # the variance of 3000 resamples is known to 2.6%
    assert row.unc.high - row.unc.low == pytest.approx(2 * 1.96 * row.unc.se, rel=0.1)
    fraction = find(made, "fraction", "kl", budget=10, method="soft", baseline="hard")
    assert fraction.unc.interval == "percentile"
    assert fraction.fieller_shape == "bounded"
    assert fraction.unc.low == pytest.approx(fraction.fieller_low, abs=0.1 * (fraction.unc.high - fraction.unc.low))
    assert fraction.p < 0.05


def test_threads_rows_and_order_of_conditions_change_no_number(panel):
    more = {"metrics": ["kl", "accuracy"], "design": "crossed", "n_resamples": 300}
    one = saturation_curve(panel, threads=1, **more)
    two = saturation_curve(panel, threads=2, **more)
    assert one.rows == two.rows
    alone = saturation_curve(panel, threads=1, **{**more, "metrics": ["accuracy"]})
    kept = [r for r in one.rows if r.metric == "accuracy" and r.metric_b is None]
    assert kept == list(alone.rows)


# --- annotators ---------------------------------------------------------------------------------------------------


def with_annotators(n_annotators, n_items=24):
    rng = np.random.default_rng(8)
    one = study(n_items=n_items, votes=n_annotators)
    population = rng.dirichlet(np.ones(3), n_items)
    lean = rng.normal(0, 1.0, (n_annotators, 3))
    item, annotator = np.divmod(np.arange(n_items * n_annotators), n_annotators)
    chance = special.softmax(np.log(population[item]) + lean[annotator], axis=1).cumsum(axis=1)
    label = (rng.random(len(item))[:, None] > chance[:, :2]).sum(axis=1)
    counts = np.zeros((n_items, 3), dtype=np.int64)
    np.add.at(counts, (item, label), 1)
    names = tuple(f"a{k:02d}" for k in range(n_annotators))
    votes = dataclasses.replace(one.votes, counts=counts, ballots=Ballots(names, item, annotator, label))
    return dataclasses.replace(one, votes=votes)


def test_few_annotators_add_their_jackknife_variance():
    one = with_annotators(6)
    made = saturation_curve(one, metrics=["brier"])
    row = find(made, "shortfall", "brier", budget=1, method="soft")
    bare = dataclasses.replace(one, votes=dataclasses.replace(one.votes, ballots=None))
    without = find(saturation_curve(bare, metrics=["brier"]), "shortfall", "brier", budget=1, method="soft")
    ballots, values = one.votes.ballots, []
    for gone in range(6):
        counts = np.zeros_like(one.votes.counts)
        kept = ballots.annotator != gone
        np.add.at(counts, (ballots.item[kept], ballots.label[kept]), 1)
        deleted = dataclasses.replace(bare, votes=dataclasses.replace(bare.votes, counts=counts))
        values.append(
            find(
                saturation_curve(deleted, metrics=["brier"], ragged="common"),
                "shortfall",
                "brier",
                budget=1,
                method="soft",
            ).unc.estimate
        )
    jackknife = 5 / 6 * np.sum((np.array(values) - np.mean(values)) ** 2)
    assert jackknife > 0
    assert row.unc.se**2 == pytest.approx(without.unc.se**2 + jackknife, rel=1e-9)


def test_many_annotators_are_weighted():
    one = with_annotators(25)
    bare = dataclasses.replace(one, votes=dataclasses.replace(one.votes, ballots=None))
    wide = find(saturation_curve(one, metrics=["kl"], n_resamples=100), "value", "kl", budget=10, method="soft")
    narrow = find(saturation_curve(bare, metrics=["kl"]), "value", "kl", budget=10, method="soft")
    at, ballots, values = one.conditions.index(SOFT[2]), one.votes.ballots, []
    for weights in annotator_weights(0, 0, 100, 25):
        counts = np.zeros(one.votes.counts.shape)
        np.add.at(counts, (ballots.item, ballots.label), weights[ballots.annotator])
        cells = [
            np.mean([naive.kl(list(m), list(counts[i])) for m, i in zip(seed, items, strict=True)])
            for probs, items in zip(one.probs, one.items_of_split, strict=True)
            for seed in probs[at]
        ]
        values.append(np.mean(cells))
    assert wide.unc.estimate == narrow.unc.estimate
    assert wide.unc.se**2 == pytest.approx(narrow.unc.se**2 + np.var(values, ddof=1), rel=1e-9)


# --- labels -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["entropy_correlation", "accuracy"])
def test_labels_alone_agree_with_the_label_curve(metric):
    one = study(splits=1, n_items=150)
    made = saturation_curve(one, metrics=[metric])
    own = label_curve(
        one.votes.take(one.items_of_split[0]), metrics=[metric], budgets=[1, 3, 10, 40], reference="plug_in"
    )
    for budget in (3, 10, 40):
        ours = find(made, "label_value", metric, budget=budget).unc.estimate
        theirs = next(r for r in own.rows if r.quantity == "value" and r.budget == budget).unc.estimate
        assert ours == pytest.approx(theirs, rel=1e-12)
    for budget in (3, 10):
        ours = find(made, "label_fraction", metric, budget=budget)
        theirs = next(r for r in own.rows if r.quantity == "fraction" and r.budget == budget).unc.estimate
        model = find(made, "fraction", metric, budget=budget, baseline="smallest", method="soft")
        contrast = find(made, "contrast_labels", metric, budget=budget)
        assert ours.unc.estimate == pytest.approx(theirs, rel=1e-12)
        assert contrast.unc.estimate == pytest.approx(model.unc.estimate - theirs, rel=1e-9)
        assert contrast.simultaneous_low <= contrast.unc.low < contrast.unc.high


def test_panel_from_arrays_goes_through():
    rng = np.random.default_rng(2)
    counts = rng.multinomial(10, [0.5, 0.5], 20)
    probs = rng.dirichlet([2, 2], (2, 20))
    made = saturation_curve(
        panel_from_arrays(probs, counts, conditions=[{"method": "soft", "budget": 1}, {"method": "soft", "budget": 9}])
    )
    assert find(made, "value", "kl", budget=9).unc.estimate is not None
