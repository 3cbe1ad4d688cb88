"""One set of rows, six formats: same numbers, same keys, nothing lost, nothing executed."""

from __future__ import annotations

import csv
import io
import json
import math
import re

import polars as pl
import pyarrow.parquet as pq
import pytest

from saturation.conditions import Condition
from saturation.report.layout import arrange, with_interval
from saturation.report.output import as_csv, as_json, as_latex, as_markdown, as_table, latex, render, write
from saturation.results import (
    Answer,
    CurveRow,
    DataSummary,
    EvaluateResult,
    EvaluateRow,
    LabelCurveResult,
    Listing,
    Note,
    ReportResult,
    SaturationResult,
    Uncertainty,
)

SUMMARY = DataSummary(n_items=2, n_labels=2, n_votes=6, votes_min=3, votes_max=3)
KL = 0.6173031800504526
INTERVAL = {"level": 0.95, "interval": "bca", "design": "items", "n_resamples": 2000, "n_items": 617, "n_cells": 9}
ROWS = (
    EvaluateRow(
        metric="kl",
        condition=Condition.of(model="m", method="soft", budget=10),
        direction="lower",
        unc=Uncertainty(estimate=KL, low=0.5532, high=0.6814, se=0.03, **INTERVAL),
        corrected=0.5,
        corrected_low=0.4,
        corrected_high=0.6,
    ),
    EvaluateRow(
        metric="entropy_correlation",
        condition=Condition.of(model="m", method="hard"),
        direction="higher",
        unc=Uncertainty(estimate=None, reason="constant: all | entropies agree & nothing <varies>", **INTERVAL),
    ),
)
RESULT = EvaluateResult(rows=ROWS, settings={"seed": 0}, data=SUMMARY, notes=(Note("order", "labels in file order"),))
EMPTY = LabelCurveResult(rows=(), settings={}, data=SUMMARY)
REPORT = ReportResult(
    sections={"evaluate": RESULT},
    settings={},
    data=SUMMARY,
    answers=(
        Answer(metric="kl", curve="model=m", headline="10 votes", detail="keep 90%", assumption="one study"),
        Answer(metric="tvd", curve=None, headline="20 votes", detail="keep 95%", assumption="one study"),
    ),
)


HEADERS = ["metric", "method", "budget", "better", "estimate [low, high]", "corrected [low, high]"]


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_json_is_the_envelope_and_keeps_every_digit():
    assert json.loads(as_json(RESULT)) == RESULT.to_dict()
    assert str(KL) in as_json(RESULT)
    assert as_json(RESULT).endswith("}\n")


def test_json_refuses_what_is_not_json():
    class Leaky:
        def to_dict(self):
            return {"estimate": math.nan}

    with pytest.raises(ValueError, match="Out of range float"):
        as_json(Leaky())


def test_csv_has_the_rows_and_keys_of_json():
    rows = read_csv(as_csv(RESULT))
    records = json.loads(as_json(RESULT))["results"]
    assert [list(row) for row in rows] == [list(record) for record in records]
    for row, record in zip(rows, records, strict=True):
        assert {k: v or None for k, v in row.items()} == {k: None if v is None else str(v) for k, v in record.items()}
    assert float(rows[0]["estimate"]) == KL


def test_csv_of_no_rows_still_has_its_header():
    assert as_csv(EMPTY).startswith("quantity,metric,budget,q,target,")
    assert as_csv(EMPTY).count("\n") == 1


def test_parquet_keeps_columns_types_and_what_made_them(tmp_path):
    write(RESULT, tmp_path / "r.parquet", "parquet")
    assert pl.read_parquet(tmp_path / "r.parquet").equals(RESULT.to_frame())
    about = json.loads(pq.read_schema(tmp_path / "r.parquet").metadata[b"saturation_result"])
    assert about["command"] == "evaluate"
    assert about["settings"] == {"seed": 0}
    write(EMPTY, tmp_path / "empty.parquet", "parquet")
    assert pl.read_parquet(tmp_path / "empty.parquet").schema == EMPTY.to_frame().schema


