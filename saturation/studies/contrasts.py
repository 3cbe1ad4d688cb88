"""Do the metrics differ, and does the learner differ from its labels? Pure functions from result rows to sentences.

Nothing is computed here but what a sentence needs to be read: points for shares, ratios for logarithms. What the data
cannot tell apart is said so; it is never said to be the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from saturation.results import CurveRow, Finding, Result
from saturation.studies import gaps, phrases
from saturation.studies.answers import headline_baseline, real_curves
from saturation.studies.phrases import distinct

NOT_TOLD = "cannot be told apart with these data"
BANDS = "A band holds over all budgets of one pair together, not over all pairs together."
"""What the bands cover; said once where contrasts stand."""
_IN_BRACKETS = re.compile(r" \([^()]*\)")


def find(sections: Mapping[str, Result[Any]]) -> tuple[Finding, ...]:
    """All findings of a report: pairs of metrics, model against labels, other targets against soft ones."""
    if "curve" not in sections:
        return ()
    rows = sections["curve"].rows
    return (*metric_findings(rows), *label_findings(rows), *gaps.gap_findings(rows))


def metric_findings(rows: Sequence[CurveRow]) -> list[Finding]:
    """One finding a curve and pair of metrics of one order, over the baseline of the headline."""
    found = []
    for curve in real_curves(rows):
        own = [r for r in rows if r.curve == curve]
        baseline = headline_baseline(own)
        pairs = distinct((r.metric, r.metric_b) for r in own if r.quantity == "contrast_fraction")
        for pair in pairs:
            both = [r for r in own if (r.metric, r.metric_b) == pair and r.baseline == baseline]
            if both:
                found.append(_pair(both))
    return found


def label_findings(rows: Sequence[CurveRow]) -> list[Finding]:
    """One finding a curve and metric that is judged against the labels' own curve: correlations, accuracy."""
    kept = [r for r in rows if r.quantity == "contrast_labels"]
    keys = distinct((r.curve, r.metric) for r in kept)
    return [_against_labels([r for r in kept if (r.curve, r.metric) == key]) for key in keys]


def told(rows: Iterable[CurveRow]) -> tuple[list[CurveRow], list[CurveRow]]:
    """Contrasts whose simultaneous band lies above zero, and those whose band lies below."""
    listed = list(rows)
    above = [r for r in listed if r.simultaneous_low is not None and r.simultaneous_low > 0]
    return above, [r for r in listed if r.simultaneous_high is not None and r.simultaneous_high < 0]


def summary(findings: Sequence[Finding]) -> list[str]:
    """At most two lines: pairs of metrics of the first curve, then models against labels.

    Examples
    --------
    >>> one = Finding(kind="metrics", metric="kl", metric_b="jsd", curve="c", told_apart=True, sentence="")
    >>> summary([one])
    ['Of 1 pair of metrics within one order, 1 is told apart at one budget or more.']
    """
    return [*_pairs_summary(of_first_curve(findings, "metrics")), *_labels_summary(of_first_curve(findings, "labels"))]


def merged(pairs: Sequence[Finding]) -> list[str]:
    """The pairs that are told apart, one sentence each; the others together, by name."""
    lines = [one.sentence for one in pairs if one.told_apart]
    for value, start in (
        (False, f"{NOT_TOLD} at any budget tried: "),
        (None, "no comparison (reasons below the table): "),
    ):
        names = [pair_name(one.metric, one.metric_b) for one in pairs if one.told_apart is value]
        lines += [phrases.sentence(start + "; ".join(names))] if names else []
    return lines


def of_first_curve(findings: Sequence[Finding], kind: str) -> list[Finding]:
    """Findings of one kind about the curve with the most budgets."""
    kept = [one for one in findings if one.kind == kind]
    return [one for one in kept if one.curve == kept[0].curve]


def pair_name(metric: str, metric_b: str | None) -> str:
    """Two metrics in words."""
    return f"{phrases.metric(metric)} and {phrases.metric_inside(metric_b or '')}"


