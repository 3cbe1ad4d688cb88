"""Votes and predictions side by side: right numbers in the right places, everything left out counted."""

from __future__ import annotations

import itertools
import random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saturation.errors import DataError, UsageError
from saturation.tables.door import read_panel, read_votes
from saturation.tables.label_order import best_order

LABELS = ("yes", "no", "unsure")


def study(seed=0, conditions=(("m", "soft", 10), ("m", "soft", 2), ("m", "hard", None)), splits=("42", "43")):
    """Counts and predictions of a small study, as lists of rows."""
    rng = random.Random(seed)
    items = ["q10", "q9", "Q1", "ä", "=1+1", "0012"]
    counts = [{"item_id": item} | {f"n_{label}": rng.randint(0, 9) + 1 for label in LABELS} for item in items]
    rows = []
    for model, method, budget in conditions:
        for split in splits:
            for training_seed in (3, 1):
                for item in items[: 5 if split == "43" else 6]:
                    p = [rng.random() for _ in LABELS]
                    probs = {f"p_{label}": value / sum(p) for label, value in zip(LABELS, p, strict=True)}
                    keys = {"item_id": item, "model": model, "method": method, "budget": budget}
                    rows.append(keys | {"seed": training_seed, "split": split} | probs)
    return counts, rows


def test_every_number_lands_where_its_names_say():
    counts, rows = study()
    panel = read_panel(pl.DataFrame(counts), pl.DataFrame(rows))
    # UTF-8 bytes: digits before "=", capitals before small letters, "ä" (two bytes) last; q10 before q9
    assert panel.votes.item_ids == ("0012", "=1+1", "Q1", "q10", "q9", "ä")
    assert [str(c) for c in panel.conditions] == [
        "model=m,method=hard",
        "model=m,method=soft,budget=2",
        "model=m,method=soft,budget=10",
    ]
    assert panel.splits == ("42", "43")
    assert panel.seeds == ((1, 3), (1, 3))
    assert [probs.shape for probs in panel.probs] == [(3, 2, 6, 3), (3, 2, 5, 3)]
    checked = 0
    for s, split in enumerate(panel.splits):
        for c, condition in enumerate(panel.conditions):
            for t, seed in enumerate(panel.seeds[s]):
                for i, index in enumerate(panel.items_of_split[s]):
                    (row,) = [
                        row
                        for row in rows
                        if (row["split"], row["seed"]) == (split, seed)
                        and (row["method"], row["budget"]) == (condition.method, condition.budget)
                        and row["item_id"] == panel.votes.item_ids[index]
                    ]
                    assert panel.probs[s][c, t, i].tolist() == [row[f"p_{label}"] for label in LABELS]
                    checked += 1
    assert checked == len(rows)
    for index, item in enumerate(panel.votes.item_ids):
        (row,) = [row for row in counts if row["item_id"] == item]
        assert panel.votes.counts[index].tolist() == [row[f"n_{label}"] for label in LABELS]


def test_labels_are_matched_by_name_never_by_position():
    votes = pl.DataFrame({"item_id": ["a"], "n_e": [8], "n_n": [1], "n_c": [1]})
    probs = pl.DataFrame({"item_id": ["a"], "p_e": [0.7], "p_c": [0.1], "p_n": [0.2]})
    panel = read_panel(votes, probs)
    assert panel.votes.labels == ("e", "n", "c")
    assert panel.probs[0][0, 0, 0].tolist() == [0.7, 0.2, 0.1]


