"""``saturation study`` from files to a folder: pages, tables, figures, kept analyses, several data sets."""

from __future__ import annotations

import csv
import json
import re

import pytest
from click.testing import CliRunner

from saturation.cli import group
from saturation.cli.study_listing import read_listing
from saturation.errors import UsageError
from tests.cli.test_commands import LABELS, study  # noqa: F401 - a fixture

FAST = ("--n-resamples", "40", "--metrics", "kl,brier")


def run(*words, code=0):
    done = CliRunner().invoke(group, ["study", *map(str, words)], catch_exceptions=code != 0)
    if code == 0:
        assert done.exit_code == 0, done.output
    return done


def listing(folder, path, names=("first", "second")):
    """The same tables under two names, and the second with labels in another order."""
    text = ""
    for place, name in enumerate(names):
        labels = list(LABELS) if place == 0 else list(reversed(LABELS))
        text += (
            f'[{name}]\nvotes = "{folder}/votes.csv"\npredictions = ["{folder}/predictions.csv"]\nlabels = {labels}\n'
        )
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def written(study, tmp_path_factory):  # noqa: F811
    out = tmp_path_factory.mktemp("out") / "study"
    toml = listing(study, tmp_path_factory.mktemp("toml") / "studies.toml")
    done = run("--studies", toml, "--out", out, *FAST, "--cost-per-vote", "0.1", "--cost-per-item", "0.5")
    return out, toml, done


def test_the_folder_has_pages_tables_figures_and_results(written):
    out, _, done = written
    assert "wrote" in done.stderr
    assert (out / "index.html").is_file()
    assert {path.name for path in (out / "models").iterdir()} == {"first-m", "second-m"}
    assert all((path / "index.html").is_file() for path in (out / "models").iterdir())
    names = {path.name for path in (out / "tables").iterdir()}
    assert {"main.csv", "main.tex", "across.csv", "advice.csv", "advice.tex", "murphy.csv", "murphy.tex", "n_star.csv",
            "saturation_curve.csv", "fractions.csv", "compare.csv", "label_curve.csv"} <= names  # fmt: skip
    assert list((out / "figures").glob("fractions_*.svg"))
    found = json.loads((out / "results.json").read_text())
    assert (found["command"], found["schema"]) == ("study", "saturation/1")
    assert [(part["data"], part["model"]) for part in found["parts"]] == [("first", "m"), ("second", "m")]
    assert found["settings"]["cost_per_vote"] == 0.1
    assert list(found["data"]) == ["first", "second"]


def test_the_links_of_the_page_lead_somewhere(written):
    out, _, _ = written
    page = (out / "index.html").read_text()
    targets = re.findall(r'<a href="([^"]+)"', page)
    assert len(targets) == 2
    assert all((out / target).is_file() for target in targets)
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_every_table_is_about_both_data_sets_with_the_rows_of_the_json(written):
    out, _, _ = written
    found = json.loads((out / "results.json").read_text())
    for name in ("main", "across", "advice"):
        with (out / "tables" / f"{name}.csv").open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert len(rows) == len(found["tables"][name])
        assert list(rows[0]) == list(found["tables"][name][0])
    with (out / "tables" / "murphy.csv").open(newline="") as stream:
        assert {row["data"] for row in csv.DictReader(stream)} == {"first", "second"}


def test_latex_tables_are_closed_and_escaped(written):
    out, _, _ = written
    for path in (out / "tables").glob("*.tex"):
        text = path.read_text()
        assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") > 0
        assert text.isascii(), {c for c in text if not c.isascii()}
        for line in text.splitlines():
            if line.startswith("%"):
                continue
            assert not re.search(r"(?<!\\)[%#]|(?<![\\$])_", line), line
            columns = {part.count("&") - part.count(r"\&") for part in [line] if line.endswith(r"\\")}
            assert len(columns) <= 1


def test_the_same_study_again_reads_what_was_kept(written, monkeypatch):
    out, toml, _ = written
    before = {path.name: path.read_bytes() for path in (out / "tables").iterdir()}

    def refuse(*_args, **_options):
        raise AssertionError("nothing is computed again")

    monkeypatch.setattr("saturation.report.study_folder.write_report", lambda *_: None)
    monkeypatch.setattr("saturation.analyses.evaluate.evaluate", refuse)
    monkeypatch.setattr("saturation.analyses.comparing.comparison.compare_pairs", refuse)
    run("--studies", toml, "--out", out, *FAST, "--cost-per-vote", "0.1", "--cost-per-item", "0.5")
    assert {path.name: path.read_bytes() for path in (out / "tables").iterdir()} == before


def test_an_interrupted_folder_is_ours(written, tmp_path, study):  # noqa: F811
    out = tmp_path / "study"
    (out / ".parts").mkdir(parents=True)
    (out / "figures").mkdir()
    options = ["--votes", study / "votes.csv", "--predictions", study / "predictions.csv", "--labels", ",".join(LABELS)]
    done = run(*options, "--out", out, "--n-resamples", "40", "--metrics", "kl", "--format", "json")
    found = json.loads(done.stdout)  # the whole study
    assert found == json.loads((out / "results.json").read_text())
    assert list(found["data"]) == ["data"]
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "thesis.txt").write_text("mine")
    refused = run(*options, "--out", strange, code=2)
    assert "holds other files" in str(refused.exception)


def test_an_interrupted_study_says_that_it_goes_on(study, tmp_path, monkeypatch):  # noqa: F811
    def stop(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("saturation.analyses.evaluate.evaluate", stop)
    options = ["--votes", study / "votes.csv", "--predictions", study / "predictions.csv", "--labels", ",".join(LABELS)]
    done = run(*options, "--out", tmp_path / "s", "--n-resamples", "40", "--metrics", "kl", code=130)
    assert "the same command goes on from there" in done.stderr
    assert not (tmp_path / "s" / "results.json").exists()
    assert list((tmp_path / "s" / ".parts").glob("*.json"))  # the curve


def test_what_is_printed(written):
    _, _, done = written
    assert "for 90%" in done.stdout
    assert "first" in done.stdout
    assert "brier" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give --votes and --predictions, or --studies"),
        (["--votes", "v.csv"], "give --votes and --predictions"),
        (["--studies", "s.toml", "--votes", "v.csv"], "drop --votes"),
        (["--studies", "s.toml", "--labels", "a,b"], "drop --labels"),
        (["--studies", "nowhere.toml"], "cannot read nowhere.toml"),
    ],
)
def test_contradictory_options_are_refused(words, message, tmp_path):
    done = run(*words, "--out", tmp_path / "s", code=2)
    assert message in str(done.exception)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "lists no data set"),
        ("votes = 'v.csv'", "is no table"),
        ("[a]\nvotes = 'v.csv'", "names no predictions"),
        ("[a]\nvotes = 'v.csv'\npredictions = 'p.csv'\nmodel = 'm'", "unknown key 'model'"),
        ("[a]\nvotes = 3\npredictions = 'p.csv'", "give a text or a list of texts"),
        ("[a\n", "is not TOML"),
    ],
)
def test_listings_that_cannot_be_read_say_why(text, message, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        read_listing(path)


def test_paths_of_a_listing_are_relative_to_it(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text('["a b"]\nvotes = "v.csv"\npredictions = ["p/*.csv", "q.csv"]\nitem_column = "uid"\n')
    (entry,) = read_listing(path).values()
    assert entry["votes"] == (tmp_path / "v.csv",)
    assert entry["predictions"] == (tmp_path / "p/*.csv", tmp_path / "q.csv")
    assert (entry["item_column"], entry["items"]) == ("uid", ())
