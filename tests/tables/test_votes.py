"""The human side: counts, single votes, groups, majorities, and what the options leave out."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saturation.errors import DataError, UsageError
from saturation.tables.door import read_votes

LONG = {
    "item_id": ["b", "a", "b", "a", "b"],
    "annotator_id": ["x", "x", "y", "z", "z"],
    "label": ["no", "yes", "yes", "no", "no"],
}


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("dcba"), st.integers(0, 9).map(str), st.sampled_from(["u", "v", "w"])),
        min_size=3,
        max_size=40,
        unique_by=lambda vote: vote[:2],
    )
)
def test_counts_and_ballots_are_those_of_a_loop(votes):
    labels = ("w", "u", "v")
    frame = pl.DataFrame(votes, schema=["item_id", "annotator_id", "label"], orient="row")
    read = read_votes(frame, labels=labels)
    tally = Counter((item, label) for item, _, label in votes)
    assert read.item_ids == tuple(sorted({item for item, _, _ in votes}))
    assert read.counts.tolist() == [[tally[item, label] for label in labels] for item in read.item_ids]
    ballots = [
        (read.item_ids[i], read.ballots.annotator_ids[a], labels[k])
        for i, a, k in zip(read.ballots.item, read.ballots.annotator, read.ballots.label, strict=True)
    ]
    assert ballots == sorted(votes)


def test_label_order_is_said_and_numeric_where_all_are_numbers():
    frame = pl.DataFrame({"item_id": ["a", "a", "a"], "label": ["10", "9", "-1.5"]})
    votes = read_votes(frame)
    assert votes.labels == ("-1.5", "9", "10")
    assert votes.open_labels
    assert votes.ballots is None
    assert "-1.5, 9, 10" in votes.notes[0].message
    assert read_votes(frame.with_columns(label=pl.Series(["10", "9", "x"]))).labels == ("10", "9", "x")
    assert read_votes(frame.with_columns(label=pl.Series([10, 9, 2]))).labels == ("2", "9", "10")


def test_missing_labels_are_dropped_on_request_and_counted():
    frame = pl.DataFrame({"item_id": ["a", "a", "b", "b"], "label": ["x", "", None, "y"]})
    with pytest.raises(DataError) as caught:
        read_votes(frame)
    assert [(p.rule, p.row, p.item) for p in caught.value.problems] == [("V01", 2, "a"), ("V01", 3, "b")]
    votes = read_votes(frame, missing_labels="drop")
    assert votes.dropped == votes.summary.dropped == 2
    assert votes.counts.tolist() == [[1, 0], [0, 1]]
    counts = pl.DataFrame({"item_id": ["a", "b"], "n_x": [0, 1], "n_y": [0, 1]})
    votes = read_votes(counts, missing_labels="drop")
    assert votes.item_ids == ("b",)
    assert votes.dropped == 1


@pytest.mark.parametrize(("rule", "kept"), [("first", [1, 0]), ("last", [0, 1])])
def test_repeated_votes(rule, kept):
    frame = pl.DataFrame({"item_id": ["a", "a"], "annotator_id": ["1", "1"], "label": ["x", "y"]})
    votes = read_votes(frame, labels=["x", "y"], duplicates=rule)
    assert votes.counts.tolist() == [kept]
    assert votes.dropped == 1
    assert f"the {rule} of each" in votes.notes[-1].message or f"the {rule}" in votes.notes[-1].message


def test_ids_stay_text_in_every_format(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("item_id,annotator_id,label\n0012,007,1\n12,7,01\n=1+1,<script>,1\n../x,a,01\n")
    votes = read_votes(path)
    assert votes.item_ids == ("../x", "0012", "12", "=1+1")
    assert votes.labels == ("01", "1")
    assert votes.ballots.annotator_ids == ("007", "7", "<script>", "a")


def test_byte_order_mark_crlf_and_blank_lines(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_bytes(b"\xef\xbb\xbfitem_id,n_a,n_b\r\nq1,1,2\r\nq2,3.0,4\r\n\r\n")
    votes = read_votes(path)
    assert votes.item_ids == ("q1", "q2")
    assert votes.counts.tolist() == [[1, 2], [3, 4]]
    path = tmp_path / "votes.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"item_id": 7, "label": "a"}\r\n\r\n{"item_id": 8, "label": "b"}\r\n')
    assert read_votes(path).item_ids == ("7", "8")


def test_plain_long_table_with_named_columns():
    frame = pl.DataFrame(LONG).rename({"item_id": "text", "annotator_id": "worker", "label": "answer"})
    with pytest.raises(DataError, match=r"--item-column \(item_column=\) and --label-column \(label_column=\)"):
        read_votes(frame)
    votes = read_votes(frame, item_column="text", annotator_column="worker", label_column="answer")
    assert votes.counts.tolist() == read_votes(pl.DataFrame(LONG)).counts.tolist()
    assert votes.ballots.annotator_ids == ("x", "y", "z")
    with pytest.raises(UsageError, match="no column 'worker_id'; its columns are text, worker, answer"):
        read_votes(frame, item_column="text", annotator_column="worker_id", label_column="answer")


def test_plain_wide_table_with_named_labels():
    frame = pl.DataFrame({"text": ["b", "a"], "source": ["s", "t"], "yes": ["3", "1"], "no": ["0", "2"]})
    votes = read_votes(frame, item_column="text", labels=["no", "yes"])
    assert votes.labels == ("no", "yes")
    assert votes.counts.tolist() == [[2, 1], [0, 3]]
    assert votes.groups == {"source": ("t", "s")}


def test_items_bring_majority_and_groups():
    items = pl.DataFrame(
        {"item_id": ["b", "zz", "a"], "majority_label": ["yes", "no", None], "source": ["s", "t", None]}
    )
    votes = read_votes(pl.DataFrame(LONG), items=items)
    assert votes.labels == ("no", "yes")
    assert votes.majority.tolist() == [-1, 1]
    assert votes.groups["source"] == (None, "s")
    assert [one.role for one in votes.inputs] == ["votes", "items"]
    votes = read_votes(pl.DataFrame(LONG), items=items.filter(pl.col("item_id") != "a"))
    assert votes.notes[-1].message == "1 voted items are not in the items table"


def test_attributes_of_counts_and_of_long_votes():
    counts = pl.DataFrame(
        {"item_id": ["b", "a"], "source": ["s", ""], "n_x": [1, 2], "n_y": [3, 0], "majority_label": ["x", "y"]}
    )
    votes = read_votes(counts)
    assert votes.groups == {"source": (None, "s")}
    assert votes.majority.tolist() == [1, 0]
    long = pl.DataFrame(LONG | {"source": ["s", "t", "s", "t", "s"], "device": ["p", "q", "q", "p", "p"]})
    assert read_votes(long).groups == {"source": ("t", "s")}


def test_lists_in_an_items_table_become_text():
    items = pl.DataFrame({"item_id": ["a", "b"], "old_labels": [["x", "y"], None]})
    assert read_votes(pl.DataFrame(LONG), items=items).groups["old_labels"] == ("['x', 'y']", None)


def test_pools_are_kept_and_used_together():
    votes = read_votes(pl.DataFrame(LONG | {"pool": ["train", "train", "heldout", "heldout", "train"]}))
    assert votes.counts.tolist() == [[1, 1], [2, 1]]
    assert votes.pools["train"].tolist() == [[0, 1], [2, 0]]
    assert (votes.pools["train"] + votes.pools["heldout"]).tolist() == votes.counts.tolist()
    assert "both_pools" in {note.code for note in votes.notes}
    assert votes.take(np.array([1])).pools["train"].tolist() == [[2, 0]]


def test_single_votes_know_their_pool():
    votes = read_votes(pl.DataFrame(LONG | {"pool": ["train", "train", "heldout", "heldout", "train"]}))
    for code, name in enumerate(("train", "heldout")):
        own = votes.ballots.of_pool(code)
        again = np.zeros_like(votes.counts)
        np.add.at(again, (own.item, own.label), 1)
        assert again.tolist() == votes.pools[name].tolist()
        assert own.annotator_ids == votes.ballots.annotator_ids
    kept = votes.take(np.array([1])).ballots
    assert len(kept.pool) == len(kept.item)


def test_one_label_is_not_enough_and_total_is_no_label():
    with pytest.raises(DataError, match=r"\[L01\].*declare the others with --labels"):
        read_votes(pl.DataFrame({"item_id": ["a"], "label": ["x"]}))
    assert read_votes(pl.DataFrame({"item_id": ["a"], "label": ["x"]}), labels=["x", "y"]).counts.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"duplicates": "keep"}, "duplicates='keep'"),
        ({"missing_labels": "ignore"}, "missing_labels='ignore'"),
        ({"labels": "abc"}, "list of texts"),
        ({"labels": ["a"]}, "at least two"),
        ({"labels": ["a", "a"]}, "repeat"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, words):
    with pytest.raises(UsageError, match=words):
        read_votes(pl.DataFrame(LONG), **options)


def test_decimal_ids_are_refused_but_whole_numbers_and_truth_values_are_text():
    with pytest.raises(DataError, match=r"\[T06\]"):
        read_votes(pl.DataFrame({"item_id": [1.0, 2.0], "label": ["a", "b"]}))
    votes = read_votes(pl.DataFrame({"item_id": [2, 10], "label": [True, False]}))
    assert votes.item_ids == ("10", "2")
    assert votes.labels == ("false", "true")


def test_ten_thousand_items_of_ten_labels_keep_their_counts():
    rng = random.Random(1)
    ids = [str(i) for i in range(10_000)]
    rng.shuffle(ids)
    frame = pl.DataFrame({"item_id": ids} | {f"n_{k}": [(int(i) + k) % 7 + 1 for i in ids] for k in range(10)})
    votes = read_votes(frame)
    expected = [[(int(item) + k) % 7 + 1 for k in range(10)] for item in votes.item_ids]
    assert votes.counts.tolist() == expected


@pytest.mark.realdata
def test_real_votes_with_ids(shared_data):
    import json

    rows = []
    for split in ("train", "dev", "test"):
        path = shared_data / "lewidi2023" / "HS-Brexit_dataset" / f"HS-Brexit_{split}.json"
        for key, item in json.loads(path.read_text()).items():
            pairs = zip(item["annotators"].split(","), item["annotations"].split(","), strict=True)
            rows += [{"item_id": f"{split}-{key}", "annotator_id": a, "label": v} for a, v in pairs]
    votes = read_votes(pl.DataFrame(rows))
    assert (votes.summary.n_items, votes.summary.n_votes, votes.summary.n_annotators) == (1120, 6720, 6)
    assert votes.labels == ("0", "1")


@pytest.mark.parametrize("votes", [[10_001, 0], [2**62, 2**62], [9_999, 2]])
def test_more_votes_than_can_be_drawn_are_refused(votes):
    frame = pl.DataFrame({"item_id": ["a"], "n_x": votes[:1], "n_y": votes[1:]})
    with pytest.raises(DataError, match=r"\[V06\].*more than 10,000 votes"):
        read_votes(frame)
    assert read_votes(frame.with_columns(n_x=9_999, n_y=1)).counts.sum() == 10_000


@pytest.mark.parametrize("twin", ["yes ", "Yes", "\uff59es"])
def test_labels_written_in_two_ways_are_told(twin):
    votes = read_votes(pl.DataFrame({"item_id": ["a", "a", "b"], "label": ["no", "yes", twin]}))
    assert len(votes.labels) == 3
    (note,) = [note for note in votes.notes if note.code == "labels_alike"]
    assert repr("yes") in note.message
    assert repr(twin) in note.message
    plain = read_votes(pl.DataFrame({"item_id": ["a", "a"], "label": ["no", "yes"]}))
    assert "labels_alike" not in [note.code for note in plain.notes]
