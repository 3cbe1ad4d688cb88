"""``saturation compare``: conditions against each other on the same items."""

from __future__ import annotations

from typing import Any

import click

from saturation.cli import options
from saturation.cli.kinds import ListOf, Positive, Whole
from saturation.cli.output import print_result, with_settings

TESTS = (
    "paired_t", "wilcoxon", "sign_flip", "bootstrap", "sign_cells", "nadeau_bengio", "mixed_model", "williams",
    "steiger", "zou", "tost", "noninferiority",
)  # fmt: skip


class Margin(Positive):
    """One margin for all metrics, or ``metric=number,...``."""

    name = "number|metric=number,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A number, or a mapping by metric."""
        if "=" not in str(value):
            return super().convert(value, param, ctx)
        found: dict[str, float] = {}
        for part in ListOf().convert(value, param, ctx):
            name, equals, number = part.rpartition("=")
            if not equals or not name:
                self.fail(f"{part!r} is not metric=number", param, ctx)
            found[name] = super().convert(number, param, ctx)
        return found


@click.command(
    "compare",
    epilog=options.example(
        "saturation compare --votes v.csv --predictions p.csv --a method=soft,budget=10 --b method=hard",
        "saturation compare --votes v.csv --predictions p.csv --a method=soft,budget=10 --b method=hard "
        "--b method=soft,budget=100 --margin kl=0.02,tvd=0.01 --metrics kl,tvd --out compare.csv",
    ),
)
@options.votes
@options.predictions
@click.option("--a", required=True, metavar="CONDITION", help="The condition to judge, e.g. method=soft,budget=10.")
@click.option("--b", required=True, multiple=True, metavar="CONDITION", help="What to compare it with. Repeatable.")
@options.metrics
@options.floor
@click.option(
    "--tests",
    type=ListOf(),
    metavar="NAME,...",
    default=None,
    help=f"Of {', '.join(TESTS)}; or all. Default: the first five, those of --n-train and --margin.",
)
@click.option(
    "--margin",
    type=Margin(),
    metavar="NUMBER|METRIC=NUMBER,...",
    default=None,
    help="A difference that would not matter, in the metric's units: adds equivalence and non-inferiority.",
)
@click.option(
    "--n-train",
    type=Whole(1, 10**9),
    metavar="NUMBER",
    default=None,
    help="Items every model was trained on, for nadeau_bengio.",
)
@click.option(
    "--adjustment",
    type=click.Choice(("holm", "bh", "romano_wolf", "none")),
    default="holm",
    help="Of the p-values of one test, over all metrics and b's.",
)
@options.joint_design
@options.resampling_of(9999)
@options.output
def command(**given: Any) -> None:
    """Compare conditions on the same items, metric by metric.

    The difference a - b with its interval, relative change, effect sizes, cells won, and paired tests, with p-values
    adjusted for having looked at all of them - and a sentence that says what may be concluded.
    """
    from saturation.analyses.comparing.comparison import compare

    panel = options.load_panel(given)
    result = compare(
        panel,
        a=given["a"],
        b=given["b"],
        metrics=options.resolve_metrics(given["metrics"]),
        tests=given["tests"],
        margin=given["margin"],
        n_train=given["n_train"],
        design=given["design"],
        adjustment=given["adjustment"],
        level=given["level"],
        n_resamples=given["n_resamples"],
        rng=given["seed"],
        ties=given["ties"],
        floor=given["floor"],
        bins=given["bins"],
        threads=given["threads"],
    )
    result = with_settings(result, options.table_settings(given, panel.votes.labels))
    print_result(result, given["format"], given["out"], given["quiet"])
