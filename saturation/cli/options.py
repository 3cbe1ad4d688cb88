"""Options that several commands share, and how they become votes and panels.

A command stacks the groups it needs and takes ``**given``::

    @click.command("evaluate", epilog=example("saturation evaluate --votes v.csv --predictions p.csv"))
    @options.votes
    @options.predictions
    @options.metrics
    @options.resampling
    @options.output
    def command(**given: Any) -> None:
        panel = options.load_panel(given)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from saturation.cli.kinds import Alpha, Budgets, ListOf, Positive, Share, Shares, Whole
from saturation.cli.output import check_outputs
from saturation.errors import UsageError

if TYPE_CHECKING:
    from saturation.tables.panel import Panel, Votes

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]

FORMATS = ("table", "json", "csv", "md", "tex", "parquet")
TIES = ("first", "last", "random", "share", "any", "column")
REFERENCES = ("disjoint", "rest", "all", "plug_in")
INTERVALS = ("bca", "basic", "percentile", "linearized_t", "normal")
ENTROPY_ESTIMATORS = ("chao_shen", "jackknife", "grassberger", "miller_madow")
JOINT_DESIGNS = ("items", "crossed", "annotators", "items x annotators", "crossed with annotators")
"""Designs of analyses that need the covariance of several numbers."""
LABEL_DESIGNS = ("items", "annotators", "items x annotators")
DESIGNS = (*JOINT_DESIGNS, "votes", "seeds")
PARTS = ("train", "dev", "test", "all")
MAX_SEED = 2**63 - 1


def example(*lines: str) -> str:
    """An epilog with examples, kept line by line."""
    body = "\n".join(f"  {line}" for line in lines)
    return f"\b\nExample:\n{body}"


# --- single options ---------------------------------------------------------------------------------------------------


def _option(*names: str, **settings: Any) -> Decorator[Any]:
    return click.option(*names, **settings)


def _files(name: str, text: str, also: str | None = None, *, required: bool = False) -> Decorator[Any]:
    """Files by name; a second name is the one that the function knows them by."""
    return _option(
        f"--{name}",
        *(() if also is None else (f"--{also}", also)),
        multiple=True,
        required=required,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help=f"{text} Repeatable.",
    )


def stack(*decorators: Decorator[Any]) -> Decorator[Any]:
    """Several options as one decorator, in reading order."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


labels = _option(
    "--labels",
    type=ListOf(),
    metavar="NAME,...",
    help="Label names in order; default: the file's own order (numbers by size).",
)
overwrite = _option("--overwrite", is_flag=True, help="Replace outputs in a folder that holds other files too.")
columns = stack(
    _option("--item-column", metavar="NAME", help="Column with the item's id, where it is not item_id."),
    _option("--annotator-column", metavar="NAME", help="Column with the annotator's id, where not annotator_id."),
    _option("--label-column", metavar="NAME", help="Column with the vote, where it is not label."),
)
repairs = stack(
    _option("--missing-labels", type=click.Choice(("error", "drop")), default="error", help="Votes without a label."),
    _option(
        "--duplicates",
        type=click.Choice(("error", "first", "last")),
        default="error",
        help="The same annotator twice on one item.",
    ),
)
condition_columns = stack(
    _option(
        "--condition-columns",
        type=ListOf(),
        metavar="NAME,...",
        default=(),
        help="Further columns that make up a condition.",
    ),
    _option(
        "--ignore-columns",
        type=ListOf(),
        metavar="NAME,...",
        default=(),
        help="Columns of the predictions to leave aside.",
    ),
)
_votes_rest = stack(
    _files("items", "Item attributes: published majority, groups such as source."),
    labels,
    columns,
    repairs,
)
votes = stack(
    _files("votes", "Votes (one row a vote) or vote counts (one row an item).", required=True),
    _votes_rest,
)
votes_optional = stack(
    _files("votes", "Votes or vote counts, where they are not listed in another way."),
    _votes_rest,
)
pilot = stack(
    _files(
        "pilot", "Votes of a pilot (one row a vote) or its vote counts; --votes means the same.", "votes", required=True
    ),
    _votes_rest,
)
_predictions_rest = stack(
    _files("splits", "Which item is in which part of which split."),
    condition_columns,
    _option(
        "--part", type=click.Choice(PARTS), default="test", help="Part of each split to analyse, where parts are given."
    ),
    _option(
        "--missing",
        type=click.Choice(("error", "drop")),
        default="error",
        help="Items predicted under some conditions of a split only; drop keeps the common ones.",
    ),
)
predictions = stack(
    _files("predictions", "Predictions: one row an item, condition, seed and split.", required=True),
    _predictions_rest,
)
predictions_optional = stack(
    _files("predictions", "Predictions, where there are any: adds the model side."),
    _predictions_rest,
)
ties = _option("--ties", type=click.Choice(TIES), default="share", help="What the majority label is under a tie.")
floor = _option(
    "--floor", type=Positive(), metavar="NUMBER", default=1e-15, help="Probabilities below it are raised to it (kl)."
)
bins = _option("--bins", type=Whole(1, 10_000), metavar="NUMBER", default=10, help="Bins of the calibration errors.")
metrics = stack(
    _option(
        "--metrics",
        type=ListOf(),
        metavar="NAME,...",
        default="default",
        help="Names, or all, or default; options in brackets: reverse_kl[floor=1e-12].",
    ),
    ties,
    bins,
)


