"""The long study: ``python -m tests.statistical.run --replications 1000 --out DIR`` from the checkout.

It can be stopped at any time and continued with the same command; blocks of replications go round all settings in
turn, so that an unfinished study is equally long everywhere.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from fnmatch import fnmatch
from pathlib import Path

from saturation.files import write_text
from tests.statistical import table
from tests.statistical.replicate import replicate
from tests.statistical.settings import Setting, grid
from tests.statistical.store import BLOCK, Store, Tallies
from tests.statistical.truth import Truth, truths


def _block(seed: int, setting: Setting, block: int, true: dict[str, Truth]) -> tuple[Tallies, float]:
    """Tallies of one block, and the processor's seconds that it took."""
    started = time.process_time()
    made = replicate(seed, setting, range(block * BLOCK, (block + 1) * BLOCK), true)
    return made, time.process_time() - started


def _kind(setting: Setting) -> tuple[int, bool]:
    return setting.n_votes, setting.new_runs


def known_truths(store: Store, pool: ProcessPoolExecutor, kinds: Sequence[tuple[int, bool]]) -> dict:
    """The truths of all kinds of settings: stored ones, or computed and stored."""
    started: dict[tuple[int, bool], Future] = {}
    found = {}
    for votes, new_runs in kinds:
        name = f"n{votes}-{'new' if new_runs else 'one'}"
        held = store.truth(name)
        if held is None:
            started[votes, new_runs] = pool.submit(truths, votes, new_runs=new_runs)
        else:
            found[votes, new_runs] = held
    for (votes, new_runs), job in started.items():
        _say(f"truth of {votes} votes an item")
        found[votes, new_runs] = job.result()
        store.add_truth(f"n{votes}-{'new' if new_runs else 'one'}", found[votes, new_runs])
    return found


def jobs(store: Store, settings: Sequence[Setting], replications: int) -> Iterator[tuple[Setting, int]]:
    """Blocks that are not stored yet, round all settings in turn."""
    done = {setting: store.done(setting) for setting in settings}
    for block in range(-(-replications // BLOCK)):
        for setting in settings:
            if block not in done[setting]:
                yield setting, block


def run(store: Store, settings: Sequence[Setting], replications: int, processes: int, minutes: float) -> None:
    """Compute and store what is missing, until it is done or the time is up."""
    until = time.monotonic() + 60 * minutes
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        true = known_truths(store, pool, sorted({_kind(setting) for setting in settings}))
        waiting: dict[Future, tuple[Setting, int]] = {}
        left = jobs(store, settings, replications)
        while True:
            while len(waiting) <= processes and time.monotonic() < until and (job := next(left, None)) is not None:
                setting, block = job
                waiting[pool.submit(_block, store.seed, setting, block, true[_kind(setting)])] = job
            if not waiting:
                return
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                setting, block = waiting.pop(future)
                tallies, seconds = future.result()
                store.add(setting, block, tallies, seconds)
                _say(f"{setting.name} replications {block * BLOCK}-{(block + 1) * BLOCK - 1}: {seconds:.1f} s")


def report(store: Store) -> str:
    """The tables, with how they were made."""
    results = store.results()
    runs = sorted(max(one.asked for one in tallies.values()) for tallies in results.values())
    missing = [setting.name for setting in grid() if setting not in results]
    intro = (
        f"Seed {store.seed}; {len(results)} settings, {runs[0]} to {runs[-1]} replications each "
        f"({sum(runs)} studies); {store.seconds() / 60:.0f} process minutes. "
        f"Settings without a replication: {', '.join(missing) or 'none'}."
    )
    parts = [intro, "## By quantity", table.pooled(results), "## Outside 93-97% beyond chance", table.misses(results)]
    return "\n\n".join([*parts, "## By setting", table.full(results)]) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=1000, help=f"a setting, in blocks of {BLOCK}")
    parser.add_argument("--out", type=Path, required=True, help="folder; the same one continues a stopped study")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start nothing new after this time")
    parser.add_argument("--settings", default="*", help="a pattern of names, e.g. 'I100-*-ids'")
    options = parser.parse_args(arguments)
    chosen = [setting for setting in grid() if fnmatch(setting.name, options.settings)]
    if not chosen:
        parser.error(f"no setting is called {options.settings}; there are: {', '.join(s.name for s in grid())}")
    store = Store(options.out, options.seed)
    run(store, chosen, options.replications, options.processes, options.minutes)
    text = report(store)
    write_text(options.out / "coverage.md", text)
    sys.stdout.write(text)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    main()
