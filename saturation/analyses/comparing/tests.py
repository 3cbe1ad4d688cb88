"""The tests of a comparison by name: what each is made from, and why it may not exist."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.comparing import correlations as contest_correlations
from saturation.analyses.comparing.draws import Entry, on_z, pair_of
from saturation.analyses.losses import sign
from saturation.resampling import intervals, paired, permutation
from saturation.resampling.linearized import covariance
from saturation.resampling.mixed import mixed_model
from saturation.resampling.paired import Paired, undefined
from saturation.typing import Floats

MARGIN_TESTS = ("tost", "noninferiority")
CELLS_OVERLAP = (
    "cells share items: they are not independent trials, so read this p as a summary of the table, not as evidence"
)
NO_ITEMS = "belongs to a set of items and has no difference an item: use the difference itself or bootstrap"
ON_Z = "differences are on Fisher's z, artanh r_a - artanh r_b"
ONE_ITEM = "a split has one item only: no spread over items"
NO_DIRECTION = "neither direction of this metric is better"


# --- over items -------------------------------------------------------------------------------------------------------


def _paired_t(entry: Entry) -> Paired:
    found, field = entry.contest.items, entry.field
    if found is None:
        return _no_items(entry)
    if len(field.panel.splits) == 1 or found.own.min() == found.own.max():
        return paired.paired_t(found.own, field.level)
    parts = covariance(field.losses.influence)
    variance = float((entry.contest.contrast[:, None] * entry.contest.contrast * parts.items).sum())
    return paired.t_test(float(found.parts.mean()), max(variance, 0.0) ** 0.5, parts.items_df, field.level)


def _wilcoxon(entry: Entry) -> Paired:
    found = entry.contest.items
    return _no_items(entry) if found is None else paired.wilcoxon(found.own)


def _sign_flip(entry: Entry) -> Paired:
    found, field = entry.contest.items, entry.field
    if found is None:
        return _no_items(entry)
    p, law = permutation.exact_p(found.parts)
    estimate = float(found.parts.mean())
    if p is None:
        return undefined(paired.NO_DIFFERENCE, 0.0)
    p_flips = permutation.flips_p(estimate, entry.draws.flips[:, entry.place])
    se = (p_flips * (1 - p_flips) / field.n_resamples) ** 0.5
    told = f"p by {law} over all sign patterns; {field.n_resamples} random flips give {p_flips:.3g} +- {se:.2g}"
    return Paired(intervals.none(told), estimate, p, estimate)


def _bootstrap(entry: Entry) -> Paired:
    contest = entry.contest
    drawn = entry.draws.items[:, entry.place]
    if contest.difference.estimate == 0.0 and not np.nan_to_num(drawn).any():
        return undefined(paired.NO_DIFFERENCE, 0.0)
    kept, reason = intervals.defined(drawn)
    lost = int(np.isnan(drawn).sum())
    if kept is None and lost:
        return undefined(str(reason))
    if min(len(places) for places in entry.field.panel.items_of_split) < 2:
        return undefined(ONE_ITEM, contest.difference.estimate)
    estimate, without = _without_each(entry)
    if not np.isfinite(estimate):
        return undefined("Fisher's z is infinite: a correlation is -1 or 1", contest.difference.estimate)
    size = float(np.abs(entry.field.losses.influence.estimates[pair_of(entry)]).max())
    made = paired.bca_test(paired.settled(drawn[~np.isnan(drawn)], size), estimate, without, entry.field.level)
    if contest.metric.is_correlation:
        return _with_reason(made, ON_Z)
    return made


def _without_each(entry: Entry) -> tuple[float, Floats]:
    """The difference and its value without each distinct item, on Fisher's z for correlations (linearised there)."""
    contest, influence = entry.contest, entry.field.losses.influence
    one, other = pair_of(entry)
    values = sign(contest.metric) * influence.estimates[[one, other]]
    turned = on_z(contest, values)
    inside = np.abs(values) < 1
    slope = 1 / (1 - np.where(inside, values, 0.0) ** 2) if contest.metric.is_correlation else np.ones(2)
    weights = sign(contest.metric) * np.array([1.0, -1.0]) * slope
    moved = np.zeros(influence.n_items)
    there = np.zeros(influence.n_items, dtype=bool)
    for cells, centred, places in zip(influence.cells, influence.centred(), influence.items_of_split, strict=True):
        change = (cells[[one, other], :, None] - centred[[one, other]]).sum(axis=1) / (len(places) - 1)
        moved[places] += weights[0] * change[0] + weights[1] * change[1]
        there[places] = True
    estimate = float(turned[0] - turned[1])
    return estimate, estimate + moved[there] / entry.field.panel.n_cells


def _mixed_model(entry: Entry) -> Paired:
    found = entry.contest.items
    return _no_items(entry) if found is None else mixed_model(found.long, entry.field.level)


# --- over cells and splits --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tally:
    """In how many cells a is better than b, worse, or the same but for rounding."""

    wins: int
    losses: int
    ties: int

    @property
    def n(self) -> int:
        """Number of cells."""
        return self.wins + self.losses + self.ties


