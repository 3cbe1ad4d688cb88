"""The sentences: one test a kind of answer. Expected words are written by hand from the rows beside them."""

from __future__ import annotations

import pytest

from saturation.analyses.fractions import BASELINE_IS_CEILING
from saturation.results import CurveRow, LabelCurveRow, Uncertainty
from saturation.studies.answers import NOT_TRAINING, how_many, label_answers, model_answers, real_curves

CURVE = "model=m,method=soft"
CEILING = "model=m,method=soft,budget=100"
BUDGETS = (1, 3, 10, 100)


def curve_row(quantity, unc, *, metric="kl", curve=CURVE, direction="lower", **more):
    return CurveRow(
        quantity=quantity, metric=metric, curve=curve, direction=direction, ceiling=CEILING, unc=unc, **more
    )


def share(budget, estimate, half=0.05, baseline="hard", **more):
    unc = Uncertainty(estimate, low=estimate - half, high=estimate + half, level=0.95, interval="fieller",
                      design="crossed")  # fmt: skip
    if estimate == 1:
        unc = Uncertainty(1.0, low=1.0, high=1.0, level=0.95, interval="exact")
    return curve_row("fraction", unc, budget=budget, baseline=baseline, **more)


def star(q, estimate=None, baseline="hard", censored=None, low=None, high=None, reason=None, **more):
    unc = Uncertainty(estimate, low=low, high=high, level=0.95, interval="fieller", design="crossed", reason=reason)
    return curve_row("n_star", unc, q=q, baseline=baseline, censored=censored, **more)


def shares(**more):
    return [share(b, f, **more) for b, f in zip(BUDGETS, (0.4, 0.95, 0.99, 1), strict=True)]


def only(rows):
    (answer,) = model_answers(rows)
    return answer


def test_a_budget_that_was_found():
    rows = [
        *shares(),
        star(0.9, 3.0, low=1.0, high=3.0, reason="in (1, 3]: the budgets between were not tried"),
        star(0.95, 10.0),
        curve_row("shortfall", Uncertainty(0.012, low=0.004, high=0.020, level=0.95), budget=3),
    ]
    found = only(rows)
    assert (found.short, found.kind, found.baseline, found.q) == ("3", "found", "hard", 0.9)
    answer = found.answer
    assert answer.headline == (
        "3 annotators per item keep at least 90% of the improvement over hard labels (95% one-sided)."
    )
    assert answer.detail == (
        "The next smaller budget tried, 1, is not shown to. "
        "The 95% interval of that number: above 1, at most 3. "
        "At 3 the share kept is 95% (95% interval 90% to 100%). "
        "What is left to the ceiling there: 0.0120 [0.0040, 0.0200] nats. "
        "Keeping 95% takes 10."
    )
    assert answer.assumption == f"The ceiling is {CEILING}. The intervals are for other items and training seeds."


def test_censored_above_says_that_only_the_ceiling_qualifies():
    rows = [*shares(), star(0.9, censored="above", reason="> 10: no budget tried below the ceiling is ...")]
    found = only(rows)
    assert found.short == "> 10"
    assert found.answer.headline == (
        "More than 10 annotators per item to keep at least 90% of the improvement over hard labels "
        "(95% one-sided): no budget tried below the ceiling, 100, is shown to."
    )
    assert "is shown to" not in found.answer.detail.replace("is not shown to", "")
    assert "At 10 the share kept is 99%" in found.answer.detail


def test_censored_above_on_a_curve_that_ends_below_the_ceiling():
    rows = [share(1, 0.2), share(3, 0.5), star(0.9, censored="above", reason="> 3: no budget of this curve ...")]
    found = only(rows)
    assert found.short == "> 3"
    assert found.answer.headline.endswith("no budget of this curve is shown to keep that much.")


