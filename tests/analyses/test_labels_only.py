"""The labels alone beside a model's curve: conventions, and studies with many labels."""

import dataclasses

import pytest

from saturation.analyses.curve.saturation import saturation_curve
from tests.analyses.planted import HARD, SOFT, find, study


def test_within_source_correlation_of_one_vote_counts_as_zero():
    """Labels: r(1) = 0, so f(3) = r(3) / r(40); the contrast is the model's fraction minus that."""
    one = study(splits=1, n_items=120)
    sources = tuple("xy"[i % 2] for i in range(120))
    one = dataclasses.replace(one, votes=dataclasses.replace(one.votes, groups={"source": sources}))
    name = "entropy_correlation_within"
    made = saturation_curve(one, metrics=[name])
    first = find(made, "label_value", name, budget=1)
    assert first.unc.estimate is None
    assert "counts as 0" in first.unc.reason
    values = [find(made, "label_value", name, budget=budget).unc.estimate for budget in (3, 40)]
    ours = find(made, "label_fraction", name, budget=3)
    assert ours.unc.estimate == pytest.approx(values[0] / values[1], rel=1e-12)
    assert "N = 1 is undefined (constant) and counts as 0" in ours.unc.reason
    model = find(made, "fraction", name, budget=3, baseline="smallest", method="soft").unc.estimate
    contrast = find(made, "contrast_labels", name, budget=3)
    assert contrast.unc.estimate == pytest.approx(model - ours.unc.estimate, rel=1e-9)
    assert "counts as 0" in contrast.unc.reason


def test_two_hundred_labels_end_in_seconds():
    one = study(splits=1, n_items=200, n_labels=200, n_seeds=2, votes=30, conditions=(HARD, *SOFT[:3]))
    made = saturation_curve(one)
    for row in made.records():
        assert row["estimate"] is not None or row["reason"], row
    drawn = find(made, "label_value", "accuracy", budget=10)
    assert drawn.unc.estimator == "monte_carlo"
    assert drawn.unc.n_resamples == 100
    assert "Monte Carlo error" in drawn.unc.reason
    assert find(made, "label_value", "entropy_correlation", budget=10).unc.estimator == "exact_moments"
