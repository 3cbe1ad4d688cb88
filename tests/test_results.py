"""Rows and envelopes: the interface that checks outside the project rely on."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import polars as pl
import pytest

from saturation.conditions import Condition
from saturation.results import (
    CurveRow,
    DataSummary,
    EvaluateResult,
    EvaluateRow,
    Input,
    LabelCurveResult,
    LabelCurveRow,
    Listing,
    Note,
    ReportResult,
    SaturationResult,
    Uncertainty,
    finite,
    plain,
)

# The documented keys, written out: every row of a command has all of them, in this order.
COND = ["condition", "model", "method", "budget", "strength", "alpha"]
UNC = [
    "estimate", "low", "high", "se", "level", "interval", "estimator", "design", "n_resamples", "n_items", "n_cells",
    "reason",
]  # fmt: skip
EVALUATE = [
    "metric", *COND, "group", "split", "seed", "direction", *UNC,
    "cell_sd", "floor", "corrected", "corrected_low", "corrected_high",
]  # fmt: skip
LABEL_CURVE = [
    "quantity", "metric", "budget", "q", "target", "alpha", "reference", "reference_size", "direction", *UNC,
    "draw_sd", "draw_low", "draw_high", "mc_se", "n_dropped", "censored",
]  # fmt: skip
CURVE = [
    "quantity", "metric", "metric_b", "curve", "model", "method", "budget", "baseline", "ceiling", "q", "margin",
    "direction", *UNC, "simultaneous_low", "simultaneous_high", "p", "fieller_low", "fieller_high", "fieller_shape",
    "denominator_p", "censored",
]  # fmt: skip
ENVELOPE = ["schema", "command", "version", "inputs", "settings", "data", "warnings", "results"]
DATA = [
    "n_items", "n_labels", "n_votes", "votes_min", "votes_max", "n_annotators", "predicted_without_votes",
    "voted_without_predictions", "dropped", "renormalised", "floored",
]  # fmt: skip

NOTHING = Uncertainty(estimate=None, reason="why")
EVALUATE_ROW = EvaluateRow(metric="kl", condition=Condition.of(model="m"), direction="lower", unc=NOTHING)
LABEL_ROW = LabelCurveRow(
    quantity="value", metric="kl", target="raw", reference="disjoint", direction="lower", unc=NOTHING
)
CURVE_ROW = CurveRow(quantity="value", metric="kl", curve="model=m", direction="lower", unc=NOTHING)
SUMMARY = DataSummary(n_items=1, n_labels=2, n_votes=3, votes_min=3, votes_max=3)


def make(kind, *rows, **settings):
    return kind(rows=rows, settings=settings, data=SUMMARY)


RESULTS = [
    (make(EvaluateResult, EVALUATE_ROW), "evaluate", EVALUATE),
    (make(LabelCurveResult, LABEL_ROW), "label-curve", LABEL_CURVE),
    (make(SaturationResult, CURVE_ROW), "curve", CURVE),
]
BY_COMMAND = pytest.mark.parametrize(("result", "command", "keys"), RESULTS, ids=[one[1] for one in RESULTS])


@BY_COMMAND
def test_rows_have_the_documented_keys_in_the_documented_order(result, command, keys):
    assert list(result.records()[0]) == keys
    assert result.command == command


@BY_COMMAND
def test_frame_has_the_columns_of_the_rows(result, command, keys):
    assert result.to_frame().columns == keys


@BY_COMMAND
def test_column_types_do_not_depend_on_which_values_are_null(result, command, keys):
    filled = result.to_frame().schema
    empty = type(result)(rows=(), settings={}, data=SUMMARY).to_frame().schema
    assert filled == empty
    assert pl.Null not in filled.values()
    assert filled["estimate"] == pl.Float64
    assert filled["budget"] == pl.Int64
    assert filled["reason"] == pl.String


@BY_COMMAND
def test_envelope(result, command, keys):
    envelope = result.to_dict()
    assert list(envelope) == ENVELOPE
    assert envelope["schema"] == "saturation/1"
    assert list(envelope["data"]) == DATA
    json.dumps(envelope, allow_nan=False)


def test_the_tables_own_condition_columns_follow_the_standard_ones_whatever_the_row_order():
    conditions = [
        Condition.of(model="m", zebra="z"),
        Condition.of(model="m", apple=1, temperature=2.0),
        Condition.of(model="m", prior="base_rate"),
    ]
    rows = [EvaluateRow(metric="kl", condition=c, direction="lower", unc=NOTHING) for c in conditions]
    after = [*COND, "prior", "temperature", "apple", "zebra"]
    for order in itertools.permutations(rows):
        keys = list(make(EvaluateResult, *order).records()[0])
        assert keys[1 : 1 + len(after)] == after
    first, second, third = make(EvaluateResult, *rows).records()
    assert (first["zebra"], first["apple"], second["apple"], third["prior"]) == ("z", None, 1, "base_rate")
    schema = make(EvaluateResult, *rows).to_frame().schema
    assert (schema["zebra"], schema["apple"], schema["temperature"]) == (pl.String, pl.Int64, pl.Float64)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, np.nan, np.float64("inf"), np.float32("nan")])
def test_what_json_cannot_hold_is_null(bad):
    assert finite(bad) is None
    row = EvaluateRow(
        metric="kl", condition=Condition.of(model="m", strength=bad), direction="lower", unc=Uncertainty(estimate=bad)
    )
    result = make(EvaluateResult, row, worst=bad, nested={"a": [bad, (bad,)]})
    (record,) = result.records()
    assert record["estimate"] is None
    assert record["strength"] is None
    assert result.to_dict()["settings"] == {"worst": None, "nested": {"a": [None, [None]]}}


def test_numpy_scalars_become_python_ones_with_every_digit():
    assert (finite(np.int64(3)), type(finite(np.int64(3)))) == (3, int)
    assert type(finite(np.bool_(True))) is bool
    assert type(finite(np.float64(0.1))) is float
    assert finite(np.str_("nan")) == "nan"
    assert plain(np.array([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]
    assert plain(Condition.of(model="m", budget=3)) == "model=m,budget=3"
    value = 0.6173031800504526
    row = EvaluateRow(metric="kl", condition=Condition.of(), direction="lower", unc=Uncertainty(estimate=value))
    assert json.loads(json.dumps(make(EvaluateResult, row).to_dict()))["results"][0]["estimate"] == value


def test_nothing_in_a_notebook_is_taken_for_markup():
    row = EvaluateRow(
        metric="kl", condition=Condition.of(model="<script>alert(1)</script>"), direction="lower", unc=NOTHING
    )
    html = make(EvaluateResult, row)._repr_html_()
    assert "<script" not in html
    assert "&lt;script" in html


def test_report_keeps_rows_by_section():
    report = ReportResult(
        sections={"label_curve": RESULTS[1][0], "curve": RESULTS[2][0]}, settings={"seed": 0}, data=SUMMARY
    )
    envelope = report.to_dict()
    assert envelope["command"] == "report"
    assert "results" not in envelope
    assert {name: list(rows[0]) for name, rows in envelope["sections"].items()} == {
        "label_curve": LABEL_CURVE,
        "curve": CURVE,
    }


def test_listing():
    listing = Listing(
        command="check",
        rows=({"file": "a.csv", "rows": 3, "share": math.nan},),
        inputs=(Input(role="votes", path="a.csv", sha256="00", rows=3),),
        notes=(Note("N1", "order"),),
    )
    assert list(listing.to_dict()) == ENVELOPE
    assert listing.to_dict()["data"] is None
    assert listing.to_dict()["results"] == [{"file": "a.csv", "rows": 3, "share": None}]
    assert listing.to_frame().columns == ["file", "rows", "share"]


def test_results_cannot_be_changed():
    with pytest.raises(AttributeError):
        EVALUATE_ROW.metric = "tvd"
