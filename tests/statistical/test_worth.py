"""The planted study of ceilings and annotator equivalents runs, and its truths are where closed forms put them."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from tests.statistical import worth


def test_a_study_fills_the_tables():
    truth = worth.true_ceilings(20, n_items=20_000)
    tally = defaultdict(list)
    for number in range(3):
        worth.replicate(number, 20, 1, truth, tally)
    tables = {table for table, _, _ in tally}
    assert tables == {"worth", "ceiling", "distance 0"}
    held = [inside for values in tally.values() for inside, _ in values]
    assert np.mean(held) > 0.8  # 3 x 40 intervals that share studies: nominal .95, half of it would be a bug
    ratios = [value for (table, _, _), values in tally.items() if table == "ceiling" for _, value in values]
    assert np.median(ratios) == pytest.approx(1, abs=0.1)


def test_truths():
    """s^2/n with s^2 = A (1 - sum pi^2)/(A + 1): the Brier score of a model that knows the population."""
    truth = worth.true_ceilings(20, n_items=50_000)
    assert truth["noise_only", "brier"] == pytest.approx(1.24 * 0.62 / 2.24 / 20)
    generator = np.random.default_rng(0)
    p = worth.population(generator, 50_000)
    entropy = -(p * np.log(p)).sum(axis=1)
    assert truth["noise_only", "cross_entropy"] == pytest.approx(np.nanmean(entropy), rel=0.01)
