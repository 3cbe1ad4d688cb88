"""How many annotators, in words: pure functions from result rows to sentences.

Nothing is computed here. A number that is undefined, censored or exact is said to be so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from saturation.resampling.designs import redrawn_units
from saturation.results import Answer, CurveRow, LabelCurveRow, Result, Uncertainty
from saturation.studies import phrases
from saturation.studies.phrases import distinct

CurveLike: TypeAlias = CurveRow | LabelCurveRow

LABEL_NOISE = (
    "This is about noise in the labels, not about training: it says how close few votes come to many, "
    "not how well a model trained on them would do."
)
"""Said once where answers without a model stand."""
NOT_TRAINING = "About label noise, not training."
"""Said with every answer that no model stands behind."""

_HEADLINE_BASELINES = ("hard", "temperature", "smoothing_tuned", "base_rate", "smallest")

_TOO_FEW = (
    "Votes kept aside as the reference leave no second budget to compare: collect more votes for some of the items, "
    "or choose --reference plug_in or all, which compare with the votes themselves and flatter."
)
_SAID = ("in (", "> ", "<= ")

_REFERENCES = {
    "disjoint": "other votes of the same items, none of them among the N",
    "rest": "the remaining votes of the same items",
    "all": "all votes of the same items, the N included (flattering)",
    "plug_in": "the observed label shares, votes drawn with replacement",
}

_UNITS = {"seeds": "training seeds"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HowMany:
    """The N* of one metric, curve and baseline at one q, ready to be read.

    Attributes
    ----------
    short
        For a large type: ``3``, ``≤ 1``, ``> 50`` or ``?``.
    kind
        ``found``, ``at most`` (the smallest budget tried already qualifies), ``above`` (censored), ``undefined``.
    baseline, q
        What the fraction is a fraction over, and how much of it is to be kept.
    answer
        The sentences.
    """

    short: str
    kind: str
    baseline: str | None
    q: float | None
    answer: Answer


def how_many(sections: Mapping[str, Result[Any]]) -> tuple[HowMany, ...]:
    """The answers of a report: the model curves first, then the labels alone, metrics in their given order."""
    found: list[HowMany] = []
    if "curve" in sections:
        found += model_answers(sections["curve"].rows)
    if "label_curve" in sections:
        found += label_answers(sections["label_curve"].rows)
    return tuple(found)


def model_answers(rows: Sequence[CurveRow]) -> list[HowMany]:
    """One answer for each metric and curve of a saturation result; conditions of a single budget have none."""
    metrics = distinct(row.metric for row in rows)
    present = {(row.metric, row.curve) for row in rows}
    keys = [(m, curve) for curve in real_curves(rows) for m in metrics if (m, curve) in present]
    return [_model_answer([r for r in rows if (r.metric, r.curve) == key]) for key in keys]


def real_curves(rows: Sequence[CurveRow]) -> tuple[str, ...]:
    """Curves with at least two budgets, those with the most first; one budget is a point."""
    budgets: dict[str, set[int]] = {}
    for row in rows:
        if row.budget is not None and not row.quantity.startswith(("label_", "fit_")):
            budgets.setdefault(row.curve, set()).add(row.budget)
    found = sorted(budgets, key=lambda curve: -len(budgets[curve]))
    return tuple(curve for curve in found if len(budgets[curve]) > 1)


def label_answers(rows: Sequence[LabelCurveRow]) -> list[HowMany]:
    """One answer for each metric of a label-side result."""
    return [_label_answer([r for r in rows if r.metric == metric]) for metric in distinct(r.metric for r in rows)]


def headline_baseline(rows: Iterable[CurveRow]) -> str | None:
    """The baseline that the first sentence is about: hard labels where there are any."""
    present = distinct(r.baseline for r in rows if r.baseline is not None and r.quantity in ("n_star", "fraction"))
    ranked = [name for name in _HEADLINE_BASELINES if name in present] + list(present)
    return ranked[0] if ranked else None


def _model_answer(rows: list[CurveRow]) -> HowMany:
    baseline = headline_baseline(rows)
    stars = [r for r in rows if r.quantity == "n_star" and r.baseline == baseline]
    fractions = [r for r in rows if r.quantity == "fraction" and r.baseline == baseline]
    if not stars:
        return _no_answer(rows, _model_assumption(rows))
    star = min(stars, key=lambda r: r.q or 0)
    over = f"of the improvement over {phrases.baseline(baseline or '')}"
    detail = [
        *_grid_words(star, fractions),
        *_fraction_words(star, fractions),
        *_shortfall_words(star, rows),
        *_fit_words(star, rows),
        *_higher_targets(star, stars, fractions),
        *_other_baselines(star, rows),
        *_remark(star.unc),
    ]
    found = _compose(star, fractions, over, detail=" ".join(detail), assumption=_model_assumption(rows))
    return replace(found, baseline=baseline)


def _label_answer(rows: list[LabelCurveRow]) -> HowMany:
    found = _answer_of_labels(rows)
    if found.kind == "undefined" and len({r.budget for r in rows if r.budget is not None}) < 2:
        return replace(found, answer=replace(found.answer, detail=_TOO_FEW))
    return found


def _answer_of_labels(rows: list[LabelCurveRow]) -> HowMany:
    stars = [r for r in rows if r.quantity == "n_star"]
    fractions = [r for r in rows if r.quantity == "fraction"]
    if not stars:
        return _no_answer(rows, _label_assumption(rows))
    star = min(stars, key=lambda r: r.q or 0)
    budgets = _budgets(fractions)
    over = f"of what {phrases.budget(budgets[-1])} votes gain over {_votes(budgets[0])}" if budgets else "of the gain"
    detail = [
        *_grid_words(star, fractions),
        *_fraction_words(star, fractions),
        *_draw_words(star, rows),
        *_higher_targets(star, stars, fractions),
        *_remark(star.unc),
    ]
    return _compose(star, fractions, over, detail=" ".join(detail), assumption=_label_assumption(rows))


def _compose(star: CurveLike, fractions: Sequence[CurveLike], over: str, *, detail: str, assumption: str) -> HowMany:
    kind = _kind(star)
    keep = f"at least {phrases.share(star.q or 0)} {over}{_sureness(star.unc)}"
    curve = star.curve if isinstance(star, CurveRow) else None
    if kind == "undefined":
        return _undefined(star.metric, curve, star.unc.reason, assumption)
    if kind == "above":
        short = f"> {_above_words(fractions)}"
        people = "annotator" if largest_below(fractions) == 1 else "annotators"
        headline = f"more than {_above_words(fractions)} {people} per item to keep {keep}: {_why_above(fractions)}"
    else:
        count = found_budget(star) or 0
        short = f"≤ {phrases.budget(count)}" if kind == "at most" else phrases.budget(count)
        headline = f"{phrases.annotators(count)} per item {'keeps' if count == 1 else 'keep'} {keep}"
    answer = Answer(
        metric=star.metric,
        curve=curve,
        headline=phrases.sentence(headline),
        detail=detail,
        assumption=assumption,
    )
    return HowMany(short=short, kind=kind, baseline=None, q=star.q, answer=answer)


def _kind(star: CurveLike) -> str:
    if star.censored == "above":
        return "above"
    if star.censored == "below":
        return "at most"
    return "undefined" if star.unc.estimate is None else "found"


def found_budget(star: CurveLike) -> float | None:
    """The budget an N* names: its estimate, or the smallest budget tried where that already qualifies."""
    return star.unc.high if star.censored == "below" else star.unc.estimate


def largest_below(fractions: Sequence[CurveLike]) -> int | None:
    """What a censored N* is known to lie above: the largest budget that is not the ceiling itself."""
    known = sorted((r for r in fractions if r.budget is not None and r.unc.estimate is not None), key=_budget_of)
    below = known[:-1] if known and _is_ceiling(known[-1]) else known
    return below[-1].budget if below else None


def _is_ceiling(row: CurveLike) -> bool:
    """Whether this budget is the ceiling itself, whose share is 1 by definition."""
    return row.unc.interval == "exact" and row.unc.estimate == 1


def _why_above(fractions: Sequence[CurveLike]) -> str:
    """What a censored N* means: only the ceiling itself qualifies, or the curve ends too early."""
    ceiling = [row for row in fractions if _is_ceiling(row)]
    if not ceiling:
        return "no budget of this curve is shown to keep that much"
    return f"no budget tried below the ceiling, {phrases.budget(_budget_of(ceiling[0]))}, is shown to"


def _budget_of(row: CurveLike) -> int:
    return row.budget or 0


def _above_words(fractions: Sequence[CurveLike]) -> str:
    below = largest_below(fractions)
    return "the budgets tried" if below is None else phrases.budget(below)


def _grid_words(star: CurveLike, fractions: Sequence[CurveLike]) -> list[str]:
    """What the grid of budgets and the inverted test leave open about N*."""
    words = []
    kind = _kind(star)
    smaller = [b for b in _budgets(fractions) if star.unc.estimate is not None and b < star.unc.estimate]
    if kind == "at most":
        words.append("It is the smallest budget tried, so fewer may do.")
    elif kind == "found" and smaller:
        words.append(f"The next smaller budget tried, {phrases.budget(smaller[-1])}, is not shown to.")
    return words + _compatible_words(star, kind)


def _compatible_words(star: CurveLike, kind: str) -> list[str]:
    """The interval of N* inverts the test: what lies above the last budget that is excluded."""
    unc = star.unc
    if kind != "found" or unc.low is None or unc.interval == "exact":
        return []
    words = [f"above {phrases.budget(unc.low)}"] if unc.low > 0 else []
    words += [f"at most {phrases.budget(unc.high)}"] if unc.high is not None else []
    level = phrases.share(unc.level or 0)
    if not words:
        return [f"The {level} interval of that number is open: the budgets tried exclude none."]
    return [f"The {level} interval of that number: {', '.join(words)}."]


def _fraction_words(star: CurveLike, fractions: Sequence[CurveLike]) -> list[str]:
    """The share at the budget that the answer names."""
    named = largest_below(fractions) if star.censored == "above" else found_budget(star)
    for row in fractions:
        if row.budget is not None and row.budget == named and row.unc.estimate is not None:
            return [f"At {phrases.budget(row.budget)} the share kept is {share_in_words(row)}."]
    return []


def share_in_words(row: CurveLike) -> str:
    """A fraction with its interval in words; exact ones say that they need none.

    Examples
    --------
    >>> from saturation.results import LabelCurveRow
    >>> row = LabelCurveRow(quantity="fraction", metric="brier", budget=10, target="raw", reference="all",
    ...                     direction="lower", unc=Uncertainty(0.909, interval="exact", estimator="exact"))
    >>> share_in_words(row)
    '91% (exact for these items, no interval needed)'
    """
    unc = row.unc
    shape = row.fieller_shape if isinstance(row, CurveRow) else None
    if shape in ("whole line", "complement"):
        return f"{phrases.percent(unc.estimate)} ({fieller_in_words(row)})"
    if unc.interval == "exact":
        return f"{phrases.percent(unc.estimate)} (exact for these items, no interval needed)"
    if unc.low is None or unc.high is None:
        reason = (unc.reason or "none was computed").removeprefix("no interval: ")
        return f"{phrases.percent(unc.estimate)} (no interval: {reason})"
    level = phrases.share(unc.level or 0)
    return (
        f"{phrases.percent(unc.estimate)} ({level} interval {phrases.percent(unc.low)} to {phrases.percent(unc.high)})"
    )


def fieller_in_words(row: CurveLike) -> str:
    """Fieller's set where it is not an interval."""
    if not isinstance(row, CurveRow) or row.fieller_shape in (None, "bounded"):
        return ""
    if row.fieller_shape == "whole line":
        return "Fieller's set is the whole line: the data exclude no value"
    low, high = phrases.percent(row.fieller_low), phrases.percent(row.fieller_high)
    return f"Fieller's set is unbounded: everything outside {low} to {high}"