@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False))
def test_order_of_rows_and_columns_and_files_changes_no_bit(shuffler):
    counts, rows = study()
    counts, rows = counts * 1, [row | {"member": m} for row in rows for m in ("x", "y", "z")]
    for position, row in enumerate(rows):  # three different members a row
        p = [row[f"p_{label}"] + 0.1 * (position % 3) for label in LABELS]
        row.update({f"p_{label}": value / sum(p) for label, value in zip(LABELS, p, strict=True)})
    first = read_panel(pl.DataFrame(counts), pl.DataFrame(rows))
    shuffler.shuffle(counts)
    shuffler.shuffle(rows)
    columns = list(rows[0])
    shuffler.shuffle(columns)
    cut = shuffler.randint(1, len(rows) - 1)
    schema = pl.DataFrame(rows, infer_schema_length=None).schema
    frames = [pl.DataFrame(part, schema=schema).select(columns) for part in (rows[:cut], rows[cut:])]
    second = read_panel(pl.DataFrame(counts), frames, labels=LABELS)
    assert second.votes.item_ids == first.votes.item_ids
    assert second.conditions == first.conditions
    assert second.seeds == first.seeds
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first.probs, second.probs, strict=True))
    assert first.votes.counts.tobytes() == second.votes.counts.tobytes()
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first.items_of_split, second.items_of_split, strict=True))


def test_members_are_averaged_in_probability():
    votes = pl.DataFrame({"item_id": ["a", "b"], "n_x": [1, 2], "n_y": [3, 4]})
    p_x = [0.2, 0.6, 1.0, 0.5, 0.0]
    probs = pl.DataFrame(
        {"item_id": ["a", "a", "b", "b", "b"], "member": [1, 0, 0, 1, 2], "p_x": p_x, "p_y": [1 - p for p in p_x]}
    )
    panel = read_panel(votes, probs)
    # (.2 + .6) / 2 = .4 and (1 + .5 + 0) / 3 = .5
    np.testing.assert_allclose(panel.probs[0][0, 0], [[0.4, 0.6], [0.5, 0.5]], rtol=0, atol=1e-15)
    assert [note.message for note in panel.notes] == ["predictions are means over 2 to 3 members"]


def test_items_left_out_are_counted():
    counts, rows = study(splits=("42",))
    counts = [row for row in counts if row["item_id"] != "ä"] + [
        {"item_id": "new"} | dict.fromkeys(["n_yes", "n_no", "n_unsure"], 2)
    ]
    panel = read_panel(pl.DataFrame(counts), pl.DataFrame(rows))
    assert panel.votes.item_ids == ("0012", "=1+1", "Q1", "q10", "q9")
    assert panel.summary.predicted_without_votes == 1
    assert panel.summary.voted_without_predictions == 1
    assert panel.summary.n_items == 5
    assert {note.code for note in panel.notes} == {"predicted_without_votes", "voted_without_predictions"}


def test_items_missing_in_a_cell_are_an_error_or_dropped():
    counts, rows = study(splits=("42",))
    rows = [row for row in rows if not (row["item_id"] == "Q1" and row["method"] == "hard" and row["seed"] == 3)]
    with pytest.raises(DataError, match=r"split 42: not predicted in 1 of 6 pairs.*method=hard seed 3") as caught:
        read_panel(pl.DataFrame(counts), pl.DataFrame(rows))
    assert [problem.item for problem in caught.value.problems] == ["Q1"]
    panel = read_panel(pl.DataFrame(counts), pl.DataFrame(rows), missing="drop")
    assert panel.votes.item_ids == ("0012", "=1+1", "q10", "q9", "ä")
    assert panel.summary.dropped == 1
    assert panel.summary.voted_without_predictions == 0
    assert np.all(panel.probs[0].sum(axis=-1) > 0.999)


def test_conditions_are_compared_over_common_cells():
    counts, rows = study()
    rows = [row for row in rows if not (row["method"] == "hard" and row["split"] == "43" and row["seed"] == 1)]
    panel = read_panel(pl.DataFrame(counts), pl.DataFrame(rows))
    assert panel.seeds == ((1, 3), (3,))
    (note,) = [note for note in panel.notes if note.code == "cells_left_out"]
    assert note.message == "1 cells are not there under every condition: split 43 seed 1"
    rows = [row for row in rows if not (row["method"] == "hard" and row["split"] == "43")]
    panel = read_panel(pl.DataFrame(counts), pl.DataFrame(rows))
    assert panel.splits == ("42",)
    assert panel.n_cells == 2


