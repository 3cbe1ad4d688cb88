"""Every analysis from files to every format, on a study small enough to read."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random

import polars as pl
import pytest
from click.testing import CliRunner

from saturation.cli import group

LABELS = ("no", "maybe", "yes")
ITEMS = [f"q{n:02d}" for n in range(12)]
N_VOTES = 6
BUDGETS = (1, 2, 4)
ANALYSES = ("evaluate", "label-curve", "curve")
FAST = ("--n-resamples", "40", "--metrics", "kl,brier,entropy_correlation")


def vote_rows():
    draw = random.Random(7)
    for number, item in enumerate(ITEMS):
        weights = [1 + number % 3, 2, 1 + (number * 5) % 7]
        for annotator in range(N_VOTES):
            yield item, f"a{annotator}", draw.choices(LABELS, weights)[0]


def prediction_rows():
    draw = random.Random(11)
    for split, members in (("s1", ITEMS[:8]), ("s2", ITEMS[4:])):
        for seed in (0, 1, 2):
            for method, budget in [("hard", None), *(("soft", budget) for budget in BUDGETS)]:
                for item in members:
                    weights = [draw.gammavariate(1 + ITEMS.index(item) % 3, 1) + 0.05 for _ in LABELS]
                    sharp = [w ** (1 + 1 / (budget or 0.5)) for w in weights]
                    yield item, "m", method, budget, seed, split, *(w / sum(sharp) for w in sharp)


def table(rows, columns):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    return text.getvalue()


VOTE_COLUMNS = ("item_id", "annotator_id", "label")
PREDICTION_COLUMNS = ("item_id", "model", "method", "budget", "seed", "split", *(f"p_{label}" for label in LABELS))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    votes, predictions = list(vote_rows()), list(prediction_rows())
    (folder / "votes.csv").write_text(table(votes, VOTE_COLUMNS))
    (folder / "predictions.csv").write_text(table(predictions, PREDICTION_COLUMNS))
    (folder / "items.csv").write_text(table([(i, "xy"[n % 2]) for n, i in enumerate(ITEMS)], ("item_id", "source")))
    random.Random(3).shuffle(votes)
    random.Random(4).shuffle(predictions)
    (folder / "shuffled").mkdir()
    (folder / "shuffled" / "votes.csv").write_text(table(votes, VOTE_COLUMNS))
    (folder / "shuffled" / "predictions.csv").write_text(table(predictions, PREDICTION_COLUMNS))
    return folder


def words(command, folder, *more):
    tables = ["--votes", str(folder / "votes.csv"), "--labels", ",".join(LABELS)]
    if command != "label-curve":
        tables += ["--predictions", str(folder / "predictions.csv")]
    return [command, *tables, *FAST, *more]


def run(command, folder, *more):
    done = CliRunner().invoke(group, words(command, folder, *more), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def refuse_constant(text):
    raise AssertionError(f"{text} is not JSON")


def envelope(command, folder, *more):
    return json.loads(run(command, folder, "--format", "json", *more).stdout, parse_constant=refuse_constant)


@pytest.fixture(scope="module", params=ANALYSES)
def told(request, study):
    """A command and its JSON envelope."""
    return request.param, envelope(request.param, study)


def test_envelope(told, study):
    command, found = told
    assert (found["schema"], found["command"]) == ("saturation/1", command)
    assert found["data"]["n_items"] == len(ITEMS)
    assert found["data"]["n_votes"] == len(ITEMS) * N_VOTES
    assert found["data"]["n_annotators"] == N_VOTES
    for one in found["inputs"]:
        with open(one["path"], "rb") as stream:
            assert one["sha256"] == hashlib.sha256(stream.read()).hexdigest()
    roles = {"votes"} if command == "label-curve" else {"votes", "predictions"}
    assert {one["role"] for one in found["inputs"]} == roles


def test_settings_repeat_the_run(told):
    _, found = told
    settings = found["settings"]
    assert settings["labels"] == list(LABELS)
    assert (settings["seed"], settings["level"]) == (0, 0.95)
    assert settings["n_resamples"] == 40
    assert settings["metrics"] == ["kl", "brier", "entropy_correlation"]
    assert "design" in settings
    assert settings["missing_labels"] == "error"
    assert "threads" not in settings
    assert "out" not in settings


def test_rows_have_all_keys_and_a_number_or_a_reason(told):
    _, found = told
    rows = found["results"]
    assert rows
    assert all(list(row) == list(rows[0]) for row in rows)
    for row in rows:
        assert row["estimate"] is not None or row["reason"], row
        assert (row["low"] is None) == (row["interval"] == "none"), row
        if row["low"] is not None and row["high"] is not None:
            assert row["low"] <= row["high"], row
            assert row["level"] == 0.95
    assert {row["metric"] for row in rows} >= {"kl", "brier", "entropy_correlation"}


@pytest.mark.parametrize("format", ["csv", "md", "tex", "table", "parquet"])
def test_other_formats_hold_the_same_rows(told, study, tmp_path, format):
    command, found = told
    suffix = {"table": None}.get(format, f".{format}")
    if suffix is None:
        text = run(command, study).stdout
        assert "kl" in text
        return
    path = tmp_path / f"out{suffix}"
    done = run(command, study, "--out", str(path))
    assert done.stdout == ""
    if format == "csv":
        rows = list(csv.DictReader(io.StringIO(path.read_text())))
        texts = [{k: "" if v is None else str(v) for k, v in row.items()} for row in found["results"]]
        assert rows == texts
    elif format == "parquet":
        assert pl.read_parquet(path).to_dicts() == found["results"]
    else:
        assert "entropy" in path.read_text()


def test_threads_do_not_change_a_digit(told, study):
    command, found = told
    assert envelope(command, study, "--threads", "1") == found
    assert envelope(command, study, "--threads", "2") == found


def test_row_order_does_not_change_a_digit(told, study):
    command, found = told
    assert envelope(command, study / "shuffled")["results"] == found["results"]


def test_the_seed_is_used_and_recorded(told, study):
    command, found = told
    other = envelope(command, study, "--seed", "12345678901234567")
    assert other["settings"]["seed"] == 12345678901234567
    assert [row["metric"] for row in other["results"]] == [row["metric"] for row in found["results"]]


@pytest.mark.parametrize("command", ANALYSES)
def test_all_metrics_never_fail(command, study):
    found = envelope(command, study, "--metrics", "all")
    assert all(row["estimate"] is not None or row["reason"] for row in found["results"])


def test_by_cell_and_by_group(study):
    cells = envelope("evaluate", study, "--by", "cell")["results"]
    assert {(row["split"], row["seed"]) for row in cells} >= {(s, t) for s in ("s1", "s2") for t in (0, 1, 2)}
    groups = envelope("evaluate", study, "--items", str(study / "items.csv"), "--by", "source")["results"]
    assert {row["group"] for row in groups} >= {"x", "y"}


def test_an_unknown_metric_is_named(study):
    done = CliRunner().invoke(group, words("evaluate", study, "--metrics", "lk"))
    assert done.exit_code != 0
    assert "lk" in str(done.exception)


def test_metric_options_reach_the_metric(study):
    found = envelope("evaluate", study, "--metrics", "reverse_kl[floor=1e-12]")
    assert {row["metric"] for row in found["results"]} == {"reverse_kl[floor=1e-12]"}


SUMMARIES = {
    "metrics": [],
    "schema": ["votes"],
    "check": ["{study}/votes.csv", "{study}/predictions.csv", "--quiet"],
    "convert": ["long", "{study}/votes.csv", "--out", "{out}", "--quiet"],
    "report": ["--votes", "{study}/votes.csv", "--metrics", "kl", "--n-resamples", "20", "--out", "{out}", "--quiet"],
}


def summary(command, study, out, *more):
    filled = [word.format(study=study, out=out) for word in SUMMARIES[command]]
    done = CliRunner().invoke(group, [command, *filled, *more], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "Traceback" not in done.output
    return done.stdout


@pytest.mark.parametrize("format", ["table", "json", "csv", "md", "tex"])
@pytest.mark.parametrize("command", [name for name in SUMMARIES if name != "report"])
def test_summaries_in_every_format(command, study, tmp_path, format):
    text = summary(command, study, tmp_path / "out", "--format", format)
    assert text.strip()
    if format == "json":
        found = json.loads(text, parse_constant=refuse_constant)
        assert (found["schema"], found["command"]) == ("saturation/1", command)
    elif format == "csv":
        header, *rows = csv.reader(io.StringIO(text))
        assert rows
        assert all(len(row) == len(header) for row in rows)
    elif format == "tex":
        assert r"\begin{tabular}" in text
    elif format == "md":
        assert "| --- |" in text


def test_report_with_predictions_writes_its_folder_and_is_found_again(study, tmp_path):
    out = tmp_path / "page"
    more = ["--predictions", str(study / "predictions.csv")]
    found = json.loads(summary("report", study, out, *more, "--format", "json"), parse_constant=refuse_constant)
    assert {"label_curve", "curve", "evaluate"} <= set(found["sections"])
    assert (out / "index.html").read_text().lower().startswith("<!doctype html>")
    assert json.loads((out / "results.json").read_text())["sections"] == found["sections"]
    summary("report", study, out, *more)


def test_a_folder_of_somebody_else_is_not_written_to(study, tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    words = ["report", "--votes", str(study / "votes.csv"), "--metrics", "kl", "--out", str(tmp_path)]
    done = CliRunner().invoke(group, words)
    assert done.exit_code != 0
    assert "--overwrite" in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


@pytest.mark.parametrize("command", ["report", "demo", "convert"])
def test_a_summary_is_no_parquet_file(command, study, tmp_path):
    done = CliRunner().invoke(group, [command, "--format", "parquet", "--out", str(tmp_path / "x")])
    assert done.exit_code == 2
    assert not (tmp_path / "x").exists()
