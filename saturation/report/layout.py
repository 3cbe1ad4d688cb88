"""Rows arranged for people: a section a quantity, what varies in columns, what all share said once, reasons below."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from saturation.results.rows import HALF_OPEN

Record = Mapping[str, Any]

INTERVALS = {
    "estimate": ("low", "high"),
    "corrected": ("corrected_low", "corrected_high"),
    "simultaneous": ("simultaneous_low", "simultaneous_high"),
    "fieller": ("fieller_low", "fieller_high"),
    "draws": ("draw_low", "draw_high"),
    "reliability": ("reliability_low", "reliability_high"),
}
"""Columns that are read together, by the name of the column that shows them."""

ALWAYS = ("metric", *INTERVALS)
"""Never said once for all rows, even when they agree."""

P_VALUES = ("p", "p_adjusted", "denominator_p")

REPEATED = {
    "condition": ("model", "method"),
    "model": ("curve",),
    "method": ("curve",),
    "se": ("low",),
    "censored": ("estimate",),
}
"""Columns that say again what another one says: left out where one of those has values."""

FITS = ("fit_asymptote", "fit_exponent", "fit_prediction", "fit_aicc")
"""Quantities of fitted curves, whose baseline names the form."""

LEAST = (
    "alternative", "family_size", "n_pairs", "df", "bins_used", "estimator", "interval", "n_resamples", "design",
    "level", "n_dropped", "reference_size", "repeats", "mc_se", "draw_sd", "draws", "denominator_p", "fieller",
    "fieller_shape", "cell_sd", "n_cells", "direction", "floor", "n_items", "ceiling", "simultaneous", "target",
    "reference", "votes",
)  # fmt: skip
"""What is left out first where a line is too short."""

WORDS = {
    "n_items": "items",
    "n_cells": "cells",
    "n_resamples": "resamples",
    "n_dropped": "dropped",
    "direction": "better",
    "metric_b": "versus",
    "reference_size": "reference votes",
    "mc_se": "MC se",
    "draw_sd": "sd of draws",
    "cell_sd": "sd of cells",
    "denominator_p": "p of denominator",
    "fieller_shape": "Fieller set",
    "n_pairs": "pairs",
    "favours": "better side",
    "cohen_dz": "Cohen's d_z",
    "planned_difference": "true difference",
    "share": "share of resamples",
    "crowd_size": "people",
}


TITLES = {
    "difference": "difference a - b",
    "cohen_dz": "Cohen's d_z",
    "superiority": "probability that a is better on an item",
    "test": "tests",
    "contrast_fraction": "contrast of fractions",
    "contrast_labels": "contrast with the labels alone",
    "label_value": "value, labels alone",
    "label_fraction": "fraction, labels alone",
    "fraction_cell_sd": "spread of the fraction over cells (sd)",
    "gap_difference": "gain of another target on soft ones of the same budget",
    "gap_closure": "gap closure: share of what soft targets leave to the ceiling",
    "n_star": "N*",
    "n_star_interpolated": "N* interpolated between budgets",
    "n_star_noninferiority": "N* by non-inferiority",
    "n_star_fit": "N* by the fitted curve",
    "contrast_log_n_star": "contrast of log N*",
    "fit_asymptote": "fitted curves: what they settle at",
    "fit_exponent": "fitted curves: exponent c of a + b N^-c, rate c of a + b exp(-c N)",
    "fit_prediction": "fitted curves: predictions",
    "equivalent": "annotators that a model is worth",
    "score": "scores of the models",
    "crowd": "scores of crowds, by the number of people",
    "ceiling": "what people themselves would score",
    "distance": "how far models are from it: model minus ceiling",
    "optimum": "the best number of votes an item to evaluate models with (not to train them on)",
    "component": "variances: between items, between votes on an item, between annotators",
    "width": "expected width of the interval",
    "bias": "bias of a value against so few votes",
    "floor": "width that no money buys: it falls with the number of annotators alone",
    "power": "power to tell a from b",
    "detectable": "difference that is found with 80% power",
    "wrong_metric": "expected error when votes are bought for another metric, relative to the own optimum",
    "fit_aicc": "fitted curves: AICc, smaller is preferred",
    "temperature": "temperature T that the logits are divided by",
    "strength": "smoothing strength chosen on the development items",
    "dev_loss": "soft cross-entropy on the development items, in nats",
    "base_rate": "base rate: share of each label",
    "test_loss": "soft cross-entropy of the tuned model on the test items, in nats",
    "best_on_test": "soft cross-entropy of the strength that is best on the test items, in nats: a bound",
    "equivalent_votes": "plain votes that score as the soft votes do",
    "break_even_seconds": "seconds a plain vote may take before soft votes are quicker",
    "time_ratio": "time of the equivalent plain votes over that of the soft votes",
    "bias_squared": "squared bias of soft votes, which stays however many are asked",
    "variance": "variance of one soft vote",
    "limit": "plain votes that any number of soft votes is worth",
    "rel": "rel: reliability, what miscalibration costs",
    "res": "res: resolution, what telling items apart gains",
    "unc": "unc: uncertainty of the labels alone",
    "wbv": "wbv: spread of the forecasts within bins",
    "wbc": "wbc: twice their covariance with the outcome within bins",
    "rel_corrected": "rel corrected for noise in the bins",
    "res_corrected": "res corrected for noise in the bins",
    "unc_corrected": "unc corrected for noise",
    "resolvable": "resolvable: the part of unc that items explain, the most that res can be",
    "irreducible": "irreducible: the part of unc that is disagreement on an item",
    "resolvable_corrected": "resolvable corrected for few votes",
    "irreducible_corrected": "irreducible corrected for few votes",
}
"""Quantities whose name is no heading yet."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A table as people read it.

    Attributes
    ----------
    title
        What it is a table of, and what all of its rows share; may be empty.
    headers
        (columns,)
    keys
        (columns,) the row keys behind them.
    rows
        Cells as text, one list a row.
    numeric
        (columns,) whether a column is set flush right.
    """

    title: str
    headers: tuple[str, ...]
    keys: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]

    @property
    def droppable(self) -> str | None:
        """The column that a narrower page would leave out next."""
        return next((key for key in LEAST if key in self.keys), None)

    def without(self, key: str) -> Layout:
        """The same table without one column."""
        keep = [i for i, one in enumerate(self.keys) if one != key]
        return Layout(
            title=self.title,
            headers=tuple(self.headers[i] for i in keep),
            keys=tuple(self.keys[i] for i in keep),
            rows=tuple(tuple(row[i] for i in keep) for row in self.rows),
            numeric=tuple(self.numeric[i] for i in keep),
        )


@dataclass(frozen=True, slots=True)
class Page:
    """All rows of a result, ready to be drawn.

    Attributes
    ----------
    sections
        One table a quantity or metric, in first-seen order.
    caption
        What all rows share, in words; may be empty.
    footnotes
        Reasons, in the order of their numbers.
    sentences
        What may be concluded, to be read before the tables.
    """

    sections: tuple[Layout, ...]
    caption: str
    footnotes: tuple[str, ...]
    sentences: tuple[str, ...] = ()


def arrange(records: Sequence[Record]) -> Page:
    """Lay records out for people; numbers keep their meaning, not their seventeen digits."""
    footnotes = tuple(dict.fromkeys(str(record["reason"]) for record in records if record.get("reason")))
    heading = _heading(records)
    shared = _constants(records, [name for name in _columns(records) if name != heading])
    sections: dict[Any, list[Record]] = {}
    for record in records:
        sections.setdefault(None if heading is None else record[heading], []).append(record)
    return Page(
        sections=tuple(_section(title, rows, (heading, *shared), footnotes) for title, rows in sections.items()),
        caption=_said(shared, next(iter(sections)) if sections and set(sections) <= set(FITS) else None),
        footnotes=footnotes,
    )


def _heading(records: Sequence[Record]) -> str | None:
    """The column that tables are made by: the quantity; else the metric, where one has several rows.

    A decomposition is read term by term over its conditions; of a single condition, outcome by outcome.
    """
    if not records or "estimate" not in records[0]:
        return None
    if "quantity" in records[0]:
        return "quantity"
    if "term" in records[0]:
        several = len({(record["condition"], record["versus"]) for record in records}) > 1
        return "term" if several else "outcome"
    metrics = [record.get("metric") for record in records]
    return "metric" if len(set(metrics)) < len(metrics) else None


def _section(
    heading: str | None, records: Sequence[Record], said: Sequence[str | None], footnotes: Sequence[str]
) -> Layout:
    """The table under one heading; what its rows share goes there too."""
    names = [name for name in _columns(records) if name not in said]
    own = _constants(records, names) if heading is not None else {}
    keys = tuple(name for name in names if name not in own)
    columns = [_cells(records, key) for key in keys]
    _mark(records, keys, columns, footnotes)
    title = "" if heading is None else TITLES.get(heading, heading)
    return Layout(
        title=f"{title} ({_said(own, heading)})" if own else title,
        headers=tuple(_header(records, key) for key in keys),
        keys=keys,
        rows=tuple(tuple(cells) for cells in zip(*columns, strict=True)) if columns else (),
        numeric=tuple(key in INTERVALS or _is_numeric(records, key) for key in keys),
    )


def _columns(records: Sequence[Record]) -> list[str]:
    """Columns worth showing: none that is null throughout, none that repeats another, intervals with their number."""
    names = [name for name in (records[0] if records else ()) if _has_values(records, name)]
    names = [name for name in names if not any(other in names for other in REPEATED.get(name, ()))]
    return [name for name in _with_intervals(names) if name != "reason"]


def _said(constants: Mapping[str, Any], heading: str | None = None) -> str:
    return "; ".join(f"{_named(key, heading)}: {text(value)}" for key, value in constants.items())


def _named(key: str, heading: str | None) -> str:
    """A column in words; the baseline of a fitted curve is its form."""
    return "form" if key == "baseline" and heading in FITS else _word(key)


def text(value: Any) -> str:
    """One value in a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(text(one) for one in value)
    return str(value)


