"""What the rows of a saturation curve are made from: losses, their joint uncertainty, curves and baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from saturation.analyses.curve.curves import Baseline, Curve
from saturation.analyses.fractions import Fraction
from saturation.analyses.joint import Answer, Joint
from saturation.analyses.losses import Losses
from saturation.metrics.metric import Metric
from saturation.resampling.intervals import Interval
from saturation.results import CurveRow, Uncertainty


@dataclass(frozen=True, slots=True, eq=False)
class Margin:
    """A non-inferiority margin in a metric's units and where it comes from; None where there is none."""

    value: float | None
    source: str


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """Everything that rows are computed from.

    Attributes
    ----------
    names
        (conditions,) text form of each condition of the panel, then what fitted ceilings are called.
    losses, joint
        Statistics and their joint uncertainty.
    curves
        Curves and points with their ceilings.
    baselines
        Of each curve.
    margins
        By metric name.
    q
        Shares of the gain that N* is asked for.
    design
        What is redrawn, for the rows.
    n_resamples
        Number of resamples, None where nothing is resampled.
    """

    names: tuple[str, ...]
    losses: Losses
    joint: Joint
    curves: tuple[Curve, ...]
    baselines: tuple[tuple[Baseline, ...], ...]
    margins: Mapping[str, Margin]
    q: tuple[float, ...]
    design: str
    n_resamples: int | None

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics, in the order asked for."""
        return self.losses.metrics

    def row(self, curve: Curve, metric: Metric, quantity: str, unc: Uncertainty, **more: Any) -> CurveRow:
        """A row of one curve and metric."""
        return CurveRow(
            quantity=quantity,
            metric=metric.name,
            curve=curve.text,
            model=curve.condition.model,
            method=curve.condition.method,
            ceiling=None if curve.ceiling is None else self.names[curve.ceiling],
            direction=metric.direction,
            unc=unc,
            **more,
        )

    def unc(self, estimate: float | None, **more: Any) -> Uncertainty:
        """An uncertainty with what all rows share."""
        shared = {
            "level": self.joint.level,
            "design": self.design,
            "n_resamples": self.n_resamples,
            "n_items": self.losses.n_items,
            "n_cells": self.losses.n_cells,
        }
        return Uncertainty(estimate, **{**shared, **more})

    def answer(self, answer: Answer, scale: float = 1.0) -> Uncertainty:
        """The uncertainty of a linear contrast; ``scale`` -1 turns a loss back into the metric's own units."""
        made = answer.interval
        low, high = self.natural(made, scale)
        return self.unc(
            scale * answer.estimate, low=low, high=high, se=answer.se, interval=made.method, reason=made.reason
        )

    def natural(self, made: Interval, scale: float) -> tuple[float | None, float | None]:
        """The ends of an interval times ``scale``, in ascending order."""
        ends = [None if end is None else scale * end for end in (made.low, made.high)]
        low, high = ends if scale > 0 else ends[::-1]
        return low, high

    def fraction(self, made: Fraction) -> Uncertainty:
        """The uncertainty of a fraction."""
        return self.unc(
            made.estimate, low=made.low, high=made.high, se=made.se, interval=made.interval, reason=made.reason
        )

    def nothing(self, reason: str) -> Uncertainty:
        """No number, with the reason."""
        return self.unc(None, reason=reason)

    def exact(self, value: float, reason: str) -> Uncertainty:
        """A number known by definition."""
        return self.unc(value, low=value, high=value, se=0.0, interval="exact", reason=reason)


def numbers(budgets: Sequence[int | None]) -> list[int]:
    """The budgets of a curve, which all have one."""
    return [int(b) for b in budgets if b is not None]


def fieller_columns(made: Fraction) -> dict[str, Any]:
    """Fieller's set and the denominator's test as columns of a row."""
    found = made.fieller
    return {
        "p": made.p,
        "denominator_p": made.denominator_p,
        "fieller_low": None if found is None else found.low,
        "fieller_high": None if found is None else found.high,
        "fieller_shape": None if found is None else found.shape,
    }