level = _option("--level", type=Share(), metavar="NUMBER", default=0.95, help="Coverage of the intervals.")
seed = _option("--seed", type=Whole(0, MAX_SEED), metavar="NUMBER", default=0, help="Seed of the resamples.")


def resampling_of(n_resamples: int) -> Decorator[Any]:
    """``--level --seed --n-resamples --threads``, with a command's own default number of resamples."""
    return stack(
        level,
        seed,
        _option(
            "--n-resamples",
            type=Whole(2, 10_000_000),
            metavar="NUMBER",
            default=n_resamples,
            help="Number of resamples.",
        ),
        _option(
            "--threads", type=Whole(1, 1024), metavar="NUMBER", default=None, help="Threads; default: the usable cores."
        ),
    )


resampling = resampling_of(2000)
design = _option(
    "--design", type=click.Choice(DESIGNS), default=None, help="What is redrawn; default: what the data call for."
)
joint_design = _option(
    "--design", type=click.Choice(JOINT_DESIGNS), default=None, help="What is redrawn; default: what the data call for."
)
label_design = _option(
    "--design", type=click.Choice(LABEL_DESIGNS), default=None, help="What is redrawn; default: what the data call for."
)
interval = _option(
    "--interval", type=click.Choice(INTERVALS), default=None, help="Kind of interval; default: by design and seeds."
)
budgets = _option(
    "--budgets",
    type=Budgets(),
    metavar="1,2,5|1-100",
    default=None,
    help="Votes an item to look at; default: by the data.",
)
baselines = _option(
    "--baselines",
    type=ListOf(),
    metavar="NAME,...",
    default=None,
    help="Keep these baselines: smallest, hard, hard[N], smoothing[0.1], temperature, base_rate; default: all.",
)
ceiling = _option(
    "--ceiling",
    default=None,
    metavar="CONDITION",
    help="What counts as saturated, e.g. method=soft,budget=100; default: soft at the largest budget of the model; "
    "asymptote: what a fitted curve settles at.",
)
fits = stack(
    _option(
        "--fit",
        "fits",
        type=ListOf(),
        metavar="NAME,...",
        default=None,
        help="Curves to fit through 5 budgets or more: power (a + b N^-c), exponential (a + b exp(-c N)).",
    ),
    _option(
        "--predict",
        type=Budgets(),
        metavar="200,500",
        default=(),
        help="Votes an item to read off the fits, also beyond the budgets tried.",
    ),
)
q = _option(
    "--q", type=Shares(), metavar="NUMBER,...", default=".9,.95", help="Shares of the gain that N* is asked for."
)
margin = _option(
    "--margin", type=Positive(), metavar="NUMBER", default=None, help="Non-inferiority margin, in the metric's units."
)
ragged = _option(
    "--ragged",
    type=click.Choice(("common", "per-budget")),
    default="common",
    help="Items for a curve: those with enough votes for every budget, or for each.",
)
alpha = _option(
    "--alpha",
    type=Alpha(),
    metavar="none|1/K|NUMBER",
    default=None,
    help="Smoothing of the targets; default: kl 1/K, others none.",
)
reference = _option(
    "--reference",
    type=click.Choice(REFERENCES),
    default="disjoint",
    help="What N votes are compared with: a fixed number of other votes (disjoint), all other votes (rest), all "
    "votes with the N among them (all) or drawn from them with replacement (plug_in).",
)
output_format = _option("--format", "format", type=click.Choice(FORMATS), default=None, help="[default: table]")
summary_format = _option("--format", "format", type=click.Choice(FORMATS[:-1]), default=None, help="[default: table]")
quiet = _option("--quiet", is_flag=True, help="Say nothing on stderr but errors.")
output = stack(
    _option(
        "--out",
        type=click.Path(path_type=Path, dir_okay=False),
        default=None,
        metavar="FILE",
        help="Write here instead of stdout; .json .csv .md .tex .parquet sets the format.",
    ),
    output_format,
    quiet,
)


