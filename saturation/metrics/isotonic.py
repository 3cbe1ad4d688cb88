"""Isotonic recalibration: the closest non-decreasing function of a forecast, ties of the forecast pooled first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.typing import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Isotonic:
    """A fit, with the items in an order that does not depend on how they came.

    Attributes
    ----------
    order
        (items,) the items by forecast, then outcome; sums made in this order have the same bits for any row order.
    fitted
        (items,) recalibrated forecasts, in the order of the rows.
    levels
        Number of distinct recalibrated values.
    """

    order: Ints
    fitted: Floats
    levels: int


def isotonic(forecast: Floats, outcome: Floats) -> Isotonic:
    """Least-squares isotonic regression of the outcome on the forecast (pool adjacent violators).

    Parameters
    ----------
    forecast, outcome
        (items,)

    Returns
    -------
    Isotonic

    References
    ----------
    Dimitriadis, Gneiting and Jordan 2021, "Stable reliability diagrams for probabilistic classifiers", PNAS 118.

    Examples
    --------
    >>> import numpy as np
    >>> isotonic(np.array([0.2, 0.2, 0.6, 0.9]), np.array([1.0, 0.0, 0.25, 1.0])).fitted.round(3).tolist()
    [0.417, 0.417, 0.417, 1.0]
    """
    from scipy.optimize import isotonic_regression

    order = np.lexsort((outcome, forecast))
    ranked = forecast[order]
    begins = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    sizes = np.diff(np.append(begins, len(ranked)))
    means = np.add.reduceat(outcome[order], begins) / sizes
    found = isotonic_regression(means, weights=sizes.astype(np.float64))
    fitted = np.empty(len(forecast))
    fitted[order] = np.repeat(found.x, sizes)
    return Isotonic(order=np.asarray(order, dtype=np.int64), fitted=fitted, levels=len(found.blocks) - 1)
