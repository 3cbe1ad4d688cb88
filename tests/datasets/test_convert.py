"""What convert leaves in the folder: tables, account, pseudonyms; and what it refuses."""

from __future__ import annotations

import hashlib
import hmac
import json

import polars as pl
import pytest
from click.testing import CliRunner

from saturation.cli import convert as command
from saturation.datasets import FORMATS, convert
from saturation.errors import DataError, UsageError

CSV = "item_id,annotator_id,label\nq1,w1,yes\nq1,w2,no\nq2,w1,yes\n"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in" / "mine.csv"
    path.parent.mkdir()
    path.write_text(CSV)
    return path


def test_the_account_says_what_was_read_and_written(source, tmp_path):
    result = convert("long", source, tmp_path / "out")
    account = json.loads((tmp_path / "out" / "convert.json").read_text())
    digest = hashlib.sha256(CSV.encode()).hexdigest()
    assert account["inputs"] == [{"role": "long", "path": str(source), "sha256": digest, "rows": 3}]
    written = hashlib.sha256((tmp_path / "out" / "votes.parquet").read_bytes()).hexdigest()
    assert account["outputs"][0]["sha256"] == written
    assert account["outputs"][0]["rows"] == 3
    assert result.records()[0]["annotators"] == 2
    meta = json.loads(pl.read_parquet_metadata(tmp_path / "out" / "votes.parquet")["saturation"])
    assert meta["provenance"]["inputs"][0]["sha256"] == digest


def test_the_same_conversion_writes_the_same_bytes(source, tmp_path):
    convert("long", source, tmp_path / "a")
    convert("long", source, tmp_path / "b")
    for name in ("votes.parquet", "convert.json"):
        first, second = ((tmp_path / folder / name).read_bytes() for folder in "ab")
        assert first == second


def test_pseudonyms_are_hmac_with_a_private_key(source, tmp_path):
    key_file = tmp_path / "key"
    convert("long", source, tmp_path / "out", hash_annotators=True, hash_key_file=key_file)
    key = key_file.read_bytes()
    assert key_file.stat().st_mode & 0o777 == 0o600
    assert len(key) == 32
    votes = pl.read_parquet(tmp_path / "out" / "votes.parquet")
    expected = {name: hmac.new(key, name.encode(), hashlib.sha256).hexdigest() for name in ("w1", "w2")}
    found = {(row["item_id"], row["annotator_id"], row["label"]) for row in votes.iter_rows(named=True)}
    assert found == {("q1", expected["w1"], "yes"), ("q1", expected["w2"], "no"), ("q2", expected["w1"], "yes")}
    assert not any(
        key in path.read_bytes() or key.hex().encode() in path.read_bytes() for path in (tmp_path / "out").iterdir()
    )
    assert not {"w1", "w2"} & {cell for column in votes.iter_columns() for cell in column.to_list()}
    convert("long", source, tmp_path / "again", hash_annotators=True, hash_key_file=key_file)
    assert key_file.read_bytes() == key
    assert pl.read_parquet(tmp_path / "again" / "votes.parquet").equals(votes)


def test_keys_that_are_refused(source, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(UsageError, match="--hash-key-file"):
        convert("long", source, out, hash_annotators=True)
    with pytest.raises(UsageError, match="--hash-annotators"):
        convert("long", source, out, hash_key_file=tmp_path / "key")
    with pytest.raises(UsageError, match="output folder"):
        convert("long", source, out, hash_annotators=True, hash_key_file=out / "key")
    (tmp_path / "open").write_bytes(bytes(32))
    (tmp_path / "open").chmod(0o644)
    with pytest.raises(UsageError, match="chmod 600"):
        convert("long", source, out, hash_annotators=True, hash_key_file=tmp_path / "open")
    (tmp_path / "short").write_bytes(b"abc")
    (tmp_path / "short").chmod(0o600)
    with pytest.raises(UsageError, match="3 bytes"):
        convert("long", source, out, hash_annotators=True, hash_key_file=tmp_path / "short")
    counts = tmp_path / "in" / "counts.csv"
    counts.write_text("item_id,n_a,n_b\nq1,1,2\n")
    with pytest.raises(UsageError, match="no annotator ids"):
        convert("wide", counts, out, hash_annotators=True, hash_key_file=tmp_path / "key")


def test_folders_of_others_are_left_alone(source, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("x")
    with pytest.raises(UsageError, match="--overwrite"):
        convert("long", source, out)
    convert("long", source, out, overwrite=True)
    assert (out / "thesis.txt").read_text() == "x"
    with pytest.raises(UsageError, match="is a file"):
        convert("long", source, source)


def test_a_second_conversion_leaves_no_stale_table(source, tmp_path):
    convert("long", source, tmp_path / "out")
    counts = tmp_path / "in" / "counts.csv"
    counts.write_text("item_id,n_a,n_b\nq1,1,2\n")
    convert("wide", counts, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["convert.json", "vote_counts.parquet"]


def test_nothing_is_written_when_a_table_would_be_refused(tmp_path):
    """An id that the tables do not take is named by its key, and the earlier conversion stays."""
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({"1": {"w1": 0, "w2": 1}}))
    convert("peerannot", path, tmp_path / "out")
    before = {one.name: one.read_bytes() for one in (tmp_path / "out").iterdir()}
    path.write_text(json.dumps({"1": {"w1": 0}, "k\n9": {"w2": 1}}))
    with pytest.raises(DataError, match=r"T05.*votes from .*answers\.json.*k\\n9"):
        convert("peerannot", path, tmp_path / "out")
    assert {one.name: one.read_bytes() for one in (tmp_path / "out").iterdir()} == before


def test_a_source_is_never_replaced(source, tmp_path):
    convert("long", source, tmp_path / "out")
    with pytest.raises(UsageError, match="would replace the source"):
        convert("long", tmp_path / "out" / "votes.parquet", tmp_path / "out")


def test_unknown_formats_and_options(source, tmp_path):
    with pytest.raises(UsageError, match=r"did you mean cifar10h or cifar10s\?.*chaosnli"):
        convert("cifar10", source, tmp_path / "out")
    with pytest.raises(UsageError, match="chaosnli does not take --labels"):
        convert("chaosnli", source, tmp_path / "out", labels=["a", "b"])
    with pytest.raises(UsageError, match="twice"):
        convert("long", [source, source], tmp_path / "out")
    with pytest.raises(UsageError, match="name the files"):
        convert("long", [], tmp_path / "out")


def test_the_command(source, tmp_path):
    assert tuple(FORMATS) == command.FORMATS
    assert all(name in (command.command.help or "") for name in FORMATS)
    result = CliRunner().invoke(
        command.command, ["long", str(source), "--out", str(tmp_path / "out"), "--format", "json", "--quiet"]
    )
    assert result.exit_code == 0, result.output
    envelope = json.loads(result.stdout)
    assert envelope["command"] == "convert"
    assert envelope["results"][0]["table"] == "votes"
    assert (tmp_path / "out" / "votes.parquet").exists()
