"""Do scores against held-out votes, once corrected, find the population, and fitted temperatures the planted one?

``python -m tests.statistical.heldout`` prints how often the 95% intervals hold the truth.

Held-out votes: items from a Dirichlet (3 labels), n votes each of which a fifth is held out, at random or as a pool of
its own (cast by 40 people, who are on both sides); models are the population with noise of their own in every training
seed. Truths are means over so many items that their error does not matter. Differences of corrected values are 0.

Temperature: logits are T times the logarithm of the population, so that T itself is the best one to divide them by.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from dataclasses import replace

import numpy as np
import polars as pl

from saturation.analyses.baselines.baselines import baselines
from saturation.analyses.heldout.divisions import held_out_sizes
from saturation.analyses.heldout.heldout import heldout
from saturation.metrics.catalogue import metric
from saturation.metrics.entropy import entropy
from saturation.metrics.metric import Human
from saturation.tables.builders import panel_from_arrays, votes_from_counts
from saturation.tables.panel import Ballots, Panel

ALPHA = np.array([0.9, 0.6, 0.4])
ITEMS, PEOPLE, SHARE, REPEATS = 200, 40, 0.2, 20
METRICS = ("kl", "brier", "entropy_correlation")
SETTINGS = tuple((votes, seeds, pools) for votes in (50, 100) for seeds in (1, 3) for pools in (False, True))
PLANTED, DEVELOPMENT = 2.5, ((100, 5), (100, 20), (300, 5), (300, 20))


def models(generator: np.random.Generator, p: np.ndarray, seeds: int) -> np.ndarray:
    """(seeds, items, labels) flatter than the population, with noise of every seed's own."""
    scores = 0.7 * np.log(np.maximum(p, 1e-6)) + 0.4 * generator.normal(size=(seeds, *p.shape))
    grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True)


def study(number: int, votes: int, seeds: int, pools: bool) -> Panel:
    """One panel; with pools, who voted is known and the last fifth of the votes is held out."""
    generator = np.random.default_rng((number, votes, seeds, pools))
    p = generator.dirichlet(ALPHA, size=ITEMS)
    labels = np.stack([generator.choice(3, size=votes, p=one) for one in p])
    counts = np.stack([(labels == k).sum(axis=1) for k in range(3)], axis=1)
    panel = panel_from_arrays(models(generator, p, seeds)[None], counts)
    if not pools:
        return panel
    held = int(held_out_sizes(np.array([votes]), SHARE)[0])
    pool = np.tile(np.arange(votes) >= votes - held, (ITEMS, 1)).astype(np.int64)
    who = np.stack([np.sort(generator.integers(PEOPLE, size=votes)) for _ in range(ITEMS)])
    mixed = generator.permuted(np.arange(votes)[None].repeat(ITEMS, axis=0), axis=1)
    pool = np.take_along_axis(pool, mixed, axis=1)
    ballots = Ballots(
        annotator_ids=tuple(f"w{one:02d}" for one in range(PEOPLE)),
        item=np.repeat(np.arange(ITEMS), votes), annotator=who.ravel(), label=labels.ravel(), pool=pool.ravel(),
    )  # fmt: skip
    sides = {
        name: np.stack([((labels == k) & (pool == code)).sum(axis=1) for k in range(3)], axis=1)
        for code, name in enumerate(("train", "heldout"))
    }
    return replace(panel, votes=replace(panel.votes, pools=sides, ballots=ballots))


def truths(votes: int, n_items: int = 200_000) -> dict[tuple[str, str], float]:
    """By value (raw against held-out votes, or corrected) and metric."""
    generator = np.random.default_rng(7)
    p = generator.dirichlet(ALPHA, size=n_items)
    m = models(generator, p, 1)[0]
    held = generator.multinomial(int(held_out_sizes(np.array([votes]), SHARE)[0]), p)
    found = {("raw", name): float(metric(name).value(m, Human(held))) for name in METRICS[:2]}
    found["corrected", "kl"] = float((p * np.log(np.maximum(p, 1e-300) / m)).sum(axis=1).mean())
    found["corrected", "brier"] = float(((p - m) ** 2).sum(axis=1).mean())
    found["corrected", "entropy_correlation"] = float(np.corrcoef(entropy(m), entropy(p))[0, 1])
    return found


