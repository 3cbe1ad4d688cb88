"""Rows of a comparison as one table: difference, relative change, p and cells won side by side, sentences below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from saturation.conditions import parse
from saturation.report.layout import with_interval

Record = Mapping[str, Any]

RELATIVE, WON = "relative change", "cells won"
ONLY_IN_TESTS = ("statistic", "df")
SPREAD_OUT = ("wins", "losses", "ties", "sentence", "se", "margin")
"""Columns that another column, or a line below the table, says in a better place."""


def is_comparison(records: Sequence[Record]) -> bool:
    """Whether these are the rows of a comparison."""
    return bool(records) and "sentence" in records[0]


def sentences(records: Sequence[Record]) -> tuple[str, ...]:
    """What may be concluded, one line a metric and b."""
    several = len({record["b"] for record in records}) > 1
    return tuple(
        f"[b: {told_apart(record['a'], record['b'])}] {record['sentence']}" if several else str(record["sentence"])
        for record in records
        if record["sentence"]
    )


def as_one_table(records: Sequence[Record]) -> list[dict[str, Any]]:
    """The same rows, with relative change and cells won beside the difference they belong to."""
    beside = {
        (record["metric"], record["b"], record["quantity"]): record
        for record in records
        if record["quantity"] in ("relative_change", "wins")
    }
    merged = []
    for record in records:
        whose = record["metric"], record["b"]
        if record["quantity"] not in ("relative_change", "wins"):
            merged.append(_merged(record, beside.get((*whose, "relative_change")), beside.get((*whose, "wins"))))
    return merged


def told_apart(a: str, b: str) -> str:
    """The columns of b in which it differs from a.

    Examples
    --------
    >>> told_apart("model=m,method=soft,budget=3", "model=m,method=hard")
    'method=hard'
    >>> told_apart("model=m,method=soft,budget=3", "model=m,method=soft")
    'budget=null'
    """
    one, other = parse(a)[0], parse(b)[0]
    shared = [name for name, value in other.values if one.get(name) == value]
    lacking = [f"{name}=null" for name, _ in one.values if other.get(name) is None]
    return str(other.without(*shared)) or ",".join(lacking)


def _merged(record: Record, relative: Record | None, wins: Record | None) -> dict[str, Any]:
    """One row, with the columns of its neighbours; every row gets the same keys."""
    first = record["quantity"] == "difference"
    out: dict[str, Any] = {}
    for key, value in record.items():
        hidden = key in SPREAD_OUT or (first and key in ONLY_IN_TESTS)
        out[key] = None if hidden else value
        if key == "high":
            out[RELATIVE] = _percent(relative) if first and relative else None
            out[WON] = _won(wins) if first and wins else None
    out["b"] = told_apart(str(record["a"]), str(record["b"]))
    if first and relative and relative["low"] is None and relative["reason"] != record["reason"]:
        out["reason"] = "; ".join(filter(None, (record["reason"], f"relative change: {relative['reason']}")))
    return out


def _percent(record: Record) -> str:
    values = [record[key] for key in ("estimate", "low", "high")]
    if values[0] is None:
        return "-"
    center, low, high = (None if value is None else 100 * value for value in values)
    return f"{with_interval(center, low, high)} %"


def _won(record: Record) -> str:
    if record["wins"] is None:
        return "-"
    return f"{record['wins']}/{record['n_pairs']}" + (f" ({record['ties']} tied)" if record["ties"] else "")
