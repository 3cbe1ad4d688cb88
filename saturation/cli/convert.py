"""``saturation convert``: a published data set, or a plain table, as tables of this project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from saturation.cli import options
from saturation.cli.output import print_result

FORMATS = (
    "chaosnli", "baan-predictions", "nie-predictions", "cifar10h", "dices", "lewidi", "peerannot", "cubam", "long",
    "wide",
)  # fmt: skip
"""The names in ``saturation.datasets.FORMATS``, said without importing it."""

HELP = f"""Turn published files into votes, vote_counts, items, splits and predictions tables.

SOURCE are files, or folders of them. convert.json in the output folder says what was read, dropped and repaired.

FORMAT is one of {", ".join(FORMATS)}. The last two are tables of your own: one row a vote, or one row an item with
one column of counts a label."""


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
        hash_annotators=given["hash_annotators"],
        hash_key_file=given["hash_key_file"],
        overwrite=given["overwrite"],
    )
    print_result(result, given["format"], None, given["quiet"])
