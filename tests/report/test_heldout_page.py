"""Held-out votes in a report: words, table, figure, files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from saturation import plot
from saturation.analyses.heldout.heldout import heldout
from saturation.errors import UsageError
from saturation.report import heldout_page, html
from saturation.report.folder import write_report
from saturation.report.heldout_figures import OPEN_AND_FILLED
from saturation.results import HeldOutResult
from saturation.studies.report import make_report
from saturation.tables.panel import Panel
from tests.analyses.test_heldout import _panel, _with_pools


@pytest.fixture(scope="module")
def panel() -> Panel:
    return _with_pools(n_items=60, per_pool=(16, 12), people=40)


@pytest.fixture(scope="module")
def unseen(panel: Panel) -> HeldOutResult:
    return heldout(panel, metrics=("kl", "tvd", "entropy_correlation"))


def _changed(result: HeldOutResult, **values: float | None) -> HeldOutResult:
    rows = tuple(replace(row, **values) if " - " in row.pool else row for row in result.rows)
    return replace(result, rows=rows)


def test_sentences_say_what_the_number_of_votes_does_and_what_is_left(unseen: HeldOutResult) -> None:
    first, second = heldout_page.sentences(unseen)  # tvd has no correction
    assert "against the 12 held-out votes an item" in first
    assert "against the 16 training votes" in first
    assert "a perfect model would score" in first
    assert "less reliable" in second
    assert "which is no proof" in first


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.1, 0.3, "it learned some of their noise"),
        (-0.3, -0.1, "noise learned from them cannot explain"),
        (-0.1, 0.1, "no sign of anything learned"),
        (None, None, "how sure that is cannot be said"),
    ],
)
def test_the_verdict_follows_the_interval_of_the_corrected_change(
    unseen: HeldOutResult, low: float | None, high: float | None, words: str
) -> None:
    told = heldout_page.sentences(_changed(unseen, corrected=0.0, corrected_low=low, corrected_high=high))
    assert words in told[0]
    turned = {words, "it learned some of their noise", "noise learned from them cannot explain"}
    assert any(one in told[1] for one in turned)  # of a correlation, higher is better
    if low == 0.1:
        assert "noise learned from them cannot explain" in told[1]


def test_the_table_has_raw_and_corrected_values(unseen: HeldOutResult) -> None:
    grid = heldout_page.heldout_grid(unseen, "kl")
    assert grid.head[1:] == (
        "held-out votes", "held-out, corrected", "training votes", "training, corrected", "corrected change",
    )  # fmt: skip
    row = next(row for row in unseen.rows if (row.metric, row.pool) == ("kl", "heldout"))
    assert grid.rows[0][1][1].text.startswith(f"{row.corrected:.2f}"[:4])
    assert heldout_page.heldout_grid(unseen, "tvd").head[1:] == ("held-out votes", "training votes", "change")


def test_figures_say_what_open_and_filled_means(unseen: HeldOutResult) -> None:
    assert plot.heldout(unseen).get_xlabel() == OPEN_AND_FILLED
    assert plot.heldout(unseen, metric="tvd").get_xlabel() == ""
    with pytest.raises(UsageError, match="no jsd"):
        plot.heldout(unseen, metric="jsd")
    with pytest.raises(UsageError, match="no condition"):
        plot.heldout(unseen, conditions=["method=none"])


def test_a_report_has_the_section_where_votes_have_pools(panel: Panel, tmp_path: Path) -> None:
    report = make_report(panel.votes, panel, metrics=("kl",), n_resamples=20)
    page = html.page(report)
    assert "What remains against held-out votes?" in page
    assert "people with held-out votes also cast training votes" in page
    write_report(report, tmp_path / "report")
    assert (tmp_path / "report" / "figures" / "heldout.svg").exists()
    assert (tmp_path / "report" / "tables" / "heldout.csv").exists()
    told = json.loads((tmp_path / "report" / "results.json").read_text())
    assert {row["pool"] for row in told["sections"]["heldout"]} >= {"heldout", "train", "all"}


def test_a_report_without_pools_has_none() -> None:
    whole = _panel()
    assert "heldout" not in make_report(whole.votes, whole, metrics=("brier",), n_resamples=20).sections


def test_pools_that_never_meet_on_an_item_are_no_reason_to_fail(panel: Panel) -> None:
    pools = {"train": panel.votes.counts, "heldout": panel.votes.counts * 0}
    alone = replace(panel, votes=replace(panel.votes, pools=pools))
    assert "heldout" not in make_report(alone.votes, alone, metrics=("brier",), n_resamples=20).sections