@pytest.mark.parametrize("format", ["table", "json", "csv", "md", "tex"])
@pytest.mark.parametrize("result", [RESULT, EMPTY, REPORT, Listing(command="metrics", rows=({"name": "kl"},))])
def test_every_result_has_every_format(tmp_path, format, result):
    text = render(result, format)
    assert text.endswith("\n")
    assert "nan" not in text.lower().split()
    write(result, tmp_path / "out", format)
    assert (tmp_path / "out").read_text(encoding="utf-8") == text


def test_table_for_people():
    text = as_table(RESULT)
    assert "0.617 [0.553, 0.681]" in text
    assert "0.50 [0.40, 0.60]" in text
    assert "- (1)" in text, "a missing number is marked, never an empty cell"
    assert "(1) constant: all | entropies agree & nothing <varies>" in text
    assert "note: labels in file order" in text
    assert "model: m" in text, "what all rows share is said once"
    header = text.splitlines()[0]
    assert re.split("  +", header.strip()) == HEADERS


@pytest.mark.parametrize("width", [40, 60, 80])
def test_remarks_keep_to_the_width_too(width):
    assert all(len(line) <= max(width, 58) for line in as_table(RESULT, width=width).splitlines())


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_lines_of_the_grid_keep_to_the_width(width):
    rows = tuple(
        CurveRow(
            quantity="fraction",
            metric=f"metric_{n}",
            curve=f"model=m{n},method=soft",
            budget=n,
            baseline=f"smoothing[0.{n}]",
            ceiling=f"model=m{n},method=soft,budget=100",
            direction="lower" if n % 2 else "higher",
            unc=Uncertainty(estimate=n / 7, low=n / 8, high=n / 6, level=0.95, design="crossed", n_items=n),
            simultaneous_low=0.1 * n,
            simultaneous_high=0.2 * n,
            fieller_low=0.1,
            fieller_high=0.2 + n,
            fieller_shape="bounded",
            denominator_p=0.01 * n,
        )
        for n in range(1, 9)
    )
    text = as_table(SaturationResult(rows=rows, settings={}, data=SUMMARY), width=width)
    title, *grid = text.split("not shown for want of width")[0].splitlines()
    assert title == "fraction"
    assert all(len(line) <= width for line in grid[:10])
    if width >= 100:
        assert [line.split()[0] for line in grid[2:10]] == [f"metric_{n}" for n in range(1, 9)], "no line is folded"
        assert "estimate [low, high]" in grid[0]
    if width < 160:
        assert "not shown for want of width: " in text


def test_reasons_are_numbered_by_first_use_and_said_once():
    reasons = ["b", None, "a", "b"]
    page = arrange([{"metric": "m", "estimate": n, "low": None, "reason": r} for n, r in enumerate(reasons)])
    assert page.footnotes == ("b", "a")
    assert [row[-1] for row in page.sections[0].rows] == ["0 (1)", "1", "2 (2)", "3 (1)"]


def test_a_section_a_quantity_says_once_what_its_rows_share():
    def row(quantity, budget, **more):
        unc = Uncertainty(estimate=budget / 10, low=0.0, high=1.0, level=0.95, reason=more.pop("reason", None))
        return CurveRow(quantity=quantity, metric="kl", curve="c", budget=budget, direction="lower", unc=unc, **more)

    rows = (
        row("value", 1),
        row("value", 2, reason="few"),
        row("fraction", 1, baseline="hard"),
        row("fraction", 2, baseline="hard", reason="few"),
        row("n_star", 3, baseline="hard", q=0.9, reason="none of them"),
    )
    lines = as_table(SaturationResult(rows=rows, settings={}, data=SUMMARY)).splitlines()
    headings = [line for line in lines if line.startswith(("value", "fraction", "N*"))]
    assert headings == ["value", "fraction (baseline: hard)", "N* (budget: 3; baseline: hard; q: 0.9)"]
    assert lines[1].split("  ")[0] == "metric"
    assert "curve: c; better: lower; level: 0.95; interval: none; estimator: plugin" in lines
    assert [line for line in lines if line.startswith("(")] == ["(1) few", "(2) none of them"]
    tables = as_latex(SaturationResult(rows=rows, settings={}, data=SUMMARY))
    assert tables.count(r"\begin{tabular}") == tables.count(r"\toprule") == 3
    assert as_markdown(SaturationResult(rows=rows, settings={}, data=SUMMARY)).count("| --- |") == 3


