"""``saturation murphy`` from files to every format; shuffled rows give the same bytes; the real study."""

from __future__ import annotations

import csv
import json

import pytest
from click.testing import CliRunner

from saturation.cli import group
from tests.cli.test_commands import ITEMS, LABELS, study  # noqa: F401 - a fixture

KEYS = ["condition", "model", "method", "budget", "strength", "alpha", "versus", "outcome", "binning", "bins",
        "bins_used", "label", "term", "estimate", "low", "high", "se", "level", "interval", "estimator", "design",
        "n_resamples", "n_items", "n_cells", "reason"]  # fmt: skip


def words(folder, *more):
    tables = ["--votes", str(folder / "votes.csv"), "--predictions", str(folder / "predictions.csv")]
    return ["murphy", *tables, "--labels", ",".join(LABELS), "--n-resamples", "40", *more]


def run(folder, *more):
    done = CliRunner().invoke(group, words(folder, *more), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def rows_of(folder, *more):
    return json.loads(run(folder, "--format", "json", *more).stdout)["results"]


def test_envelope_and_rows(study):  # noqa: F811
    found = json.loads(run(study, "--format", "json", "--versus", "method=soft,budget=4").stdout)
    assert (found["command"], found["schema"], found["data"]["n_items"]) == ("murphy", "saturation/1", len(ITEMS))
    settings = found["settings"]
    assert (settings["outcome"], settings["binning"], settings["bins"]) == (["votes", "soft"], "width", 10)
    assert (settings["versus"], settings["seed"], settings["labels"]) == ("method=soft,budget=4", 0, list(LABELS))
    rows = found["results"]
    assert all(list(row) == KEYS for row in rows)
    assert all(row["estimate"] is not None or row["reason"] for row in rows)
    assert all((row["low"] is None) == (row["interval"] == "none") for row in rows)
    assert {row["versus"] for row in rows} == {None, "model=m,method=soft,budget=4"}
    assert all(abs(row["estimate"]) < 1e-12 for row in rows if row["term"] == "residual")
    terms = {row["term"]: row["estimate"] for row in rows[:14]}
    total = terms["rel"] - terms["res"] + terms["unc"] + terms["wbv"] - terms["wbc"]
    assert total == pytest.approx(terms["brier"], abs=1e-12)


def test_shuffled_rows_give_the_same_bits(study):  # noqa: F811
    for binning in ("width", "count", "isotonic"):
        more = ("--binning", binning, "--versus", "method=hard")
        assert rows_of(study, *more) == rows_of(study / "shuffled", *more)


def test_options_reach_the_numbers(study):  # noqa: F811
    plain = rows_of(study)
    for more in (
        ("--outcome", "majority"),
        ("--binning", "count"),
        ("--bins", "3"),
        ("--label", "yes"),
        ("--fixed-forecasts",),
        ("--design", "votes"),
        ("--level", "0.8"),
    ):
        assert rows_of(study, *more) != plain, more
    first, last = (rows_of(study, "--outcome", "majority", "--ties", rule) for rule in ("first", "last"))
    assert first != last


@pytest.mark.parametrize("format", ["csv", "md", "tex", "table", "parquet"])
def test_other_formats(study, tmp_path, format):  # noqa: F811
    more = ("--outcome", "soft", "--versus", "method=hard")
    if format == "table":
        text = run(study, *more).stdout
        assert "reliability, what miscalibration costs" in text
        assert max(map(len, text.splitlines())) <= 100
        return
    out = tmp_path / f"m.{format}"
    run(study, *more, "--out", str(out))
    assert out.stat().st_size > 500
    if format == "csv":
        with out.open(newline="") as stream:
            assert list(next(csv.reader(stream))) == KEYS


def test_one_condition_is_read_outcome_by_outcome(study, tmp_path):  # noqa: F811
    lines = (study / "predictions.csv").read_text().splitlines(keepends=True)
    (tmp_path / "predictions.csv").write_text("".join([lines[0], *(one for one in lines if ",hard," in one)]))
    (tmp_path / "votes.csv").write_text((study / "votes.csv").read_text())
    text = run(tmp_path).stdout
    assert text.startswith("votes")
    assert "\nsoft" in text


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--outcome", "best"), "unknown outcome 'best'"),
        (("--label", "never"), "no label 'never'"),
        (("--versus", "method=soft"), "3 conditions match"),
        (("--binning", "quantile"), "'quantile' is not one of"),
        (("--design", "items", "--interval", "normal"), "no normal interval"),
    ],
)
def test_mistakes_exit_with_2(study, more, says, capsys):  # noqa: F811
    from saturation.cli import main

    with pytest.raises(SystemExit) as stop:
        main(words(study, *more))
    assert stop.value.code == 2
    assert says in capsys.readouterr().err


@pytest.mark.realdata
def test_the_worked_rows_of_a_real_model(shared_data, tmp_path):
    """ChaosNLI-SNLI and the published RoBERTa, seed 0: numbers of independent code, each with an interval."""
    import polars as pl

    from saturation.datasets import convert

    convert("chaosnli", shared_data / "chaosnli/data/chaosNLI_v1.0/chaosNLI_snli.jsonl", tmp_path / "votes")
    convert("baan-predictions", shared_data / "chaosnli/data/predictions", tmp_path / "all")
    seed0 = tmp_path / "predictions.parquet"
    pl.read_parquet(tmp_path / "all" / "predictions.parquet").filter(pl.col("seed") == 0).write_parquet(seed0)
    tables = ["--votes", str(tmp_path / "votes" / "vote_counts.parquet"), "--predictions", str(seed0)]
    done = CliRunner().invoke(group, ["murphy", *tables, "--format", "json"], catch_exceptions=False)
    rows = {(row["outcome"], row["term"]): row for row in json.loads(done.stdout)["results"]}
    expected = {
        ("soft", "rel"): 0.09967160654923951,
        ("soft", "res"): 0.15415352965450013,
        ("soft", "unc"): 0.28027052896000165,
        ("votes", "unc"): 0.6188734351687203,
    }
    for key, value in expected.items():
        assert rows[key]["estimate"] == pytest.approx(value, abs=1e-9)
        assert rows[key]["low"] < value < rows[key]["high"]
