"""``saturation ceiling``: what people themselves would score."""

from __future__ import annotations

from typing import Any

import click

from saturation.cli import options
from saturation.cli.equivalents import directed_names
from saturation.cli.output import print_result, with_settings
from saturation.errors import UsageError

_OF_PREDICTIONS = ("splits", "condition_columns", "ignore_columns", "floor")


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

    _refuse_model_options(click.get_current_context(), given)
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


def _refuse_model_options(context: click.Context, given: dict[str, Any]) -> None:
    """Options about models do nothing without predictions, so they are refused."""
    source = click.core.ParameterSource.COMMANDLINE
    idle = [name for name in _OF_PREDICTIONS if context.get_parameter_source(name) is source]
    if idle and not given["predictions"]:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in idle)
        raise UsageError(f"{named}: without --predictions there is no model to apply this to; add them or drop it")
