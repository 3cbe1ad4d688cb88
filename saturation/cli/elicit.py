"""``saturation elicit``: a local web form that collects answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from saturation.cli import options
from saturation.cli.kinds import ListOf, Whole


@click.command(
    "elicit",
    epilog=options.example(
        "saturation elicit --items items.csv --labels entailment,neutral,contradiction --out responses.jsonl",
        "saturation elicit --items images.csv --image file --labels cat,dog --annotators ann,ben --out r.jsonl",
    ),
)
@click.option(
    "--items", required=True, type=click.Path(path_type=Path), metavar="FILE", help="Items with texts or image files."
)
@click.option("--labels", required=True, type=ListOf(), metavar="A,B,C", help="What can be answered.")
@click.option("--text", type=ListOf(), default=None, metavar="COLUMN,...", help="Text columns; default: all texts.")
@click.option("--image", default=None, metavar="COLUMN", help="Column with image files, beside the items file.")
@click.option("--mode", type=click.Choice(("soft", "plain")), default="soft", help="Whole distributions, or one label.")
@click.option("--annotators", type=ListOf(), default="1", metavar="NUMBER|NAME,...", help="How many, or their names.")
@click.option("--repeats", type=Whole(0, 10_000), default=0, help="Items asked twice, for self-consistency.")
@click.option("--port", type=Whole(1, 65_535), default=8765, help="On this machine only.")
@click.option("--seed", type=Whole(0, 2**63 - 1), default=0, help="Of the orders of items and labels.")
@click.option("--title", default="Annotation", help="Name of the page.")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.jsonl",
    help="Answers, a line each; an earlier file is gone on with.",
)
def command(**given: Any) -> None:
    """Collect answers in a web form on this machine: whole distributions, or single labels.

    Prints a link for every annotator; whoever opens it goes on where they stopped. Every answer is on the disk before
    the next question is shown. Stop with Ctrl-C. Afterwards: saturation convert elicited FILE.jsonl (soft), or convert
    long FILE.jsonl (plain).
    """
    from saturation.collect.collection import collect

    collect(
        given["items"],
        given["out"],
        labels=given["labels"],
        text=given["text"],
        image=given["image"],
        soft=given["mode"] == "soft",
        annotators=given["annotators"],
        repeats=given["repeats"],
        port=given["port"],
        seed=given["seed"],
        title=given["title"],
        say=lambda line: click.echo(line, err=True),
    )
