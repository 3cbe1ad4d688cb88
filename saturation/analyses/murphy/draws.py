"""The terms of every condition under what a design redraws: influence values, resamples, redrawn votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.cases import Plan, item_weights, n_annotators, seed_weights
from saturation.analyses.context import Sample
from saturation.analyses.crowd import Moves
from saturation.analyses.deleted_groups import without_groups
from saturation.analyses.murphy.family import PLAIN_TWIN, Family
from saturation.analyses.spreads import method_of
from saturation.analyses.vote_draws import (
    PART_DRAWS,
    VoteDraws,
    annotator_deletions,
    annotator_draws,
    means_under,
    vote_redraws,
)
from saturation.errors import UsageError
from saturation.metrics.metric import Human
from saturation.resampling.designs import CENTRED, FROM_ANNOTATORS
from saturation.typing import Floats, IntervalName, Probs, Weights

_WEIGHTS_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Everything known about the terms of one condition, or of a difference.

    Attributes
    ----------
    cells
        One (terms, seeds) array a split.
    values
        One (terms, seeds, items_of_split) array of influence values a split; empty where items are not redrawn.
    resampled
        (resamples, terms) under redrawn items (and seeds); None where none were drawn.
    drawn
        (draws, terms) under redrawn votes or annotators; None where none were drawn.
    moved
        How the terms move with the annotators beside items (and seeds); None where those do not move.
    second
        One (terms, seeds) array of variances of the quadratic part a split, see ``metrics.murphy_squares``; empty where
        items are not redrawn, and for differences, in which it mostly cancels.
    is_difference
        Whether it is a difference of two conditions.
    """

    cells: tuple[Floats, ...]
    values: tuple[Floats, ...]
    resampled: Floats | None
    drawn: Floats | None
    moved: Moves | None
    second: tuple[Floats, ...] = ()
    is_difference: bool = False

    def minus(self, other: Measured) -> Measured:
        """The difference of two conditions, draw by draw and item by item."""
        return Measured(
            cells=tuple(a - b for a, b in zip(self.cells, other.cells, strict=True)),
            values=tuple(a - b for a, b in zip(self.values, other.values, strict=True)),
            resampled=_difference(self.resampled, other.resampled),
            drawn=_difference(self.drawn, other.drawn),
            moved=None if self.moved is None or other.moved is None else self.moved.minus(other.moved),
            is_difference=True,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """A family on a sample, and the way to its intervals."""

    sample: Sample
    family: Family
    plan: Plan
    method: IntervalName

    @property
    def few_annotators(self) -> bool:
        """Too few for weights on them: they are left out one by one."""
        return n_annotators(self.sample) < FROM_ANNOTATORS

    @property
    def redraws(self) -> frozenset[str]:
        """What the design redraws."""
        return frozenset(self.plan.design.redraws)


def engine(sample: Sample, family: Family, plan: Plan) -> Engine:
    """Choose the way to the intervals.

    Raises
    ------
    UsageError
        When resampled intervals are asked for with isotonic terms.
    """
    method = method_of(sample, plan)
    items_move = bool(plan.design.redraws & {"items", "seeds"})
    if family.is_isotonic and items_move and method != "linearized_t":
        if plan.interval is not None:
            raise UsageError(
                f"no {plan.interval} interval of isotonic terms: a fit to a resample follows its noise once more; "
                "choose linearized_t"
            )
        method = "linearized_t"
    return Engine(sample, family, plan, method)


def measured(run: Engine) -> list[Measured]:
    """The terms of every condition, with what their intervals need."""
    sample = run.sample
    humans = sample.of_split(sample.human)
    drawn, moved = _drawn(run), _moved(run)
    return [
        Measured(
            cells=tuple(run.family.values(p[c], h).T for p, h in zip(sample.probs, humans, strict=True)),
            values=_influence(run, c, humans),
            resampled=_resampled(run, c, humans) if run.method in CENTRED else None,
            drawn=None if drawn is None else drawn[:, :, c],
            moved=None if moved is None else _of_condition(moved, c),
            second=_second(run, c, humans),
        )
        for c in range(len(sample.probs[0]))
    ]


def _difference(a: Floats | None, b: Floats | None) -> Floats | None:
    return None if a is None or b is None else np.asarray(a - b)


def _second(run: Engine, condition: int, humans: Sequence[Human]) -> tuple[Floats, ...]:
    if not _is_linearized(run):
        return ()
    return tuple(
        run.family.second_order(probs[condition], human).T
        for probs, human in zip(run.sample.probs, humans, strict=True)
    )


def _influence(run: Engine, condition: int, humans: Sequence[Human]) -> tuple[Floats, ...]:
    if not _is_linearized(run):
        return ()
    return tuple(
        np.swapaxes(run.family.influence(probs[condition], human), 0, 1)
        for probs, human in zip(run.sample.probs, humans, strict=True)
    )


def _is_linearized(run: Engine) -> bool:
    """Whether influence values are called for: items (or seeds) are redrawn, and there is more than one item."""
    return bool(run.redraws & {"items", "seeds"}) and run.method != "normal" and not one_item(run.sample)


def one_item(sample: Sample) -> bool:
    """Whether a split has a single item."""
    return min(len(places) for places in sample.places) < 2


def _resampled(run: Engine, condition: int, humans: Sequence[Human]) -> Floats:
    """(resamples, terms) means over cells under redrawn items (and seeds)."""
    sample, plan = run.sample, run.plan
    out = np.zeros((plan.n_resamples, len(run.family.names)))
    rows = max(1, _WEIGHTS_AT_ONCE // max(sample.n_items, 1))
    for start in range(0, plan.n_resamples, rows):
        stop = min(start + rows, plan.n_resamples)
        weights = item_weights(sample, plan, start, stop)
        of_seeds = seed_weights(sample, plan, start, stop)
        for probs, human, places, of_seed in zip(sample.probs, humans, sample.places, of_seeds, strict=True):
            values = run.family.resampled(probs[condition], human, weights[:, places], plan.threads)
            out[start:stop] += (values * of_seed[:, :, None]).sum(axis=1)
    return out / sample.n_cells


# --- redrawn votes and annotators ----------------------------------------------------------------------------------


def _drawn(run: Engine) -> Floats | None:
    """(draws, terms, conditions) under redrawn votes or annotators; None where neither is redrawn."""
    sample, plan = run.sample, run.plan
    if run.method != "normal":
        return None
    if "votes" in run.redraws:
        return _under(run, vote_redraws(sample, plan.seed, plan.n_resamples))
    if n_annotators(sample) < 2:
        return None
    if "items" in run.redraws:
        draws = annotator_draws(sample, plan.seed, plan.n_resamples)
        return _uncorrected(run, _under(run, draws, redraw_items=True))
    if not run.few_annotators:
        draws = annotator_draws(sample, plan.seed, min(plan.n_resamples, PART_DRAWS))
        return _uncorrected(run, _under(run, draws))
    deleted = _uncorrected(run, _under(run, annotator_deletions(sample)))
    count, mean = len(deleted), deleted.mean(axis=0)
    return np.asarray(mean + (count - 1) / count**0.5 * (deleted - mean))


def _moved(run: Engine) -> list[Moves] | None:
    """How every term of all conditions moves with the annotators, where items move too and are linearised."""
    if "annotators" not in run.redraws or run.method == "normal" or n_annotators(run.sample) < 2:
        return None
    return without_groups(run.sample, run.plan.seed, lambda draws: _uncorrected(run, _under(run, draws)))


def _of_condition(moved: Sequence[Moves], condition: int) -> Moves:
    """All terms of one condition."""
    return replace(
        moved[0],
        people=np.stack([of_term.people[condition] for of_term in moved]),
        noise=np.stack([of_term.noise[condition] for of_term in moved]),
        reasons={place: one.reasons[condition] for place, one in enumerate(moved) if condition in one.reasons},
    )


def _under(run: Engine, draws: VoteDraws, *, redraw_items: bool = False) -> Floats:
    sample, plan, family = run.sample, run.plan, run.family

    def value(models: Probs, human: Human, weights: Weights | None) -> Floats:
        if len(human.counts) == 0:
            return np.full((len(family.names), len(models)), np.nan)
        if weights is None:
            return np.asarray(family.values(models, human).T)
        return np.asarray(family.resampled(models, human, weights, threads=1)[0].T)

    return means_under(
        sample,
        value,
        len(family.names),
        draws,
        items=(lambda a, b: item_weights(sample, plan, a, b)) if redraw_items else None,
        seeds=(lambda a, b: seed_weights(sample, plan, a, b)) if redraw_items else None,
        threads=plan.threads,
    )


def _uncorrected(run: Engine, drawn: Floats) -> Floats:
    """Corrections need whole votes: under weights the spread of a corrected term is that of its plain twin."""
    names = run.family.names
    twins = [names.index(PLAIN_TWIN.get(name, name)) for name in names]
    return np.asarray(drawn[:, twins])
