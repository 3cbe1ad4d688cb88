"""``saturation label-curve``: how close N votes an item come to the full crowd."""

from __future__ import annotations

from typing import Any

import click

from saturation.cli import options
from saturation.cli.kinds import ReferenceSize
from saturation.cli.output import print_result, with_settings


@click.command(
    "label-curve",
    epilog=options.example(
        "saturation label-curve --votes votes.csv",
        "saturation label-curve --votes counts.parquet --reference all --budgets 1-47 --metrics kl,tvd --out l.csv",
        "saturation label-curve --votes pilot.csv --estimator model --budgets 1,3,10,30",
    ),
)
@options.votes
@options.metrics
@options.budgets
@options.reference
@click.option(
    "--estimator",
    type=click.Choice(("data", "model")),
    default="data",
    help="Draw from the votes at hand (data), or from a law of items fitted to a small pilot, at any budget (model).",
)
@click.option(
    "--population",
    type=click.Choice(("auto", "dirichlet", "dirichlet_mixture", "multinomial_mixture")),
    default="auto",
    help="Kind of fitted law; auto: by items left out.",
)
@click.option(
    "--reference-size",
    type=ReferenceSize(),
    metavar="NUMBER|population",
    default=None,
    help="What a fitted law compares with: so many other votes, or all people; default: 100.",
)
@options.alpha
@options.q
@options.ragged
@options.label_design
@options.resampling
@options.output
def command(**given: Any) -> None:
    """How close do N votes an item come to the full crowd? Votes only, no model.

    One row a metric and budget: the distance of N votes from the reference, its shortfall against the largest
    budget and the fraction of the gain that it has made; then N*, the votes that keep a share q of the gain.
    low and high are for other items, and people where they label several; draw_low and draw_high for one actual
    collection of N votes on these items.
    A pilot of 2 to 5 votes an item cannot be drawn from at larger budgets: --estimator model fits a law of items to it.
    """
    from saturation.analyses.labels.label_curve import label_curve

    votes = options.load_votes(given)
    # `all` holds a metric that exists on the label side only, so it is not spelt out here
    metrics = given["metrics"] if given["metrics"] == ("all",) else options.resolve_metrics(given["metrics"])
    result = label_curve(
        votes,
        metrics=metrics,
        budgets=given["budgets"],
        reference=given["reference"],
        alpha=given["alpha"],
        q=given["q"],
        level=given["level"],
        n_resamples=given["n_resamples"],
        rng=given["seed"],
        ragged=given["ragged"],
        ties=given["ties"],
        bins=given["bins"],
        estimator=given["estimator"],
        population=given["population"],
        reference_size=given["reference_size"],
        design=given["design"],
        threads=given["threads"],
    )
    result = with_settings(result, options.table_settings(given, votes.labels))
    print_result(result, given["format"], given["out"], given["quiet"])
