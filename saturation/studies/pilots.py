"""What a small pilot foresees: in a report on votes alone, where there are few of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from saturation.metrics.catalogue import metric
from saturation.results import Result
from saturation.tables.panel import Votes

FEW = 5
"""Most votes an item of a small pilot; with more, the votes themselves say something."""


def pilot_jobs(votes: Votes, options: Mapping[str, Any]) -> dict[str, Callable[[], Result[Any]]]:
    """The curve of a fitted law where 80% of the items have no more than 5 votes and a law can be fitted, else none.

    Parameters
    ----------
    votes
        The pilot.
    options
        Of the report's label-side curve; reference, budgets and the choice of items do not matter here.
    """
    from saturation.analyses.labels.label_curve import label_curve
    from saturation.analyses.labels.plan import reached
    from saturation.populations import unfit

    totals = votes.counts.sum(axis=1)
    names = [name for name in options["metrics"] if _foreseeable(name)]
    if not names or not (totals > 0).any() or reached(totals[totals > 0]) > FEW or unfit(votes.counts) is not None:
        return {}
    own = {name: value for name, value in options.items() if name not in ("metrics", "budgets", "reference", "ragged")}
    return {"pilot": lambda: label_curve(votes, metrics=names, estimator="model", **own)}


def _foreseeable(name: str) -> bool:
    """Whether a fitted law has a value for it: means over items, and the entropy correlation."""
    return name == "entropy_correlation" or metric(name).kind == "item"
