"""``saturation convert``: a published data set, or a plain table, as tables of this project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from saturation.cli import options
from saturation.cli.output import print_result

FORMATS = (
    "chaosnli", "baan-predictions", "nie-predictions", "cifar10h", "cifar10s", "dices", "lewidi", "peerannot", "cubam",
    "elicited", "long", "wide",
)  # fmt: skip
"""The names in ``saturation.datasets.FORMATS``, said without importing it."""
VARIETIES = ("T2", "T1", "fifty_fifty", "hard_top")
SPREADS = ("clamp", "uniform", "none")
"""As in ``saturation.elicitation``, said without importing it."""

HELP = f"""Turn published files into votes, vote_counts, items, splits and predictions tables.

SOURCE are files, or folders of them. convert.json in the output folder says what was read, dropped and repaired.

FORMAT is one of {", ".join(FORMATS)}. The last three are tables of your own: one row a response with percents, one
row a vote, or one row an item with one column of counts a label."""


@click.command(
    "convert",
    help=HELP,
    epilog=options.example(
        "saturation convert chaosnli chaosNLI_snli.jsonl --out snli",
        "saturation convert long mine.csv --item-column text_id --label-column answer --out mine",
    ),
)
@click.argument("format_", metavar="FORMAT")
@click.argument("source", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SOURCE...")
@options.labels
@options.columns
@click.option("--variety", type=click.Choice(VARIETIES), default=None, help="Answers used [default: T2].")
@click.option("--spread", type=click.Choice(SPREADS), default=None, help="Where the rest goes [default: clamp].")
@click.option("--gamma", type=click.FloatRange(0, 1, max_open=True), default=None, help="Kept back [default: 0.10].")
@click.option(
    "--rule",
    type=click.Choice(("repaired", "published")),
    default=None,
    help="Contradictions: mended and counted, or taken as the authors of cifar10s do (default there).",
)
@click.option("--strict", is_flag=True, help="Refuse responses that contradict themselves.")
@click.option("--hash-annotators", is_flag=True, help="Replace annotator ids by keyed pseudonyms (HMAC-SHA256).")
@click.option(
    "--hash-key-file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="The key of the pseudonyms; made once if there is none, readable by you alone. Keep it apart from --out.",
)
@options.output_folder(None)
def command(**given: Any) -> None:
    """Convert, then print one row a table."""
    from saturation.datasets import convert

    result = convert(
        given["format_"],
        list(given["source"]),
        given["out"],
        labels=given["labels"],
        item_column=given["item_column"],
        annotator_column=given["annotator_column"],
        label_column=given["label_column"],
        **{name: given[name] for name in ("variety", "spread", "gamma", "rule", "strict")},
        hash_annotators=given["hash_annotators"],
        hash_key_file=given["hash_key_file"],
        overwrite=given["overwrite"],
    )
    print_result(result, given["format"], None, given["quiet"])
