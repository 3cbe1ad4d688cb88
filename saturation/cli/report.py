"""``saturation report``: one page that says how many annotators an item needs."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from saturation.cli import options
from saturation.cli.kinds import Positive
from saturation.cli.output import print_result
from saturation.errors import UsageError

if TYPE_CHECKING:
    from saturation.results import ReportResult

_OF_PREDICTIONS = ("splits", "condition_columns", "ignore_columns", "baselines", "ceiling", "margin", "design", "floor")


_costs = options.stack(
    *(
        click.option(name, type=Positive(), metavar="NUMBER", default=None, help=text)
        for name, text in (
            ("--cost-per-vote", "Price of a vote: with the two below, adds what to buy for an evaluation."),
            ("--cost-per-item", "Price of an item apart from its votes."),
            ("--total", "Money in all."),
        )
    )
)


@click.command(
    "report",
    epilog=options.example(
        "saturation report --votes votes.csv --out report",
        "saturation report --votes votes.parquet --predictions predictions.parquet --out report --metrics kl,brier",
    ),
)
@options.votes
@options.predictions_optional
@options.metrics
@options.floor
@options.budgets
@options.reference
@options.alpha
@options.baselines
@options.ceiling
@options.q
@options.margin
@options.ragged
@options.design
@_costs
@options.resampling
@options.output_folder("./saturation-report")
def command(**given: Any) -> None:
    """Answer in words, curves and tables, on one self-contained page.

    With votes alone the answer is about noise in the labels; with predictions of models trained on few and on many
    votes it is about training. Writes index.html, results.json, figures/ and tables/.
    """
    from saturation.report.folder import check_folder
    from saturation.studies.report import make_report

    check_folder(given["out"], overwrite=given["overwrite"])
    _refuse_model_options(click.get_current_context(), given)
    votes = options.load_votes(given)
    panel = options.load_panel(given) if given["predictions"] else None
    report = make_report(
        votes,
        panel,
        metrics=options.resolve_metrics(given["metrics"]),
        budgets=given["budgets"],
        reference=given["reference"],
        alpha=given["alpha"],
        baselines=given["baselines"],
        ceiling=given["ceiling"],
        q=given["q"],
        margin=given["margin"],
        design=given["design"],
        level=given["level"],
        n_resamples=given["n_resamples"],
        rng=given["seed"],
        ragged=given["ragged"],
        ties=given["ties"],
        floor=given["floor"],
        bins=given["bins"],
        costs=_given_costs(given),
        threads=given["threads"],
    )
    report = replace(report, settings={**options.table_settings(given, votes.labels), **report.settings})
    finish(report, given, repeat_line(click.get_current_context()))


def _given_costs(given: dict[str, Any]) -> dict[str, float] | None:
    """All costs or none."""
    costs = {name: given[name] for name in ("cost_per_vote", "cost_per_item", "total") if given[name] is not None}
    if costs and len(costs) < 3:
        raise UsageError("a plan needs all of --cost-per-vote, --cost-per-item and --total; give them or drop them")
    return costs or None


def finish(report: ReportResult, given: dict[str, Any], repeat: str) -> None:
    """Write the folder, print the answers, say where the page is."""
    from saturation.report.folder import write_report

    page = write_report(report, given["out"], repeat=repeat)
    print_result(report, given["format"], None, given["quiet"])
    if not given["quiet"]:
        click.echo(f"wrote {page}", err=True)


def repeat_line(context: click.Context) -> str:
    """The options that were given on the command line, as one command."""
    words = ["saturation", context.info_name or ""]
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is click.core.ParameterSource.COMMANDLINE:
            words += _words(parameter, context.params[parameter.name or ""])
    return shlex.join(words)


def _words(parameter: click.Parameter, value: Any) -> list[str]:
    name = parameter.opts[0]
    if isinstance(value, bool):
        return [name] if value else []
    if parameter.multiple:
        return [word for one in value for word in (name, str(one))]
    if isinstance(value, Iterable) and not isinstance(value, str | Path):
        return [name, ",".join(str(one) for one in value)]
    return [name, str(value)]


def _refuse_model_options(context: click.Context, given: dict[str, Any]) -> None:
    """Options about models do nothing without predictions, so they are refused."""
    if given["predictions"]:
        return
    source = click.core.ParameterSource.COMMANDLINE
    idle = [name for name in _OF_PREDICTIONS if context.get_parameter_source(name) is source]
    if idle:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in idle)
        raise UsageError(f"{named}: without --predictions there is no model to apply this to; add them or drop it")
