"""What another target (Dirichlet) gains at one budget: the share it closes of the soft target's gap to the ceiling.

Two tests stand with every share: against the soft target, and against the ceiling. A test that rejects nothing says
that the data cannot tell, never that there is no gain or nothing left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saturation.results import CurveRow, Finding
from saturation.studies import phrases


def gap_findings(rows: Sequence[CurveRow]) -> list[Finding]:
    """One finding a metric and budget of every target that is not plain soft."""
    return [_gap(row, rows) for row in rows if row.quantity == "gap_closure"]


def gap_summaries(rows: Sequence[CurveRow]) -> list[str]:
    """One sentence a target and budget: where it is better than the soft one, and where the data cannot say."""
    kept = [r for r in rows if r.quantity == "gap_closure"]
    keys = dict.fromkeys((r.curve, r.method or "", r.budget or 0) for r in kept)
    return [
        _gap_summary(method, budget, [r for r in kept if (r.curve, r.budget) == (curve, budget)], rows)
        for curve, method, budget in keys
    ]


def _gap_summary(method: str, budget: int, own: Sequence[CurveRow], rows: Sequence[CurveRow]) -> str:
    by_side: dict[str, list[str]] = {}
    for row in own:
        by_side.setdefault(gap_side(row, rows), []).append(phrases.metric_inside(row.metric))
    said = {
        "better": f"are better than soft ones in {phrases.listed(by_side.get('better', []))}",
        "worse": f"are worse in {phrases.listed(by_side.get('worse', []))}",
        "same": f"cannot be told from soft ones in {phrases.listed(by_side.get('same', []))}",
        "none": f"have no gap to close that could be told from zero in {phrases.listed(by_side.get('none', []))}",
    }
    words = [text for side, text in said.items() if side in by_side]
    return phrases.sentence(f"at {phrases.annotators(budget)} per item, {method} targets {'; they '.join(words)}")


def gap_side(row: CurveRow, rows: Sequence[CurveRow]) -> str:
    """``better`` or ``worse`` than the soft target, ``same`` where the data cannot say, ``none`` without a gap."""
    if row.unc.estimate is None or row.p is None:
        return "none"
    return _better_or_worse(row, rows) if _rejects(row, row.p) else "same"


def _gap(row: CurveRow, rows: Sequence[CurveRow]) -> Finding:
    start = f"at {phrases.annotators(row.budget or 0)} per item, {row.method} targets"
    name = phrases.metric_inside(row.metric)
    about: dict[str, Any] = {"kind": "gap_closure", "metric": row.metric, "curve": row.curve, "budget": row.budget}
    if row.unc.estimate is None:
        sentence = phrases.no_comparison(f"{phrases.metric(row.metric)}, {start}", row.unc.reason or "")
        return Finding(**about, told_apart=None, sentence=sentence)
    share = f"{phrases.percent(row.unc.estimate)} ({gap_interval(row)})"
    words = f"{start} close {share} of the gap in {name} that soft targets leave to the ceiling"
    tests = [f"they {one}" for one in (against_soft(row, rows), against_ceiling(row, rows)) if one]
    told_apart = _rejects(row, row.p)
    return Finding(**about, told_apart=told_apart, sentence=phrases.sentence("; ".join([words, *tests])))


def gap_interval(row: CurveRow) -> str:
    """The interval of a closed share in words, or why it has none."""
    low, high = row.unc.low, row.unc.high
    if low is None or high is None:
        return row.unc.reason or "no interval"
    return f"{phrases.share(row.unc.level or 0)} interval {phrases.percent(low)} to {phrases.percent(high)}"


def against_soft(row: CurveRow, rows: Sequence[CurveRow]) -> str:
    """The first test: is the other target better than the soft one at this budget?"""
    side = gap_side(row, rows)
    if row.p is None or side == "none":
        return ""
    return f"{'cannot be told from' if side == 'same' else f'are {side} than'} soft targets ({phrases.p_value(row.p)})"


def against_ceiling(row: CurveRow, rows: Sequence[CurveRow]) -> str:
    """The second test: can what is left to the ceiling be told from zero?"""
    for one in rows:
        if one.quantity == "shortfall" and _key(one) == _key(row) and one.p is not None:
            if not _rejects(one, one.p):
                return f"cannot be told from the ceiling ({phrases.p_value(one.p)})"
            return (
                f"are {'short of' if (one.unc.estimate or 0) > 0 else 'beyond'} the ceiling ({phrases.p_value(one.p)})"
            )
    return ""


def _better_or_worse(row: CurveRow, rows: Sequence[CurveRow]) -> str:
    """Which target is better, from the values themselves."""
    values = [r for r in rows if r.quantity == "value" and (r.metric, r.model, r.budget) == _point(row)]
    other = [r.unc.estimate for r in values if r.curve == row.curve and r.unc.estimate is not None]
    soft = [r.unc.estimate for r in values if r.method == "soft" and r.unc.estimate is not None]
    return "better" if (other[-1] < soft[-1]) == (row.direction == "lower") else "worse"


def _rejects(row: CurveRow, p: float | None) -> bool | None:
    return None if p is None else p < 1 - (row.unc.level or 0.95)


def _key(row: CurveRow) -> tuple[str, str, int | None]:
    return row.metric, row.curve, row.budget


def _point(row: CurveRow) -> tuple[str, str | None, int | None]:
    return row.metric, row.model, row.budget
