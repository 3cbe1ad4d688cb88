"""Do the metrics differ? Sentences written by hand from the rows beside them."""

from __future__ import annotations

import math

import pytest

from saturation.results import CurveRow, Uncertainty
from saturation.studies import contrasts, gaps
from saturation.studies.contrasts import NOT_TOLD

SOFT = "model=m,method=soft"
OTHER = "model=m,method=dirichlet"


def row(quantity, unc, *, metric="kl", curve=SOFT, direction="lower", **more):
    return CurveRow(quantity=quantity, metric=metric, curve=curve, direction=direction, model="m", unc=unc, **more)


def difference(budget, estimate, half, pair=("kl", "brier"), baseline="hard"):
    """A difference of two shares with its band; the interval at one budget is narrower and must not be read."""
    unc = Uncertainty(estimate, low=estimate - half / 2, high=estimate + half / 2, level=0.95, interval="linearized_t")
    band = {"simultaneous_low": estimate - half, "simultaneous_high": estimate + half}
    return row("contrast_fraction", unc, metric=pair[0], metric_b=pair[1], baseline=baseline, budget=budget, **band)


def log_ratio(ratio, low, high, q=0.9, pair=("kl", "brier")):
    unc = Uncertainty(math.log(ratio), low=math.log(low), high=math.log(high), level=0.95, interval="linearized_t")
    return row("contrast_log_n_star", unc, metric=pair[0], metric_b=pair[1], baseline="hard", q=q)


def grid(baseline="hard"):
    """What makes a curve of two budgets with a headline baseline."""
    unc = Uncertainty(0.5, level=0.95)
    return [row("fraction", unc, budget=b, baseline=baseline) for b in (1, 3)]


def only(rows):
    (found,) = contrasts.metric_findings([*grid(), *rows])
    return found


def test_told_apart_where_the_band_excludes_zero_not_where_only_the_interval_does():
    """At 1: 20 +- 5 points. At 3: 4 +- 5, whose interval (1.5 to 6.5) excludes zero but whose band does not."""
    found = only([difference(1, 0.20, 0.05), difference(3, 0.04, 0.05)])
    assert found.told_apart
    assert (
        found.sentence
        == "KL divergence keeps more than Brier score at 1 annotator: 20 points more at 1 (95% band 15 to 25)."
    )


def test_the_metric_that_is_ahead_is_named_first():
    found = only([difference(1, -0.20, 0.05), difference(3, -0.10, 0.05), log_ratio(2.0, 1.6, 2.5)])
    assert found.sentence == (
        "Brier score keeps more than KL divergence at 1 and 3 annotators: 20 points more at 1 (95% band 15 to 25). "
        "To keep 90%, Brier score takes 0.50 times (95% interval 0.40 to 0.62) the annotators of KL divergence."
    )


def test_both_ways_are_both_said():
    found = only([difference(1, 0.20, 0.05), difference(3, -0.10, 0.05)])
    assert found.sentence == (
        "KL divergence keeps more than Brier score at 1 annotator: 20 points more at 1 (95% band 15 to 25). "
        "Brier score keeps more than KL divergence at 3 annotators: 10 points more at 3 (95% band 5 to 15)."
    )


def test_what_cannot_be_told_apart_is_never_said_to_be_the_same():
    found = only([difference(1, 0.04, 0.05), difference(3, -0.02, 0.03), log_ratio(0.9, 0.7, 1.2)])
    assert found.told_apart is False
    assert found.sentence == (
        f"KL divergence and Brier score {NOT_TOLD} at any budget tried: "
        "the largest difference is 4 points at 1 (95% band −1 to 9)."
    )
    assert "do not differ" not in found.sentence


def test_a_ratio_alone_can_tell_them_apart():
    found = only([difference(1, 0.04, 0.05), log_ratio(0.5, 0.4, 0.6)])
    assert found.told_apart
    assert found.sentence.endswith("the annotators of Brier score.")
    assert NOT_TOLD in found.sentence


def test_an_end_near_zero_keeps_its_sign():
    """0.3 to 7.7 points: without decimals the band would seem to begin at 0."""
    assert "95% band 0.3 to 7.7" in only([difference(1, 0.04, 0.037)]).sentence


def test_only_the_headline_baseline_is_told():
    found = only([difference(1, 0.20, 0.05), difference(1, -0.3, 0.05, baseline="smallest")])
    assert found.baseline == "hard"
    assert found.sentence.startswith("KL divergence keeps more")


def test_equal_by_arithmetic():
    unc = Uncertainty(0.0, interval="exact", reason="the two metrics differ by a factor")
    exact = row("contrast_fraction", unc, metric="tvd", metric_b="manhattan", budget=1, baseline="hard")
    found = only([exact])
    assert found.told_apart is False
    assert found.sentence == "Total variation distance and Manhattan distance: the two metrics differ by a factor."


def test_no_comparison_has_its_reason():
    unc = Uncertainty(None, reason="undefined: the denominator")
    found = only([row("contrast_fraction", unc, metric_b="brier", budget=1, baseline="hard")])
    assert found.told_apart is None
    assert found.sentence == "KL divergence and Brier score: no comparison, because the denominator."


def against_labels(budget, estimate, half, metric="accuracy"):
    made = difference(budget, estimate, half, pair=(metric, None), baseline="smallest")
    return row("contrast_labels", made.unc, metric=metric, budget=budget, baseline="smallest",
               simultaneous_low=made.simultaneous_low, simultaneous_high=made.simultaneous_high)  # fmt: skip


