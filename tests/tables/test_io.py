"""Files: what is written is read again, and what is not a table is refused by name."""

from __future__ import annotations

import gzip
import json
import os
import pickle
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from saturation.errors import DataError, UsageError
from saturation.tables import provenance
from saturation.tables.door import read_panel, read_votes
from saturation.tables.io import load, read_frame, write_example, write_table
from saturation.tables.schema import TABLES, example
from saturation.tables.validate import validate

SUFFIXES = (".parquet", ".csv", ".jsonl", ".arrow")
COUNTS = pl.DataFrame({"item_id": ["q1", "q2"], "n_no": [7, 0], "n_yes": [3, 5]})
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp")), min_size=1, max_size=8)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_hostile_names_are_harmless_text(tmp_path, suffix):
    labels = ['say "no"', "a,b", "=1+1", "<script>alert(1)</script>", "../x", "n_", " "]
    frame = pl.DataFrame({"item_id": ['"', "@SUM(A1)", "-1+2"]} | {f"n_{label}": [1, 2, 3] for label in labels})
    votes = read_votes(write_table(tmp_path / f"v{suffix}", frame, table="vote_counts", labels=labels))
    assert votes.labels == tuple(labels)
    assert votes.item_ids == ('"', "-1+2", "@SUM(A1)")
    assert votes.counts[:, 0].tolist() == [1, 3, 2]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ids=st.lists(TEXT, min_size=1, max_size=5, unique=True),
    labels=st.lists(TEXT, min_size=2, max_size=3, unique=True),
    weights=st.lists(st.floats(1e-9, 1), min_size=15, max_size=15),
)
def test_every_format_gives_the_same_panel(tmp_path, ids, labels, weights):
    rows = [weights[3 * i : 3 * i + len(labels)] for i in range(len(ids))]
    probs = [[w / sum(row) for w in row] for row in rows]
    predictions = pl.DataFrame(
        {
            "item_id": ids,
            "model": "=HYPERLINK(1)",
            "method": "soft",
            "budget": 10,
            "alpha": 1 / 3,
            "seed": 1,
            "layers": 12,
        }
        | {f"p_{label}": [row[k] for row in probs] for k, label in enumerate(labels)}
    )
    counts = pl.DataFrame({"item_id": ids} | {f"n_{label}": range(1, len(ids) + 1) for label in labels})
    seen = set()
    for suffix in SUFFIXES:
        votes = write_table(tmp_path / f"v{suffix}", counts, table="vote_counts", labels=labels)
        path = write_table(
            tmp_path / f"p{suffix}", predictions, table="predictions", labels=labels[::-1], condition_columns=["layers"]
        )
        panel = read_panel(votes, path)
        assert panel.votes.labels == tuple(labels)
        seen.add(
            (panel.votes.item_ids, str(panel.conditions[0]), panel.probs[0].tobytes(), panel.votes.counts.tobytes())
        )
    assert len(seen) == 1
    assert panel.conditions[0].get("layers") == 12


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_example_rows_pass_their_own_rules(tmp_path, table, suffix):
    path = write_example(tmp_path / f"t{suffix}", table)
    assert not path.with_name(path.name + ".meta.json").exists()
    clean = validate(load(path, "table"), table)
    assert len(clean) == 1
    labels = None if table in ("items", "splits") else ["no", "yes"]
    written = write_table(tmp_path / f"w{suffix}", example(table), table=table, labels=labels)
    frame, meta = read_frame(written)
    assert (meta.table, meta.labels) == (table, None if labels is None else ("no", "yes"))
    assert frame.shape == example(table).shape


def test_metadata_wins_and_stray_columns_stay_attributes(tmp_path):
    frame = COUNTS.with_columns(n_tokens=pl.Series([12, 8]))
    made = provenance.describe("test", answer=42)
    path = write_table(tmp_path / "v.csv", frame, table="vote_counts", labels=["yes", "no"], provenance=made)
    votes = read_votes(path)
    assert votes.labels == ("yes", "no")
    assert votes.groups == {"n_tokens": ("12", "8")}
    side = json.loads((tmp_path / "v.csv.meta.json").read_text())
    assert list(side) == ["schema", "table", "labels", "condition_columns", "provenance"]
    assert side["provenance"]["answer"] == 42
    votes = read_votes(path, labels=["no", "yes"])
    assert votes.labels == ("yes", "no")
    assert votes.notes[0].code == "labels_from_metadata"
    with pytest.raises(DataError, match=r"\[F07\]"):
        read_votes(path, labels=["no", "maybe"])


