"""``saturation plan``: how many items, and votes an item, to buy for an evaluation."""

from __future__ import annotations

from typing import Any

import click

from saturation.cli import options
from saturation.cli.kinds import ListOf, Positive, Share, Whole
from saturation.cli.output import print_result, with_settings
from saturation.errors import UsageError


class Difference(Positive):
    """A true difference: its size counts, not its sign."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read and check."""
        return super().convert(str(value).removeprefix("-"), param, ctx)


_COSTS = options.stack(
    click.option("--cost-per-vote", type=Positive(), required=True, metavar="NUMBER", help="Price of one vote."),
    click.option(
        "--cost-per-item",
        type=Positive(),
        required=True,
        metavar="NUMBER",
        help="Price of an item apart from its votes, in the same currency.",
    ),
    click.option(
        "--budget",
        "--total",
        "total",
        type=Positive(),
        required=True,
        metavar="TOTAL",
        help="Money in all, in the same currency.",
    ),
    click.option("--max-items", type=Whole(2, 10**9), metavar="NUMBER", default=None, help="Items that there are."),
    click.option(
        "--max-votes",
        type=Whole(1, 1000),
        metavar="NUMBER",
        default=None,
        help="Votes an item at most; default: those of the pilot's richest item.",
    ),
    click.option(
        "--annotators",
        type=Whole(1, 10**9),
        metavar="NUMBER",
        default=None,
        help="People who will vote; default: as many as in the pilot.",
    ),
)
_MODELS = options.stack(
    click.option("--a", metavar="CONDITION", default=None, help="The model to evaluate, e.g. method=soft,budget=10."),
    click.option("--b", metavar="CONDITION", default=None, help="A second model: plan for the difference a - b."),
    click.option(
        "--difference",
        type=Difference(),
        metavar="NUMBER",
        default=None,
        help="True difference that power is wanted for; default: the pilot's own.",
    ),
    click.option(
        "--forecast",
        type=click.Choice(("annotator", "base_rate")),
        default=None,
        help="Without predictions: whose score is planned. [default: annotator]",
    ),
)


@click.command(
    "plan",
    epilog=options.example(
        "saturation plan --pilot v.csv --cost-per-vote 0.05 --cost-per-item 0.5 --budget 1000",
        "saturation plan --pilot v.csv --predictions p.csv --a method=soft,budget=10 --b method=hard "
        "--cost-per-vote 0.05 --cost-per-item 0.5 --budget 1000 --metric brier,kl --difference 0.01",
    ),
)
@options.pilot
@options.predictions_optional
@_COSTS
@click.option(
    "--metrics",
    "--metric",
    "metrics",
    type=ListOf(),
    metavar="NAME,...",
    default="default",
    help="Names, or default: cross_entropy, brier_vote, tvd, entropy_correlation.",
)
@_MODELS
@options.floor
@options.bins
@click.option("--level", type=Share(), metavar="NUMBER", default=0.95, help="Coverage of the intervals.")
@click.option(
    "--seed",
    type=Whole(0, options.MAX_SEED),
    metavar="NUMBER",
    default=0,
    help="Seed of picked votes and of simulations.",
)
@options.output
def command(**given: Any) -> None:
    """Plan an evaluation: how many items, and votes an item, to buy with a given sum.

    What makes a score uncertain is read from a pilot: how items differ, how votes on one item differ, how people
    differ. From that: the best number of votes an item for each metric, the width of the interval to expect, the power
    to tell two models apart, and what it costs to have bought for another metric. How many votes to train on is
    another question, which saturation curve answers for models trained on several budgets.
    """
    from saturation.analyses.planning.plan import DEFAULT_METRICS, plan
    from saturation.tables.panel import Panel

    pilot = options.load_panel(given) if given["predictions"] else options.load_votes(given)
    metrics = given["metrics"]
    if "default" in metrics and len(metrics) > 1:
        raise UsageError("--metrics takes names, or the word default, not both")
    result = plan(
        pilot,
        cost_per_vote=given["cost_per_vote"],
        cost_per_item=given["cost_per_item"],
        total=given["total"],
        metrics=DEFAULT_METRICS if metrics == ("default",) else metrics,
        a=given["a"],
        b=given["b"],
        difference=given["difference"],
        max_votes=given["max_votes"],
        max_items=given["max_items"],
        annotators=given["annotators"],
        forecast=given["forecast"],
        level=given["level"],
        rng=given["seed"],
        floor=given["floor"],
        bins=given["bins"],
    )
    votes = pilot.votes if isinstance(pilot, Panel) else pilot
    result = with_settings(result, options.table_settings(given, votes.labels))
    print_result(result, given["format"], given["out"], given["quiet"])