def tally(entry: Entry) -> Tally | None:
    """Cells won, lost and tied by a; None where no direction is better."""
    contest = entry.contest
    if contest.better == 0:
        return None
    size = float(np.abs(entry.field.losses.influence.estimates[pair_of(entry)]).max())
    gains = contest.better * np.concatenate(contest.cells)
    gains = np.where(np.abs(gains) <= paired.ROUNDING * size, 0.0, gains)
    return Tally(int((gains > 0).sum()), int((gains < 0).sum()), int((gains == 0).sum()))


def _sign_cells(entry: Entry) -> Paired:
    found = tally(entry)
    if found is None:
        return undefined(NO_DIRECTION)
    decided = found.wins + found.losses
    p = paired.sign_test(found.wins, found.losses)
    if p is None:
        return undefined("every cell is a tie")
    count = f"{decided} cells" if decided > 1 else "one cell"
    attainable = f"the smallest p that {count} can reach is {paired.smallest_sign_p(decided):.3g}"
    reason = f"{attainable}; {CELLS_OVERLAP}" if decided > 1 else attainable
    side = entry.contest.better * int(np.sign(found.wins - found.losses))
    return Paired(intervals.none(reason), None, p, float(found.wins), side=side)


def _nadeau_bengio(entry: Entry) -> Paired:
    means = np.array([cell.mean() for cell in entry.contest.cells])
    if len(means) > 1 and entry.test_over_train is None:
        return undefined("the number of training items is not known: give n_train", float(means.mean()))
    size = float(np.abs(entry.field.losses.influence.estimates[pair_of(entry)]).max())
    return paired.nadeau_bengio(paired.settled(means, size), entry.test_over_train or 1.0, entry.field.level)


# --- against a margin -------------------------------------------------------------------------------------------------


def _spread(entry: Entry) -> tuple[float, float, float] | Paired:
    """Estimate, standard error and degrees of freedom of the difference."""
    made = entry.contest.difference
    if made.estimate is None or (made.se is None and made.interval.reason != paired.NO_DIFFERENCE):
        return undefined(made.interval.reason or "the difference has no standard error", made.estimate)
    _, df = entry.field.joint.covariance.variance(entry.contest.contrast)
    return made.estimate, made.se or 0.0, df


def _tost(entry: Entry) -> Paired:
    found = _spread(entry)
    if isinstance(found, Paired):
        return found
    assert entry.margin is not None
    return paired.tost(*found, entry.margin, entry.field.level)


def _noninferiority(entry: Entry) -> Paired:
    found, contest = _spread(entry), entry.contest
    if contest.better == 0:
        return undefined(NO_DIRECTION, contest.difference.estimate)
    if isinstance(found, Paired):
        return found
    assert entry.margin is not None
    estimate, se, df = found
    made = paired.noninferiority(-contest.better * estimate, se, df, entry.margin, entry.field.level)
    ends = paired.tost(estimate, se, df, entry.margin, entry.field.level).interval
    return Paired(ends, estimate, made.p, made.statistic, made.df, made.se)


# --- all of them ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kind:
    """One test: how it is made, what its alternative is, and what it redraws or ranges over."""

    make: Callable[[Entry], Paired]
    alternative: str
    design: str | None
    over: str
    resampled: bool = False


TESTS: Mapping[str, Kind] = {
    "paired_t": Kind(_paired_t, "two-sided", "items", "items"),
    "wilcoxon": Kind(_wilcoxon, "two-sided", "items", "items"),
    "sign_flip": Kind(_sign_flip, "two-sided", "items", "items", resampled=True),
    "bootstrap": Kind(_bootstrap, "two-sided", "items", "items", resampled=True),
    "sign_cells": Kind(_sign_cells, "two-sided", None, "cells"),
    "nadeau_bengio": Kind(_nadeau_bengio, "two-sided", None, "splits"),
    "mixed_model": Kind(_mixed_model, "two-sided", "crossed", "items"),
    "williams": Kind(contest_correlations.williams, "two-sided", "items", "items"),
    "steiger": Kind(contest_correlations.steiger, "two-sided", "items", "items"),
    "zou": Kind(contest_correlations.zou, "two-sided", "items", "items"),
    "tost": Kind(_tost, "equivalent within the margin", "crossed", "items"),
    "noninferiority": Kind(_noninferiority, "a not worse than b by the margin", "crossed", "items"),
}
"""Every test by the name in the rows, in their order."""


def outcome_of(entry: Entry, name: str) -> Paired:
    """One test of one contest; a reason where the metric itself does not exist."""
    missing = entry.contest.reason
    return undefined(missing) if missing is not None else TESTS[name].make(entry)


def _no_items(entry: Entry) -> Paired:
    return undefined(f"{entry.contest.metric.name} {NO_ITEMS}", entry.contest.difference.estimate)


def _with_reason(made: Paired, told: str) -> Paired:
    said = "; ".join(filter(None, (made.interval.reason, told)))
    return replace(made, interval=replace(made.interval, reason=said))
