"""The catalogue: names, options, canonical text, refusals, and that every entry can be evaluated and resampled."""

from __future__ import annotations

import json
import math
from functools import partial

import numpy as np
import pytest
from click.testing import CliRunner

from saturation.errors import UsageError
from saturation.metrics import calibration, classification, correlation, detection
from saturation.metrics.catalogue import DEFAULT_METRICS, all_names, metric, metrics_of, options_of, records
from saturation.metrics.metric import Human


def study():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(9, [0.5, 0.3, 0.2], 30)
    return rng.dirichlet(np.ones(3), (2, 30)), Human(
        counts, majority=counts.argmax(axis=1), groups=np.arange(30) % 2, items=np.arange(30)
    )


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("kl", "kl"),
        (" kl ", "kl"),
        ("kl[]", "kl"),
        ("kl[floor=1e-15]", "kl"),
        ("kl[base=e]", "kl"),
        ("reverse_kl[floor=0.000001]", "reverse_kl[floor=1e-06]"),
        ("reverse_kl[base=2;floor=1e-12]", "reverse_kl[floor=1e-12;base=2]"),
        ("reverse_kl[smooth=1/K]", "reverse_kl[smooth=1/K]"),
        ("reverse_kl[smooth=0.5, base=2]", "reverse_kl[smooth=0.5;base=2]"),
        ("accuracy[ties=last]", "accuracy[ties=last]"),
        ("rank_agreement[ties=tolerant]", "rank_agreement[ties=tolerant]"),
        ("entropy_correlation[kind=spearman]", "entropy_correlation[kind=spearman]"),
        ("ece[bins=15;binning=count]", "ece[bins=15;binning=count]"),
    ],
)
def test_canonical_names(spec, name):
    assert metric(spec).name == name
    assert metric(name).name == name


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("kll", "unknown metric 'kll' (did you mean 'kl'?)"),
        ("KL", "is not a metric"),
        ("kl[floor", "is not a metric"),
        ("kl[floor=1]x", "is not a metric"),
        ("kl[flor=1e-3]", "kl has no option 'flor'; it takes floor, base, entropy_estimator"),
        ("tvd[base=2]", "tvd has no option 'base'; it takes none"),
        ("kl[floor]", "write floor=value"),
        ("kl[floor=]", "write floor=value"),
        ("kl[floor=1e-3;floor=1e-4]", "floor is given twice"),
        ("kl[floor=low]", "floor must be a number"),
        ("kl[floor=1]", "floor must lie in [0, 1)"),
        ("kl[floor=nan]", "floor must lie in [0, 1)"),
        ("kl[base=1]", "base must be 'e' or a number above 1"),
        ("ece[bins=0]", "bins must be at least 1"),
        ("ece[bins=10001]", "bins must be at most 10,000"),
        ("ece[bins=2.5]", "bins must be a whole number"),
        ("ece[bins=inf]", "bins must be a whole number"),
        ("ece[binning=mass]", "binning must be one of width, count, quantile"),
        ("accuracy[ties=tolerant]", "ties must be one of first, last, random, share, any, column"),
        ("rank_agreement[ties=share]", "ties must be one of stable, tolerant"),
        ("entropy_correlation[kind=rank]", "kind must be one of pearson, spearman, kendall"),
        ("reverse_kl[smooth=-1]", "smooth must be a positive number"),
        ("kl[entropy_estimator=bayes]", "entropy_estimator must be one of"),
    ],
)
def test_refusals_say_what_to_do(spec, words):
    with pytest.raises(UsageError) as error:
        metric(spec)
    assert words in str(error.value)


def test_shared_options_reach_only_the_metrics_that_take_them():
    made = metrics_of(DEFAULT_METRICS, ties="last", floor=1e-9, bins=5, entropy_estimator=None, seed=3)
    assert [one.name for one in made] == list(DEFAULT_METRICS)
    probs, human = study()
    five = metric("dist_ece[bins=5]").value(probs, human)
    np.testing.assert_array_equal(metric("dist_ece", bins=5).value(probs, human), five)
    assert metric("rank_agreement", ties="share").name == "rank_agreement"
    with pytest.raises(UsageError, match="no metric has an option 'flor'"):
        metric("kl", flor=1e-3)
    with pytest.raises(UsageError, match="bins must be at least 1"):
        metric("ece", bins=0)


def test_brackets_win_over_shared_options_and_say_so():
    assert metric("kl[floor=1e-15]", floor=1e-3).name == "kl[floor=1e-15]"
    assert metric("kl[floor=1e-3]", floor=1e-3).name == "kl"
    probs, human = np.array([[[1.0, 0.0]]]), Human(np.array([[0, 1]]))
    value = metric("kl[floor=1e-3]", floor=1e-9).value(probs, human)
    # (1, .001)/1.001: ln 1001
    assert value[0] == pytest.approx(math.log(1001), abs=1e-12)


