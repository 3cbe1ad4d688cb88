"""Does a pilot of 3 or 5 votes foresee what many votes show? ``python -m tests.statistical.thinning [--pilots 20]``.

From annotation sets with 50 to 100 votes an item, pilots are thinned: 300 items with 3 or 5 of their votes, and
``label_curve(estimator="model")`` of the pilot is held against ``label_curve`` of the whole set (all items, all votes,
reference disjoint, the same R). No law is planted here: this is where the laws may fail. Needs ``../shared/data``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from saturation.analyses.labels.label_curve import label_curve
from saturation.datasets.convert import convert
from saturation.results import LabelCurveResult, LabelCurveRow
from saturation.tables import door
from saturation.tables.panel import Votes
from tests.statistical.table import markdown, share

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
SETS = {
    "ChaosNLI-SNLI": ("chaosnli", "chaosnli/data/chaosNLI_v1.0/chaosNLI_snli.jsonl"),
    "ChaosNLI-MNLI": ("chaosnli", "chaosnli/data/chaosNLI_v1.0/chaosNLI_mnli_m.jsonl"),
    "CIFAR-10H": ("cifar10h", "cifar10h/data/cifar10h-counts.npy"),
    "DICES-990": ("dices", "dices/data/dices/dices_990.json"),
}
METRICS = ("kl", "jsd", "tvd", "brier", "entropy_correlation", "accuracy")
BUDGETS = (1, 3, 10, 20)
PILOT_ITEMS = 300
MOST_ITEMS = 1000
"""Of a larger set so many items are taken, at random."""
VOTES = (3, 5)
Key = tuple[str, str, int]


def load(name: str) -> Votes:
    """One annotation set."""
    kind, path = SETS[name]
    with TemporaryDirectory() as folder:
        convert(kind, SHARED / path, Path(folder) / "tables")
        votes = door.read_votes([Path(folder) / "tables" / "vote_counts.parquet"])
    counts = votes.counts
    if len(counts) > MOST_ITEMS:
        counts = counts[np.sort(np.random.default_rng(0).choice(len(counts), MOST_ITEMS, replace=False))]
    return plain(counts, votes.labels)


def plain(counts: np.ndarray, labels: tuple[str, ...]) -> Votes:
    """Counts as votes, without anything else that is known of them."""
    return Votes(item_ids=tuple(f"{i:05d}" for i in range(len(counts))), labels=labels, counts=counts)


def thinned(votes: Votes, seed: int, n_votes: int) -> Votes:
    """A pilot: some items with some of their votes."""
    rng = np.random.default_rng(seed)
    enough = np.flatnonzero(votes.counts.sum(axis=1) >= n_votes)
    chosen = rng.choice(enough, min(PILOT_ITEMS, len(enough)), replace=False)
    counts = np.array([rng.multivariate_hypergeometric(row, n_votes) for row in votes.counts[chosen]])
    return plain(counts, votes.labels)


def values(result: LabelCurveResult) -> dict[Key, LabelCurveRow]:
    """Values and fractions by metric and budget."""
    return {
        (row.quantity, row.metric, row.budget): row
        for row in result.rows
        if row.quantity in ("value", "fraction") and row.budget is not None
    }


def kind_of(result: LabelCurveResult) -> str:
    """The law chosen, in a word."""
    note = next((one.message for one in result.notes if one.code == "model"), "none")
    return "one" if "a Dirichlet" in note else "points" if "alike" in note else "mixture"


@dataclass(slots=True, eq=False)
class Contest:
    """A set, what its whole curve shows, and the curves of its pilots by votes an item."""

    votes: Votes
    truth: dict[Key, LabelCurveRow]
    reference_size: int
    pilots: dict[int, list[LabelCurveResult]]


def contest(name: str) -> Contest:
    """One set without pilots yet."""
    votes = load(name)
    whole = label_curve(votes, metrics=METRICS, budgets=BUDGETS)
    size = next(row.reference_size for row in whole.rows if row.quantity == "value")
    assert size is not None
    return Contest(votes, values(whole), size, {n: [] for n in VOTES})


def run(names: list[str], pilots: int, seconds: float) -> dict[str, Contest]:
    """Pilots of all sets in turn, until there are enough or time is up."""
    start = time.monotonic()
    contests = {name: contest(name) for name in names}
    for seed in range(pilots):
        for one in contests.values():
            for n_votes in VOTES:
                if time.monotonic() - start > seconds:
                    return contests
                few = thinned(one.votes, seed, n_votes)
                given = {"metrics": METRICS, "budgets": BUDGETS, "reference_size": one.reference_size}
                one.pilots[n_votes].append(label_curve(few, estimator="model", rng=seed, **given))
    return contests


def table(contests: dict[str, Contest]) -> Iterator[list[str]]:
    """A row a set, number of votes and number of the curve."""
    for name, one in contests.items():
        for n_votes, results in one.pilots.items():
            kinds = [kind_of(result) for result in results]
            chosen = ", ".join(f"{kinds.count(k)} {k}" for k in ("one", "mixture", "points", "none") if k in kinds)
            found = [values(result) for result in results]
            for metric in METRICS:
                for quantity, budget in (("value", 3), ("value", 10), ("value", 20), ("fraction", 10)):
                    key = (quantity, metric, budget)
                    line = compared([rows[key] for rows in found if key in rows], one.truth[key])
                    yield [name, str(n_votes), f"{quantity} {metric} {budget}", *line, chosen]


def compared(rows: list[LabelCurveRow], truth: LabelCurveRow) -> list[str]:
    """Full-data value, mean error, its spread, relative error, and how often the interval holds the full-data value."""
    full = truth.unc.estimate
    got = [row.unc.estimate for row in rows if row.unc.estimate is not None]
    if full is None or not got:
        return ["-"] * 5
    slack = 1e-9 * full
    held = [
        row.unc.low - slack <= full <= row.unc.high + slack
        for row in rows
        if row.unc.low is not None and row.unc.high is not None
    ]
    error = float(np.mean(got)) - full
    return [
        f"{full:.4g}",
        f"{error:+.2g}",
        f"{np.std(got):.2g}",
        f"{error / full:+.1%}",
        share(sum(held) / len(held)) if held else "-",
    ]


def overview(contests: dict[str, Contest], quantity: str, budget: int) -> Iterator[list[str]]:
    """A row a set and number of votes: relative error of each metric, in brackets how often the interval holds."""
    for name, one in contests.items():
        for n_votes, results in one.pilots.items():
            found = [values(result) for result in results]
            keys = [(quantity, metric, budget) for metric in METRICS]
            lines = [compared([rows[key] for rows in found if key in rows], one.truth[key]) for key in keys]
            yield [name, str(n_votes), *(f"{line[3]} ({line[4]})" for line in lines)]


HEADER = ["set", "votes", "number", "full data", "mean error", "sd", "relative", "interval holds it", "chosen"]


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pilots", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    given = parser.parse_args(arguments)
    if not SHARED.is_dir():
        sys.stdout.write(f"the annotation sets are not at {SHARED}; nothing to compare\n")
        return
    contests = run(given.sets, given.pilots, given.minutes * 60)
    for quantity, budget in (("value", 3), ("value", 20), ("fraction", 10)):
        lines = overview(contests, quantity, budget)
        sys.stdout.write(f"{quantity} at {budget}\n\n{markdown(['set', 'votes', *METRICS], lines)}\n\n")
    sys.stdout.write(markdown(HEADER, table(contests)) + "\n")
    sys.stdout.write(f"{min(len(r) for one in contests.values() for r in one.pilots.values())} pilots or more each\n")


if __name__ == "__main__":
    main(sys.argv[1:])