@pytest.mark.parametrize("seed", [None, 0])
def test_base_rate_is_repeated_over_seeds(seed):
    counts, rows = study()
    base = {
        "model": "m",
        "method": "base_rate",
        "budget": None,
        "seed": seed,
        "p_yes": 0.5,
        "p_no": 0.25,
        "p_unsure": 0.25,
    }
    done = {(row["split"], row["item_id"]) for row in rows}
    rows += [base | {"split": split, "item_id": item} for split, item in sorted(done)]
    panel = read_panel(pl.DataFrame(counts), pl.DataFrame(rows, infer_schema_length=None))
    assert panel.seeds == ((1, 3), (1, 3))
    assert panel.conditions[0].method == "base_rate"
    for probs in panel.probs:
        assert np.all(probs[0] == [0.5, 0.25, 0.25])
    assert "base_rate_repeated" in {note.code for note in panel.notes}


def test_base_rate_alone_is_a_panel():
    votes = pl.DataFrame({"item_id": ["a"], "n_x": [1], "n_y": [3]})
    probs = pl.DataFrame({"item_id": ["a"], "method": ["base_rate"], "seed": [None], "p_x": [0.4], "p_y": [0.6]})
    assert read_panel(votes, probs).seeds == ((0,),)
    assert read_panel(votes, probs.with_columns(seed=pl.lit(7))).probs[0].tolist() == [[[[0.4, 0.6]]]]


def test_rows_of_32_bits_are_renormalised_and_counted():
    exact = np.array([[0.1, 0.2, 0.7], [0.25, 0.25, 0.5]])
    single = exact.astype(np.float32)
    votes = pl.DataFrame({"item_id": ["a", "b"], "n_0": [1, 2], "n_1": [3, 4], "n_2": [0, 1]})
    probs = pl.DataFrame({"item_id": ["a", "b"]} | {f"p_{k}": single[:, k] for k in range(3)})
    panel = read_panel(votes, probs)
    assert panel.summary.renormalised == 1  # .25, .25, .5 are exact in 32 bits
    np.testing.assert_allclose(panel.probs[0].sum(axis=-1), 1, rtol=0, atol=1e-15)
    np.testing.assert_allclose(panel.probs[0][0, 0], exact, rtol=0, atol=1e-7)
    assert panel.probs[0][0, 0, 1].tolist() == [0.25, 0.25, 0.5]


@pytest.mark.parametrize(("error", "accepted"), [(0.9e-6, True), (1.2e-6, False)])
def test_tolerance_of_the_simplex(error, accepted):
    votes = pl.DataFrame({"item_id": ["a", "b"], "n_x": [1, 2], "n_y": [3, 4]})
    probs = pl.DataFrame({"item_id": ["a", "b"], "p_x": [0.5, 0.5 + error], "p_y": [0.5, 0.5]})
    if accepted:
        assert read_panel(votes, probs).summary.renormalised == 1
    else:
        with pytest.raises(DataError, match=r"\[P02\].*row 2"):
            read_panel(votes, probs)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[-3.2, 5.1], [0.4, -1.0]], "logits"),
        ([[np.log(0.3), np.log(0.7)], [np.log(0.5), np.log(0.5)]], "log-probabilities"),
        ([[30.0, 70.0], [55.5, 44.5]], "percentages"),
    ],
)
def test_other_scales_are_named(values, words):
    votes = pl.DataFrame({"item_id": ["a", "b"], "n_x": [1, 2], "n_y": [3, 4]})
    probs = pl.DataFrame({"item_id": ["a", "b"], "p_x": [row[0] for row in values], "p_y": [row[1] for row in values]})
    with pytest.raises(DataError, match=rf"\[P03\].*hold {words}") as caught:
        read_panel(votes, probs)
    assert len(caught.value.problems) == 1


def test_infinities_are_problems_not_warnings():
    votes = pl.DataFrame({"item_id": ["a", "b", "c"], "n_x": [1, 2, 1], "n_y": [3, 4, 1]})
    probs = pl.DataFrame({"item_id": ["a", "b", "c"], "p_x": [0.5, np.inf, 0.5], "p_y": [0.5, -np.inf, 0.5]})
    with pytest.raises(DataError, match=r"\[P01\].*row 2.*empty or not finite"):
        read_panel(votes, probs)


