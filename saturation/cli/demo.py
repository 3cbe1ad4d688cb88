"""``saturation demo``: the report on a study whose answer is known."""

from __future__ import annotations

from typing import Any

import click

from saturation.cli import options
from saturation.cli.output import check_outputs
from saturation.cli.report import finish, repeat_line


@click.command("demo", epilog=options.example("saturation demo", "saturation demo --out /tmp/demo --format json"))
@options.resampling
@options.output_folder("./saturation-demo")
def command(**given: Any) -> None:
    """Write the report of a small simulated study, and say how many planted truths lie inside their intervals."""
    from saturation.report.folder import check_folder
    from saturation.studies.demo import make_demo

    check_outputs(given)
    check_folder(given["out"], overwrite=given["overwrite"])
    report = make_demo(
        rng=given["seed"], n_resamples=given["n_resamples"], level=given["level"], threads=given["threads"]
    )
    finish(report, given, repeat_line(click.get_current_context()))