def _shortfall_words(star: CurveRow, rows: Sequence[CurveRow]) -> list[str]:
    for row in rows:
        if (
            row.quantity == "shortfall"
            and row.budget is not None
            and row.budget == found_budget(star)
            and row.unc.estimate is not None
        ):
            unit = phrases.unit(row.metric)
            amount = phrases.with_interval(row.unc)
            return [f"What is left to the ceiling there: {amount}{' ' + unit if unit else ''}."]
    return []


def _fit_words(star: CurveRow, rows: Sequence[CurveRow]) -> list[str]:
    """Where the fitted curve itself keeps the share, which may lie beyond the budgets tried."""
    for row in rows:
        if row.quantity == "n_star_fit" and (row.q, row.baseline) == (star.q, star.baseline):
            if row.unc.estimate is None:
                return []
            ends = [None if end is None else phrases.budget(end) for end in (row.unc.low, row.unc.high)]
            span = f"{phrases.share(row.unc.level or 0)} interval {ends[0]} to {ends[1] or 'any number'}"
            beyond = next((part for part in (row.unc.reason or "").split("; ") if part.startswith("extrapolated")), "")
            told = f", {beyond}" if beyond else ""
            return [f"The fitted curve keeps it at {phrases.annotators(row.unc.estimate)} ({span}){told}."]
    return []


