"""What is asked of every simulated study: the real analyses, and whether their intervals hold the truth.

To add a quantity: a function of a panel that yields answers, listed in ``ANALYSES``, and its truth under the same
name in ``truth``. Answers without a truth (0 and 1 by definition) are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from saturation.analyses.comparing.comparison import compare
from saturation.analyses.curve.saturation import saturation_curve
from saturation.analyses.evaluate import evaluate
from saturation.analyses.labels.label_curve import label_curve
from saturation.analyses.murphy.decomposition import murphy
from saturation.results import CurveRow, LabelCurveRow
from saturation.results.rows import HALF_OPEN
from saturation.tables.panel import Panel
from tests.statistical import truth
from tests.statistical.settings import Setting
from tests.statistical.truth_murphy import BINS

PART_DRAWS = 100
"""Draws behind the annotators' part of a variance (the package uses 400): its error of 14% costs 0.3% of coverage."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One interval; ``low`` and ``high`` both None: the analysis gave a reason instead.

    Attributes
    ----------
    name
        As in ``truth``.
    estimate, low, high
        An open end is infinite.
    outside
        The confidence set is everything but (low, high): Fieller's complement.
    """

    name: str
    estimate: float | None
    low: float | None
    high: float | None
    outside: bool = False


Analysis = Callable[[Panel, Setting], Iterator[Answer]]


def evaluated(panel: Panel, setting: Setting) -> Iterator[Answer]:
    """Metrics of one condition, plug-in and corrected."""
    at = truth.EVALUATED_CONDITION
    one = replace(panel, conditions=panel.conditions[at : at + 1], probs=(panel.probs[0][at : at + 1],))
    for row in evaluate(one, metrics=tuple(truth.EVALUATED), n_resamples=PART_DRAWS, threads=1).rows:
        yield Answer(f"evaluate {row.metric}", row.unc.estimate, row.unc.low, row.unc.high)
        if row.metric in truth.CORRECTED:
            name = f"evaluate {row.metric} corrected"
            yield Answer(name, row.corrected, row.corrected_low, row.corrected_high)


def curves(panel: Panel, setting: Setting) -> Iterator[Answer]:
    """Values, shortfalls, fractions and N* of the saturation curve.

    The entropy correlation comes with its label-only curve, which lists 5,151 states an item at 100 votes: left out
    there for its time.
    """
    metrics = tuple(m for m in truth.CURVE_METRICS if m != "entropy_correlation" or setting.n_votes < 100)
    options = {"baselines": [truth.BASELINE], "q": (truth.Q,), "n_resamples": PART_DRAWS, "threads": 1}
    for row in saturation_curve(panel, metrics=metrics, **options).rows:
        yield from _curve_answers("curve", row)


def labels(panel: Panel, setting: Setting) -> Iterator[Answer]:
    """Values, fractions and N* of the label-side curve: it knows no seeds, so studies with one seed show it all."""
    if setting.n_seeds > 1:
        return
    for row in label_curve(panel.votes, metrics=tuple(truth.LABEL_METRICS), q=(truth.Q,), threads=1).rows:
        yield from _curve_answers("labels", row)


def differences(panel: Panel, setting: Setting) -> Iterator[Answer]:
    """Two conditions compared; effect sizes and tests, which need resamples, are left out."""
    a, b = (str(panel.conditions[at]) for at in truth.COMPARED)
    options = {"metrics": tuple(truth.COMPARED_METRICS), "tests": [], "n_resamples": PART_DRAWS, "threads": 1}
    for row in compare(panel, a=a, b=b, **options).rows:
        if row.quantity in ("difference", "relative_change"):
            yield Answer(f"compare {row.metric} {row.quantity}", row.unc.estimate, row.unc.low, row.unc.high)


def decomposed(panel: Panel, setting: Setting) -> Iterator[Answer]:
    """Corrected terms of Murphy's decomposition, of one condition and of its difference to another."""
    two = list(truth.DECOMPOSED)
    kept = replace(panel, conditions=tuple(panel.conditions[at] for at in two), probs=(panel.probs[0][two],))
    options = {"outcome": "votes", "bins": BINS, "n_resamples": PART_DRAWS, "threads": 1}
    for row in murphy(kept, versus=str(kept.conditions[1]), **options).rows:
        if row.condition == kept.conditions[0]:
            name = f"murphy {row.term}{'' if row.versus is None else ' difference'}"
            yield Answer(name, row.unc.estimate, row.unc.low, row.unc.high)


ANALYSES: tuple[Analysis, ...] = (evaluated, differences, decomposed, curves, labels)


def asked(analysis: Analysis, setting: Setting, replication: int) -> bool:
    """Whether a replication asks for an analysis: the slow ones (.5 to 1 s) in one of five.

    These are label curves at 100 votes, and decompositions of 500 items and more with a crowd.
    """
    slow_labels = analysis is labels and setting.n_votes == 100
    slow_terms = analysis is decomposed and setting.annotators and setting.n_items >= 500
    return replication % 5 == 0 or not (slow_labels or slow_terms)


def _curve_answers(side: str, row: CurveRow | LabelCurveRow) -> Iterator[Answer]:
    """The answer of one row of a curve."""
    made = row.unc
    if row.quantity in ("value", "shortfall", "fraction"):
        name = f"{side} {row.metric} {row.quantity} {row.budget}"
        yield Answer(name, made.estimate, made.low, made.high)
        if isinstance(row, CurveRow) and row.fieller_shape is not None:
            yield _fieller(f"{name} set", row)
    elif row.quantity in ("n_star", "n_star_interpolated"):
        name = f"{side} {row.metric} {row.quantity}"
        yield _star(name, row)


def _fieller(name: str, row: CurveRow) -> Answer:
    """Fieller's whole set, bounded or not: its coverage holds whether or not the fraction is defined."""
    if row.fieller_shape == "whole line":
        return Answer(name, None, -math.inf, math.inf)
    return Answer(name, None, row.fieller_low, row.fieller_high, outside=row.fieller_shape == "complement")


def _star(name: str, row: CurveRow | LabelCurveRow) -> Answer:
    """N*: where the grid of budgets ends, so does the interval; undefined where no fraction is defined.

    On the grid the interval (low, high] leaves ``low`` out.
    """
    made = row.unc
    if made.estimate is None and row.censored is None:
        return Answer(name, None, None, None)
    low = 0.0 if made.low is None else made.low
    if row.quantity in HALF_OPEN:
        low = math.nextafter(low, math.inf)
    return Answer(name, made.estimate, low, math.inf if made.high is None else made.high)
