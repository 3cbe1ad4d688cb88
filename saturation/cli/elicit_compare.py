"""``saturation elicit-compare``: soft votes against plain votes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from saturation.cli import options
from saturation.cli.kinds import Positive, Whole
from saturation.cli.output import check_outputs, print_result, with_settings


@click.command(
    "elicit-compare",
    epilog=options.example(
        "saturation elicit-compare --soft soft_votes.parquet --votes votes.parquet --seconds-per-soft 32",
        "saturation elicit-compare --soft s.parquet --votes v.parquet --reference-size 35 --seconds-per-vote 8",
    ),
)
@click.option(
    "--soft", multiple=True, required=True, type=click.Path(path_type=Path), metavar="FILE", help="Soft votes."
)
@options.votes
@options.metrics
@options.budgets
@click.option(
    "--reference-size", type=Whole(1, 100_000), default=None, help="Other votes that both are scored against."
)
@click.option("--seconds-per-soft", type=Positive(), default=None, help="Default: the mean of the column `seconds`.")
@click.option("--seconds-per-vote", type=Positive(), default=None, help="Time of a plain vote.")
@click.option("--draws", type=Whole(2, 100_000), default=200, metavar="NUMBER", help="Random orders of the votes.")
@options.floor
@options.level
@options.seed
@options.output
def command(**given: Any) -> None:
    """How many plain votes is a whole distribution from each annotator worth, by number and by time?

    The mean of n soft votes and the shares of N plain votes are scored against the same other votes; where they score
    alike, n soft votes are worth N plain ones. Default metrics: tvd, brier, jsd, entropy_correlation.
    """
    from saturation.analyses.eliciting.compare import DEFAULT_METRICS, elicit_compare
    from saturation.tables.soft_votes import read_soft_votes

    check_outputs({**given, "files": given["soft"]})
    votes = options.load_votes(given)
    soft = read_soft_votes(list(given["soft"]), labels=given["labels"])
    named = tuple(given["metrics"])
    result = elicit_compare(
        soft,
        votes,
        metrics=DEFAULT_METRICS if named == ("default",) else options.resolve_metrics(named),
        budgets=given["budgets"],
        reference_size=given["reference_size"],
        seconds_per_soft=given["seconds_per_soft"],
        seconds_per_vote=given["seconds_per_vote"],
        level=given["level"],
        n_draws=given["draws"],
        rng=given["seed"],
        ties=given["ties"],
        floor=given["floor"],
        bins=given["bins"],
    )
    result = with_settings(result, options.table_settings(given, votes.labels))
    print_result(result, given["format"], given["out"], given["quiet"])