@pytest.mark.parametrize(("estimate", "when", "words"), [
    (0.2, "earlier", "20 points more of the gain from the smallest budget, 95% band 10 to 30"),
    (-0.2, "later", "20 points less of the gain from the smallest budget, 95% band 10 to 30"),
])  # fmt: skip
def test_model_against_labels(estimate, when, words):
    (found,) = contrasts.label_findings([against_labels(3, estimate, 0.1), against_labels(10, 0.01, 0.1)])
    assert found.told_apart
    assert found.sentence == f"Accuracy: the model saturates {when} than the labels alone, at 3 annotators ({words})."


def test_model_and_labels_that_cannot_be_told_apart():
    (found,) = contrasts.label_findings([against_labels(3, 0.05, 0.1), against_labels(10, -0.06, 0.1)])
    assert found.told_apart is False
    assert found.sentence == (
        f"Accuracy: model and labels alone {NOT_TOLD} at any budget tried; "
        "the largest difference is 6 points at 10 (95% band −4 to 16)."
    )


def gap_rows(p, left_p, soft=0.30, other=0.20, left=0.02, direction="lower"):
    unc = Uncertainty(0.75, low=0.48, high=1.02, level=0.95, interval="fieller")
    at = {"budget": 3, "direction": direction}
    return [
        row("gap_difference", Uncertainty(0.10 if direction == "lower" and other < soft else -0.10, low=0.05, high=0.15,
                                          level=0.95), curve=OTHER, method="dirichlet", p=p, **at),
        row("gap_closure", unc, curve=OTHER, method="dirichlet", p=p, **at),
        row("shortfall", Uncertainty(left, level=0.95), curve=OTHER, method="dirichlet", p=left_p, **at),
        row("shortfall", Uncertainty(0.5, level=0.95), method="soft", p=1e-9, **at),
    ]  # fmt: skip


@pytest.mark.parametrize(("more", "first", "second"), [
    ({"p": 0.0004, "left_p": 0.073}, "are better than soft targets (p < .001)",
     "cannot be told from the ceiling (p = .073)"),
    ({"p": 0.2, "left_p": 0.004}, "cannot be told from soft targets (p = .20)", "are short of the ceiling (p = .004)"),
    ({"p": 0.01, "left_p": 0.004, "other": 0.4, "left": -0.1}, "are worse than soft targets (p = .010)",
     "are beyond the ceiling (p = .004)"),
    ({"p": 0.01, "left_p": 0.5, "direction": "higher"}, "are worse than soft targets (p = .010)",
     "cannot be told from the ceiling (p = .50)"),
])  # fmt: skip
def test_gap_closure_says_both_tests_in_words(more, first, second):
    (found,) = gaps.gap_findings(gap_rows(**more))
    amount = "0.100" if more.get("other", 0.2) < 0.3 and "direction" not in more else "\u22120.100"
    assert found.sentence == (
        "At 3 annotators per item, dirichlet targets close 75% (95% interval 48% to 102%) of the gap in KL divergence "
        f"that soft targets leave to the ceiling, {amount} [0.050, 0.150] nats; they {first}; they {second}."
    )
    assert "does not close" not in found.sentence


def test_no_gap_no_share():
    reason = "undefined: the gap (p = 0.3)"
    about = {"curve": OTHER, "method": "dirichlet", "budget": 3}
    gap = row("gap_closure", Uncertainty(None, reason=reason), denominator_p=0.3, **about)
    (found,) = gaps.gap_findings([gap])
    assert found.told_apart is None
    assert "because the gap (p = 0.3)" in found.sentence
    assert gaps.gap_summaries([gap]) == [
        "At 3 annotators per item, dirichlet targets have no gap to close that could be told from zero in KL "
        "divergence."
    ]


def test_a_share_without_a_test_or_without_a_metric_is_not_said_to_be_no_gap():
    """Targets that agree on every item have a share of 0 and nothing to test it with; an undefined metric has none."""
    about = {"curve": OTHER, "method": "dirichlet", "budget": 3}
    same = row("gap_closure", Uncertainty(0.0, reason="no interval: it agrees"), denominator_p=0.001, **about)
    start = "At 3 annotators per item, dirichlet targets"
    assert gaps.gap_summaries([same]) == [f"{start} cannot be tested against soft ones in KL divergence."]
    gone = row("gap_closure", Uncertainty(None, reason="a side is constant"), **about)
    assert gaps.gap_summaries([gone]) == [f"{start} cannot be compared with soft ones in KL divergence."]


def test_a_summary_keeps_both_sides_of_a_curve_that_crosses():
    found = contrasts.label_findings([against_labels(2, 0.2, 0.05), against_labels(10, -0.2, 0.05)])
    assert contrasts.summary(found) == [
        "Accuracy: the model saturates earlier than the labels alone, at 2 annotators; the model saturates later than "
        "the labels alone, at 10 annotators."
    ]


def test_summaries_count_what_was_compared():
    pairs = [difference(1, 0.2, 0.05), difference(1, 0.01, 0.05, pair=("kl", "jsd"))]
    found = contrasts.metric_findings([*grid(), *pairs])
    labels = contrasts.label_findings([against_labels(3, 0.2, 0.1), against_labels(3, 0, 0.1, "entropy_correlation")])
    assert contrasts.summary([*found, *labels]) == [
        f"Of 2 pairs of metrics within one order, 1 is told apart at one budget or more; 1 {NOT_TOLD}.",
        "Accuracy: the model saturates earlier than the labels alone, at 3 annotators; "
        f"in entropy correlation, model and labels alone {NOT_TOLD}.",
    ]
    assert contrasts.summary(found[1:]) == [
        "Of 1 pair of metrics within one order, none can be told apart with these data."
    ]
    assert contrasts.summary([]) == []
