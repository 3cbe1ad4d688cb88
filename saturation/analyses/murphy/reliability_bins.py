"""Bins of a reliability diagram: what was forecast, what was observed, and how well that is known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from saturation.analyses.context import Sample
from saturation.analyses.murphy.family import Family
from saturation.conditions import Condition
from saturation.metrics.bins import bin_index
from saturation.metrics.murphy_pairs import pairs
from saturation.resampling import intervals
from saturation.results import ReliabilityBin
from saturation.typing import Floats, Ints


def reliability_bins(
    sample: Sample, condition: Condition, place: int, family: Family, *, name: str, level: float = 0.95
) -> Iterator[ReliabilityBin]:
    """Bins of one label's forecasts under one condition, all cells together; empty bins are left out.

    Parameters
    ----------
    sample
        Items and cells.
    condition, place
        The condition and its index in the sample.
    family
        The decomposition, of one label or the top one.
    name
        The label's name.
    level
        Coverage of the intervals of ``observed``.

    Notes
    -----
    An item counts once, with its sum over the cells that have it: the interval is that of a ratio of sums over
    items (linearised). The annotators' part is the variance of those sums when every vote is cast anew,
    n h (1 - h) / (n - 1) / n an item.
    """
    item, index, forecast, observed, of_votes = _columns(sample, place, family)
    for one in range(family.bins):
        inside = index == one
        if not inside.any():
            continue
        mean = float(observed[inside].mean())
        low, high = _interval(item[inside], observed[inside] - mean, mean, level)
        yield ReliabilityBin(
            condition=condition,
            outcome=family.outcome,
            label=name,
            lower=one / family.bins if family.binning == "width" else float(forecast[inside].min()),
            upper=(one + 1) / family.bins if family.binning == "width" else float(forecast[inside].max()),
            share=float(inside.mean()),
            forecast=float(forecast[inside].mean()),
            observed=mean,
            low=low,
            high=high,
            annotator_sd=_annotator_sd(item[inside], of_votes[inside]) if family.outcome != "majority" else None,
        )


def _columns(sample: Sample, place: int, family: Family) -> tuple[Ints, Ints, Floats, Floats, Floats]:
    """One row an item and cell: item, bin, forecast, observed, variance of the observed share over votes."""
    columns: list[tuple[Ints | Floats, ...]] = []
    totals = sample.human.counts.sum(axis=1)
    for probs, human, places in zip(sample.probs, sample.of_split(sample.human), sample.places, strict=True):
        given = pairs(probs[place], human, outcome="votes", label=family.label)
        seen = given
        if family.outcome == "majority":
            seen = pairs(
                probs[place], human, outcome="majority", label=family.label, ties=family.ties, seed=family.seed
            )
        for m, h, within in zip(given.forecast[:, 0], seen.observed[:, 0], given.within_corrected[:, 0], strict=True):
            index = bin_index(m, family.bins, "count" if family.binning == "count" else "width")
            columns.append((places, index, m, h, within / totals[places]))
    item, index, forecast, observed, of_votes = (np.concatenate(one) for one in zip(*columns, strict=True))
    return item, index, forecast, observed, of_votes


def _interval(item: Ints, deviations: Floats, mean: float, level: float) -> tuple[float | None, float | None]:
    """Interval of a mean over rows whose items come back in several cells."""
    moved = np.bincount(item, deviations)
    n_items = len(np.unique(item))
    if n_items < 2:
        return None, None
    se = float((n_items / (n_items - 1) * (moved**2).sum()) ** 0.5 / len(item))
    made = intervals.normal(mean, se, level, n_items - 1.0)
    return made.low, made.high


def _annotator_sd(item: Ints, of_votes: Floats) -> float | None:
    """The same votes serve every cell, so an item's rows move together: sums first, then squares."""
    if not np.isfinite(of_votes).all():
        return None
    moved = np.bincount(item, np.sqrt(of_votes))
    return float((moved**2).sum() ** 0.5 / len(item))
