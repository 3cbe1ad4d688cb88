"""Rows of ``baselines``: what was fitted on development items, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from saturation.conditions import Condition
from saturation.results.result import Result
from saturation.results.rows import Uncertainty

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRow:
    """One fitted number of one baseline.

    Attributes
    ----------
    quantity
        ``temperature``: T; ``strength``: the smoothing strength chosen; ``dev_loss``: soft cross-entropy in nats of one
        strength on the development items; ``base_rate``: the share of a label; ``test_loss``: soft cross-entropy of the
        tuned model on the test items; ``best_on_test``: of the strength that is best there, a bound and not a result.
    condition
        The baseline that was made; for ``dev_loss`` and ``best_on_test`` the given condition it is about.
    split, seed
        Where it was fitted; seed None: for all seeds of the split together.
    label
        Of a base rate.
    unc
        Its interval is over the development items (``base_rate``: the items that it was taken from).
    loss_before, loss_after
        Of a temperature: soft cross-entropy in nats on the development items at T = 1 and at T.
    share
        Of the resamples of the development items that choose this strength.
    """

    quantity: str
    condition: Condition
    split: str
    seed: int | None = None
    label: str | None = None
    unc: Uncertainty
    loss_before: float | None = None
    loss_after: float | None = None
    share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselinesResult(Result[BaselineRow]):
    """What was fitted, and the predictions with the rows that it made.

    Attributes
    ----------
    predictions
        The given rows and then the new ones, to be written with ``saturation.write_table``.
    labels, condition_columns
        What ``write_table`` needs to know of them.
    """

    command: ClassVar[str] = "baselines"
    row_type = BaselineRow
    predictions: pl.DataFrame | Any = None
    labels: tuple[str, ...] = ()
    condition_columns: tuple[str, ...] = ()
