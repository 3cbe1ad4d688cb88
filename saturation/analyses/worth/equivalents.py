"""How many annotators a model is worth: the crowd that scores as the model does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from saturation.analyses.labels.plan import reached
from saturation.analyses.losses import floored_rows
from saturation.analyses.worth import words
from saturation.analyses.worth.combiner import NO_PRIOR, Combiner, other_items_prior, shared_prior
from saturation.analyses.worth.crossing import Track, Worth, worth_of
from saturation.analyses.worth.disjoint import disjoint_standings
from saturation.analyses.worth.drawn import NOBODY, Crowds
from saturation.analyses.worth.held_out import held_out_score
from saturation.analyses.worth.standing import Standing, item_standing, with_votes
from saturation.analyses.worth.values import uncertainty, value_of
from saturation.errors import UsageError
from saturation.metrics.catalogue import metrics_of
from saturation.metrics.metric import Metric
from saturation.results import Uncertainty
from saturation.results.equivalents import EquivalentsResult, EquivalentsRow
from saturation.streams import seed_of
from saturation.tables.panel import Panel
from saturation.typing import TieRule

DEFAULT_METRICS = ("cross_entropy", "brier_vote", "tvd", "jsd", "entropy_correlation")
TOO_FEW = "too few votes an item: no crowd can be formed of them beside votes that it is scored against"
NO_RISE = "more people do not score better by this metric, so it cannot say how many of them a model is worth"
DEFAULT_SIZES = (*range(1, 11), 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200)


def equivalents(
    panel: Panel,
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    budgets: Sequence[int] | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
    ties: TieRule = "share",
    floor: float = 1e-15,
    bins: int = 10,
    threads: int | None = None,
) -> EquivalentsResult:
    """How many annotators a model is worth: the size N of the crowd whose combined answer scores as the model does.

    The votes c of N annotators are combined to (c + A pi)/(N + A), pi the base rate of the other items and A what it is
    worth in votes. N = 0 is the base rate: a model that scores worse is worse than asking nobody.

    Model and crowd are scored against the same votes, none of them the crowd's. ``cross_entropy``, ``brier_vote``: one
    vote left out, averaged over every choice of it and of the crowd, exactly. ``kl`` and ``brier`` differ from these by
    what belongs to the votes alone, the same for model and crowd, so that a model is worth as much by them. All other
    metrics: R votes beside the crowd's, the same for model and crowd; exactly where the metric is a sum over labels
    (tvd, jsd ...), else drawn many times.

    Parameters
    ----------
    panel
        Votes and predictions of the same items. The items used are those with at least M votes, M the largest number
        that 80% of the items reach.
    metrics
        Catalogue names; those without a better side are refused.
    budgets
        Sizes of the crowds beside N = 0. None: 1 to 10 and on in steps, up to M - 1 against one vote left out, up to
        M // 2 against the R others. With annotator ids one vote less, so that each of them can be left out in turn.
    level
        Nominal coverage.
    n_resamples
        Draws of the votes where there is no exact way, at most 100.
    rng
        Seed of the draws, or a generator that one is drawn from.
    ties, floor, bins
        Shared options of the metrics.
    threads
        Threads to use; never changes a number.

    Returns
    -------
    EquivalentsResult
        A row ``equivalent`` a metric and condition, in annotators (not rounded); rows ``score`` and ``crowd`` in the
        metric's units are what it was read from, by interpolation on 1/(N + A). Its interval holds every N that the
        paired t test of model and crowd (over items, training seeds and, with ids, annotators; linearised)
        does not reject. ``censored``: ``below`` or ``above`` all crowds, then the estimate is null; so it is, with a
        reason, where the largest crowd scores no better than nobody (calibration errors: the base rate is calibrated).

    Raises
    ------
    UsageError
        For metrics without a better side, unknown options, or crowds larger than the votes allow.

    Notes
    -----
    The combiner is taken as it is: its intervals are about other items (and runs, and annotators), not about another
    pi and A. Where votes are drawn, other annotators are not in the interval; rows say so.
    In planted studies of 200 items the intervals held the number of people asked in .94 (one seed) and .98 (three
    seeds) of 4,800 cases each; with a crowd of 30 people who vote on many items in .95 by proper scores, .89 by tvd.

    References
    ----------
    Resnick, Kong, Schoenebeck and Weninger 2021, Survey equivalence: A procedure for measuring classifier accuracy
    against human labels, arXiv 2106.01254.

    Examples
    --------
    A model that has seen what other people would say:

    >>> from saturation.tables.builders import panel_from_arrays
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1.0, 1.0], size=300)
    >>> seen, counts = rng.multinomial(4, p), rng.multinomial(20, p)
    >>> panel = panel_from_arrays((seen + 1) / 6, counts)
    >>> row = [r for r in equivalents(panel, metrics=["cross_entropy"]).rows if r.quantity == "equivalent"][0]
    >>> row.unc.low < 4 < row.unc.high
    True
    """
    check_options(level, n_resamples)
    chosen = metrics_of(metrics, ties=ties, floor=floor, bins=bins)
    directed(chosen)
    seed = seed_of(rng)
    plan = _plan(panel, budgets)
    contests = _contests(plan, chosen, n_resamples, seed, threads)
    rows = tuple(row for one in contests for row in _rows(plan, one, level))
    settings: dict[str, Any] = {
        "metrics": [one.name for one in chosen],
        "budgets": None if budgets is None else sorted(set(budgets)),
        "combiner": "dirichlet",
        "strength": plan.strength,
        "level": level,
        "n_resamples": n_resamples,
        "seed": seed,
        "ties": ties,
        "floor": floor,
        "bins": bins,
        "labels": list(panel.votes.labels),
    }
    return EquivalentsResult(
        rows=rows,
        settings=settings,
        data=replace(panel.summary, floored=floored_rows(panel, chosen, floor)),
        inputs=panel.inputs,
        notes=(*panel.notes, *words.equivalents_notes(panel, plan.panel, chosen, plan.strength)),
    )


def directed(metrics: Sequence[Metric]) -> None:
    """Refuse metrics of which nobody can say which way is better."""
    for metric in metrics:
        if metric.direction == "none":
            raise UsageError(f"{metric.name} has no better side, so no crowd is as good as a model by it; leave it out")


def check_options(level: float, n_resamples: int) -> None:
    """Refuse a level or a number of draws that means nothing."""
    if not 0 < level < 1:
        raise UsageError(f"level is {level}; give a coverage between 0 and 1, such as 0.95")
    if n_resamples < 2:
        raise UsageError(f"n_resamples is {n_resamples}; give at least 2")


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """The items used, and the crowds of both kinds.

    Attributes
    ----------
    panel
        With the items used only.
    held_out
        Sizes against one vote left out.
    disjoint
        Sizes against ``reference_size`` other votes.
    strength
        A of all items together; None where there is no prior.
    """

    panel: Panel
    held_out: tuple[int, ...]
    disjoint: tuple[int, ...]
    reference_size: int
    strength: float | None


def _plan(panel: Panel, budgets: Sequence[int] | None) -> _Plan:
    most = reached(panel.votes.totals)
    used = with_votes(panel, most)
    spare = 1 if panel.votes.ballots is None else 2
    largest, half = max(most - spare, 0), (most + 1 - spare) // 2
    if budgets is not None:
        wanted = sorted(set(budgets))
        if not wanted or wanted[0] < 1:
            raise UsageError(f"budgets are {tuple(budgets)}; give sizes of crowds from 1")
        if wanted[-1] > largest:
            kept = "one vote must be left over" if spare == 1 else "two votes must be left over, one to leave out"
            raise UsageError(f"a crowd of {wanted[-1]} is too large: 80% of the items have {most} votes, and {kept}")
        half = wanted[-1]
    prior = shared_prior(used.votes.counts)
    sizes = DEFAULT_SIZES if budgets is None else tuple(wanted)
    return _Plan(
        panel=used,
        held_out=_grid(sizes, largest, all_the_way=budgets is None),
        disjoint=_grid(sizes, half, all_the_way=budgets is None),
        reference_size=most + 1 - spare - half,
        strength=None if prior is None else float(prior.strength[0]),
    )


def _grid(sizes: Sequence[int], largest: int, *, all_the_way: bool) -> tuple[int, ...]:
    """Nobody, the sizes that the votes allow, and where they are not asked for one by one, the largest there can be."""
    allowed = {0, *(n for n in sizes if n <= largest)}
    return tuple(sorted(allowed | ({largest} if all_the_way else set())))


@dataclass(frozen=True, slots=True, eq=False)
class _Contest:
    """One metric: models and crowds (None: the reason), the sizes of the crowds, and what they are scored against."""

    metric: Metric
    standing: Standing | None
    sizes: tuple[int, ...]
    reference: str
    reference_size: int | None
    reason: str | None = None


def _contests(plan: _Plan, metrics: Sequence[Metric], n_draws: int, seed: int, threads: int | None) -> list[_Contest]:
    """Models and crowds by every metric, in the order asked for."""
    others, shared = other_items_prior(plan.panel.votes.counts), shared_prior(plan.panel.votes.counts)
    found: dict[str, _Contest] = {}
    for kind, combiner in (("item", others), ("set", shared)):
        own = [one for one in metrics if one.kind == kind]
        if combiner is None:  # without two votes on some item there is no prior, so that with one there are votes left
            found |= {one.name: _Contest(one, None, (), "disjoint", None, NO_PRIOR) for one in own}
            continue
        linear = [one for one in own if held_out_score(one) is not None]
        for one in linear:
            standing = _held_out(plan, one, combiner)
            found[one.name] = _Contest(one, standing, plan.held_out, "held_out_vote", 1)
        drawn = [one for one in own if one not in linear]
        if plan.disjoint == (0,):
            found |= {one.name: _Contest(one, None, (), "disjoint", None, TOO_FEW) for one in drawn}
            continue
        crowds = Crowds(plan.disjoint, plan.reference_size, combiner)
        made = disjoint_standings(plan.panel, drawn, crowds, n_draws=n_draws, seed=seed, threads=threads)
        for one, standing in zip(drawn, made, strict=True):
            found[one.name] = _Contest(one, standing, plan.disjoint, "disjoint", plan.reference_size)
    return [found[one.name] for one in metrics]


def _held_out(plan: _Plan, metric: Metric, combiner: Combiner) -> Standing:
    score = held_out_score(metric)
    assert score is not None
    return item_standing(
        plan.panel,
        metric,
        lambda counts, items: np.stack([score(counts, combiner.take(items), size) for size in plan.held_out]),
        [f"infinite: a crowd of {size} gives 0 to a label that has votes" for size in plan.held_out],
    )


# --- rows -------------------------------------------------------------------------------------------------------------


def _rows(plan: _Plan, contest: _Contest, level: float) -> Iterator[EquivalentsRow]:
    def row(quantity: str, unc: Uncertainty, **more: Any) -> EquivalentsRow:
        return EquivalentsRow(
            quantity=quantity,
            metric=contest.metric.name,
            reference=contest.reference,
            reference_size=contest.reference_size,
            direction=contest.metric.direction,
            unc=unc,
            **more,
        )

    conditions, standing = plan.panel.conditions, contest.standing
    if standing is None:
        for condition in conditions:
            yield row("equivalent", Uncertainty(None, level=level, reason=contest.reason), condition=str(condition))
        return
    for model, condition in enumerate(conditions):
        worth, unc = _worth(plan, contest, standing, model, level)
        yield row(
            "equivalent",
            unc,
            condition=str(condition),
            mc_se=_mc_se(standing, worth),
            censored=None if worth is None else worth.censored,
        )
    for model, condition in enumerate(conditions):
        yield row(
            "score",
            value_of(standing, model, level, is_model=True),
            condition=str(condition),
            mc_se=standing.mc_se(standing.unit(model)),
        )
    for place, size in enumerate(contest.sizes):
        statistic = len(conditions) + place
        yield row(
            "crowd",
            value_of(
                standing,
                statistic,
                level,
                is_model=False,
                remark=NOBODY if size == 0 and standing.metric.is_correlation else None,
            ),
            crowd_size=size,
            mc_se=standing.mc_se(standing.unit(statistic)),
        )


def _worth(
    plan: _Plan, contest: _Contest, standing: Standing, model: int, level: float
) -> tuple[Worth | None, Uncertainty]:
    """What a model is worth, as a row has it."""
    first = len(plan.panel.conditions)
    needed = [model, *range(first, first + len(contest.sizes))]
    lost = next((standing.reasons[s] for s in needed if not np.isfinite(standing.estimates[s])), None)
    if lost is not None:
        return None, uncertainty(standing, None, level, reason=lost)
    track = Track(standing, model, tuple(needed[1:]), contest.sizes, plan.strength or 0.0, level)
    if not track.rises:
        return None, uncertainty(standing, None, level, reason=NO_RISE)
    worth = worth_of(track)
    reason = words.worth_reason(worth, contest.sizes[-1], standing)
    unc = uncertainty(
        standing,
        worth.estimate,
        level,
        low=worth.low,
        high=worth.high,
        interval="linearized_t" if worth.tested else "none",
        reason=reason,
    )
    return worth, unc


def _mc_se(standing: Standing, worth: Worth | None) -> float | None:
    """Of the annotators: that of the difference, by the slope of the curve."""
    if worth is None or worth.contrast is None or not worth.slope:
        return None
    found = standing.mc_se(worth.contrast)
    return None if found is None else found / abs(worth.slope)
