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

from saturation.cli.output import check_outputs
from saturation.errors import UsageError

if TYPE_CHECKING:
    from saturation.tables.panel import Panel, Votes

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # generic only in recent versions of click

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]

FORMATS = ("table", "json", "csv", "md", "tex", "parquet")
TIES = ("first", "last", "random", "share", "any", "column")
REFERENCES = ("disjoint", "rest", "all", "plug_in")
INTERVALS = ("bca", "basic", "percentile", "studentized", "linearized_t", "normal")
ENTROPY_ESTIMATORS = ("chao_shen", "jackknife", "grassberger", "miller_madow")
DESIGNS = ("items", "crossed", "votes", "annotators", "seeds")
PARTS = ("train", "dev", "test", "all")
MAX_SEED = 2**63 - 1
MAX_BUDGET = 100_000


def example(*lines: str) -> str:
    """An epilog with examples, kept line by line."""
    body = "\n".join(f"  {line}" for line in lines)
    return f"\b\nExample:\n{body}"


def split_list(text: str) -> list[str]:
    """Split at commas outside brackets; blanks around parts are dropped.

    Examples
    --------
    >>> split_list("kl, reverse_kl[floor=1e-12,smooth=1]")
    ['kl', 'reverse_kl[floor=1e-12,smooth=1]']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


class ListOf(ParamType):
    """``a,b,c`` as a tuple of unique, non-empty words."""

    name = "a,b,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Any, ...]:
        """Split and check."""
        if isinstance(value, tuple):
            return value
        parts = split_list(value)
        if not all(parts):
            self.fail(f"{value!r} has an empty entry", param, ctx)
        twice = sorted({part for part in parts if parts.count(part) > 1})
        if twice:
            self.fail(f"{', '.join(twice)} named twice", param, ctx)
        return tuple(self.one(part, param, ctx) for part in parts)

    def one(self, part: str, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """One entry; subclasses read numbers."""
        return part


class Budgets(ParamType):
    """``1,2,5-10`` as a sorted tuple of budgets."""

    name = "1,2,5|1-100"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Read numbers and ranges."""
        if isinstance(value, tuple):
            return value
        found: set[int] = set()
        for part in split_list(value):
            first, dash, last = part.partition("-")
            low, high = self._whole(first, param, ctx), self._whole(last if dash else first, param, ctx)
            if not 1 <= low <= high <= MAX_BUDGET:
                self.fail(f"{part!r} is not a budget between 1 and {MAX_BUDGET}, nor a rising range", param, ctx)
            found.update(range(low, high + 1))
        return tuple(sorted(found))

    def _whole(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if not (text.strip().isascii() and text.strip().isdigit()):
            self.fail(f"{text!r} is not a whole number; write 1,2,5 or 1-100", param, ctx)
        return int(text)


class Whole(ParamType):
    """A whole number between two bounds."""

    name = "whole number"

    def __init__(self, low: int, high: int) -> None:
        self.low = low
        self.high = high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read and check."""
        text = str(value)
        if not (text.isascii() and text.isdigit() and self.low <= int(text) <= self.high):
            self.fail(f"{value!r} is not a whole number from {self.low} to {self.high}", param, ctx)
        return int(text)


class Share(ParamType):
    """A number strictly between 0 and 1."""

    name = "0..1"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read and check."""
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)
        if not 0 < number < 1:
            self.fail(f"{value} does not lie strictly between 0 and 1", param, ctx)
        return number


class Shares(ListOf):
    """``.9,.95`` as a tuple of numbers strictly between 0 and 1."""

    name = ".9,.95"

    def one(self, part: str, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """One share."""
        return Share().convert(part, param, ctx)


class Positive(ParamType):
    """A finite number above 0."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read and check."""
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)
        if not 0 < number < float("inf"):
            self.fail(f"{value} is not a finite number above 0", param, ctx)
        return number


class Alpha(Positive):
    """Dirichlet smoothing of targets: ``none``, ``1/K`` or a number."""

    name = "none|1/K|number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The two words as they are, numbers as numbers."""
        return value if value in ("none", "1/K") else super().convert(value, param, ctx)


# --- single options ---------------------------------------------------------------------------------------------------


def _option(*names: str, **settings: Any) -> Decorator[Any]:
    return click.option(*names, **settings)


def _files(name: str, text: str, *, required: bool = False) -> Decorator[Any]:
    return _option(
        f"--{name}",
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
votes = stack(
    _files("votes", "Votes (one row a vote) or vote counts (one row an item).", required=True),
    _files("items", "Item attributes: published majority, groups such as source."),
    labels,
    columns,
    repairs,
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
resampling = stack(
    _option("--level", type=Share(), metavar="NUMBER", default=0.95, help="Coverage of the intervals."),
    _option("--seed", type=Whole(0, MAX_SEED), metavar="NUMBER", default=0, help="Seed of the resamples."),
    _option("--n-resamples", type=Whole(2, 10_000_000), metavar="NUMBER", default=2000, help="Number of resamples."),
    _option(
        "--threads", type=Whole(1, 1024), metavar="NUMBER", default=None, help="Threads; default: the usable cores."
    ),
)
design = _option(
    "--design", type=click.Choice(DESIGNS), default=None, help="What is redrawn; default: what the data call for."
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
    help="What counts as saturated, e.g. method=soft,budget=100; default: soft at the largest budget of the model.",
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
    "--reference", type=click.Choice(REFERENCES), default="disjoint", help="What N votes are compared with."
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
