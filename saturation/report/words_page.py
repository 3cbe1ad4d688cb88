"""The last section of the page: what its words mean, folded away for those who know them."""

from __future__ import annotations

from saturation.report.section import Section, Words
from saturation.results import ReportResult

MODELS = (
    "Budget, N: how many votes an item a training target was made from.",
    "Soft and hard targets: a soft target is the shares of these votes, a hard one their majority label alone.",
    "Condition: what a model was trained on: its method (soft, hard, smoothing ...), budget and options. Cell: one of "
    "its trainings, a split of the items and a training seed.",
    "Ceiling: what counts as saturated, here the same model at its largest budget unless another was named.",
    "Baseline: where an improvement is counted from, e.g. hard labels or the smallest budget.",
    "Shortfall: how much worse N votes are than the ceiling, in the metric's own units.",
)
SHARED = (
    "Share kept (fraction): the part of the improvement from baseline to ceiling that N votes bring, 100% at the "
    "ceiling.",
    "N*: the smallest budget shown to keep that share. (10, 20] is more than 10 and at most 20, since only the budgets "
    "tried are known.",
    "N* ratio: the N* of one metric over that of another; 0.5 means half the annotators.",
    "Order: how a metric's excess falls with N: as 1/N where it is quadratic in the error (order 2: KL, Brier), as "
    "1/\u221aN where it is linear (order 1: total variation). By arithmetic alone the first saturates earlier.",
    "95% interval: made so that 95 of 100 such intervals hold the true value, for what the page says is drawn anew. "
    "Band: the same for all budgets of a line together.",
    "Nats: the unit of entropies and divergences with natural logarithms; 1 nat is 1.44 bits.",
)

MEASURED = (
    "How well the 95% intervals cover, measured on thousands of simulated studies whose answers are known: scores, "
    "correlations, differences, fractions and label curves held them in 93 to 97%; N* and the corrected KL in more.",
    "Where they hold less: few items with skewed scores (92%), and fewer than 20 people, of which a note warns. One "
    "training seed says nothing about the next run.",
    "True nulls were rejected in 4 to 6% of 10,000 data sets by most tests; in more by t tests of few very skewed "
    "differences (8%), with two or three runs that differ much (8 to 12%), Romano-Wolf of few items (11%), and "
    "Williams, Steiger and Zou for entropies (7%).",
)
"""From the tables of ``tests/statistical/README.md``."""


def part(report: ReportResult) -> list[Section]:
    """The words of a page with models, or of one about labels alone."""
    lines = (*MODELS, *SHARED) if "curve" in report.sections else SHARED
    lists = (Words("", lines), Words("How far to trust the intervals", MEASURED))
    return [Section("words", "Words", "What the words on this page mean", (), (), words=lists, folded=True)]