def test_part_of_predictions_and_of_the_splits_table():
    votes = pl.DataFrame({"item_id": ["a", "b", "c"], "n_x": [1, 2, 3], "n_y": [3, 4, 5]})
    probs = pl.DataFrame({"item_id": ["a", "b", "c"], "p_x": [0.5, 0.25, 0.125], "p_y": [0.5, 0.75, 0.875]})
    probs = probs.with_columns(split=pl.lit("1"))
    parts = ["test", "dev", "test"]
    with_part = probs.with_columns(part=pl.Series(parts))
    panel = read_panel(votes, with_part)
    assert panel.votes.item_ids == ("a", "c")
    assert panel.probs[0][0, 0, :, 0].tolist() == [0.5, 0.125]
    assert panel.votes.counts.tolist() == [[1, 3], [3, 5]]
    assert read_panel(votes, with_part, part="dev").votes.item_ids == ("b",)
    assert read_panel(votes, with_part, part="dev").probs[0].tolist() == [[[[0.25, 0.75]]]]
    assert read_panel(votes, with_part, part="all").votes.item_ids == ("a", "b", "c")
    splits = pl.DataFrame({"item_id": ["c", "b", "a"], "split": [1, 1, 1], "part": parts})
    panel = read_panel(votes, probs, splits=splits)
    assert panel.votes.item_ids == ("a", "c")
    assert [one.role for one in panel.inputs] == ["votes", "predictions", "splits"]
    assert read_panel(votes, probs.drop("split"), splits=splits).splits == ("1",)
    with pytest.raises(DataError, match=r"\[A10\].*item 'a'.*part is dev here and test in the splits table"):
        read_panel(votes, probs.with_columns(part=pl.Series(["dev", "dev", "test"])), splits=splits)


def test_labels_of_long_votes_are_open():
    votes = pl.DataFrame({"item_id": ["a", "a", "b"], "annotator_id": ["1", "2", "1"], "label": ["1", "5", "2"]})
    probs = pl.DataFrame({"item_id": ["a", "b"]} | {f"p_{k}": [0.2, 0.2] for k in (5, 4, 3, 2, 1)})
    panel = read_panel(votes, probs)
    assert panel.votes.labels == ("1", "2", "3", "4", "5")
    assert panel.votes.counts.tolist() == [[1, 0, 0, 0, 1], [0, 1, 0, 0, 0]]
    assert panel.votes.ballots.label.tolist() == [0, 4, 1]
    (note,) = [note for note in panel.notes if note.code == "labels_added"]
    assert "3, 4" in note.message
    with pytest.raises(DataError, match=r"\[A01\].*'5'"):
        read_panel(votes, pl.DataFrame({"item_id": ["a", "b"], "p_1": [0.5, 0.5], "p_2": [0.5, 0.5]}))
    with pytest.raises(DataError, match=r"\[A02\].*'p_3'"):
        read_panel(read_votes(votes, labels=("1", "2", "5")), probs)
    with pytest.raises(DataError, match=r"\[P05\].*p_4, p_3"):
        read_panel(votes, probs, labels=("1", "2", "5"))


def test_permuted_label_columns_are_noticed():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 200)
    counts = np.ones((200, 3), dtype=int)
    counts[np.arange(200), truth] = 8
    right = np.full((200, 3), 0.1)
    right[np.arange(200), np.where(rng.random(200) < 0.9, truth, (truth + 1) % 3)] = 0.8
    ids = [f"i{i:03d}" for i in range(200)]
    votes = pl.DataFrame({"item_id": ids, "n_e": counts[:, 0], "n_n": counts[:, 1], "n_c": counts[:, 2]})
    # the model wrote its columns as entailment, contradiction, neutral and somebody named them e, n, c
    wrong = pl.DataFrame({"item_id": ids, "p_e": right[:, 0], "p_n": right[:, 2], "p_c": right[:, 1]})
    (note,) = [note for note in read_panel(votes, wrong).notes if note.code == "label_order_suspect"]
    declared = np.mean(right[:, [0, 2, 1]].argmax(1) == truth)
    best = np.mean(right.argmax(1) == truth)
    assert f"{declared:.1%}" in note.message
    assert f"{best:.1%}" in note.message
    assert "p_c as n, p_n as c" in note.message
    good = pl.DataFrame({"item_id": ids, "p_e": right[:, 0], "p_n": right[:, 1], "p_c": right[:, 2]})
    assert not read_panel(votes, good).notes


