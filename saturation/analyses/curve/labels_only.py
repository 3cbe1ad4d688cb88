"""Is the learner slower than its labels? Model fractions against the label-only curve of the same metric.

For correlations, accuracy and the like no power of N is expected, so their fractions are compared with what N votes
alone would do: targets drawn with replacement from the item's own votes against those votes (``plug_in``, so that every
model budget exists). Both fractions start at the smallest budget and end at the same largest one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.crowd import Moves
from saturation.analyses.curve.curves import SMALLEST, Curve
from saturation.analyses.curve.label_people import label_moves, model_moves
from saturation.analyses.curve.study import Study, fieller_columns, numbers
from saturation.analyses.fractions import Fraction
from saturation.analyses.joint import Joint
from saturation.analyses.labels import exact as label_exact
from saturation.analyses.labels import monte_carlo as label_monte_carlo
from saturation.analyses.labels.monte_carlo import Draws
from saturation.analyses.labels.plan import Plan, make_plan
from saturation.analyses.labels.scores import score_of
from saturation.analyses.labels.series import Point
from saturation.analyses.losses import humans, sign
from saturation.analyses.redrawn import of_design
from saturation.errors import UsageError
from saturation.metrics.metric import Human, Metric
from saturation.resampling.designs import DESIGNS
from saturation.resampling.linearized import Covariance, Influence, covariance
from saturation.results import CurveRow
from saturation.tables.panel import Panel
from saturation.typing import EstimatorName, Floats, Ints

REFERENCE = "plug_in"
MONTE_CARLO_DRAWS = 100
PEOPLE_OF_ONE_SIDE = "other annotators are in the model's side of this interval only"
ITEM_METRICS = ("accuracy", "top_vote_share")


@dataclass(frozen=True, slots=True, eq=False)
class _Both:
    """Losses of the model's budgets, then of the labels' budgets, with their joint uncertainty.

    ``design``: what intervals of the labels alone redraw; ``of_one_side``: whether the model's side alone knows people.
    """

    joint: Joint
    size: int
    estimators: tuple[EstimatorName, ...]
    convention: str | None
    design: str
    of_one_side: bool

    def pair(self, at: int, *, labels: bool) -> tuple[Floats, Floats]:
        """The contrasts l_smallest - l_N and l_smallest - l_largest of one side."""
        start = self.size if labels else 0
        unit = np.eye(2 * self.size)[start : start + self.size]
        return unit[0] - unit[at], unit[0] - unit[-1]


def compares_with_labels(metric: Metric) -> bool:
    """Whether a metric's saturation is judged against the labels' own."""
    return metric.direction != "none" and (metric.is_correlation or metric.family in ITEM_METRICS)


def label_rows(study: Study, panel: Panel, ties: str, seed: int, threads: int | None) -> Iterator[CurveRow]:
    """``label_value``, ``label_fraction`` and ``contrast_labels`` of every curve and metric that has them."""
    draws = Draws(seed, MONTE_CARLO_DRAWS, threads)
    known: dict[tuple[int, tuple[int, ...]], list[list[Point]] | str] = {}
    about_people = "annotators" in DESIGNS[study.design].redraws
    for curve in study.curves:
        if not curve.is_curve:
            continue
        budgets = tuple(numbers(curve.budgets))
        for rank, metric in enumerate(study.metrics):
            if not compares_with_labels(metric):
                continue
            if (rank, budgets) not in known:
                known[rank, budgets] = _points(panel, metric, budgets, ties, draws)
            points = known[rank, budgets]
            if isinstance(points, str):
                yield study.row(curve, metric, "label_value", study.nothing(points))
                continue
            people = label_moves(panel, metric, budgets, points, ties) if about_people else None
            yield from _value_rows(study, curve, metric, points, panel, people)
            moved = None if people is None else model_moves(panel, metric, curve.members, threads).beside(people)
            both = _both(study, panel, curve, rank, points, moved)
            if isinstance(both, str):
                yield study.row(curve, metric, "contrast_labels", study.nothing(both), baseline=SMALLEST)
            else:
                yield from _contrast_rows(study, curve, metric, both)


def _points(panel: Panel, metric: Metric, budgets: Sequence[int], ties: str, draws: Draws) -> list[list[Point]] | str:
    """Points [split][budget] of the label-only curve, or the reason why there are none."""
    found = []
    for human in humans(panel):
        counts = np.asarray(human.counts, dtype=np.int64)
        plan = make_plan(counts, REFERENCE, budgets, "common")
        side = human.take(plan.items)
        try:
            found.append(_of_split(counts[plan.items], plan, metric, ties, draws, side))
        except UsageError as refused:
            return str(refused)
    return found


def _of_split(  # noqa: PLR0917
    counts: Ints, plan: Plan, metric: Metric, ties: str, draws: Draws, human: Human
) -> list[Point]:
    if metric.name == "entropy_correlation":
        return label_exact.correlation_points(counts, plan, 0.0, draws, spread=False)
    if metric.kind == "set":
        return label_monte_carlo.set_points(counts, plan, draws, asked=[(metric, 0.0)], human=human)[0]
    score, symmetric = score_of(metric, 0.0, ties)
    return label_exact.item_points(counts, plan, [score], draws, symmetric=symmetric)[0]


def _value_rows(  # noqa: PLR0917
    study: Study,
    curve: Curve,
    metric: Metric,
    points: Sequence[Sequence[Point]],
    panel: Panel,
    people: Moves | None,
) -> Iterator[CurveRow]:
    """The label-only curve itself, a mean over the curve's own cells."""
    for at, budget in enumerate(curve.budgets):
        of_split = [one[at] for one in points]
        lost = next((p for p in of_split if p.estimate is None), None)
        if lost is not None:
            unc = replace(study.nothing(str(lost.reason)), estimator=lost.estimator, design="items")
        else:
            one = _labels_influence(panel, metric, [[p] for p in of_split])
            spread = covariance(one)
            if people is not None:
                spread = of_design(people.only([at]).added_to(spread), DESIGNS[study.design])
            made = spread.interval(float(one.estimates[0]), np.ones(1), study.joint.level)
            low, high = study.natural(made, sign(metric))
            unc = study.unc(
                sign(metric) * float(one.estimates[0]),
                low=low,
                high=high,
                interval=made.method,
                estimator=of_split[0].estimator,
                design=_design(study, people),
                n_resamples=of_split[0].n_resamples,
                reason=_value_reason(of_split),
            )
        yield study.row(curve, metric, "label_value", unc, budget=budget)


