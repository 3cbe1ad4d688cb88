"""Bins of forecasts, the same everywhere: which bin a value falls in, and what a bin holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from saturation.errors import UsageError
from saturation.typing import Floats, Ints

Binning = Literal["width", "count", "quantile"]


@dataclass(frozen=True, slots=True, eq=False)
class BinTable:
    """What each bin holds; empty bins are there, with ``n`` 0 and NaN means.

    Attributes
    ----------
    lower, upper
        (bins,) edges (a, b]; for ``count`` the smallest and largest member, NaN where empty.
    n
        (bins,) items; they sum to the number of items.
    forecast, outcome
        (bins,) means.
    index
        (items,) the bin of every item.
    """

    lower: Floats
    upper: Floats
    n: Ints
    forecast: Floats
    outcome: Floats
    index: Ints


def bin_index(values: Floats, bins: int = 10, binning: Binning = "width") -> Ints:
    """The bin of every value, 0 to bins - 1, over the last axis.

    Parameters
    ----------
    values
        (..., items) forecasts in [0, 1].
    bins
        Number of bins.
    binning
        ``width``: edges linspace(0, 1, bins + 1), (a, b], 0 in the first. ``count``: stable ascending sort cut into
        equal parts (larger parts first); a group of equal values goes whole to the bin where it begins, so that row
        order cannot matter. ``quantile``: as width, with numpy's quantiles of the values as edges.

    Returns
    -------
    (..., items) int64.

    Examples
    --------
    >>> import numpy as np
    >>> bin_index(np.array([0.0, 0.1, 0.11, 1.0]), 10).tolist()
    [0, 0, 1, 9]
    >>> bin_index(np.array([0.3, 0.3, 0.3, 0.9]), 2, "count").tolist()
    [0, 0, 0, 1]
    """
    if bins < 1:
        raise UsageError(f"bins must be at least 1, not {bins}")
    if binning == "width":
        inner = np.linspace(0.0, 1.0, bins + 1)[1:-1]
        return np.asarray(np.searchsorted(inner, values, side="left"), dtype=np.int64)
    if binning == "quantile":
        inner = _quantile_edges(values, bins)[1:-1]
        return np.asarray((values[..., None, :] > np.moveaxis(inner, 0, -1)[..., None]).sum(axis=-2), dtype=np.int64)
    if binning == "count":
        return _equal_count(values, bins)
    raise UsageError(f"unknown binning {binning!r}; choose width, count or quantile")


def bin_table(forecast: Floats, outcome: Floats, bins: int = 10, binning: Binning = "width") -> BinTable:
    """Bins of one forecast with their means: what reliability diagrams draw and Murphy's terms are made of.

    Parameters
    ----------
    forecast, outcome
        (items,) values in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> table = bin_table(np.array([0.1, 0.2, 0.9]), np.array([0.0, 1.0, 1.0]), bins=2)
    >>> table.n.tolist(), table.outcome.tolist()
    ([2, 1], [0.5, 1.0])
    """
    index = bin_index(forecast, bins, binning)
    n = np.bincount(index, minlength=bins)
    lower, upper = _edges(forecast, index, bins, binning)
    return BinTable(
        lower=lower,
        upper=upper,
        n=n.astype(np.int64),
        forecast=_bin_means(forecast, index, n),
        outcome=_bin_means(outcome, index, n),
        index=index,
    )


def _bin_means(values: Floats, index: Ints, n: Ints) -> Floats:
    sums = np.bincount(index, weights=values, minlength=len(n))
    return np.asarray(np.divide(sums, n, out=np.full(len(n), np.nan), where=n > 0))


def _edges(values: Floats, index: Ints, bins: int, binning: Binning) -> tuple[Floats, Floats]:
    if binning == "width":
        edges = np.linspace(0.0, 1.0, bins + 1)
        return edges[:-1], edges[1:]
    if binning == "quantile":
        edges = _quantile_edges(values, bins)
        return edges[:-1], edges[1:]
    lower, upper = np.full(bins, np.inf), np.full(bins, -np.inf)
    np.minimum.at(lower, index, values)
    np.maximum.at(upper, index, values)
    empty = np.isinf(lower)
    return np.where(empty, np.nan, lower), np.where(empty, np.nan, upper)


def _quantile_edges(values: Floats, bins: int) -> Floats:
    """(bins + 1, ...) quantiles over the last axis."""
    return np.asarray(np.quantile(values, np.linspace(0.0, 1.0, bins + 1), axis=-1))


def _equal_count(values: Floats, bins: int) -> Ints:
    n = values.shape[-1]
    order = np.argsort(values, axis=-1, kind="stable")
    ranked = np.take_along_axis(values, order, axis=-1)
    begins = np.ones(values.shape, dtype=bool)
    begins[..., 1:] = ranked[..., 1:] != ranked[..., :-1]
    start = np.maximum.accumulate(np.where(begins, np.arange(n), 0), axis=-1)
    sizes = n // bins + (np.arange(bins) < n % bins)
    bin_of_position = np.repeat(np.arange(bins), sizes)
    index = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(index, order, bin_of_position[start], axis=-1)
    return index
