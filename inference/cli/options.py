"""Options that commands of the model side share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

Words = tuple[str, ...]


def words(_ctx: click.Context, _param: click.Parameter, value: str | None) -> Words | None:
    """``a,b,c`` as a tuple; None stays None."""
    if value is None:
        return None
    parts = tuple(part.strip() for part in value.split(","))
    if not all(parts) or len(set(parts)) < len(parts):
        raise click.BadParameter(f"{value!r}: give different names with commas between them")
    return parts


def pairs(_ctx: click.Context, _param: click.Parameter, value: str | None) -> dict[str, str] | None:
    """``a=b,c=d`` as a mapping; None stays None."""
    if value is None:
        return None
    found = dict(part.split("=", 1) for part in value.split(",") if "=" in part)
    if len(found) < len(value.split(",")):
        raise click.BadParameter(f"{value!r}: write MODEL_NAME=label,... with every model name once")
    return {theirs.strip(): ours.strip() for theirs, ours in found.items()}


def stack(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    """Several options as one decorator, shown in this order."""

    def apply(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


items = stack(
    click.option(
        "--items", type=click.Path(path_type=Path), multiple=True, required=True, help="Items table with text columns."
    ),
    click.option("--text", callback=words, metavar="COLUMN[,COLUMN]", help="Text column, or two read as a pair."),
)
model = stack(
    click.option("--model", "source", required=True, metavar="FOLDER|NAME[@REVISION]", help="The model."),
    click.option("--name", default=None, help="Name of the model in the table; default: its folder or hub name."),
    click.option("--trust-remote-code", is_flag=True, help="Let code that comes with the model run."),
)
machine = stack(
    click.option("--device", default="auto", help="auto, cpu, cuda or cuda:1."),
    click.option("--threads", type=click.IntRange(1), default=None, help="Processor threads; default: all."),
    click.option(
        "--precision",
        type=click.Choice(("float32", "tf32", "bf16")),
        default="float32",
        help="tf32: faster on recent accelerators; bf16: autocast.",
    ),
    click.option(
        "--token-budget", type=click.IntRange(1), default=None, help="Tokens a batch; default: 384, on CUDA 16,384."
    ),
    click.option("--max-length", type=click.IntRange(8), default=None, help="Tokens an item; default: the model's."),
)
truncation = click.option(
    "--on-truncate",
    type=click.Choice(("warn", "error", "drop")),
    default="warn",
    help="Items longer than the model reads: cut and say so, stop, or leave out.",
)
output = stack(
    click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="File to write."),
    click.option("--format", type=click.Choice(("table", "json")), default="table", help="Of the summary on stdout."),
    click.option("--quiet", is_flag=True, help="Say nothing on stderr but errors."),
)


def say(text: str, quiet: bool) -> None:
    """A remark on stderr."""
    if not quiet:
        click.echo(text, err=True)


def summary(facts: dict[str, Any], format: str) -> None:
    """What was done, on stdout: a line a fact, or JSON."""
    import json

    if format == "json":
        click.echo(json.dumps({"schema": "saturation/1", **facts}, indent=1))
    else:
        width = max(map(len, facts))
        for name, value in facts.items():
            click.echo(f"{name.replace('_', ' '):<{width}}  {value}")
