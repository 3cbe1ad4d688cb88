"""``saturation report`` and ``saturation demo`` as a person types them."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout

import pytest

from saturation.cli import main

FAST = ("--metrics", "brier", "--n-resamples", "50")


@pytest.fixture(scope="module")
def votes_csv(tmp_path_factory):
    """Twelve items, eight votes each, one row a vote; one label is a script."""
    labels = ["yes", "no", "<script>alert(1)</script>"]
    path = tmp_path_factory.mktemp("votes") / "mine.csv"
    rows = [f"q{i},a{a},{labels[(i * a + i + a // 3) % 3]}" for i in range(12) for a in range(8)]
    path.write_text("question,who,says\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module")
def said(votes_csv, tmp_path_factory):
    """One report: where it went, and what went to stdout and stderr."""
    out = tmp_path_factory.mktemp("said") / "report"
    return (out, *spoken("report", *columns(votes_csv), *FAST, "--out", out))


def spoken(*words):
    """What a command that succeeds writes to stdout and stderr."""
    with redirect_stdout(io.StringIO()) as stdout, redirect_stderr(io.StringIO()) as stderr:
        assert run(*words) == 0
    return stdout.getvalue(), stderr.getvalue()


def run(*words):
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code


def columns(path):
    return ("--votes", path, "--item-column", "question", "--annotator-column", "who", "--label-column", "says")


def test_a_plain_csv_is_enough(said):
    out, stdout, stderr = said
    assert stdout.startswith("Annotators per item, the labels alone")
    assert "about noise in the labels, not about training" in " ".join(stdout.split())
    assert f"wrote {out / 'index.html'}" in stderr
    page = (out / "index.html").read_text()
    assert "<script" not in page
    assert "--item-column question" in page
    results = json.loads((out / "results.json").read_text())
    assert results["inputs"][0]["sha256"] in page
    assert results["settings"]["labels"] == ["<script>alert(1)</script>", "no", "yes"]


def test_a_second_run_replaces_the_first_and_json_is_the_whole_result(said, votes_csv, capsysbinary):
    out = said[0]
    before = (out / "results.json").read_text()
    assert run("report", *columns(votes_csv), *FAST, "--out", out, "--format", "json", "--quiet") == 0
    assert (out / "results.json").read_text() == before
    assert json.loads(capsysbinary.readouterr().out) == json.loads(before)


def test_a_folder_with_other_files_is_refused_before_anything_is_computed(votes_csv, tmp_path, capsys):
    out = tmp_path / "mine"
    out.mkdir()
    (out / "notes.txt").write_text("keep me")
    assert run("report", *columns(votes_csv), *FAST, "--out", out) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert [p.name for p in out.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize(("option", "value"), [("--ceiling", "method=soft"), ("--floor", "1e-12")])
def test_options_about_models_need_predictions(votes_csv, tmp_path, capsys, option, value):
    assert run("report", *columns(votes_csv), *FAST, "--out", tmp_path / "r", option, value) == 2
    assert f"{option}: without --predictions" in capsys.readouterr().err


def test_demo_says_where_the_page_is_and_how_many_truths_are_inside(tmp_path, capsys):
    out = tmp_path / "demo"
    assert run("demo", "--out", out, "--n-resamples", "60") == 0
    said = capsys.readouterr()
    assert "planted truths" in said.out
    assert f"wrote {out / 'index.html'}" in said.err
    assert "its true answers are known" in (out / "index.html").read_text()
    assert json.loads((out / "results.json").read_text())["command"] == "demo"
