"""Responses of one's own, and those of CIFAR-10S, as soft_votes."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from saturation.datasets import convert
from saturation.errors import DataError, UsageError
from saturation.tables import io

CSV = (
    "item_id,annotator_id,top,top_percent,second,second_percent,impossible,seconds\n"
    "q1,a,yes,70,no,20,maybe,12.5\n"
    "q1,b,no,100,,,yes|maybe,8\n"
    "q2,a,maybe,50,,,,20\n"
)


def converted(tmp_path, text=CSV, name="mine.csv", **options):
    (tmp_path / name).write_text(text)
    listing = convert("elicited", tmp_path / name, tmp_path / "out", **options)
    return io.read_frame(tmp_path / "out/soft_votes.parquet"), listing


def test_a_table_of_ones_own(tmp_path):
    (frame, meta), listing = converted(tmp_path, labels=("yes", "no", "maybe"))
    assert meta.labels == ("yes", "no", "maybe")
    found = frame.select("p_yes", "p_no", "p_maybe").to_numpy()
    # q1/a: .1 is left, and every other label is impossible; q1/b: nobody to keep gamma for; q2: .5 for two labels
    assert np.allclose(found, [[7 / 9, 2 / 9, 0], [0, 1, 0], [0.25, 0.25, 0.5]])
    assert frame["seconds"].to_list() == [12.5, 8.0, 20.0]
    assert listing.records()[0]["annotators"] == 2


def test_json_lines_with_lists(tmp_path):
    rows = [
        {"item_id": "q1", "annotator_id": "a", "top": "yes", "top_percent": 70, "second": "no", "second_percent": 20,
         "impossible": ["maybe"]},
        {"item_id": "q1", "annotator_id": "b", "top": "no", "top_percent": 100, "second": None,
         "second_percent": None, "impossible": []},
    ]  # fmt: skip
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (frame, _), _ = converted(tmp_path, text, "mine.jsonl", labels=("yes", "no", "maybe"))
    assert np.allclose(frame.select("p_yes", "p_no", "p_maybe").to_numpy()[1], [0.05, 0.9, 0.05])


def test_repeats_of_one_person_are_no_further_people(tmp_path):
    (frame, _), listing = converted(tmp_path, CSV + "q1,a,no,90,,,,3\n")
    assert len(frame) == 3
    assert any("1 responses left out: the same annotator" in note.message for note in listing.notes)


def test_contradictions_are_counted_or_refused(tmp_path):
    text = CSV + "q2,b,yes,120,yes,10,yes,3\n"
    (_, _), listing = converted(tmp_path, text)
    account = json.loads((tmp_path / "out/convert.json").read_text())
    assert {entry["why"] for entry in account["repaired"]} == {
        "the second label is the first again", "the most probable label is ticked as impossible",
        "the second label is ticked as impossible", "a percent is above 100",
    }  # fmt: skip
    assert sum("repaired" in note.message for note in listing.notes) == 4
    with pytest.raises(DataError) as caught:
        converted(tmp_path, text, strict=True)
    assert {problem.item for problem in caught.value.problems} == {"q2"}
    assert len(caught.value.problems) == 4


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q3,a,,70,,,,1", "no most probable label"),
        ("q3,a,yes,seventy,,,,1", "top_percent is 'seventy', not a number"),
        ("q3,a,yes,-5,,,,1", "not a number from 0"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, line, message):
    with pytest.raises(DataError, match=message):
        converted(tmp_path, CSV + line + "\n")


def test_labels_that_are_none_are_refused(tmp_path):
    with pytest.raises(DataError, match="'maybe' is none of the labels"):
        converted(tmp_path, labels=("yes", "no"))
    with pytest.raises(UsageError, match="has no column annotator_id, top"):
        converted(tmp_path, "item_id,answer\nq1,yes\n")
    (tmp_path / "votes.csv").write_text("item_id,label\nq1,a\nq1,b\n")
    with pytest.raises(UsageError, match="does not take --gamma"):
        convert("long", tmp_path / "votes.csv", tmp_path / "other", gamma=0.2)


@pytest.mark.realdata
def test_both_files_of_cifar10s_are_the_same_votes(shared_data, tmp_path):
    folder = shared_data / "cifar10s/cifar10s_data"
    convert("cifar10s", folder / "human_soft_labels_data.json", tmp_path / "said")
    convert("cifar10s", folder / "cifar10s_t2clamp_redist10.json", tmp_path / "made")
    said, made = (io.read_frame(tmp_path / name / "soft_votes.parquet")[0] for name in ("said", "made"))
    assert len(said) == len(made) == 6723
    means = [
        frame.group_by("item_id").agg(pl.col("^p_.*$").mean()).sort("item_id").drop("item_id").to_numpy()
        for frame in (said, made)
    ]
    assert np.abs(means[0] - means[1]).max() < 1e-12
