"""Where the annotators' part of an interval comes from: ``python -m tests.statistical.crowd``.

Studies whose votes come from one crowd of A people with habits; the truth is about new items and a new crowd. For
means of item scores four standard errors are compared with the spread of the estimates:

``items``: as if votes were independent. ``weights``: what ``evaluate`` does from 20 annotators on, random weights on
them. ``deletions``: V_items + V_A, V_A the delete-one-annotator jackknife, df A - 1. ``less shared``:
max(V_items + V_A - V_e, V_items), V_e the part of V_A that is the votes' own noise within items, which V_items holds
already: with psi_ia what deleting annotator a does to the score of item i,

    V_A = (A-1)/A sum_a (D_a - mean D)^2, D_a = sum_i psi_ia / I,    V_e = (A-1)/A sum_ia (psi_ia - mean psi_i)^2 / I^2.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from saturation.analyses.evaluate import evaluate
from saturation.metrics.distance import brier
from saturation.metrics.divergence import kl
from saturation.metrics.entropy import entropy_bias
from saturation.tables.panel import Panel
from tests.statistical import model, truth
from tests.statistical.settings import Setting
from tests.statistical.table import markdown, share
from tests.statistical.truth import truths

METRICS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "brier": brier,
    "kl": kl,
    "entropy_bias": entropy_bias,
}
STUDIES = ((100, 5, 30), (1500, 5, 30), (500, 5, 150), (500, 20, 40))
"""Items, votes an item, people."""
REPLICATIONS = 150
WAYS = ("items", "weights", "deletions", "less shared")


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A mean score with the parts of its variance."""

    estimate: float
    items: float
    annotators: float
    shared: float


def parts(scores: Callable[[np.ndarray, np.ndarray], np.ndarray], probs: np.ndarray, panel: Panel) -> Parts:
    """All of one mean; items have equal numbers of votes."""
    counts, ballots = panel.votes.counts, panel.votes.ballots
    assert ballots is not None
    n_items, n_people = len(counts), len(ballots.annotator_ids)
    label = ballots.label.reshape(n_items, -1)
    own = scores(probs, counts)
    moved = np.zeros(label.shape)
    for k in range(counts.shape[1]):
        has = counts[:, k] > 0
        without = counts[has] - np.eye(counts.shape[1], dtype=np.int64)[k]
        change = np.zeros(n_items)
        change[has] = scores(probs[has], without) - own[has]
        moved += (label == k) * change[:, None]
    of_person = np.bincount(ballots.annotator, moved.ravel(), minlength=n_people) / n_items
    growth = (n_people - 1) / n_people
    return Parts(
        estimate=float(own.mean()),
        items=float(own.var(ddof=1) / n_items),
        annotators=float(growth * ((of_person - of_person.mean()) ** 2).sum()),
        shared=float(growth * ((moved - moved.mean(axis=1, keepdims=True)) ** 2).sum() / n_items**2),
    )


def half_widths(found: Parts, n_items: int, n_people: int) -> dict[str, float]:
    """Half of each 95% interval: t with Satterthwaite's degrees of freedom."""
    both = found.items + found.annotators
    ways = {"items": (found.items, 0.0), "deletions": (both, found.annotators)}
    ways["less shared"] = (max(both - found.shared, found.items), found.annotators)
    made = {}
    for way, (variance, people) in ways.items():
        df = variance**2 / (found.items**2 / (n_items - 1) + people**2 / (n_people - 1))
        made[way] = float(special.stdtrit(max(df, n_people - 1), 0.975) * variance**0.5)
    return made


def compare(n_items: int, n_votes: int, n_people: int, replications: int, seed: int = 0) -> Iterator[Sequence[str]]:
    """Rows of the table for one size of study."""
    setting = Setting(n_items, n_votes, 1, annotators=True, new_runs=False)
    at = truth.EVALUATED_CONDITION
    true = truths(n_votes, new_runs=False)
    errors: dict[str, list[float]] = {metric: [] for metric in METRICS}
    halves: dict[str, list[list[float]]] = {metric: [] for metric in METRICS}
    for replication in range(replications):
        panel = model.study(seed, setting, replication, n_people)
        one = replace(panel, conditions=panel.conditions[at : at + 1], probs=(panel.probs[0][at : at + 1],))
        rows = {row.metric: row.unc for row in evaluate(one, metrics=tuple(METRICS), threads=1).rows}
        for metric, scores in METRICS.items():
            found = parts(scores, one.probs[0][0, 0], panel)
            made = half_widths(found, n_items, n_people)
            made["weights"] = (rows[metric].high - rows[metric].low) / 2
            errors[metric].append(found.estimate - true[f"evaluate {metric}"].value)
            halves[metric].append([made[way] for way in WAYS])
    for metric in METRICS:
        error, half = np.array(errors[metric]), np.array(halves[metric])
        covered = (np.abs(error)[:, None] <= half).mean(axis=0)
        wide = half.mean(axis=0) / 1.96 / error.std()
        cells = [f"{share(float(c))} ({w:.2f})" for c, w in zip(covered, wide, strict=True)]
        yield str(n_items), str(n_votes), str(n_people), metric, f"{error.std():.4f}", *cells


def main() -> None:
    """Print the table."""
    rows = [row for study in STUDIES for row in compare(*study, REPLICATIONS)]
    head = ("items", "votes", "people", "score", "sd of estimates", *WAYS)
    sys.stdout.write(markdown(head, rows) + "\n")


if __name__ == "__main__":
    main()
