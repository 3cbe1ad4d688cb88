"""How a run ends when it does not end well: words for people, JSON for programs, an exit code for both."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import TracebackType

import click

from saturation.errors import Problem, SaturationError, shortened

PROBLEM_KEYS = ("file", "row", "item", "rule", "message")
PLEASE_REPORT = "this is a bug in saturation: please report it with the command and the lines above"


class ReaderGoneError(Exception):
    """Whoever read our output has seen enough."""


def wants_json(words: Sequence[str]) -> bool:
    """Whether a command line asks for JSON; read before parsing, because parsing may be what fails.

    Examples
    --------
    >>> wants_json(["evaluate", "--format", "json"]), wants_json(["curve", "--out=c.json"]), wants_json(["demo"])
    (True, True, False)
    """
    pairs = [*pairwise(words), *(word.split("=", 1) for word in words if "=" in word)]
    return any(
        (option == "--format" and value == "json") or (option == "--out" and value.lower().endswith(".json"))
        for option, value in pairs
    )


def usage(error: click.ClickException, as_json: bool) -> int:
    """A command line that click could not read."""
    context = getattr(error, "ctx", None)
    if as_json:
        _echo_json("usage", error.format_message())
    else:
        _echo_text(error.format_message(), context)
    return 2


def ours(error: SaturationError, as_json: bool) -> int:
    """An error that is the user's to mend."""
    if as_json:
        _echo_json(error.kind, error.message, error.problems)
    else:
        _echo_text(error.message)
    return 2


def interrupted(as_json: bool) -> int:
    """Ctrl-C."""
    if as_json:
        _echo_json("interrupted", "interrupted; nothing was written")
    else:
        click.echo("interrupted; nothing was written", err=True)
    return 130


def closed_pipe() -> int:
    """The reader (``head``) has left: stop silently, and keep the interpreter from complaining at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    return 0


def bug_hook(as_json: bool) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
    """An ``excepthook``: the traceback and a request to report it; the interpreter then exits with 1."""

    def hook(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
        lines = "".join(traceback.format_exception(kind, error, where))
        if as_json:
            _echo_json("bug", f"{lines}{PLEASE_REPORT}")
        else:
            click.echo(f"{lines}\n{PLEASE_REPORT}", err=True)

    return hook


def problem_records(problems: Sequence[Problem]) -> list[dict[str, str | int | None]]:
    """Problems as JSON rows: at most twenty a rule, then one row that says how many more."""
    return [{name: getattr(problem, name) for name in PROBLEM_KEYS} for problem in shortened(problems)]


def _echo_json(kind: str, message: str, problems: Sequence[Problem] = ()) -> None:
    body = {"error": {"kind": kind, "message": message, "problems": problem_records(problems)}}
    click.echo(json.dumps(body, indent=2), err=True)


def _echo_text(message: str, context: click.Context | None = None) -> None:
    click.echo(f"error: {message}", err=True)
    if context is not None:
        click.echo(f"try: {context.command_path} --help", err=True)
