"""Crowds and models against the same R other votes: exact where a metric is a sum over labels, else drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saturation.analyses.worth.additive import MAX_STATES, crowd_score, is_additive, model_score, states
from saturation.analyses.worth.drawn import Crowds, drawn_standings
from saturation.analyses.worth.standing import Standing, item_standing
from saturation.metrics.metric import Human, Metric
from saturation.tables.panel import Panel
from saturation.typing import Counts, Floats, Ints, Probs, Scores


def disjoint_standings(
    panel: Panel, metrics: Sequence[Metric], crowds: Crowds, *, n_draws: int, seed: int, threads: int | None = None
) -> list[Standing]:
    """Models and crowds by several metrics, in order; every item of the panel has max N + R votes.

    With annotator ids it has one more, so that each of them can be left out.
    """
    few = states(panel.votes.counts, crowds.sizes, crowds.reference_size) <= MAX_STATES
    exact = [one for one in metrics if is_additive(one) and few]
    drawn = [one for one in metrics if one not in exact]
    made = drawn_standings(panel, drawn, crowds, n_draws=n_draws, seed=seed, threads=threads) if drawn else []
    found = {one.name: standing for one, standing in zip(drawn, made, strict=True)}
    found |= {one.name: _additive(panel, one, crowds) for one in exact}
    return [found[one.name] for one in metrics]


def _additive(panel: Panel, metric: Metric, crowds: Crowds) -> Standing:
    def of_crowds(counts: Counts, items: Ints) -> Scores:
        own = None if crowds.combiner is None else crowds.combiner.take(items)
        return np.stack([crowd_score(metric, counts, own, size, crowds.reference_size) for size in crowds.sizes])

    def of_models(probs: Probs, human: Human) -> Floats:
        return model_score(metric, probs, human.counts, crowds.reference_size)

    undefined = [f"an item has fewer than {size + crowds.reference_size} votes" for size in crowds.sizes]
    return item_standing(panel, metric, of_crowds, undefined, of_models)
