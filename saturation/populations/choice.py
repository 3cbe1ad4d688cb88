"""Which law: by the likelihood of the votes of items that were left out.

Items, not votes, are left out. The question is about other items, and n votes of an item say something about the
moments of the law up to order n only; leaving votes out would judge laws by fewer of these moments than the final fit
uses, and an overfitted law on the very items that it was fitted to. No rule can judge what n votes do not show: how
the law behaves beyond order n. So a simpler and smoother law wins unless another is better by more than a standard
error, and mixtures of points, which say that many items are exactly alike, come last.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from saturation.populations.laws import Laws, mixed, row_likelihoods
from saturation.populations.mixtures import STARTS, Kind, fit_mixture, fit_one, starts
from saturation.populations.steps import Steps
from saturation.streams import Purpose, uniforms
from saturation.typing import Floats

FOLDS = 5
_FOLD_STREAM = 1 << 40
CANDIDATES: tuple[tuple[Kind, int], ...] = (
    ("dirichlet", 1),
    ("dirichlet_mixture", 2),
    ("dirichlet_mixture", 3),
    ("multinomial_mixture", 2),
    ("multinomial_mixture", 3),
    ("multinomial_mixture", 4),
    ("multinomial_mixture", 5),
)
"""Simple and smooth first."""


def identifiable(steps: Steps, candidates: tuple[tuple[Kind, int], ...]) -> tuple[tuple[Kind, int], ...]:
    """The candidates without more parameters than the votes can tell apart; the simplest always stays.

    n votes for K labels have C(n + K - 1, n) outcomes; n is the number of votes that most items reach.
    """
    n_labels, votes = len(steps.labels), int(np.median(steps.totals[steps.item_row]))
    most = comb(votes + n_labels - 1, votes) - 1
    return candidates[:1] + tuple(one for one in candidates[1:] if _parameters(*one, n_labels) <= most)


def _parameters(kind: Kind, components: int, n_labels: int) -> int:
    own = n_labels - 1 if kind == "multinomial_mixture" else n_labels
    return components * (own + 1) - 1


@dataclass(frozen=True, slots=True)
class Candidate:
    """A law with its score on items left out.

    Attributes
    ----------
    kind, components
        What it is.
    held_out
        Mean log likelihood of an item's votes, nats, up to a constant of the votes.
    behind, behind_se
        How much worse than the best, and the standard error of that difference over items.
    """

    kind: Kind
    components: int
    held_out: float
    behind: float
    behind_se: float


def choose(
    steps: Steps, seed: int, candidates: tuple[tuple[Kind, int], ...]
) -> tuple[Candidate, tuple[Candidate, ...]]:
    """The first candidate that is not worse than the best by more than one standard error, and all of them."""
    n_items, n_rows = len(steps.item_row), len(steps.totals)
    fold = (uniforms(seed, Purpose.POPULATION, _FOLD_STREAM + np.arange(n_items), np.arange(1)) * FOLDS).astype(int)
    out = np.bincount(fold * n_rows + steps.item_row, minlength=FOLDS * n_rows).reshape(FOLDS, n_rows) * 1.0
    kept = steps.weights - out
    scores = [_held_out(steps, kept, kind, components, seed) for kind, components in candidates]
    means = [float((out * one).sum() / n_items) for one in scores]
    best = int(np.argmax(means))
    judged = []
    for (kind, components), score, mean in zip(candidates, scores, means, strict=True):
        gap = scores[best] - score
        behind = means[best] - mean
        spread = float((out * (gap - behind) ** 2).sum() / max(n_items - 1, 1))
        judged.append(Candidate(kind, components, mean, behind, (spread / n_items) ** 0.5))
    chosen = next(one for one in judged if one.behind <= one.behind_se)
    return chosen, tuple(judged)


def _held_out(steps: Steps, kept: Floats, kind: Kind, components: int, seed: int) -> Floats:
    """(folds, rows) log likelihood of rows under the law of the other folds."""
    laws = fitted(steps, kept, kind, components, seed)
    return mixed(row_likelihoods(laws, steps), laws.weights)


def fitted(steps: Steps, weights: Floats, kind: Kind, components: int, seed: int) -> Laws:
    """The likeliest laws for weights (fits, rows), each the best of several starts."""
    base = fit_one(steps, weights).laws
    if components == 1:
        return base
    points = kind == "multinomial_mixture"
    first = starts(steps, fit_one(steps, steps.weights[None]).laws, components, seed, points=points)
    n_fits = len(weights)
    tried = fit_mixture(
        steps,
        np.repeat(weights, STARTS, axis=0),
        Laws(*(np.concatenate([one] * n_fits) for one in (first.weights, first.means, first.spreads))),
        points=points,
    )
    best = tried.log_likelihood.reshape(n_fits, STARTS).argmax(axis=1) + np.arange(n_fits) * STARTS
    return Laws(tried.laws.weights[best], tried.laws.means[best], tried.laws.spreads[best])