def output_folder(default: str | None) -> Decorator[Any]:
    """``--out DIR --format --quiet --overwrite`` of commands that write a folder."""
    return stack(
        _option(
            "--out",
            type=click.Path(path_type=Path, file_okay=False),
            default=default,
            required=default is None,
            metavar="DIR",
            help="Folder for the outputs.",
        ),
        overwrite,
        summary_format,
        quiet,
    )


# --- what options become ----------------------------------------------------------------------------------------------

_VOTES = ("items", "labels", "item_column", "annotator_column", "label_column", "missing_labels", "duplicates")
_PREDICTIONS = ("splits", "condition_columns", "ignore_columns", "part", "missing")


def resolve_metrics(names: Sequence[str]) -> tuple[str, ...]:
    """``default`` and ``all`` as the names they stand for."""
    from saturation.metrics import catalogue

    if "default" not in names and "all" not in names:
        return tuple(names)
    if len(names) > 1:
        raise UsageError("--metrics takes names, or one of the words default and all, not both")
    return tuple(catalogue.DEFAULT_METRICS if names[0] == "default" else catalogue.all_names())


def load_votes(given: Mapping[str, Any]) -> Votes:
    """The human side, as the options of :data:`votes` describe it."""
    from saturation.tables import door

    check_outputs(given)
    return door.read_votes(list(given["votes"]), **_taken(given, _VOTES))


def load_panel(given: Mapping[str, Any]) -> Panel:
    """Votes and predictions aligned, as the options of :data:`votes` and :data:`predictions` describe them."""
    from saturation.tables import door

    check_outputs(given)
    return door.read_panel(list(given["votes"]), list(given["predictions"]), **_taken(given, (*_VOTES, *_PREDICTIONS)))


def _taken(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Options by name; a table that was not given is None."""
    taken = {name: given[name] for name in names}
    return taken | {name: list(taken[name]) or None for name in ("items", "splits") if name in taken}


def table_settings(given: Mapping[str, Any], labels: Sequence[str]) -> dict[str, Any]:
    """How the tables were read, for a result's ``settings``: the options of the door and the labels found."""
    names = (*_VOTES[2:], *_PREDICTIONS[1:])
    return {"labels": tuple(labels)} | {name: given[name] for name in names if name in given}
