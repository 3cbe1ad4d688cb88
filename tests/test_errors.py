"""Errors say what, where and what to do; at most twenty problems a rule are listed."""

from __future__ import annotations

import pytest

from saturation.errors import DataError, Problem, SaturationError, UsageError


def test_kinds_are_value_errors_with_a_kind_for_programs():
    assert issubclass(SaturationError, ValueError)
    assert (UsageError("x").kind, DataError([]).kind) == ("usage", "data")
    assert UsageError("say what").message == str(UsageError("say what")) == "say what"
    assert UsageError("x").problems == ()


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ({}, "[V1] m"),
        ({"file": "v.csv"}, "[V1] v.csv: m"),
        ({"file": "v.csv", "row": 0}, "[V1] v.csv, row 0: m"),
        ({"row": 3, "item": "é'"}, """[V1] row 3, item "é'": m"""),
        ({"item": ""}, "[V1] item '': m"),
    ],
)
def test_place_of_a_problem(where, text):
    assert str(Problem("V1", "m", **where)) == text


def test_twenty_a_rule_then_how_many_more():
    many = [Problem("A", "a", row=n) for n in range(1, 24)] + [Problem("B", "b", row=n) for n in range(1, 21)]
    error = DataError(iter(many))
    lines = error.message.split("\n")
    # 20 of A, 20 of B, and one line for the 23 - 20 = 3 left of A; none for B, of which there are exactly 20.
    assert len(lines) == 41
    assert [line for line in lines if "more" in line] == ["[A] and 3 more"]
    assert len(error.problems) == 43
