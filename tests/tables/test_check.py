"""``check``: what a file was taken for, and every problem of every file."""

from __future__ import annotations

import json

import polars as pl
import pytest
from click.testing import CliRunner

from saturation.cli.check import command as check
from saturation.cli.schema import TABLES as NAMES
from saturation.cli.schema import command as schema
from saturation.errors import DataError, UsageError
from saturation.tables.checking import check_files
from saturation.tables.io import write_example, write_table
from saturation.tables.rules import RULES
from saturation.tables.schema import TABLES, example


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_recognised_by_their_columns_and_by_their_metadata(tmp_path, table):
    if table == "votes":  # one vote alone shows one label
        path = tmp_path / "votes.csv"
        path.write_text("item_id,label\nq1,yes\nq1,no\n")
    else:
        path = write_example(tmp_path / f"{table}.csv", table)
    (found,) = check_files([path]).files
    assert (found.table, found.taken_by, found.items) == (table, "columns", 1)
    labels = None if table in ("items", "splits") else ["yes", "no"]
    path = write_table(tmp_path / "t.parquet", example(table), table=table, labels=labels, provenance={"step": "here"})
    (found,) = check_files([path]).files
    assert (found.table, found.taken_by, found.provenance) == (table, "metadata", {"step": "here"})
    assert found.labels == tuple(labels or ())


def test_predictions_say_what_they_hold_and_are_aligned_with_votes(tmp_path):
    votes = tmp_path / "v.csv"
    votes.write_text("item_id,n_yes,n_no\nq1,1,2\nq2,2,2\n")
    predictions = tmp_path / "p.csv"
    predictions.write_text("item_id,method,budget,seed,split,p_no,p_yes\nq1,soft,3,1,a,.5,.5\nq1,hard,,1,a,.5,.5\n")
    result = check_files([votes, predictions])
    assert result.files[1].conditions == ("model=model,method=hard", "model=model,method=soft,budget=3")
    assert (result.files[1].seeds, result.files[1].splits, result.files[1].labels) == ((1,), ("a",), ("no", "yes"))
    assert [note.code for note in result.notes] == ["voted_without_predictions"]


def test_problems_of_all_files_come_together(tmp_path):
    (tmp_path / "a.csv").write_text("item_id,n_yes,n_no\nq1,-1,2\n")
    (tmp_path / "b.csv").write_text("item_id,n_yes,n_no\nq1,1,x\n")
    with pytest.raises(DataError) as caught:
        check_files([tmp_path])
    assert len(caught.value.problems) == 2


def test_unclear_files_need_to_be_told(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("item_id,annotator_id,model,p_yes,p_no\nq1,a,m,.5,.5\n")
    with pytest.raises(DataError, match=r"\[T02\].*could be soft_votes or predictions.*--as"):
        check_files([path])
    assert check_files([path], as_="soft_votes").files[0].taken_by == "--as"
    with pytest.raises(UsageError, match="no table 'ballots'"):
        check_files([path], as_="ballots")


def test_command_prints_what_it_found(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("item_id,n_yes,n_no\n<script>,1,2\n")
    run = CliRunner().invoke(check, [str(path)], catch_exceptions=False)
    assert run.exit_code == 0
    assert "vote_counts (by columns), 1 rows, 1 items" in run.stdout
    run = CliRunner().invoke(check, [str(path), "--format", "json"], catch_exceptions=False)
    (row,) = json.loads(run.stdout)["results"]
    assert (row["table"], row["labels"], row["conditions"]) == ("vote_counts", "yes, no", None)


def test_rules_are_printed_and_written(tmp_path):
    run = CliRunner().invoke(check, ["--rules"], catch_exceptions=False)
    assert [line.split()[:2] for line in run.stdout.splitlines()] == [[rule.code, rule.slug] for rule in RULES]
    out = tmp_path / "rules.csv"
    CliRunner().invoke(check, ["--rules", "--out", str(out)], catch_exceptions=False)
    assert pl.read_csv(out)["code"].to_list() == [rule.code for rule in RULES]
    assert CliRunner().invoke(check, []).exit_code == 2
    assert CliRunner().invoke(check, ["--rules", str(out)]).exit_code == 2


@pytest.mark.parametrize("table", NAMES)
def test_schema_describes_and_writes_a_template(tmp_path, table):
    assert tuple(TABLES) == NAMES
    run = CliRunner().invoke(schema, [table], catch_exceptions=False)
    assert run.stdout.endswith(example(table).write_csv() + "\n") or run.stdout.endswith(example(table).write_csv())
    assert "item_id" in run.stdout
    out = tmp_path / "t.csv"
    CliRunner().invoke(schema, [table, "--out", str(out)], catch_exceptions=False)
    assert out.read_text() == example(table).write_csv()
    run = CliRunner().invoke(schema, [table, "--format", "json"], catch_exceptions=False)
    assert json.loads(run.stdout)["results"][0]["column"] == "item_id"


def test_files_are_compared_with_the_votes(tmp_path):
    """Four files: items that only one side knows, and labels that differ, are named; the panel's own remarks stay."""
    (tmp_path / "votes.csv").write_text("item_id,n_yes,n_no\nq1,1,2\nq2,2,2\nq3,0,4\n")
    (tmp_path / "items.csv").write_text("item_id,source\nq1,a\nq2,b\nq9,b\n")
    (tmp_path / "soft.csv").write_text("item_id,annotator_id,p_no,p_yes\nq1,w1,0.5,0.5\nq2,w1,0.5,0.5\nq3,w1,0.5,0.5\n")
    (tmp_path / "other.csv").write_text("item_id,annotator_id,p_yes,p_maybe\nq1,w1,0.5,0.5\nq2,w1,1,0\nq3,w1,0,1\n")
    notes = check_files(sorted(tmp_path.glob("*.csv"))).notes
    said = {(note.code, note.message.replace(f"{tmp_path}/", "")) for note in notes}
    order = "soft.csv has the labels no, yes, votes.csv yes, no"
    assert said == {
        ("items_unknown", "items.csv: 1 of its 3 items are not in the votes ('q9')"),
        ("items_missing", "items.csv: 1 of 3 items of the votes are not in it ('q3')"),
        (
            "labels_differ",
            "other.csv has the labels yes, maybe, votes.csv yes, no: they cannot be read together",
        ),
        (
            "label_order_differs",
            f"{order}: the same in another order; columns are matched by name",
        ),
    }
    assert check_files([tmp_path / "votes.csv"]).notes == ()
