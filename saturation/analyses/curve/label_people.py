"""What every vote changes in the model's losses and in those of the labels alone, so that both know the same people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from saturation.analyses.context import plain, samples
from saturation.analyses.crowd import Moves, degrees_of_freedom
from saturation.analyses.labels.people import Crowd, listed_scores
from saturation.analyses.labels.scores import score_of
from saturation.analyses.labels.series import Point
from saturation.analyses.losses import sign
from saturation.analyses.removals import Removals
from saturation.analyses.vote_changes import linearised
from saturation.metrics.metric import Metric
from saturation.resampling.exact_moments import Draw
from saturation.tables.panel import Panel
from saturation.typing import Floats


def label_moves(
    panel: Panel, metric: Metric, budgets: Sequence[int], points: Sequence[Sequence[Point]], ties: str
) -> Moves | None:
    """How the label-only losses (budgets,) move with the annotators; None for metrics that are drawn, or single votes.

    Parameters
    ----------
    panel
        With the ids of at least two annotators.
    metric, budgets, ties
        What the points are of; N votes with replacement against the item's own.
    points
        [split][budget]
    """
    sample, removals = samples(panel, None)[0], _removals(panel)
    if removals.alone.any():
        return None
    found = np.zeros((len(budgets), len(removals.item)))
    for of_split, places, n_seeds in zip(points, sample.places, sample.n_seeds, strict=True):
        inside = np.zeros((len(budgets), sample.n_items), dtype=np.bool_)
        inside[:, places] = True
        crowd = Crowd(removals, tuple(Draw("plug_in", budget) for budget in budgets), inside, "items x annotators")
        for row, point in enumerate(_points(crowd, metric, of_split, ties)):
            if point.people is None and point.counts_as is None:
                return None
            if point.people is not None:
                found[row] += n_seeds / sample.n_cells / len(places) * point.people
    return _moves(removals, sign(metric) * found)


def model_moves(panel: Panel, metric: Metric, conditions: Sequence[int], threads: int | None) -> Moves:
    """How the model's losses move, from the same looks at the votes."""
    moved = linearised(samples(panel, None)[0], _removals(panel), plain(metric), threads)
    signed = replace(moved, people=sign(metric) * moved.people, noise=sign(metric) * moved.noise, reasons={})
    return signed.only(conditions)


def _removals(panel: Panel) -> Removals:
    sample = samples(panel, None)[0]
    assert sample.ballots is not None, "the design was checked to have annotator ids"
    return Removals.of(sample.ballots, sample.human.counts, vote_by_vote=True)


def _points(crowd: Crowd, metric: Metric, points: Sequence[Point], ties: str) -> list[Point]:
    if metric.name == "entropy_correlation":
        return crowd.correlated(points, 0.0)
    if metric.kind == "set":
        return list(points)
    score, symmetric = score_of(metric, 0.0, ties)
    return crowd.scored([points], listed_scores([score], symmetric=symmetric))[0]


def _moves(removals: Removals, people: Floats) -> Moves:
    df, within_df = degrees_of_freedom(removals.load)
    growth = 1 - 1 / removals.n_annotators
    return Moves(removals.people(people), removals.noise(people), growth, df, within_df, {})
