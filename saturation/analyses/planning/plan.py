"""How many items, and votes an item, to buy for an evaluation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saturation.analyses.planning.components import components_of
from saturation.analyses.planning.costs import Costs
from saturation.analyses.planning.notes import notes_of
from saturation.analyses.planning.rows import Entry, Field, rows_of
from saturation.analyses.planning.simulated import Simulated, simulate
from saturation.analyses.planning.spreads import Drawn, Linear, Optimum
from saturation.analyses.planning.subjects import FORECASTS, Subject, of_panel, of_votes
from saturation.conditions import Condition
from saturation.errors import UsageError
from saturation.metrics.catalogue import metrics_of
from saturation.metrics.metric import Metric
from saturation.results import PlanResult, PlanRow, Uncertainty
from saturation.streams import seed_of
from saturation.tables.panel import Panel, Votes

DEFAULT_METRICS = ("cross_entropy", "brier_vote", "tvd", "entropy_correlation")
TABLE_BUDGETS = (1, 2, 3, 5, 10, 20, 50, 100)
"""Votes an item in the tables, beside the optima."""
GRID = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100)
"""Votes an item at which a simulated metric is looked at, up to the largest number allowed."""
MOST_VOTES = 1000
RANKED = "a rank statistic: plans are for means over items and smooth functions of them"


def plan(
    pilot: Votes | Panel,
    *,
    cost_per_vote: float,
    cost_per_item: float,
    total: float,
    metrics: Sequence[str] = DEFAULT_METRICS,
    a: str | Condition | None = None,
    b: str | Condition | None = None,
    difference: float | None = None,
    max_votes: int | None = None,
    max_items: int | None = None,
    annotators: int | None = None,
    forecast: str | None = None,
    level: float = 0.95,
    rng: int | np.random.Generator = 0,
    floor: float = 1e-15,
    bins: int = 10,
) -> PlanResult:
    """Plan an evaluation: votes an item and items for each metric, and what they would show.

    The variance of a mean score over I items with N votes each is sigma_I^2 / I + sigma_V^2 / (I N) + sigma_A^2 / A.
    With I = total / (cost_per_item + N cost_per_vote) it is smallest at
    N = sqrt((sigma_V^2 / sigma_I^2) (cost_per_item / cost_per_vote)).

    Parameters
    ----------
    pilot
        Votes of a pilot, or votes with predictions of the models to be evaluated. Better with predictions: the best
        design depends on the model. Labels alone plan for the score of one other annotator.
    cost_per_vote, cost_per_item, total
        Prices and the money, in one currency; an item costs ``cost_per_item`` and its votes.
    metrics
        Catalogue names. Means over votes (cross_entropy, brier_vote, top_vote_share; for the difference of two models
        kl and brier too) have components; others are simulated from the law fitted to the pilot.
    a, b
        Conditions or selectors: the model to plan for, and a second one for the difference a - b.
    difference
        True difference that power is wanted for, in the metric's units; None: the pilot's own. Needs ``b``.
    max_votes
        Votes an item at most; None: those of the pilot's richest item. More is an extrapolation.
    max_items
        Items that there are.
    annotators
        People who will vote; None: as many as in the pilot. Needs annotator ids.
    forecast
        Labels alone: ``annotator`` (default) or ``base_rate``.
    level
        Nominal coverage of the planned intervals and of those of the plan itself.
    rng
        Seed of the picked votes and of simulations.
    floor, bins
        Shared options of the metrics.

    Returns
    -------
    PlanResult
        Rows ``optimum``, ``component`` (squared units of the metric), ``width`` (with the expected ``se``), ``bias``,
        ``floor``, ``difference``, ``power``, ``detectable`` and ``wrong_metric``. Intervals say how far the pilot
        leaves them open.

    Raises
    ------
    UsageError
        For costs that are not above 0, too little money for two items, and options that do not fit together.

    Notes
    -----
    sigma_V^2 holds what people differ by, as it is when every vote has a new person: with few people the middle term is
    too large by sigma_A^2 / (I N), next to sigma_A^2 / A nothing. Over simulated pilots the intervals of components and
    widths hold 95% of the time, from 90% (sigma_I^2 with 100 items) to 99% (sigma_A^2 with 150 people):
    tests/statistical/README.md.

    References
    ----------
    Cochran 1977, section 10.6 (optimum sampling fractions of two stages); Searle, Casella and McCulloch 1992; Zou and
    Donner 2008.

    Examples
    --------
    >>> from saturation.tables.builders import votes_from_counts
    >>> pilot = votes_from_counts([[3, 1], [0, 4], [2, 2], [4, 0], [1, 3], [4, 0]])
    >>> found = plan(pilot, cost_per_vote=0.1, cost_per_item=0.4, total=100, metrics=["brier_vote"])
    >>> best = found.rows[0]
    >>> best.quantity, best.budget, best.items  # 100 / (.4 + 4 * .1)
    ('optimum', 4, 125)
    """
    seed = seed_of(rng)
    panel = pilot if isinstance(pilot, Panel) else None
    votes = pilot.votes if isinstance(pilot, Panel) else pilot
    _check(panel is not None, level=level, b=b, difference=difference, forecast=forecast, named=a is not None)
    chosen = metrics_of(metrics, floor=floor, bins=bins)
    most_seen = votes.summary.votes_max
    costs = _costs(cost_per_vote, cost_per_item, total, most_seen if max_votes is None else max_votes, max_items)
    has_ids = votes.ballots is not None
    if annotators is not None and not has_ids:
        raise UsageError("annotators is given, but the pilot has no annotator ids to tell how people differ")
    n_people = (annotators or _n_people(votes)) if has_ids else None
    subject = of_votes(votes, forecast or FORECASTS[0], seed) if panel is None else of_panel(panel, a, b)
    settings = {
        "metrics": [one.name for one in chosen],
        "cost_per_vote": cost_per_vote,
        "cost_per_item": cost_per_item,
        "total": total,
        "a": None if a is None else str(a),
        "b": None if b is None else str(b),
        "difference": difference,
        "max_votes": costs.most_votes,
        "max_items": max_items,
        "annotators": n_people,
        "forecast": subject if isinstance(subject, str) else subject.forecast,
        "level": level,
        "seed": seed,
        "floor": floor,
        "bins": bins,
        "labels": list(votes.labels),
    }
    data = votes.summary if panel is None else panel.summary
    if isinstance(subject, str):
        settings["forecast"] = forecast or FORECASTS[0]
        rows = tuple(_undefined(one, level, subject) for one in chosen)
        return PlanResult(rows=rows, settings=settings, data=data, inputs=pilot.inputs, notes=pilot.notes)
    entries = _entries(subject, chosen, costs, level, seed)
    best = {one.optimum.budget for one in entries if isinstance(one.optimum, Optimum)}
    table = tuple(sorted({n for n in TABLE_BUDGETS if n <= costs.most_votes} | best))
    field = Field(subject, costs, level, table, most_seen, n_people, difference)
    return PlanResult(
        rows=tuple(rows_of(field, entries)),
        settings=settings,
        data=data,
        inputs=pilot.inputs,
        notes=(*notes_of(subject, () if panel is None else panel.conditions, entries, costs), *pilot.notes),
    )


# --- what was asked for -----------------------------------------------------------------------------------------------


def _check(
    with_models: bool,
    *,
    level: float,
    b: str | Condition | None,
    difference: float | None,
    forecast: str | None,
    named: bool,
) -> None:
    if not 0.5 < level < 1:
        raise UsageError(f"level is {level:g}; give a number above 0.5 and below 1")
    if not with_models and (named or b is not None):
        raise UsageError("a and b name models, but there are no predictions: add them (--predictions)")
    if with_models and forecast is not None:
        raise UsageError("forecast is for labels alone; with predictions the models forecast")
    if forecast is not None and forecast not in FORECASTS:
        raise UsageError(f"unknown forecast {forecast!r}; choose one of {', '.join(FORECASTS)}")
    if difference is not None and b is None:
        raise UsageError("a difference is given without b: power needs two models, a and b")
    if difference is not None and not 0 < abs(difference) < float("inf"):
        raise UsageError(f"the difference is {difference:g}; give the size of a true difference, not 0")


def _costs(vote: float, item: float, total: float, most_votes: int, most_items: int | None) -> Costs:
    for name, value in (("cost_per_vote", vote), ("cost_per_item", item), ("total", total)):
        if not 0 < value < float("inf"):
            hint = "; where items cost next to nothing, give a very small cost" if name == "cost_per_item" else ""
            raise UsageError(f"{name} is {value:g}; give a number above 0{hint}")
    if not 1 <= most_votes <= MOST_VOTES:
        raise UsageError(f"max_votes is {most_votes}; give a number from 1 to {MOST_VOTES}")
    if most_items is not None and most_items < 2:
        raise UsageError(f"max_items is {most_items}; an interval needs at least 2 items")
    costs = Costs(vote=vote, item=item, total=total, most_votes=most_votes, most_items=most_items)
    if not len(costs.budgets()):
        raise UsageError(f"a total of {total:g} does not pay for two items with one vote each ({2 * (item + vote):g})")
    return costs


def _n_people(votes: Votes) -> int:
    assert votes.ballots is not None
    return len(votes.ballots.annotator_ids)


# --- what each metric says --------------------------------------------------------------------------------------------


def _entries(subject: Subject, chosen: Sequence[Metric], costs: Costs, level: float, seed: int) -> list[Entry]:
    """Every metric; means over votes come first, since the others are looked at their optima too."""
    linear = {one.name: _linear(subject, one, costs, level) for one in chosen if subject.is_linear(one)}
    best = {one.optimum.budget for one in linear.values() if isinstance(one.optimum, Optimum)}
    wanted = {n for n in (*GRID, *TABLE_BUDGETS, *best, costs.most_votes) if n <= costs.most_votes}
    drawn = _drawn(subject, [one for one in chosen if one.name not in linear], tuple(sorted(wanted)), seed)
    found = linear | {one.name: _of_drawn(one, drawn[one.name], costs, level) for one in chosen if one.name in drawn}
    return [found[one.name] for one in chosen]


def _linear(subject: Subject, metric: Metric, costs: Costs, level: float) -> Entry:
    parts = components_of(subject.vote_scores(metric))
    if isinstance(parts, str):
        return Entry(metric, parts, parts)
    spread = Linear(parts, level)
    return Entry(metric, spread, spread.optimum(costs))


def _drawn(
    subject: Subject, metrics: Sequence[Metric], budgets: tuple[int, ...], seed: int
) -> dict[str, Simulated | str]:
    """Metrics that are no means over votes, simulated; or the reason why one is not."""
    reason = _no_law(subject)
    possible = [one for one in metrics if one.features is not None and reason is None]
    told: dict[str, Simulated | str] = {one.name: reason or RANKED for one in metrics}
    if possible:
        names = [one.name for one in possible]
        told |= dict(zip(names, simulate(subject, possible, budgets, seed), strict=True))
    return told


def _of_drawn(metric: Metric, found: Simulated | str, costs: Costs, level: float) -> Entry:
    if isinstance(found, str):
        return Entry(metric, found, found)
    spread = Drawn(found, level)
    if all(spread.variance(n) is None for n in found.budgets):
        undefined = (
            f"undefined, or without noise, at every number of votes up to {found.budgets[-1]}: {metric.undefined}"
        )
        return Entry(metric, undefined, undefined)
    return Entry(metric, spread, spread.optimum(costs))


def _no_law(subject: Subject) -> str | None:
    """Why no law of label distributions can be fitted to the pilot."""
    if subject.n_items < 3:
        return "fewer than three items: nothing to simulate from"
    if (subject.pilot.sum(axis=1) < 2).all():
        return "no item has two votes, so that no law of label distributions can be fitted: ask for a second vote"
    return None


def _undefined(metric: Metric, level: float, reason: str) -> PlanRow:
    return PlanRow(quantity="optimum", metric=metric.name, unc=Uncertainty(None, level=level, reason=reason))
