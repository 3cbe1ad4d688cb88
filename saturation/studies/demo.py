"""The report on a study whose answer is known, and how often the truth lies inside its interval."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from saturation.results import Note, ReportResult, Result
from saturation.studies import phrases
from saturation.studies.report import make_report

Key: TypeAlias = tuple[str, str, str, int | None, str | None]
"""metric, quantity, condition or curve, budget, baseline."""

_QUANTITIES = ("shortfall", "fraction")
"""Compared from the curve section; values are compared from the evaluate section."""


@dataclass(frozen=True, slots=True)
class Inside:
    """How many planted truths of a kind lie inside their intervals."""

    quantity: str
    inside: int
    total: int


def make_demo(
    *, rng: int = 0, n_resamples: int = 2000, level: float = 0.95, threads: int | None = None
) -> ReportResult:
    """The report on the study that is shipped with the package, checked against its planted truth.

    Parameters
    ----------
    rng, n_resamples, level, threads
        As in :func:`~saturation.studies.report.make_report`.

    Returns
    -------
    ReportResult
        Command ``demo``; the note ``planted_truth`` says how many truths lie inside their intervals.
    """
    from saturation.simulate.demo import demo_files
    from saturation.tables import door

    paths = demo_files()
    sides: dict[str, Any] = {"items": [paths["items"]]}
    panel = door.read_panel([paths["votes"]], [paths["predictions"]], splits=[paths["splits"]], **sides)
    report = make_report(
        door.read_votes([paths["votes"]], **sides),
        panel,
        rng=rng,
        n_resamples=n_resamples,
        level=level,
        threads=threads,
    )
    checked = inside(report.sections, read_truth(paths["truth"]))
    return replace(report, command="demo", notes=(truth_note(checked, level), *report.notes))


def read_truth(path: Path) -> dict[Key, float]:
    """Planted truths by metric, quantity, condition (or curve), budget and baseline; N* are left out."""
    with path.open(newline="", encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["quantity"] in ("value", *_QUANTITIES)]
    return {_truth_key(row): float(row["value"]) for row in rows}


def inside(sections: Mapping[str, Result[Any]], truth: Mapping[Key, float]) -> tuple[Inside, ...]:
    """Count the truths inside their intervals, for each kind of quantity that has any.

    Examples
    --------
    >>> inside({}, {})
    ()
    """
    tally: dict[str, list[bool]] = {}
    for key, low, high in _intervals(sections):
        if key in truth:
            tally.setdefault(key[1], []).append(low <= truth[key] <= high)
    return tuple(Inside(quantity, sum(hits), len(hits)) for quantity, hits in tally.items())


def truth_note(checked: Iterable[Inside], level: float) -> Note:
    """What the comparison found, in words.

    Examples
    --------
    >>> truth_note([Inside("value", 19, 20), Inside("fraction", 9, 10)], 0.95).message
    '28 of 30 planted truths (93%) lie inside their 95% intervals: value 19/20, fraction 9/10. ...'
    """
    found = list(checked)
    hits, total = sum(one.inside for one in found), sum(one.total for one in found)
    parts = ", ".join(f"{one.quantity} {one.inside}/{one.total}" for one in found)
    percent = phrases.percent(hits / total) if total else "none"
    return Note(
        "planted_truth",
        f"{hits} of {total} planted truths ({percent}) lie inside their {phrases.share(level)} intervals: {parts}. "
        "This is one study, and its intervals share items and models, so they miss or hit together",
    )


def _intervals(sections: Mapping[str, Result[Any]]) -> Iterable[tuple[Key, float, float]]:
    """Keys and limits of every interval that a planted truth may exist for; exact values are left out."""
    for row in sections["evaluate"].rows if "evaluate" in sections else ():
        if row.group is None and row.split is None and row.seed is None and row.unc.low is not None:
            key = (row.metric, "value", str(row.condition), row.condition.budget, None)
            yield key, row.unc.low, row.unc.high
    for row in sections["curve"].rows if "curve" in sections else ():
        if row.quantity in _QUANTITIES and row.unc.low is not None and row.unc.interval != "exact":
            yield (row.metric, row.quantity, row.curve, row.budget, row.baseline), row.unc.low, row.unc.high


def _truth_key(row: Mapping[str, str]) -> Key:
    where = row["condition"] if row["quantity"] == "value" else row["curve"]
    budget = int(row["budget"]) if row["budget"] else None
    return row["metric"], row["quantity"], where, budget, row["baseline"] or None
