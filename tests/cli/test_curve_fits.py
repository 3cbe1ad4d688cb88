"""``saturation curve --fit --predict --ceiling asymptote`` on the committed study."""

import json

import pytest
from click.testing import CliRunner

from saturation.cli import group

STUDY = ["--votes", "fixtures/study/votes.parquet", "--predictions", "fixtures/study/predictions.parquet"]


def run(*options):
    return CliRunner().invoke(group, ["curve", *STUDY, "--metrics", "kl", "--baselines", "hard", "--quiet", *options])


def test_fits_and_predictions_are_rows():
    made = run("--fit", "power", "--predict", "50,200", "--format", "json")
    assert made.exit_code == 0, made.output
    rows = [r for r in json.loads(made.stdout)["results"] if r["estimator"] == "fit" and r["method"] == "soft"]
    assert [(r["quantity"], r["budget"], r["baseline"]) for r in rows] == [
        ("fit_asymptote", None, "power"),
        ("fit_exponent", None, "power"),
        ("fit_prediction", 50, "power"),
        ("fit_prediction", 200, "power"),
        ("fit_aicc", None, "power"),
    ]
    # more votes than any tried lose no more than the 100 tried
    assert rows[0]["low"] < rows[0]["estimate"] < rows[3]["estimate"] < rows[2]["estimate"]
    assert rows[3]["reason"].startswith("extrapolated: beyond the largest budget tried, 100")


def test_the_fitted_ceiling_stands_in_every_row():
    made = run("--ceiling", "asymptote", "--format", "json")
    assert made.exit_code == 0, made.output
    result = json.loads(made.stdout)
    shortfalls = [r for r in result["results"] if r["quantity"] == "shortfall" and r["method"] == "soft"]
    assert {r["ceiling"] for r in shortfalls} == {"asymptote of model=planted,method=soft"}
    assert result["settings"]["ceiling"] == "asymptote"
    assert any(r["quantity"] == "n_star_fit" for r in result["results"])


def test_tables_name_the_form_and_open_the_lower_end_of_n_star():
    made = run("--fit", "power,exponential")
    assert made.exit_code == 0
    assert "form" in made.stdout
    assert "estimate (low, high]" in made.stdout


@pytest.mark.parametrize(("option", "value"), [("--fit", "cubic"), ("--predict", "0")])
def test_wrong_options_are_refused(option, value):
    made = run(option, value)
    assert made.exit_code != 0
    assert value in (made.stderr or str(made.exception))
