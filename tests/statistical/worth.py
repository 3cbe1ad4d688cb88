"""Is a model that asked N people worth N annotators, and are ceilings where they should be?

A model that *is* the combined answer of N0 people who are not among the voters must be worth N0; a model that knows the
population must be at the ceiling. ``python -m tests.statistical.worth`` prints how often the 95% intervals say so.

Studies: 200 items from a Dirichlet (3 labels, A = 1.24, uneven), n votes each, S training seeds (each asks other
people). In brackets the median number of annotators, or of estimate / truth. ``a crowd``: ten votes an item come from
30 people, 30% of whom are careless and say their favourite label in 60% of their votes; the models asked people of the
same population, another one for every vote; with ids and, to see what they are good for, without. The last table says
what leaving an item's own votes out of its base rate is good for.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from dataclasses import replace

import numpy as np
from scipy.special import psi

from saturation.analyses.worth.ceiling import ceiling
from saturation.analyses.worth.combiner import other_items_prior, shared_prior
from saturation.analyses.worth.equivalents import equivalents
from saturation.analyses.worth.held_out import crowd_cross_entropy
from saturation.metrics.agreement import BaseRate, base_rate
from saturation.metrics.catalogue import metric
from saturation.metrics.metric import Human
from saturation.tables.builders import panel_from_arrays
from saturation.tables.panel import Ballots, Panel

PI, STRENGTH = np.array([0.5, 0.3, 0.2]), 1.24
ITEMS = 200
ASKED = (1, 3, 10)
SETTINGS = ((20, 1), (20, 3), (50, 1), (50, 3))
WORTH_BY = ("cross_entropy", "brier_vote", "tvd", "entropy_correlation")
CEILINGS = ("brier", "kl", "cross_entropy", "tvd", "jsd", "entropy_correlation", "top_vote_share")
DRAWS = 40

Tally = dict[tuple[str, str, str], list[tuple[bool, float | None]]]
"""(table, row, column) -> whether the interval held the truth, and the estimate."""


def population(generator: np.random.Generator, n_items: int) -> np.ndarray:
    """(items, labels)"""
    return generator.dirichlet(STRENGTH * PI, size=n_items)


def study(seed: tuple[int, ...], votes: int, seeds: int) -> Panel:
    """A panel whose conditions asked 1, 3 and 10 people in every seed, and one that knows the population."""
    generator = np.random.default_rng(seed)
    p = population(generator, ITEMS)
    counts = generator.multinomial(votes, p)
    asked = [np.stack([generator.multinomial(n, p) for _ in range(seeds)]) for n in ASKED]
    probs = [(c + STRENGTH * PI) / (n + STRENGTH) for n, c in zip(ASKED, asked, strict=True)]
    conditions = [{"method": "soft", "budget": n} for n in ASKED] + [{"method": "knows"}]
    return panel_from_arrays(np.stack([*probs, np.tile(p, (seeds, 1, 1))]), counts, conditions=conditions)


def vote(generator: np.random.Generator, p: np.ndarray, careless: np.ndarray, favourite: np.ndarray) -> np.ndarray:
    """(votes,) labels of people with habits; p is (votes, labels)."""
    own = (generator.random((len(p), 1)) > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    return np.where(careless & (generator.random(len(p)) < 0.6), favourite, own)


def asked_votes(generator: np.random.Generator, p: np.ndarray, votes: int) -> np.ndarray:
    """(items, labels) votes of as many different people of the population an item."""
    item = np.repeat(np.arange(len(p)), votes)
    careless, favourite = generator.random(len(item)) < 0.3, generator.integers(0, 3, len(item))
    counts = np.zeros(p.shape, dtype=int)
    np.add.at(counts, (item, vote(generator, p[item], careless, favourite)), 1)
    return counts


def crowd_study(number: int, prior: BaseRate, *, votes: int = 10, people: int = 30, seeds: int = 3) -> Panel:
    """Models that asked 1 and 3 people, against the votes of one crowd."""
    generator = np.random.default_rng((number, 5))
    p = population(generator, ITEMS)
    careless, favourite = generator.random(people) < 0.3, generator.integers(0, 3, people)
    item = np.repeat(np.arange(ITEMS), votes)
    who = np.concatenate([np.sort(generator.choice(people, votes, replace=False)) for _ in range(ITEMS)])
    label = vote(generator, p[item], careless[who], favourite[who])
    counts = np.zeros(p.shape, dtype=int)
    np.add.at(counts, (item, label), 1)
    added = prior.strength * prior.distribution
    probs = [
        np.stack([(asked_votes(generator, p, n) + added) / (n + prior.strength) for _ in range(seeds)])
        for n in ASKED[:2]
    ]
    panel = panel_from_arrays(np.stack(probs), counts, conditions=[{"method": "soft", "budget": n} for n in ASKED[:2]])
    ballots = Ballots(tuple(f"w{a:02d}" for a in range(people)), item, who, label)
    return replace(panel, votes=replace(panel.votes, ballots=ballots))


def replicate_crowd(number: int, prior: BaseRate, tally: Tally) -> None:
    """One study of a crowd, with and without ids."""
    panel = crowd_study(number, prior)
    alone = replace(panel, votes=replace(panel.votes, ballots=None))
    for ids, known in (("with ids", panel), ("without ids", alone)):
        for row in equivalents(known, metrics=WORTH_BY[:3], rng=number).rows:
            if row.quantity == "equivalent":
                asked = int(row.condition.rpartition("=")[2])
                held = within(row.unc.low, row.unc.high, asked)
                tally["a crowd", f"{row.metric}, asked {asked}", ids].append((held, row.unc.estimate))


def true_ceilings(votes: int, n_items: int = 400_000) -> dict[tuple[str, str], float]:
    """Closed forms where there are any, else means over so many items that their error does not matter."""
    generator = np.random.default_rng(99)
    p = population(generator, n_items)
    h = generator.multinomial(votes, p)
    disagreement = STRENGTH * (1 - (PI**2).sum()) / (1 + STRENGTH)
    entropy = float(psi(STRENGTH + 1) - (PI * psi(STRENGTH * PI + 1)).sum())
    shares = h / votes
    plug_in = float(-(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1).mean())
    one, other = generator.multinomial(votes // 2, p), generator.multinomial(votes // 2, p)
    others = (generator.multinomial(votes - 1, p) + STRENGTH * PI) / (votes - 1 + STRENGTH)
    combined = float(-(p * np.log(others)).sum(axis=1).mean())
    found = {
        ("noise_only", "brier"): disagreement / votes,
        ("noise_only", "kl"): entropy - plug_in,
        ("noise_only", "cross_entropy"): entropy,
        ("another_crowd", "brier"): 2 * disagreement / votes,
        ("another_crowd", "kl"): combined - plug_in,
        ("another_crowd", "cross_entropy"): combined,
    }
    for name in CEILINGS[3:]:
        found["noise_only", name] = float(metric(name).value(p, Human(h)))
        found["another_crowd", name] = float(metric(name).value(one / (votes // 2), Human(other)))
    return found


def within(low: float | None, high: float | None, truth: float) -> bool:
    """Whether an interval, open where an end is missing, holds the truth."""
    return (low is None or low <= truth) and (high is None or truth <= high)


def replicate(number: int, votes: int, seeds: int, truth: dict[tuple[str, str], float], tally: Tally) -> None:
    """One study: tally[table, row, column] gets (held, estimate / truth)."""
    column = f"n={votes}, S={seeds}"
    panel = study((number, votes, seeds), votes, seeds)
    for row in equivalents(panel, metrics=WORTH_BY, n_resamples=DRAWS, rng=number).rows:
        if row.quantity == "equivalent" and "budget" in row.condition:
            asked = int(row.condition.rpartition("=")[2])
            held = within(row.unc.low, row.unc.high, asked)
            tally["worth", f"{row.metric}, asked {asked}", column].append((held, row.unc.estimate))
    if seeds > 1:
        return
    for row in ceiling(panel, metrics=CEILINGS, n_resamples=DRAWS, rng=number).rows:
        if row.quantity == "ceiling" and row.unc.estimate is not None:
            value = truth[row.kind, row.metric]
            held = within(row.unc.low, row.unc.high, value)
            tally["ceiling", f"{row.kind} {row.metric}", column].append((held, row.unc.estimate / value))
        elif row.quantity == "distance" and row.kind == "noise_only" and row.condition.endswith("knows"):
            tally["distance 0", f"{row.kind} {row.metric}", column].append(
                (within(row.unc.low, row.unc.high, 0), np.nan)
            )


def flattery(replications: int, votes: int = 50) -> dict[tuple[int, int], float]:
    """By items and crowd size: how much better a crowd looks (nats) when its own items fit the base rate."""
    gains = defaultdict(list)
    for items in (30, 100, 300):
        for number in range(replications):
            generator = np.random.default_rng((number, items))
            counts = generator.multinomial(votes, population(generator, items))
            others, seen = other_items_prior(counts), shared_prior(counts)
            for size in (0, 1, 3, 10):
                scores = [crowd_cross_entropy(counts, prior, size).mean() for prior in (others, seen)]
                gains[items, size].append(scores[0] - scores[1])
    return {place: float(np.mean(values)) for place, values in gains.items()}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=200)
    given = parser.parse_args()
    start = time.time()
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    tally: Tally = defaultdict(list)
    for votes, seeds in SETTINGS:
        truth = true_ceilings(votes)
        for number in range(given.replications):
            replicate(number, votes, seeds, truth, tally)
    everybody = np.random.default_rng(1)
    prior = base_rate(asked_votes(everybody, population(everybody, 100_000), 6))
    for number in range(given.replications):
        replicate_crowd(number, prior, tally)
    for (table, row, column), values in tally.items():
        found[table, row][column] = _cell(table, values)
    lines = [line for table in ("worth", "a crowd", "ceiling", "distance 0") for line in _table(table, found)]
    lines += _flattery_table(given.replications)
    sys.stdout.write("\n".join(lines))
    sys.stdout.write(f"\n\n{given.replications} replications a setting, {time.time() - start:.0f} s\n")


def _cell(table: str, values: list[tuple[bool, float | None]]) -> str:
    held = f"{np.mean([inside for inside, _ in values]):.3f}"
    if table == "distance 0":
        return held
    return f"{held} ({np.nanmedian([np.nan if value is None else value for _, value in values]):.3g})"


def _table(table: str, found: dict[tuple[str, str], dict[str, str]]) -> list[str]:
    rows = {row: cells for (name, row), cells in found.items() if name == table}
    columns = list(dict.fromkeys(column for cells in rows.values() for column in cells))
    head = [f"| {table} | {' | '.join(columns)} |", f"|{' --- |' * (len(columns) + 1)}"]
    return [*head, *(f"| {row} | {' | '.join(cells.get(c, '') for c in columns)} |" for row, cells in rows.items()), ""]


def _flattery_table(replications: int) -> list[str]:
    gains = flattery(replications)
    head = ["| its own votes in its base rate: nats better at | 0 | 1 | 3 | 10 people |", f"|{' --- |' * 5}"]
    shown = {items: [f"{gains[items, size]:.4f}" for size in (0, 1, 3, 10)] for items in (30, 100, 300)}
    return [*head, *(f"| {items} items | {' | '.join(cells)} |" for items, cells in shown.items())]


if __name__ == "__main__":
    main()
