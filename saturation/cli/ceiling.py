"""``saturation ceiling``: what people themselves would score."""

from __future__ import annotations

from typing import Any

import click

from saturation.cli import options
from saturation.cli.equivalents import directed_names
from saturation.cli.output import print_result, with_settings


@click.command(
    "ceiling",
    epilog=options.example(
        "saturation ceiling --votes votes.csv",
        "saturation ceiling --votes v.parquet --predictions p.parquet --metrics kl,tvd --out ceiling.csv",
    ),
)
@options.votes
@options.predictions_optional
@options.metrics
@options.floor
@click.option(
    "--entropy-estimator",
    type=click.Choice(options.ENTROPY_ESTIMATORS),
    default=None,
    help="Entropy of the population; default: chao_shen below 20 votes, jackknife from 20.",
)
@click.option(
    "--population",
    type=click.Choice(("drawn", "mean")),
    default="drawn",
    help="Where there is no closed form: populations drawn given the votes, or their mean, which overstates the noise.",
)
@options.resampling
@options.output
def command(**given: Any) -> None:
    """What people themselves would score, and how far models are from it.

    Two ceilings: a model that knows every item's population, so that only the noise of the votes is left (noise_only),
    and the votes of other people (another_crowd). Votes alone are enough; with predictions, the distance of every
    condition is added.
    """
    from saturation.analyses.worth.ceiling import ceiling

    data = options.load_panel(given) if given["predictions"] else options.load_votes(given)
    result = ceiling(
        data,
        metrics=directed_names(tuple(given["metrics"])),
        population=given["population"],
        level=given["level"],
        n_resamples=given["n_resamples"],
        rng=given["seed"],
        ties=given["ties"],
        floor=given["floor"],
        bins=given["bins"],
        entropy_estimator=given["entropy_estimator"],
        threads=given["threads"],
    )
    result = with_settings(result, options.table_settings(given, result.settings["labels"]))
    print_result(result, given["format"], given["out"], given["quiet"])