def test_conditions_are_compared_within_a_metric():
    def row(metric, budget):
        condition = Condition.of(model="m", method="soft", budget=budget)
        return EvaluateRow(metric=metric, condition=condition, direction="lower", unc=Uncertainty(estimate=0.5))

    several = [row(metric, budget) for metric in ("kl", "tvd") for budget in (1, 2)]
    text = as_table(EvaluateResult(rows=several, settings={}, data=SUMMARY))
    assert [line for line in text.splitlines() if line in ("kl", "tvd")] == ["kl", "tvd"]
    assert [line.split() for line in text.splitlines()[1:5:2]] == [["budget", "estimate"], ["1", "0.5"]]
    one_each = as_table(EvaluateResult(rows=several[::2], settings={}, data=SUMMARY))
    assert one_each.splitlines()[0].split() == ["metric", "estimate"]


def test_a_listing_of_one_row_is_a_table():
    text = as_table(Listing(command="check", rows=({"file": "a.csv", "table": "votes", "rows": 3},)))
    assert [line.split() for line in text.splitlines() if line.strip("─-+ ")] == [
        ["file", "table", "rows"],
        ["a.csv", "votes", "3"],
    ]


def test_a_single_row_keeps_metric_and_estimate_and_says_the_rest_below():
    text = as_table(EvaluateResult(rows=ROWS[:1], settings={}, data=SUMMARY))
    assert text.splitlines()[0].split() == ["metric", "estimate", "[low,", "high]", "corrected", "[low,", "high]"]
    assert "model: m; method: soft; budget: 10" in text
    assert "level: 0.95; interval: bca" in text


# Half widths by hand: (0.6814 - 0.5532) / 2 = 0.0641 -> two digits are 0.064 -> 3 decimals.
# 7.5 -> 1 decimal (whole numbers stay whole); 123.5 -> none; 3.2e-5 -> 6; without a width: four significant digits.
@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    [
        (KL, 0.5532, 0.6814, "0.617 [0.553, 0.681]"),
        (10.0, 5.0, 20.0, "10 [5, 20]"),
        (10.5, 5.0, 20.0, "10.5 [5.0, 20.0]"),
        (1000.4, 900.0, 1147.0, "1000 [900, 1147]"),
        (1e-4, 7e-5, 1.34e-4, "0.000100 [0.000070, 0.000134]"),
        (0.5, 0.5, 0.5, "0.5 [0.5, 0.5]"),
        (0.0, 0.0, 0.0, "0 [0, 0]"),
        (-0.25, -0.5, 0.001, "-0.25 [-0.50, 0.00]"),
        (-0.25, -0.5, -0.001, "-0.25 [-0.50, 0.00]"),
        (0.231, -12.2, 12.6, "0.23 [-12.20, 12.60]"),
        (-0.0004, -21.0, 20.0, "0.00 [-21.00, 20.00]"),
        (0.0, -21.0, 20.0, "0 [-21, 20]"),
        (None, 1.0, 2.5, "- [1.00, 2.50]"),
        (0.5, None, None, "0.5"),
        (0.123456, None, None, "0.1235"),
        (5.0, None, 10.0, "5 [open, 10]"),
        (None, None, None, "-"),
    ],
)
def test_digits(value, low, high, shown):
    assert with_interval(value, low, high) == shown


def test_standard_error_stands_in_for_a_missing_interval():
    assert with_interval(0.5, None, None, 0.0123) == "0.5 (se 0.012)"
    assert with_interval(0.5, 0.4, 0.6, 0.0123) == "0.50 [0.40, 0.60]"


def test_a_censored_answer_says_so_and_a_missing_one_keeps_its_place():
    def row(**more):
        return {
            "metric": "kl",
            "quantity": "n_star",
            "estimate": None,
            "low": None,
            "high": None,
            "reason": None,
            "censored": None,
        } | more

    page = arrange([row(low=5.0, censored="above", reason="> 50"), row(estimate=3.0, low=1.0, high=5.0)])
    assert page.sections[0].keys == ("metric", "estimate")
    assert [cells[1] for cells in page.sections[0].rows] == ["above (5, open] (1)", "3 (1, 5]"]
    (only,) = arrange([row(reason="undefined")]).sections
    assert only.rows == (("kl", "- (1)"),)


