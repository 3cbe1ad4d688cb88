"""``saturation murphy``: reliability, resolution and uncertainty per condition."""

from __future__ import annotations

from typing import Any

import click

from saturation.cli import options
from saturation.cli.kinds import ListOf, Whole
from saturation.cli.output import print_result, with_settings


@click.command(
    "murphy",
    epilog=options.example(
        "saturation murphy --votes votes.csv --predictions predictions.csv",
        "saturation murphy --votes v.parquet --predictions p.parquet --outcome soft --versus method=soft,budget=100",
    ),
)
@options.votes
@options.predictions
@click.option(
    "--outcome",
    type=ListOf(),
    metavar="NAME,...",
    default="votes,soft",
    help="What is forecast: a vote, the distribution of votes (soft), the majority label; several at once.",
)
@click.option(
    "--binning",
    type=click.Choice(("width", "count", "isotonic")),
    default="width",
    help="Bins of equal width or of equal numbers of items; or the best monotone recalibration.",
)
@click.option("--bins", type=Whole(1, 10_000), metavar="NUMBER", default=10, help="Number of bins.")
@click.option(
    "--label",
    type=ListOf(),
    metavar="sum|mean|top|NAME,...",
    default="sum",
    help="Labels summed, averaged, the model's top label, or labels by name; a label called sum is label:sum.",
)
@click.option(
    "--versus",
    default=None,
    metavar="CONDITION",
    help="Add the difference of every other condition to this one, e.g. method=soft,budget=100.",
)
@options.ties
@click.option(
    "--fixed-forecasts", is_flag=True, help="Correct for noise as if the numbers of items in the bins were fixed."
)
@options.design
@options.interval
@options.resampling
@options.output
def command(**given: Any) -> None:
    """Split the Brier score into reliability, resolution and uncertainty.

    score = rel - res + unc + wbv - wbc, for every condition: rel is what miscalibration costs, res what telling items
    apart gains, unc belongs to the labels alone (resolvable and irreducible), wbv and wbc are what the bins hide. The
    corrected terms are free of the bias that noise in the bins gives to rel and res.
    """
    from saturation.analyses.murphy.decomposition import murphy

    panel = options.load_panel(given)
    result = murphy(
        panel,
        outcome=given["outcome"],
        binning=given["binning"],
        bins=given["bins"],
        label=given["label"],
        versus=given["versus"],
        ties=given["ties"],
        fixed_forecasts=given["fixed_forecasts"],
        design=given["design"],
        interval=given["interval"],
        level=given["level"],
        n_resamples=given["n_resamples"],
        rng=given["seed"],
        threads=given["threads"],
    )
    result = with_settings(result, options.table_settings(given, panel.votes.labels))
    print_result(result, given["format"], given["out"], given["quiet"])
