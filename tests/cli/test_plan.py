"""``saturation plan`` from files to every format, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import random

import pytest
from click.testing import CliRunner

from saturation.cli import group

COSTS = ("--cost-per-vote", "0.1", "--cost-per-item", "0.5", "--budget", "200")
FAST = ("--metric", "brier_vote,top_vote_share")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder, draw = tmp_path_factory.mktemp("plan"), random.Random(3)
    items = [f"q{n:02d}" for n in range(20)]
    chance = {item: draw.random() for item in items}
    votes = [
        (item, f"w{person}", "yes" if draw.random() < chance[item] else "no")
        for item in items
        for person in draw.sample(range(6), 4)
    ]
    rows = [
        (item, method, seed, p := round(0.2 + shrink * chance[item], 6), 1 - p)
        for method, shrink in (("soft", 0.6), ("hard", 0.3))
        for seed in (0, 1)
        for item in items
    ]
    for name, columns, table in (
        ("votes", ("item_id", "annotator_id", "label"), votes),
        ("predictions", ("item_id", "method", "seed", "p_yes", "p_no"), rows),
    ):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([columns, *table])
    return folder


def run(study, *words, models=False):
    tables = ["--pilot", str(study / "votes.csv")]
    tables += ["--predictions", str(study / "predictions.csv")] if models else []
    return CliRunner().invoke(group, ["plan", *tables, *words], catch_exceptions=True)


def test_all_formats_tell_the_same(study):
    done = run(study, *COSTS, *FAST, "--format", "json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["command"] == "plan"
    assert told["settings"]["total"] == 200.0
    assert told["warnings"][0]["code"] == "plan_for_evaluation"
    rows = told["results"]
    assert [r["metric"] for r in rows if r["quantity"] == "optimum"] == ["brier_vote", "top_vote_share"]
    assert all(r["estimate"] is not None or r["reason"] for r in rows)
    as_csv = list(csv.DictReader(io.StringIO(run(study, *COSTS, *FAST, "--format", "csv").stdout)))
    assert [r["estimate"] for r in as_csv] == ["" if r["estimate"] is None else str(r["estimate"]) for r in rows]
    for kind in ("md", "tex"):
        assert run(study, *COSTS, *FAST, "--format", kind).exit_code == 0


def test_the_first_line_says_that_it_is_no_plan_for_training(study):
    first = run(study, *COSTS, *FAST).stdout.splitlines()[0]
    assert "evaluate models with (not to train them on)" in first


def test_two_models_and_a_negative_difference(study):
    words = ("--a", "method=soft", "--b", "method=hard", "--difference", "-0.05", "--metric", "kl")
    done = run(study, *COSTS, *words, "--format", "json", models=True)
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["results"]
    assert {r["planned_difference"] for r in rows if r["quantity"] == "power"} == {0.05}
    assert {"component", "floor", "difference", "power", "detectable"} <= {r["quantity"] for r in rows}
    assert {r["a"] for r in rows} == {"model=model,method=soft"}


def test_votes_is_another_name_of_pilot(study):
    words = ["plan", "--votes", str(study / "votes.csv"), *COSTS, *FAST, "--quiet"]
    assert CliRunner().invoke(group, words).stdout == run(study, *COSTS, *FAST, "--quiet").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cost-per-vote", "0"), "not a finite number above 0"),
        (("--budget", "0.9"), "does not pay for two items"),
        (("--metric", "brier,default"), "not both"),
        (("--metric", "nonsense"), "nonsense"),
        (("--max-items", "1"), "from 2"),
        (("--b", "method=hard"), "no predictions"),
    ],
)
def test_refusals(study, words, said):
    done = run(study, *COSTS, *words)
    assert done.exit_code != 0
    assert said in f"{done.output}{done.exception}"


def test_report_takes_costs_all_or_none(study, tmp_path):
    words = ["report", "--votes", str(study / "votes.csv"), "--metrics", "brier", "--out", str(tmp_path / "r")]
    words += ["--n-resamples", "20", "--quiet"]
    done = CliRunner().invoke(group, [*words, "--total", "100"])
    assert "all of --cost-per-vote" in str(done.exception)
    done = CliRunner().invoke(group, [*words, "--total", "100", "--cost-per-vote", ".1", "--cost-per-item", "1"])
    assert done.exit_code == 0, done.output
    assert "What to buy for an evaluation" in (tmp_path / "r/index.html").read_text()
    assert (tmp_path / "r/tables/plan.csv").exists()
    assert (tmp_path / "r/figures/plan.svg").exists()