def test_text_of_the_user_is_never_markup():
    rows = ({"metric": "[red]x[/red] <b> :smile: \\", "group": "a|b"}, {"metric": "*y*", "group": "`c`"})
    listing = Listing(command="x", rows=rows)
    assert "[red]x[/red] <b> :smile: \\" in as_table(listing)
    markdown = as_markdown(listing).splitlines()
    assert markdown[2] == r"| \[red\]x\[/red\] \<b\> :smile: \\ | a\|b |"
    assert r"\textless{}b\textgreater{}" in as_latex(listing)


def test_markdown():
    lines = as_markdown(RESULT).splitlines()
    assert lines[0].count("|") == lines[1].count("|") == lines[2].count("|") == 7
    assert lines[1] == "| --- | --- | ---: | --- | ---: | ---: |"
    assert "- (1) constant" in as_markdown(RESULT)


def test_latex_is_a_booktabs_tabular_with_every_special_character_escaped():
    text = as_latex(RESULT)
    assert text.count(r"\begin{tabular}{llrlrr}") == text.count(r"\end{tabular}") == 1
    assert [text.index(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == sorted(
        text.index(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")
    )
    assert r"entropy\_correlation" in text
    assert r"agree \& nothing \textless{}varies\textgreater{}" in text
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0]
    assert all(line.count(" & ") == 5 for line in body.strip().splitlines())
    assert latex("#$%&_{}~^\\<>|") == (
        r"\#\$\%\&\_\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}\textless{}\textgreater{}\textbar{}"
    )


def test_ascii_only_where_the_terminal_cannot_do_more():
    assert as_table(RESULT, ascii_only=True).isascii()
    assert not as_table(RESULT).isascii()


def test_colour_only_on_request():
    assert "\x1b[" not in as_table(RESULT)
    assert "\x1b[" in as_table(RESULT, color=True)


def test_a_report_is_its_answers_in_flat_formats_and_its_sections_in_json():
    assert [row["metric"] for row in read_csv(as_csv(REPORT))] == ["kl", "tvd"]
    assert list(json.loads(as_json(REPORT))["sections"]) == ["evaluate"]


def test_symbols_of_ours_are_commands_in_latex():
    r"""Of the characters that we print ourselves pdflatex knows none as a letter: each becomes a command."""
    made = latex("\u22121 \u2264 N \u2265 2 \u2193\u2191 \u221e \u00d7 \u00b1 a\u2013b \u2026")
    assert made == (r"$-$1 $\leq$ N $\geq$ 2 $\downarrow$$\uparrow$ $\infty$ $\times$ $\pm$ a--b \ldots{}")


def test_markdown_means_no_entity_and_no_strike():
    row = EvaluateRow(metric="kl", condition=Condition.of(model="a&lt;~~b~~", method="x"), direction="lower",
                      unc=Uncertainty(0.5, reason="none"))  # fmt: skip
    made = as_markdown(EvaluateResult(rows=(row,), settings={}, data=SUMMARY))
    assert r"a\&lt;\~\~b\~\~" in made


def test_long_conditions_break_after_commas_and_never_within_a_value():
    curves = ["model=m,method=dirichlet,alpha=0.3333333333333333", "model=m,method=soft"]
    rows = [
        CurveRow(quantity="value", metric=metric, curve=curve, budget=3, direction="lower",
                 unc=Uncertainty(0.5, low=0.4, high=0.6))
        for metric in ("entropy_correlation", "kl")
        for curve in curves
    ]  # fmt: skip
    made = as_table(SaturationResult(rows=tuple(rows), settings={}, data=SUMMARY), width=72)
    assert "model=m,method=dirichlet, " in made
    assert "alpha=0.3333333333333333" in made
    assert max(map(len, made.splitlines())) <= 72


@pytest.mark.parametrize("forms", [("power",), ("power", "exponential")])
def test_the_form_of_a_fit_is_not_called_its_baseline(forms):
    rows = [
        CurveRow(quantity="fit_asymptote", metric=metric, curve="m", baseline=form, direction="lower",
                 unc=Uncertainty(0.5, low=0.4, high=0.6))
        for metric in ("kl", "tvd")
        for form in forms
    ]  # fmt: skip
    made = as_table(SaturationResult(rows=tuple(rows), settings={}, data=SUMMARY))
    assert "baseline" not in made
    assert ("form: power" in made) == (len(forms) == 1)
