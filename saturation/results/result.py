"""Results: rows with everything needed to repeat them, one class a command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from saturation.conditions import Condition
from saturation.results.flat import as_dict, column_types, envelope, extra_columns, flatten, frame, plain
from saturation.results.rows import (
    CompareRow,
    CurveRow,
    DataSummary,
    EvaluateRow,
    Input,
    LabelCurveRow,
    MurphyRow,
    Note,
    Row,
)

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Generic[Row]):
    """Rows of one command with everything needed to repeat them.

    Attributes
    ----------
    command
        Name of the command or function.
    rows
        The numbers.
    settings
        Every option as resolved, the seed included.
    data
        What the door let in.
    inputs
        Files behind the numbers, with their hashes.
    notes
        Warnings and remarks.
    """

    command: ClassVar[str] = ""
    row_type: ClassVar[type[Any]]
    rows: tuple[Row, ...]
    settings: Mapping[str, Any]
    data: DataSummary
    inputs: tuple[Input, ...] = ()
    notes: tuple[Note, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """The rows as flat dictionaries, keys in the documented order."""
        extra = extra_columns(self.rows)
        return [flatten(row, extra) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """The JSON envelope: schema, command, version, inputs, settings, data, warnings, results."""
        return envelope(self, self.data, {"results": self.records()})

    def to_frame(self) -> pl.DataFrame:
        """The rows as a polars frame, with the columns of the JSON rows."""
        return frame(self.records(), column_types(self.row_type))

    def _repr_html_(self) -> str:
        return self.to_frame()._repr_html_()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateResult(Result[EvaluateRow]):
    """Metrics per condition."""

    command: ClassVar[str] = "evaluate"
    row_type = EvaluateRow


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCurveResult(Result[LabelCurveRow]):
    """Label-side curves: how far N votes are from the reference."""

    command: ClassVar[str] = "label-curve"
    row_type = LabelCurveRow


@dataclass(frozen=True, slots=True, kw_only=True)
class SaturationResult(Result[CurveRow]):
    """Saturation curves, fractions, N* and contrasts of a study."""

    command: ClassVar[str] = "curve"
    row_type = CurveRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
    """One bin of a reliability diagram, all cells of a condition together.

    Attributes
    ----------
    condition, label
        Whose forecasts, of which label.
    outcome
        ``votes`` and ``soft`` have the same bins; ``majority`` has its own.
    lower, upper
        Ends of the bin.
    share
        Its share of the items.
    forecast, observed
        Means of the forecasts and of what was observed.
    low, high
        Interval of ``observed`` for other items like these; None where the bin holds one item.
    annotator_sd
        Standard deviation that ``observed`` would have if other people voted on these very items; None where an item
        has a single vote, and for majorities.
    """

    condition: Condition
    outcome: str
    label: str
    lower: float
    upper: float
    share: float
    forecast: float
    observed: float
    low: float | None = None
    high: float | None = None
    annotator_sd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MurphyResult(Result[MurphyRow]):
    """Murphy decompositions, and the bins that a reliability diagram draws.

    Attributes
    ----------
    diagram
        Bins of every condition and label, in order, without the empty ones; nothing where the terms are isotonic.
    """

    command: ClassVar[str] = "murphy"
    row_type = MurphyRow
    diagram: tuple[ReliabilityBin, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareResult(Result[CompareRow]):
    """Conditions compared on the same items: differences, effect sizes and tests."""

    command: ClassVar[str] = "compare"
    row_type = CompareRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportResult:
    """Several results behind one answer.

    Attributes
    ----------
    command
        ``report`` or ``demo``.
    sections
        Results by section name: label_curve, curve, evaluate.
    settings, data, inputs, notes
        As in :class:`Result`, for the whole report.
    answers
        The first screen in words: one entry a metric.
    findings
        Whether metrics differ, and whether models differ from their labels, in words.
    """

    command: str = "report"
    sections: Mapping[str, Result[Any]]
    settings: Mapping[str, Any]
    data: DataSummary
    inputs: tuple[Input, ...] = ()
    notes: tuple[Note, ...] = ()
    answers: tuple[Answer, ...] = ()
    findings: tuple[Finding, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The JSON envelope with ``sections`` in place of ``results``."""
        sections = {name: result.records() for name, result in self.sections.items()}
        findings = [as_dict(one) for one in self.findings]
        body = {"answers": self.answer_records(), "findings": findings, "sections": sections}
        return envelope(self, self.data, body)

    def answer_records(self) -> list[dict[str, Any]]:
        """The answers as flat dictionaries."""
        return [as_dict(answer) for answer in self.answers]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Plain rows of a command that estimates nothing (metrics, schema, check, convert).

    Attributes
    ----------
    command
        Name of the command.
    rows
        Flat dictionaries, all with the same keys.
    settings, inputs, notes
        As in :class:`Result`.
    """

    command: str
    rows: tuple[Mapping[str, Any], ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    notes: tuple[Note, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """The rows as they are, NaN and infinities as None."""
        return [{name: plain(value) for name, value in row.items()} for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """The JSON envelope, without ``data``."""
        return envelope(self, None, {"results": self.records()})

    def to_frame(self) -> pl.DataFrame:
        """The rows as a polars frame."""
        return frame(self.records(), {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How many annotators, for one metric, in words and numbers."""

    metric: str
    curve: str | None
    headline: str
    detail: str
    assumption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Whether two sides can be told apart, in words.

    Attributes
    ----------
    kind
        ``metrics``: two metrics of one order; ``labels``: a model curve and the labels alone; ``gap_closure``: another
        target and the soft one.
    metric, metric_b, curve, baseline, budget
        What is compared; None where it does not apply.
    told_apart
        None where nothing could be compared; the sentence has the reason.
    sentence
        Direction, budgets and interval.
    """

    kind: str
    metric: str
    metric_b: str | None = None
    curve: str
    baseline: str | None = None
    budget: int | None = None
    told_apart: bool | None
    sentence: str
