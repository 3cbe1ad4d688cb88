"""Votes and panels from arrays: the same as from tables."""

import numpy as np
import polars as pl
import pytest

from saturation.conditions import Condition
from saturation.errors import DataError, UsageError
from saturation.tables.builders import panel_from_arrays, votes_from_counts
from saturation.tables.door import read_panel

COUNTS = np.array([[7, 3], [1, 9], [5, 5]])
IDS = ["c", "a", "b"]


def test_arrays_and_tables_give_the_same_panel():
    rng = np.random.default_rng(3)
    probs = rng.dirichlet([1, 1], size=(2, 2, 3))
    budgets, seeds = (10, 2), (5, 4)
    rows = [
        {"item_id": IDS[i], "model": "m", "method": "soft", "budget": budgets[c], "seed": seeds[t]}
        | {"p_x": probs[c, t, i, 0], "p_y": probs[c, t, i, 1]}
        for c in range(2)
        for t in range(2)
        for i in range(3)
    ]
    counts = pl.DataFrame({"item_id": IDS, "n_x": COUNTS[:, 0], "n_y": COUNTS[:, 1], "source": ["s", "t", "s"]})
    table = read_panel(counts, pl.DataFrame(rows))
    conditions = [{"model": "m", "method": "soft", "budget": budget} for budget in budgets]
    array = panel_from_arrays(
        probs,
        COUNTS,
        conditions=conditions,
        labels=["x", "y"],
        item_ids=IDS,
        seeds=seeds,
        groups={"source": ["s", "t", "s"]},
    )
    assert array.conditions == table.conditions
    assert array.seeds == table.seeds
    assert array.probs[0].tobytes() == table.probs[0].tobytes()
    assert array.votes.counts.tobytes() == table.votes.counts.tobytes()
    assert array.votes.item_ids == table.votes.item_ids
    assert array.votes.groups == table.votes.groups
    assert array.summary == table.summary


def test_fewer_axes_and_default_names():
    probs = [[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]]
    panel = panel_from_arrays(probs, COUNTS)
    assert panel.probs[0].shape == (1, 1, 3, 2)
    assert panel.probs[0][0, 0].tolist() == probs
    assert panel.votes.labels == ("0", "1")
    two = panel_from_arrays([probs, probs], COUNTS, conditions=[Condition.of(model="b"), Condition.of(model="a")])
    assert [c.model for c in two.conditions] == ["a", "b"]
    assert votes_from_counts(np.ones((11, 2))).item_ids[9:] == ("09", "10")


@pytest.mark.parametrize(
    ("counts", "rule"),
    [([[1.5, 2]], "V06"), ([[-1, 2]], "V06"), ([[np.nan, 2]], "V06"), ([[1e4, 1]], "V06"), ([[0, 0], [1, 2]], "V07")],
)
def test_counts_that_are_none(counts, rule):
    with pytest.raises(DataError, match=rf"\[{rule}\].*row 1"):
        votes_from_counts(counts)


@pytest.mark.parametrize(("row", "rule"), [([-0.1, 1.1], "P01"), ([np.nan, 1], "P01"), ([0.5, 0.4], "P02")])
def test_rows_that_are_no_distributions(row, rule):
    with pytest.raises(DataError, match=rf"\[{rule}\].*probs\[0, 0, 1\]"):
        panel_from_arrays([[0.5, 0.5], row, [0.5, 0.5]], COUNTS)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: votes_from_counts([1, 2]), "shape"),
        (lambda: votes_from_counts([["a", "b"]]), "not numbers"),
        (lambda: votes_from_counts(COUNTS, labels=["x"]), "1 labels are given for 2"),
        (lambda: votes_from_counts(COUNTS, item_ids=["x", "x", "y"]), "repeat"),
        (lambda: panel_from_arrays([[0.5, 0.5]], COUNTS), "probs have shape"),
        (lambda: panel_from_arrays([[[0.5, 0.5]] * 3] * 2, COUNTS), "0 conditions are given for 2"),
    ],
)
def test_shapes_and_names_that_do_not_fit(call, words):
    with pytest.raises(UsageError, match=words):
        call()
