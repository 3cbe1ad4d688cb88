"""The tuned smoothing baseline: of the strengths that were trained, the one that is best on development items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from saturation import calibration
from saturation.analyses.baselines.sources import Cell, Made, Source
from saturation.conditions import Condition
from saturation.errors import UsageError
from saturation.resampling import intervals
from saturation.resampling.sums import weighted_sums
from saturation.results import BaselineRow, Uncertainty
from saturation.typing import Floats, Ints, Scores

METHOD = "smoothing_tuned"
NO_SMOOTHING = "no test row has method=smoothing with a strength, and one of these is chosen"
ONE_STRENGTH = "one strength only was trained, so that nothing is chosen"
A_BOUND = "chosen on the test items that it is scored on: a bound on what tuning could bring, not a result"


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Models of one split that differ in their strength alone: cells[strength][seed], seeds that all of them have."""

    condition: Condition
    split: int
    strengths: tuple[float, ...]
    cells: tuple[tuple[Cell, ...], ...]


def tuned(source: Source, *, best_on_test: bool) -> tuple[list[BaselineRow], list[Made]]:
    """The strength of every model and split, chosen for all seeds together, and its test rows under a new name.

    The seeds of a split share their development items, so that one choice over all of them is free of training noise.
    Splits are not pooled: a development item of one may be a test item of another.

    Raises
    ------
    UsageError
        When the strengths of a model have no seed or no development item in common.
    """
    rows: list[BaselineRow] = []
    made: list[Made] = []
    for group in _groups(source):
        items, scored = _scored(source, group, "dev")
        if not len(items):
            raise UsageError(
                f"the smoothing models {group.condition} have no development rows with votes in common in split "
                f"{source.parted.splits[group.split]}; predict the dev items with all of them, or make only the others "
                "(methods temperature, base_rate)"
            )
        chosen, more = _choice(source, group, items, scored)
        rows += more
        if best_on_test:
            rows += _on_test(source, group, chosen)
        strength = group.strengths[chosen]
        for cell in group.cells[chosen]:
            probs = source.parted.probs[cell.test]
            made.append(Made(group.condition, cell.test, probs, strength=strength))
    return rows, made


def _groups(source: Source) -> Iterator[_Group]:
    found: dict[tuple[Condition, int], dict[float, dict[int, Cell]]] = {}
    for cell in source.cells.values():
        one = cell.condition
        if one.method == "smoothing" and one.strength is not None and len(cell.test):
            group = found.setdefault((one.without("strength"), cell.split), {})
            group.setdefault(one.strength, {})[cell.seed] = cell
    for (shared, split), by_strength in found.items():
        strengths = tuple(sorted(by_strength))
        seeds = sorted(set.intersection(*(set(by_strength[e]) for e in strengths)))
        condition = Condition.of(**{**dict(shared.values), "method": METHOD})
        if not seeds:
            listed = ", ".join(f"{e:g}" for e in strengths)
            raise UsageError(f"no seed of split {source.parted.splits[split]} has all strengths {listed} of {shared}")
        yield _Group(condition, split, strengths, tuple(tuple(by_strength[e][t] for t in seeds) for e in strengths))


def _scored(source: Source, group: _Group, part: str) -> tuple[Ints, Scores]:
    """Items that every cell of the group predicts, and (strengths, items) their soft cross-entropy, mean over seeds."""
    parted = source.parted
    rows = [[_voted(source, getattr(cell, part)) for cell in cells] for cells in group.cells]
    items = [parted.item[own] for of_strength in rows for own in of_strength]
    common = items[0]
    for more in items[1:]:
        common = np.intersect1d(common, more)
    if not len(common):
        return common, np.zeros((len(rows), 0))
    probs = np.stack([np.stack([_of_items(parted.probs, parted.item, own, common) for own in r]) for r in rows])
    counts = parted.votes.counts[common]
    return common, calibration.smoothing_scores(probs, counts, floor=source.settings.floor)


def _voted(source: Source, rows: Ints) -> Ints:
    return rows[source.parted.item[rows] >= 0]


def _of_items(probs: Floats, item: Ints, rows: Ints, items: Ints) -> Floats:
    """(items, labels) probabilities of the rows of some items."""
    order = np.argsort(item[rows], kind="stable")
    return probs[rows[order[np.searchsorted(item[rows][order], items)]]]


