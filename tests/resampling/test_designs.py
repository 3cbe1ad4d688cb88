"""Designs refuse what is not honest; blocks cover every row once."""

from __future__ import annotations

import pytest

from saturation.errors import UsageError
from saturation.resampling import designs
from saturation.resampling.blocks import run_blocks, usable_threads


def test_defaults_follow_the_ids():
    assert designs.resolve(None, has_ids=False).name == "items"
    assert designs.resolve(None, has_ids=True).name == "items x annotators"
    assert designs.resolve("crossed", has_ids=True).redraws == {"items", "seeds", "annotators"}
    assert designs.resolve("items", has_ids=True).name == "items"


def test_unknown_and_impossible_designs_name_the_choices():
    with pytest.raises(UsageError, match="unknown design 'item'; choose one of items, crossed"):
        designs.resolve("item", has_ids=True)
    with pytest.raises(UsageError, match="needs annotator ids"):
        designs.resolve("annotators", has_ids=False)


@pytest.mark.parametrize("name", designs.DESIGNS)
def test_percentiles_are_refused_exactly_where_votes_are_redrawn(name):
    design = designs.DESIGNS[name]
    for interval in ("percentile", "bca"):
        if design.redraws & {"votes", "annotators"}:
            with pytest.raises(UsageError, match="never a centre"):
                design.check(interval)
    if not design.redraws & {"votes", "annotators"}:
        design.check("percentile")
    design.check(None)


@pytest.mark.parametrize("threads", [1, 2, 5, 20])
@pytest.mark.parametrize("n_rows", [0, 1, 7])
def test_blocks_cover_every_row_once(threads, n_rows):
    seen = [0] * n_rows

    def work(start, stop):
        for row in range(start, stop):
            seen[row] += 1

    run_blocks(work, n_rows, threads)
    assert seen == [1] * n_rows


def test_an_error_in_a_block_is_not_lost():
    def work(start, stop):
        raise UsageError("from a thread")

    with pytest.raises(UsageError, match="from a thread"):
        run_blocks(work, 4, 2)


def test_threads_must_be_positive():
    assert usable_threads() >= 1
    with pytest.raises(UsageError, match="at least 1"):
        usable_threads(0)
