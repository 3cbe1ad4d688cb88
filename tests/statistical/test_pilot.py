"""The planted-law and thinning scripts: truths by hand, thinning takes votes that exist, one set foreseen."""

from __future__ import annotations

import numpy as np
import pytest

from saturation.analyses.labels.label_curve import label_curve
from saturation.results import Uncertainty
from tests.statistical import pilot, thinning
from tests.statistical.pilot import Key


def test_truths_of_the_planted_laws_by_hand():
    law = pilot.LAWS["one Dirichlet"]
    true = pilot.truths(law)
    # 1 - sum p^2 = (A / (A + 1)) (1 - sum pi^2), pi = (.45, .35, .2), A = 1.24; against 3 and 100 votes
    disagreement = 1.24 / 2.24 * (1 - 0.45**2 - 0.35**2 - 0.2**2)
    assert true[Key("value", "brier", 3)] == pytest.approx(disagreement * (1 / 3 + 1 / 100), rel=1e-12)
    assert 0 < true[Key("value", "entropy_correlation", 3)] < true[Key("value", "entropy_correlation", 100)] < 1
    assert set(true) >= set(pilot.KEYS)


def test_open_ends_hold_everything_on_their_side():
    class Row:
        unc = Uncertainty(None, low=5.0, high=None)

    assert pilot.holds(Row, 50.0) is True
    assert pilot.holds(Row, 4.0) is False
    Row.unc = Uncertainty(None)
    assert pilot.holds(Row, 4.0) is None


def test_thinning_takes_votes_that_exist():
    votes = thinning.plain(np.array([[3, 0, 4], [5, 0, 0], [1, 1, 0]]), ("a", "b", "c"))
    few = thinning.thinned(votes, 1, 3)
    assert len(few.counts) == 2  # the third item has two votes only
    assert (few.counts.sum(axis=1) == 3).all()
    assert (few.counts[:, 1] == 0).all()


@pytest.mark.realdata
def test_three_votes_foresee_the_brier_curve_of_a_real_set():
    """Second moments are all that Brier needs, and three votes show them whatever the law."""
    votes = thinning.load("ChaosNLI-MNLI")
    whole = label_curve(votes, metrics=["brier"], budgets=[1, 20])
    size = whole.settings["reference_size"]
    few = thinning.thinned(votes, 3, 3)
    foreseen = label_curve(few, metrics=["brier"], budgets=[20], estimator="model", reference_size=size)
    row = thinning.values(foreseen)["value", "brier", 20]
    full = thinning.values(whole)["value", "brier", 20].unc.estimate
    assert abs(row.unc.estimate - full) < 4 * row.unc.se
