"""Which items a saturation curve is computed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saturation.analyses.curve.curves import Curve
from saturation.errors import UsageError
from saturation.metrics.entropy import entropy_of_counts
from saturation.results import Note
from saturation.tables.panel import Panel

PER_BUDGET_ITEMS = "per-budget"
RAGGED = ("common", PER_BUDGET_ITEMS)
SHARE_OF_ITEMS = 0.8
"""At least this share of the items must have the largest budget, or the votes are not the ones it was drawn from."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ItemSet:
    """Items to use: a mask over the distinct items, and the budget they are for (None: all rows)."""

    kept: Mask
    budget: int | None = None


def item_sets(panel: Panel, curves: Sequence[Curve], ragged: str) -> tuple[list[ItemSet], list[Note]]:
    """The item sets of a study and what to say about them.

    ``common``: one set for every curve, fraction and N*: the items with at least as many votes as the largest budget.
    Where fewer than 80% of the items have that many, the votes that the models are scored against are not those that
    the budgets were drawn from (test items may well have fewer votes than training items): then all items are kept,
    and a note says so. ``per-budget``: each budget on all items that have as many votes.
    """
    budgets = sorted({b for curve in curves if curve.takes_votes for b in curve.budgets if b is not None})
    totals = panel.votes.totals
    used = np.zeros(len(totals), dtype=bool)
    used[np.concatenate(panel.items_of_split)] = True
    used &= totals > 0
    if not used.any():
        raise UsageError("no predicted item has a vote")
    if not budgets:
        return [ItemSet(used)], []
    if ragged == PER_BUDGET_ITEMS:
        return _per_budget(used, totals, budgets)
    enough = used & (totals >= budgets[-1])
    if enough.sum() == used.sum():
        return [ItemSet(used)], []
    if enough.sum() < SHARE_OF_ITEMS * used.sum() or _empties_a_split(panel, enough):
        return [ItemSet(used)], [_kept_all(used, enough, budgets[-1])]
    return [ItemSet(enough)], [_dropped(panel, used, enough, budgets[-1])]


def _per_budget(used: Mask, totals: NDArray[np.int64], budgets: Sequence[int]) -> tuple[list[ItemSet], list[Note]]:
    sets = [ItemSet(used), *(ItemSet(used & (totals >= b), b) for b in budgets)]
    sizes = ", ".join(f"N = {s.budget}: {int(s.kept.sum())}" for s in sets[1:])
    message = (
        f"items differ between budgets ({sizes}): a curve then mixes items with votes; "
        "N* and contrasts need one item set and are left out (ragged=common gives them)"
    )
    return [s for s in sets if s.kept.any()], [Note("ragged_per_budget", message)]


def _empties_a_split(panel: Panel, kept: Mask) -> bool:
    return any(not kept[items].any() for items in panel.items_of_split)


def _kept_all(used: Mask, enough: Mask, largest: int) -> Note:
    message = (
        f"only {int(enough.sum())} of {int(used.sum())} items have {largest} votes, the largest budget: the votes "
        "scored against are not those the budgets were drawn from, so every budget is scored on all items"
    )
    return Note("ragged_all_items", message)


def _dropped(panel: Panel, used: Mask, enough: Mask, largest: int) -> Note:
    entropies = entropy_of_counts(panel.votes.counts)
    message = (
        f"one item set for the whole curve: {int(enough.sum())} of {int(used.sum())} items have {largest} votes or "
        f"more; the other {int((used & ~enough).sum())} are left out (mean vote entropy {entropies[enough].mean():.3f} "
        f"nats of those kept, {entropies[used].mean():.3f} of all)"
    )
    return Note("item_set", message)
