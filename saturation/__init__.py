"""How many annotators per item do I need?

Saturation of metrics in the number of human votes per item, with intervals that say what they cover.

In: ``read_votes``, ``read_soft_votes`` and ``read_panel`` from files or frames, ``votes_from_counts`` and
``panel_from_arrays`` from arrays.
Questions: ``label_curve`` (how close are N votes to the crowd?), ``saturation_curve`` (what does each budget bring a
model?), ``evaluate`` (how good are the predictions?), ``compare`` (which condition is better?), ``murphy`` (what is the
Brier score made of?), ``plan`` (what should the next evaluation buy?), ``ceiling`` (what would people score?),
``equivalents`` (how many of them is a model worth?), ``elicit_compare`` (is it cheaper to ask fewer people for more?);
``report`` answers them together, ``study`` for several models and data sets. ``heldout`` scores against votes that
training did not see; ``baselines`` adds conditions that need no training to a table of predictions.
Out: ``plot`` draws results, ``write_table`` writes tables.
Beside them: ``metrics`` (the formulas), ``simulate`` (studies with a known answer), ``__version__``, and the errors
``SaturationError``, ``UsageError`` and ``DataError``, which lists each ``Problem``.

Names are loaded when they are first used, so that ``import saturation`` costs next to nothing.

Examples
--------
>>> import saturation as sat
>>> "label_curve" in dir(sat)
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saturation import metrics, simulate
    from saturation.analyses.baselines.baselines import baselines
    from saturation.analyses.comparing.comparison import compare
    from saturation.analyses.curve.saturation import saturation_curve
    from saturation.analyses.eliciting.compare import elicit_compare
    from saturation.analyses.evaluate import evaluate
    from saturation.analyses.heldout.heldout import heldout
    from saturation.analyses.labels.label_curve import label_curve
    from saturation.analyses.murphy.decomposition import murphy
    from saturation.analyses.planning.plan import plan
    from saturation.analyses.worth.ceiling import ceiling
    from saturation.analyses.worth.equivalents import equivalents
    from saturation.errors import DataError, Problem, SaturationError, UsageError
    from saturation.report import figures as plot
    from saturation.studies.report import make_report as report
    from saturation.studies.study import study
    from saturation.tables.builders import panel_from_arrays, votes_from_counts
    from saturation.tables.door import read_panel, read_votes
    from saturation.tables.io import write_table
    from saturation.tables.soft_votes import read_soft_votes

    __version__: str

_HOME = {
    "DataError": "saturation.errors",
    "Problem": "saturation.errors",
    "SaturationError": "saturation.errors",
    "UsageError": "saturation.errors",
    "baselines": "saturation.analyses.baselines.baselines",
    "ceiling": "saturation.analyses.worth.ceiling",
    "compare": "saturation.analyses.comparing.comparison",
    "equivalents": "saturation.analyses.worth.equivalents",
    "elicit_compare": "saturation.analyses.eliciting.compare",
    "evaluate": "saturation.analyses.evaluate",
    "heldout": "saturation.analyses.heldout.heldout",
    "label_curve": "saturation.analyses.labels.label_curve",
    "murphy": "saturation.analyses.murphy.decomposition",
    "panel_from_arrays": "saturation.tables.builders",
    "plan": "saturation.analyses.planning.plan",
    "read_panel": "saturation.tables.door",
    "read_soft_votes": "saturation.tables.soft_votes",
    "read_votes": "saturation.tables.door",
    "saturation_curve": "saturation.analyses.curve.saturation",
    "study": "saturation.studies.study",
    "votes_from_counts": "saturation.tables.builders",
    "write_table": "saturation.tables.io",
}
"""Where each public name lives."""

_MODULES = {
    "metrics": "saturation.metrics",
    "plot": "saturation.report.figures",
    "report": "saturation.report",
    "simulate": "saturation.simulate",
}
"""Public names that are modules; ``report`` can also be called."""

__all__ = [
    "DataError",
    "Problem",
    "SaturationError",
    "UsageError",
    "__version__",
    "baselines",
    "ceiling",
    "compare",
    "elicit_compare",
    "equivalents",
    "evaluate",
    "heldout",
    "label_curve",
    "metrics",
    "murphy",
    "panel_from_arrays",
    "plan",
    "plot",
    "read_panel",
    "read_soft_votes",
    "read_votes",
    "report",
    "saturation_curve",
    "simulate",
    "study",
    "votes_from_counts",
    "write_table",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = importlib.import_module(_MODULES[name])
    elif name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name == "__version__":
        value = importlib.import_module("importlib.metadata").version("annotation-saturation")
    else:
        raise AttributeError(f"module 'saturation' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
