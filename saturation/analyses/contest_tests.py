"""The tests of a comparison by name: what each is made from, and why it may not exist."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.contests import Contest, Field
from saturation.analyses.crossed import resampled_losses
from saturation.analyses.losses import humans, sign
from saturation.metrics.correlation import combine_pearson, pearson_features
from saturation.metrics.entropy import entropy, entropy_of_counts
from saturation.resampling import correlations, effects, intervals, paired, permutation
from saturation.resampling.draw import item_weights
from saturation.resampling.intervals import Interval
from saturation.resampling.linearized import covariance
from saturation.resampling.mixed import mixed_model
from saturation.resampling.paired import Paired, undefined
from saturation.resampling.sums import weighted_sums
from saturation.typing import Floats

MARGIN_TESTS = ("tost", "noninferiority")
CELLS_OVERLAP = (
    "cells share items (and their splits overlap): they are not independent trials, so read this p as a summary of "
    "the table and not as evidence"
)
NO_ITEMS = "belongs to a set of items and has no difference an item: use the difference itself or bootstrap"
NORMAL_ENTROPIES = "assumes normal entropies, which are bounded and skewed: the bootstrap is the safer test"
ON_Z = "differences are on Fisher's z, artanh r_a - artanh r_b"
ONE_ITEM = "a split has one item only: no spread over items"
NO_DIRECTION = "neither direction of this metric is better"
_AT_ONCE = 1 << 21


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Resamples that all contests share: one column a contest.

    Attributes
    ----------
    items
        (resamples, contests) differences under redrawn items, on Fisher's z for correlations; NaN where undefined.
    flips
        (flips, contests) mean differences under random signs; NaN for metrics of a set of items.
    moments
        (resamples, contests, 3) means of d, of d^2 and of whether a is better, under redrawn items.
    """

    items: Floats
    flips: Floats
    moments: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One contest with what its tests need.

    Attributes
    ----------
    place
        Its column in the draws.
    margin
        For equivalence and non-inferiority; None where none was given.
    test_over_train
        Items tested on per item trained on; None where it is not known.
    """

    field: Field
    contest: Contest
    draws: Draws
    place: int
    margin: float | None
    test_over_train: float | None


def draws_of(field: Field, contests: Sequence[Contest], wanted: Sequence[str]) -> Draws:
    """Draw once for all contests; what no test needs is not drawn."""
    n, size = field.n_resamples, len(contests)
    items = _redrawn_items(field, contests) if "bootstrap" in wanted else np.zeros((0, size))
    flips = np.full((n if "sign_flip" in wanted else 0, size), np.nan)
    moments = np.full((n, size, 3), np.nan)
    with_items = [(place, one.items, one.better) for place, one in enumerate(contests) if one.items is not None]
    if with_items:
        where = [place for place, _, _ in with_items]
        if len(flips):
            parts = np.stack([found.parts for _, found, _ in with_items])
            flips[:, where] = permutation.flipped_means(parts, field.seed, n, field.threads)
        features = [(f.own, f.own**2, effects.better(better * f.own)) for _, f, better in with_items]
        means = _resampled_means(field, np.concatenate([np.stack(one) for one in features]))
        moments[:, where] = means.reshape(n, len(where), 3)
    return Draws(items, flips, moments)


def _redrawn_items(field: Field, contests: Sequence[Contest]) -> Floats:
    losses, seed = field.losses, field.seed
    drawn = resampled_losses(field.panel, field.metrics, field.n_resamples, seed, field.threads, redraw_seeds=False)
    columns = []
    for one in contests:
        a, b = (sign(one.metric) * drawn[:, losses.index(one.rank, c)] for c in (one.a, one.b))
        columns.append(_on_z(one, a) - _on_z(one, b))
    return np.stack(columns, axis=1)


def _resampled_means(field: Field, features: Floats) -> Floats:
    """(resamples, features) means under redrawn items, in bounded memory."""
    n_items = features.shape[1]
    rows = max(1, _AT_ONCE // n_items)
    blocks = []
    for start in range(0, field.n_resamples, rows):
        weights = item_weights(field.seed, start, min(start + rows, field.n_resamples), n_items)
        blocks.append(weighted_sums(weights, features, field.threads) / n_items)
    return np.concatenate(blocks)


def _on_z(contest: Contest, values: Floats) -> Floats:
    if not contest.metric.is_correlation:
        return values
    return np.arctanh(np.where(np.abs(values) < 1, values, np.nan))


# --- over items -------------------------------------------------------------------------------------------------------


def _paired_t(case: Case) -> Paired:
    found, field = case.contest.items, case.field
    if found is None:
        return _no_items(case)
    if len(field.panel.splits) == 1 or found.own.min() == found.own.max():
        return paired.paired_t(found.own, field.level)
    parts = covariance(field.losses.influence)
    variance = float((case.contest.contrast[:, None] * case.contest.contrast * parts.items).sum())
    return paired.t_test(float(found.parts.mean()), max(variance, 0.0) ** 0.5, parts.items_df, field.level)


def _wilcoxon(case: Case) -> Paired:
    found = case.contest.items
    return _no_items(case) if found is None else paired.wilcoxon(found.own)


def _sign_flip(case: Case) -> Paired:
    found, field = case.contest.items, case.field
    if found is None:
        return _no_items(case)
    p, law = permutation.exact_p(found.parts)
    estimate = float(found.parts.mean())
    if p is None:
        return undefined(paired.NO_DIFFERENCE, 0.0)
    p_flips = permutation.flips_p(estimate, case.draws.flips[:, case.place])
    se = (p_flips * (1 - p_flips) / field.n_resamples) ** 0.5
    told = f"p by {law} over all sign patterns; {field.n_resamples} random flips give {p_flips:.3g} +- {se:.2g}"
    return Paired(intervals.none(told), estimate, p, estimate)


def _bootstrap(case: Case) -> Paired:
    contest = case.contest
    drawn = case.draws.items[:, case.place]
    if contest.difference.estimate == 0.0 and not np.nan_to_num(drawn).any():
        return undefined(paired.NO_DIFFERENCE, 0.0)
    kept, reason = intervals.defined(drawn)
    lost = int(np.isnan(drawn).sum())
    if kept is None and lost:
        return undefined(str(reason))
    if min(len(places) for places in case.field.panel.items_of_split) < 2:
        return undefined(ONE_ITEM, contest.difference.estimate)
    estimate, without = _without_each(case)
    if not np.isfinite(estimate):
        return undefined("Fisher's z is infinite: a correlation is -1 or 1", contest.difference.estimate)
    size = float(np.abs(case.field.losses.influence.estimates[_pair(case)]).max())
    made = paired.bca_test(paired.settled(drawn[~np.isnan(drawn)], size), estimate, without, case.field.level)
    if contest.metric.is_correlation:
        return _with_reason(made, ON_Z)
    return made


def _without_each(case: Case) -> tuple[float, Floats]:
    """The difference and its value without each distinct item, on Fisher's z for correlations (linearised there)."""
    contest, influence = case.contest, case.field.losses.influence
    one, other = _pair(case)
    values = sign(contest.metric) * influence.estimates[[one, other]]
    on_z = _on_z(contest, values)
    inside = np.abs(values) < 1
    slope = 1 / (1 - np.where(inside, values, 0.0) ** 2) if contest.metric.is_correlation else np.ones(2)
    weights = sign(contest.metric) * np.array([1.0, -1.0]) * slope
    moved = np.zeros(influence.n_items)
    there = np.zeros(influence.n_items, dtype=bool)
    for cells, centred, places in zip(influence.cells, influence.centred(), influence.items_of_split, strict=True):
        change = (cells[[one, other], :, None] - centred[[one, other]]).sum(axis=1) / (len(places) - 1)
        moved[places] += weights[0] * change[0] + weights[1] * change[1]
        there[places] = True
    estimate = float(on_z[0] - on_z[1])
    return estimate, estimate + moved[there] / case.field.panel.n_cells


