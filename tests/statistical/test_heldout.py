"""A short version of the study of held-out votes and fitted temperatures."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.statistical import heldout

REPLICATIONS = 40
FEWEST = 33
"""Of 40 intervals that hold with .95, 32 or fewer do so once in 2,000 times."""


@pytest.mark.parametrize("setting", [(50, 1, False), (50, 1, True)])
def test_corrected_scores_against_held_out_votes_find_the_population(setting):
    truth, tally = heldout.truths(setting[0], 50_000), defaultdict(list)
    for number in range(REPLICATIONS):
        heldout.replicate(number, setting, truth, tally)
    for name in ("kl", "brier"):
        assert sum(tally["corrected", name]) >= FEWEST
        assert sum(tally["heldout - train", name]) >= FEWEST


def test_intervals_of_a_temperature_hold_the_planted_one():
    assert sum(heldout.temperature(number, 100, 20) for number in range(REPLICATIONS)) >= FEWEST
