"""``saturation check``: every problem of some tables, or what they hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from saturation.cli import options
from saturation.cli.output import check_outputs, print_result, resolve_format, say_notes
from saturation.cli.schema import TABLES

if TYPE_CHECKING:
    from saturation.tables.checking import CheckResult, FileCheck


_HASH = re.compile("[0-9a-f]{40,}")
_LONGEST = 400


@click.command(
    "check",
    epilog=options.example("saturation check votes.csv predictions.parquet", "saturation check --rules"),
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--as", "as_", type=click.Choice(TABLES), default=None, help="Which table the files are.")
@click.option("--rules", is_flag=True, help="Print every rule that tables are checked against.")
@options.output
def command(files: tuple[Path, ...], as_: str | None, rules: bool, **given: Any) -> None:
    """Check tables, each alone and votes and predictions together.

    Prints what each file was taken for and what it holds, or every problem with file, row, item and rule (exit code 2).
    """
    from saturation.results import Listing
    from saturation.tables.checking import check_files

    if rules == bool(files):
        raise click.UsageError("give FILE..., or --rules alone")
    check_outputs({**given, "files": files})
    plain = resolve_format(given["format"], given["out"]) == "table" and given["out"] is None
    if rules:
        listing = Listing(command="check", rows=tuple(rule_rows()))
        text = "".join(f"{row['code']}  {row['slug']:<22}{row['sentence']}\n" for row in listing.rows)
    else:
        result = check_files(files, as_)
        rows = tuple(file_row(check) for check in result.files)
        notes = (*(note for check in result.files for note in check.notes), *result.notes)
        listing = Listing(command="check", rows=rows, inputs=result.inputs, notes=notes)
        text = as_text(result)
    if plain:
        click.echo(text, nl=False)
        say_notes(listing.notes, given["quiet"])
    else:
        print_result(listing, given["format"], given["out"], given["quiet"])


def rule_rows() -> list[dict[str, Any]]:
    """One dictionary a rule."""
    from saturation.tables.rules import RULES

    return [{"code": rule.code, "slug": rule.slug, "sentence": rule.sentence} for rule in RULES]


def file_row(check: FileCheck) -> dict[str, Any]:
    """What one file holds, flat."""
    return {
        "file": check.path,
        "table": check.table,
        "taken_by": check.taken_by,
        "rows": check.rows,
        "items": check.items,
        "annotators": check.annotators,
        "labels": ", ".join(check.labels) or None,
        "conditions": "; ".join(check.conditions) or None,
        "seeds": ", ".join(map(str, check.seeds)) or None,
        "splits": ", ".join(check.splits) or None,
        **{name: _told(check.provenance.get(name)) for name in ("made_by", "step", "model", "libraries", "settings")},
    }


def _told(value: Any) -> str | None:
    """A part of a table's provenance on one line: ``name=value`` for mappings, long hashes by their beginning."""
    if isinstance(value, Mapping):
        shown = {name: _told(one) for name, one in value.items() if one not in (None, {}, [])}
        nested = {name: f"({text})" if isinstance(value[name], Mapping) else text for name, text in shown.items()}
        return _shortened(", ".join(f"{name}={text}" for name, text in nested.items())) or None
    if isinstance(value, list | tuple):
        return "[" + ", ".join(str(_told(one)) for one in value) + "]"
    if value is None:
        return None
    text = str(value)
    return f"{text[:12]}..." if _HASH.fullmatch(text) else _shortened(text)


def _shortened(text: str) -> str:
    """At most so much on a line; the file itself has all of it."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def as_text(result: CheckResult) -> str:
    """One paragraph a file."""
    lines = []
    for check in result.files:
        lines.append(f"{check.path}: {check.table} (by {check.taken_by}), {check.rows:,} rows, {check.items:,} items")
        lines += [
            f"  {name:<12}{value}"
            for name, value in file_row(check).items()
            if value is not None and name not in ("file", "table", "taken_by", "rows", "items", "conditions")
        ]
        lines += [f"  condition   {condition}" for condition in check.conditions]
    lines.append("no problems found")
    return "\n".join(lines) + "\n"
