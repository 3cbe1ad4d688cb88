"""Statistics of a standing as rows have them."""

from __future__ import annotations

import numpy as np

from saturation.analyses.worth.standing import ONE_ITEM, Standing
from saturation.resampling import intervals
from saturation.resampling.intervals import Interval
from saturation.results import Uncertainty
from saturation.typing import EstimatorName, Floats, IntervalName


def value_of(
    standing: Standing,
    statistic: int,
    level: float,
    *,
    is_model: bool,
    estimator: EstimatorName = "exact",
    remark: str | None = None,
) -> Uncertainty:
    """One statistic with its interval; ``remark`` stands in for an interval that cannot be."""
    value = float(standing.estimates[statistic])
    if not np.isfinite(value):
        return uncertainty(standing, None, level, reason=standing.reasons[statistic])
    if remark is not None:
        return uncertainty(standing, value, level, estimator=estimator, reason=remark)
    return contrast_of(standing, standing.unit(statistic), value, level, is_model=is_model, estimator=estimator)


def contrast_of(
    standing: Standing,
    contrast: Floats,
    value: float,
    level: float,
    *,
    is_model: bool,
    estimator: EstimatorName = "exact",
) -> Uncertainty:
    """A linear contrast of statistics with its interval: estimate +- t sqrt V.

    ``is_model``: whether training seeds play a part, so that a single one is told.
    """
    made, se = _interval(standing, contrast, value, level)
    parts = [made.reason]
    if made.low is not None:
        parts += [standing.spread.reason if is_model and standing.spread is not None else None, standing.remark]
    return uncertainty(
        standing,
        value,
        level,
        low=made.low,
        high=made.high,
        se=se,
        interval=made.method,
        estimator=estimator,
        reason=_joined(parts),
    )


def _interval(standing: Standing, contrast: Floats, value: float, level: float) -> tuple[Interval, float | None]:
    lost = next((standing.reasons[int(s)] for s in np.flatnonzero(contrast) if int(s) in standing.reasons), None)
    if lost is not None or standing.spread is None:
        return intervals.none(lost or ONE_ITEM), None
    variance, df = standing.spread.variance(contrast)
    made = intervals.normal(value, variance**0.5, level, df, "linearized_t")
    return made, float(variance**0.5)


def uncertainty(
    standing: Standing,
    estimate: float | None,
    level: float,
    *,
    low: float | None = None,
    high: float | None = None,
    se: float | None = None,
    interval: IntervalName = "none",
    estimator: EstimatorName = "exact",
    reason: str | None = None,
) -> Uncertainty:
    """What all rows of a standing share."""
    return Uncertainty(
        estimate=estimate,
        low=low,
        high=high,
        se=se,
        level=level,
        interval=interval,
        estimator=estimator if standing.draws is None else "monte_carlo",
        design=design_of(standing),
        n_resamples=None if standing.draws is None else len(standing.draws),
        n_items=standing.n_items,
        n_cells=standing.n_cells,
        reason=reason,
    )


def design_of(standing: Standing) -> str:
    """What the intervals redraw."""
    own = "crossed" if standing.n_models else "items"
    return f"{own} with annotators" if standing.people else own


def _joined(parts: list[str | None]) -> str | None:
    return "; ".join(dict.fromkeys(text for text in parts if text)) or None
