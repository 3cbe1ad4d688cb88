"""``saturation schema``: what a table looks like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from saturation.cli import options
from saturation.cli.output import print_result

TABLES = ("votes", "vote_counts", "soft_votes", "predictions", "items", "splits")
_NEEDED = {"yes": "required", "no": "optional"}


@click.command(
    "schema",
    epilog=options.example("saturation schema votes", "saturation schema predictions --out predictions.csv"),
)
@click.argument("table", type=click.Choice(TABLES), metavar="TABLE")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="Write a template with the example row: .csv, .jsonl, .parquet or .arrow.",
)
@options.output_format
@options.quiet
def command(table: str, out: Path | None, format: str | None, quiet: bool) -> None:
    """Describe TABLE: its columns, and an example row to start from.

    TABLE is one of votes, vote_counts, soft_votes, predictions, items, splits. In the examples the labels are yes and
    no; put your own in the place of n_yes, n_no, p_yes and p_no.
    """
    from saturation.results import Listing
    from saturation.tables.io import write_example

    if out is not None:
        write_example(out, table)
        if not quiet:
            click.echo(f"wrote {out}", err=True)
    elif format in (None, "table"):
        click.echo(as_text(table), nl=False)
    else:
        print_result(Listing(command="schema", rows=tuple(columns(table))), format, None, quiet)


def columns(name: str) -> list[dict[str, Any]]:
    """One dictionary a column, label columns included."""
    from saturation.tables.schema import table_named

    table = table_named(name)
    rows = [
        {"column": one.name, "type": one.kind, "required": "yes" if one.required else "no", "meaning": one.meaning}
        for one in table.columns
    ]
    if table.prefix is not None:
        kind, meaning = (
            ("whole", "votes for the label") if table.prefix == "n_" else ("float", "probability of the label")
        )
        rows.append({"column": f"{table.prefix}<label>", "type": kind, "required": "yes", "meaning": meaning})
    return rows


def as_text(name: str) -> str:
    """The table in words, its columns, and the example as CSV."""
    from saturation.tables.schema import example, table_named

    table = table_named(name)
    lines = [f"{name}: one row is {table.row}; key {', '.join(table.key)}", ""]
    lines += [
        f"{row['column']:<16}{row['type']:<8}{_NEEDED[row['required']]:<10}{row['meaning']}" for row in columns(name)
    ]
    return "\n".join([*lines, "", "as CSV, with an example row:", "", example(name).write_csv()])
