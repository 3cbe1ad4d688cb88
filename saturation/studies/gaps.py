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
        "untested": f"cannot be tested against soft ones in {phrases.listed(by_side.get('untested', []))}",
        "none": f"have no gap to close that could be told from zero in {phrases.listed(by_side.get('none', []))}",
        "undefined": f"cannot be compared with soft ones in {phrases.listed(by_side.get('undefined', []))}",
    }
    words = [text for side, text in said.items() if side in by_side]
    return phrases.sentence(f"at {phrases.annotators(budget)} per item, {method} targets {'; they '.join(words)}")


def gap_side(row: CurveRow, rows: Sequence[CurveRow]) -> str:
    """What one share says about the other target and the soft one.

    ``better`` or ``worse``; ``same`` where the data cannot say; ``untested`` where nothing varies; ``none`` where soft
    targets leave no gap to close that could be told from zero; ``undefined`` where a metric of one side is.
    """
    from saturation.analyses.fractions import BASELINE_IS_CEILING

    gain = _gain(row, rows)
    if row.unc.estimate is None:
        no_gap = row.denominator_p is not None or row.unc.reason == BASELINE_IS_CEILING
        return "none" if no_gap else "undefined"
    if row.p is None or gain is None:
        return "untested"
    if not phrases.rejects(row.p, row.unc):
        return "same"
    return "better" if gain > 0 else "worse"


def _gap(row: CurveRow, rows: Sequence[CurveRow]) -> Finding:
    start = f"at {phrases.annotators(row.budget or 0)} per item, {row.method} targets"
    name = phrases.metric_inside(row.metric)
    about: dict[str, Any] = {"kind": "gap_closure", "metric": row.metric, "curve": row.curve, "budget": row.budget}
    if row.unc.estimate is None:
        sentence = phrases.no_comparison(f"{phrases.metric(row.metric)}, {start}", row.unc.reason or "")
        return Finding(**about, told_apart=None, sentence=sentence)
    share = f"{phrases.percent(row.unc.estimate)} ({gap_interval(row)})"
    words = f"{start} close {share} of the gap in {name} that soft targets leave to the ceiling{_amount(row, rows)}"
    tests = [f"they {one}" for one in (against_soft(row, rows), against_ceiling(row, rows)) if one]
    told_apart = None if row.p is None else phrases.rejects(row.p, row.unc)
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
    if row.p is None or side not in ("same", "better", "worse"):
        return ""
    return f"{'cannot be told from' if side == 'same' else f'are {side} than'} soft targets ({phrases.p_value(row.p)})"


def against_ceiling(row: CurveRow, rows: Sequence[CurveRow]) -> str:
    """The second test: can what is left to the ceiling be told from zero?"""
    for one in rows:
        if one.quantity == "shortfall" and _key(one) == _key(row) and one.p is not None:
            if not phrases.rejects(one.p, one.unc):
                return f"cannot be told from the ceiling ({phrases.p_value(one.p)})"
            return (
                f"are {'short of' if (one.unc.estimate or 0) > 0 else 'beyond'} the ceiling ({phrases.p_value(one.p)})"
            )
    return ""


def gain_on_soft(row: CurveRow, rows: Sequence[CurveRow]) -> CurveRow | None:
    """The row with what the other target gains, in the metric's units; None where the result has none."""
    return next((one for one in rows if one.quantity == "gap_difference" and _key(one) == _key(row)), None)


def _gain(row: CurveRow, rows: Sequence[CurveRow]) -> float | None:
    found = gain_on_soft(row, rows)
    return None if found is None else found.unc.estimate


def _amount(row: CurveRow, rows: Sequence[CurveRow]) -> str:
    """The absolute difference behind a share."""
    found = gain_on_soft(row, rows)
    if found is None or found.unc.estimate is None:
        return ""
    unit = phrases.unit(row.metric)
    return f", {phrases.with_interval(found.unc)}{' ' + unit if unit else ''}"


def _key(row: CurveRow) -> tuple[str, str, int | None]:
    return row.metric, row.curve, row.budget
