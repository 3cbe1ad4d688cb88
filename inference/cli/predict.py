"""``inference predict``: a classifier over items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from inference.cli import options


@click.command(
    "predict",
    epilog="\b\nExample:\n"
    "  inference predict --model ./roberta-mnli --items items.parquet --votes votes.parquet --out p.parquet",
)
@options.items
@options.model
@click.option(
    "--votes", type=click.Path(path_type=Path), multiple=True, help="Votes: labels, and a check of their order."
)
@click.option("--labels", callback=options.words, metavar="A,B,C", help="Labels in order, where there are no votes.")
@click.option("--label-map", callback=options.pairs, metavar="THEIRS=OURS,...", help="Names that differ.")
@click.option("--method", default="pretrained", help="What the table says about how the model came to be.")
@click.option("--budget", type=click.IntRange(1), default=None, help="Votes an item that it was trained on.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Its training seed, for the table.")
@click.option("--split", default=None, help="Name of the split, for the table.")
@click.option(
    "--ensemble", multiple=True, metavar="FOLDER|NAME", help="Further members, one row each; averaged when read."
)
@click.option("--dropout-samples", type=click.IntRange(2), default=None, help="Members by dropout in prediction.")
@options.truncation
@options.machine
@options.output
def command(**given: Any) -> None:
    """Run a classifier over items and write probabilities and logits.

    Outputs are matched to labels by name, never by position. Each item's number of tokens, and whether it was cut,
    stand in the table.
    """
    from inference.predicting import predict_table

    facts = predict_table(
        say=lambda text: options.say(text, given["quiet"]), **{k: v for k, v in given.items() if k != "format"}
    )
    options.summary(facts, given["format"])
