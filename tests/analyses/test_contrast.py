"""Contrasts between metrics, and with the labels alone."""

import dataclasses

import numpy as np
import pytest

from saturation.analyses.curve.saturation import saturation_curve
from saturation.analyses.labels.label_curve import label_curve
from tests.analyses.planted import (
    HARD,
    Q_BETWEEN,
    SOFT,
    find,
    losses_of,
    study,
)


def test_contrasts_within_one_order(panel, result):
    pairs = {(r.metric, r.metric_b) for r in result.rows if r.quantity == "contrast_fraction"}
    assert ("kl", "tvd") not in pairs
    assert ("kl", "brier") in pairs
    a = find(result, "fraction", "kl", budget=3, method="soft", baseline="hard").unc.estimate
    b = find(result, "fraction", "brier", budget=3, method="soft", baseline="hard").unc.estimate
    row = find(result, "contrast_fraction", "kl", metric_b="brier", budget=3, baseline="hard")
    assert row.unc.estimate == pytest.approx(a - b)
    assert row.simultaneous_low < row.unc.low < row.unc.high < row.simultaneous_high


def test_contrasts_by_delete_one_item():
    """The delta method against brute force: leave out every item, one split and one seed."""
    one = study(conditions=(HARD, *SOFT), n_items=60, n_seeds=1, splits=1)
    n_items = len(one.items_of_split[0])

    def contrasts(kept):
        part = dataclasses.replace(
            one, items_of_split=(one.items_of_split[0][kept],), probs=(one.probs[0][:, :, kept],)
        )
        made = saturation_curve(part, metrics=["kl", "brier", "tvd"], baselines=["hard"], q=(Q_BETWEEN,))
        more = {"baseline": "hard"}
        return [
            find(made, "contrast_fraction", "kl", metric_b="brier", budget=3, **more).unc,
            find(made, "contrast_fraction", "kl", metric_b="tvd^2", budget=3, **more).unc,
            find(made, "contrast_log_n_star", "kl", metric_b="brier", **more).unc,
        ]

    every = np.arange(n_items)
    whole = contrasts(every)
    deleted = np.array([[unc.estimate for unc in contrasts(np.delete(every, i))] for i in range(n_items)], dtype=float)
    jackknife = (n_items - 1) / n_items * ((deleted - deleted.mean(axis=0)) ** 2).sum(axis=0)
    for unc, variance in zip(whole, jackknife, strict=True):
        assert unc.se == pytest.approx(variance**0.5, rel=0.15)


def test_squares_by_hand(panel, result):
    scores = losses_of(panel, "tvd")
    mean = {c: np.mean([np.mean(cell) for split in z for cell in split]) ** 2 for c, z in scores.items()}
    hard, at, top = mean[str(HARD)], mean[str(SOFT[1])], mean[str(SOFT[3])]
    kl = find(result, "fraction", "kl", budget=3, method="soft", baseline="hard").unc.estimate
    row = find(result, "contrast_fraction", "kl", metric_b="tvd^2", budget=3, baseline="hard")
    assert row.unc.estimate == pytest.approx(kl - (hard - at) / (hard - top))


def test_proportional_metrics_have_no_contrast():
    made = saturation_curve(study(), metrics=["tvd", "manhattan"])
    row = find(made, "contrast_fraction", "tvd", metric_b="manhattan", budget=3, baseline="hard")
    assert (row.unc.estimate, row.unc.interval) == (0.0, "exact")


@pytest.mark.parametrize("metric", ["entropy_correlation", "accuracy"])
def test_labels_alone_agree_with_the_label_curve(metric):
    one = study(splits=1, n_items=150)
    made = saturation_curve(one, metrics=[metric])
    own = label_curve(
        one.votes.take(one.items_of_split[0]), metrics=[metric], budgets=[1, 3, 10, 40], reference="plug_in"
    )
    for budget in (3, 10, 40):
        ours = find(made, "label_value", metric, budget=budget).unc.estimate
        theirs = next(r for r in own.rows if r.quantity == "value" and r.budget == budget).unc.estimate
        assert ours == pytest.approx(theirs, rel=1e-12)
    for budget in (3, 10):
        ours = find(made, "label_fraction", metric, budget=budget)
        theirs = next(r for r in own.rows if r.quantity == "fraction" and r.budget == budget).unc.estimate
        model = find(made, "fraction", metric, budget=budget, baseline="smallest", method="soft")
        contrast = find(made, "contrast_labels", metric, budget=budget)
        assert ours.unc.estimate == pytest.approx(theirs, rel=1e-12)
        assert contrast.unc.estimate == pytest.approx(model.unc.estimate - theirs, rel=1e-9)
        assert contrast.simultaneous_low <= contrast.unc.low < contrast.unc.high