def _mixed_model(case: Case) -> Paired:
    found = case.contest.items
    return _no_items(case) if found is None else mixed_model(found.long, case.field.level)


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


def tally(case: Case) -> Tally | None:
    """Cells won, lost and tied by a; None where no direction is better."""
    contest = case.contest
    if contest.better == 0:
        return None
    size = float(np.abs(case.field.losses.influence.estimates[_pair(case)]).max())
    gains = contest.better * np.concatenate(contest.cells)
    gains = np.where(np.abs(gains) <= paired.ROUNDING * size, 0.0, gains)
    return Tally(int((gains > 0).sum()), int((gains < 0).sum()), int((gains == 0).sum()))


def _sign_cells(case: Case) -> Paired:
    found = tally(case)
    if found is None:
        return undefined(NO_DIRECTION)
    decided = found.wins + found.losses
    p = paired.sign_test(found.wins, found.losses)
    if p is None:
        return undefined("every cell is a tie")
    count = f"{decided} cells" if decided > 1 else "one cell"
    attainable = f"the smallest p that {count} can reach is {paired.smallest_sign_p(decided):.3g}"
    reason = f"{attainable}; {CELLS_OVERLAP}" if decided > 1 else attainable
    side = case.contest.better * int(np.sign(found.wins - found.losses))
    return Paired(intervals.none(reason), None, p, float(found.wins), side=side)


def _nadeau_bengio(case: Case) -> Paired:
    means = np.array([cell.mean() for cell in case.contest.cells])
    if len(means) > 1 and case.test_over_train is None:
        return undefined("the number of training items is not known: give n_train", float(means.mean()))
    size = float(np.abs(case.field.losses.influence.estimates[_pair(case)]).max())
    return paired.nadeau_bengio(paired.settled(means, size), case.test_over_train or 1.0, case.field.level)


# --- dependent correlations -------------------------------------------------------------------------------------------


