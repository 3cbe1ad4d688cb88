"""Run a kernel over blocks of resamples in threads; results do not depend on how they are cut."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import pairwise

from saturation.errors import UsageError


def usable_threads(threads: int | None = None) -> int:
    """The number of threads asked for, or the cores this process may use.

    Raises
    ------
    UsageError
        When fewer than one thread is asked for.
    """
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise UsageError(f"threads is {threads}; give at least 1")
    return threads


def run_blocks(work: Callable[[int, int], object], n_rows: int, threads: int | None = None) -> None:
    """Call ``work(start, stop)`` on ranges that cover the rows once; ranges run side by side."""
    workers = min(usable_threads(threads), max(n_rows, 1))
    if workers == 1:
        work(0, n_rows)
        return
    from concurrent.futures import ThreadPoolExecutor

    edges = [n_rows * w // workers for w in range(workers + 1)]
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, a, b) for a, b in pairwise(edges)]:
            done.result()
