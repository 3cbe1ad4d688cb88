"""Murphy's terms of a population: bins of forecasts are summed over all simulated items before anything is squared.

Corrected terms estimate the terms of infinitely many items with infinitely many votes, in the same fixed bins.
"""

from __future__ import annotations

import numpy as np

BINS = 10
TERMS = ("rel", "res", "unc")


def bin_sums(probs: np.ndarray, population: np.ndarray) -> np.ndarray:
    """(labels, bins, 3) share of the items in each bin (a, b] of each label's forecasts, and sums of m and of p there.

    Sums are over the number of items, so that they are averages over batches of items.
    """
    edges = np.linspace(0, 1, BINS + 1)
    size, n_labels = probs.shape
    sums = np.empty((n_labels, BINS, 3))
    for label in range(n_labels):
        which = np.maximum(np.searchsorted(edges, probs[:, label], side="left") - 1, 0)
        for place, values in enumerate((np.ones(size), probs[:, label], population[:, label])):
            sums[label, :, place] = np.bincount(which, values, minlength=BINS) / size
    return sums


def terms(sums: np.ndarray) -> dict[str, float]:
    """REL, RES and UNC against single votes, summed over labels.

    Examples
    --------
    One label, two bins of equal shares, forecasts .2 and .6, population .1 and .7: REL .01, RES .3^2, UNC .4 .6.

    >>> found = terms(np.array([[[0.5, 0.1, 0.05], [0.5, 0.3, 0.35]]]))
    >>> {name: round(value, 6) for name, value in found.items()}
    {'rel': 0.01, 'res': 0.09, 'unc': 0.24}
    """
    share, of_forecast, of_population = np.moveaxis(sums, -1, 0)
    used = np.where(share > 0, share, 1.0)
    forecast, population = of_forecast / used, of_population / used
    overall = of_population.sum(axis=1)
    return {
        "rel": float((share * (forecast - population) ** 2).sum()),
        "res": float((share * (population - overall[:, None]) ** 2).sum()),
        "unc": float((overall * (1 - overall)).sum()),
    }


def of_runs(sums: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(terms,) means over runs (runs, labels, bins, 3) of the terms of each."""
    return np.array([[terms(one)[name] for name in TERMS] for one in sums]).T @ weights
