"""Models and data sets side by side: against loops over items, and by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import special

from saturation.analyses.across.differences import (
    AGREE,
    MOVER,
    agrees,
    fraction_rows,
    independent,
    value_rows,
    without_spread,
)
from saturation.analyses.across.ranks import rank_rows
from saturation.analyses.across.sides import main_curve, sides_of
from saturation.analyses.across.steps import steps_of
from saturation.analyses.curve.curves import curves_of
from saturation.analyses.curve.saturation import saturation_curve
from saturation.analyses.fractions import Fraction
from saturation.analyses.joint import Answer
from saturation.conditions import Condition
from saturation.metrics.catalogue import metrics_of
from saturation.resampling.intervals import Interval
from tests import naive
from tests.analyses import planted
from tests.analyses.planted import find, losses_of

METRICS = ("kl", "brier", "tvd")


def of(model, method="soft", budget=None):
    return Condition.of(model=model, method=method, budget=budget)


BLURS = {
    of("m", "hard"): 0.9, of("m", budget=1): 0.6, of("m", budget=3): 0.4, of("m", budget=10): 0.25,
    of("m", budget=40): 0.2,
    of("n", "hard"): 1.0, of("n", budget=1): 0.9, of("n", budget=3): 0.7, of("n", budget=10): 0.35,
    of("n", budget=40): 0.3,
}  # fmt: skip


def two_models(seed=0, conditions=tuple(BLURS), **more):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planted, "BLUR", BLURS)
        return planted.study(seed=seed, conditions=conditions, **more)


def sides(panel, data="d", metrics=METRICS, level=0.95, ceiling=None):
    return sides_of(data, panel, metrics_of(metrics), ceiling=ceiling, level=level, seed=0, threads=1)


@pytest.fixture(scope="module")
def panel():
    return two_models()


def mean(cells):
    return float(np.mean([np.mean(seed) for split in cells for seed in split]))


def combined(weights, scores):
    """[split][seed][item] of a weighted sum of conditions."""
    names = list(weights)
    first = scores[names[0]]
    return [
        [
            [sum(weights[n] * scores[n][s][t][i] for n in names) for i in range(len(first[s][t]))]
            for t in range(len(first[s]))
        ]
        for s in range(len(first))
    ]


def fraction_weights(scores, model, budget):
    """The fraction over hard labels, and what each item adds to it: (num - f den) / mean den."""
    hard, here, top = (str(c) for c in (of(model, "hard"), of(model, budget=budget), of(model, budget=40)))
    under = mean(scores[hard]) - mean(scores[top])
    f = (mean(scores[hard]) - mean(scores[here])) / under
    return f, {hard: (1 - f) / under, here: -1 / under, top: f / under}


def limits(estimate, z, panel, level=0.95):
    spread = naive.few_seeds_variance(z, panel.items_of_split)
    half = special.stdtrit(spread["df"], (1 + level) / 2) * spread["variance"] ** 0.5
    return estimate - half, estimate + half


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("budget", [1, 10])
def test_fractions_of_two_models_differ_as_loops_say(panel, metric, budget):
    scores = losses_of(panel, metric)
    (f_m, w_m), (f_n, w_n) = (fraction_weights(scores, model, budget) for model in "mn")
    z = combined(w_m | {name: -w for name, w in w_n.items()}, scores)
    (row,) = [r for r in fraction_rows(*sides(panel), "hard") if (r.metric, r.budget) == (metric, budget)]
    assert row.unc.estimate == pytest.approx(f_m - f_n, rel=1e-9)
    assert (row.unc.low, row.unc.high) == pytest.approx(limits(f_m - f_n, z, panel), rel=1e-7)
    assert (row.p < 0.05) == (row.unc.low > 0 or row.unc.high < 0)
    assert row.simultaneous_low < row.unc.low < row.unc.high < row.simultaneous_high
    assert (row.paired, row.model, row.model_b, row.baseline) == (True, "m", "n", "hard")


@pytest.mark.parametrize("metric", ["brier", "soft_accuracy"])
def test_values_of_two_models_differ_in_the_metrics_own_units(panel, metric):
    scores = losses_of(panel, "brier" if metric == "brier" else "tvd")
    scale = 1 if metric == "brier" else -1  # soft accuracy is 1 - tvd
    weights = {str(of("m", budget=3)): scale, str(of("n", budget=3)): -scale}
    z = combined(weights, scores)
    (row,) = [r for r in value_rows(*sides(panel, metrics=(metric,))) if r.budget == 3]
    assert row.unc.estimate == pytest.approx(mean(z), rel=1e-9)
    assert (row.unc.low, row.unc.high) == pytest.approx(limits(mean(z), z, panel), rel=1e-7)
    assert row.simultaneous_low < row.unc.low < row.unc.high < row.simultaneous_high


def test_the_ceiling_itself_is_not_compared_as_a_share(panel):
    assert {row.budget for row in fraction_rows(*sides(panel), "hard")} == {1, 3, 10}
    assert {row.budget for row in fraction_rows(*sides(panel), "smallest")} == {3, 10}  # 0 by definition at 1
    assert {row.budget for row in value_rows(*sides(panel))} == {1, 3, 10, 40}


def test_on_different_items_the_limits_of_both_fractions_are_combined(panel):
    other = two_models(seed=1)
    one, another = sides(panel, "d")[0], sides(other, "e")[0]
    rows = list(fraction_rows(one, another, "hard"))
    a, b = saturation_curve(panel, metrics=METRICS), saturation_curve(other, metrics=METRICS)
    for row in rows:
        first, second = (
            find(result, "fraction", row.metric, budget=row.budget, curve=row.curve, baseline="hard").unc
            for result in (a, b)
        )
        down = ((first.estimate - first.low) ** 2 + (second.high - second.estimate) ** 2) ** 0.5
        up = ((first.high - first.estimate) ** 2 + (second.estimate - second.low) ** 2) ** 0.5
        gap = first.estimate - second.estimate
        assert row.unc.estimate == pytest.approx(gap, rel=1e-9)
        assert (row.unc.low, row.unc.high) == pytest.approx((gap - down, gap + up), rel=1e-7)
        assert (row.paired, row.p, row.unc.interval, row.unc.reason) == (False, None, "mover", MOVER)
        assert row.unc.n_items == first.n_items + second.n_items
    assert len(rows) == len(METRICS) * 3


def test_an_undefined_fraction_is_a_reason_with_the_name_of_its_side(panel):
    one, other = sides(panel, "d")[0], sides(two_models(seed=1), "e")[0]
    gone = Fraction(None, 0.0, 0.0, reason="no improvement")
    known = Fraction(0.5, 1.0, 2.0, low=0.4, high=0.6)
    open_ended = Fraction(0.5, 1.0, 2.0)
    assert independent(one, other, known, gone).reason == "e: no improvement"
    assert independent(one, other, gone, known).estimate is None
    made = independent(one, other, known, open_ended)
    assert (made.estimate, made.low, made.reason) == (0.0, None, "no interval: the fraction has none on e")


@pytest.mark.parametrize("budgets", [(1, 3), (10, 40)])
def test_a_step_is_the_gain_to_the_next_budget(panel, budgets):
    scores = losses_of(panel, "kl")
    here, after = (str(of("n", budget=b)) for b in budgets)
    z = combined({here: 1, after: -1}, scores)
    (step,) = [s for s in steps_of(sides(panel)[1]) if (s.metric, s.budget, s.budget_next) == ("kl", *budgets)]
    assert step.unc.estimate == pytest.approx(mean(scores[here]) - mean(scores[after]), rel=1e-9)
    assert (step.unc.low, step.unc.high) == pytest.approx(limits(step.unc.estimate, z, panel), rel=1e-7)


def test_steps_of_a_metric_that_is_better_when_higher_are_positive_gains(panel):
    higher, lower = ([s.unc for s in steps_of(sides(panel, metrics=(m,))[0])] for m in ("soft_accuracy", "tvd"))
    assert [one.estimate for one in higher] == pytest.approx([one.estimate for one in lower], rel=1e-9)
    assert higher[0].estimate > 0


@pytest.mark.parametrize(("n_items", "seed"), [(60, 0), (40, 0), (25, 1)])
def test_rank_agreement_counts_pairs_and_leaves_open_those_not_told_apart(n_items, seed):
    """tau and its limits by loops: a pair is known where both differences exclude 0 at 1 - .05 / (2 pairs)."""
    panel = two_models(seed=seed, n_items=n_items)
    first, second = sides(panel)
    pairs = list(combinations(METRICS, 2))
    level = 1 - 0.05 / (2 * len(pairs))
    for row in rank_rows(first, second, "hard"):
        agree, known = [], []
        for one, other in pairs:
            signs, sure = [], []
            for model in "mn":
                f, z = 0.0, None
                for metric, side in ((one, 1), (other, -1)):
                    scores = losses_of(panel, metric)
                    own, weights = fraction_weights(scores, model, row.budget)
                    f += side * own
                    added = combined({name: side * w for name, w in weights.items()}, scores)
                    z = (
                        added
                        if z is None
                        else [
                            [[p + q for p, q in zip(x, y, strict=True)] for x, y in zip(u, v, strict=True)]
                            for u, v in zip(z, added, strict=True)
                        ]
                    )
                low, high = limits(f, z, panel, level)
                signs.append(np.sign(f))
                sure.append(low > 0 or high < 0)
            agree.append(signs[0] * signs[1])
            known.append(all(sure))
        told = sum(a for a, k in zip(agree, known, strict=True) if k)
        open_pairs = len(pairs) - sum(known)
        assert row.unc.estimate == pytest.approx(sum(agree) / len(pairs))
        assert row.unc.low == pytest.approx((told - open_pairs) / len(pairs))
        assert row.unc.high == pytest.approx((told + open_pairs) / len(pairs))
        assert f"of {len(pairs)} pairs of metrics {sum(known)} are told apart" in row.unc.reason


def test_one_metric_has_no_order(panel):
    (row, *_) = rank_rows(*sides(panel, metrics=("kl",)), "hard")
    assert row.unc.estimate is None
    assert "fewer than two metrics" in row.unc.reason


def test_the_main_curve_is_soft_and_a_single_budget_is_no_side():
    known = (of("m", "hard"), of("m", "dirichlet", 1), of("m", "dirichlet", 3), of("m", "dirichlet", 5),
             of("m", budget=1), of("m", budget=3), of("n", "hard"), of("n", budget=3))  # fmt: skip
    curves = curves_of(known, None)
    assert main_curve(curves, "m").text == "model=m,method=soft"
    assert main_curve(curves, "n") is None
    alone = two_models(conditions=(of("m", "hard"), of("m", budget=1), of("m", budget=40), of("n", "hard")))
    assert [side.model for side in sides(alone)] == ["m"]


def test_a_constant_model_is_a_reason_and_never_a_number(panel):
    flat = tuple(np.where(np.arange(10)[:, None, None, None] >= 5, 1 / 3, probs) for probs in panel.probs)
    constant = replace(panel, probs=flat)
    rows = list(fraction_rows(*sides(constant), "hard"))
    assert rows
    assert all(row.unc.estimate is None and row.unc.reason.startswith("n: undefined") for row in rows)
    assert all(row.unc.reason for row in rank_rows(*sides(constant), "hard"))


def twins(panel):
    """Model n predicts what model m does, and its budgets 1 and 3 are the same."""
    probs = tuple(np.concatenate([one[:5], one[:5]]) for one in panel.probs)
    for one in probs:
        one[7] = one[6]  # hard, 1, 3, 10, 40
    return replace(panel, probs=tuple(one.copy() for one in probs))


def test_what_agrees_everywhere_has_no_interval_and_no_p(panel):
    """Equal but for rounding: nothing may be read from a variance of 1e-34."""
    one, other = sides(twins(panel), metrics=("kl", "entropy_correlation", "accuracy"))
    rows = [*fraction_rows(one, other, "hard"), *value_rows(one, other)]
    alike = [row for row in rows if row.budget in (10, 40) or (row.metric == "accuracy" and row.unc.estimate == 0)]
    assert len(alike) >= 3 * 3
    for row in alike:
        assert row.unc.estimate in (0.0, None)
        assert (row.unc.low, row.unc.high, row.p) == (None, None, None)
        assert row.unc.reason
    still = [step for step in steps_of(other) if step.budget == 1]
    assert [(step.unc.estimate, step.unc.low, step.p) for step in still] == [(0.0, None, None)] * 3
    assert all(step.unc.reason for step in still)
    moving = [step for step in steps_of(one) if step.budget == 1 and step.metric == "kl"]
    assert moving[0].unc.low is not None


def test_a_shift_that_is_the_same_on_every_item_is_a_number_without_an_interval(panel):
    one, other = sides(panel, metrics=("brier",))
    shifted = Answer(0.25, Interval(0.25, 0.25, "linearized_t"), 1e-18, 0.0)
    made = without_spread(one.study, shifted, [0.1, 0.1], -1.0)
    assert agrees(shifted, [0.1, 0.1])
    assert (made.estimate, made.low, made.reason) == (-0.25, None, AGREE)
    assert not agrees(shifted, [1e-13])
    assert not agrees(Answer(0.25, Interval(None, None, "none", "one item"), None, None), [0.1])
    assert other.model == "n"


def test_two_metrics_that_always_agree_have_no_order(panel):
    """Total variation and soft accuracy give the same fractions: their pair is never known."""
    (row, *_) = rank_rows(*sides(panel, metrics=("tvd", "soft_accuracy")), "hard")
    assert (row.unc.estimate, row.unc.low, row.unc.high) == (0.0, -1.0, 1.0)


def test_one_item_gives_reasons():
    panel = two_models(n_items=1, splits=1, n_seeds=1)
    for row in (*fraction_rows(*sides(panel), "hard"), *value_rows(*sides(panel))):
        assert row.unc.low is None
        assert row.unc.reason
    assert all(step.unc.reason for step in steps_of(sides(panel)[0]))
