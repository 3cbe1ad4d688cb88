"""What analyses return: frozen rows and results. They compute nothing.

The keys of a row and their order are an interface (``saturation/1``): every row of a command has all of its
keys, null where they do not apply, never NaN or infinity.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.metadata import version as _installed_version
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from saturation.conditions import STANDARD_COLUMNS, Condition

if TYPE_CHECKING:
    import polars as pl

    from saturation.typing import Direction, EstimatorName, IntervalName

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


@dataclass(frozen=True, slots=True, kw_only=True)
class MurphyRow:
    """One term of the Murphy decomposition of one condition, or its difference to another condition."""

    condition: Condition
    versus: str | None = None
    outcome: str
    binning: str
    bins: int | None = None
    bins_used: int | None = None
    label: str
    term: str
    unc: Uncertainty


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRow:
    """One quantity or test of a comparison of two conditions, a against b."""

    metric: str
    a: str
    b: str
    quantity: str
    unc: Uncertainty
    favours: str | None = None
    test: str | None = None
    alternative: str | None = None
    statistic: float | None = None
    df: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    adjustment: str | None = None
    family_size: int | None = None
    margin: float | None = None
    wins: int | None = None
    losses: int | None = None
    ties: int | None = None
    n_pairs: int | None = None
    sentence: str | None = None


Row = TypeVar("Row", EvaluateRow, LabelCurveRow, CurveRow, MurphyRow, CompareRow)


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
        extra = _extra_columns(self.rows)
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


def flatten(row: object, extra: Sequence[str] = ()) -> dict[str, Any]:
    """One row as a flat dictionary; nested conditions and uncertainties are spread out in place."""
    flat: dict[str, Any] = {}
    for one in fields(row):  # type: ignore[arg-type]
        value = getattr(row, one.name)
        if isinstance(value, Condition):
            flat["condition"] = str(value)
            flat |= {column: finite(value.get(column)) for column in (*COND_COLUMNS, *extra)}
        elif isinstance(value, Uncertainty):
            flat |= as_dict(value)
        else:
            flat[one.name] = finite(value)
    return flat


def as_dict(one: object) -> dict[str, Any]:
    """A flat dataclass as a dictionary, with NaN and infinities as null."""
    return {f.name: finite(getattr(one, f.name)) for f in fields(one)}  # type: ignore[arg-type]


def finite(value: Any) -> Any:
    """NumPy scalars as Python ones; NaN and infinities as None.

    Examples
    --------
    >>> import numpy as np
    >>> finite(np.float64("nan")), finite(np.int64(3)), finite("nan"), finite(float("inf"))
    (None, 3, 'nan', None)
    """
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def plain(value: Any) -> Any:
    """Settings as JSON can hold them: mappings, lists, numbers, words, None."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset) or getattr(value, "ndim", 0) > 0:
        return [plain(one) for one in value]
    value = finite(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


class _Told(Protocol):
    """What an envelope needs of a result."""

    @property
    def command(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def inputs(self) -> tuple[Input, ...]: ...
    @property
    def notes(self) -> tuple[Note, ...]: ...


def envelope(result: _Told, data: DataSummary | None, body: Mapping[str, Any]) -> dict[str, Any]:
    """Everything around the rows that is needed to repeat them."""
    return {
        "schema": SCHEMA,
        "command": result.command,
        "version": version(),
        "inputs": [as_dict(one) for one in result.inputs],
        "settings": plain(result.settings),
        "data": None if data is None else as_dict(data),
        "warnings": [as_dict(note) for note in result.notes],
        **body,
    }


def column_types(row_type: type[Any]) -> dict[str, type]:
    """Columns of a kind of row and what they hold, in order; without the table's own condition columns.

    Examples
    --------
    >>> list(column_types(LabelCurveRow).items())[:3]
    [('quantity', <class 'str'>), ('metric', <class 'str'>), ('budget', <class 'int'>)]
    """
    types: dict[str, type] = {}
    for one in fields(row_type):
        if one.type == "Condition":
            types |= {"condition": str} | dict.fromkeys(COND_COLUMNS, str)
            types |= {"budget": int, "strength": float, "alpha": float}
        elif one.type == "Uncertainty":
            types |= column_types(Uncertainty)
        else:
            types[one.name] = {"int": int, "float": float}.get(str(one.type).split(" ", maxsplit=1)[0], str)
    return types


def frame(records: Sequence[Mapping[str, Any]], types: Mapping[str, type]) -> pl.DataFrame:
    """Records as a polars frame whose column types do not depend on which values are null."""
    import polars as pl

    of_type = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
    names = list(records[0]) if records else list(types)
    series = []
    for name in names:
        values = [record[name] for record in records]
        kind = _kind(values, types.get(name))
        series.append(pl.Series(name, [None if v is None else kind(v) for v in values], dtype=of_type[kind]))
    return pl.DataFrame(series)


def _kind(values: Sequence[Any], declared: type | None) -> type:
    """The declared type, unless the values (free condition columns) say otherwise."""
    found = {type(value) for value in values if value is not None}
    if declared is not None and found <= {declared, int}:
        return declared
    if len(found) == 1 and found <= {bool, int, float, str}:
        return found.pop()
    return float if found and found <= {int, float} else str


def _extra_columns(rows: Sequence[object]) -> list[str]:
    """Condition columns beyond the standard ones of the rows: prior, temperature, then the alphabet."""
    found: set[str] = set()
    for row in rows:
        condition = getattr(row, "condition", None)
        if isinstance(condition, Condition):
            found |= {name for name, _ in condition.values if name not in COND_COLUMNS}
    standard = [name for name in STANDARD_COLUMNS if name in found]
    return standard + sorted(found - set(STANDARD_COLUMNS))
