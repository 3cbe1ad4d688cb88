"""Replications of one setting: simulate, analyse, count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tests.statistical import model
from tests.statistical.quantities import ANALYSES, Analysis, asked
from tests.statistical.settings import Setting
from tests.statistical.tally import Tally
from tests.statistical.truth import Truth


def replicate(
    seed: int,
    setting: Setting,
    replications: Iterable[int],
    true: Mapping[str, Truth],
    analyses: Sequence[Analysis] = ANALYSES,
) -> dict[str, Tally]:
    """Tallies by quantity; what has no truth (0 and 1 by definition) is left out."""
    found: dict[str, Tally] = {}
    for replication in replications:
        panel = model.study(seed, setting, replication)
        for analysis in analyses:
            if not asked(analysis, setting, replication):
                continue
            for answer in analysis(panel, setting):
                if answer.name in true:
                    found.setdefault(answer.name, Tally()).add(answer, true[answer.name].value)
    return found
