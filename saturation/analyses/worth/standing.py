"""Models and crowds on the same items: one list of statistics with their joint covariance, models first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.crowd import NOTHING_SEEN, WITHOUT_A_VOTE, Moves, degrees_of_freedom
from saturation.analyses.losses import humans
from saturation.analyses.removals import Removals
from saturation.analyses.vote_changes import ROUNDING
from saturation.metrics.common import Flags
from saturation.metrics.metric import Human, Metric
from saturation.resampling.linearized import Covariance, Influence, covariance
from saturation.tables.panel import Panel, Votes
from saturation.typing import Counts, Floats, Ints, Probs, Scores

WITHOUT_PEOPLE = "other annotators are not in this interval"
ONE_ITEM = "one item only: no spread over items"

ModelScores = Callable[[Probs, Human], Floats]
"""probs (models, seeds, rows, labels) and the human side of the rows -> (models, seeds, rows)."""
ItemScores = Callable[[Counts, Ints], Scores]
"""counts (rows, labels), item of each row -> (crowds, rows) scores; NaN where there are too few votes."""


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """One metric of every model and of several crowds.

    Attributes
    ----------
    metric
        The metric.
    n_models
        Statistics 0, 1, ... are the panel's conditions; the crowds follow.
    estimates
        (statistics,) in the metric's own units, mean over cells; NaN where undefined.
    spread
        Their joint covariance; None where there is one item only.
    draws
        (draws, statistics) values behind Monte Carlo estimates; None where they are exact.
    reasons
        By statistic: why it, or its spread, does not exist.
    people
        Whether other annotators are in the covariance.
    remark
        What every interval leaves out.
    n_items, n_cells
        Behind every statistic.
    """

    metric: Metric
    n_models: int
    estimates: Floats
    spread: Covariance | None
    draws: Floats | None
    reasons: dict[int, str]
    people: bool
    remark: str | None
    n_items: int
    n_cells: int

    def unit(self, statistic: int) -> Floats:
        """(statistics,) the contrast that is one statistic."""
        contrast = np.zeros(len(self.estimates))
        contrast[statistic] = 1.0
        return contrast

    def mc_se(self, contrast: Floats) -> float | None:
        """Monte Carlo standard error of a linear contrast."""
        if self.draws is None:
            return None
        used = np.flatnonzero(contrast)
        values = (self.draws[:, used] * contrast[used]).sum(axis=1)
        known = len(values) > 1 and bool(np.isfinite(values).all())
        return float(values.std(ddof=1) / len(values) ** 0.5) if known else None


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Values (statistics, seeds) and influence values (statistics, seeds, items) of one split."""

    values: Floats
    influence: Floats


def alone(votes: Votes) -> Panel:
    """Votes without models, as a panel of no conditions: one split of all items, one seed of nothing."""
    every = np.arange(len(votes.item_ids), dtype=np.int64)
    nothing = np.zeros((0, 1, *votes.counts.shape))
    return Panel(
        votes=votes,
        conditions=(),
        splits=("all",),
        seeds=((0,),),
        items_of_split=(every,),
        probs=(nothing,),
        has_draws=False,
        summary=votes.summary,
        inputs=votes.inputs,
        notes=votes.notes,
    )


def with_votes(panel: Panel, fewest: int) -> Panel:
    """The panel without the items that have fewer votes, and without the splits that have no other items."""
    kept = np.flatnonzero(panel.votes.totals >= fewest).astype(np.int64)
    masks = [np.isin(items, kept) for items in panel.items_of_split]
    filled = [s for s, mask in enumerate(masks) if mask.any()]
    return replace(
        panel,
        votes=panel.votes.take(kept),
        splits=tuple(panel.splits[s] for s in filled),
        seeds=tuple(panel.seeds[s] for s in filled),
        items_of_split=tuple(np.searchsorted(kept, panel.items_of_split[s][masks[s]]) for s in filled),
        probs=tuple(panel.probs[s][:, :, masks[s]] for s in filled),
    )


def standing_of(
    panel: Panel,
    metric: Metric,
    splits: Sequence[Split],
    *,
    undefined: Sequence[str],
    draws: Floats | None = None,
    people: Moves | None = None,
) -> Standing:
    """Put the splits together.

    Parameters
    ----------
    panel, metric
        With the items that the splits are about.
    splits
        One a split of the panel.
    undefined
        (statistics,) what to say where a value is not finite.
    draws
        (draws, statistics), means over cells.
    people
        How the statistics move with the annotators; None: annotators are not redrawn.
    """
    joined = np.concatenate([one.values for one in splits], axis=1)
    estimates = joined.mean(axis=1)
    reasons = _reasons(splits, estimates, undefined)
    lost = list(reasons)
    for one in splits:
        one.values[lost], one.influence[lost] = 0.0, 0.0
    distinct = len(np.unique(np.concatenate(panel.items_of_split)))
    spread = None
    if min(len(items) for items in panel.items_of_split) > 1:
        influence = Influence(
            estimates=np.where(np.isfinite(estimates), estimates, 0.0),
            cells=tuple(one.values for one in splits),
            values=tuple(one.influence for one in splits),
            items_of_split=panel.items_of_split,
            n_items=len(panel.votes.item_ids),
        )
        spread = covariance(influence) if people is None else _with_people(influence, people, lost)
        reasons |= {} if people is None else {s: text for s, text in people.reasons.items() if s not in reasons}
    missing = panel.votes.ballots is not None and people is None
    return Standing(
        metric=metric,
        n_models=len(panel.conditions),
        estimates=estimates,
        spread=spread,
        draws=draws,
        reasons=reasons,
        people=people is not None,
        remark=WITHOUT_PEOPLE if missing else None,
        n_items=distinct,
        n_cells=panel.n_cells,
    )


