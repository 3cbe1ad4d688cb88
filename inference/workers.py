"""Several workers on one machine: a process each, on its own accelerator or its share of the cores."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from inference.study import Shard
from saturation.errors import UsageError

STOPPED = 75
"""Exit code of a worker that was told to stop: run the same command again."""


class StoppedError(BaseException):
    """Somebody sent SIGTERM; what is finished is kept."""


def stop_politely() -> None:
    """Turn SIGTERM into an exception, so that half-written files are cleaned up on the way out."""

    def stop(_number: int, _frame: Any) -> None:
        raise StoppedError

    signal.signal(signal.SIGTERM, stop)


def shard_of(text: str | None, environment: Mapping[str, str] = os.environ) -> Shard:
    """``i/n`` (from 0), else what a Slurm array or torchrun says, else everything.

    Examples
    --------
    >>> shard_of(None, {"SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_MIN": "4", "SLURM_ARRAY_TASK_COUNT": "3"})
    Shard(index=1, of=3)
    >>> shard_of(None, {"RANK": "2", "WORLD_SIZE": "8"})
    Shard(index=2, of=8)
    """
    if text is not None:
        first, slash, second = text.partition("/")
        if not (slash and first.isdigit() and second.isdigit()):
            raise UsageError(f"--shard {text}: write 0/8 for the first of eight")
        return Shard(int(first), int(second))
    if "SLURM_ARRAY_TASK_COUNT" in environment:
        first_id = int(environment.get("SLURM_ARRAY_TASK_MIN", "0"))
        return Shard(int(environment["SLURM_ARRAY_TASK_ID"]) - first_id, int(environment["SLURM_ARRAY_TASK_COUNT"]))
    if "RANK" in environment and "WORLD_SIZE" in environment:
        return Shard(int(environment["RANK"]), int(environment["WORLD_SIZE"]))
    return Shard()


def places(workers: int | None, per_gpu: int, environment: Mapping[str, str] = os.environ) -> list[dict[str, str]]:
    """The environment of each worker: visible accelerators in turn, and its share of the cores.

    Parameters
    ----------
    workers
        How many; None: one an accelerator (times ``per_gpu``), else one.
    per_gpu
        Workers an accelerator.
    environment
        Whose CUDA_VISIBLE_DEVICES counts.

    Examples
    --------
    >>> [one["CUDA_VISIBLE_DEVICES"] for one in places(None, 2, {"CUDA_VISIBLE_DEVICES": "4,6"})]
    ['4', '6', '4', '6']
    """
    devices = _devices(environment)
    count = workers if workers is not None else max(1, len(devices) * per_gpu)
    threads = max(1, (os.cpu_count() or 1) // count)
    made = []
    for rank in range(count):
        own = {"OMP_NUM_THREADS": str(threads)}
        if devices:
            own["CUDA_VISIBLE_DEVICES"] = devices[rank % len(devices)]
        made.append(own)
    return made


def run_all(command: Sequence[str], environments: Sequence[Mapping[str, str]]) -> int:
    """Run the same command once an environment, side by side; the worst exit code. A stop is passed on to all."""
    started = [
        subprocess.Popen([sys.executable, "-m", "inference", *command], env={**os.environ, **own})
        for own in environments
    ]
    try:
        return max(process.wait() for process in started)
    except (KeyboardInterrupt, StoppedError):
        for process in started:
            process.terminate()
        for process in started:
            process.wait()
        raise


def _devices(environment: Mapping[str, str]) -> list[str]:
    if "CUDA_VISIBLE_DEVICES" in environment:
        return [one for one in environment["CUDA_VISIBLE_DEVICES"].split(",") if one.strip()]
    import torch

    return [str(index) for index in range(torch.cuda.device_count())]
