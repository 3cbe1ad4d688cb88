"""``saturation equivalents``: how many annotators a model is worth."""

from __future__ import annotations

from typing import Any

import click

from saturation.cli import options
from saturation.cli.output import print_result, with_settings


@click.command(
    "equivalents",
    epilog=options.example(
        "saturation equivalents --votes votes.csv --predictions predictions.csv",
        "saturation equivalents --votes v.parquet --predictions p.parquet --metrics kl,entropy_correlation --out w.csv",
    ),
)
@options.votes
@options.predictions
@options.metrics
@options.floor
@options.budgets
@options.resampling
@options.output
def command(**given: Any) -> None:
    """How many annotators a model is worth: the crowd that scores as the model does.

    The votes of N annotators are combined with the base rate and scored against votes that are not theirs, as the model
    is. N = 0 is the base rate alone: below it a model is worse than asking nobody. Default metrics: cross_entropy,
    brier_vote, tvd, jsd, entropy_correlation.
    """
    from saturation.analyses.worth.equivalents import DEFAULT_METRICS, equivalents

    panel = options.load_panel(given)
    named = tuple(given["metrics"])
    result = equivalents(
        panel,
        metrics=DEFAULT_METRICS if named == ("default",) else directed_names(named),
        budgets=given["budgets"],
        level=given["level"],
        n_resamples=given["n_resamples"],
        rng=given["seed"],
        ties=given["ties"],
        floor=given["floor"],
        bins=given["bins"],
        threads=given["threads"],
    )
    result = with_settings(result, options.table_settings(given, panel.votes.labels))
    print_result(result, given["format"], given["out"], given["quiet"])


def directed_names(named: tuple[str, ...]) -> tuple[str, ...]:
    """``all`` as every metric that has a better side; other names as they are."""
    from saturation.metrics.catalogue import metric

    names = options.resolve_metrics(named)
    return tuple(name for name in names if named != ("all",) or metric(name).direction != "none")
