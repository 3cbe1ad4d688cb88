"""``saturation heldout``: predictions against votes that training did not see."""

from __future__ import annotations

from typing import Any

import click

from saturation.cli import options
from saturation.cli.kinds import Share, Whole
from saturation.cli.output import print_result, with_settings


@click.command(
    "heldout",
    epilog=options.example(
        "saturation heldout --votes votes.csv --predictions predictions.csv    (votes with a column pool)",
        "saturation heldout --votes counts.csv --predictions predictions.csv --share .2 --repeats 50",
    ),
)
@options.votes
@options.predictions
@options.metrics
@options.floor
@click.option(
    "--share",
    type=Share(),
    metavar="NUMBER",
    default=None,
    help="Of an item's votes to hold out at random, where they have no column pool.  [default: 0.2]",
)
@click.option(
    "--repeats",
    type=Whole(2, 100_000),
    metavar="NUMBER",
    default=None,
    help="Random divisions, for metrics that have no exact mean over all of them.  [default: 50]",
)
@click.option(
    "--entropy-estimator",
    type=click.Choice(options.ENTROPY_ESTIMATORS),
    default=None,
    help="Entropy in corrected values; default: by the votes an item of each part.",
)
@click.option("--level", type=Share(), metavar="NUMBER", default=0.95, help="Coverage of the intervals.")
@click.option(
    "--seed", type=Whole(0, options.MAX_SEED), metavar="NUMBER", default=0, help="Seed of the random divisions."
)
@options.output
def command(**given: Any) -> None:
    """Score predictions against held-out votes, training votes and all votes of the same items.

    Held out are votes whose column pool says heldout; without that column a share of every item's votes, at random,
    which shows what a smaller reference alone changes. Beside every raw value the one corrected for so few votes, and
    for the entropy correlation its reliability and the value without the annotators' noise.
    """
    from saturation.analyses.heldout.heldout import heldout

    panel = options.load_panel(given)
    result = heldout(
        panel,
        metrics=options.resolve_metrics(given["metrics"]),
        share=given["share"],
        repeats=given["repeats"],
        level=given["level"],
        rng=given["seed"],
        ties=given["ties"],
        floor=given["floor"],
        bins=given["bins"],
        entropy_estimator=given["entropy_estimator"],
    )
    result = with_settings(result, options.table_settings(given, panel.votes.labels))
    print_result(result, given["format"], given["out"], given["quiet"])
