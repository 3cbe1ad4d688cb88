"""``saturation baselines``: writes a table that check and curve take, and prints what was fitted."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from saturation.cli import group, main
from saturation.tables.io import read_frame

STUDY = Path(__file__).parents[2] / "fixtures" / "study"


def _run(*words: str) -> Result:
    return CliRunner().invoke(group, ["baselines", "--votes", str(STUDY / "votes.parquet"), *words])


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hard and smoothed models of one split of the study, one seed."""
    frame, _ = read_frame(STUDY / "predictions.parquet")
    kept = frame.filter(
        pl.col("split") == "42", pl.col("seed") == 0, pl.col("method").is_in(["hard", "smoothing", "soft"])
    )
    path = tmp_path_factory.mktemp("baselines") / "given.parquet"
    kept.write_parquet(path)
    return path


def test_the_table_is_written_and_the_numbers_are_printed(given: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.csv"
    ran = _run("--predictions", str(given), "--out", str(out), "--n-resamples", "20", "--format", "json")
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    assert told["command"] == "baselines"
    assert {row["quantity"] for row in told["results"]} == {"temperature", "strength", "dev_loss", "base_rate"}
    frame, meta = read_frame(out)
    assert set(frame["method"]) == {"hard", "smoothing", "soft", "temperature", "smoothing_tuned", "base_rate"}
    assert meta.provenance["step"] == "baselines"
    assert meta.provenance["settings"]["weights"] == "items"
    words = ["curve", "--votes", str(STUDY / "votes.parquet"), "--predictions", str(out), "--metrics", "kl"]
    words += ["--baselines", "temperature,smoothing_tuned,base_rate", "--n-resamples", "20", "--format", "json"]
    curve = CliRunner().invoke(group, words)
    assert curve.exit_code == 0, curve.output
    found = {row["baseline"] for row in json.loads(curve.stdout)["results"]}
    assert found >= {"temperature", "smoothing_tuned", "base_rate"}
    assert CliRunner().invoke(group, ["check", str(out)]).exit_code == 0


def test_the_table_on_a_terminal(given: Path, tmp_path: Path) -> None:
    ran = _run("--predictions", str(given), "--out", str(tmp_path / "p.parquet"), "--n-resamples", "20")
    assert ran.exit_code == 0, ran.output
    assert "temperature T that the logits are divided by" in ran.stdout
    assert "share of resamples" in ran.stdout
    assert "wrote" in ran.stderr
    assert max(len(line) for line in ran.stdout.splitlines()) <= 100


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["--out", "p.xyz"], "p.xyz"),
        (["--out", "nowhere/p.csv"], "make it first"),
        (["--out", "p.csv", "--methods", "isotonic"], "choose of temperature, smoothing_tuned, base_rate"),
    ],
)
def test_bad_options_are_refused(
    given: Path, words: list[str], match: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(["baselines", "--votes", str(STUDY / "votes.parquet"), "--predictions", str(given), *words])
    assert left.value.code == 2
    assert match in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_input_is_not_overwritten(given: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--votes", str(STUDY / "votes.parquet"), "--predictions", str(given), "--out", str(given)]
    with pytest.raises(SystemExit):
        main(["baselines", *words])
    assert "is an input of this run" in capsys.readouterr().err
