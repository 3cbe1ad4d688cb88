"""What analyses return: frozen rows and results. They compute nothing.

The keys of a row and their order are an interface (``saturation/1``): every row of a command has all of its
keys, null where they do not apply, never NaN or infinity.
"""

from saturation.results.baselines import BaselineRow, BaselinesResult
from saturation.results.ceiling import CeilingResult, CeilingRow
from saturation.results.elicited import ElicitedResult, ElicitedRow
from saturation.results.equivalents import EquivalentsResult, EquivalentsRow
from saturation.results.flat import (
    COND_COLUMNS,
    SCHEMA,
    as_dict,
    column_types,
    envelope,
    finite,
    flatten,
    frame,
    plain,
    version,
)
from saturation.results.heldout import HeldOutResult, HeldOutRow
from saturation.results.plan import PlanResult, PlanRow
from saturation.results.result import (
    Answer,
    CompareResult,
    EvaluateResult,
    Finding,
    LabelCurveResult,
    Listing,
    MurphyResult,
    ReliabilityBin,
    ReportResult,
    Result,
    SaturationResult,
)
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
    Uncertainty,
)
from saturation.results.study import AcrossRow, AdviceRow, MainRow, StudyPart, StudyResult

__all__ = [
    "COND_COLUMNS",
    "SCHEMA",
    "AcrossRow",
    "AdviceRow",
    "Answer",
    "BaselineRow",
    "BaselinesResult",
    "CeilingResult",
    "CeilingRow",
    "CompareResult",
    "CompareRow",
    "CurveRow",
    "DataSummary",
    "ElicitedResult",
    "ElicitedRow",
    "EquivalentsResult",
    "EquivalentsRow",
    "EvaluateResult",
    "EvaluateRow",
    "Finding",
    "HeldOutResult",
    "HeldOutRow",
    "Input",
    "LabelCurveResult",
    "LabelCurveRow",
    "Listing",
    "MainRow",
    "MurphyResult",
    "MurphyRow",
    "Note",
    "PlanResult",
    "PlanRow",
    "ReliabilityBin",
    "ReportResult",
    "Result",
    "Row",
    "SaturationResult",
    "StudyPart",
    "StudyResult",
    "Uncertainty",
    "as_dict",
    "column_types",
    "envelope",
    "finite",
    "flatten",
    "frame",
    "plain",
    "version",
]
