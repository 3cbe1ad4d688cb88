"""What a terminal shows of a report: one line a metric, 80 columns, nothing without its interval or its reason."""

from __future__ import annotations

import dataclasses

import pytest

from saturation.report.output import as_table
from saturation.results import Note
from tests.report import fakes


@pytest.fixture(scope="module")
def text():
    return as_table(fakes.report(), width=80)


@pytest.mark.parametrize("with_models", [True, False])
def test_it_fits_a_terminal(with_models):
    lines = as_table(fakes.report(with_models=with_models), width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 40


def test_a_line_by_hand(text):
    """kl over hard labels: N* 3 (2, 10] for 90%, 6 for 95%. At 3 the share is .4 + .6 (1 - 3^-1.1)/(1 - 100^-1.1)
    = .4 + .6 * .7013/.9937 = .823, half width .03 + .1/3 = .063; the shortfall is .2 + .1/3 - .201 = .032 +- .004."""
    (line,) = [one for one in text.splitlines() if one.startswith("kl ")][:1]
    assert line.split("  ")[0] == "kl"
    for piece in ("3 (2, 10]", " 6 ", "82% [76, 89]", "0.032 [.028, .036]"):
        assert piece in line


def test_censored_answers_and_missing_ones(text):
    (model, alone) = [one for one in text.splitlines() if one.startswith("entropy_correlation ")]
    assert "> 50" in model
    assert "10 (5, 10]" in alone
    (entropy,) = [one for one in text.splitlines() if one.startswith("entropy ")][:1]
    assert "none (1)" in entropy
    assert "(1) No number can be given, because it has no better or worse" in text


def test_what_stands_below(text):
    assert "In brackets: 95% intervals for other items and other training seeds" in " ".join(text.split())
    assert "Of 1 pair of metrics within one order, 1 is told apart" in text
    assert text.endswith("1 remark: see the page.\n")


@pytest.mark.parametrize(
    ("code", "begins"), [("labels_alike", "Check first: yes and Yes."), ("annotators_not_in_interval", "Yes and Yes.")]
)
def test_what_may_change_the_answer_is_not_only_counted(code, begins):
    note = Note(code, "yes and Yes")
    report = fakes.report()
    told = as_table(dataclasses.replace(report, notes=(*report.notes, note)), width=80)
    assert begins in " ".join(told.split())
    assert told.endswith("1 remark: see the page.\n")


def test_several_baselines_are_named_in_their_lines():
    lines = as_table(fakes.report(), width=100).splitlines()
    assert lines[0] == "Annotators per item, soft targets: share of the improvement over hard labels"
