"""``inference finetune``: one model, one condition, one seed, one split."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from inference.cli import options
from inference.runs import METHODS


@click.command(
    "finetune",
    epilog="\b\nExample:\n"
    "  inference finetune --model ./deberta --items items.parquet --votes votes.parquet \\\n"
    "      --method soft --budget 10 --split 42 --seed 0 --out p.parquet",
)
@options.items
@options.model
@click.option("--votes", type=click.Path(path_type=Path), multiple=True, required=True, help="Votes.")
@click.option("--soft", type=click.Path(path_type=Path), multiple=True, help="Soft votes, for --method elicited.")
@click.option("--splits", type=click.Path(path_type=Path), default=None, help="Splits table; default: random.")
@click.option("--split", default="42", help="Which split; a random one is made from its name.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Of the new head, the order and dropout.")
@click.option("--method", type=click.Choice(METHODS), default="soft", help="How targets are built from votes.")
@click.option("--budget", type=click.IntRange(1), default=None, help="Votes an item; default: all.")
@click.option("--strength", type=click.FloatRange(0, 1), default=None, help="Of smoothing.")
@click.option("--alpha", type=click.FloatRange(0, min_open=True), default=None, help="Of dirichlet; default: 1/K.")
@click.option("--prior", type=click.Choice(("base_rate",)), default=None, help="Of dirichlet, instead of alpha.")
@click.option("--draw", type=click.IntRange(0), default=0, help="Which draw of votes.")
@click.option("--frozen", is_flag=True, help="Train a small head over frozen features instead of the model.")
@click.option("--saved-head", is_flag=True, help="Keep the model's head (labels by name) instead of a new one.")
@click.option("--label-map", callback=options.pairs, metavar="THEIRS=OURS,...", help="Names that differ.")
@click.option(
    "--recipe", type=click.Path(path_type=Path, dir_okay=False), default=None, help="TOML file of the recipe."
)
@click.option("--save", type=click.Path(path_type=Path, file_okay=False), default=None, help="Keep the model here.")
@click.option("--device", default="auto", help="auto, cpu, cuda or cuda:1.")
@click.option("--threads", type=click.IntRange(1), default=None, help="Processor threads; default: all.")
@options.output
def command(**given: Any) -> None:
    """Train a classifier on targets made from votes, and predict development and test items.

    Training stops by the development items' soft cross-entropy, whatever the targets are. Test items are never seen.
    """
    from inference.finetuning import finetune_table

    say = lambda text: options.say(text, given["quiet"])  # noqa: E731
    facts = finetune_table(say=say, **{name: value for name, value in given.items() if name != "format"})
    options.summary(facts, given["format"])
