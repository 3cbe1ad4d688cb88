"""The labels' own curve beside a model's: both move with the same annotators."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from saturation.analyses.context import plain
from saturation.analyses.curve.label_people import label_moves, model_moves
from saturation.analyses.curve.labels_only import PEOPLE_OF_ONE_SIDE, _points
from saturation.analyses.curve.saturation import saturation_curve
from saturation.analyses.labels.monte_carlo import Draws
from saturation.analyses.labels.scores import mode_agreement, top_vote_share
from saturation.metrics.catalogue import metric
from saturation.metrics.metric import Human
from saturation.tables.panel import Ballots
from tests import naive
from tests.analyses.planted import SOFT, find, study

SCORES = {"accuracy": mode_agreement, "top_vote_share": top_vote_share}
SPLITS = (np.arange(9), np.arange(6, 14))


@pytest.fixture(scope="module")
def panel():
    """14 items in two splits that share three, 5 of 9 people an item, two seeds."""
    rng = np.random.default_rng(3)
    one = study(splits=1, n_items=14, n_seeds=2)
    people = np.concatenate([np.sort(rng.choice(9, 5, replace=False)) for _ in range(14)])
    item = np.repeat(np.arange(14), 5)
    chance = rng.dirichlet(np.ones(3), 14)
    habit = 0.5 * rng.standard_normal((9, 3))
    told = np.exp(np.log(chance[item]) + habit[people])
    edges = (told / told.sum(axis=1, keepdims=True)).cumsum(axis=1)
    label = (rng.random(70)[:, None] > edges[:, :2]).sum(axis=1)
    counts = np.zeros((14, 3), dtype=np.int64)
    np.add.at(counts, (item, label), 1)
    ballots = Ballots(tuple("abcdefghi"), item, people, label)
    votes = dataclasses.replace(one.votes, counts=counts, ballots=ballots)
    return dataclasses.replace(
        one,
        votes=votes,
        splits=("s", "t"),
        seeds=((0, 1), (0, 1)),
        items_of_split=SPLITS,
        probs=tuple(rng.dirichlet(np.ones(3), (len(one.conditions), 2, len(places))) for places in SPLITS),
    )


def votes_of(panel):
    ballots = panel.votes.ballots
    return list(zip(ballots.item.tolist(), ballots.annotator.tolist(), ballots.label.tolist(), strict=True))


def expected(counts, name, budget):
    """Mean score of N votes with replacement against the item's own."""
    score = SCORES[name]

    def drawn(target, reference):
        return float(score(np.array(target), np.array([round(r * 60) for r in reference])))

    return naive.draw_moments(tuple(counts), drawn, "plug_in", budget)[0]


@pytest.mark.parametrize("name", list(SCORES))
def test_labels_and_model_against_loops(panel, name):
    """V of the model's metric less the labels' own, at N = 3: higher is better, so both enter as losses."""
    one, budgets = metric(name), (1, 3)
    points = _points(panel, one, budgets, "share", Draws(0, 10, 1))
    at = panel.conditions.index(SOFT[1])
    both = model_moves(panel, one, [at], 1).beside(label_moves(panel, one, budgets, points, "share"))

    def difference(kept):
        cells = []
        for probs, places in zip(panel.probs, SPLITS, strict=True):
            there = [(p, [kept[i].count(k) for k in range(3)]) for p, i in enumerate(places) if i in kept]
            own = sum(expected(c, name, 3) for _, c in there) / len(there)
            human = Human(np.array([c for _, c in there]))
            values = plain(one).value(probs[at][:, [p for p, _ in there]], human)
            cells += [float(value) - own for value in values]
        return sum(cells) / len(cells)

    people, within = naive.crowd_parts(votes_of(panel), difference)
    contrast = np.array([-1.0, 0.0, 1.0])
    found = both.growth * ((contrast @ both.people) ** 2).sum(), both.growth * ((contrast @ both.noise) ** 2).sum()
    assert found == (pytest.approx(people, rel=1e-8), pytest.approx(within, rel=1e-8))


def test_rows_say_whose_people_are_in_them(panel):
    """Accuracy is listed, so its people are known on both sides; a rank correlation is drawn."""
    made = saturation_curve(panel, metrics=["accuracy", "spearman"])
    assert find(made, "label_value", "accuracy", budget=3).unc.design == "items x annotators"
    assert find(made, "label_value", "spearman", budget=3).unc.design == "items"
    reasons = {
        name: [row.unc.reason or "" for row in made.rows if (row.quantity, row.metric) == ("contrast_labels", name)]
        for name in ("accuracy", "spearman")
    }
    assert reasons["accuracy"]
    assert not any(PEOPLE_OF_ONE_SIDE in reason for reason in reasons["accuracy"])
    bare = dataclasses.replace(panel, votes=dataclasses.replace(panel.votes, ballots=None))
    alone = saturation_curve(bare, metrics=["accuracy"])
    wide, narrow = (find(one, "label_value", "accuracy", budget=3).unc for one in (made, alone))
    assert wide.estimate == narrow.estimate
    assert wide.high - wide.low >= narrow.high - narrow.low
