"""``saturation baselines``: a table of predictions with the conditions that need no training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from saturation.cli import options
from saturation.cli.kinds import ListOf
from saturation.cli.output import print_result, refuse_inputs, with_settings
from saturation.errors import UsageError


@click.command(
    "baselines",
    epilog=options.example(
        "saturation baselines --votes v.csv --predictions p.csv --splits splits.csv --out with_baselines.parquet",
        "saturation curve --votes v.csv --predictions with_baselines.parquet "
        "--baselines temperature,smoothing_tuned,base_rate",
    ),
)
@options.votes
@click.option(
    "--predictions",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Predictions of development and test items, under method hard and smoothing. Repeatable.",
)
@click.option(
    "--splits",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Which item is in which part of which split, where predictions have no column part. Repeatable.",
)
@options.condition_columns
@click.option(
    "--methods",
    type=ListOf(),
    metavar="NAME,...",
    default=None,
    help="Of temperature, smoothing_tuned, base_rate; default: those that the table allows.",
)
@click.option(
    "--weights",
    type=click.Choice(("items", "votes")),
    default="items",
    help="Whether development items count alike or by their votes.",
)
@click.option(
    "--best-on-test", is_flag=True, help="Also say what the strength best on the test items scores: a bound only."
)
@options.floor
@options.resampling
@click.option(
    "--out",
    "table",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The predictions with the new rows; .parquet .csv .jsonl or .arrow.",
)
@options.summary_format
@options.quiet
def command(**given: Any) -> None:
    """Make baselines that need no training from a table of predictions.

    temperature: every hard model with its logits divided by a number fitted on its development rows. smoothing_tuned:
    the smoothing strength that is best on them, one a model and split. base_rate: the mean label distribution of the
    training items, or else the development items. Nothing is fitted on a test item. Prints what was fitted.
    """
    from saturation.analyses.baselines.baselines import baselines
    from saturation.tables.io import write_table
    from saturation.tables.provenance import describe
    from saturation.tables.sources import format_of

    out = given["table"]
    format_of(out)
    refuse_inputs(out, [*given["votes"], *given["predictions"], *given["splits"], *given["items"]])
    if not out.parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.parent}; make it first")
    votes = options.load_votes({**given, "out": None})
    result = baselines(
        votes,
        list(given["predictions"]),
        methods=given["methods"],
        splits=list(given["splits"]) or None,
        labels=given["labels"],
        condition_columns=given["condition_columns"],
        ignore_columns=given["ignore_columns"],
        weights=given["weights"],
        best_on_test=given["best_on_test"],
        level=given["level"],
        n_resamples=given["n_resamples"],
        rng=given["seed"],
        floor=given["floor"],
        threads=given["threads"],
    )
    write_table(
        out,
        result.predictions,
        table="predictions",
        labels=result.labels,
        condition_columns=result.condition_columns,
        provenance=describe("baselines", result.inputs, settings=dict(result.settings)),
    )
    asked = {"condition_columns": list(given["condition_columns"]), "ignore_columns": list(given["ignore_columns"])}
    result = with_settings(replace(result, predictions=None), asked)
    print_result(result, given["format"], None, given["quiet"])
    if not given["quiet"]:
        click.echo(f"wrote {out}", err=True)
