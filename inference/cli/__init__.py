"""The command line of the model side, one file a command; torch is imported by what needs it."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Sequence
from types import TracebackType

import click

from saturation.errors import SaturationError

HELP = {
    "predict": "Run a classifier over items and write a predictions table.",
    "finetune": "Train a classifier on targets made from votes; predict development and test items.",
    "study": "Train and predict a whole grid: methods x budgets x seeds x splits.",
    "score": "A language model's distribution over labels, from the probabilities of the label words.",
}
"""One line a command, said without importing it."""

_NEEDS = "pip install 'annotation-saturation[inference]'"
_PLEASE_REPORT = "this is a bug in inference: please report it with the command and the lines above"


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which a newcomer meets them."""
        return list(HELP)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import ``inference.cli.<name>`` and take its ``command``."""
        if cmd_name not in HELP:
            return None
        command: click.Command = importlib.import_module(f"inference.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from :data:`HELP` alone."""
        with formatter.section("Commands"):
            formatter.write_dl(list(HELP.items()))


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"inference {version('annotation-saturation')}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True, "max_content_width": 100},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
@click.pass_context
def group(ctx: click.Context) -> None:
    """Fine-tune and run models on items, and write predictions tables for saturation.

    Models come from a folder or, where one can be reached, a hub. Results go to files, everything else to stderr.
    Exit codes: 0 done, 2 usage or data, 75 stopped by a signal (run the same command again), 130 interrupted.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(2)


def _bug(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """The traceback and a request to report it; the interpreter then exits with 1."""
    traceback.print_exception(kind, error, where)
    click.echo(_PLEASE_REPORT, err=True)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 2 usage or data, 75 stopped, 130 interrupted, 1 a bug of ours."""
    sys.excepthook = _bug
    try:
        code = group.main(list(sys.argv[1:] if args is None else args), prog_name="inference", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = 2
    except SaturationError as error:
        click.echo(f"error: {error.message}", err=True)
        code = 2
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "transformers", "vllm"):
            raise
        click.echo(f"error: this needs {error.name}: {_NEEDS}", err=True)
        code = 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; what was finished is kept", err=True)
        code = 130
    sys.exit(code if isinstance(code, int) else 0)
