"""``saturation equivalents`` and ``saturation ceiling``, from files to every format; the real sets."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from saturation import targets
from saturation.analyses.worth.equivalents import equivalents
from saturation.analyses.worth.standing import alone
from saturation.cli import group
from saturation.conditions import Condition
from saturation.datasets import convert
from saturation.tables.door import read_votes
from tests.analyses import test_ceiling, test_equivalents
from tests.cli.test_commands import LABELS, study  # noqa: F401 - a fixture

KEYS = {"equivalents": test_equivalents.KEYS, "ceiling": test_ceiling.KEYS}


def words(command, folder, *more):
    tables = ["--votes", str(folder / "votes.csv"), "--predictions", str(folder / "predictions.csv")]
    return [command, *tables, "--labels", ",".join(LABELS), "--n-resamples", "20", *more]


def run(*line):
    done = CliRunner().invoke(group, list(map(str, line)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def rows_of(*line):
    return json.loads(run(*line, "--format", "json").stdout)["results"]


@pytest.mark.parametrize("command", KEYS)
def test_envelope_and_rows(study, command):  # noqa: F811
    found = json.loads(run(*words(command, study), "--format", "json").stdout)
    assert (found["command"], found["schema"]) == (command, "saturation/1")
    assert (found["settings"]["seed"], found["settings"]["labels"]) == (0, list(LABELS))
    rows = found["results"]
    assert rows
    assert all(list(row) == KEYS[command] for row in rows)
    assert all(row["reason"] or (row["low"] is not None and row["high"] is not None) for row in rows)


@pytest.mark.parametrize("command", KEYS)
@pytest.mark.parametrize("format", ["table", "csv", "md", "tex"])
def test_every_format(study, command, format):  # noqa: F811
    text = run(*words(command, study), "--format", format).stdout
    if format == "table":
        assert max(map(len, text.splitlines())) <= 100
    if format == "csv":
        header, *rows = csv.reader(io.StringIO(text))
        assert header == KEYS[command]
        assert rows


@pytest.mark.parametrize("command", KEYS)
def test_shuffled_rows_give_the_same_bits(study, command):  # noqa: F811
    assert rows_of(*words(command, study)) == rows_of(*words(command, study / "shuffled"))


@pytest.mark.parametrize("command", KEYS)
def test_all_means_every_metric_with_a_better_side(study, command):  # noqa: F811
    named = {row["metric"] for row in rows_of(*words(command, study), "--metrics", "all")}
    assert named == set(test_ceiling.DIRECTED)


def test_options_reach_the_numbers(study):  # noqa: F811
    plain = rows_of(*words("ceiling", study))
    for more in (("--population", "mean"), ("--seed", "5"), ("--level", ".9"), ("--entropy-estimator", "grassberger")):
        assert rows_of(*words("ceiling", study), *more) != plain, more
    plain = rows_of(*words("equivalents", study))
    for more in (("--budgets", "1"), ("--level", ".9"), ("--metrics", "kl")):
        assert rows_of(*words("equivalents", study), *more) != plain, more
    drawn = words("equivalents", study, "--metrics", "accuracy")
    assert rows_of(*drawn, "--seed", "5") != rows_of(*drawn)


def test_votes_alone_have_ceilings(study):  # noqa: F811
    rows = rows_of("ceiling", "--votes", study / "votes.csv", "--n-resamples", "20")
    assert {row["quantity"] for row in rows} == {"ceiling"}


def test_options_of_models_are_refused_without_models(study):  # noqa: F811
    done = CliRunner().invoke(group, ["ceiling", "--votes", str(study / "votes.csv"), "--floor", "1e-9"])
    assert "--floor: without --predictions" in str(done.exception)


def test_a_metric_without_a_better_side_is_refused(study):  # noqa: F811
    for command in KEYS:
        done = CliRunner().invoke(group, words(command, study, "--metrics", "entropy"))
        assert done.exit_code != 0
        assert "no better side" in str(done.exception)


# --- real votes -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def snli(shared_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("snli")
    convert("chaosnli", shared_data / "chaosnli/data/chaosNLI_v1.0/chaosNLI_snli.jsonl", folder / "votes")
    convert("baan-predictions", shared_data / "chaosnli/data/predictions", folder / "predictions")
    return folder


@pytest.mark.realdata
def test_roberta_on_snli(snli, reference):
    tables = [
        "--votes", snli / "votes/vote_counts.parquet", "--predictions", snli / "predictions/predictions.parquet",
        "--n-resamples", "50",
    ]  # fmt: skip
    worth = {r["metric"]: r for r in rows_of("equivalents", *tables) if r["quantity"] == "equivalent"}
    assert worth["cross_entropy"]["censored"] == "below"  # overconfident: the base rate alone is better
    assert 2 < worth["entropy_correlation"]["low"] < worth["entropy_correlation"]["high"] < 4
    assert all(row["reason"] or row["low"] is not None for row in worth.values())
    ceilings = [r for r in rows_of("ceiling", *tables) if r["quantity"] == "ceiling"]
    halves = next(r for r in ceilings if (r["metric"], r["kind"]) == ("entropy_correlation", "another_crowd"))
    # the Spearman-Brown value at 100 votes is .9228, so that of two halves of 50 is r = .9228/(2 - .9228)
    assert halves["estimate"] == pytest.approx(0.9228 / (2 - 0.9228), abs=5 * halves["mc_se"] + 1e-4)


@pytest.mark.realdata
def test_a_model_that_asked_two_of_the_people(shared_data, tmp_path):
    """CIFAR-10H with ids: two votes of each item, combined with the base rate, against the votes of everybody else."""
    convert("peerannot", shared_data / "peerannot/datasets/cifar10H", tmp_path / "tables")
    votes = read_votes(tmp_path / "tables/votes.parquet")
    asked = targets.draw_votes(votes.counts, (2,), seed=1)[2]
    probs = targets.dirichlet(asked, prior=targets.fit_base_rate(votes.counts))
    condition = Condition.of(model="asked", method="dirichlet", budget=2)
    panel = replace(alone(votes), conditions=(condition,), probs=(probs[None, None],))
    for row in equivalents(panel, n_resamples=50).rows:
        if row.quantity == "equivalent":  # the two are among the fifty that it is scored against: hardly flattered
            assert row.unc.low < 2.4
            assert 1.7 < row.unc.high < 5
        assert row.unc.reason or row.unc.low is not None


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("kind", "source"), [("peerannot", "peerannot/datasets/cifar10H"), ("lewidi", "lewidi2023/HS-Brexit_dataset")]
)
def test_sets_with_annotators(kind, source, shared_data, tmp_path):
    convert(kind, shared_data / source, tmp_path / "tables")
    rows = rows_of("ceiling", "--votes", tmp_path / "tables/votes.parquet", "--n-resamples", "20")
    assert {row["design"] for row in rows if row["metric"] == "brier"} == {"items with annotators"}
    assert all(row["reason"] or (row["low"] is not None and row["high"] is not None) for row in rows)
    noise = {row["metric"]: row["estimate"] for row in rows if row["kind"] == "noise_only"}
    other = {
        row["metric"]: row["estimate"] for row in rows if (row["kind"], row["combiner"]) == ("another_crowd", "raw")
    }
    assert noise["brier"] * 2 == pytest.approx(other["brier"])
    assert noise["tvd"] < other["tvd"]