def _choice(source: Source, group: _Group, items: Ints, scored: Scores) -> tuple[int, list[BaselineRow]]:
    """Index of the strength chosen, and the rows that say how sure the choice is."""
    losses, resampled = _losses(source, items, scored)
    chosen = int(np.argmin(losses))
    picks = np.argmin(resampled, axis=1)
    defined = np.isfinite(resampled).all(axis=1)
    shares = np.bincount(picks[defined], minlength=len(losses)) / max(int(defined.sum()), 1)
    of_strengths = [
        BaselineRow(
            quantity="dev_loss",
            condition=_given(group, place),
            split=source.parted.splits[group.split],
            unc=_loss_uncertainty(source, group, items, float(losses[place]), resampled[:, place]),
            share=float(shares[place]),
        )
        for place in range(len(group.strengths))
    ]
    return chosen, [_strength_row(source, group, len(items), chosen, picks[defined]), *of_strengths]


def _losses(source: Source, items: Ints, scored: Scores) -> tuple[Floats, Floats]:
    """(strengths,) mean losses, and (resamples, strengths) of every resample of the items; NaN where it has none."""
    counted = calibration.item_weights_of(source.parted.votes.counts[items], source.settings.weights)
    drawn = source.drawn(items) * counted
    totals = drawn.sum(axis=1)
    sums = weighted_sums(drawn, scored, source.settings.threads)
    means = np.divide(sums, totals[:, None], out=np.full(sums.shape, np.nan), where=totals[:, None] > 0)
    return np.asarray((scored * counted).sum(axis=1) / counted.sum()), means


def _strength_row(source: Source, group: _Group, n_items: int, chosen: int, picks: Ints) -> BaselineRow:
    settings = source.settings
    tail = (1 - settings.level) / 2
    drawn = np.asarray(group.strengths)[picks]
    low, high = np.quantile(drawn, [tail, 1 - tail], method="inverted_cdf") if len(drawn) else (None, None)
    return BaselineRow(
        quantity="strength",
        condition=group.condition,
        split=source.parted.splits[group.split],
        unc=Uncertainty(
            estimate=group.strengths[chosen],
            low=None if low is None else float(low),
            high=None if high is None else float(high),
            level=settings.level,
            interval="none" if low is None else "percentile",
            estimator="fit",
            design="items",
            n_resamples=settings.n_resamples,
            n_items=n_items,
            n_cells=len(group.cells[0]),
            reason=_doubt(group.strengths, chosen),
        ),
        share=float((picks == chosen).mean()) if len(picks) else None,
    )


def _doubt(strengths: Sequence[float], chosen: int) -> str | None:
    if len(strengths) == 1:
        return ONE_STRENGTH
    if chosen in (0, len(strengths) - 1):
        end = "smallest" if chosen == 0 else "largest"
        return f"the {end} strength that was trained: the best may lie beyond it"
    return None


def _loss_uncertainty(source: Source, group: _Group, items: Ints, loss: float, resampled: Floats) -> Uncertainty:
    settings = source.settings
    made = intervals.percentile(resampled, settings.level)
    kept, _ = intervals.defined(resampled)
    return Uncertainty(
        estimate=loss,
        low=made.low,
        high=made.high,
        se=None if kept is None else float(kept.std(ddof=1)),
        level=settings.level,
        interval=made.method,
        design="items",
        n_resamples=settings.n_resamples,
        n_items=len(items),
        n_cells=len(group.cells[0]),
        reason=made.reason,
    )


def _on_test(source: Source, group: _Group, chosen: int) -> list[BaselineRow]:
    """The tuned model on the test items, and the strength that is best there."""
    items, scored = _scored(source, group, "test")
    if not len(items):
        return []
    losses, resampled = _losses(source, items, scored)
    best = int(np.argmin(losses))
    split = source.parted.splits[group.split]
    bound = Uncertainty(estimate=float(losses[best]), n_items=len(items), n_cells=len(group.cells[0]), reason=A_BOUND)
    own = _loss_uncertainty(source, group, items, float(losses[chosen]), resampled[:, chosen])
    return [
        BaselineRow(quantity="test_loss", condition=group.condition, split=split, unc=own),
        BaselineRow(quantity="best_on_test", condition=_given(group, best), split=split, unc=bound),
    ]


def _given(group: _Group, place: int) -> Condition:
    """The condition of one strength, as in the table."""
    return group.cells[place][0].condition
