"""``saturation label-curve --estimator model``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from saturation.cli import group


@pytest.fixture
def pilot(tmp_path):
    rng = np.random.default_rng(3)
    lines = ["item_id,annotator_id,label"]
    for i, p in enumerate(rng.dirichlet([0.5, 0.4, 0.34], 60)):
        lines += [f"i{i:03d},w{3 * i + j},{'abc'[label]}" for j, label in enumerate(rng.choice(3, 3, p=p))]
    path = tmp_path / "pilot.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def run(*args):
    return CliRunner().invoke(group, ["label-curve", *args], standalone_mode=False)


def test_rows_of_a_fitted_law(pilot):
    done = run("--votes", pilot, "--estimator", "model", "--metrics", "jsd", "--budgets", "3,40", "--format", "json")
    found = json.loads(done.stdout)
    values = [row for row in found["results"] if row["quantity"] == "value"]
    assert [(row["budget"], row["estimator"], row["reference_size"]) for row in values] == [
        (3, "model", 100),
        (40, "model", 100),
    ]
    assert all(row["low"] < row["estimate"] < row["high"] for row in values)
    assert found["settings"]["population"] == "auto"
    assert any(note["code"] == "model" for note in found["warnings"])


def test_the_law_and_the_reference_can_be_asked_for(pilot):
    given = ["--population", "multinomial_mixture", "--reference-size", "7", "--metrics", "brier", "--format", "json"]
    found = json.loads(run("--votes", pilot, "--estimator", "model", *given).stdout)
    assert {row["reference_size"] for row in found["results"]} == {7}
    assert "items that are alike" in next(n["message"] for n in found["warnings"] if n["code"] == "model")


def test_a_law_without_model_estimator_is_refused(pilot):
    done = run("--votes", pilot, "--population", "dirichlet")
    assert done.exit_code != 0
    assert "estimator model" in str(done.exception) + done.output


def test_the_population_can_be_the_reference(pilot):
    given = ["--reference-size", "population", "--metrics", "brier", "--budgets", "1,9", "--format", "json"]
    found = json.loads(run("--votes", pilot, "--estimator", "model", *given).stdout)
    assert {(row["reference"], row["reference_size"]) for row in found["results"]} == {("population", None)}
    refused = run("--votes", pilot, "--estimator", "model", "--reference-size", "many")
    assert "neither a number of votes" in refused.output + str(refused.exception)
