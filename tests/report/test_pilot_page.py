"""A fitted law's curves in a report on few votes: when there are any, and that they are marked as such."""

from __future__ import annotations

import numpy as np
import pytest

import saturation as sat
from saturation.report import pilot_page
from saturation.report.parts import report_figures, report_tables
from saturation.report.sections import sections_of
from saturation.tables.builders import votes_from_counts


def votes_of(n_votes, n_items=40, seed=4):
    draw = np.random.default_rng(seed)
    counts = np.stack([draw.multinomial(n_votes, p) for p in draw.dirichlet([0.5, 0.4, 0.3], n_items)])
    return votes_from_counts(counts, labels=("a", "b", "c"))


@pytest.fixture(scope="module")
def report():
    return sat.report(votes_of(3), metrics=["brier", "tvd", "dist_ece"], n_resamples=50)


def test_few_votes_get_a_section_of_their_own(report):
    rows = report.sections["pilot"].rows
    assert {row.metric for row in rows} == {"brier", "tvd"}  # dist_ece belongs to a set of items
    assert {row.unc.estimator for row in rows if row.quantity == "value"} == {"model"}
    assert max(row.budget for row in rows if row.budget) == 100
    section = next(one for one in sections_of(report) if one.anchor == "pilot")
    assert "nobody has asked yet" in section.lead
    assert len(section.pictures) == 2
    assert "pilot" in report_tables(report)
    assert "pilot" in report_figures(report)


def test_sentences_have_the_number_its_interval_and_the_law(report):
    words = next(one for one in sections_of(report) if one.anchor == "pilot").words[0].lines
    # brier's share is (1 - 1/N)/(1 - 1/100) under every law: no interval to speak of
    assert "whatever the law" in words[0]
    assert words[1].startswith("Total variation distance: 90% of what 100 votes gain over one is expected from about ")
    assert "[" in words[1]
    assert "law of items fitted to 40 items with 3 votes" in words[-1]


def test_lines_are_dashed(report):
    ax = pilot_page.pilot_curve(report.sections["pilot"], metric="tvd")
    assert {line.get_linestyle() for line in ax.lines} == {"--"}


@pytest.mark.parametrize("votes", [votes_of(6), votes_of(1), votes_from_counts([[3, 0], [0, 3]])])
def test_more_votes_and_votes_that_show_no_law_change_nothing(votes):
    report = sat.report(votes, metrics=["brier"], n_resamples=50)
    assert "pilot" not in report.sections
    assert all(one.anchor != "pilot" for one in sections_of(report))


def test_what_cannot_be_told_is_said(report):
    row = next(r for r in report.sections["pilot"].rows if r.quantity == "n_star_interpolated" and r.metric == "tvd")
    from dataclasses import replace

    empty = replace(row, unc=replace(row.unc, estimate=None, reason="more than the largest budget tried, 100"))
    told = pilot_page.sentences(replace(report.sections["pilot"], rows=(empty,)))
    assert told == (
        "Total variation distance: 90% of what 0 votes gain over one: more than the largest budget tried, 100.",
    )
