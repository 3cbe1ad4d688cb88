"""The command line, one file a command. A command is imported when it is called, so that ``--help`` is instant."""

from __future__ import annotations

import difflib
import errno
import importlib
import io
import sys
from collections.abc import Sequence
from typing import Any

import click

from saturation.cli import failure
from saturation.errors import SaturationError, UsageError

HELP = {
    "check": "Check tables: every problem with file, row and item, and the rule it breaks.",
    "convert": "Turn a published data set, or a long or wide table, into tables of this project.",
    "evaluate": "Score predictions against the annotators' votes, with intervals.",
    "label-curve": "How close do N votes an item come to the full crowd? Votes only, no model.",
    "curve": "Saturation of models trained on N votes an item: gains, fractions and N*.",
    "baselines": "Add temperature, tuned smoothing and base rate to a table of predictions.",
    "murphy": "Split the Brier score into reliability, resolution and uncertainty, with intervals.",
    "compare": "Compare conditions on the same items: differences, effect sizes, paired tests.",
    "heldout": "Score against votes that training did not see, beside what fewer votes alone change.",
    "ceiling": "What people themselves would score, and how far models are from it.",
    "equivalents": "How many annotators a model is worth, by each metric.",
    "plan": "Plan an evaluation: how many items, and votes an item, to buy with a given sum.",
    "elicit-compare": "What is a whole distribution from each annotator worth in plain votes, and in time?",
    "elicit": "Collect answers in a web form on this machine: whole distributions, or labels.",
    "report": "One page that answers: how many annotators per item do I need?",
    "study": "Every table of a paper: several models and data sets, compared and summed up.",
    "demo": "Simulate a small study with a known answer and write its report.",
    "metrics": "List the metrics: direction, range, formula.",
    "schema": "Describe a table, with an empty template and an example row.",
}
"""One line a command, said without importing it."""

EPILOG = """\b
Start here:
  saturation demo                         a study with a known answer
  saturation report --votes votes.csv     your own votes, one row a vote
\b
Shell completion (bash; zsh and fish alike):
  eval "$(_SATURATION_COMPLETE=bash_source saturation)"

Results go to stdout, everything else to stderr. NO_COLOR switches colour off.
Exit codes: 0 done, 2 usage or data, 130 interrupted, 1 a bug of ours."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which a newcomer meets them."""
        return list(HELP)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import ``saturation.cli.<name>`` and take its ``command``."""
        if cmd_name not in HELP:
            return None
        command: click.Command = importlib.import_module(f"saturation.cli.{cmd_name.replace('-', '_')}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As in click, with the nearest names where there is no such command."""
        name = args[0]
        if not (name in HELP or name.startswith("-")):
            ctx.fail(f"no such command {name!r}; {_nearest(name)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """As in click, which would make a reader that has left (``| head``) look like a failure."""
        try:
            value = super().invoke(ctx)
            if sys.stdout is not None:  # closed by the caller (``>&-``)
                sys.stdout.flush()
        except BrokenPipeError as error:
            raise failure.ReaderGoneError from error
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise UsageError("cannot write the result to standard output: no space left on device") from error
        return value

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from :data:`HELP` alone."""
        with formatter.section("Commands"):
            formatter.write_dl(list(HELP.items()))


def _nearest(name: str) -> str:
    near = difflib.get_close_matches(name, HELP, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else f"commands: {', '.join(HELP)}"


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from saturation.results import version

        click.echo(f"saturation {version()}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    epilog=EPILOG,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "show_default": True,
        "max_content_width": 100,
    },
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
@click.pass_context
def group(ctx: click.Context) -> None:
    """How many annotators per item do I need?

    Measures how metrics saturate in the number of human votes per item, from votes alone or from models trained on
    them, with intervals that say what they cover.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(2)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 2 usage or data, 130 interrupted, 1 a bug of ours."""
    words = list(sys.argv[1:] if args is None else args)
    as_json = failure.wants_json(words)
    sys.excepthook = failure.bug_hook(as_json)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a label that the terminal cannot show is no reason to stop
    try:
        code = group.main(words, prog_name="saturation", standalone_mode=False)
    except click.ClickException as error:
        code = failure.usage(error, as_json)
    except SaturationError as error:
        code = failure.ours(error, as_json)
    except (KeyboardInterrupt, click.Abort):
        code = failure.interrupted(as_json)
    except failure.ReaderGoneError:
        code = failure.closed_pipe()
    sys.exit(code if isinstance(code, int) else 0)