def held(low: float | None, high: float | None, truth: float) -> bool | None:
    """Whether an interval holds the truth; None without one."""
    return None if low is None or high is None else low <= truth <= high


def replicate(number: int, setting: tuple[int, int, bool], truth: dict, tally: dict) -> None:
    """One study: tally[row] gets whether the interval held."""
    panel = study(number, *setting)
    options = {} if setting[2] else {"share": SHARE, "repeats": REPEATS}
    for row in heldout(panel, metrics=METRICS, rng=number, **options).rows:
        if row.pool == "heldout":
            tally["corrected", row.metric].append(
                held(row.corrected_low, row.corrected_high, truth["corrected", row.metric])
            )
            if row.metric != "entropy_correlation":
                tally["raw", row.metric].append(held(row.unc.low, row.unc.high, truth["raw", row.metric]))
        elif " - " in row.pool:
            tally[row.pool, row.metric].append(held(row.corrected_low, row.corrected_high, 0.0))


def temperature(number: int, items: int, votes: int) -> bool | None:
    """Whether the interval of a fitted temperature holds the planted one."""
    generator = np.random.default_rng((number, items, votes))
    p = np.maximum(generator.dirichlet(ALPHA, size=items + 1), 1e-9)
    z = PLANTED * np.log(p)
    said = np.exp(z - z.max(axis=1, keepdims=True))
    said /= said.sum(axis=1, keepdims=True)
    ids = [f"i{one:04d}" for one in range(items + 1)]
    table = pl.DataFrame({"item_id": ids, "method": "hard", "part": ["dev"] * items + ["test"]}).with_columns(
        *(pl.Series(f"p_{k}", said[:, k]) for k in range(3)), *(pl.Series(f"z_{k}", z[:, k]) for k in range(3))
    )
    counts = generator.multinomial(votes, p / p.sum(axis=1, keepdims=True))
    known = votes_from_counts(counts, item_ids=ids, labels=("0", "1", "2"))
    (row,) = baselines(known, table, methods=["temperature"], n_resamples=400, rng=number).rows
    return held(row.unc.low, row.unc.high, PLANTED)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=200)
    given = parser.parse_args()
    start = time.time()
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for setting in SETTINGS:
        tally, truth = defaultdict(list), truths(setting[0])
        for number in range(given.replications):
            replicate(number, setting, truth, tally)
        name = f"n={setting[0]}, S={setting[1]}, {'pools' if setting[2] else 'random'}"
        for place, values in tally.items():
            found[place][name] = _share(values)
    lines = _table("held out", found)
    fitted: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for items, votes in DEVELOPMENT:
        values = [temperature(number, items, votes) for number in range(given.replications)]
        fitted["T", str(PLANTED)][f"I={items}, n={votes}"] = _share(values)
    lines += ["", *_table("temperature", fitted)]
    sys.stdout.write("\n".join(lines))
    sys.stdout.write(f"\n\n{given.replications} replications a setting, {time.time() - start:.0f} s\n")


def _share(values: list[bool | None]) -> str:
    known = [one for one in values if one is not None]
    missing = len(values) - len(known)
    return (f"{np.mean(known):.3f}" if known else "-") + (f" ({missing} without)" if missing else "")


def _table(name: str, found: dict[tuple[str, str], dict[str, str]]) -> list[str]:
    columns = list(dict.fromkeys(column for cells in found.values() for column in cells))
    head = [f"| {name} | {' | '.join(columns)} |", f"|{' --- |' * (len(columns) + 1)}"]
    rows = [f"| {' '.join(row)} | {' | '.join(cells.get(c, '') for c in columns)} |" for row, cells in found.items()]
    return [*head, *rows]


if __name__ == "__main__":
    main()
