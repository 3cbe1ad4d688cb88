"""Options: read strictly, refused with words, and handed to the door as they are."""

from __future__ import annotations

import inspect
from typing import get_args

import click
import pytest

from saturation import typing as words
from saturation.cli import options
from saturation.errors import DataError, UsageError
from saturation.metrics import catalogue, estimators
from saturation.resampling.designs import DESIGNS
from saturation.tables import align, door
from saturation.tables import votes as vote_tables

VOTES = "item_id,annotator_id,label\nq1,a,no\nq1,b,yes\nq2,a,yes\nq2,b,yes\n"
PREDICTIONS = "item_id,model,method,budget,seed,p_no,p_yes\n" + "".join(
    f"{item},m,soft,{budget},{seed},0.25,0.75\n" for item in ("q1", "q2") for budget in (1, 2) for seed in (0, 1)
)


@pytest.fixture
def given(tmp_path):
    """Options of a panel as click hands them over."""
    (tmp_path / "v.csv").write_text(VOTES)
    (tmp_path / "p.csv").write_text(PREDICTIONS)

    @click.command()
    @options.votes
    @options.predictions
    @options.metrics
    @options.output
    def command(**given):
        return given

    def parse(*more):
        paths = ["--votes", str(tmp_path / "v.csv"), "--predictions", str(tmp_path / "p.csv")]
        return command.main([*paths, *more], standalone_mode=False)

    return parse


@pytest.mark.parametrize(
    ("offered", "known"),
    [
        (options.TIES, words.TieRule),
        (options.REFERENCES, words.Reference),
        (options.PARTS, align.Part),
        (("error", "drop"), align.Missing),
        (("error", "drop"), vote_tables.MissingLabels),
        (("error", "first", "last"), vote_tables.Duplicates),
    ],
)
def test_choices_are_the_words_that_the_functions_know(offered, known):
    assert sorted(offered) == sorted(get_args(known))


def test_every_interval_offered_is_honest_under_some_design():
    assert set(options.INTERVALS) == {interval for design in DESIGNS.values() for interval in design.intervals}


@pytest.mark.parametrize(
    ("offered", "known"),
    [
        (options.DESIGNS, words.DesignName),
        (options.JOINT_DESIGNS, words.DesignName),
        (options.LABEL_DESIGNS, words.DesignName),
        (options.INTERVALS, words.IntervalName),
        (options.ENTROPY_ESTIMATORS, estimators.Estimator),
    ],
)
def test_choices_are_among_the_words_that_the_functions_know(offered, known):
    assert set(offered) <= set(get_args(known))


def test_every_option_of_the_door_can_be_given():
    taken = {*options._VOTES, *options._PREDICTIONS}
    assert set(inspect.signature(door.read_panel).parameters) - {"votes", "predictions"} == taken
    assert set(inspect.signature(door.read_votes).parameters) - {"sources"} == set(options._VOTES)


def test_defaults_are_those_of_the_door(given):
    parsed = given()
    for name, parameter in inspect.signature(door.read_panel).parameters.items():
        if name not in ("votes", "predictions", "items", "splits"):
            assert parsed[name] == parameter.default


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1,2,5", (1, 2, 5)),
        ("5,1,2,2", (1, 2, 5)),
        ("3-6", (3, 4, 5, 6)),
        ("1-3, 10,20-21", (1, 2, 3, 10, 20, 21)),
        ("7", (7,)),
        ("1-100", tuple(range(1, 101))),
    ],
)
def test_budgets(text, read):
    assert options.Budgets().convert(text, None, None) == read


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "1,,2", "5-3", "1.5", "a", "1-", "1-2-3", "٣", "1e2", "100001", "1-10000000"]
)
def test_what_is_no_budget(text):
    with pytest.raises(click.BadParameter):
        options.Budgets().convert(text, None, None)


@pytest.mark.parametrize("kind", [options.Share(), options.Positive(), options.Alpha()])
@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "-inf", "x", ""])
def test_what_is_no_number(kind, text):
    with pytest.raises(click.BadParameter):
        kind.convert(text, None, None)


@pytest.mark.parametrize("text", ["1", "1.0", "2"])
def test_a_level_of_one_is_refused(text):
    with pytest.raises(click.BadParameter, match="strictly between 0 and 1"):
        options.Share().convert(text, None, None)