def _draw_words(star: LabelCurveRow, rows: Sequence[LabelCurveRow]) -> list[str]:
    for row in rows:
        if (
            row.quantity == "value"
            and row.budget is not None
            and row.budget == found_budget(star)
            and row.draw_low is not None
        ):
            places = phrases.decimals(row.draw_low, row.draw_high)
            span = f"{phrases.number(row.draw_low, places)} and {phrases.number(row.draw_high, places)}"
            unit = phrases.unit(row.metric)
            return [f"One actual collection of that size would score between {span}{' ' + unit if unit else ''}."]
    return []


def _higher_targets(star: CurveLike, stars: Sequence[CurveLike], fractions: Sequence[CurveLike]) -> list[str]:
    higher = sorted((r for r in stars if (r.q or 0) > (star.q or 0)), key=lambda r: r.q or 0)
    words = [f"keeping {phrases.share(row.q or 0)} takes {count_in_words(row, fractions)}" for row in higher]
    return [phrases.sentence(phrases.listed(words))] if words else []


def count_in_words(row: CurveLike, fractions: Sequence[CurveLike]) -> str:
    """An N* inside a sentence; ``fractions`` are the shares it was read from."""
    if row.censored == "above":
        return f"more than {_above_words(fractions)}"
    if row.censored == "below":
        return f"at most {phrases.budget(row.unc.high or 0)}"
    if row.unc.estimate is None:
        return f"an undefined number ({row.unc.reason or 'no reason was given'})"
    return phrases.budget(row.unc.estimate)