def _correlations(case: Case) -> tuple[Floats, int, str] | Paired:
    """R with the annotators of a and b, and of a with b: means over cells; the items of the smallest split."""
    contest, panel = case.contest, case.field.panel
    if contest.metric.name != "entropy_correlation":
        return undefined("for two correlations with the same human entropies: entropy_correlation only")
    found = []
    for probs, human in zip(panel.probs, humans(panel), strict=True):
        a, b = entropy(probs[contest.a]), entropy(probs[contest.b])
        h = np.broadcast_to(entropy_of_counts(human.counts), a.shape)
        pairs = ((a, h), (b, h), (a, b))
        found.append(np.stack([combine_pearson(pearson_features(x, y).mean(axis=-1)) for x, y in pairs]))
    r = np.concatenate(found, axis=1)
    if not np.isfinite(r).all():
        return undefined("the two models' entropies do not vary")
    n = min(len(places) for places in panel.items_of_split)
    told = NORMAL_ENTROPIES
    if r.shape[1] > 1:
        told += f"; correlations are means over {r.shape[1]} cells, n is the {n} items of a split, seeds are not in it"
    return np.asarray(r.mean(axis=1)), n, told


def _williams(case: Case) -> Paired:
    found = _correlations(case)
    if isinstance(found, Paired):
        return found
    r, n, told = found
    t, df, p = (float(value) for value in correlations.williams(r[0], r[1], r[2], n))
    return _from_statistic(float(r[0] - r[1]), t, p, told, df)


def _steiger(case: Case) -> Paired:
    found = _correlations(case)
    if isinstance(found, Paired):
        return found
    r, n, told = found
    z, p = (float(value) for value in correlations.steiger(r[0], r[1], r[2], n))
    return _from_statistic(float(r[0] - r[1]), z, p, told)


def _zou(case: Case) -> Paired:
    found = _correlations(case)
    if isinstance(found, Paired):
        return found
    r, n, told = found

    def at(level: float) -> Interval:
        low, high = (float(end) for end in correlations.zou(r[0], r[1], r[2], n, level))
        return Interval(low, high, "normal", told) if np.isfinite(low) else intervals.none(_UNDEFINED_R)

    made = at(case.field.level)
    return Paired(made, float(r[0] - r[1]), intervals.inversion_p(at))


_UNDEFINED_R = "undefined: fewer than 4 items, a correlation of -1 or 1, or models whose entropies agree entirely"


def _from_statistic(difference: float, statistic: float, p: float, told: str, df: float | None = None) -> Paired:
    if not np.isfinite(statistic):
        return undefined(_UNDEFINED_R, difference)
    return Paired(intervals.none(f"{paired.ONLY_P}; {told}"), difference, p, statistic, df)


# --- against a margin -------------------------------------------------------------------------------------------------


def _spread(case: Case) -> tuple[float, float, float] | Paired:
    """Estimate, standard error and degrees of freedom of the difference."""
    made = case.contest.difference
    if made.estimate is None or (made.se is None and made.interval.reason != paired.NO_DIFFERENCE):
        return undefined(made.interval.reason or "the difference has no standard error", made.estimate)
    _, df = case.field.joint.covariance.variance(case.contest.contrast)
    return made.estimate, made.se or 0.0, df


def _tost(case: Case) -> Paired:
    found = _spread(case)
    if isinstance(found, Paired):
        return found
    assert case.margin is not None
    return paired.tost(*found, case.margin, case.field.level)


def _noninferiority(case: Case) -> Paired:
    found, contest = _spread(case), case.contest
    if contest.better == 0:
        return undefined(NO_DIRECTION, contest.difference.estimate)
    if isinstance(found, Paired):
        return found
    assert case.margin is not None
    estimate, se, df = found
    made = paired.noninferiority(-contest.better * estimate, se, df, case.margin, case.field.level)
    ends = paired.tost(estimate, se, df, case.margin, case.field.level).interval
    return Paired(ends, estimate, made.p, made.statistic, made.df, made.se)


# --- all of them ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kind:
    """One test: how it is made, what its alternative is, and what it redraws or ranges over."""

    make: Callable[[Case], Paired]
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
    "williams": Kind(_williams, "two-sided", "items", "items"),
    "steiger": Kind(_steiger, "two-sided", "items", "items"),
    "zou": Kind(_zou, "two-sided", "items", "items"),
    "tost": Kind(_tost, "equivalent within the margin", "crossed", "items"),
    "noninferiority": Kind(_noninferiority, "a not worse than b by the margin", "crossed", "items"),
}
"""Every test by the name in the rows, in their order."""


def outcome_of(case: Case, name: str) -> Paired:
    """One test of one contest; a reason where the metric itself does not exist."""
    missing = case.contest.reason
    return undefined(missing) if missing is not None else TESTS[name].make(case)


def _pair(case: Case) -> list[int]:
    losses, contest = case.field.losses, case.contest
    return [losses.index(contest.rank, contest.a), losses.index(contest.rank, contest.b)]


def _no_items(case: Case) -> Paired:
    return undefined(f"{case.contest.metric.name} {NO_ITEMS}", case.contest.difference.estimate)


def _with_reason(made: Paired, told: str) -> Paired:
    said = "; ".join(filter(None, (made.interval.reason, told)))
    return replace(made, interval=replace(made.interval, reason=said))