def p_value(p: float | None) -> str:
    """A p-value: two digits, and never an exact zero.

    Examples
    --------
    >>> p_value(0.04512), p_value(0.000012), p_value(0.0), p_value(1.0)
    ('0.045', '<0.0001', '<0.0001', '1')
    """
    if p is None:
        return ""
    return "<0.0001" if p < 1e-4 else f"{p:.2g}"


def with_interval(
    value: float | None, low: float | None, high: float | None, se: float | None = None, censored: str | None = None
) -> str:
    """An estimate with as many digits as its interval supports (two of the half-width).

    ``censored`` stands in for an estimate beyond the grid; a bound that is missing alone is ``open``.

    Examples
    --------
    >>> with_interval(0.6173031800504526, 0.5532, 0.6814)
    '0.617 [0.553, 0.681]'
    >>> with_interval(0.25, None, None), with_interval(None, None, None), with_interval(None, 5.0, None, None, "above")
    ('0.25', '-', 'above [5, open]')
    """
    digits = _decimals(value, low, high)
    center = (censored or "-") if value is None else _number(value, digits)
    if low is None and high is None:
        return f"{center} (se {se:.2g})" if se is not None else center
    return f"{center} [{_bound(low, digits)}, {_bound(high, digits)}]"


def _bound(bound: float | None, digits: int | None) -> str:
    return "open" if bound is None else _number(bound, digits)


