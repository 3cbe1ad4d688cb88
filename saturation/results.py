"""What analyses return: frozen rows and results. They compute nothing.

The keys of a row and their order are an interface (``saturation/1``): every row of a command has all of its
keys, null where they do not apply, never NaN or infinity.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import version as _installed_version
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from saturation.conditions import Condition
from saturation.typing import Direction, EstimatorName, IntervalName

if TYPE_CHECKING:
    import polars as pl

SCHEMA = "saturation/1"
COND_COLUMNS = ("model", "method", "budget", "strength", "alpha")


def version() -> str:
    """The installed version of this package."""
    return _installed_version("annotation-saturation")


@dataclass(frozen=True, slots=True)
class Input:
    """One file (or frame) that a result was computed from."""

    role: str
    path: str
    sha256: str | None
    rows: int


@dataclass(frozen=True, slots=True)
class Note:
    """A warning or remark that belongs to a result: a code for programs, a sentence for people."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class DataSummary:
    """What the door let in, dropped and repaired."""

    n_items: int
    n_labels: int
    n_votes: int
    votes_min: int
    votes_max: int
    n_annotators: int | None = None
    predicted_without_votes: int = 0
    voted_without_predictions: int = 0
    dropped: int = 0
    renormalised: int = 0
    floored: int = 0


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """A number with its uncertainty, or the reason why there is none.

    Attributes
    ----------
    estimate, low, high, se
        In the metric's own units; None where undefined.
    level
        Nominal coverage of (low, high).
    interval
        How (low, high) was made; ``none`` with a reason where there is no interval.
    estimator
        How the estimate was made.
    design
        What was redrawn (a name of ``resampling.designs``), None where nothing was.
    n_resamples
        Number of resamples behind the interval, None where none were drawn.
    n_items, n_cells
        Distinct items and split x seed cells behind the estimate.
    reason
        In words: why a number is missing, or what to keep in mind about it.
    """

    estimate: float | None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    level: float | None = None
    interval: IntervalName = "none"
    estimator: EstimatorName = "plugin"
    design: str | None = None
    n_resamples: int | None = None
    n_items: int | None = None
    n_cells: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateRow:
    """One metric of one condition."""

    metric: str
    condition: Condition
    group: str | None = None
    split: str | None = None
    seed: int | None = None
    direction: Direction
    unc: Uncertainty
    cell_sd: float | None = None
    floor: float | None = None
    corrected: float | None = None
    corrected_low: float | None = None
    corrected_high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCurveRow:
    """One quantity of the label-side curve (no model)."""

    quantity: str
    metric: str
    budget: int | None = None
    q: float | None = None
    target: str
    alpha: float | None = None
    reference: str
    reference_size: int | None = None
    direction: Direction
    unc: Uncertainty
    draw_sd: float | None = None
    draw_low: float | None = None
    draw_high: float | None = None
    mc_se: float | None = None
    n_dropped: int = 0
    censored: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveRow:
    """One quantity of a saturation curve."""

    quantity: str
    metric: str
    metric_b: str | None = None
    curve: str
    model: str | None = None
    method: str | None = None
    budget: int | None = None
    baseline: str | None = None
    ceiling: str | None = None
    q: float | None = None
    margin: float | None = None
    direction: Direction
    unc: Uncertainty
    simultaneous_low: float | None = None
    simultaneous_high: float | None = None
    p: float | None = None
    fieller_low: float | None = None
    fieller_high: float | None = None
    fieller_shape: str | None = None
    denominator_p: float | None = None
    censored: str | None = None


Row = TypeVar("Row", EvaluateRow, LabelCurveRow, CurveRow)


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
    rows: tuple[Row, ...]
    settings: Mapping[str, Any]
    data: DataSummary
    inputs: tuple[Input, ...] = ()
    notes: tuple[Note, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """The rows as flat dictionaries, keys in the documented order."""
        extra = _extra_columns(self.rows)
        return [flatten(row, extra) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """The JSON envelope: schema, command, version, inputs, settings, data, warnings, results."""
        return {
            "schema": SCHEMA,
            "command": self.command,
            "version": version(),
            "inputs": [as_dict(one) for one in self.inputs],
            "settings": dict(self.settings),
            "data": as_dict(self.data),
            "warnings": [as_dict(note) for note in self.notes],
            "results": self.records(),
        }

    def to_frame(self) -> pl.DataFrame:
        """The rows as a polars frame, with the columns of the JSON rows."""
        import polars as pl

        return pl.DataFrame(self.records(), infer_schema_length=None)

    def _repr_html_(self) -> str:
        return self.to_frame()._repr_html_()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateResult(Result[EvaluateRow]):
    """Metrics per condition."""

    command: ClassVar[str] = "evaluate"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCurveResult(Result[LabelCurveRow]):
    """Label-side curves: how far N votes are from the reference."""

    command: ClassVar[str] = "label-curve"


@dataclass(frozen=True, slots=True, kw_only=True)
class SaturationResult(Result[CurveRow]):
    """Saturation curves, fractions, N* and contrasts of a study."""

    command: ClassVar[str] = "curve"


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
    """

    command: str = "report"
    sections: Mapping[str, Result[Any]]
    settings: Mapping[str, Any]
    data: DataSummary
    inputs: tuple[Input, ...] = ()
    notes: tuple[Note, ...] = ()
    answers: tuple[Answer, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The JSON envelope with ``sections`` in place of ``results``."""
        return {
            "schema": SCHEMA,
            "command": self.command,
            "version": version(),
            "inputs": [as_dict(one) for one in self.inputs],
            "settings": dict(self.settings),
            "data": as_dict(self.data),
            "warnings": [as_dict(note) for note in self.notes],
            "answers": [as_dict(answer) for answer in self.answers],
            "sections": {name: result.records() for name, result in self.sections.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How many annotators, for one metric, in words and numbers."""

    metric: str
    curve: str | None
    headline: str
    detail: str
    assumption: str


def flatten(row: object, extra: Sequence[str] = ()) -> dict[str, Any]:
    """One row as a flat dictionary; nested conditions and uncertainties are spread out in place."""
    flat: dict[str, Any] = {}
    for one in fields(row):  # type: ignore[arg-type]
        value = getattr(row, one.name)
        if isinstance(value, Condition):
            flat["condition"] = str(value)
            flat |= {column: value.get(column) for column in (*COND_COLUMNS, *extra)}
        elif isinstance(value, Uncertainty):
            flat |= as_dict(value)
        else:
            flat[one.name] = finite(value)
    return flat


def as_dict(one: object) -> dict[str, Any]:
    """A flat dataclass as a dictionary, with NaN and infinities as null."""
    return {f.name: finite(getattr(one, f.name)) for f in fields(one)}  # type: ignore[arg-type]


def finite(value: Any) -> Any:
    """NumPy scalars as Python ones; NaN and infinities as None."""
    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _extra_columns(rows: Sequence[object]) -> list[str]:
    """Condition columns beyond the standard ones of the rows, in first-seen order."""
    found: dict[str, None] = {}
    for row in rows:
        condition = getattr(row, "condition", None)
        if isinstance(condition, Condition):
            found |= {name: None for name, _ in condition.values if name not in COND_COLUMNS}
    return list(found)
