"""The small study and the ready study files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from inference import example, studies
from inference.cli import group
from inference.study import Workshop, merge, work
from inference.study_file import read_study
from saturation.errors import UsageError
from saturation.tables.door import read_panel, read_votes

READY = sorted(Path(next(iter(studies.__path__))).glob("*.toml"))


def test_the_small_study_runs_as_written(tmp_path):
    folder = tmp_path / "small"
    CliRunner().invoke(group, ["study", "example", str(folder)], catch_exceptions=False, standalone_mode=False)
    study = read_study(folder / "study.toml")
    short = replace(study, seeds=(0,), data=replace(study.data, split_names=("1",)), temperature=False)
    short = replace(short, recipe=replace(study.recipe, epochs=1))
    shop = Workshop(short, folder / "grid")
    work(shop)
    panel = read_panel(folder / "votes.parquet", merge(shop))
    assert len(panel.conditions) == 6
    with pytest.raises(UsageError, match="not empty"):
        CliRunner().invoke(group, ["study", "example", str(folder)], catch_exceptions=False, standalone_mode=False)


def test_its_votes_follow_its_law(tmp_path):
    """Law by hand: 'never' alone adds (3, 0, -2), divided by 1.5."""
    grown = np.exp([2.0, 0.0, -4 / 3])
    assert np.allclose(example._law(["never", "rain", "sun"]), grown / grown.sum())
    laws = np.array([example._law(words) for words in example._sentences()])
    counts = example._votes(laws)
    assert (counts.sum(1) == example.N_VOTES).all()
    # mean over 600 items of a share of 30 votes: standard error at most .5 / sqrt(18,000) = .004; 5 of them
    assert np.abs((counts / 30).mean(0) - laws.mean(0)).max() < 0.02


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_ready_study_files_can_be_read(path):
    study = read_study(path)
    assert len(study.runs(3)) > 100


@pytest.mark.realdata
def test_the_plan_for_eight_accelerators(shared_data, tmp_path):
    """The grid of the paper: conditions, shards, and the time that a rate implies."""
    import json
    import shutil

    from saturation.cli import group as toolkit

    source = shared_data / "chaosnli/data/chaosNLI_v1.0"
    words = ["convert", "chaosnli", source / "chaosNLI_snli.jsonl", source / "chaosNLI_mnli_m.jsonl", "--out", tmp_path]
    CliRunner().invoke(toolkit, [str(word) for word in words], catch_exceptions=False, standalone_mode=False)
    shutil.copy(next(path for path in READY if path.stem == "chaosnli"), tmp_path / "study.toml")
    words = ["study", "plan", tmp_path / "study.toml", "--rate", "780", "--workers", "8", "--format", "json"]
    result = CliRunner().invoke(group, [str(word) for word in words], catch_exceptions=False, standalone_mode=False)
    said = json.loads(result.stdout)
    assert said["items"] == 3113
    assert said["conditions"] == 18
    # each model: a base rate a split, and 16 trained conditions for each of 3 x 3 cells
    assert said["runs"] == 3 * (3 + 9 * 16)
    assert said["runs_per_shard"] == 56
    assert said["items_trained"] == 3 * 9 * 16 * 2179 * 5
    assert "780 items a second and worker" in said["assumption"]
    assert read_votes(tmp_path / "vote_counts.parquet").counts.sum() == 311_300
