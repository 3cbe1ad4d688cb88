"""Whether the intervals of a result contain the planted truth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from saturation.errors import UsageError
from saturation.results import EvaluateResult, SaturationResult
from saturation.results.rows import HALF_OPEN

if TYPE_CHECKING:
    import polars as pl

KEYS = ("metric", "quantity", "place", "budget", "baseline", "q")


def planted_coverage(result: EvaluateResult | SaturationResult, truth: pl.DataFrame) -> pl.DataFrame:
    """Compare the intervals of one analysis of a simulated study with the planted truth.

    Parameters
    ----------
    result
        What ``evaluate`` or ``saturation_curve`` returned for a simulated study.
    truth
        What :func:`saturation.simulate.truth_table` returned.

    Returns
    -------
    polars.DataFrame
        One row a quantity that has a truth: ``metric``, ``quantity``, ``place`` (condition or curve), ``budget``,
        ``baseline``, ``q``, ``value`` (the truth), ``estimate``, ``low``, ``high``, ``covered`` (null where the
        analysis gave a reason instead of an interval), ``reason``.

    Raises
    ------
    UsageError
        When the result is of another kind, or when no row of it has a truth.
    """
    import polars as pl

    if not isinstance(result, EvaluateResult | SaturationResult):
        raise UsageError(f"a {type(result).__name__} has no planted truth: pass an EvaluateResult or SaturationResult")
    place = "condition" if isinstance(result, EvaluateResult) else "curve"
    known = {_key(row, place): row["value"] for row in truth.iter_rows(named=True) if row[place] is not None}
    rows = []
    for record in result.records():
        key = _key({"quantity": "value"} | record, place)
        if key in known and all(record.get(name) is None for name in ("group", "split", "seed")):
            rows.append(_compare(key, known[key], record))
    if not rows:
        raise UsageError("no row of this result has a planted truth: is it from a simulated study?")
    return pl.DataFrame(rows, infer_schema_length=None)


def _key(row: dict[str, Any], place: str) -> tuple[Any, ...]:
    return (row["metric"], row["quantity"], row[place], row.get("budget"), row.get("baseline"), row.get("q"))


def _compare(key: tuple[Any, ...], value: float, record: dict[str, Any]) -> dict[str, Any]:
    shown = {name: record[name] for name in ("estimate", "low", "high")}
    named = dict(zip(KEYS, key, strict=True))
    return {**named, "value": value, **shown, "covered": _covered(value, record), "reason": record["reason"]}


def _covered(value: float, record: dict[str, Any]) -> bool | None:
    """Whether the interval, Fieller set or censored range of a row contains a value; None where there is none."""
    shape = record.get("fieller_shape")
    if shape == "whole line":
        return True
    if shape == "complement":
        return not record["fieller_low"] < value < record["fieller_high"]
    low, high = record["low"], record["high"]
    if low is None and high is None:
        return None
    least, most = (-math.inf if low is None else low), (math.inf if high is None else high)
    above = least < value if record.get("quantity") in HALF_OPEN else least <= value
    return above and value <= most
