"""Predictions of every part: which rows are fitted on, which are tested, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from saturation.errors import DataError
from saturation.tables.align import PredictionOptions
from saturation.tables.builders import votes_from_counts
from saturation.tables.parted import Parted, read_parted

VOTES = votes_from_counts([[3, 1], [1, 3], [2, 2]], labels=("no", "yes"), item_ids=("a", "b", "c"))


def _rows(**columns: Any) -> pl.DataFrame:
    base = {
        "item_id": ["c", "a", "x"],
        "method": ["hard"] * 3,
        "part": ["test", "dev", "test"],
        "p_yes": [0.2, 0.6, 0.5],
        "p_no": [0.8, 0.4, 0.5],
    }
    return pl.DataFrame(base | columns)


def _read(frame: pl.DataFrame, splits: pl.DataFrame | None = None) -> Parted:
    return read_parted(VOTES, frame, PredictionOptions(), splits)


def test_rows_keep_their_order_and_labels_go_by_name() -> None:
    read = _read(_rows())
    assert read.item.tolist() == [2, 0, -1]
    assert read.part.tolist() == [2, 1, 2]
    assert read.probs.tolist() == [[0.8, 0.2], [0.4, 0.6], [0.5, 0.5]]
    assert read.logits is None
    assert {key: items.tolist() for key, items in read.in_part.items()} == {
        ("all", "train"): [],
        ("all", "dev"): [0],
        ("all", "test"): [2],
    }


def test_logits_go_by_name_and_gaps_have_none() -> None:
    read = _read(_rows(z_yes=["1", "-0.5", ""], z_no=["0", "2", "3"]))
    assert read.logits is not None
    np.testing.assert_array_equal(read.logits, [[0, 1], [2, -0.5], [np.nan, np.nan]])


def test_a_splits_table_says_the_parts_and_the_training_items() -> None:
    splits = pl.DataFrame(
        {"item_id": ["a", "b", "c", "x"], "split": ["s"] * 4, "part": ["dev", "train", "test", "test"]}
    )
    read = _read(_rows().drop("part"), splits)
    assert read.part.tolist() == [2, 1, 2]
    assert read.in_part["s", "train"].tolist() == [1]


def test_an_item_in_two_parts_of_a_split_is_named() -> None:
    both = pl.concat([_rows(), _rows(seed=[1, 1, 1]).with_columns(part=pl.lit("dev"))], how="diagonal")
    both = both.with_columns(pl.col("seed").fill_null(0))
    with pytest.raises(DataError, match="the item is in dev and in test of split 'all'") as caught:
        _read(both)
    assert [problem.item for problem in caught.value.problems] == ["c", "x"]


def test_the_same_item_may_be_tested_in_one_split_and_developed_on_in_another() -> None:
    both = pl.concat(
        [_rows(split=["s"] * 3), _rows(split=["t"] * 3).with_columns(part=pl.Series(["dev", "test", "dev"]))]
    )
    assert _read(both).in_part["t", "dev"].tolist() == [2]


def test_rows_without_parts_are_refused() -> None:
    with pytest.raises(DataError, match="no row says its part"):
        _read(_rows().drop("part"))


def test_a_logit_that_is_no_number_is_refused() -> None:
    with pytest.raises(DataError, match="z_yes is 'high', not a number"):
        _read(_rows(z_yes=["high", "1", "2"], z_no=["0", "1", "2"]))
