"""The numbers of fitted curves, for their figure, table and sentences: which form is preferred, and its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from saturation.results import CurveRow, Result, SaturationResult


@dataclass(frozen=True, slots=True)
class Fitted:
    """The preferred form of one curve and metric.

    Attributes
    ----------
    form
        Its name in the rows.
    asymptote, exponent, criterion
        Their rows.
    predictions
        Rows by ascending budget.
    tried
        The points themselves.
    """

    form: str
    asymptote: CurveRow
    exponent: CurveRow
    criterion: CurveRow
    predictions: tuple[CurveRow, ...]
    tried: tuple[CurveRow, ...]

    @property
    def largest(self) -> int:
        """The largest budget tried."""
        return max(row.budget or 0 for row in self.tried)


def fitted(result: SaturationResult, metric: str, curve: str) -> Fitted | str:
    """The form with the smallest AICc, or the reason why there is no fit."""
    own = [row for row in result.rows if (row.metric, row.curve) == (metric, curve)]
    fits = [row for row in own if row.quantity.startswith("fit_")]
    criteria = [row for row in fits if row.quantity == "fit_aicc"]
    if not criteria:
        return next((row.unc.reason for row in fits if row.unc.reason), "no curve was fitted")
    best = min(criteria, key=_aicc)
    rows = [row for row in fits if row.baseline == best.baseline]
    predictions = sorted((r for r in rows if r.quantity == "fit_prediction"), key=lambda r: r.budget or 0)
    return Fitted(
        form=str(best.baseline),
        asymptote=_one(rows, "fit_asymptote"),
        exponent=_one(rows, "fit_exponent"),
        criterion=best,
        predictions=tuple(predictions),
        tried=tuple(row for row in own if row.quantity == "value" and row.budget is not None),
    )


def curves_with_fits(result: Result[Any]) -> tuple[str, ...]:
    """Curves that something was fitted to, in the order of the rows."""
    return tuple(dict.fromkeys(row.curve for row in result.rows if row.quantity == "fit_aicc"))


def _one(rows: Sequence[CurveRow], quantity: str) -> CurveRow:
    return next(row for row in rows if row.quantity == quantity)


def _aicc(row: CurveRow) -> float:
    assert row.unc.estimate is not None
    return row.unc.estimate
