"""How close N votes an item come to the full crowd: the label-side saturation curve. No model is involved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from saturation.analyses.labels import exact as label_exact
from saturation.analyses.labels import model as label_model
from saturation.analyses.labels import monte_carlo as label_monte_carlo
from saturation.analyses.labels import scores as label_scores
from saturation.analyses.labels.monte_carlo import Draws
from saturation.analyses.labels.people import Crowd, Scores, additive_scores, listed_scores
from saturation.analyses.labels.plan import Plan, make_plan
from saturation.analyses.labels.rows import DESIGN, WITH_PEOPLE, rows_of
from saturation.analyses.labels.series import Alpha, Point, Series, alpha_of, root
from saturation.analyses.remarks import people
from saturation.errors import UsageError
from saturation.metrics.catalogue import DEFAULT_METRICS, metrics_of
from saturation.metrics.metric import Human, Metric
from saturation.populations import KINDS
from saturation.resampling.exact_states import Score
from saturation.results import LabelCurveResult, LabelCurveRow, Note
from saturation.streams import seed_of
from saturation.tables.panel import Votes
from saturation.typing import Ints

ENTROPY_RMSE = Metric(
    name="entropy_rmse",
    title="root mean squared entropy error",
    kind="set",
    direction="lower",
    order=1,
    range="[0, ln K]",
    formula="sqrt(mean over items of (H(m) - H(h))^2)",
)
"""Known on the label side only."""
INDEPENDENT = Note(
    "votes_independent",
    "votes of different items are drawn independently, which assumes that no annotator labels many items",
)
CROWD = "annotators_not_in_interval"
CROWD_TEXT = (
    "people here label several items each, and these intervals are about other items, not other people: with 30 to 150 "
    "people who differ, simulated 95% intervals of this kind held the truth in only 75% of studies"
)
DESIGNS_HERE = ("items", "annotators", "items x annotators")
CROWD_REASON = "other annotators are not in this interval"
REVERSE_NEEDS = (
    "infinite: N votes can hold a label that the other votes lack; use reverse_kl[smooth=1/K], or --reference all or "
    "plug_in"
)


def label_curve(
    votes: Votes,
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    budgets: Sequence[int] | None = None,
    reference: str = "disjoint",
    alpha: Alpha = None,
    q: Sequence[float] = (0.90, 0.95),
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
    ragged: str = "common",
    ties: str = "share",
    bins: int = 10,
    estimator: str = "data",
    population: str = "auto",
    reference_size: int | Literal["population"] | None = None,
    design: str | None = None,
    threads: int | None = None,
) -> LabelCurveResult:
    """Compare N votes of every item, playing the model, with a reference made of its votes.

    Means and variances over draws are exact wherever a metric is a sum over labels (or has few enough states to list
    them all); other metrics are drawn, and carry their Monte Carlo error.

    Parameters
    ----------
    votes
        The human side.
    metrics
        Names as in ``saturation metrics``, and ``entropy_rmse``; ``all`` for every one.
    budgets
        N; default: those of 1, 2, 3, 5, 10, 20, 50, 100 that the data allow.
    reference
        ``disjoint``: R other votes, the same R for every N (unbiased for fresh votes against fresh votes); ``rest``:
        all other votes; ``all``: all votes, the N among them (flattering); ``plug_in``: N votes with replacement
        from the observed shares, against those.
    alpha
        Votes added to every label of the target: None (kl 1/K, others none), ``none``, ``1/K`` or a number.
    q
        Shares of the gain from the smallest to the largest budget that N* is asked for.
    level
        Nominal coverage.
    n_resamples
        Most draws of Monte Carlo metrics (at most 400 are needed and used).
    rng
        Seed, or a generator that one is drawn from.
    ragged
        ``common``: the same items at every budget; ``per-budget``: each budget takes all items that reach it.
    ties
        Which of tied modes of the N votes count: ``share``, ``any``, ``first`` or ``last``.
    bins
        Bins of calibration errors.
    estimator
        ``data``: votes are drawn from those at hand; ``model``: from a law of items fitted to them, at any budget
        (for a pilot of 2 to 5 votes an item; see :func:`saturation.populations.fit_population`). Its intervals are
        about other items and hold what other laws would say that the votes do not rule out; they hold if one of these
        shapes is right, which on real sets it was not quite (``tests/statistical/README.md``).
    population
        Kind of that law: ``auto``, ``dirichlet``, ``dirichlet_mixture`` or ``multinomial_mixture``.
    reference_size
        R of ``estimator="model"``, or ``population``: the distribution that the votes are drawn from, as if
        all people had voted; None: 100.
    design
        What ``low``/``high`` redraw: ``items``, ``annotators`` or ``items x annotators``. None: items, and the
        annotators too where ids show that people label several items each.
    threads
        Threads; they change no number.

    Returns
    -------
    LabelCurveResult
        For each metric rows ``value``, ``shortfall`` and ``fraction`` a budget, and ``n_star`` and
        ``n_star_interpolated`` a q. ``low``/``high``: for other items (linearised t over items); ``draw_low``/
        ``draw_high``: for one actual collection of N votes on these items. Metrics that are drawn are about other items
        only and carry the reason that other annotators are not in their intervals.

    Raises
    ------
    UsageError
        For options that are unknown or out of range, and where no item has a vote.

    Examples
    --------
    Three items with 40 votes each; Brier against R other votes is mean s^2 (1/N + 1/R).

    >>> from saturation.tables.panel import Votes
    >>> counts = np.array([[20, 20], [30, 10], [36, 4]])
    >>> votes = Votes(item_ids=("x", "y", "z"), labels=("no", "yes"), counts=counts)
    >>> row = label_curve(votes, metrics=["brier"], budgets=[1, 20]).rows[0]
    >>> by_hand = (1 - ((counts / 40) ** 2).sum(axis=1)).mean() * 40 / 39 * (1 / 1 + 1 / 20)
    >>> row.reference_size, round(row.unc.estimate, 6), round(float(by_hand), 6)
    (20, 0.378718, 0.378718)
    """
    seed = seed_of(rng)
    chosen = _metrics(metrics, ties=ties, bins=bins, seed=seed)
    _check(level, n_resamples, q)
    alphas = tuple(alpha_of(one.name, alpha, len(votes.labels)) for one in chosen)
    draws = Draws(seed, min(n_resamples, label_monte_carlo.MAX_DRAWS), threads)
    notes: tuple[Note, ...] = ()
    if _by_model(estimator, population, reference, reference_size, ragged):
        fitted = label_model.model_curve(
            votes.counts,
            chosen,
            alphas,
            budgets=budgets,
            reference_size=reference_size,
            population=population,
            ties=ties,
            draws=draws,
        )
        plan, all_series, notes = fitted.plan, fitted.series, fitted.notes
    else:
        plan = make_plan(votes.counts, reference, budgets, ragged)
        job = _Job(votes.counts[plan.items], plan, _human(votes, plan), draws, ties, alphas)
        all_series = _all_series(chosen, job)
    meant = _design(design, votes, estimator)
    crowd = Crowd.of(votes, plan, meant) if meant != DESIGN and plan.budgets and estimator == "data" else None
    if crowd is not None:
        all_series = _with_people(all_series, chosen, job, crowd)
    rows: list[LabelCurveRow] = []
    for series in all_series:
        rows += rows_of(series, plan, len(votes.item_ids), q, level, crowd)
    rows = [_said(row) for row in rows] if meant != DESIGN else rows
    return LabelCurveResult(
        rows=tuple(rows),
        settings={
            "metrics": [one.name for one in chosen],
            "budgets": sorted([*plan.budgets, *plan.refused]),
            "reference": reference,
            "reference_size": plan.reference_size if reference_size is None else reference_size,
            "alpha": alpha,
            "q": list(q),
            "level": level,
            "n_resamples": n_resamples,
            "seed": seed,
            "design": meant,
            "ragged": ragged,
            "ties": ties,
            "bins": bins,
            "estimator": estimator,
            "population": population,
            "labels": list(votes.labels),
        },
        data=votes.summary,
        inputs=votes.inputs,
        notes=(*votes.notes, *plan.notes, *notes, *_people_notes(rows, votes, meant)),
    )


def _by_model(estimator: str, population: str, reference: str, reference_size: int | str | None, ragged: str) -> bool:
    """Whether a fitted law is asked for; options that mean nothing beside it are refused."""
    if estimator not in ("data", "model"):
        raise UsageError(f"unknown estimator {estimator!r}; choose data or model")
    if population not in KINDS:
        raise UsageError(f"unknown law {population!r}; choose {', '.join(KINDS)}")
    if estimator == "data":
        if reference_size is not None or population != "auto":
            raise UsageError("reference_size and population belong to estimator model; leave them out")
        return False
    if reference != "disjoint":
        raise UsageError(f"a fitted law compares with other votes (reference disjoint), not with {reference}")
    if ragged != "common":
        raise UsageError("a fitted law uses all items at every budget; ragged per-budget belongs to estimator data")
    return True


def _design(name: str | None, votes: Votes, estimator: str) -> str:
    """What intervals redraw; people where they label several items each, or where they are asked for."""
    people = 0 if votes.ballots is None else len(votes.ballots.annotator_ids)
    if name is None:
        return WITH_PEOPLE if votes.ballots is not None and len(votes.ballots.item) > people > 1 else DESIGN
    if name not in DESIGNS_HERE:
        raise UsageError(f"design is {name!r}; a label-side curve takes {', '.join(DESIGNS_HERE)}, or none")
    if name != DESIGN and people < 2:
        raise UsageError(f"design {name!r} needs the ids of two annotators or more; choose items")
    if name != DESIGN and estimator == "model":
        raise UsageError("a fitted law of items knows no annotators; choose design items, or estimator data")
    return name


def _said(row: LabelCurveRow) -> LabelCurveRow:
    """The row; where its interval leaves the people out, that is named."""
    if row.unc.interval in {"none", "exact"} or row.unc.design != DESIGN:
        return row
    reason = "; ".join(filter(None, (row.unc.reason, CROWD_REASON)))
    return replace(row, unc=replace(row.unc, reason=reason))


def _people_notes(rows: Sequence[LabelCurveRow], votes: Votes, design: str) -> Iterator[Note]:
    """Who voted, and whether votes count as independent: everywhere, or for some metrics."""
    if votes.ballots is None:
        yield INDEPENDENT
        return
    yield from people(votes.ballots, redrawn=design != DESIGN)
    blind = dict.fromkeys(row.metric for row in rows if CROWD_REASON in (row.unc.reason or ""))
    if blind:
        yield Note(CROWD, f"{', '.join(blind)}: {CROWD_TEXT}")


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """What every metric needs: counts of the union items, plan, human side, draws, tie rule, alpha a metric."""

    counts: Ints
    plan: Plan
    human: Human
    draws: Draws
    ties: str
    alphas: tuple[float, ...]


def _metrics(specs: Sequence[str], **shared: str | int | None) -> tuple[Metric, ...]:
    """Metrics in the asked order; ``entropy_rmse`` exists here only."""
    if isinstance(specs, str):
        raise UsageError(f"metrics is the text {specs!r}; give a list of names")
    twice = sorted({name for name in specs if list(specs).count(name) > 1})
    if twice:
        raise UsageError(f"metric given twice: {', '.join(twice)}")
    own = [name for name in specs if name != ENTROPY_RMSE.name]
    known = list(metrics_of(own, **shared)) if own or not specs else []
    if "all" in specs:
        known.append(ENTROPY_RMSE)
    elif len(own) < len(specs):
        known.insert(list(specs).index(ENTROPY_RMSE.name), ENTROPY_RMSE)
    return tuple(known)


def _check(level: float, n_resamples: int, q: Sequence[float]) -> None:
    if not 0 < level < 1:
        raise UsageError(f"level is {level}; give a number strictly between 0 and 1")
    if n_resamples < 2:
        raise UsageError(f"n_resamples is {n_resamples}; give at least 2")
    wrong = [share for share in q if not 0 < share < 1]
    if wrong:
        raise UsageError(f"q is {wrong[0]}; give shares strictly between 0 and 1")


def _human(votes: Votes, plan: Plan) -> Human:
    """The human side of set-level metrics: published majorities and the groups by ``source``."""
    majority = None if votes.majority is None else votes.majority[plan.items]
    groups = None
    if "source" in votes.groups:
        values = votes.groups["source"]
        names = sorted({value for value in values if value is not None})
        codes = {name: code for code, name in enumerate(names)}
        groups = np.array([-1 if values[i] is None else codes[values[i]] for i in plan.items], dtype=np.int64)
    return Human(votes.counts[plan.items], majority, groups, plan.items)


def _all_series(metrics: tuple[Metric, ...], job: _Job) -> list[Series]:
    """One series a metric, in order; metrics of one kind are computed together."""
    points: dict[int, Sequence[Point]] = _additive(metrics, job) | _by_states(metrics, job)
    points |= _correlations(metrics, job)
    rest = [index for index in range(len(metrics)) if index not in points]
    asked = [(metrics[index], job.alphas[index]) for index in rest]
    if asked:
        drawn = label_monte_carlo.set_points(job.counts, job.plan, job.draws, asked=asked, human=job.human)
        points |= dict(zip(rest, drawn, strict=True))
    return [
        Series(one.name, one.direction, job.alphas[index], tuple(points[index])) for index, one in enumerate(metrics)
    ]


def _with_people(all_series: Sequence[Series], metrics: tuple[Metric, ...], job: _Job, crowd: Crowd) -> list[Series]:
    """The series with what every vote changes in their points, where that can be summed or listed."""
    points = {index: series.points for index, series in enumerate(all_series)}
    for cumulative in (False, True):
        which = [i for i, one in enumerate(metrics) if one.term is not None and one.cumulative is cumulative]
        if which:
            scores = additive_scores([metrics[i] for i in which], [job.alphas[i] for i in which], job.counts.shape[1])
            points |= _scored(which, points, crowd, scores)
    for i, one in enumerate(metrics):
        if one is ENTROPY_RMSE or (one.kind == "item" and one.term is None):
            score, symmetric = _score(one, job.alphas[i], job.ties)
            scores = listed_scores([score], symmetric=symmetric)
            squared = one is ENTROPY_RMSE
            points |= {i: _of_root(points[i], crowd, scores)} if squared else _scored([i], points, crowd, scores)
        elif one.name == "entropy_correlation":
            points[i] = tuple(crowd.correlated(points[i], job.alphas[i]))
    return [replace(series, points=points[index]) for index, series in enumerate(all_series)]


def _scored(
    which: Sequence[int], points: dict[int, tuple[Point, ...]], crowd: Crowd, scores: Scores
) -> dict[int, tuple[Point, ...]]:
    found = crowd.scored([points[i] for i in which], scores)
    return {i: tuple(of_metric) for i, of_metric in zip(which, found, strict=True)}


def _of_root(points: Sequence[Point], crowd: Crowd, scores: Scores) -> tuple[Point, ...]:
    """Points that are roots of means of these scores: a root moves by the score's change over twice its value."""
    squares = [replace(one, estimate=one.estimate and one.estimate**2) for one in points]
    (found,) = crowd.scored([squares], scores)
    return tuple(
        replace(one, people=square.people / (2 * one.estimate)) if one.estimate and square.people is not None else one
        for one, square in zip(points, found, strict=True)
    )