def test_numbers():
    assert options.Share().convert(".95", None, None) == 0.95
    assert options.Shares().convert(".9,.95", None, None) == (0.9, 0.95)
    assert options.Alpha().convert("1/K", None, None) == "1/K"
    assert options.Alpha().convert("none", None, None) == "none"
    assert options.Alpha().convert("0.5", None, None) == 0.5
    assert options.Whole(0, options.MAX_SEED).convert(str(2**63 - 1), None, None) == 2**63 - 1


@pytest.mark.parametrize("text", ["-1", "1.5", "x", "", str(2**63), "1_000", "٣"])
def test_what_is_no_seed(text):
    with pytest.raises(click.BadParameter, match="not a whole number from 0 to"):
        options.Whole(0, options.MAX_SEED).convert(text, None, None)


@pytest.mark.parametrize("text", ["", "kl,", ",kl", "kl,,tvd", "kl,kl"])
def test_lists_without_gaps_or_repeats(text):
    with pytest.raises(click.BadParameter):
        options.ListOf().convert(text, None, None)


def test_commas_inside_brackets_do_not_part_a_list():
    assert options.ListOf().convert("kl, reverse_kl[floor=1e-12,base=2],tvd", None, None) == (
        "kl",
        "reverse_kl[floor=1e-12,base=2]",
        "tvd",
    )


def test_metrics():
    assert options.resolve_metrics(("default",)) == catalogue.DEFAULT_METRICS
    assert options.resolve_metrics(("all",)) == catalogue.all_names()
    assert options.resolve_metrics(("kl", "reverse_kl[floor=1e-12]")) == ("kl", "reverse_kl[floor=1e-12]")
    with pytest.raises(UsageError, match="not both"):
        options.resolve_metrics(("kl", "all"))


def test_loading_votes_and_panels(given):
    votes = options.load_votes(given())
    assert votes.labels == ("no", "yes")
    assert votes.counts.tolist() == [[1, 1], [0, 2]]
    panel = options.load_panel(given("--labels", "yes,no"))
    assert panel.votes.labels == ("yes", "no")
    assert [c.budget for c in panel.conditions] == [1, 2]
    assert panel.seeds == ((0, 1),)
    assert panel.probs[0][0, 0].tolist() == [[0.75, 0.25], [0.75, 0.25]]


def test_plain_csv_with_columns_of_its_own(tmp_path, given):
    (tmp_path / "v.csv").write_text("text,who,answer\nq1,a,no\nq1,b,yes\nq2,a,yes\n")
    names = ["--item-column", "text", "--annotator-column", "who", "--label-column", "answer"]
    votes = options.load_votes(given(*names))
    assert votes.item_ids == ("q1", "q2")
    assert votes.ballots is not None


def test_problems_of_a_table_come_with_their_place(tmp_path, given):
    (tmp_path / "v.csv").write_text("item_id,annotator_id,label\nq1,a,no\nq1,a,yes\n")
    with pytest.raises(DataError) as caught:
        options.load_votes(given())
    problem = caught.value.problems[0]
    assert problem.file.endswith("v.csv")
    assert problem.item == "q1"
    assert options.load_votes(given("--duplicates", "first", "--labels", "no,yes")).counts.tolist() == [[1, 0]]


def test_settings_say_how_the_tables_were_read(given):
    settings = options.table_settings(given("--duplicates", "last"), ("no", "yes"))
    assert settings["labels"] == ("no", "yes")
    assert settings["duplicates"] == "last"
    assert settings["part"] == "test"
    assert not {"votes", "items", "splits", "threads"} & set(settings)


def test_faults_of_the_output_come_before_the_work(tmp_path, given):
    missing = given("--out", str(tmp_path / "x.json"), "--format", "csv")
    with pytest.raises(UsageError, match="means json, but --format says csv"):
        options.load_panel(missing)
    with pytest.raises(UsageError, match="is an input of this run"):
        options.load_panel(given("--out", str(tmp_path / "v.csv")))
    with pytest.raises(UsageError, match="there is no folder"):
        options.load_panel(given("--out", str(tmp_path / "no" / "x.json")))
