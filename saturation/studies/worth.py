"""The part of a report about people in the models' place: human ceilings, and annotators that models are worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from saturation.metrics.catalogue import metric
from saturation.results import Result
from saturation.tables.panel import Panel, Votes

WORTH_BY = ("cross_entropy", "brier_vote", "tvd", "entropy_correlation")
"""A proper score of either kind, a distance, and whether a model knows where people disagree."""
_SHARED = ("level", "n_resamples", "rng", "ties", "bins", "threads")


def worth_jobs(
    votes: Votes, panel: Panel | None, common: Mapping[str, Any], *, own_metrics: bool
) -> dict[str, Callable[[], Result[Any]]]:
    """``equivalents`` of the models where there are any, and ``ceiling``; neither where no metric allows it.

    Parameters
    ----------
    votes, panel
        As in a report.
    common
        Options of the report: metrics, level, n_resamples, rng, ties, bins, threads, with a panel also floor.
    own_metrics
        Whether the metrics are the report's own, so that models are compared with crowds by what is usual for that.
    """
    from saturation.analyses.worth.ceiling import ceiling
    from saturation.analyses.worth.equivalents import equivalents

    shared = {name: common[name] for name in (*_SHARED, "floor") if name in common}
    names = drawn_fast(common["metrics"])
    jobs: dict[str, Callable[[], Result[Any]]] = {}
    worth_by = WORTH_BY if own_metrics else names
    if panel is not None and worth_by:
        jobs["equivalents"] = lambda: equivalents(panel, metrics=worth_by, **shared)
    if names:
        jobs["ceiling"] = lambda: ceiling(votes if panel is None else panel, metrics=names, **shared)
    return jobs


def drawn_fast(names: Sequence[str]) -> tuple[str, ...]:
    """Metrics with a better side that are functions of means; ranks, drawn many times, take too long for a page."""
    return tuple(name for name in names if metric(name).direction != "none" and metric(name).features is not None)
