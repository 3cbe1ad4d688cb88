"""Where results go: format by suffix, never over an input, never half, stdout for the result alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from saturation.cli import output
from saturation.cli.output import print_result, refuse_inputs, resolve_format
from saturation.errors import UsageError
from saturation.results import Input, Listing, Note

LISTING = Listing(command="metrics", rows=({"name": "kl", "value": 0.1},), notes=(Note("n", "a remark"),))


@pytest.mark.parametrize("suffix", [".json", ".csv", ".md", ".tex", ".parquet", ".JSON"])
def test_the_suffix_decides(suffix):
    assert resolve_format(None, Path(f"x{suffix}")) == suffix[1:].lower()


def test_agreement_and_default():
    assert resolve_format("json", Path("x.json")) == "json"
    assert resolve_format(None, None) == "table"
    assert resolve_format("md", None) == "md"


@pytest.mark.parametrize(
    ("format", "out", "says"),
    [
        ("csv", "x.json", "drop one of them"),
        ("table", "x.json", "drop one of them"),
        (None, "x.txt", "end it in one of .json"),
        (None, "x", "end it in one of .json"),
        ("json", "x", "end it in one of .json"),
        ("parquet", None, "add --out FILE.parquet"),
    ],
)
def test_contradictions(format, out, says):
    with pytest.raises(UsageError, match=says):
        resolve_format(format, None if out is None else Path(out))


def test_no_input_is_overwritten_under_any_of_its_names(tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("precious")
    (tmp_path / "link.csv").symlink_to(votes)
    for name in (votes, tmp_path / "link.csv", tmp_path / "." / "votes.csv"):
        with pytest.raises(UsageError, match="is an input of this run"):
            refuse_inputs(name, [votes])
    refuse_inputs(tmp_path / "other.csv", [votes])
    result = Listing(command="x", rows=(), inputs=(Input("votes", str(votes), None, 1),))
    with pytest.raises(UsageError, match="is an input"):
        print_result(result, None, votes)
    assert votes.read_text() == "precious"


def test_stdout_carries_the_result_alone(capfd):
    print_result(LISTING, "csv")
    captured = capfd.readouterr()
    assert captured.out == "name,value\nkl,0.1\n"
    assert captured.err == "note: a remark\n"
    print_result(LISTING, "csv", None, quiet=True)
    assert capfd.readouterr().err == ""


def test_remarks_are_inside_where_the_format_can_hold_them(capfd):
    print_result(LISTING, "json")
    captured = capfd.readouterr()
    assert json.loads(captured.out)["warnings"] == [{"code": "n", "message": "a remark"}]
    assert captured.err == ""


def test_a_file_says_that_it_was_written(tmp_path, capfd):
    path = tmp_path / "r.json"
    print_result(LISTING, None, path)
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", f"wrote {path}\n")
    assert json.loads(path.read_text())["results"] == [{"name": "kl", "value": 0.1}]


def test_machine_formats_are_utf8_whatever_the_terminal():
    import click

    @click.command()
    def command():
        print_result(Listing(command="x", rows=({"name": "é≤"},)), "csv")

    done = CliRunner(charset="latin-1").invoke(command)
    assert done.stdout_bytes == "name\né≤\n".encode()


def test_colour_follows_the_terminal_and_no_color(monkeypatch):
    monkeypatch.setattr(output, "_terminal", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert output._colour()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not output._colour()
    monkeypatch.setattr(output, "_terminal", lambda: False)
    assert output._width() == 100
