"""The committed study is what the generator makes, and its scripts run."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import polars as pl
import pytest

from saturation.errors import UsageError
from saturation.simulate import demo, demo_files, study, truth, write_study

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"


def test_the_committed_study_is_that_of_seed_0(tmp_path):
    one = study(0)
    for path in write_study(one, tmp_path):
        committed = FIXTURES / "study" / path.name
        assert pl.read_parquet(path).equals(pl.read_parquet(committed)), path.name
        assert pl.read_parquet_metadata(path)["saturation"] == pl.read_parquet_metadata(committed)["saturation"]


def test_writing_twice_gives_the_same_bytes(tmp_path):
    one = study(0)
    first, second = write_study(one, tmp_path / "a"), write_study(one, tmp_path / "b")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_the_study_is_small():
    assert sum(path.stat().st_size for path in (FIXTURES / "study").iterdir()) < 1_500_000


def test_the_committed_truth_agrees_with_a_smaller_simulation():
    committed = pl.read_csv(FIXTURES / "study" / "truth.csv")
    keys = ["metric", "quantity", "condition", "curve", "budget", "baseline", "q"]
    small = truth.truth_table(n_runs=60, items_per_run=1000, seed=5)
    both = committed.join(small, on=keys, nulls_equal=True, suffix="_small")
    values = both.filter(quantity="value")
    assert values.height == 111  # 16 conditions x 7 metrics, less the correlation of the constant base rate
    z = (values["value"] - values["value_small"]) / (values["mc_se"] ** 2 + values["mc_se_small"] ** 2).sqrt()
    assert z.abs().max() < 5


def test_truths_are_known_far_better_than_a_study_estimates_them():
    """A study has 600 items; the truth of a mean was computed from 2,000,000, so 1/50 of its standard error or so."""
    values = pl.read_csv(FIXTURES / "study" / "truth.csv").filter(quantity="value", metric="kl")
    hard = values.filter(pl.col("condition").str.contains("hard"))
    assert hard["mc_se"][0] < 0.005
    fractions = pl.read_csv(FIXTURES / "study" / "truth.csv").filter(quantity="fraction", baseline="hard")
    assert fractions["mc_se"].max() < 0.03


def test_demo_files_fall_back_to_the_checkout_and_complain_otherwise(monkeypatch, tmp_path):
    assert all(path.is_file() for path in demo_files().values())
    monkeypatch.setattr(demo, "_FOLDERS", (tmp_path,))
    with pytest.raises(UsageError, match="install"):
        demo_files()


def test_every_fixture_goes_into_the_wheel():
    import tomllib

    settings = tomllib.loads((FIXTURES.parent / "pyproject.toml").read_text())
    included = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    names = {path.name for path in (FIXTURES / "study").iterdir()}
    assert included == {f"fixtures/study/{name}": f"saturation/_fixtures/study/{name}" for name in names}


def test_the_door_takes_the_study():
    panel = study(0).panel()
    assert panel.votes.labels == ("yes", "maybe", "no")
    assert panel.splits == ("42", "43", "44")
    assert [probs.shape for probs in panel.probs] == [(16, 3, 200, 3)] * 3
    assert panel.has_draws
    assert panel.votes.ballots is not None
    assert set(panel.votes.groups["source"]) == {"captions", "speech"}


def test_the_quickstart_runs(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", ["quickstart.py", str(tmp_path)])
    runpy.run_path(str(FIXTURES / "quickstart.py"))
    assert "entropy_correlation" in capsys.readouterr().out
    assert (tmp_path / "saturation_curve.svg").stat().st_size > 1000
