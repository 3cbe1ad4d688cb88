"""``inference score``: a language model's distribution over labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from inference.cli import options
from inference.scoring import NORMALISATIONS


@click.command(
    "score",
    epilog="\b\nExample:\n"
    "  inference score --model ./llama --items items.parquet --votes votes.parquet --out p.parquet \\\n"
    "      --prompt 'Premise: {premise}\\nHypothesis: {hypothesis}\\nOne of {options}: '",
)
@options.items
@options.model
@click.option("--prompt", required=True, help="Template: {column} for texts, {options} for the labels.")
@click.option("--votes", type=click.Path(path_type=Path), multiple=True, help="Votes, for the labels and their order.")
@click.option("--labels", callback=options.words, metavar="A,B,C", help="Labels in order, where there are no votes.")
@click.option("--label-words", callback=options.pairs, metavar="LABEL=WORDS,...", help="What stands for a label.")
@click.option(
    "--orders",
    "n_orders",
    type=click.IntRange(1),
    default=None,
    help="Orders of the labels in {options}, one member each; default: all for up to 4 labels, else one a label.",
)
@click.option("--normalisation", type=click.Choice(NORMALISATIONS), default="none", help="Of label words' lengths.")
@click.option("--samples", type=click.IntRange(1), default=None, help="Draw so many answers instead, and count them.")
@click.option("--engine", type=click.Choice(("transformers", "vllm")), default="transformers", help="What runs it.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Of the orders.")
@options.machine
@options.output
def command(**given: Any) -> None:
    """Read a language model's distribution over labels from the probabilities of the label words.

    Writes probabilities renormalised over the labels, and beside them each label's log probability, tokens and bytes,
    so that another normalisation can be chosen afterwards, and how much probability the labels hold together.
    """
    from inference.scoring import score_table

    say = lambda text: options.say(text, given["quiet"])  # noqa: E731
    facts = score_table(say=say, **{key: value for key, value in given.items() if key != "format"})
    options.summary(facts, given["format"])