def _design(study: Study, people: Moves | None) -> str:
    """What intervals of the labels alone redraw: there are no training seeds on their side."""
    if people is None:
        return "items"
    return "items x annotators" if "items" in DESIGNS[study.design].redraws else "annotators"


def _value_reason(of_split: Sequence[Point]) -> str:
    """What the labels are compared with, and the Monte Carlo error of the mean over splits where they are drawn."""
    text = f"{REFERENCE} reference: N votes with replacement against the item's own votes"
    errors = [point.mc_se for point in of_split if point.mc_se is not None]
    return f"{text}; Monte Carlo error {sum(errors) / len(of_split):.2g} at most" if errors else text


def _both(  # noqa: PLR0917
    study: Study,
    panel: Panel,
    curve: Curve,
    rank: int,
    points: Sequence[Sequence[Point]],
    moved: Moves | None,
) -> _Both | str:
    """Model and labels on the same cells, or the reason why they cannot be compared."""
    metric = study.metrics[rank]
    reason = study.losses.reason(rank, *curve.members)
    if reason is not None:
        return reason
    for point in (p for one in points for p in one):
        if point.estimate is None and point.counts_as is None:
            return f"labels alone: {point.reason}"
        if point.estimate is not None and point.influence is None:
            return "labels alone: no influence values for this metric"
    labels = _labels_influence(panel, metric, points)
    rows = [study.losses.index(rank, m) for m in curve.members]
    model = study.losses.influence
    joined = Influence(
        estimates=np.concatenate([model.estimates[rows], labels.estimates]),
        cells=tuple(np.concatenate([a[rows], b]) for a, b in zip(model.cells, labels.cells, strict=True)),
        values=tuple(np.concatenate([a[rows], b]) for a, b in zip(model.values, labels.values, strict=True)),
        items_of_split=model.items_of_split,
        n_items=model.n_items,
    )
    if moved is None:
        spread = _of_one_side(study.joint.covariance, covariance(joined), rows)
    else:
        spread = moved.added_to(covariance(joined))
    spread = of_design(spread, DESIGNS[study.design])
    joint = Joint(joined.estimates, spread, None, study.joint.level, study.joint.seed)
    return _Both(
        joint,
        len(rows),
        tuple(p.estimator for p in points[0]),
        _convention(points[0][0], curve),
        design=_design(study, moved),
        of_one_side=moved is None and bool(spread.annotators.any()),
    )