def test_censored_below_says_at_most():
    rows = [share(3, 0.98), share(10, 0.99), star(0.9, censored="below", high=3.0, reason="<= 3: not tried")]
    found = only(rows)
    assert (found.short, found.kind) == ("≤ 3", "at most")
    assert found.answer.headline.startswith("3 annotators per item keep at least 90%")
    assert "It is the smallest budget tried, so fewer may do." in found.answer.detail
    assert "<=" not in found.answer.detail


def test_one_annotator_is_singular():
    found = only([*shares(), star(0.9, 1.0)])
    assert found.answer.headline.startswith("1 annotator per item keeps at least 90%")
    assert "smaller" not in found.answer.detail


def test_undefined_gives_the_reason_and_no_number():
    why = "undefined: the whole improvement from baseline to ceiling is not distinguishable from 0 (p = 0.4)"
    rows = [curve_row("fraction", Uncertainty(None, reason=why), budget=b, baseline="hard") for b in BUDGETS]
    found = only([*rows, star(0.9, reason=why)])
    assert (found.short, found.kind) == ("?", "undefined")
    assert found.answer.headline == (
        "No number can be given, because the whole improvement from baseline to ceiling is not distinguishable "
        "from 0 (p = 0.4)."
    )


def test_a_metric_without_direction():
    unc = Uncertainty(0.5, low=0.4, high=0.6, level=0.95)
    rows = [curve_row("value", unc, budget=b, metric="entropy", direction="none") for b in BUDGETS]
    found = only(rows)
    assert found.short == "?"
    assert "no better or worse" in found.answer.headline


def test_remarks_are_kept_and_grid_words_are_not_said_twice():
    reason = "in (1, 3]: the budgets between were not tried; one seed: training noise is not in this interval"
    detail = only([*shares(), star(0.9, 3.0, reason=reason)]).answer.detail
    assert detail.endswith("One seed: training noise is not in this interval.")
    assert "in (1" not in detail.lower()


def test_hard_labels_lead_and_the_other_baselines_follow():
    rows = [
        *shares(baseline="smallest"), *shares(baseline="hard"), *shares(baseline="smoothing[0.1]"),
        star(0.9, 10.0, baseline="smallest"), star(0.9, 3.0, baseline="hard"),
        star(0.9, censored="above", baseline="smoothing[0.1]"),
    ]  # fmt: skip
    found = only(rows)
    assert found.baseline == "hard"
    assert found.answer.detail.endswith(
        "The same share over the smallest budget takes 10; over label smoothing 0.1 takes more than 10."
    )


def test_a_baseline_that_is_the_ceiling_is_not_worth_a_sentence():
    rows = [*shares(), star(0.9, 3.0), star(0.9, baseline="hard[100]", reason=BASELINE_IS_CEILING)]
    assert "hard labels from 100 votes" not in only(rows).answer.detail


def test_unbounded_fieller_set_is_said():
    bad = share(3, 0.95)
    rows = [share(1, 0.4), share(10, 0.99), share(100, 1), star(0.9, 3.0)]
    unbounded = CurveRow(
        quantity="fraction", metric="kl", curve=CURVE, direction="lower", budget=3, baseline="hard", unc=bad.unc,
        fieller_shape="complement", fieller_low=0.2, fieller_high=0.7,
    )  # fmt: skip
    assert "everything outside 20% to 70%" in only([*rows, unbounded]).answer.detail


def test_one_budget_is_a_point_and_gets_no_answer():
    point = curve_row("value", Uncertainty(0.3), curve="model=m,method=hard")
    assert model_answers([point]) == []
    assert real_curves([point, *shares()]) == (CURVE,)


def test_the_longest_curve_comes_first():
    short = [share(b, 0.5, curve="model=m,method=dirichlet") for b in (3, 10)]
    assert real_curves([*short, *shares()]) == (CURVE, "model=m,method=dirichlet")


def label_row(quantity, unc, **more):
    common = {"metric": "brier", "target": "raw", "reference": "disjoint", "reference_size": 50, "direction": "lower"}
    return LabelCurveRow(quantity=quantity, unc=unc, **common | more)


