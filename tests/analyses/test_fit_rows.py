"""Fitted curves of a study: rows, predictions, and the asymptote as a ceiling."""

import dataclasses
import functools

import numpy as np
import pytest

from saturation.analyses.curve.saturation import saturation_curve
from saturation.conditions import Condition
from saturation.errors import UsageError
from tests.analyses.planted import BLUR, HARD, SOFT, find, study, undefined_rows_have_reasons

BUDGETS = (1, 2, 3, 5, 10, 20, 40)
CURVE = [Condition.of(model="m", method="soft", budget=b) for b in BUDGETS]
OTHER = Condition.of(model="m", method="dirichlet", budget=3, alpha=0.25)
BLUR.update({c: 0.15 + 0.6 * c.budget**-0.7 for c in CURVE if c not in BLUR} | {OTHER: 0.35})
FORMS = ("power", "exponential")


def many(**options):
    """A study with seven budgets whose blur falls as a power of N."""
    own = {c: BLUR[c] for c in CURVE}
    BLUR.update({c: 0.15 + 0.6 * c.budget**-0.7 for c in CURVE})
    made = study(conditions=(HARD, OTHER, *CURVE), **{"n_items": 150, **options})
    BLUR.update(own)
    return made


@pytest.fixture(scope="module")
def panel():
    return many()


@pytest.fixture(scope="module")
def result(panel):
    names = ["kl", "entropy_correlation"]
    return saturation_curve(panel, metrics=names, fits=FORMS, predict=(1, 30, 500))


@pytest.fixture(scope="module")
def fitted(panel):
    return saturation_curve(panel, metrics=["kl", "tvd", "entropy_correlation"], ceiling="asymptote", q=(0.9, 0.999))


def test_values_lie_on_the_fit_they_are_predicted_by(result):
    a = find(result, "fit_asymptote", "kl", baseline="power").unc
    c = find(result, "fit_exponent", "kl", baseline="power").unc
    at = {n: find(result, "fit_prediction", "kl", baseline="power", budget=n).unc for n in (1, 30, 500)}
    b = at[1].estimate - a.estimate
    for n in (30, 500):
        assert at[n].estimate == pytest.approx(a.estimate + b * n**-c.estimate, rel=1e-9)
    values = {n: find(result, "value", "kl", budget=n, method="soft").unc for n in BUDGETS}
    assert at[1].estimate == pytest.approx(values[1].estimate, abs=2 * values[1].se)
    assert values[40].estimate > a.low
    assert (a.estimator, a.interval, a.design) == ("fit", "profile", "crossed")
    assert a.low < a.estimate < a.high
    assert a.se > 0


def test_predictions_say_whether_they_are_extrapolated(result):
    for metric in ("kl", "entropy_correlation"):
        inside = find(result, "fit_prediction", metric, baseline="power", budget=30).unc.reason
        beyond = find(result, "fit_prediction", metric, baseline="power", budget=500).unc.reason
        assert inside.startswith("within the budgets tried, 1 to 40")
        assert beyond.startswith("extrapolated: beyond the largest budget tried, 40")


def test_correlations_are_fitted_on_the_loss_scale_and_printed_in_their_own(result):
    a = find(result, "fit_asymptote", "entropy_correlation", baseline="power").unc
    values = [find(result, "value", "entropy_correlation", budget=n, method="soft").unc.estimate for n in BUDGETS]
    assert values[-1] - 0.02 < a.estimate < 1
    assert a.low < a.estimate < a.high
    assert "the metric negated" in a.reason


def test_the_smaller_aicc_is_preferred_in_words(result):
    power, exponential = (find(result, "fit_aicc", "kl", baseline=name).unc for name in FORMS)
    assert power.estimate < exponential.estimate - 2
    words = (
        f"power law preferred: its AICc is {exponential.estimate - power.estimate:.3g} below that of the exponential"
    )
    assert power.reason.startswith(words)
    assert exponential.reason.startswith(words)


def test_fits_leave_all_other_rows_alone(panel, result):
    bare = saturation_curve(panel, metrics=["kl", "entropy_correlation"])
    assert tuple(r for r in result.rows if not r.quantity.startswith("fit_")) == bare.rows


def test_four_budgets_give_the_reason():
    made = saturation_curve(study(), metrics=["kl"], fits=["power"], ceiling="asymptote")
    undefined_rows_have_reasons(made)
    why = "a curve of three numbers needs at least 5 budgets; this one has 4"
    assert why in find(made, "fit_asymptote", "kl", baseline="power").unc.reason
    for quantity in ("shortfall", "fraction", "n_star", "n_star_fit"):
        rows = [r for r in made.rows if r.quantity == quantity]
        assert rows
        assert all(r.unc.estimate is None and why in r.unc.reason for r in rows if r.method == "soft"), quantity