def test_writing_is_repeatable_and_checked(tmp_path):
    for suffix in SUFFIXES:
        a = write_table(tmp_path / f"a{suffix}", COUNTS, table="vote_counts", labels=["no", "yes"]).read_bytes()
        b = write_table(tmp_path / f"b{suffix}", COUNTS, table="vote_counts", labels=["no", "yes"]).read_bytes()
        assert a == b
    with pytest.raises(DataError, match=r"\[V06\]"):
        write_table(tmp_path / "c.csv", COUNTS.with_columns(n_no=-1), table="vote_counts", labels=["no", "yes"])
    assert not (tmp_path / "c.csv").exists()
    with pytest.raises(UsageError, match="unknown suffix"):
        write_table(tmp_path / "c.dat", COUNTS, table="vote_counts", labels=["no", "yes"])
    with pytest.raises(UsageError, match="no table 'counts'"):
        write_table(tmp_path / "c.csv", COUNTS, table="counts", labels=["no", "yes"])


def test_frames_of_every_library_are_the_same_votes():
    frames = [COUNTS, COUNTS.lazy(), COUNTS.to_pandas(), COUNTS.to_arrow()]
    assert {read_votes(frame).counts.tobytes() for frame in frames} == {read_votes(COUNTS).counts.tobytes()}
    assert read_votes(COUNTS).inputs[0].path == "(data frame)"
    votes = read_votes(
        pd.DataFrame({"item_id": ["a", "a"], "label": ["x", None]}), labels=["x", "y"], missing_labels="drop"
    )
    assert votes.dropped == 1
    with pytest.raises(DataError, match=r"\[F05\]"):
        read_votes(pd.DataFrame([[1, 2, 3]], columns=["item_id", "n_a", "n_a"]))
    with pytest.raises(UsageError, match="from dict"):
        read_votes({"item_id": ["a"]})


def test_columns_of_mixed_types_and_inner_names_are_refused():
    with pytest.raises(DataError, match=r"\[T06\].*mixes types"):
        read_votes(pd.DataFrame({"item_id": ["a", 1], "label": ["x", "y"]}))
    with pytest.raises(DataError, match=r"\[F05\].*rename"):
        read_votes(COUNTS.with_columns(__row__=1))


def test_metadata_of_an_arrow_table_is_read():
    text = json.dumps({"schema": 1, "table": "vote_counts", "labels": ["yes", "no"]})
    table = COUNTS.to_arrow().replace_schema_metadata({"saturation": text})
    assert isinstance(table, pa.Table)
    assert read_votes(table).labels == ("yes", "no")


