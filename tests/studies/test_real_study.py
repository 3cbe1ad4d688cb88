"""The report on real votes and a real study: its sentences agree with the rows, and everything is answered."""

from __future__ import annotations

import pytest

import saturation as sat
from saturation.report.folder import write_report
from saturation.studies.report import make_report

pytestmark = pytest.mark.realdata
METRICS = ("kl", "brier", "accuracy")


@pytest.fixture(scope="module")
def report(shared_data):
    folder = shared_data / "chaosnli_study"
    counts = [folder / "vote_counts.parquet"]
    panel = sat.read_panel(counts, [folder / "predictions.parquet"])
    return make_report(sat.read_votes(counts), panel, metrics=METRICS, n_resamples=200)


def test_every_metric_is_answered_for_the_models_and_for_the_labels(report):
    soft = [a.metric for a in report.answers if a.curve is not None]
    alone = [a.metric for a in report.answers if a.curve is None]
    assert soft == alone == list(METRICS)


def test_the_sentence_names_the_number_of_the_row(report):
    (row,) = [
        r for r in report.sections["curve"].rows
        if (r.quantity, r.metric, r.baseline, r.q) == ("n_star", "kl", "hard", 0.9)
    ]  # fmt: skip
    answer = report.answers[0]
    assert answer.headline.startswith(f"{row.unc.estimate:.0f} annotators per item keep at least 90%")


def test_a_gain_that_cannot_be_told_from_zero_is_not_turned_into_a_number(report):
    """Hard and soft targets are equally accurate in this study (p = .93), so there is no share of a gain."""
    accuracy = report.answers[2]
    assert accuracy.headline.startswith("No number can be given, because the whole improvement")


def test_the_page_is_written(report, tmp_path):
    page = write_report(report, tmp_path / "out").read_text()
    assert "1,520 items" in page
    assert "nan" not in page.lower().replace("finance", "")
