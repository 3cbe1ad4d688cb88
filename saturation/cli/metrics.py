"""``saturation metrics``: the catalogue."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import click

from saturation.cli import options
from saturation.cli.output import WIDTH, check_outputs, print_result, resolve_format

_INDENT = " " * 4


@click.command(
    "metrics",
    epilog=options.example("saturation metrics", "saturation metrics --format md"),
)
@options.output
def command(**given: Any) -> None:
    """List the metrics that --metrics understands.

    Each with the direction that is better, its order (2: the excess of N votes falls as 1/N, 1: as 1/sqrt N), range,
    formula, options and reference. Options go in brackets: reverse_kl[floor=1e-12;base=2]. h: shares of the votes,
    m: the model's probabilities, H: entropy, I: items, K: labels; natural logarithms.
    """
    from saturation.metrics.catalogue import records
    from saturation.results import Listing

    check_outputs(given)
    rows = records()
    if resolve_format(given["format"], given["out"]) == "table":
        click.echo(as_text(rows), nl=False)
    else:
        print_result(Listing(command="metrics", rows=rows), given["format"], given["out"], given["quiet"])


def as_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """One paragraph a metric: facts that are compared in columns, the formula below them."""
    facts = "{name:28}{better:7}{order:6}{range:16}{title}\n"
    text = facts.format(name="name (* default)", better="better", order="order", range="range", title="what it is")
    for row in rows:
        text += facts.format(
            name=row["name"] + (" *" if row["default"] == "yes" else ""),
            better="-" if row["direction"] == "none" else row["direction"],
            order="-" if row["order"] is None else str(row["order"]),
            range=row["range"],
            title=row["title"],
        )
        about = [row["formula"], f"options: {row['options']}" if row["options"] else "", row["reference"]]
        text += "".join(
            f"{textwrap.fill(line, WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT * 2)}\n"
            for line in about
            if line
        )
    return text
