"""Data under which a null hypothesis is true by construction, or false by a known amount."""

from __future__ import annotations

import numpy as np
from scipy.special import entr, softmax

from tests.statistical import model

LAWS = ("normal", "skewed", "whole numbers")
"""Of differences: the second is an exponential less its mean, the third has ties and half of its values 0."""


def differences(rng: np.random.Generator, law: str, shape: tuple[int, ...], effect: float = 0.0) -> np.ndarray:
    """Independent differences with standard deviation 1 and mean ``effect``."""
    if law == "normal":
        return rng.standard_normal(shape) + effect
    if law == "skewed":
        return rng.exponential(1.0, shape) - 1 + effect
    drawn = rng.choice(np.arange(-2.0, 3.0), shape, p=(0.05, 0.2, 0.5, 0.2, 0.05))
    return drawn / 0.8**0.5 + effect  # variance 2 (.05 4 + .2 1) = .8


def crossed(rng: np.random.Generator, shape: tuple[int, int, int], item_sd: float, cell_sd: float) -> np.ndarray:
    """(replications, items, cells) differences: item + cell + rest of standard deviation 1."""
    replications, items, cells = shape
    rest = rng.standard_normal(shape)
    of_item, of_cell = rng.standard_normal((replications, items, 1)), rng.standard_normal((replications, 1, cells))
    return rest + item_sd * of_item + cell_sd * of_cell


def overlapping_cells(rng: np.random.Generator, replications: int, effect: float = 0.0) -> np.ndarray:
    """(replications, 9) differences of 3 splits x 3 seeds: 100 items each out of the same 300."""
    of_item = rng.standard_normal((replications, 300)) + effect
    cells = []
    for _ in range(3):
        chosen = rng.random((replications, 300)).argsort(axis=1)[:, :100]
        shared = np.take_along_axis(of_item, chosen, axis=1).mean(axis=1)
        cells += [shared + rng.standard_normal(replications) / 10 for _ in range(3)]
    return np.stack(cells, axis=1)


def random_splits(rng: np.random.Generator, replications: int, n_splits: int, pool: int, n_test: int) -> np.ndarray:
    """(replications, splits) loss of learner a less that of b, trained and tested on random parts of one pool.

    Each learner predicts the mean of its own feature in the training part; the two features are exchangeable, so that
    neither learner is better.
    """
    features = rng.standard_normal((2, replications, pool))
    splits = []
    for _ in range(n_splits):
        order = rng.random((replications, pool)).argsort(axis=1)
        test, train = order[:, :n_test], order[:, n_test:]
        losses = []
        for feature in features:
            centre = np.take_along_axis(feature, train, axis=1).mean(axis=1, keepdims=True)
            losses.append(((np.take_along_axis(feature, test, axis=1) - centre) ** 2).mean(axis=1))
        splits.append(losses[0] - losses[1])
    return np.stack(splits, axis=1)


def normal_triples(rng: np.random.Generator, replications: int, n: int, gain: float = 0.0) -> np.ndarray:
    """(3, replications, items) h, a, b with r(h, a) = .5 + gain, r(h, b) = .5 and errors correlated at .5."""
    h, shared, own_a, own_b = rng.standard_normal((4, replications, n))
    errors = [(shared + own) / 2**0.5 for own in (own_a, own_b)]
    made = [r * h + (1 - r**2) ** 0.5 * error for r, error in zip((0.5 + gain, 0.5), errors, strict=True)]
    return np.stack([h, *made])


def entropy_triples(rng: np.random.Generator, replications: int, n: int) -> np.ndarray:
    """(3, replications, items) entropies of annotators and of two exchangeable models: bounded and skewed."""
    _, population = model.draw_items(rng, replications * n)
    seen = model.evidence(rng, population)
    own = [softmax(seen + 0.6 * rng.standard_normal(seen.shape), axis=1) for _ in range(2)]
    return np.stack([entr(p).sum(axis=1).reshape(replications, n) for p in (population, *own)])
