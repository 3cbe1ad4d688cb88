"""``saturation elicit-compare`` and its figure."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import saturation as sat
from saturation.cli import group
from saturation.tables import io

KEYS = [
    "quantity", "metric", "side", "n", "seconds", "reference_size", "direction", "estimate", "low", "high", "se",
    "level", "interval", "estimator", "design", "n_resamples", "n_items", "n_cells", "reason", "mc_se", "censored",
]  # fmt: skip


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.7, 0.7], size=40)
    ids = [f"q{i:02d}" for i in range(40)]
    counts = np.stack([rng.multinomial(20, row) for row in p])
    votes = pl.DataFrame({"item_id": ids, "n_no": counts[:, 0], "n_yes": counts[:, 1]})
    said = np.repeat(p, 3, axis=0) * 0.8 + 0.1
    soft = pl.DataFrame(
        {"item_id": np.repeat(ids, 3), "annotator_id": ["a", "b", "c"] * 40, "p_no": said[:, 0], "p_yes": said[:, 1],
         "seconds": [20.0] * 120}
    )  # fmt: skip
    io.write_table(tmp_path / "v.parquet", votes, table="vote_counts", labels=("no", "yes"))
    io.write_table(tmp_path / "s.parquet", soft, table="soft_votes", labels=("no", "yes"))
    return tmp_path


def run(files, *more):
    words = ["elicit-compare", "--soft", files / "s.parquet", "--votes", files / "v.parquet", "--draws", "20", *more]
    return CliRunner().invoke(group, [str(word) for word in words], catch_exceptions=False, standalone_mode=False)


def test_rows_have_their_keys(files):
    said = json.loads(run(files, "--format", "json").stdout)
    assert all(list(row) == KEYS for row in said["results"])
    assert {row["quantity"] for row in said["results"]} == {
        "value", "equivalent_votes", "break_even_seconds", "bias_squared", "variance", "limit",
    }  # fmt: skip
    assert said["settings"]["seconds_per_soft"] == 20.0
    assert [note["code"] for note in said["warnings"]][:1] == ["worth"]
    assert "annotators_ignored" in {note["code"] for note in said["warnings"]}
    for row in said["results"]:
        assert row["estimate"] is not None or row["reason"]


def test_a_table_for_people(files):
    text = run(files, "--seconds-per-vote", "5").stdout
    assert "plain votes that score as the soft votes do" in text
    assert "time of the equivalent plain votes" in text


def test_the_figure(files):
    result = sat.elicit_compare(
        sat.read_soft_votes(files / "s.parquet"), sat.read_votes(files / "v.parquet"), n_draws=10, seconds_per_vote=5.0
    )
    ax = sat.plot.elicited(result, metric="brier")
    assert len(ax.lines) >= 2
    sat.plot.elicited(result, metric="brier", by="seconds")
    with pytest.raises(sat.UsageError, match="no metric 'kl'"):
        sat.plot.elicited(result, metric="kl")
    with pytest.raises(sat.UsageError, match="choose annotators or seconds"):
        sat.plot.elicited(result, by="money")
