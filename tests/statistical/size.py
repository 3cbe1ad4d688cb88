"""Size and power of every test: ``python -m tests.statistical.size``, some minutes on two processes.

Size is the share of data sets in which a true null is rejected at 5%, power that of a false one.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor

from saturation.resampling.paired import sign_test
from tests.statistical.size_cases import CONSERVATIVE, WITHOUT_CLAIM, Scenario, scenarios
from tests.statistical.table import LEVEL, markdown, share
from tests.statistical.tally import share_interval

ACCEPTED = (0.04, 0.06)
Found = Mapping[str, tuple[int, int]]


def verdict(test: str, claim: str, rejections: int, replications: int) -> str:
    """Whether the 99% interval of the share meets 4 to 6%; for conservative tests, whether it reaches down to 6%."""
    key = f"{test}, {claim}"
    if key in WITHOUT_CLAIM:
        return f"no claim: {WITHOUT_CLAIM[key]}"
    if test.endswith("(peer)"):
        return "peer"
    low, high = share_interval(rejections, replications, LEVEL)
    if low > ACCEPTED[1]:
        return "**above**"
    if high < ACCEPTED[0]:
        return "yes, conservative" if {test, key} & set(CONSERVATIVE) else "**below**"
    return "yes"


def size_table(results: Sequence[tuple[Scenario, Found]]) -> str:
    """One row a test and scenario."""
    head = ("test", "data", "n", "rejected at 5%", "its 99% interval", "within 4-6%")
    return markdown(head, list(_size_rows(results)))


def _size_rows(results: Sequence[tuple[Scenario, Found]]) -> Iterator[Sequence[str]]:
    for scenario, found in results:
        if scenario.group != "size":
            continue
        for test, (rejections, replications) in found.items():
            low, high = share_interval(rejections, replications, LEVEL)
            told = verdict(test, scenario.claim, rejections, replications) + _attainable(test, scenario.n)
            rate = f"{share(rejections / replications)} ({rejections}/{replications})"
            yield test, scenario.data, scenario.n, rate, f"{share(low)}-{share(high)}", told


def _attainable(test: str, n: str) -> str:
    """The level that a sign test over so many cells can attain."""
    if test != "sign test over cells":
        return ""
    from scipy.stats import binom

    cells = int(n.split(maxsplit=1)[0])
    level = sum(binom.pmf(wins, cells, 0.5) for wins in range(cells + 1) if _rejects(wins, cells))
    return f"; attainable {share(float(level))}"


def _rejects(wins: int, cells: int) -> bool:
    p = sign_test(wins, cells - wins)
    return p is not None and p < 0.05


def power_table(results: Sequence[tuple[Scenario, Found]]) -> str:
    """One row a test, one column an effect."""
    rows: dict[tuple[str, str, str], dict[float, str]] = {}
    for scenario, found in results:
        if scenario.group == "power":
            for test, (rejections, replications) in found.items():
                cell = rows.setdefault((test, scenario.data, scenario.n), {})
                cell[scenario.effect] = share(rejections / replications)
    head = ("test", "data", "n", "power at small, middle and large effects")
    lines = [(*key, ", ".join(f"{e:g}: {power}" for e, power in cells.items())) for key, cells in rows.items()]
    return markdown(head, lines)


def outside(results: Sequence[tuple[Scenario, Found]]) -> list[str]:
    """Tests that keep no promise here, in words."""
    rows = _size_rows(results)
    return [f"{test}; {data}; {n}: {rate}, {told}" for test, data, n, rate, _, told in rows if "**" in told]


def _one(scenario_rank: int, seed: int, replications: int) -> tuple[Found, float]:
    started = time.process_time()
    return scenarios()[scenario_rank].run(seed, replications), time.process_time() - started


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=10_000, help="data sets a scenario")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    every = scenarios()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read by the processes that start here: one thread each
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, mp_context=context) as pool:
        jobs = [pool.submit(_one, rank, options.seed, options.replications) for rank in range(len(every))]
        made = []
        for scenario, job in zip(every, jobs, strict=True):
            made.append(job.result())
            sys.stderr.write(f"{scenario.data}, {scenario.n}, effect {scenario.effect:g}: {made[-1][1]:.0f} s\n")
    results = [(scenario, found) for scenario, (found, _) in zip(every, made, strict=True)]
    minutes = sum(seconds for _, seconds in made) / 60
    sys.stdout.write(f"Seed {options.seed}, {options.replications} data sets a row, {minutes:.0f} process minutes.\n\n")
    sys.stdout.write(f"{size_table(results)}\n\n{power_table(results)}\n\n")
    sys.stdout.write("Outside: " + ("; ".join(outside(results)) or "none") + "\n")


if __name__ == "__main__":
    main()
