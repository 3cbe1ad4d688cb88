"""``inference study``: the whole grid; plan, run (and run again), merge, status."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inference.cli import options

if TYPE_CHECKING:
    from inference.study import Workshop

_FILE = click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="STUDY.toml")
_OUT = click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder of the study."
)
_FORMAT = click.option("--format", type=click.Choice(("table", "json")), default="table", help="Of the summary.")
_QUIET = click.option("--quiet", is_flag=True, help="Say nothing on stderr but errors.")
_DEVICE = click.option("--device", default="auto", help="auto, cpu, cuda or cuda:1.")
_TRUST = click.option("--trust-remote-code", is_flag=True, help="Let code that comes with a model run.")


@click.group(
    "study",
    epilog="\b\nExample:\n"
    "  inference study example small                  # a small study to begin with, offline\n"
    "  inference study plan study.toml --rate 17\n"
    "  inference study run study.toml --out grid      # again after an interruption: goes on\n"
    "  inference study merge study.toml --out grid    # grid/predictions.parquet",
)
def command() -> None:
    """Train and predict a whole grid: methods x budgets x seeds x splits, and models.

    Runs are independent and short; each writes one part, whole or not at all. Workers on one machine or many may share
    a folder: a run is claimed before it is done. Slurm arrays and torchrun are understood (--shard).
    """


@command.command("example")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def example(folder: Path) -> None:
    """Write a small study that runs offline: made-up sentences with votes, a tiny untrained model, study.toml."""
    from inference.example import write_example
    from saturation.errors import UsageError

    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty: name a new folder")
    for path in write_example(folder):
        click.echo(path)


@command.command("plan")
@_FILE
@click.option("--rate", type=click.FloatRange(0, min_open=True), default=None, help="Items trained on a second.")
@click.option("--workers", type=click.IntRange(1), default=1, help="Workers side by side, e.g. accelerators.")
@_FORMAT
def plan(file: Path, rate: float | None, workers: int, format: str) -> None:
    """What would run, and how long it would take; loads no model."""
    from inference.estimate import RATES, estimate
    from inference.study import Workshop
    from inference.study_file import read_study

    shop = Workshop(read_study(file), Path())
    study, made = shop.study, shop.material
    found = estimate(shop.runs, made, study.recipes, rate=rate, workers=workers)
    options.summary(
        {
            "models": ", ".join(model.name for model in study.models),
            "items": len(made.items.ids),
            "left_out": f"{made.without_text} without text, {made.without_votes} without votes",
            "splits": ", ".join(made.splits),
            "seeds": ", ".join(map(str, study.seeds)),
            "conditions": len(study.conditions) + study.temperature,
            "runs": found.runs,
            "runs_per_shard": -(-found.runs // workers),
            "items_trained": found.trained,
            "items_predicted": found.predicted,
            "worker_hours": None if found.hours is None else round(found.hours, 3),
            "wall_hours": None if found.wall_hours is None else round(found.wall_hours, 3),
            "assumption": f"{rate:g} items a second and worker, all epochs" if rate else "no --rate: "
            + "; ".join(f"{name} {value:g}/s" for name, value in RATES.items()),
        },
        format,
    )  # fmt: skip


@command.command("run")
@_FILE
@_OUT
@click.option("--shard", default=None, metavar="I/N", help="Every N-th run; default: SLURM_ARRAY_TASK_* or RANK.")
@click.option("--workers", type=click.IntRange(1), default=None, help="Processes; default: one a visible accelerator.")
@click.option("--workers-per-gpu", type=click.IntRange(1), default=1, help="Several where memory allows.")
@_DEVICE
@click.option("--threads", type=click.IntRange(1), default=None, help="Processor threads of a worker.")
@_TRUST
@_FORMAT
@_QUIET
def run(file: Path, out: Path, **given: Any) -> None:
    """Do what is not done yet; the same command again goes on where it stopped."""
    from inference import workers
    from inference.study import status, work

    workers.stop_politely()
    try:
        environments = workers.places(given["workers"], given["workers_per_gpu"])
        if len(environments) > 1:
            words = ["study", "run", str(file), "--out", str(out), "--workers", "1", "--device", given["device"]]
            words += ["--quiet"] if given["quiet"] else []
            words += ["--trust-remote-code"] if given["trust_remote_code"] else []
            words += ["--shard", given["shard"]] if given["shard"] else []
            code = workers.run_all(words, environments)
            if code:
                raise click.exceptions.Exit(code)
        shop = _shop(file, out, given)
        if len(environments) == 1:
            from inference.machine import set_threads

            set_threads(given["threads"])
            say: Callable[[str], None] = lambda text: options.say(text, given["quiet"])  # noqa: E731
            work(shop, workers.shard_of(given["shard"]), say=say, quiet=given["quiet"])
        options.summary(status(shop), given["format"])
    except workers.StoppedError:
        options.say("stopped; what was finished is kept, run the same command again", quiet=False)
        raise click.exceptions.Exit(workers.STOPPED) from None


@command.command("merge")
@_FILE
@_OUT
@_DEVICE
@_TRUST
@_FORMAT
def merge(file: Path, out: Path, **given: Any) -> None:
    """One predictions table of all parts, after proving that every expected row is there exactly once."""
    from inference import study

    shop = _shop(file, out, {**given, "quiet": True})
    path = study.merge(shop)
    facts: dict[str, Any] = {"wrote": str(path), "runs": len(shop.runs)}
    if shop.material.held_out is not None:
        facts["votes"] = str(out / study.HELD_OUT)
    options.summary(facts, given["format"])


@command.command("status")
@_FILE
@_OUT
@_DEVICE
@_TRUST
@_FORMAT
def status(file: Path, out: Path, **given: Any) -> None:
    """How many runs are done, being done and to do."""
    from inference import study

    options.summary(study.status(_shop(file, out, {**given, "quiet": True})), given["format"])


def _shop(file: Path, out: Path, given: dict[str, Any]) -> Workshop:
    from inference.study import Workshop
    from inference.study_file import read_study

    return Workshop(
        read_study(file),
        out,
        device=given["device"],
        trust_remote_code=given["trust_remote_code"],
        quiet=given["quiet"],
    )
