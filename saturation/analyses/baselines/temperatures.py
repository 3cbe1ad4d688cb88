"""The temperature baseline: every hard model with its logits divided by a T fitted on its own development rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from saturation import calibration
from saturation.analyses.baselines.sources import Cell, Made, Source
from saturation.conditions import Condition
from saturation.errors import UsageError
from saturation.resampling import intervals
from saturation.results import BaselineRow, Uncertainty
from saturation.typing import Floats, Ints

METHOD = "temperature"
NO_HARD = "no test row has method=hard, and a temperature is fitted to hard models"


def temperatures(source: Source) -> tuple[list[BaselineRow], list[Made], int]:
    """T of every hard model, split and seed; its scaled test rows; how many cells had no logits.

    Raises
    ------
    UsageError
        When a hard model has test rows but no development rows with votes.
    """
    rows, made, without_logits = [], [], 0
    for cell in source.cells.values():
        if cell.condition.method != "hard" or not len(cell.test):
            continue
        if not len(cell.dev):
            raise UsageError(
                f"{cell.condition} has no development rows with votes in split {source.split(cell)}, seed {cell.seed}, "
                "so that its temperature would be fitted on nothing; predict the dev items too, or make only others "
                "(methods smoothing_tuned, base_rate)"
            )
        row, scaled, has_logits = _of_cell(source, cell)
        rows.append(row)
        made.append(scaled)
        without_logits += not has_logits
    return rows, made, without_logits


def _of_cell(source: Source, cell: Cell) -> tuple[BaselineRow, Made, bool]:
    scores = _logits(source, np.concatenate([cell.dev, cell.test]))
    has_logits = scores is not None
    if scores is None:
        probs = source.parted.probs[np.concatenate([cell.dev, cell.test])]
        scores = calibration.log_scores(probs, source.settings.floor)
    dev, test = scores[: len(cell.dev)], scores[len(cell.dev) :]
    counts, weights = source.counts(cell.dev), source.settings.weights
    fitted = calibration.fit_temperature(dev, counts, weights=weights)
    condition = _named(cell.condition)
    scaled = source.parted.probs[cell.test]
    if fitted.value is not None:
        scaled = calibration.apply_temperature(test, fitted.value)
    row = BaselineRow(
        quantity="temperature",
        condition=condition,
        split=source.split(cell),
        seed=cell.seed,
        unc=_uncertainty(source, cell, fitted, dev),
        loss_before=fitted.loss_before,
        loss_after=fitted.loss_after,
    )
    return row, Made(condition, cell.test, scaled, temperature=fitted.value), has_logits


def _uncertainty(source: Source, cell: Cell, fitted: calibration.Temperature, dev: Floats) -> Uncertainty:
    """Percentiles of T fitted anew in every resample of the development items."""
    settings = source.settings
    own = Uncertainty(
        estimate=fitted.value,
        level=settings.level,
        estimator="fit",
        design="items",
        n_resamples=settings.n_resamples,
        n_items=len(cell.dev),
        n_cells=1,
        reason=fitted.reason,
    )
    if fitted.value is None:
        return replace(own, n_resamples=None)
    drawn = source.drawn(source.parted.item[cell.dev])
    found = calibration.resampled_temperatures(dev, source.counts(cell.dev), drawn, weights=settings.weights)
    made = intervals.percentile(found, settings.level)
    bounded = int(((found <= calibration.COLDEST) | (found >= calibration.HOTTEST)).sum())
    told = f"T is at a bound in {bounded} of {len(found)} resamples" if bounded and fitted.converged else None
    kept, _ = intervals.defined(found)
    return replace(
        own,
        low=made.low,
        high=made.high,
        se=None if kept is None else float(kept.std(ddof=1)),
        interval=made.method,
        reason="; ".join(filter(None, (fitted.reason, made.reason, told))) or None,
    )


def _logits(source: Source, rows: Ints) -> Floats | None:
    """Logits of some rows; None where one has none."""
    logits = source.parted.logits
    if logits is None or not np.isfinite(logits[rows]).all():
        return None
    return logits[rows]


def _named(hard: Condition) -> Condition:
    return Condition.of(**{**dict(hard.values), "method": METHOD})
