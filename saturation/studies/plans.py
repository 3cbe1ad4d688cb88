"""The part of a report about money: what to buy for the next evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from saturation.errors import UsageError
from saturation.results import PlanResult
from saturation.studies.baseline_contests import contests
from saturation.tables.panel import Panel, Votes

COSTS = ("cost_per_vote", "cost_per_item", "total")
OF_MODELS = ("kl", "brier", "tvd", "entropy_correlation")
"""Metrics of a plan for the difference of two models; the first two are means over votes then."""


def plan_job(
    votes: Votes, panel: Panel | None, costs: Mapping[str, float], *, level: float, seed: int
) -> Callable[[], PlanResult]:
    """A plan to tell the first comparison of the report apart; for its only model, or for the labels alone.

    Parameters
    ----------
    votes, panel
        As in a report.
    costs
        ``cost_per_vote``, ``cost_per_item`` and ``total``.
    level, seed
        Of the plan.
    """
    from saturation.analyses.planning.plan import plan

    missing = [name for name in COSTS if name not in costs]
    if missing or len(costs) > len(COSTS):
        raise UsageError(f"a plan needs {', '.join(COSTS)}, and nothing else; given are {', '.join(costs)}")
    pairs = [] if panel is None else contests(panel.conditions)
    common: dict[str, Any] = {**costs, "level": level, "rng": seed}
    if panel is not None and pairs:
        a, b = pairs[0]
        return lambda: plan(panel, a=a, b=b, metrics=OF_MODELS, **common)
    return lambda: plan(panel if panel is not None and len(panel.conditions) == 1 else votes, **common)
