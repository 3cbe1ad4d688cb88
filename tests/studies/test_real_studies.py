"""A whole study on real votes: the tables against direct calls, and every number with an interval or a reason."""

from __future__ import annotations

import pytest

import saturation as sat
from saturation.conditions import Condition
from saturation.studies.study import study

pytestmark = pytest.mark.realdata
OPTIONS = {"metrics": ("kl", "entropy_correlation", "accuracy"), "n_resamples": 100}


@pytest.fixture(scope="module")
def panel(shared_data):
    folder = shared_data / "chaosnli_study"
    return sat.read_panel([folder / "vote_counts.parquet"], [folder / "predictions.parquet"])


@pytest.fixture(scope="module")
def result(panel):
    return study({"chaosnli": panel}, **OPTIONS)


def test_every_number_has_an_interval_or_a_reason(result):
    for rows in result.tables().values():
        for row in rows:
            assert row["estimate"] is not None or row["reason"] or row["censored"], row
            assert row["low"] is not None or row["reason"], row


def test_soft_labels_beat_every_smoothing_on_the_entropy_correlation(result):
    values = {row.condition: row.unc.estimate for row in result.main if row.metric == "entropy_correlation"}
    best = max(value for condition, value in values.items() if condition.method == "smoothing")
    soft = next(value for condition, value in values.items() if (condition.method, condition.budget) == ("soft", 100))
    assert (round(soft, 3), round(best, 3)) == (0.551, 0.519)  # as the study's notice says


def test_differences_agree_with_a_direct_comparison(result, panel):
    soft = Condition.of(**dict(next(c for c in panel.conditions if c.budget == 100).values))
    (row,) = [r for r in result.main if (r.metric, r.condition) == ("kl", soft)]
    direct = sat.compare(panel, a=str(soft), b="method=hard", metrics=("kl",), tests=[], n_resamples=100).rows[0]
    assert (row.difference, row.difference_low, row.p) == pytest.approx(
        (direct.unc.estimate, direct.unc.low, direct.p), rel=1e-9
    )
    assert (row.wins, row.n_cells_compared) == (9, 9)


def test_a_gain_that_is_not_there_is_a_reason(result):
    stars = [row for row in result.advice if (row.quantity, row.metric) == ("n_star", "accuracy")]
    assert stars
    assert all(row.unc.estimate is None and "not distinguishable from 0" in row.unc.reason for row in stars)
