"""The default margin: what p itself would score against votes drawn from it, less what the votes' own shares score."""

import re
from itertools import product

import numpy as np
import pytest
from scipy import stats

from saturation.analyses.curve.saturation import saturation_curve
from saturation.metrics.agreement import base_rate
from tests.analyses.planted import find, study


def margin(panel, metric):
    row = find(saturation_curve(panel, metrics=[metric]), "n_star_noninferiority", metric)
    return row.margin, row.unc.reason


@pytest.mark.parametrize(("one", "other"), [("cross_entropy", "kl"), ("brier_vote", "brier")])
def test_metrics_that_differ_by_what_belongs_to_the_votes_have_one_margin(one, other):
    """CE = KL + H(h), and p cannot change H(h): the same noise in the same way, digit for digit but for rounding."""
    panel = study()
    mine, reason = margin(panel, one)
    assert mine == pytest.approx(margin(panel, other)[0], rel=1e-10)
    assert "closed form" in reason


def test_drawn_margins_state_their_error_and_agree_with_enumeration():
    """Four votes, three labels: E of the distance between p and its own votes, over all 15 outcomes of an item."""
    panel = study(votes=4, splits=1, n_items=40)
    mine, reason = margin(panel, "tvd")
    error = float(re.search(r"Monte Carlo error (\S+)\)", reason).group(1))
    counts = panel.votes.counts
    population = base_rate(counts)
    p = (counts + population.strength * population.distribution) / (4 + population.strength)
    outcomes = [c for c in product(range(5), repeat=3) if sum(c) == 4]
    exact = np.mean(
        [
            sum(stats.multinomial.pmf(c, 4, p[i]) * 0.5 * np.abs(np.array(c) / 4 - p[i]).sum() for c in outcomes)
            for i in panel.items_of_split[0]
        ]
    )
    assert 0 < error < 0.05 * exact
    assert mine == pytest.approx(exact, abs=5 * error)
