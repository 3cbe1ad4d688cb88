"""What ``report`` and ``demo`` print: a line a metric, then what is assumed and where the rest is."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from saturation.report.grids import count_text
from saturation.report.plotdata import short_names
from saturation.resampling.designs import redrawn_units
from saturation.results import ReportResult, Uncertainty
from saturation.studies import contrasts, phrases
from saturation.studies.answers import LABEL_NOISE, HowMany, found_budget, how_many, largest_below

_CHANGES_THE_ANSWER = ("labels_alike", "label_order_suspect")
"""Notes about the data without which every number may be about something else."""
_WIDENS_THE_DOUBT = "annotators_not_in_interval"
_SAID_HERE = ("planted_truth", "label_noise_only", *_CHANGES_THE_ANSWER, _WIDENS_THE_DOUBT)
"""Notes that the summary says itself; the others are counted."""
_NAME = 19
"""Characters of a metric's name that fit beside the numbers in 80 columns."""
_PLACES = 4
"""Decimals of a shortfall at most."""
_GAP = 2
"""Characters between columns, where the line has room."""
_FIRM = 3
"""Columns that are never broken into lines."""
_RANDOM = {
    "items": "other items", "seeds": "other training seeds", "annotators": "other annotators", "votes": "other votes",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Block:
    """One table: a title, column heads, rows of text."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def as_summary(report: ReportResult, width: int) -> str:
    """The report on one screen, no line wider than ``width`` (80 suffice)."""
    reasons: dict[str, int] = {}
    blocks = [_drawn(block, width) for block in _blocks(report, reasons)]
    notes = [f"({number}) {phrases.sentence(reason)}" for reason, number in reasons.items()]
    blocks.append("".join(f"{textwrap.fill(line, width)}\n" for line in [*notes, *_words(report)]))
    return "\n".join(block for block in blocks if block)


def _blocks(report: ReportResult, reasons: dict[str, int]) -> list[Block]:
    found = how_many(report.sections)
    curves = short_names(one.answer.curve for one in found if one.answer.curve is not None)
    blocks = []
    for curve, name in curves.items():
        own = [one for one in found if one.answer.curve == curve]
        over = list(dict.fromkeys(one.baseline for one in own if one.baseline is not None))
        title = f"Annotators per item, {name} targets"
        title += f": share of the improvement over {phrases.baseline(over[0])}" if len(over) == 1 else ""
        blocks.append(_block(title, own, report.sections["curve"].rows, reasons, with_baseline=len(over) > 1))
    alone = [one for one in found if one.answer.curve is None]
    if alone:
        title = "Annotators per item, the labels alone (noise in the labels, not training)"
        blocks.append(_block(title, alone, report.sections["label_curve"].rows, reasons))
    return blocks


def _block(
    title: str, found: Sequence[HowMany], rows: Sequence[Any], reasons: dict[str, int], *, with_baseline: bool = False
) -> Block:
    targets = sorted({row.q for row in rows if row.q is not None})
    head = ["metric", *(f"for {phrases.share(q)}" for q in targets), "share kept", "shortfall"]
    lines = []
    for one in found:
        of_metric = [r for r in rows if r.metric == one.answer.metric]
        of_metric = [r for r in of_metric if one.answer.curve is None or r.curve == one.answer.curve]
        line = _line(one, of_metric, targets, reasons)
        lines.append((*line, phrases.baseline(one.baseline or "")) if with_baseline else line)
    return Block(title, (*head, "over") if with_baseline else tuple(head), tuple(lines))


def _line(one: HowMany, rows: Sequence[Any], targets: Sequence[float], reasons: dict[str, int]) -> tuple[str, ...]:
    """Name, N* for every q, then share and shortfall at the first N* (where it is censored: at the budget below)."""
    own = [r for r in rows if one.baseline is None or r.baseline == one.baseline]
    fractions = [r for r in own if r.quantity == "fraction"]
    stars = {r.q: r for r in own if r.quantity == "n_star"}
    if one.kind == "undefined":
        number = reasons.setdefault(one.answer.headline, len(reasons) + 1)
        return (_name(one.answer.metric), f"none ({number})", *("",) * (len(targets) + 1))
    counts = [count_text(stars[q], fractions) if q in stars else "" for q in targets]
    first = stars[one.q]
    budget = largest_below(fractions) if first.censored == "above" else found_budget(first)
    share = next((r for r in fractions if r.budget == budget and budget is not None), None)
    left = next((r for r in rows if r.quantity == "shortfall" and r.budget == budget and budget is not None), None)
    return (
        _name(one.answer.metric),
        counts[0],
        *(text.partition(" (")[0] for text in counts[1:]),
        "" if share is None else _kept(share.unc),
        "" if left is None else _amount(left.unc),
    )


def _name(metric: str) -> str:
    """The name as on the command line; a long one goes on below."""
    head, bar, tail = metric.rpartition("_")
    return metric if len(metric) <= _NAME or not head else f"{head}\n  {bar}{tail}"


def _kept(unc: Uncertainty) -> str:
    """A share in whole percents; the page has the decimals.

    Examples
    --------
    >>> _kept(Uncertainty(0.914, low=0.88, high=0.953, level=0.95, interval="fieller"))
    '91% [88, 95]'
    """
    text = phrases.percent(unc.estimate)
    if unc.low is None or unc.high is None or unc.interval == "exact":
        return text
    return f"{text} [{phrases.number(100 * unc.low, 0)}, {phrases.number(100 * unc.high, 0)}]"


def _amount(unc: Uncertainty) -> str:
    """A shortfall with its interval, a digit fewer than on the page and no zero before the point in the brackets.

    Examples
    --------
    >>> _amount(Uncertainty(0.0562, low=0.0483, high=0.0631, level=0.95)), _amount(Uncertainty(0.0, interval="exact"))
    ('0.056 [.048, .063]', '0.000')
    """
    places = min(max(phrases.decimals(unc.low, unc.high) - 1, 1), _PLACES)
    estimate, bracket, ends = phrases.with_interval(unc, places if unc.low is not None else 3).partition(" [")
    return estimate + bracket + re.sub(r"(?<!\d)0\.", ".", ends)


def _words(report: ReportResult) -> list[str]:
    """What is assumed, whether metrics differ, the planted truth of a demo, and how many remarks there are."""
    words = [f"Check first: {note.message}." for note in report.notes if note.code in _CHANGES_THE_ANSWER]
    words += [_assumed(report)] if _assumed(report) else []
    words += [phrases.sentence(note.message) for note in report.notes if note.code == _WIDENS_THE_DOUBT]
    words += contrasts.summary(report.findings)
    words += [LABEL_NOISE] if "curve" not in report.sections else []
    words += [phrases.sentence(_head(note.message)) for note in report.notes if note.code == "planted_truth"]
    count = sum(note.code not in _SAID_HERE for note in report.notes)
    remarks = f"{count} {'remark' if count == 1 else 'remarks'}: see the page." if count else ""
    return words + ([remarks] if remarks else [])


def _head(message: str) -> str:
    """The first sentence of a longer note."""
    return message.partition(". ")[0]


def _assumed(report: ReportResult) -> str:
    """Levels and what is taken to be random; units and the meaning of the brackets."""
    rows = [row for name in ("curve", "label_curve") if name in report.sections for row in report.sections[name].rows]
    levels = list(dict.fromkeys(row.unc.level for row in rows if row.unc.level is not None))
    designs = dict.fromkeys(row.unc.design for row in rows if row.unc.design is not None)
    units = dict.fromkeys(unit for design in designs for unit in redrawn_units(design))
    if not levels:
        return ""
    said = f" for {phrases.listed(_RANDOM.get(unit, unit) for unit in units)}" if units else ""
    return phrases.sentence(
        f"in brackets: {phrases.listed(phrases.share(one) for one in levels)} intervals{said}; share and shortfall "
        "(what is left to the ceiling; divergences in nats) are those at the first number, for > N those at N"
    )


def _drawn(block: Block, width: int) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    columns = zip(block.head, *block.rows, strict=True)
    natural = sum(max(len(line) for cell in column for line in cell.split("\n")) + _GAP for column in columns) - _GAP
    table = Table(box=None, pad_edge=False, padding=(0, _GAP if natural <= width else 1, 0, 0))
    for place, name in enumerate(block.head):
        table.add_column(Text(name), justify="left" if place == 0 else "right", overflow="fold", no_wrap=place < _FIRM)
    for row in block.rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console(file=io.StringIO(), width=width, no_color=True, highlight=False, legacy_windows=False)
    with console.capture() as captured:
        console.print(table)
    lines = "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())
    return f"{textwrap.fill(block.title, width)}\n{lines}"