def test_best_order_is_the_best_of_all_orders():
    confusion = np.array(
        [[1, 9, 0], [0, 1, 9], [8, 0, 2]]
    )  # column 0 is label 1, column 1 is label 2, column 2 is label 0
    assert best_order(confusion).tolist() == [2, 0, 1]
    rng = np.random.default_rng(5)
    for _ in range(5):
        confusion = rng.integers(0, 20, (4, 4))
        right = max(sum(confusion[c, k] for k, c in enumerate(order)) for order in itertools.permutations(range(4)))
        assert confusion[best_order(confusion), np.arange(4)].sum() == right


def test_declared_condition_columns_become_numbers_in_every_format():
    votes = pl.DataFrame({"item_id": ["a"], "n_x": [1], "n_y": [3]})
    rows = {"item_id": ["a"] * 3, "method": ["soft"] * 3, "layers": ["12", "2", ""], "p_x": [0.5] * 3, "p_y": [0.5] * 3}
    panel = read_panel(votes, pl.DataFrame(rows), condition_columns=["layers"])
    assert [c.get("layers") for c in panel.conditions] == [None, 2, 12]
    text = pl.DataFrame(rows | {"layers": ["012", "2", "x"]})
    panel = read_panel(votes, text, condition_columns=["layers"])
    assert [c.get("layers") for c in panel.conditions] == ["012", "2", "x"]
    with pytest.raises(DataError, match=r"\[P05\].*--condition-columns layers.*--ignore-columns layers"):
        read_panel(votes, pl.DataFrame(rows))
    one = pl.DataFrame({name: values[:1] for name, values in rows.items()})
    assert str(read_panel(votes, one, ignore_columns=["layers"]).conditions[0]) == "model=model,method=soft"


def test_standard_condition_columns_may_be_declared_too():
    counts, rows = study()
    plain = read_panel(pl.DataFrame(counts), pl.DataFrame(rows))
    declared = read_panel(pl.DataFrame(counts), pl.DataFrame(rows), condition_columns=["method", "budget"])
    assert declared.conditions == plain.conditions


@pytest.mark.parametrize("column", ["item_id", "__row__"])
def test_columns_that_are_needed_cannot_be_ignored(column):
    counts, rows = study()
    with pytest.raises(DataError, match=rf"\[T01\].*no column '{column}'"):
        read_panel(pl.DataFrame(counts), pl.DataFrame(rows), ignore_columns=[column])


@pytest.mark.parametrize("name", ["condition", "low", "n_items", "draw", "split", "metric", "p_z", "test"])
def test_reserved_names_are_no_condition_columns(name):
    votes = pl.DataFrame({"item_id": ["a"], "n_x": [1], "n_y": [3]})
    rows = pl.DataFrame({"item_id": ["a"], "p_x": [0.5], "p_y": [0.5], name: ["1"]})
    with pytest.raises(DataError, match=r"\[P06\]"):
        read_panel(votes, rows, condition_columns=[name], labels=["x", "y"])


def test_columns_that_only_look_like_labels():
    votes = pl.DataFrame({"item_id": ["a", "b"], "n_x": [1, 2], "n_y": [3, 2], "n_votes": [4, 4]})
    probs = pl.DataFrame({"item_id": ["a", "b"], "p_x": [0.5, 0.4], "p_y": [0.5, 0.6], "p_value": [0.03, 0.2]})
    with pytest.raises(DataError, match=r"\[L02\].*'p_value'.*rename it or pass --labels"):
        read_panel(votes.drop("n_votes").with_columns(n_value=pl.lit(1)), probs)
    panel = read_panel(votes, probs, labels=["x", "y"], ignore_columns=["p_value"])
    assert panel.votes.labels == ("x", "y")
    assert panel.votes.groups["n_votes"] == ("4", "4")