def _pairs_summary(pairs: Sequence[Finding]) -> list[str]:
    compared = [one for one in pairs if one.told_apart is not None]
    if not compared:
        return []
    apart = sum(bool(one.told_apart) for one in compared)
    words = f"of {_count(len(compared), 'pair')} of metrics within one order, "
    if not apart:
        return [phrases.sentence(f"{words}none can be told apart with these data")]
    words += f"{apart} {'is' if apart == 1 else 'are'} told apart at one budget or more"
    if apart < len(compared):
        words += f"; {len(compared) - apart} {NOT_TOLD}"
    return [phrases.sentence(words)]


def _labels_summary(found: Sequence[Finding]) -> list[str]:
    compared = [one for one in found if one.told_apart is not None]
    same = [phrases.metric_inside(one.metric) for one in compared if not one.told_apart]
    words = [_IN_BRACKETS.sub("", one.sentence).removesuffix(".") for one in compared if one.told_apart]
    if same:
        words.append(f"in {phrases.listed(same)}, model and labels alone {NOT_TOLD}")
    return [phrases.sentence("; ".join(words))] if words else []


def _pair(rows: Sequence[CurveRow]) -> Finding:
    first = rows[0]
    by_budget = [r for r in rows if r.quantity == "contrast_fraction"]
    about: dict[str, Any] = {
        "kind": "metrics", "metric": first.metric, "metric_b": first.metric_b, "curve": first.curve,
        "baseline": first.baseline,
    }  # fmt: skip
    name = pair_name(first.metric, first.metric_b)
    known = [r for r in by_budget if r.unc.estimate is not None]
    if not known:
        reason = by_budget[0].unc.reason or "no fraction could be compared"
        return Finding(**about, told_apart=None, sentence=phrases.no_comparison(name, reason))
    if all(r.unc.interval == "exact" for r in known):
        return Finding(**about, told_apart=False, sentence=phrases.sentence(f"{name}: {known[0].unc.reason}"))
    above, below = told(known)
    ratio = _told_ratio(rows)
    words = [_keeps_more(one, side) for side, one in ((1, above), (-1, below)) if one]
    words += [] if words else [f"{name} {NOT_TOLD} at any budget tried: {_largest(known)}"]
    words += [ratio] if ratio else []
    return Finding(**about, told_apart=bool(above or below or ratio), sentence=" ".join(map(phrases.sentence, words)))


def _keeps_more(rows: Sequence[CurveRow], side: int) -> str:
    """The metric that is ahead, at which budgets, and the clearest difference with its band."""
    ahead, behind = _sides(rows[0], side)
    best = max(rows, key=lambda r: abs(r.unc.estimate or 0))
    return (
        f"{ahead} keeps more than {behind} at {_budgets(rows)}: {_points(best, side)} more at "
        f"{phrases.budget(best.budget or 0)} ({_band(best, side)})"
    )


def _sides(row: CurveRow, side: int) -> tuple[str, str]:
    """The metric that is ahead and the one behind."""
    one, other = phrases.metric_inside(row.metric), phrases.metric_inside(row.metric_b or "")
    return (one, other) if side > 0 else (other, one)


def _budgets(rows: Sequence[CurveRow]) -> str:
    counts = [phrases.budget(r.budget or 0) for r in rows]
    return f"{phrases.listed(counts)} {'annotator' if counts == ['1'] else 'annotators'}"


def _told_ratio(rows: Sequence[CurveRow]) -> str | None:
    """The ratio of the two N*, where its interval excludes 1, at the smallest such q."""
    logs = sorted((r for r in rows if r.quantity == "contrast_log_n_star"), key=lambda r: r.q or 0)
    for row in logs:
        low, high = row.unc.low, row.unc.high
        if low is None or high is None or row.unc.interval == "exact" or low <= 0 <= high:
            continue
        fewer, more = _sides(row, 1 if high < 0 else -1)
        return (
            f"to keep {phrases.share(row.q or 0)}, {fewer} takes {ratio_in_words(row, 1 if high < 0 else -1)} the "
            f"annotators of {more}"
        )
    return None


