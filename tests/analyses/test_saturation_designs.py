"""What is redrawn: items, seeds and annotators."""

import dataclasses

import numpy as np
import pytest
from scipy import special

from saturation.analyses.curve.saturation import saturation_curve
from saturation.analyses.losses import losses_of as losses_table
from saturation.metrics.catalogue import metrics_of
from saturation.resampling.linearized import covariance
from saturation.tables.panel import Ballots
from tests import naive
from tests.analyses.planted import (
    SOFT,
    find,
    study,
)


def test_many_seeds_are_resampled():
    """Independent weights on items and seeds give V_items + V_seeds + V_e (the residual is seen by both)."""
    one = study(n_seeds=10, n_items=90)
    made = saturation_curve(one, metrics=["kl"], n_resamples=3000)
    assert made.settings["inference"] == "bootstrap"
    losses = losses_table(one, metrics_of(["kl"]))
    parts = covariance(losses.influence)
    at, top = one.conditions.index(SOFT[1]), one.conditions.index(SOFT[3])
    gap = losses.difference(0, at, top)
    expected = sum(gap @ part @ gap for part in (parts.items, parts.seeds, parts.error))
    row = find(made, "shortfall", "kl", budget=3, method="soft")
    assert row.unc.interval == "percentile"
    assert row.unc.n_resamples == 3000
    assert row.unc.se**2 == pytest.approx(expected, rel=0.15)  # the variance of 3000 resamples is known to 2.6%
    assert row.unc.high - row.unc.low == pytest.approx(2 * 1.96 * row.unc.se, rel=0.1)
    fraction = find(made, "fraction", "kl", budget=10, method="soft", baseline="hard")
    assert fraction.unc.interval == "percentile"
    assert fraction.fieller_shape == "bounded"
    assert fraction.unc.low == pytest.approx(fraction.fieller_low, abs=0.1 * (fraction.unc.high - fraction.unc.low))
    assert fraction.p < 0.05


def test_seeds_are_drawn_within_splits_the_same_for_every_condition():
    """Every condition of one seed is pulled towards uniform alike: values vary with the seeds, differences hardly."""
    one = study(n_seeds=10, n_items=90)
    pull = np.linspace(0, 0.6, 10)[None, :, None, None]
    one = dataclasses.replace(one, probs=tuple((1 - pull) * p + pull / 3 for p in one.probs))
    losses = losses_table(one, metrics_of(["tvd"]))
    parts = covariance(losses.influence)
    top = one.conditions.index(SOFT[3])
    unit = losses.unit(0, top)
    assert unit @ parts.seeds @ unit > 1.5 * (unit @ parts.items @ unit)
    row = find(saturation_curve(one, metrics=["tvd"], n_resamples=3000), "value", "tvd", budget=40, method="soft")
    # the bootstrap over 10 seeds has 9/10 of the unbiased variance
    expected = unit @ parts.items @ unit + 0.9 * (unit @ parts.seeds @ unit) + unit @ parts.error @ unit
    assert row.unc.se**2 == pytest.approx(expected, rel=0.12)


def test_threads_rows_and_order_of_conditions_change_no_number(panel):
    more = {"metrics": ["kl", "accuracy"], "design": "crossed", "n_resamples": 300}
    one = saturation_curve(panel, threads=1, **more)
    two = saturation_curve(panel, threads=2, **more)
    assert one.rows == two.rows
    alone = saturation_curve(panel, threads=1, **{**more, "metrics": ["accuracy"]})
    kept = [r for r in one.rows if r.metric == "accuracy" and r.metric_b is None]
    assert kept == list(alone.rows)


def with_annotators(n_annotators, n_items=24):
    rng = np.random.default_rng(8)
    one = study(n_items=n_items, votes=n_annotators)
    population = rng.dirichlet(np.ones(3), n_items)
    lean = rng.normal(0, 1.0, (n_annotators, 3))
    item, annotator = np.divmod(np.arange(n_items * n_annotators), n_annotators)
    chance = special.softmax(np.log(population[item]) + lean[annotator], axis=1).cumsum(axis=1)
    label = (rng.random(len(item))[:, None] > chance[:, :2]).sum(axis=1)
    counts = np.zeros((n_items, 3), dtype=np.int64)
    np.add.at(counts, (item, label), 1)
    names = tuple(f"a{k:02d}" for k in range(n_annotators))
    votes = dataclasses.replace(one.votes, counts=counts, ballots=Ballots(names, item, annotator, label))
    return dataclasses.replace(one, votes=votes)


@pytest.mark.parametrize("n_annotators", [6, 25])
def test_annotators_add_what_they_do_alike(n_annotators):
    """V = max(V_items + V_seeds - V_e, V_items) + max(V_A - V_w, 0) of a shortfall, V_A and V_w by loops."""
    one = with_annotators(n_annotators)
    row = find(saturation_curve(one, metrics=["brier"]), "shortfall", "brier", budget=1, method="soft")
    bare = dataclasses.replace(one, votes=dataclasses.replace(one.votes, ballots=None))
    without = find(saturation_curve(bare, metrics=["brier"]), "shortfall", "brier", budget=1, method="soft")
    small, ceiling = one.conditions.index(SOFT[0]), one.conditions.index(SOFT[-1])

    def shortfall(kept):
        gaps = []
        for probs, items in zip(one.probs, one.items_of_split, strict=True):
            there = [(place, [kept[i].count(k) for k in range(3)]) for place, i in enumerate(items) if i in kept]
            for a, b in zip(probs[small], probs[ceiling], strict=True):
                scores = [naive.brier(list(a[p]), c) - naive.brier(list(b[p]), c) for p, c in there]
                gaps.append(sum(scores) / len(scores))
        return sum(gaps) / len(gaps)

    ballots = one.votes.ballots
    votes = list(zip(ballots.item.tolist(), ballots.annotator.tolist(), ballots.label.tolist(), strict=True))
    people, within = naive.crowd_parts(votes, shortfall)
    assert people > within
    assert row.unc.se**2 == pytest.approx(without.unc.se**2 + people - within, rel=1e-6)
    assert row.unc.estimate == without.unc.estimate
    assert (row.unc.design, without.unc.design) == ("crossed with annotators", "crossed")


def test_two_annotators_show_nothing_of_an_entropy():
    """Whoever is left out, one vote has no entropy: the people's part is not known, which must not count as 0."""
    made = saturation_curve(with_annotators(2), metrics=["entropy_correlation", "kl"])
    row = find(made, "value", "entropy_correlation", budget=10, method="soft")
    assert row.unc.estimate is not None
    assert (row.unc.low, row.unc.high) == (None, None)
    assert "alike whosever vote" in row.unc.reason
    assert find(made, "value", "kl", budget=10, method="soft").unc.low is not None


def test_one_seed_is_not_said_to_be_redrawn():
    row = find(saturation_curve(study(n_seeds=1), metrics=["kl"]), "value", "kl", budget=10, method="soft")
    assert row.unc.design == "items"
    assert "one seed" in row.unc.reason
