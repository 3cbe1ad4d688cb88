"""Bias of corrected scores against that of plain ones: ``python -m tests.statistical.bias``.

Scores are compared with those against the population of the same items under the same predictions, so that the items'
own spread cancels. Entropies are what all corrections of KL and of entropy differences rest on: E KL(h, m) is
KL(p, m) + H(p) - E H(h), whatever the model.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import entr

from saturation.metrics.corrections import brier_corrected, entropy_bias_corrected, kl_corrected
from saturation.metrics.distance import brier
from saturation.metrics.divergence import kl
from saturation.metrics.entropy import entropy_bias
from saturation.streams import Purpose, word
from tests.statistical.table import markdown

N_VOTES = (5, 7, 9, 10, 11, 15, 20, 50, 100)
N_ITEMS = 200_000
POPULATIONS = {
    "3 labels, as in the study": 1.24 * np.array([0.5, 0.2, 0.3]),
    "2 labels, even": np.ones(2),
    "3 labels, even": np.ones(3),
    "3 labels, none clear": 5 * np.ones(3),
    "5 labels": 0.6 * np.ones(5),
    "10 labels, mostly clear": np.array([1.0] + [0.05] * 9),
    "10 labels, even": np.ones(10),
}


@dataclass(frozen=True, slots=True)
class Bias:
    """Mean error of plain and corrected scores against the population's, with standard errors."""

    population: str
    metric: str
    n_votes: int
    plain: float
    plain_se: float
    corrected: float
    corrected_se: float

    @property
    def ratio(self) -> float:
        """What is left of the bias."""
        return abs(self.corrected / self.plain)

    @property
    def ratio_se(self) -> float:
        """Its standard error, that of the denominator being small."""
        return self.corrected_se / abs(self.plain)


def biases(n_items: int = N_ITEMS, seed: int = 0) -> Iterator[Bias]:
    """Every population, metric and number of votes."""
    for rank, (name, concentration) in enumerate(POPULATIONS.items()):
        for n_votes in N_VOTES:
            rng = np.random.Generator(np.random.Philox(key=word(seed, Purpose.SIMULATE, rank, n_votes)))
            yield from _of_one(rng, name, concentration, n_votes, n_items)


def _of_one(
    rng: np.random.Generator, name: str, concentration: np.ndarray, n_votes: int, n_items: int
) -> Iterator[Bias]:
    population = np.clip(rng.dirichlet(concentration, n_items), 1e-12, None)
    population /= population.sum(axis=1, keepdims=True)
    probs = 0.7 * population + 0.3 * population.mean(axis=0)
    counts = rng.multinomial(n_votes, population)
    truths = {
        "brier": ((population - probs) ** 2).sum(axis=1),
        "kl": (population * np.log(population / probs)).sum(axis=1),
        "entropy_bias": entr(probs).sum(axis=1) - entr(population).sum(axis=1),
    }
    made = {
        "brier": (brier(probs, counts), brier_corrected(probs, counts)),
        "kl": (kl(probs, counts), kl_corrected(probs, counts)),
        "entropy_bias": (entropy_bias(probs, counts), entropy_bias_corrected(probs, counts)),
    }
    for metric, (plain, corrected) in made.items():
        errors = [scores - truths[metric] for scores in (plain, corrected)]
        found = [value for one in errors for value in (one.mean(), one.std() / n_items**0.5)]
        yield Bias(name, metric, n_votes, *map(float, found))


def table(found: Iterable[Bias]) -> str:
    """As Markdown: what is left of the plain score's bias, a row a population and score, a column a number of votes.

    Standard errors stand behind the row, the largest of its columns.
    """
    rows: dict[tuple[str, str], list[Bias]] = {}
    for one in found:
        rows.setdefault((one.population, one.metric), []).append(one)
    head = ("items", "score", *(f"{votes} votes" for votes in N_VOTES), "error", "plain bias, first and last")
    return markdown(head, [_line(*key, cells) for key, cells in rows.items()])


def _line(population: str, metric: str, cells: list[Bias]) -> Sequence[str]:
    error = max(one.ratio_se for one in cells)
    plain = f"{cells[0].plain:.4f}, {cells[-1].plain:.4f}"
    return population, metric, *(f"{one.ratio:.3f}" for one in cells), f"{error:.3f}", plain


if __name__ == "__main__":
    sys.stdout.write(table(biases()) + "\n")
