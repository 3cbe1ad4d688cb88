"""How long a study takes, from a rate: items trained on a second by one worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inference.material import Material
from inference.recipe import Recipe
from inference.runs import Run

RATES = {
    "deberta-v3-base on an H200": 780.0,
    "roberta-large on an H200": 540.0,
    "minilm-l6 on one processor core": 17.6,
    "head over frozen features on one processor core": 6000.0,
}
"""Training items a second. The first two are estimates from step times, not measured on such a machine."""
PREDICTION = 3.0
"""Predicting an item takes about a third of training on it."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Work and time of a study.

    Attributes
    ----------
    runs
        How many.
    trained, predicted
        Items passed through training (all epochs) and prediction.
    hours
        Of all workers together; None without a rate.
    wall_hours
        With that many workers side by side.
    """

    runs: int
    trained: int
    predicted: int
    hours: float | None
    wall_hours: float | None


def estimate(
    runs: Sequence[Run], made: Material, recipes: Sequence[Recipe], *, rate: float | None, workers: int = 1
) -> Estimate:
    """Time of a study at a rate, every run taking all its epochs.

    Parameters
    ----------
    runs, made, recipes
        Of the study; every run trains with each recipe.
    rate
        Training items a second of one worker; None: no time.
    workers
        Side by side.
    """
    trained = predicted = 0
    epochs = sum(recipe.epochs for recipe in recipes)
    for run in runs:
        parts = made.splits[run.split]
        predicted += len(parts.dev) + len(parts.test)
        if run.method != "base_rate":
            lessons = run.budget or 1 if run.method == "multipass" else 1
            trained += len(parts.train) * epochs * lessons
            predicted += len(parts.dev) * epochs
    hours = None if rate is None else (trained + predicted / PREDICTION) / rate / 3600
    return Estimate(len(runs), trained, predicted, hours, None if hours is None else hours / workers)