def _number(value: float, digits: int | None) -> str:
    shown = f"{value:.4g}" if digits is None else f"{value:.{digits}f}"
    return shown.removeprefix("-") if float(shown) == 0 else shown


def _decimals(value: float | None, low: float | None, high: float | None) -> int | None:
    """Decimals at which half the interval keeps two significant digits; None without a width to go by.

    An interval far wider than the estimate must not round the estimate away: it keeps up to two decimals.
    """
    if low is None or high is None or low == high:
        return None
    if all(one is None or one.is_integer() for one in (None if n is None else float(n) for n in (value, low, high))):
        return 0
    needed = _two_digits(abs(high - low) / 2)
    return max(needed, min(_two_digits(abs(value)), 2)) if value else needed


def _two_digits(size: float) -> int:
    return min(max(1 - math.floor(math.log10(size)), 0), 12)


def _word(key: str) -> str:
    return WORDS.get(key, key.replace("_", " "))


def _header(records: Sequence[Record], key: str) -> str:
    name = _named(key, records[0].get("quantity") if records else None)
    if key not in INTERVALS or not any(_has_values(records, bound) for bound in INTERVALS[key]):
        return name
    told = f"{name} [low, high]"
    return _open_below(told) if all(record.get("quantity") in HALF_OPEN for record in records) else told


def _has_values(records: Sequence[Record], name: str) -> bool:
    """Whether a column is worth showing: an estimate always is, its reason stands in its place."""
    return name == "estimate" or any(record.get(name) is not None for record in records)


def _with_intervals(names: Sequence[str]) -> list[str]:
    """Put one column in place of the two or three that belong together."""
    owner = {bound: whole for whole, bounds in INTERVALS.items() for bound in bounds}
    return list(dict.fromkeys(owner.get(name, name) for name in names))


def _constants(records: Sequence[Record], names: Sequence[str]) -> dict[str, Any]:
    """What all rows agree on; of plain listings, which estimate nothing, every column stays a column."""
    if not records or "estimate" not in records[0]:
        return {}
    first = records[0]
    free = [name for name in names if name not in ALWAYS]
    return {name: first[name] for name in free if all(record[name] == first[name] for record in records)}


def _cells(records: Sequence[Record], key: str) -> list[str]:
    if key in P_VALUES:
        return [p_value(record[key]) for record in records]
    if key not in INTERVALS:
        return [text(record[key]) for record in records]
    low, high = INTERVALS[key]
    return [_interval_cell(record, key, record.get(low), record.get(high)) for record in records]


def _interval_cell(record: Record, key: str, low: float | None, high: float | None) -> str:
    if key == "estimate":
        told = with_interval(record[key], low, high, record.get("se"), record.get("censored"))
        return _open_below(told) if record.get("quantity") in HALF_OPEN else told
    if record.get(key) is None:
        return "" if low is None and high is None else with_interval(None, low, high).removeprefix("- ")
    return with_interval(record[key], low, high)


def _mark(
    records: Sequence[Record], keys: Sequence[str], columns: Sequence[list[str]], footnotes: Sequence[str]
) -> None:
    """Append the number of its footnote to each estimate that has a reason; rows without one get the last column."""
    if not columns or not footnotes:
        return
    target = columns[keys.index("estimate")] if "estimate" in keys else columns[-1]
    for position, record in enumerate(records):
        if record.get("reason"):
            target[position] += f" ({footnotes.index(str(record['reason'])) + 1})"


def _open_below(text: str) -> str:
    """An interval without its lower end: ``20 [10, 20]`` as ``20 (10, 20]``."""
    return text.replace("[", "(", 1)


def _is_numeric(records: Sequence[Record], key: str) -> bool:
    values = [record[key] for record in records if record[key] is not None]
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
