"""Saturation curves on small studies: against loops and by hand."""

import dataclasses

import numpy as np
import pytest
from scipy import special

from saturation.analyses.curve.saturation import saturation_curve
from saturation.analyses.evaluate import evaluate
from saturation.conditions import Condition
from saturation.errors import UsageError
from tests import naive
from tests.analyses.planted import (
    BLUR,
    CONDITIONS,
    DIRICHLET,
    HARD,
    SMOOTH,
    SOFT,
    find,
    losses_of,
    study,
)


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


def test_bands_hold_for_all_budgets_together(result):
    for budget in (1, 3, 10):
        row = find(result, "fraction", "kl", budget=budget, method="soft", baseline="hard")
        assert row.simultaneous_low < row.unc.low < row.unc.high < row.simultaneous_high
        # Bonferroni over three budgets is the widest that a max-t band can be (its critical value at the same df)
        width = (row.simultaneous_high - row.simultaneous_low) / (row.unc.high - row.unc.low)
        assert 1 < width < 2


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


def test_gap_closure_by_hand(panel, result):
    scores = losses_of(panel, "brier")
    mean = {c: np.mean([np.mean(cell) for split in z for cell in split]) for c, z in scores.items()}
    row = find(result, "gap_closure", "brier", budget=3)
    soft, other, top = mean[str(SOFT[1])], mean[str(DIRICHLET)], mean[str(SOFT[3])]
    assert row.curve == "model=m,method=dirichlet,alpha=0.5"
    assert row.unc.estimate == pytest.approx((soft - other) / (soft - top))
    assert row.denominator_p == pytest.approx(find(result, "shortfall", "brier", budget=3, method="soft").p)
    gain = find(result, "gap_difference", "brier", budget=3)
    assert gain.unc.estimate == pytest.approx(soft - other)
    assert gain.unc.low < gain.unc.estimate < gain.unc.high
    # one test, but for the degrees of freedom: those of the difference and those of the share
    assert gain.p == pytest.approx(row.p, abs=1e-3)
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
    [("q", (0.0,)), ("level", 1.0), ("design", "votes"), ("ragged", "some"), ("n_resamples", 1), ("margin", -1.0)],
)
def test_wrong_options_are_refused(panel, option, value):
    with pytest.raises(UsageError, match=option):
        saturation_curve(panel, metrics=["kl"], **{option: value})


def test_values_agree_with_evaluate(panel, result):
    """One statistic, one number, one interval: whichever command prints it."""
    own = evaluate(panel)
    for row in own.rows:
        ours = find(
            result, "value", row.metric, curve=str(row.condition.without("budget")), budget=row.condition.budget
        )
        assert ours.unc.estimate == pytest.approx(row.unc.estimate, rel=1e-12)
        assert ours.unc.low == pytest.approx(row.unc.low, rel=1e-9)
        assert ours.unc.high == pytest.approx(row.unc.high, rel=1e-9)


def test_ties_of_the_model_are_counted_where_the_top_label_matters(panel):
    """Two items of every split get two equal tops: 2 splits, 8 conditions, 3 seeds, 2 items."""
    probs = []
    for of_split in panel.probs:
        changed = of_split.copy()
        changed[:, :, :2] = [0.4, 0.4, 0.2]
        probs.append(changed)
    tied = dataclasses.replace(panel, probs=tuple(probs))
    rows = sum(p[..., 0].size for p in probs)
    expected = f"tied in {2 * 8 * 3 * 2} of {rows:,} predicted rows"
    for made in (saturation_curve(tied, metrics=["accuracy"]), evaluate(tied, metrics=["kl", "accuracy"])):
        (note,) = [n for n in made.notes if n.code == "model_ties"]
        assert expected in note.message
        assert note.message.endswith("(accuracy)")
    assert not [n for n in saturation_curve(tied, metrics=["kl"]).notes if n.code == "model_ties"]
    assert not [n for n in saturation_curve(panel, metrics=["accuracy"]).notes if n.code == "model_ties"]


def test_fractions_cell_by_cell(panel):
    made = saturation_curve(panel, metrics=["brier"], baselines=["hard"], by="cell")
    row = find(made, "fraction_cell_sd", "brier", budget=3, method="soft", baseline="hard")
    scores = losses_of(panel, "brier")
    cells = {c: [np.mean(cell) for split in z for cell in split] for c, z in scores.items()}
    ratios = [
        (b - a) / (b - top)
        for b, a, top in zip(cells[str(HARD)], cells[str(SOFT[1])], cells[str(SOFT[3])], strict=True)
    ]
    assert row.unc.estimate == pytest.approx(np.std(ratios, ddof=1))
    words = f"6 cells from {min(ratios):.3g} to {max(ratios):.3g}, mean {np.mean(ratios):.3g}"
    assert row.unc.reason == f"{words}: a diagnostic, needs no interval"
    assert not [r for r in made.rows if r.quantity == "fraction_cell_sd" and r.budget == 40]
    one = saturation_curve(study(splits=1, n_seeds=1), metrics=["brier"], by="cell")
    reasons = {r.unc.reason for r in one.rows if r.quantity == "fraction_cell_sd"}
    assert reasons == {"there is one cell only: nothing to compare"}
    with pytest.raises(UsageError, match="by is 'seed'"):
        saturation_curve(panel, by="seed")


def test_any_other_target_closes_a_share_of_the_gap_at_every_budget_it_shares_with_soft():
    ours = [Condition.of(model="m", method="ours", budget=b) for b in (3, 7, 10)]
    BLUR.update(dict(zip(ours, (0.3, 0.28, 0.22), strict=True)))
    made = saturation_curve(study(conditions=(HARD, *ours, *SOFT)), metrics=["brier", "accuracy"])
    for metric in ("brier", "accuracy"):
        rows = [r for r in made.rows if r.quantity == "gap_closure" and r.metric == metric]
        assert [(r.method, r.budget) for r in rows] == [("ours", 3), ("ours", 10)]  # soft has no budget 7
        for row in rows:
            gain = find(made, "gap_difference", metric, budget=row.budget)
            assert gain.p is not None
            assert gain.unc.low < gain.unc.estimate < gain.unc.high
            if row.unc.estimate is not None:
                assert row.p is not None
                left = find(made, "shortfall", metric, budget=row.budget, method="soft").unc.estimate
                assert row.unc.estimate == pytest.approx(gain.unc.estimate / left)
            else:
                assert row.unc.reason