@pytest.mark.parametrize(("option", "value"), [("fits", ["cubic"]), ("predict", [0]), ("ragged", "per-budget")])
def test_wrong_options_are_refused(panel, option, value):
    with pytest.raises(UsageError, match=str(value[0] if isinstance(value, list) else value)):
        saturation_curve(panel, metrics=["kl"], **{"fits": ["power"], option: value})


def test_predictions_alone_ask_for_both_forms(panel):
    made = saturation_curve(panel, metrics=["kl"], predict=[80])
    assert {r.baseline for r in made.rows if r.quantity == "fit_prediction"} == set(FORMS)
    assert made.settings["fits"] == list(FORMS)


def test_fractions_over_the_asymptote_by_hand(result, fitted):
    a = find(result, "fit_asymptote", "kl", baseline="power").unc.estimate
    value = {n: find(result, "value", "kl", budget=n, method="soft").unc.estimate for n in BUDGETS}
    hard = find(result, "value", "kl", method="hard").unc.estimate
    for n in BUDGETS:
        row = find(fitted, "fraction", "kl", budget=n, method="soft", baseline="hard")
        assert row.unc.estimate == pytest.approx((hard - value[n]) / (hard - a), rel=1e-7)
        assert row.ceiling == "asymptote of model=m,method=soft"
    short = find(fitted, "shortfall", "kl", budget=40, method="soft").unc
    assert short.estimate == pytest.approx(value[40] - a, rel=1e-6)
    assert short.low < short.estimate < short.high
    gap = find(fitted, "gap_closure", "kl", budget=3).unc.estimate
    other = find(result, "value", "kl", budget=3, method="dirichlet").unc.estimate
    assert gap == pytest.approx((value[3] - other) / (value[3] - a), rel=1e-6)
    assert any(note.code == "fitted_ceiling" for note in fitted.notes)
    assert {r.ceiling for r in fitted.rows if r.quantity.startswith("fit_")} == {None}
    assert {r.ceiling for r in fitted.rows if r.quantity == "n_star"} == {"asymptote of model=m,method=soft"}


def test_metrics_without_the_ceiling_are_as_before(panel, fitted):
    plain = saturation_curve(panel, metrics=["kl", "tvd", "entropy_correlation"])
    for quantity in ("value", "gain", "label_value", "label_fraction", "contrast_labels"):
        ours = [dataclasses.replace(r, ceiling=None) for r in fitted.rows if r.quantity == quantity]
        theirs = [dataclasses.replace(r, ceiling=None) for r in plain.rows if r.quantity == quantity]
        assert ours == theirs, quantity


def test_the_asymptotes_uncertainty_is_carried_by_delete_one_item():
    """The delta method against brute force: leave out every item, fit again; one split and one seed."""
    one = many(n_items=60, n_seeds=1, splits=1)
    n_items = len(one.items_of_split[0])

    def numbers(kept):
        part = dataclasses.replace(
            one, items_of_split=(one.items_of_split[0][kept],), probs=(one.probs[0][:, :, kept],)
        )
        made = saturation_curve(part, metrics=["kl"], baselines=["hard"], ceiling="asymptote", q=(0.9,))
        return [
            find(made, "fraction", "kl", budget=5, method="soft", baseline="hard").unc,
            find(made, "shortfall", "kl", budget=10, method="soft").unc,
        ]

    every = np.arange(n_items)
    whole = numbers(every)
    deleted = np.array([[unc.estimate for unc in numbers(np.delete(every, i))] for i in range(n_items)])
    jackknife = (n_items - 1) / n_items * ((deleted - deleted.mean(axis=0)) ** 2).sum(axis=0)
    for unc, variance in zip(whole, jackknife, strict=True):
        assert unc.se == pytest.approx(variance**0.5, rel=0.25)


