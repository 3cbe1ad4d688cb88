"""Curves from a small pilot against a planted law: ``python -m tests.statistical.pilot [--replications 100]``.

Items are drawn from a known law, every item gets 3 or 5 votes, and ``label_curve(estimator="model")`` says what up to
100 votes would show, once with the law chosen (``auto``) and, where the law is one Dirichlet, once with it named. The
truth is about new items of that law: exact for sums over labels, and for the entropy correlation from 200,000 virtual
items. Two laws: one Dirichlet, as uneven as natural language inference, and a mixture of two, clear and divided items.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from saturation.analyses.labels.exact import additive_statistic, entropies
from saturation.analyses.labels.label_curve import label_curve
from saturation.analyses.labels.model_draws import virtual_votes
from saturation.analyses.labels.model_sums import law_means
from saturation.analyses.labels.series import alpha_of
from saturation.analyses.n_star import crossing
from saturation.metrics.catalogue import metric
from saturation.populations import Population
from saturation.results import LabelCurveRow
from saturation.tables.panel import Votes
from tests.statistical.table import markdown, share

BUDGETS = (1, 2, 3, 5, 10, 20, 50, 100)
METRICS = ("kl", "jsd", "tvd", "brier", "entropy_correlation")
REFERENCE = 100
LAWS = {
    "one Dirichlet": Population("dirichlet", np.ones(1), np.array([[0.45, 0.35, 0.2]]), np.array([1.24])),
    "two Dirichlets": Population(
        "dirichlet_mixture",
        np.array([0.6, 0.4]),
        np.array([[0.85, 0.1, 0.05], [0.15, 0.45, 0.4]]),
        np.array([6.0, 5.0]),
    ),
}
WAYS = (("one Dirichlet", "dirichlet"), ("one Dirichlet", "auto"), ("two Dirichlets", "auto"))
"""Planted law, and the kind asked for."""
VOTES = (3, 5)
ITEMS = (200, 1000)
Q = 0.9
TRUTH_SEEDS = range(10)


@dataclass(frozen=True, slots=True)
class Key:
    """One number of a curve."""

    quantity: str
    metric: str
    budget: int | None


KEYS = tuple(
    [Key("value", name, n) for name in METRICS for n in (3, 10, 100)]
    + [Key("fraction", name, n) for name in ("kl", "jsd", "tvd", "entropy_correlation") for n in (3, 10)]
    + [Key(q, name, None) for name in ("kl", "entropy_correlation") for q in ("n_star", "n_star_interpolated")]
)


def truths(law: Population) -> dict[Key, float]:
    """Every number under the law itself."""
    curves = {name: np.array([_value(law, name, n) for n in BUDGETS]) for name in METRICS if name != METRICS[-1]}
    curves["entropy_correlation"] = _correlations(law)
    found: dict[Key, float] = {}
    for name, curve in curves.items():
        fraction = (curve[0] - curve) / (curve[0] - curve[-1])
        found |= {Key("value", name, n): float(curve[BUDGETS.index(n)]) for n in (3, 10, 100)}
        found |= {Key("fraction", name, n): float(fraction[BUDGETS.index(n)]) for n in (3, 10)}
        found[Key("n_star", name, None)] = float(BUDGETS[int(np.flatnonzero(fraction >= Q)[0])])
        at, _ = crossing(BUDGETS, fraction, Q)
        assert at is not None
        found[Key("n_star_interpolated", name, None)] = at
    return found


def _value(law: Population, name: str, budget: int) -> float:
    statistic = additive_statistic(metric(name), alpha_of(name, None, 3), 3)
    return float(law_means(law.laws, budget, REFERENCE, [statistic])[0, 0])


def _correlations(law: Population) -> np.ndarray:
    sums = np.zeros((5, len(BUDGETS)))
    for seed in TRUTH_SEEDS:
        votes = virtual_votes(law, 10_000 + seed, BUDGETS, REFERENCE)
        y = entropies(votes.reference, 0.0)
        x = np.stack([entropies(one, 0.0) for one in votes.targets])
        both = np.broadcast_to(y, x.shape)
        sums += np.stack([one.mean(axis=1) for one in (x, both, x * x, both * both, x * both)]) / len(TRUTH_SEEDS)
    x, y, xx, yy, xy = sums[:, 1:]
    return np.concatenate([[0.0], (xy - x * y) / np.sqrt((xx - x * x) * (yy - y * y))])


def pilot(law: Population, seed: int, n_items: int, n_votes: int) -> Votes:
    """Votes of fresh items."""
    rng = np.random.default_rng(seed)
    counts = np.array([rng.multinomial(n_votes, p) for p in law.sample(10**6 + seed, n_items)])
    return Votes(item_ids=tuple(f"{i:05d}" for i in range(n_items)), labels=("a", "b", "c"), counts=counts)


def study(law: Population, kind: str, seed: int, n_items: int, n_votes: int) -> tuple[dict[Key, LabelCurveRow], str]:
    """The rows asked for, and the kind of law that was chosen."""
    votes = pilot(law, seed, n_items, n_votes)
    given = {"metrics": METRICS, "budgets": BUDGETS, "estimator": "model", "population": kind, "q": [Q], "rng": seed}
    result = label_curve(votes, **given)
    rows = {Key(row.quantity, row.metric, row.budget): row for row in result.rows}
    note = next(one.message for one in result.notes if one.code == "model")
    kind = "one" if "a Dirichlet" in note else "points" if "alike" in note else "mixture"
    return {key: rows[key] for key in KEYS}, kind


def holds(row: LabelCurveRow, truth: float) -> bool | None:
    """Whether the interval holds the truth; None where there is none."""
    low, high = row.unc.low, row.unc.high
    if low is None and high is None:
        return None
    slack = 1e-9 * abs(truth)
    return (low is None or low <= truth + slack) and (high is None or truth <= high + slack)


Setting = tuple[str, str, int, int]
SETTINGS: tuple[Setting, ...] = tuple(
    (*way, n_votes, n_items) for way in WAYS for n_votes in VOTES for n_items in ITEMS
)
Studies = dict[Setting, list[tuple[dict[Key, LabelCurveRow], str]]]


def run(seeds: range, seconds: float) -> Studies:
    """Studies of all settings in turn, until there are enough or time is up."""
    done: Studies = {setting: [] for setting in SETTINGS}
    start = time.monotonic()
    for seed in seeds:
        for law, kind, n_votes, n_items in SETTINGS:
            if time.monotonic() - start > seconds:
                return done
            done[law, kind, n_votes, n_items].append(study(LAWS[law], kind, seed, n_items, n_votes))
    return done


def table(studies: Studies) -> Iterator[list[str]]:
    """A row a setting and number."""
    true = {name: truths(law) for name, law in LAWS.items()}
    for (law, kind, n_votes, n_items), done in studies.items():
        kinds = [chosen for _, chosen in done]
        chosen = ", ".join(f"{kinds.count(k)} {k}" for k in ("one", "mixture", "points") if k in kinds)
        for key in KEYS:
            line = judged([found[key] for found, _ in done], true[law][key])
            name = f"{key.quantity} {key.metric}" + (f" {key.budget}" if key.budget else "")
            yield [f"{law}, {kind}", str(n_votes), str(n_items), name, *line, chosen]


def judged(rows: list[LabelCurveRow], truth: float) -> list[str]:
    """Truth, bias, spread of the estimates, mean standard error, coverage."""
    held = [h for h in (holds(row, truth) for row in rows) if h is not None]
    values = [row.unc.estimate for row in rows if row.unc.estimate is not None]
    errors = [row.unc.se for row in rows if row.unc.se]
    return [
        f"{truth:.4g}",
        f"{np.mean(values) - truth:+.2g}" if values else "-",
        f"{np.std(values, ddof=1):.2g}" if len(values) > 1 else "-",
        f"{np.mean(errors):.2g}" if errors else "-",
        share(sum(held) / len(held)) if held else "-",
    ]


def pooled(studies: Studies) -> Iterator[list[str]]:
    """Coverage of every number by way and votes, pooled over items."""
    true = {name: truths(law) for name, law in LAWS.items()}
    for key in KEYS:
        line = [f"{key.quantity} {key.metric}" + (f" {key.budget}" if key.budget else "")]
        for law, kind in WAYS:
            for n_votes in VOTES:
                rows = [
                    found[key]
                    for setting, done in studies.items()
                    if setting[:3] == (law, kind, n_votes)
                    for found, _ in done
                ]
                held = [h for h in (holds(row, true[law][key]) for row in rows) if h is not None]
                line.append(f"{share(sum(held) / len(held))} ({sum(held)}/{len(held)})" if held else "-")
        yield line


HEADER = ["law, asked", "votes", "items", "number", "truth", "bias", "sd", "mean se", "coverage", "chosen"]


def main(arguments: list[str]) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="Seed of the first replication.")
    parser.add_argument("--minutes", type=float, default=90.0)
    given = parser.parse_args(arguments)
    studies = run(range(given.first, given.first + given.replications), given.minutes * 60)
    head = ["number", *(f"{law}, {kind}, {n} votes" for law, kind in WAYS for n in VOTES)]
    sys.stdout.write(markdown(head, pooled(studies)) + "\n\n" + markdown(HEADER, table(studies)) + "\n")
    sys.stdout.write(f"{min(map(len, studies.values()))} replications or more of every setting\n")


if __name__ == "__main__":
    main(sys.argv[1:])
