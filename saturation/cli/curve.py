"""``saturation curve``: what each budget of votes brings a model."""

from __future__ import annotations

from typing import Any

import click

from saturation.cli import options
from saturation.cli.output import print_result, with_settings


@click.command(
    "curve",
    epilog=options.example(
        "saturation curve --votes votes.csv --predictions predictions.csv",
        "saturation curve --votes v.parquet --predictions p.parquet --baselines hard --ceiling method=soft,budget=50",
        "saturation curve --votes v.parquet --predictions p.parquet --fit power,exponential --predict 200,500",
    ),
)
@options.votes
@options.predictions
@options.metrics
@options.floor
@options.baselines
@options.ceiling
@options.q
@options.margin
@options.fits
@click.option(
    "--by", type=click.Choice(("cell",)), default=None, help="cell: how far fractions spread over splits and seeds."
)
@options.ragged
@options.joint_design
@options.resampling
@options.output
def command(**given: Any) -> None:
    """Find how many votes an item a model needs, metric by metric.

    For every curve: the value, what is still to gain (shortfall), the share of the gain over each baseline
    (fraction), and the smallest budget shown to keep a share of it (N*), each with its interval.
    """
    from saturation.analyses.curve.saturation import saturation_curve

    panel = options.load_panel(given)
    result = saturation_curve(
        panel,
        metrics=options.resolve_metrics(given["metrics"]),
        baselines=given["baselines"],
        ceiling=given["ceiling"],
        q=given["q"],
        margin=given["margin"],
        design=given["design"],
        level=given["level"],
        n_resamples=given["n_resamples"],
        rng=given["seed"],
        ragged=given["ragged"],
        ties=given["ties"],
        floor=given["floor"],
        bins=given["bins"],
        fits=given["fits"],
        predict=given["predict"],
        by=given["by"],
        threads=given["threads"],
    )
    result = with_settings(result, options.table_settings(given, panel.votes.labels))
    print_result(result, given["format"], given["out"], given["quiet"])