def ratio_in_words(row: CurveRow, side: int = 1) -> str:
    """A difference of logarithms as a ratio with its interval; ``side`` -1 turns it over.

    Examples
    --------
    >>> from saturation.results import Uncertainty
    >>> row = CurveRow(quantity="contrast_log_n_star", metric="kl", metric_b="jsd", curve="c", direction="none",
    ...                unc=Uncertainty(math.log(0.5), low=math.log(0.4), high=math.log(0.625), level=0.95))
    >>> ratio_in_words(row), ratio_in_words(row, -1)
    ('0.50 times (95% interval 0.40 to 0.62)', '2.00 times (95% interval 1.60 to 2.50)')
    """
    unc = row.unc
    ends = sorted(math.exp(side * end) for end in (unc.low, unc.high) if end is not None)
    span = f" ({phrases.share(unc.level or 0)} interval {ends[0]:.2f} to {ends[-1]:.2f})" if ends else ""
    return f"{math.exp(side * (unc.estimate or 0)):.2f} times{span}"


def _largest(rows: Sequence[CurveRow]) -> str:
    """The largest difference that is still no difference to speak of, with its band."""
    banded = [r for r in rows if r.simultaneous_low is not None] or list(rows)
    best = max(banded, key=lambda r: abs(r.unc.estimate or 0))
    side = 1 if (best.unc.estimate or 0) >= 0 else -1
    return (
        f"the largest difference is {_points(best, side)} at {phrases.budget(best.budget or 0)} ({_band(best, side)})"
    )


def _points(row: CurveRow, side: int) -> str:
    value = 100 * side * (row.unc.estimate or 0)
    decimals = places(row)
    text = phrases.number(value, decimals)
    return f"{text} {'point' if float(f'{value:.{decimals}f}') == 1 else 'points'}"


def _band(row: CurveRow, side: int) -> str:
    low, high = row.simultaneous_low, row.simultaneous_high
    if low is None or high is None:
        return "no band"
    ends = sorted((100 * side * low, 100 * side * high))
    decimals = places(row)
    level = phrases.share(row.unc.level or 0)
    return f"{level} band {phrases.number(ends[0], decimals)} to {phrases.number(ends[1], decimals)}"


def places(row: CurveRow) -> int:
    """Decimals of points: enough to see the band's width and on which side of zero its ends are."""
    ends = (row.simultaneous_low, row.simultaneous_high)
    if ends[0] is None or ends[1] is None:
        return 1
    decimals = phrases.percent_places(ends[0], ends[1])
    nearest = min(abs(ends[0]), abs(ends[1]))
    return max(decimals, 2 if nearest < 0.0005 else 1 if nearest < 0.005 else 0)


def _against_labels(rows: Sequence[CurveRow]) -> Finding:
    first = rows[0]
    about: dict[str, Any] = {"kind": "labels", "metric": first.metric, "curve": first.curve, "baseline": first.baseline}
    name = phrases.metric(first.metric)
    known = [r for r in rows if r.unc.estimate is not None]
    if not known:
        return Finding(**about, told_apart=None, sentence=phrases.no_comparison(name, first.unc.reason or ""))
    above, below = told(known)
    if not above and not below:
        words = f"{name}: model and labels alone {NOT_TOLD} at any budget tried; {_largest(known)}"
        return Finding(**about, told_apart=False, sentence=phrases.sentence(words))
    parts = [
        f"the model saturates {when} than the labels alone, at {_budgets(own)} ({_clearest(own, side)})"
        for side, when, own in ((1, "earlier", above), (-1, "later", below))
        if own
    ]
    return Finding(**about, told_apart=True, sentence=phrases.sentence(f"{name}: {'; '.join(parts)}"))


def _clearest(rows: Sequence[CurveRow], side: int) -> str:
    best = max(rows, key=lambda r: abs(r.unc.estimate or 0))
    more = "more" if side > 0 else "less"
    return f"{_points(best, side)} {more} of the gain from the smallest budget, {_band(best, side)}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