def test_folders_globs_and_several_files(tmp_path):
    for name, item in (("a.csv", "q1"), ("b.csv", "q2")):
        (tmp_path / name).write_text(f"item_id,n_x,n_y\n{item},1,2\n")
    (tmp_path / "README.md").write_text("not a table")
    (tmp_path / "[c].csv").write_text("item_id,n_y,n_x\nq3,1,2\n")
    assert read_votes(str(tmp_path / "?.csv")).item_ids == ("q1", "q2")
    assert read_votes(tmp_path / "[c].csv").labels == ("y", "x")
    votes = read_votes([tmp_path / "b.csv", tmp_path / "a.csv"])
    assert votes.item_ids == ("q1", "q2")
    assert [one.rows for one in votes.inputs] == [1, 1]
    assert len(votes.inputs[0].sha256) == 64
    votes = read_votes(tmp_path)  # three files, the columns of one in another order
    assert votes.labels == ("y", "x")
    assert votes.counts.tolist() == [[2, 1], [2, 1], [1, 2]]
    with pytest.raises(UsageError, match="given twice"):
        read_votes([tmp_path / "a.csv", tmp_path / "a.csv"])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("-", "standard input"),
        ("https://example.org/votes.csv", "remote address"),
        ("s3://bucket/votes.parquet", "remote address"),
        (Path("https://example.org/votes.csv"), "remote address"),
        ("votes.csv", "there is no file"),
        ("*.parquet", "no file matches"),
    ],
)
def test_sources_that_are_no_files(tmp_path, monkeypatch, source, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=words):
        read_votes(source)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "votes.csv")
    with pytest.raises(UsageError, match="device or a pipe"):
        read_votes(tmp_path / "votes.csv")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("votes.zip", "archive"),
        ("votes.csv.gz", "archive"),
        ("votes.pkl", "pickle"),
        ("votes.npy", "pickle or array"),
        ("votes.xlsx", "not read here"),
        ("votes.json", "not read here"),
        ("votes", "unknown suffix"),
    ],
)
def test_files_of_other_kinds_are_refused_by_name(tmp_path, name, words):
    path = tmp_path / name
    path.write_bytes(b"anything")
    with pytest.raises(UsageError, match=words):
        read_votes(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (gzip.compress(b"item_id", mtime=0), "gzip"),
        (b"PK\x03\x04rest", "zip"),
        (pickle.dumps([1]), "pickle"),
        (b'{"item_id": 1}', "jsonl"),
        (b'[{"item_id": 1}]', "one object a line"),
        ("item_id".encode("utf-16"), "UTF-16"),
        (b"PAR1", "parquet"),
        (b"a,b\n\x00", "binary"),
    ],
)
def test_content_that_is_not_csv(tmp_path, content, words):
    path = tmp_path / "votes.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"\[F01\].*{words}"):
        read_votes(path)


@pytest.mark.parametrize(
    ("name", "content", "rule", "row"),
    [
        ("a.csv", b"item_id,n_x,n_y\nq1,1,2\nq2,1,2,3\n", "F04", 2),
        ("a.csv", b"item_id;n_x;n_y\nq1;1;2\n", "F04", None),
        ("a.csv", b'item_id,n_x,n_y\n"q1,1,2\n', "F04", None),
        ("a.csv", b"item_id,,n_y\nq1,1,2\n", "F04", None),
        ("a.csv", b"item_id,label\nq1,a\nq2,b\nitem_id,label\nq1,b\n", "F04", 3),
        ("a.csv", b"  \n", "F02", None),
        ("a.jsonl", b'{"item_id": "a", "n_x": 1, "n_y": 2}\n{"item_id": \n', "F04", 2),
        ("a.jsonl", b'{"item_id": "a", "n_x": NaN, "n_y": 2}\n', "F04", 1),
        ("a.parquet", b"PAR1 cut off", "F04", None),
        ("a.arrow", b"ARROW1\x00\x00 cut off", "F04", None),
    ],
)
def test_broken_files_name_the_row(tmp_path, name, content, rule, row):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_votes(path)
    assert {(problem.rule, problem.row) for problem in caught.value.problems} == {(rule, row)}


@pytest.mark.parametrize("position", [721, 730, 737])
def test_a_flipped_byte_that_frightens_the_reader_is_a_damaged_file(tmp_path, position):
    path = tmp_path / "a.arrow"
    pl.DataFrame({"item_id": ["a", "b"], "n_x": [1, 2], "n_y": [3, 4]}).write_ipc(path, compression="uncompressed")
    content = bytearray(path.read_bytes())
    content[position] ^= 0x7F  # an offset in the footer: polars panics
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"\[F04\].*damaged"):
        read_votes(path)


@pytest.mark.parametrize(
    "text",
    ["not json", "[]", '{"schema": 2, "table": "votes"}', '{"schema": 1, "table": "votes", "labels": "ab"}', "\xff"],
)
def test_bad_sidecars_are_refused(tmp_path, text):
    (tmp_path / "v.csv").write_text("item_id,n_x,n_y\nq1,1,2\n")
    (tmp_path / "v.csv.meta.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match=r"\[F07\].*v.csv.meta.json"):
        read_votes(tmp_path / "v.csv")


def test_wrong_table_for_an_option(tmp_path):
    path = write_table(tmp_path / "p.parquet", example("predictions"), table="predictions", labels=["yes", "no"])
    with pytest.raises(DataError, match="a table of predictions, not of votes or vote_counts"):
        read_votes(path)
