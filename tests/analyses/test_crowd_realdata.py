"""Real crowds: the part of 2,571 and of 6 people against leaving each of them out, and what it does to intervals."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from saturation.analyses.annotator_part import annotators_part
from saturation.analyses.evaluate import evaluate
from saturation.analyses.labels.label_curve import label_curve
from saturation.datasets import convert
from saturation.metrics.catalogue import metric
from saturation.tables.builders import panel_from_arrays
from saturation.tables.door import read_votes

pytestmark = pytest.mark.realdata
SETS = {
    "cifar10h": ("peerannot", "peerannot/datasets/cifar10H/answers_valid.json"),
    "brexit": ("lewidi", "lewidi2023/HS-Brexit_dataset"),
}


@pytest.fixture(scope="module")
def votes_of(tmp_path_factory, shared_data):
    def read(name):
        format, source = SETS[name]
        out = tmp_path_factory.mktemp(name)
        convert(format, shared_data / source, out)
        return read_votes(out / "votes.parquet")

    return read


def panel_of(votes):
    """A model that has seen the votes and doubts them."""
    rng = np.random.default_rng(0)
    whole = votes.counts.sum(axis=0) / votes.counts.sum()
    shares = 0.8 * votes.counts / votes.counts.sum(axis=1, keepdims=True) + 0.2 * whole
    logits = np.log(shares) + 0.5 * rng.standard_normal(shares.shape)
    probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    panel = panel_from_arrays(probs[None], votes.counts, labels=votes.labels)
    return replace(panel, votes=replace(panel.votes, ballots=votes.ballots)), probs


@pytest.mark.parametrize("name", list(SETS))
def test_brier_against_leaving_out_everybody(votes_of, name):
    """Nobody votes twice and no item has a single vote, so that D_a is a sum over the items of a."""
    votes = votes_of(name)
    panel, probs = panel_of(votes)
    counts, ballots = votes.counts, votes.ballots
    n_items, n_people = len(counts), len(ballots.annotator_ids)

    def scores(c, m):
        return ((c / c.sum(axis=-1, keepdims=True) - m) ** 2).sum(axis=-1)

    left = counts[ballots.item] - np.eye(counts.shape[1], dtype=int)[ballots.label]
    change = (scores(left, probs[ballots.item]) - scores(counts, probs)[ballots.item]) / n_items
    each = counts.sum(axis=1)[ballots.item]
    change -= np.bincount(ballots.item, change)[ballots.item] / each
    moved = np.bincount(ballots.annotator, change)
    growth = 1 - 1 / n_people
    part = annotators_part(panel, [metric("brier")], seed=0)
    assert part.covariance[0, 0] == pytest.approx(growth * (moved**2).sum(), rel=1e-9)
    assert part.within[0, 0] == pytest.approx(growth * (change**2).sum(), rel=1e-9)


def test_six_people_make_intervals_wider_and_thousands_take_seconds(votes_of):
    for name, people in (("brexit", 6), ("cifar10h", 2571)):
        votes = votes_of(name)
        panel, _ = panel_of(votes)
        start = time.perf_counter()
        result = evaluate(panel, metrics=("all",))
        assert time.perf_counter() - start < 20
        (size,) = [note.message for note in result.notes if note.code == "crowd_size"]
        assert size.startswith(f"votes by {people:,} people")
        both, alone = (label_curve(votes, metrics=["brier"], budgets=[1], design=d).rows[0] for d in (None, "items"))
        assert both.unc.se >= alone.unc.se
        if people == 6:
            assert both.unc.high - both.unc.low > 2 * (alone.unc.high - alone.unc.low)