def label_rows(interval="fieller"):
    unc = {1: 0.0, 10: 0.92, 50: 1.0}
    rows = []
    for budget, f in unc.items():
        kept = Uncertainty(f, low=f - 0.02, high=f + 0.02, level=0.95, interval=interval, design="items")
        rows.append(label_row("fraction", kept, budget=budget))
    value = Uncertainty(0.05, low=0.04, high=0.06, level=0.95, design="items")
    rows.append(label_row("value", value, budget=10, draw_low=0.03, draw_high=0.07))
    level = None if interval == "exact" else 0.95
    rows.append(label_row("n_star", Uncertainty(10.0, level=level, interval=interval), q=0.9))
    return rows


def test_labels_alone_are_about_noise_and_not_about_training():
    (found,) = label_answers(label_rows())
    assert found.answer.curve is None
    assert found.answer.headline == (
        "10 annotators per item keep at least 90% of what 50 votes gain over 1 vote (95% one-sided)."
    )
    assert found.answer.assumption == (
        f"{NOT_TRAINING} Scored against 50 other votes of the same items, none of them among the N. "
        "The intervals are for other items."
    )
    assert "One actual collection of that size would score between 0.030 and 0.070." in found.answer.detail


def test_one_budget_says_what_to_do():
    (found,) = label_answers([label_row("value", Uncertainty(0.3), budget=1)])
    assert "--reference plug_in" in found.answer.detail
    (found,) = label_answers([label_row("value", Uncertainty(0.3), budget=b, direction="none") for b in (1, 2)])
    assert found.answer.detail == ""


def test_one_other_vote_is_singular():
    row = label_row("value", Uncertainty(0.3), budget=1, reference_size=1)
    (found,) = label_answers([row])
    assert "Scored against 1 other vote of the same items, not among the N." in found.answer.assumption


def test_exact_values_say_that_they_need_no_interval():
    (found,) = label_answers(label_rows(interval="exact"))
    assert found.answer.headline.endswith("(exact for these items).")
    assert "92% (exact for these items, no interval needed)" in found.answer.detail


@pytest.mark.parametrize("unc", [Uncertainty(None, reason="raw is infinite"), Uncertainty(None)])
def test_no_fraction_at_all_still_answers(unc):
    (found,) = label_answers([label_row("value", unc, budget=1)])
    assert found.short == "?"
    assert found.answer.headline.startswith("No number can be given, because")
    assert "None" not in found.answer.headline


def test_no_sections_no_answers():
    assert how_many({}) == ()


def test_more_than_one_annotator_is_singular():
    rows = [share(1, 0.4), share(100, 1), star(0.9, censored="above")]
    assert only(rows).answer.headline.startswith("More than 1 annotator per item to keep")


@pytest.mark.parametrize(
    ("high", "reason", "words"),
    [
        (54.0, "by the power law; within the budgets tried, 1 to 100", "40.7 annotators (95% interval 29.9 to 54)."),
        (None, "by the power law; extrapolated: beyond the largest budget tried, 10",
         "40.7 annotators (95% interval 29.9 to any number), extrapolated: beyond the largest budget tried, 10."),
    ],
)  # fmt: skip
def test_the_fitted_curve_says_where_it_keeps_the_share(high, reason, words):
    fitted = Uncertainty(40.7, low=29.9, high=high, level=0.95, estimator="fit", reason=reason)
    rows = [
        *shares(),
        star(0.9, censored="above", reason="> 10: ..."),
        curve_row("n_star_fit", fitted, q=0.9, baseline="hard"),
        curve_row("n_star_fit", Uncertainty(7.0, low=5.0, high=9.0, level=0.95), q=0.9, baseline="smallest"),
    ]
    assert f"The fitted curve keeps it at {words}" in only(rows).answer.detail
    rows[-2] = curve_row("n_star_fit", Uncertainty(None, reason="no fit"), q=0.9, baseline="hard")
    assert "fitted curve" not in only(rows).answer.detail
