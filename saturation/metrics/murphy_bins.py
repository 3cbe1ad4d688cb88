"""Murphy's terms from sums over bins: of the full sample, of a resample, and without each item.

Bins are fixed by the full sample; a resample changes the sums only, and deleting an item only those of its own bin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from saturation.errors import UsageError
from saturation.metrics.bins import bin_index
from saturation.metrics.murphy_pairs import OutcomeName, Pairs
from saturation.typing import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Binned:
    """Pairs cut into bins: all that a resample of items needs.

    Attributes
    ----------
    outcome, bins
        What is forecast, and how many bins there are.
    index
        (..., rows, items) the bin of every item.
    features
        (..., rows, features, items) what is summed over the items of a bin: 1, m, h, m^2, m h, h^2 (m and h less
        their means, for precision), the item's score, and the variance of a vote, plain and corrected.
    forecast_mean, observed_mean
        (..., rows) means of the full sample.
    """

    outcome: OutcomeName
    bins: int
    index: Ints
    features: Floats
    forecast_mean: Floats
    observed_mean: Floats


def binned(given: Pairs, *, bins: int = 10, binning: Literal["width", "count"] = "width") -> Binned:
    """Cut forecasts into bins, label by label."""
    if binning not in ("width", "count"):
        raise UsageError(f"unknown binning {binning!r}; choose width, count or isotonic")
    m, h = given.forecast, given.observed
    index = bin_index(m, bins, binning)
    m_mean, h_mean = m.mean(axis=-1), h.mean(axis=-1)
    x, y = m - m_mean[..., None], h - h_mean[..., None]
    score = (m - h) ** 2 + given.within
    columns = (np.ones(m.shape), x, y, x * x, x * y, y * y, score, given.within, given.within_corrected)
    return Binned(given.outcome, bins, index, np.stack(columns, axis=-2), m_mean, h_mean)


def bin_sums(cut: Binned) -> Floats:
    """(..., rows, features, bins) sums over the items of every bin, in item order."""
    lead = cut.index.shape[:-1]
    n_rows = int(np.prod(lead))
    cell = (cut.index + cut.bins * np.arange(n_rows).reshape(*lead, 1)).ravel()
    summed = [
        np.bincount(cell, cut.features[..., f, :].ravel(), n_rows * cut.bins) for f in range(cut.features.shape[-2])
    ]
    return np.stack([one.reshape(*lead, cut.bins) for one in summed], axis=-2)


def bins_used(cut: Binned) -> int:
    """Bins that hold items, in the row (label, model) that fills fewest."""
    return int((bin_sums(cut)[..., 0, :] > 0).sum(axis=-1).min())


def terms(sums: Floats, cut: Binned, *, fixed_forecasts: bool = False) -> Floats:
    """Terms from sums over bins.

    Parameters
    ----------
    sums
        (..., rows, features, bins) of the full sample or of a resample.
    cut
        The bins they belong to.
    fixed_forecasts
        See :func:`murphy.decompose`.

    Returns
    -------
    (..., rows, terms) in the order of :func:`murphy.term_names`.
    """
    shift = cut.forecast_mean - cut.observed_mean
    total = _parts(sums, shift).sum(axis=-1)
    return _terms(total, cut.outcome, cut.observed_mean, fixed_forecasts)


def leave_one_out(cut: Binned, *, fixed_forecasts: bool = False) -> Floats:
    """Terms without each item, bins as they are: (..., rows, terms, items).

    Only the item's own bin changes, so this costs no more than the terms themselves.
    """
    sums = bin_sums(cut)
    shift = (cut.forecast_mean - cut.observed_mean)[..., None]
    whole = _parts(sums, shift[..., 0]).sum(axis=-1)
    own = np.take_along_axis(sums, np.broadcast_to(cut.index[..., None, :], cut.features.shape), axis=-1)
    before, after = _parts(own, shift[..., 0]), _parts(own - cut.features, shift[..., 0])
    total = np.moveaxis(whole[..., None] - before + after, -1, -2)  # (..., rows, items, parts)
    return np.moveaxis(_terms(total, cut.outcome, cut.observed_mean[..., None], fixed_forecasts), -1, -2)


def _parts(sums: Floats, shift: Floats) -> Floats:
    """(..., features, bins) -> (..., parts, bins): what adds up over bins; the sums themselves come first."""
    n, x, y, xx, xy, yy = (sums[..., f, :] for f in range(6))
    inverse = np.divide(1.0, n, out=np.zeros(n.shape), where=n > 0.5)
    gap = x - y + shift[..., None] * n
    squares = yy - y * y * inverse
    several = n > 1.5
    variance = np.where(several, squares / np.where(several, n - 1, 1.0), 0.0)
    more = (
        gap * gap * inverse,
        y * y * inverse,
        xx - x * x * inverse,
        xy - x * y * inverse,
        squares,
        variance,
        n * variance,
        np.where((n > 0.5) & ~several, 1.0, 0.0),
        np.where(n > 0.5, 1.0, 0.0),
    )
    return np.concatenate([sums, np.stack(more, axis=-2)], axis=-2)


def _terms(total: Floats, outcome: OutcomeName, observed_mean: Floats, fixed_forecasts: bool) -> Floats:
    """(..., parts) sums over all bins -> (..., terms)."""
    parts = np.moveaxis(total, -1, 0)
    n, _, y, _, _, yy, score, within, within_corrected = parts[:9]
    gaps, between, within_m, within_mh, squares, variances, sized, singles, filled = parts[9:]
    mean = y / n
    variance = yy / n - mean * mean
    hbar = observed_mean + mean
    unc = hbar * (1 - hbar) if outcome == "votes" else variance
    rel, res = gaps / n, between / n - mean * mean
    pooled = _ratio(squares, n - filled)
    lone = np.where(singles > 0, singles * pooled, 0.0)
    noise = np.where(n > filled, (variances + lone) / n, np.nan)
    of_mean = (sized + lone) / (n * n) if fixed_forecasts else _ratio(variance, n - 1)
    core = (rel, res, unc, within_m / n, 2 * within_mh / n, score / n)
    fixed = (rel - noise, res - noise + of_mean, unc + of_mean)
    if outcome != "votes":
        return np.stack((*core, *fixed), axis=-1)
    irreducible = within_corrected / n
    split = (variance, within / n)
    return np.stack((*core, *split, *fixed, unc + of_mean - irreducible, irreducible), axis=-1)


def _ratio(over: Floats, under: Floats) -> Floats:
    return np.asarray(np.divide(over, under, out=np.full(np.shape(over), np.nan), where=under > 0.5))
