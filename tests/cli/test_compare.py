"""``saturation compare`` from files to every format, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import random

import pytest
from click.testing import CliRunner

from saturation.analyses.comparing import tests as contest_tests
from saturation.cli import group
from saturation.cli.compare import TESTS
from saturation.errors import UsageError

METHODS = (("soft", 3), ("soft", 10), ("hard", ""))
A = ("--a", "method=soft,budget=10")
FAST = ("--n-resamples", "49", "--metrics", "kl,brier")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder, draw = tmp_path_factory.mktemp("compare"), random.Random(5)
    items = [f"q{n:02d}" for n in range(14)]
    votes = [(item, draw.choice(("no", "yes", "yes"))) for item in items for _ in range(6)]
    rows = [
        (item, method, budget, seed, p := round(draw.uniform(0.05, 0.95), 6), 1 - p)
        for method, budget in METHODS
        for seed in (0, 1)
        for item in items
    ]
    for name, columns, table in (
        ("votes", ("item_id", "label"), votes),
        ("predictions", ("item_id", "method", "budget", "seed", "p_no", "p_yes"), rows),
    ):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([columns, *table])
    return folder


def run(study, *words):
    tables = ("--votes", str(study / "votes.csv"), "--predictions", str(study / "predictions.csv"))
    return CliRunner().invoke(group, ["compare", *tables, *FAST, *words], catch_exceptions=True)


def test_json_csv_and_table_tell_the_same(study):
    words = (*A, "--b", "method=hard", "--b", "method=soft,budget=3", "--margin", "kl=0.5")
    done = run(study, *words, "--format", "json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    rows = told["results"]
    assert told["command"] == "compare"
    assert told["settings"]["margin"] == {"kl": 0.5}
    assert told["settings"]["n_resamples"] == 49
    assert len(rows) == 2 * 2 * (5 + 7)
    as_csv = list(csv.DictReader(io.StringIO(run(study, *words, "--format", "csv").stdout)))
    assert [row["p"] for row in as_csv] == ["" if row["p"] is None else str(row["p"]) for row in rows]
    table = run(study, *words).stdout
    for row in rows:
        if row["sentence"]:
            assert "".join(row["sentence"].split()) in "".join(table.split())
    assert f"{rows[0]['wins']}/2" in table
    for kind in ("md", "tex"):
        assert run(study, *words, "--format", kind).exit_code == 0


def test_romano_wolf_and_all_tests(study):
    words = (
        "--b",
        "method=hard",
        "--tests",
        "all",
        "--margin",
        "0.1",
        "--n-train",
        "50",
        "--adjustment",
        "romano_wolf",
    )
    done = run(study, *A, *words, "--format", "json")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["results"]
    assert {row["test"] for row in rows} == {None, *TESTS}


def test_the_tests_named_in_the_help_are_those_there_are():
    assert tuple(contest_tests.TESTS) == TESTS


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--b", "method=nobody"), "no condition matches"),
        (("--b", "method=soft"), "2 conditions match"),
        (("--b", "method=hard", "--margin", "kl"), "not a number"),
        (("--b", "method=hard", "--margin", "kl=,tvd=1"), "not a number"),
        (("--b", "method=hard", "--margin", "=1"), "metric=number"),
        (("--b", "method=hard", "--tests", "ttest"), "unknown test"),
    ],
)
def test_refusals(study, words, message):
    done = run(study, *A, *words)
    assert done.exit_code != 0
    assert message in done.output + str(done.exception)
    assert done.exception is None or isinstance(done.exception, UsageError | SystemExit)
