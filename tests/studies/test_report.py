"""The report study: which analyses run, what is gathered, and the demo's comparison with the truth."""

from __future__ import annotations

import numpy as np
import pytest

import saturation as sat
from saturation.conditions import Condition
from saturation.results import CurveRow, DataSummary, EvaluateResult, EvaluateRow, SaturationResult, Uncertainty
from saturation.studies.answers import NOT_TRAINING
from saturation.studies.demo import Inside, inside, read_truth
from saturation.studies.report import make_report, merged_settings

DATA = DataSummary(n_items=2, n_labels=2, n_votes=4, votes_min=2, votes_max=2)


@pytest.fixture(scope="module")
def votes():
    counts = np.random.default_rng(5).multinomial(20, [0.5, 0.3, 0.2], size=60)
    return sat.votes_from_counts(counts, labels=("a", "b", "c"))


def test_votes_alone_give_the_label_side_and_say_so(votes):
    report = make_report(votes, metrics=("brier", "tvd"), n_resamples=50)
    assert list(report.sections) == ["ceiling", "label_curve"]
    assert [a.metric for a in report.answers] == ["brier", "tvd"]
    assert all(a.curve is None and NOT_TRAINING in a.assumption for a in report.answers)
    assert report.notes[0].code == "label_noise_only"
    assert report.settings["seed"] == 0


def test_the_report_repeats_the_analysis_it_rests_on(votes):
    report = make_report(votes, metrics=("brier",), n_resamples=50, rng=3)
    alone = sat.label_curve(votes, metrics=("brier",), n_resamples=50, rng=3)
    assert report.sections["label_curve"].records() == alone.records()


def test_unknown_options_raise(votes):
    with pytest.raises(sat.UsageError):
        make_report(votes, metrics=("no_such_metric",))


def test_settings_that_differ_stand_under_their_section():
    merged = merged_settings({"a": {"seed": 1, "design": "x"}, "b": {"seed": 1, "design": "y", "q": 0.9}})
    assert merged == {"seed": 1, "a": {"design": "x"}, "b": {"design": "y", "q": 0.9}}


def test_truths_are_counted_where_an_interval_and_a_truth_exist():
    """Values: one inside [0, 1], one outside. Fractions: 0.5 inside [0.4, 0.6]; the exact ceiling is left out."""
    soft = Condition.of(model="m", method="soft", budget=3)
    hard = Condition.of(model="m", method="hard")
    interval = Uncertainty(0.5, low=0.0, high=1.0, level=0.95)
    rows = tuple(EvaluateRow(metric="kl", condition=c, direction="lower", unc=interval) for c in (soft, hard))
    common = {"metric": "kl", "curve": "model=m,method=soft", "direction": "lower", "quantity": "fraction"}
    curve = (
        CurveRow(budget=3, baseline="hard", unc=Uncertainty(0.5, low=0.4, high=0.6, interval="fieller"), **common),
        CurveRow(budget=100, baseline="hard", unc=Uncertainty(1.0, low=1.0, high=1.0, interval="exact"), **common),
    )
    sections = {
        "evaluate": EvaluateResult(rows=rows, settings={}, data=DATA),
        "curve": SaturationResult(rows=curve, settings={}, data=DATA),
    }
    truth = {
        ("kl", "value", str(soft), 3, None): 0.2,
        ("kl", "value", str(hard), None, None): 1.5,
        ("kl", "fraction", "model=m,method=soft", 3, "hard"): 0.5,
        ("kl", "fraction", "model=m,method=soft", 100, "hard"): 1.0,
        ("brier", "value", str(hard), None, None): 0.5,
    }
    assert inside(sections, truth) == (Inside("value", 1, 2), Inside("fraction", 1, 1))


def test_truth_file_is_read_by_name(tmp_path):
    path = tmp_path / "truth.csv"
    path.write_text(
        "metric,quantity,condition,curve,budget,baseline,q,value,mc_se\n"
        'kl,value,"model=m,method=hard",,,,,0.7,0.1\n'
        'kl,fraction,,"model=m,method=soft",3,hard,,0.9,0.1\n'
        'kl,n_star,,"model=m,method=soft",,hard,0.9,3,\n'
    )
    assert read_truth(path) == {
        ("kl", "value", "model=m,method=hard", None, None): 0.7,
        ("kl", "fraction", "model=m,method=soft", 3, "hard"): 0.9,
    }
