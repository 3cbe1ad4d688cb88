"""``saturation heldout``: pools of the votes, random divisions, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from saturation.cli import group, main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Votes with pools and annotators, counts without, and two conditions."""
    made = tmp_path_factory.mktemp("heldout")
    rows, said = [], []
    for item in range(12):
        yes = (item * 7) % 11
        rows += [
            (
                f"i{item:02d}",
                f"w{(item + who) % 15:02d}",
                "yes" if who < yes else "no",
                "heldout" if who % 3 == 0 else "train",
            )
            for who in range(11)
        ]
        p = (yes + 1) / 13
        said += [
            (f"i{item:02d}", method, p if method == "soft" else round(p), seed)
            for method in ("soft", "hard")
            for seed in (0, 1)
        ]
    votes = pl.DataFrame(rows, schema=["item_id", "annotator_id", "label", "pool"], orient="row")
    votes.write_csv(made / "votes.csv")
    votes.drop("pool").write_csv(made / "unmarked.csv")
    table = pl.DataFrame(said, schema=["item_id", "method", "p_yes", "seed"], orient="row", strict=False)
    table.with_columns(p_no=1 - pl.col("p_yes").cast(pl.Float64)).write_csv(made / "predictions.csv")
    return made


def _run(folder: Path, votes: str, *words: str) -> Result:
    given = ["heldout", "--votes", str(folder / votes), "--predictions", str(folder / "predictions.csv"), *words]
    return CliRunner().invoke(group, given)


def test_pools_as_json(folder: Path) -> None:
    ran = _run(folder, "votes.csv", "--metrics", "kl,brier,entropy_correlation", "--format", "json")
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    assert told["command"] == "heldout"
    assert told["settings"]["division"] == "pool"
    pools = ["heldout", "train", "all", "heldout - all", "heldout - train"]
    assert [row["pool"] for row in told["results"][:5]] == pools
    assert all(row["estimate"] is not None or row["reason"] for row in told["results"])
    codes = {note["code"] for note in told["warnings"]}
    assert {"held_out", "smaller_reference", "annotator_overlap"} <= codes


def test_random_divisions_on_a_terminal(folder: Path) -> None:
    ran = _run(folder, "unmarked.csv", "--metrics", "brier,accuracy", "--repeats", "5", "--share", ".3")
    assert ran.exit_code == 0, ran.output
    assert "pool" in ran.stdout
    assert "heldout - all" in " ".join(ran.stdout.split())
    assert "divided at random" in " ".join(ran.stdout.split())
    assert max(len(line) for line in ran.stdout.splitlines()) <= 100


@pytest.mark.parametrize("format", ["csv", "md", "tex"])
def test_other_formats(folder: Path, format: str) -> None:
    ran = _run(folder, "votes.csv", "--metrics", "brier", "--format", format)
    assert ran.exit_code == 0, ran.output
    if format == "csv":
        rows = list(csv.DictReader(io.StringIO(ran.stdout)))
        assert {row["pool"] for row in rows} >= {"heldout", "train", "all"}


@pytest.mark.parametrize(
    ("votes", "words", "match"),
    [
        ("votes.csv", ["--share", ".2"], "are for votes that do not"),
        ("votes.csv", ["--metrics", "kill"], "did you mean"),
        ("unmarked.csv", ["--repeats", "1"], "--repeats"),
        ("unmarked.csv", ["--share", "1.5"], "--share"),
    ],
)
def test_what_is_refused(
    folder: Path, votes: str, words: list[str], match: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["heldout", "--votes", str(folder / votes), "--predictions", str(folder / "predictions.csv"), *words]
    with pytest.raises(SystemExit) as left:
        main(given)
    assert left.value.code == 2
    assert match in capsys.readouterr().err