def _of_one_side(known: Covariance, spread: Covariance, rows: Sequence[int]) -> Covariance:
    """With the annotators' part of the model's losses (rows) alone, beside labels that have none."""
    return replace(
        spread,
        annotators=_of_model(known.annotators, rows),
        annotators_df=known.annotators_df,
        within=None if known.within is None else _of_model(known.within, rows),
        within_df=known.within_df,
    )


def _of_model(part: Floats, rows: Sequence[int]) -> Floats:
    """A part of the covariance of the model's losses (rows), beside labels that have none."""
    out = np.zeros((2 * len(rows), 2 * len(rows)))
    out[: len(rows), : len(rows)] = part[np.ix_(rows, rows)]
    return out


def _convention(first: Point, curve: Curve) -> str | None:
    if first.counts_as is None:
        return None
    return f"r of the labels alone at N = {curve.budgets[0]} is undefined (constant) and counts as {first.counts_as:g}"


def _labels_influence(panel: Panel, metric: Metric, points: Sequence[Sequence[Point]]) -> Influence:
    """The label-only losses as statistics on the panel's cells: the same for every seed of a split."""
    cells, values = [], []
    for one, seeds, items in zip(points, panel.seeds, panel.items_of_split, strict=True):
        estimates = np.array([p.counts_as if p.estimate is None else p.estimate for p in one], dtype=np.float64)
        moves = [np.zeros(len(items)) if p.estimate is None or p.influence is None else p.influence for p in one]
        shape = (len(one), len(seeds))
        cells.append(sign(metric) * np.broadcast_to(estimates[:, None], shape))
        values.append(sign(metric) * np.repeat(np.stack(moves)[:, None, :], len(seeds), axis=1))
    whole = np.concatenate(cells, axis=1).mean(axis=1)
    return Influence(whole, tuple(cells), tuple(values), panel.items_of_split, len(panel.votes.item_ids))


def _contrast_rows(study: Study, curve: Curve, metric: Metric, both: _Both) -> Iterator[CurveRow]:
    """``label_fraction`` and f_model - f_labels at every budget, with bands over the budgets."""
    last = both.size - 1
    sides = [
        [both.joint.fraction(*both.pair(at, labels=labels)) for at in range(both.size)] for labels in (False, True)
    ]
    for budget, made, estimator in zip(curve.budgets, sides[1], both.estimators, strict=True):
        reason = "; ".join(filter(None, (made.reason, both.convention))) or None
        unc = replace(study.fraction(made), estimator=estimator, design=both.design, n_resamples=None, reason=reason)
        columns = fieller_columns(made)
        yield study.row(curve, metric, "label_fraction", unc, budget=budget, baseline=SMALLEST, **columns)
    lost = next((f for side in sides for f in side if f.estimate is None), None)
    if lost is not None:
        unc = study.nothing(_which(sides, lost))
        yield study.row(curve, metric, "contrast_labels", unc, baseline=SMALLEST)
        return
    found = {
        at: both.joint.difference(both.pair(at, labels=False), both.pair(at, labels=True)) for at in range(1, last)
    }
    critical = both.joint.critical([slope for _, slope in found.values()]) if found else None
    people = PEOPLE_OF_ONE_SIDE if both.of_one_side else None
    for at, (answer, _) in found.items():
        low, high = answer.band(critical)
        unc = study.answer(answer)
        reason = "; ".join(filter(None, (unc.reason, both.convention, people))) or None
        yield study.row(
            curve,
            metric,
            "contrast_labels",
            replace(unc, n_resamples=None, reason=reason),
            budget=curve.budgets[at],
            baseline=SMALLEST,
            simultaneous_low=low,
            simultaneous_high=high,
            p=answer.p,
        )


def _which(sides: Sequence[Sequence[Fraction]], lost: Fraction) -> str:
    side = "model" if any(one is lost for one in sides[0]) else "labels alone"
    return f"{side}: {lost.reason}"