def test_n_star_of_the_fit_may_lie_beyond_the_grid(result, fitted):
    a = find(result, "fit_asymptote", "kl", baseline="power").unc.estimate
    c = find(result, "fit_exponent", "kl", baseline="power").unc.estimate
    b = find(result, "fit_prediction", "kl", baseline="power", budget=1).unc.estimate - a
    hard = find(result, "value", "kl", method="hard").unc.estimate
    for q in (0.9, 0.999):
        star = find(fitted, "n_star_fit", "kl", q=q, baseline="hard", method="soft").unc
        # (1 - q) (l_hard - a) = b N^-c
        assert star.estimate == pytest.approx((b / ((1 - q) * (hard - a))) ** (1 / c), rel=1e-4)
        assert star.low < star.estimate
        assert star.high is None or star.estimate < star.high
        assert star.reason.startswith("by the power law; ")
        assert ("extrapolated: beyond the largest budget tried, 40" in star.reason) == (star.estimate > 40)
    assert find(fitted, "n_star_fit", "kl", q=0.9, baseline="hard", method="soft").unc.high < 40
    assert find(fitted, "n_star_fit", "kl", q=0.999, baseline="hard", method="soft").unc.estimate > 40
    assert find(fitted, "n_star", "kl", q=0.999, baseline="hard", method="soft").censored == "above"


def test_many_seeds_carry_the_asymptote_through_every_resample():
    one = many(n_seeds=10, n_items=60, splits=1)
    made = saturation_curve(one, metrics=["kl", "tvd"], ceiling="asymptote", n_resamples=500)
    row = find(made, "fraction", "kl", budget=5, method="soft", baseline="hard")
    assert row.unc.interval == "percentile"
    assert row.unc.low == pytest.approx(row.fieller_low, abs=0.25 * (row.unc.high - row.unc.low))
    squares = find(made, "contrast_fraction", "kl", metric_b="tvd^2", budget=5, baseline="hard").unc
    assert squares.low < squares.estimate < squares.high


def test_soft_curve_of_two_budgets_beside_a_longer_one_has_no_asymptote():
    ours = [Condition.of(model="m", method="ours", budget=b) for b in BUDGETS]
    BLUR.update({c: 0.15 + 0.6 * c.budget**-0.7 for c in ours})
    made = saturation_curve(study(conditions=(HARD, *ours, SOFT[3])), metrics=["kl"], ceiling="asymptote")
    undefined_rows_have_reasons(made)
    reasons = {r.unc.reason for r in made.rows if r.quantity == "shortfall"}
    assert reasons == {"no asymptote: model=m,method=soft has one budget only"}


@functools.cache
def degenerate_studies():
    """Every way in which there is nothing to fit, by name."""
    plain = many(n_items=30, n_seeds=1, splits=1)
    counts = np.zeros_like(plain.votes.counts)
    counts[:, 0] = 40
    flat = tuple(np.broadcast_to([0.5, 0.3, 0.2], p.shape).copy() for p in plain.probs)
    tied = tuple(p.copy() for p in plain.probs)
    at = [plain.conditions.index(CURVE[b]) for b in (3, 4)]
    for probs in tied:
        probs[at[1]] = probs[at[0]]
    return {
        "one item": many(n_items=1, splits=1),
        "two items": many(n_items=3, splits=1),
        "unanimous": dataclasses.replace(plain, votes=dataclasses.replace(plain.votes, counts=counts)),
        "constant model": dataclasses.replace(plain, probs=flat),
        "two budgets tied everywhere": dataclasses.replace(plain, probs=tied),
        "one vote an item": many(n_items=30, votes=1),
        "two labels": many(n_items=30, n_labels=2),
    }


@pytest.mark.parametrize("ceiling", [None, "asymptote"])
@pytest.mark.parametrize("name", degenerate_studies())
def test_where_there_is_nothing_to_fit_there_is_a_reason(name, ceiling):
    one = degenerate_studies()[name]
    names = ["kl", "tvd", "entropy_correlation", "accuracy", "entropy"]
    made = saturation_curve(one, metrics=names, fits=FORMS, predict=(100,), ceiling=ceiling)
    undefined_rows_have_reasons(made)
    rows = [r for r in made.rows if r.quantity.startswith("fit_") or r.quantity == "n_star_fit"]
    assert rows
    for row in rows:
        for number in (row.unc.estimate, row.unc.low, row.unc.high, row.unc.se):
            assert number is None or np.isfinite(number), row
    if name == "two budgets tied everywhere":
        reason = find(made, "fit_asymptote", "kl", baseline="power").unc.reason
        assert reason.startswith("no fit: two budgets agree on every item")


@pytest.mark.parametrize("ceiling", [None, "asymptote"])
def test_other_metrics_and_threads_change_no_digit(panel, ceiling):
    more = {"fits": FORMS, "predict": (100,), "ceiling": ceiling, "baselines": ["hard"]}
    alone = saturation_curve(panel, metrics=["kl"], threads=1, **more)
    beside = saturation_curve(panel, metrics=["tvd", "kl"], threads=2, **more)
    assert [r for r in beside.rows if r.metric == "kl" and r.metric_b is None] == [
        r for r in alone.rows if r.metric_b is None
    ]
