"""Designs of curves and comparisons: which part of the variance each of them keeps."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from saturation.analyses.comparing.comparison import compare
from saturation.analyses.curve.saturation import saturation_curve
from saturation.analyses.remarks import equally_busy, people
from saturation.errors import UsageError
from saturation.tables.panel import Ballots
from tests import naive
from tests.analyses.planted import SOFT, find
from tests.analyses.test_saturation_designs import with_annotators


@pytest.fixture(scope="module")
def panel():
    return with_annotators(10)


@pytest.fixture(scope="module")
def parts(panel):
    """Items, seeds, what both hold, annotators and their noise, of the Brier score of the largest budget."""
    at = panel.conditions.index(SOFT[-1])
    shares = panel.votes.counts / panel.votes.counts.sum(axis=1, keepdims=True)
    z = [
        ((probs[at] - shares[items]) ** 2).sum(axis=-1)
        for probs, items in zip(panel.probs, panel.items_of_split, strict=True)
    ]
    found = naive.few_seeds_variance(z, panel.items_of_split)

    def mean(kept):
        cells = []
        for probs, items in zip(panel.probs, panel.items_of_split, strict=True):
            there = [(place, [kept[i].count(k) for k in range(3)]) for place, i in enumerate(items) if i in kept]
            cells += [sum(naive.brier(list(one[p]), c) for p, c in there) / len(there) for one in probs[at]]
        return sum(cells) / len(cells)

    ballots = panel.votes.ballots
    votes = list(zip(ballots.item.tolist(), ballots.annotator.tolist(), ballots.label.tolist(), strict=True))
    people_part, within = naive.crowd_parts(votes, mean)
    assert people_part > within
    return found, people_part, within


def expected(design, parts):
    found, people_part, within = parts
    both = max(found["items"] + found["seeds"] - found["error"], found["items"])
    return {
        "items": found["items"],
        "crossed": both + people_part - within,  # annotators too, where they are known
        "annotators": people_part,
        "items x annotators": found["items"] + people_part - within,
        "crossed with annotators": both + people_part - within,
    }[design]


DESIGNS = ("items", "crossed", "annotators", "items x annotators", "crossed with annotators")


@pytest.mark.parametrize("design", DESIGNS)
def test_a_curve_redraws_what_is_asked_for(panel, parts, design):
    made = saturation_curve(panel, metrics=["brier"], design=design)
    row = find(made, "value", "brier", budget=SOFT[-1].budget, method="soft")
    assert row.unc.se**2 == pytest.approx(expected(design, parts), rel=1e-9)
    meant = "crossed with annotators" if design == "crossed" else design
    assert (row.unc.design, made.settings["design"]) == (meant, meant)
    contrasts = [row for row in made.rows if row.quantity == "shortfall" and row.unc.se]
    assert contrasts
    assert {row.unc.design for row in contrasts} == {meant}


def test_without_ids_crossed_is_about_items_and_seeds(panel, parts):
    bare = dataclasses.replace(panel, votes=dataclasses.replace(panel.votes, ballots=None))
    made = saturation_curve(bare, metrics=["brier"])
    found = parts[0]
    row = find(made, "value", "brier", budget=SOFT[-1].budget, method="soft")
    assert row.unc.se**2 == pytest.approx(max(found["items"] + found["seeds"] - found["error"], found["items"]))
    with pytest.raises(UsageError, match="ids of two annotators"):
        saturation_curve(bare, metrics=["brier"], design="annotators")


@pytest.mark.parametrize("design", DESIGNS)
def test_a_comparison_redraws_what_is_asked_for(panel, design):
    """The difference of two conditions is that of the same curve's values: soft at 1 and at the largest budget."""
    made = compare(panel, a=SOFT[0], b=SOFT[-1], metrics=["brier"], tests=[], design=design)
    curve = saturation_curve(panel, metrics=["brier"], design=design)
    short = find(curve, "shortfall", "brier", budget=SOFT[0].budget, method="soft")
    (row,) = [row for row in made.rows if row.quantity == "difference"]
    assert row.unc.estimate == pytest.approx(short.unc.estimate)
    assert row.unc.se == pytest.approx(short.unc.se)
    assert row.unc.design == ("crossed with annotators" if design == "crossed" else design)


def test_a_comparison_says_what_it_is_about(panel):
    sentences = {
        design: compare(panel, a=SOFT[0], b=SOFT[-1], metrics=["brier"], tests=[], design=design).rows[0].sentence
        for design in ("items", "annotators", "crossed")
    }
    assert sentences["items"].endswith("other items like these and these very models: training noise is not in it.")
    assert "these very items and another crowd of annotators and these very models" in sentences["annotators"]
    assert sentences["crossed"].endswith(
        "other items like these, other training seeds and another crowd of annotators."
    )


def test_who_voted_is_said():
    """2,000 votes by 40 people, one of whom cast half of them: 2000^2 / (1000^2 + 39 (1000/39)^2) = 3.9."""
    who = np.concatenate([np.zeros(1000, dtype=int), 1 + np.arange(1000) % 39])
    ballots = Ballots(tuple(f"{i:02d}" for i in range(40)), np.arange(2000), who, np.zeros(2000, dtype=int))
    assert equally_busy(ballots) == pytest.approx(4 / (1 + 1 / 39), rel=1e-3)
    size, few = people(ballots, redrawn=True)
    assert size.message == "votes by 40 people, as many as 4 equally busy ones"
    assert (size.code, few.code) == ("crowd_size", "few_annotators")
    (_, alone) = people(ballots, redrawn=False)
    assert "votes count as independent" in alone.message


def test_a_vote_a_person_needs_no_warning():
    ballots = Ballots(tuple(f"{i:02d}" for i in range(30)), np.arange(30), np.arange(30), np.zeros(30, dtype=int))
    assert [note.code for note in people(ballots, redrawn=False)] == ["crowd_size"]
    assert [note.code for note in people(ballots, redrawn=True)] == ["crowd_size"]
    assert [note.code for note in people(None, redrawn=True)] == ["annotators_unknown"]
