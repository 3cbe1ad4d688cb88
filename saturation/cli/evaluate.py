"""``saturation evaluate``: metrics per condition."""

from __future__ import annotations

from typing import Any

import click

from saturation.cli import options
from saturation.cli.output import print_result, with_settings


@click.command(
    "evaluate",
    epilog=options.example(
        "saturation evaluate --votes votes.csv --predictions predictions.csv",
        "saturation evaluate --votes v.parquet --predictions p.parquet --metrics kl,ece --by cell --out scores.csv",
    ),
)
@options.votes
@options.predictions
@options.metrics
@options.floor
@click.option(
    "--entropy-estimator",
    type=click.Choice(options.ENTROPY_ESTIMATORS),
    default=None,
    help="Entropy in corrected values; default: chao_shen below 10 votes, jackknife from 10.",
)
@click.option("--by", default=None, metavar="cell|COLUMN", help="One row a split and seed, or a group of the items.")
@options.design
@options.interval
@options.resampling
@options.output
def command(**given: Any) -> None:
    """Score predictions against the annotators' votes.

    One row a metric and condition: the mean over splits and seeds, its interval, and the value corrected for the
    votes being a sample.
    """
    from saturation.analyses.evaluate import evaluate

    panel = options.load_panel(given)
    result = evaluate(
        panel,
        metrics=options.resolve_metrics(given["metrics"]),
        design=given["design"],
        level=given["level"],
        n_resamples=given["n_resamples"],
        rng=given["seed"],
        by=given["by"],
        ties=given["ties"],
        floor=given["floor"],
        bins=given["bins"],
        entropy_estimator=given["entropy_estimator"],
        interval=given["interval"],
        threads=given["threads"],
    )
    result = with_settings(result, options.table_settings(given, panel.votes.labels))
    print_result(result, given["format"], given["out"], given["quiet"])
