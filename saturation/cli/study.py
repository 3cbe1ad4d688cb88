"""``saturation study``: every table of a paper, from several models and data sets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from saturation.cli import options
from saturation.cli.kinds import Positive
from saturation.cli.output import print_result
from saturation.cli.report import repeat_line
from saturation.cli.study_listing import read_listing
from saturation.errors import UsageError

if TYPE_CHECKING:
    from saturation.results import StudyResult
    from saturation.tables.panel import Panel, Votes

ALONE = "data"
"""Name of a data set that is given by options alone."""


@click.command(
    "study",
    epilog=options.example(
        "saturation study --votes votes.parquet --predictions predictions.parquet --out study",
        "saturation study --studies studies.toml --out study --cost-per-vote 0.1 --cost-per-item 0.5",
        "",
        "studies.toml:",
        "  [snli]",
        '  votes = "snli/votes.parquet"',
        '  predictions = ["snli/small.parquet", "snli/large.parquet"]',
    ),
)
@options.votes_optional
@options.predictions_optional
@click.option(
    "--studies",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.toml",
    default=None,
    help="Several data sets: a table each with votes, predictions, items, splits, labels; paths relative to the file.",
)
@options.metrics
@options.floor
@options.budgets
@options.reference
@options.alpha
@options.baselines
@options.ceiling
@click.option(
    "--against",
    metavar="CONDITION",
    default=None,
    help="Baseline of the main table, one condition a model, e.g. method=smoothing,strength=0.1; default: hard labels.",
)
@options.q
@options.margin
@click.option("--cost-per-vote", type=Positive(), metavar="NUMBER", default=None, help="What one vote costs.")
@click.option("--cost-per-item", type=Positive(), metavar="NUMBER", default=None, help="What an item costs before it.")
@options.resampling
@options.output_folder("./saturation-study")
def command(**given: Any) -> None:
    """Every table of a paper: main results, curves, fractions, calibration, models and data sets side by side, advice.

    Writes index.html, results.json, figures/, tables/ and models/, one report a model and data set. Finished analyses
    are kept in .parts, so that an interrupted study goes on where it stopped.
    """
    from saturation.report.folder import KEPT, check_folder
    from saturation.report.study_folder import overview, write_study
    from saturation.studies.kept import Kept
    from saturation.studies.study import study as run

    check_folder(given["out"], overwrite=given["overwrite"])
    tables = _load(given)
    with _resumable(given["out"], given["quiet"]), _progress(given["quiet"]) as say:
        found = run(
            {name: panel for name, (_, panel) in tables.items()},
            votes={name: votes for name, (votes, _) in tables.items()},
            metrics=options.resolve_metrics(given["metrics"]),
            budgets=given["budgets"],
            reference=given["reference"],
            alpha=given["alpha"],
            baselines=given["baselines"],
            ceiling=given["ceiling"],
            q=given["q"],
            margin=given["margin"],
            against=given["against"],
            cost_per_vote=given["cost_per_vote"],
            cost_per_item=given["cost_per_item"],
            level=given["level"],
            n_resamples=given["n_resamples"],
            rng=given["seed"],
            ties=given["ties"],
            floor=given["floor"],
            bins=given["bins"],
            threads=given["threads"],
            kept=Kept(given["out"] / KEPT, say),
        )
        found = replace(found, settings={**_door(given, tables), **found.settings})
        say("pages, figures and tables")
        page = write_study(found, given["out"], repeat=repeat_line(click.get_current_context()))
    _print(found, overview(found), given)
    if not given["quiet"]:
        click.echo(f"wrote {page}", err=True)


def _load(given: dict[str, Any]) -> dict[str, tuple[Votes, Panel]]:
    """Votes and panel of every data set, from options or from the listing."""
    if given["studies"] is None:
        if not given["votes"] or not given["predictions"]:
            raise UsageError("give --votes and --predictions, or --studies for several data sets")
        return {ALONE: (options.load_votes(given), options.load_panel(given))}
    both = [name for name in ("votes", "predictions", "items", "splits", "labels") if given[name]]
    if both:
        raise UsageError(f"--studies names the tables of each data set: write {both[0]} there and drop --{both[0]}")
    tables = {}
    for name, entry in read_listing(given["studies"]).items():
        own = {**given, **entry}
        tables[name] = options.load_votes(own), options.load_panel(own)
    return tables


def _door(given: dict[str, Any], tables: dict[str, tuple[Votes, Panel]]) -> dict[str, Any]:
    """How the tables were read."""
    labels = {name: list(votes.labels) for name, (votes, _) in tables.items()}
    return options.table_settings(given, ()) | {"labels": labels}


def _print(study: StudyResult, summary: Any, given: dict[str, Any]) -> None:
    """The whole study as JSON, N* of every metric in the formats for people."""
    if given["format"] == "json":
        print_result(study, "json", None, given["quiet"])
    else:
        print_result(summary, given["format"], None, given["quiet"])


@contextmanager
def _resumable(out: Path, quiet: bool) -> Iterator[None]:
    """Say where an interrupted study is kept, before it is reported as interrupted."""
    from saturation.report.folder import KEPT

    try:
        yield
    except KeyboardInterrupt:
        if not quiet and (out / KEPT).is_dir():
            click.echo(f"finished analyses are kept in {out / KEPT}: the same command goes on from there", err=True)
        raise


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Say what is being done on stderr, where somebody watches."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("reading") as status:
        yield lambda text: status.update(text.replace("[", r"\["))
