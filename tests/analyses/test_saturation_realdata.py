"""The acceptance on the real study: ratios of means over nine cells, each with an interval."""

import pytest

from saturation.analyses.curve.saturation import saturation_curve
from saturation.tables.door import read_panel

pytestmark = pytest.mark.realdata

EXPECTED = {
    # mean over 9 cells of hard, N and N = 100 by independent code
    "kl": {1: 0.918, 3: 0.962, 10: 0.988},
    "entropy_correlation": {1: 0.802, 3: 0.939, 10: 1.001},
}


@pytest.fixture(scope="module")
def result(shared_data):
    folder = shared_data / "chaosnli_study"
    panel = read_panel([folder / "vote_counts.parquet"], [folder / "predictions.parquet"])
    return saturation_curve(panel)


def test_fractions_of_the_real_study(result):
    for metric, expected in EXPECTED.items():
        for budget, value in expected.items():
            (row,) = [
                r
                for r in result.rows
                if (r.quantity, r.metric, r.baseline, r.budget, r.method)
                == ("fraction", metric, "hard", budget, "soft")
            ]
            assert round(row.unc.estimate, 3) == value
            assert row.unc.low < row.unc.estimate < row.unc.high
            assert row.unc.interval == "fieller"
            assert (row.unc.n_items, row.unc.n_cells) == (1520, 9)
            assert row.denominator_p < 1e-6


def test_n_star_of_the_real_study(result):
    stars = {
        (r.metric, r.q): r.unc.estimate
        for r in result.rows
        if r.quantity == "n_star" and r.baseline == "hard" and r.method == "soft"
    }
    # one-sided lower bounds of kl: .893 at N = 1, .943 at 3, .962 at 5
    assert (stars["kl", 0.9], stars["kl", 0.95]) == (3, 5)


def test_every_number_or_a_reason(result):
    for row in result.rows:
        assert row.unc.estimate is not None or row.unc.reason