def test_the_same_metric_twice_and_none_are_refused():
    with pytest.raises(UsageError, match="given twice: kl"):
        metrics_of(["kl", "kl[floor=1e-15]"])
    with pytest.raises(UsageError, match="no metric is named"):
        metrics_of([])
    assert [m.name for m in metrics_of(["all"])] == list(all_names())


@pytest.mark.parametrize("name", all_names())
def test_every_entry_can_be_evaluated_and_resampled(name):
    probs, human = study()
    made = metric(name)
    values = made.value(probs, human)
    assert values.shape == (2,)
    assert np.isfinite(values).all()
    weights = np.ones((3, 30))
    weights[1, :5] = 0
    weights[2] = 2
    if made.ranked is not None:
        assert made.features is None
        resampled = made.ranked(probs[0], human, weights)
        dropped = made.leave_one_out(probs[0], human)
        first = np.ones((1, 30))
        first[0, 0] = 0
        # which items are ambiguous, and nothing else, is fixed by the full sample
        assert dropped[0] == pytest.approx(made.ranked(probs[0], human, first)[0], abs=1e-12)
    else:
        features = made.features(probs, human)
        assert features.shape[0] == 2
        assert features.shape[2] == 30
        resampled = np.stack([made.combine((features[0] * w).sum(axis=-1) / w.sum()) for w in weights])
    assert resampled[0] == pytest.approx(values[0], abs=1e-12)
    if not name.startswith("aurc"):  # a mean over places: two copies of every item have twice as many places
        assert resampled[2] == pytest.approx(values[0], abs=1e-12)
    assert np.isfinite(resampled[1])


@pytest.mark.parametrize("name", all_names())
def test_every_entry_tells_its_facts(name):
    made = metric(name)
    assert made.name == name
    assert made.title
    assert made.formula
    assert made.direction in ("lower", "higher", "none")
    assert made.order in (1, 2, None)
    assert made.undefined


def test_random_ties_follow_the_seed():
    counts = np.tile([2, 2], (64, 1))
    probs = np.tile([0.9, 0.1], (64, 1))
    values = {float(metric("accuracy", ties="random", seed=s).value(probs, Human(counts))) for s in range(5)}
    assert len(values) > 1


def test_the_kind_of_a_metric_decides_nothing_about_its_options():
    assert options_of("ece") == {"bins": 10, "binning": "width", "ties": "share", "seed": 0}
    assert options_of("adaptive_ece")["binning"] == "count"


def test_records_have_the_same_keys_everywhere():
    rows = records()
    assert [row["name"] for row in rows] == list(all_names())
    assert len({tuple(row) for row in rows}) == 1
    assert {row["name"] for row in rows if row["default"] == "yes"} == set(DEFAULT_METRICS)


def run(*arguments):
    from saturation.cli.metrics import command

    return CliRunner().invoke(command, arguments, catch_exceptions=False)


def test_the_command_lists_every_metric():
    text = run().output
    assert all(f"\n{name} " in text for name in all_names())
    line = next(line for line in text.splitlines() if line.startswith("brier *"))
    assert line.split()[:4] == ["brier", "*", "lower", "2"]
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("format", ["json", "csv", "md"])
def test_the_command_in_other_formats(format):
    result = run("--format", format)
    assert result.exit_code == 0
    assert "total variation distance" in result.output
    if format == "json":
        envelope = json.loads(result.output)
        assert envelope["command"] == "metrics"
        assert [row["name"] for row in envelope["results"]] == list(all_names())


PLAIN = {
    "ece": calibration.ece,
    "adaptive_ece": calibration.adaptive_ece,
    "classwise_ece": calibration.classwise_ece,
    "dist_ece": calibration.dist_ece,
    "dist_ece_top": calibration.dist_ece_top,
    "macro_f1": classification.macro_f1,
    "entropy_correlation": correlation.entropy_correlation,
    "spearman": partial(correlation.entropy_correlation, kind="spearman"),
    "kendall": partial(correlation.entropy_correlation, kind="kendall"),
    "auroc_ambiguous": detection.auroc_ambiguous,
    "aurc": detection.aurc,
    "aurc_excess": detection.aurc_excess,
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_functions_are_the_entries(name):
    probs, human = study()
    np.testing.assert_array_equal(PLAIN[name](probs, human.counts), metric(name).value(probs, human))


def test_plain_functions_with_options():
    probs, human = study()
    within = correlation.entropy_correlation_within(probs, human.counts, human.groups)
    np.testing.assert_array_equal(within, metric("entropy_correlation_within").value(probs, human))
    column = calibration.ece(probs, human, ties="column", bins=5, binning="quantile")
    np.testing.assert_array_equal(column, metric("ece[ties=column;bins=5;binning=quantile]").value(probs, human))
    with pytest.raises(UsageError, match="kind of entropy_correlation"):
        correlation.entropy_correlation(probs, human.counts, kind="rank")