def _reasons(splits: Sequence[Split], estimates: Floats, undefined: Sequence[str]) -> dict[int, str]:
    found = {}
    for statistic, value in enumerate(estimates):
        if not np.isfinite(value):
            found[statistic] = undefined[statistic]
        elif not all(np.isfinite(one.influence[statistic]).all() for one in splits):
            found[statistic] = "no interval: it does not exist without one of the items"
    return found


def _with_people(influence: Influence, moves: Moves, lost: Sequence[int]) -> Covariance:
    """V_A and V_w beside the spread over items and seeds."""
    people, noise = moves.people.copy(), moves.noise.copy()
    people[lost], noise[lost] = 0.0, 0.0
    whole, within = (moves.growth * _products(one) for one in (people, noise))
    return covariance(influence, whole, moves.df, within, moves.within_df)


def _products(values: Floats) -> Floats:
    """(statistics, n) -> sums of products; one pair never depends on which others there are, so no BLAS."""
    return np.stack([(row * values).sum(axis=-1) for row in values])


# --- item scores: exact, with annotators left out one by one ----------------------------------------------------------


def item_standing(
    panel: Panel,
    metric: Metric,
    crowds: ItemScores,
    undefined: Sequence[str],
    models: ModelScores | None = None,
) -> Standing:
    """Models by an item metric, crowds by scores of every item.

    With annotator ids each of them is left out in turn.

    Parameters
    ----------
    panel
        The items to use.
    metric
        An item metric.
    crowds
        Scores of the crowds as a function of votes, and of the item they belong to.
    undefined
        (crowds,) what to say where a crowd has no value.
    models
        Scores of the models; None: the metric as it is, against all votes.
    """
    counts, score = panel.votes.counts, models or _against_all(metric)
    own = crowds(counts, np.arange(len(counts), dtype=np.int64))
    scores = [
        np.concatenate([_model_scores(score, probs, human), np.repeat(own[:, None, items], probs.shape[1], axis=1)])
        for probs, human, items in zip(panel.probs, humans(panel), panel.items_of_split, strict=True)
    ]
    with np.errstate(invalid="ignore"):  # an infinite score has a reason instead of a spread
        splits = [Split(one.mean(axis=-1), one - one.mean(axis=-1, keepdims=True)) for one in scores]
    has_people = panel.votes.ballots is not None and len(panel.votes.ballots.annotator_ids) > 1
    people = _without_each_annotator(panel, score, crowds, scores) if has_people else None
    said = [*(f"{metric.name} of {c}: {metric.undefined}" for c in panel.conditions), *undefined]
    return standing_of(panel, metric, splits, undefined=said, people=people)


def _against_all(metric: Metric) -> ModelScores:
    def score(probs: Probs, human: Human) -> Floats:
        assert metric.features is not None
        return np.asarray(metric.features(probs, human)[..., 0, :])

    return score


def _model_scores(score: ModelScores, probs: Probs, human: Human) -> Floats:
    """(models, seeds, items) scores; of no models, none."""
    return score(probs, human) if len(probs) else np.zeros(probs.shape[:3])


def _without_each_annotator(panel: Panel, score: ModelScores, crowds: ItemScores, scores: Sequence[Floats]) -> Moves:
    """How the means move when an annotator is left out."""
    ballots = panel.votes.ballots
    assert ballots is not None
    removals = Removals.of(ballots, panel.votes.counts)
    left = np.where(np.asarray(removals.alone)[:, None], panel.votes.counts[removals.item], removals.counts)
    whole = humans(replace(panel, items_of_split=(removals.item,)))[0]
    of_crowds = crowds(left, removals.item)
    changes = np.zeros((len(scores[0]), len(left)))
    for probs, items, before in zip(panel.probs, panel.items_of_split, scores, strict=True):
        place = np.full(removals.n_items, -1, dtype=np.int64)
        place[items] = np.arange(len(items))
        rows = np.flatnonzero(place[removals.item] >= 0)
        at = place[removals.item[rows]]
        side = replace(whole.take(rows), counts=left[rows])
        of_models = _model_scores(score, probs[:, :, at], side)
        after = np.concatenate([of_models, np.repeat(of_crowds[:, None, rows], probs.shape[1], axis=1)])
        changes[:, rows] += _changes(before, after, at, np.asarray(removals.alone)[rows]).sum(axis=1) / panel.n_cells
    return _moves(removals, changes)


def _changes(before: Floats, after: Floats, at: Ints, alone: Flags) -> Floats:
    """(statistics, seeds, rows) change of the mean of a split; an item that is left without votes leaves it."""
    n_items = before.shape[-1]
    with np.errstate(invalid="ignore"):  # an infinite score has a reason instead of a spread
        stays = (after - before[..., at]) / n_items
        leaves = (before.mean(axis=-1, keepdims=True) - before[..., at]) / max(n_items - 1, 1)
    return np.where(alone, np.nan if n_items < 2 else leaves, stays)


def _moves(removals: Removals, changes: Floats) -> Moves:
    lost: Flags = np.logical_not(np.isfinite(changes).all(axis=1))
    changes = np.where(lost[:, None], 0.0, changes)
    centred = removals.centred(changes)
    size = np.abs(changes).max(axis=1, initial=0.0)
    flat = (size > 0) & (np.abs(centred).max(axis=1, initial=0.0) <= ROUNDING * size)
    df, within_df = degrees_of_freedom(removals.load)
    return Moves(
        people=removals.people(centred),
        noise=removals.noise(centred),
        growth=1 - 1 / removals.n_annotators,
        df=df,
        within_df=within_df,
        reasons={int(s): NOTHING_SEEN for s in np.flatnonzero(flat)}
        | {int(s): WITHOUT_A_VOTE for s in np.flatnonzero(lost)},
    )
