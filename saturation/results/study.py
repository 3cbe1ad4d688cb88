"""A whole study: its reports by data set and model, and the tables that stand across them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from saturation.conditions import Condition
from saturation.results.flat import as_dict, column_types, envelope, extra_columns, flatten, frame
from saturation.results.result import ReportResult
from saturation.results.rows import DataSummary, Input, Note, Uncertainty

if TYPE_CHECKING:
    import polars as pl

    from saturation.typing import Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class MainRow:
    """One metric of one condition, and how it differs from the baseline of its model.

    Attributes
    ----------
    unc
        The metric itself, a mean over cells.
    against
        The baseline; None in its own row.
    difference, difference_low, difference_high
        Condition - baseline in the metric's units, with the limits of ``unc.level``.
    difference_reason
        Why there is no difference, or no interval.
    p, p_adjusted, adjustment, family_size
        Of difference = 0, adjusted over every comparison of the study.
    favours
        ``condition`` or ``baseline`` where the adjusted p is below 1 - level.
    wins, losses, ties, n_cells_compared
        Cells (split x seed) in which the condition is better.
    """

    data: str
    metric: str
    condition: Condition
    direction: Direction
    unc: Uncertainty
    cell_sd: float | None = None
    against: str | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    difference_reason: str | None = None
    p: float | None = None
    p_adjusted: float | None = None
    adjustment: str | None = None
    family_size: int | None = None
    favours: str | None = None
    wins: int | None = None
    losses: int | None = None
    ties: int | None = None
    n_cells_compared: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcrossRow:
    """Two curves of one study side by side: a model against another, or a data set against another.

    Attributes
    ----------
    quantity
        ``value_difference`` and ``fraction_difference`` (first - second), or ``rank_agreement`` (Kendall's tau of the
        fractions of all metrics).
    paired
        Whether both sides are scored on the same items; else they are independent.
    simultaneous_low, simultaneous_high
        Limits that hold for all budgets of a metric together; paired rows only.
    p, p_adjusted, family_size
        Of difference = 0, adjusted (Holm) over all paired differences of the study of the same quantity.
    """

    quantity: str
    metric: str | None = None
    data: str
    model: str
    curve: str
    data_b: str
    model_b: str
    curve_b: str
    budget: int | None = None
    baseline: str | None = None
    direction: Direction
    paired: bool
    unc: Uncertainty
    simultaneous_low: float | None = None
    simultaneous_high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    family_size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceRow:
    """What a budget costs and what it buys.

    Attributes
    ----------
    quantity
        ``n_star`` (annotators needed for the share ``q``) or ``next_step`` (gain from ``budget`` to ``budget_next``).
    unc
        Annotators, or the gain in the metric's units, positive where more votes help.
    cost, cost_next
        Of labelling one item at the two budgets; None where no costs were given.
    per_cost, per_cost_low, per_cost_high
        The gain for one more unit of cost an item.
    """

    data: str
    model: str
    curve: str
    metric: str
    quantity: str
    budget: int | None = None
    budget_next: int | None = None
    baseline: str | None = None
    q: float | None = None
    direction: Direction
    unc: Uncertainty
    p: float | None = None
    censored: str | None = None
    cost: float | None = None
    cost_next: float | None = None
    per_cost: float | None = None
    per_cost_low: float | None = None
    per_cost_high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPart:
    """The report on one model and data set."""

    data: str
    model: str
    report: ReportResult


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyResult:
    """Every table of a study.

    Attributes
    ----------
    parts
        One report for each data set and model.
    main, across, advice
        The tables across all of them.
    data
        What the door let in, by data set.
    settings, inputs, notes
        As in :class:`~saturation.results.result.Result`.
    """

    command: str = "study"
    parts: tuple[StudyPart, ...]
    main: tuple[MainRow, ...]
    across: tuple[AcrossRow, ...]
    advice: tuple[AdviceRow, ...]
    settings: Mapping[str, Any]
    data: Mapping[str, DataSummary]
    inputs: tuple[Input, ...] = ()
    notes: tuple[Note, ...] = ()

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The tables across parts as flat dictionaries, by name."""
        tables: dict[str, tuple[Any, ...]] = {"main": self.main, "across": self.across, "advice": self.advice}
        return {name: [flatten(row, extra_columns(rows)) for row in rows] for name, rows in tables.items()}

    def records(self) -> list[dict[str, Any]]:
        """The rows of the main table."""
        return self.tables()["main"]

    def to_frame(self) -> pl.DataFrame:
        """The rows of the main table as a polars frame."""
        return frame(self.records(), column_types(MainRow))

    def to_dict(self) -> dict[str, Any]:
        """The JSON envelope: ``tables`` and, by data set and model, ``parts`` with the sections of their reports."""
        parts = [
            {
                "data": part.data,
                "model": part.model,
                "answers": part.report.answer_records(),
                "findings": [as_dict(one) for one in part.report.findings],
                "sections": {name: result.records() for name, result in part.report.sections.items()},
            }
            for part in self.parts
        ]
        made = envelope(self, None, {"tables": self.tables(), "parts": parts})
        return made | {"data": {name: as_dict(summary) for name, summary in self.data.items()}}
