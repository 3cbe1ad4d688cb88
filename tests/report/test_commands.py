"""``saturation report`` and ``saturation demo`` as a person types them."""

from __future__ import annotations

import json

import pytest

from saturation.cli import main

FAST = ("--metrics", "brier,tvd", "--n-resamples", "50")


@pytest.fixture
def votes_csv(tmp_path):
    """Twelve items, eight votes each, one row a vote; one label is a script."""
    labels = ["yes", "no", "<script>alert(1)</script>"]
    path = tmp_path / "mine.csv"
    rows = [f"q{i},a{a},{labels[(i * a + i + a // 3) % 3]}" for i in range(12) for a in range(8)]
    path.write_text("question,who,says\n" + "\n".join(rows) + "\n")
    return path


def run(*words):
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code


def columns(path):
    return ("--votes", path, "--item-column", "question", "--annotator-column", "who", "--label-column", "says")


def test_a_plain_csv_is_enough(votes_csv, tmp_path, capsys):
    out = tmp_path / "report"
    assert run("report", *columns(votes_csv), *FAST, "--out", out) == 0
    said = capsys.readouterr()
    assert "annotators per item" in said.out
    assert "about noise in the labels, not about training" in said.out
    assert f"wrote {out / 'index.html'}" in said.err
    page = (out / "index.html").read_text()
    assert "<script" not in page
    assert "--item-column question" in page
    results = json.loads((out / "results.json").read_text())
    assert results["inputs"][0]["sha256"] in page
    assert results["settings"]["labels"] == ["<script>alert(1)</script>", "no", "yes"]


def test_a_second_run_replaces_the_first(votes_csv, tmp_path):
    out = tmp_path / "report"
    assert run("report", *columns(votes_csv), *FAST, "--out", out, "--quiet") == 0
    before = (out / "index.html").read_text()
    assert run("report", *columns(votes_csv), *FAST, "--out", out, "--quiet") == 0
    assert (out / "index.html").read_text() == before


def test_a_folder_with_other_files_is_refused_before_anything_is_computed(votes_csv, tmp_path, capsys):
    out = tmp_path / "mine"
    out.mkdir()
    (out / "notes.txt").write_text("keep me")
    assert run("report", *columns(votes_csv), *FAST, "--out", out) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert [p.name for p in out.iterdir()] == ["notes.txt"]


def test_json_on_stdout_is_the_whole_result(votes_csv, tmp_path, capsys):
    assert run("report", *columns(votes_csv), *FAST, "--out", tmp_path / "r", "--format", "json", "--quiet") == 0
    printed = capsys.readouterr().out
    assert json.loads(printed) == json.loads((tmp_path / "r" / "results.json").read_text())


def test_options_about_models_need_predictions(votes_csv, tmp_path, capsys):
    assert run("report", *columns(votes_csv), *FAST, "--out", tmp_path / "r", "--ceiling", "method=soft") == 2
    assert "--ceiling: without --predictions" in capsys.readouterr().err


def test_demo_says_where_the_page_is_and_how_many_truths_are_inside(tmp_path, capsys):
    out = tmp_path / "demo"
    assert run("demo", "--out", out, "--n-resamples", "60") == 0
    said = capsys.readouterr()
    assert "planted truths" in said.out
    assert f"wrote {out / 'index.html'}" in said.err
    assert "its true answers are known" in (out / "index.html").read_text()
    assert json.loads((out / "results.json").read_text())["command"] == "demo"