def _other_baselines(star: CurveRow, rows: Sequence[CurveRow]) -> list[str]:
    """The same share over the other baselines; of many smoothing strengths, and of reasons, the tables tell."""
    from saturation.analyses.fractions import BASELINE_IS_CEILING

    words = []
    others = [r for r in rows if r.quantity == "n_star" and r.q == star.q and r.baseline != star.baseline]
    named = [r for r in others if r.baseline in _HEADLINE_BASELINES]
    for row in named if len(others) > 3 else others:
        if row.unc.reason != BASELINE_IS_CEILING:
            own = [r for r in rows if r.quantity == "fraction" and r.baseline == row.baseline]
            takes = "is undefined" if _kind(row) == "undefined" else f"takes {count_in_words(row, own)}"
            words.append(f"over {phrases.baseline(row.baseline or '')} {takes}")
    return [phrases.sentence(f"the same share {'; '.join(words)}")] if words else []


def remarks(reason: str | None) -> list[str]:
    """The parts of an N*'s reason that the grid of budgets does not say already.

    Examples
    --------
    >>> remarks("in (2, 3]: the budgets between were not tried; one seed: training noise is not in this interval")
    ['one seed: training noise is not in this interval']
    """
    return [part for part in (reason or "").split("; ") if part and not part.startswith(_SAID)]


def _remark(unc: Uncertainty) -> list[str]:
    return [phrases.sentence(part) for part in remarks(unc.reason)]


def _model_assumption(rows: Sequence[CurveRow]) -> str:
    words = []
    ceilings = distinct(r.ceiling for r in rows if r.ceiling is not None)
    if ceilings:
        words.append(f"The ceiling is {phrases.listed(ceilings)}.")
    words += _redrawn(rows)
    return " ".join(words)


def _label_assumption(rows: Sequence[LabelCurveRow]) -> str:
    words = [NOT_TRAINING]
    first = next((r for r in rows if r.budget is not None), rows[0])
    reference = _REFERENCES.get(first.reference, first.reference)
    if first.reference_size == 1:
        reference = reference.replace("other votes", "other vote").replace("none of them", "not")
    size = "" if first.reference_size is None else f"{phrases.budget(first.reference_size)} "
    words.append(f"Scored against {size}{reference}.")
    if first.target == "dirichlet" and first.alpha is not None:
        words.append(f"The N votes are smoothed with {first.alpha:.3g} added to each label.")
    return " ".join(words + _redrawn(rows))


def _redrawn(rows: Sequence[CurveLike]) -> list[str]:
    """What the intervals treat as random, in words."""
    designs = distinct(r.unc.design for r in rows if r.unc.design is not None)
    units = distinct(_UNITS.get(unit, unit) for design in designs for unit in redrawn_units(design))
    return [f"The intervals are for other {phrases.listed(units)}."] if units else []


def _no_answer(rows: Sequence[CurveLike], assumption: str) -> HowMany:
    first = rows[0]
    curve = first.curve if isinstance(first, CurveRow) else None
    reasons = distinct(r.unc.reason for r in rows if r.unc.estimate is None and r.unc.reason)
    if first.direction == "none":
        reasons = ("it has no better or worse, so there is no share of an improvement",)
    return _undefined(first.metric, curve, reasons[0] if reasons else None, assumption)


def _undefined(metric: str, curve: str | None, reason: str | None, assumption: str) -> HowMany:
    why = (reason or "no fraction could be computed from these budgets").removeprefix("undefined: ")
    answer = Answer(
        metric=metric,
        curve=curve,
        headline=phrases.sentence(f"no number can be given, because {why}"),
        detail="",
        assumption=assumption,
    )
    return HowMany(short="?", kind="undefined", baseline=None, q=None, answer=answer)


def _sureness(unc: Uncertainty) -> str:
    if unc.interval == "exact":
        return " (exact for these items)"
    return "" if unc.level is None else f" ({phrases.share(unc.level)} one-sided)"


def _budgets(rows: Sequence[CurveLike]) -> list[int]:
    return sorted({r.budget for r in rows if r.budget is not None and r.unc.estimate is not None})


def _votes(count: int) -> str:
    return "1 vote" if count == 1 else f"{phrases.budget(count)} votes"