def test_numbers_of_32_bits_keep_their_short_form():
    votes = pl.DataFrame({"item_id": ["a"], "n_x": [1], "n_y": [3]})
    rows = pl.DataFrame({"item_id": ["a"], "method": ["smoothing"], "p_x": [0.5], "p_y": [0.5]})
    rows = rows.with_columns(strength=pl.lit(0.1, dtype=pl.Float32), rate=pl.lit(0.2, dtype=pl.Float32))
    panel = read_panel(votes, rows, condition_columns=["rate"])
    assert str(panel.conditions[0]) == "model=model,method=smoothing,strength=0.1,rate=0.2"


def test_draws_are_noticed():
    votes = pl.DataFrame({"item_id": ["a"], "n_x": [1], "n_y": [3]})
    rows = pl.DataFrame({"item_id": ["a"], "p_x": [0.5], "p_y": [0.5]})
    assert not read_panel(votes, rows).has_draws
    assert read_panel(votes, rows.with_columns(draw=pl.lit(2))).has_draws


def test_unknown_words_are_refused():
    votes = pl.DataFrame({"item_id": ["a"], "n_x": [1], "n_y": [3]})
    rows = pl.DataFrame({"item_id": ["a"], "p_x": [0.5], "p_y": [0.5]})
    with pytest.raises(UsageError, match="part='validation'"):
        read_panel(votes, rows, part="validation")
    with pytest.raises(UsageError, match="missing='ignore'"):
        read_panel(votes, rows, missing="ignore")
    with pytest.raises(UsageError, match="list of texts"):
        read_panel(votes, rows, condition_columns="layers")


def test_panel_of_votes_that_were_read_already():
    counts, rows = study()
    votes = read_votes(pl.DataFrame(counts))
    a, b = read_panel(votes, pl.DataFrame(rows)), read_panel(pl.DataFrame(counts), pl.DataFrame(rows))
    assert a.probs[0].tobytes() == b.probs[0].tobytes()
    assert a.summary == b.summary


@pytest.mark.realdata
def test_real_study(shared_data):
    folder = shared_data / "chaosnli_study"
    votes = read_votes(folder / "vote_counts.parquet")
    assert (votes.summary.n_items, votes.summary.n_votes) == (3113, 311300)
    assert votes.labels == ("entailment", "neutral", "contradiction")
    panel = read_panel(votes, folder / "predictions.parquet")
    assert len(panel.conditions) == 14
    assert panel.seeds == ((0, 1, 2),) * 3
    assert [probs.shape for probs in panel.probs] == [(14, 3, 617, 3)] * 3
    assert panel.summary.n_items + panel.summary.voted_without_predictions == 3113
    assert panel.summary.renormalised == 0
    frame = pl.read_parquet(folder / "predictions.parquet")
    row = frame.row(51234, named=True)
    s = panel.splits.index(row["split"])
    (c,) = [
        i
        for i, one in enumerate(panel.conditions)
        if (one.method, one.budget, one.strength) == (row["method"], row["budget"], row["strength"])
    ]
    i = [panel.votes.item_ids[k] for k in panel.items_of_split[s]].index(row["item_id"])
    expected = [row[f"p_{label}"] for label in votes.labels]
    assert panel.probs[s][c, panel.seeds[s].index(row["seed"]), i].tolist() == expected


def test_a_part_that_no_table_tells_is_not_silently_all_rows():
    votes = pl.DataFrame({"item_id": ["a", "a", "b", "b"], "label": ["x", "y", "x", "y"]})
    rows = pl.DataFrame({"item_id": ["a", "b"], "p_x": [0.5, 0.4], "p_y": [0.5, 0.6]})
    for part in ("train", "dev"):
        with pytest.raises(DataError, match=rf"\[A05\].*part '{part}' is asked for.*--part \(part=\)"):
            read_panel(votes, rows, part=part)
    assert read_panel(votes, rows, part="test").probs[0].shape[2] == 2