def _additive(metrics: tuple[Metric, ...], job: _Job) -> dict[int, Sequence[Point]]:
    which = [index for index, one in enumerate(metrics) if one.term is not None]
    found: dict[int, Sequence[Point]] = {}
    for index in which:
        if _reverse_undefined(metrics[index], job.plan):
            found[index] = [Point(None, reason=REVERSE_NEEDS)] * len(job.plan.budgets)
    rest = [index for index in which if index not in found]
    computed = label_exact.additive_points(
        job.counts, job.plan, [metrics[i] for i in rest], [job.alphas[i] for i in rest], job.draws
    )
    return found | dict(zip(rest, computed, strict=True))


def _reverse_undefined(metric: Metric, plan: Plan) -> bool:
    raw = metric.name.partition("[")[0] == "reverse_kl" and metric.smooth is None
    return raw and plan.reference in ("disjoint", "rest")


def _by_states(metrics: tuple[Metric, ...], job: _Job) -> dict[int, Sequence[Point]]:
    """Item metrics without a term: all states where they can be listed, else draws."""
    which = [i for i, one in enumerate(metrics) if one is ENTROPY_RMSE or (one.kind == "item" and one.term is None)]
    scores = {i: _score(metrics[i], job.alphas[i], job.ties) for i in which}
    found: dict[int, Sequence[Point]] = {}
    for symmetric in (True, False):
        some = [i for i in which if scores[i][1] is symmetric]
        if not some:
            continue
        listed = label_exact.item_points(
            job.counts, job.plan, [scores[i][0] for i in some], job.draws, symmetric=symmetric
        )
        for i, points in zip(some, listed, strict=True):
            found[i] = [root(point) for point in points] if metrics[i] is ENTROPY_RMSE else points
    return found


def _score(metric: Metric, alpha: float, ties: str) -> tuple[Score, bool]:
    if metric is ENTROPY_RMSE:
        return label_scores.squared_entropy_error(alpha), True
    return label_scores.score_of(metric, alpha, ties)


def _correlations(metrics: tuple[Metric, ...], job: _Job) -> dict[int, Sequence[Point]]:
    return {
        index: label_exact.correlation_points(job.counts, job.plan, job.alphas[index], job.draws)
        for index, one in enumerate(metrics)
        if one.name == "entropy_correlation"
    }
