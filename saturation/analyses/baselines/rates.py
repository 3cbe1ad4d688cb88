"""The base-rate baseline: for every item the mean label distribution of other items."""

from __future__ import annotations

import numpy as np

from saturation.analyses.baselines.sources import Made, Source
from saturation.conditions import STANDARD_COLUMNS, Condition
from saturation.errors import UsageError
from saturation.metrics import agreement
from saturation.metrics.common import shares
from saturation.resampling import intervals
from saturation.results import BaselineRow, Uncertainty
from saturation.typing import Counts, Ints

METHOD = "base_rate"
ONE_ITEM = "one item only: no spread over items"


def base_rates(source: Source) -> tuple[list[BaselineRow], list[Made]]:
    """The base rate of every split for every model, from training items where they are known, else development ones.

    Raises
    ------
    UsageError
        When a split has voted items of neither part.
    """
    rows: list[BaselineRow] = []
    made: list[Made] = []
    for (shared, split), test in _families(source).items():
        name = source.parted.splits[split]
        part, items = _known(source, name)
        counts = source.parted.votes.counts[items]
        pi = agreement.base_rate(counts).distribution
        condition = Condition.of(**{**dict(shared.values), "method": METHOD})
        made.append(Made(condition, test, np.tile(pi, (len(test), 1)), has_seed=False))
        for place, label in enumerate(source.parted.votes.labels):
            unc = _uncertainty(counts, place, float(pi[place]), part, source.settings.level)
            rows.append(BaselineRow(quantity="base_rate", condition=condition, split=name, label=label, unc=unc))
    return rows, made


def _families(source: Source) -> dict[tuple[Condition, int], Ints]:
    """By model (with the columns that do not describe a target) and split: one test row an item, in item order."""
    described = [name for name in STANDARD_COLUMNS if name != "model"]
    found: dict[tuple[Condition, int], list[Ints]] = {}
    for cell in source.cells.values():
        if len(cell.test):
            found.setdefault((cell.condition.without(*described), cell.split), []).append(cell.test)
    ids = np.asarray(source.parted.frame["item_id"].rank("dense").to_numpy(), dtype=np.int64)
    distinct = {}
    for key, several in found.items():
        rows = np.concatenate(several)
        distinct[key] = rows[np.unique(ids[rows], return_index=True)[1]]
    return distinct


def _known(source: Source, split: str) -> tuple[str, Ints]:
    """Part and items that pi is taken from; never the test items."""
    for part in ("train", "dev"):
        items = source.parted.in_part[split, part]
        if len(items):
            return part, items
    raise UsageError(
        f"split {split} has no training or development items with votes, so that a base rate could only come from the "
        "test items; give a splits table (splits), or make only the others (methods temperature, smoothing_tuned)"
    )


def _uncertainty(counts: Counts, label: int, pi: float, part: str, level: float) -> Uncertainty:
    """Of a mean over items."""
    own = shares(counts)[:, label]
    said = {"train": f"of the {len(own):,} training items", "dev": f"of the {len(own):,} development items"}[part]
    made = intervals.none(ONE_ITEM)
    se = None
    if len(own) > 1:
        se = float(own.std(ddof=1) / len(own) ** 0.5)
        made = intervals.normal(pi, se, level, len(own) - 1, "linearized_t")
    return Uncertainty(
        estimate=pi,
        low=made.low,
        high=made.high,
        se=se,
        level=level,
        interval=made.method,
        design="items",
        n_items=len(own),
        reason="; ".join(filter(None, (said, made.reason))),
    )
