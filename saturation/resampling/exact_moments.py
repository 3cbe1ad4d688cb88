"""Exact mean and variance of additive statistics of N drawn votes, without Monte Carlo.

A statistic of one item is additive when it is a sum over labels of a function of the label's share in the drawn
votes and its share in the reference. Its mean needs the law of one label's drawn count, its variance the law of
two. Counts are small integers, so many items share the same (votes, count) cells and the same pairs: everything is
computed once a distinct cell or pair, and looked up by item.

Drawing N and R disjoint votes is the same as drawing N + R votes and splitting those: the ``disjoint`` law is the
``rest`` law of the N + R votes, averaged over them (mean and variance by the two laws of total expectation).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saturation.errors import UsageError
from saturation.resampling.exact_cells import Cells, Pairs, Prepared
from saturation.resampling.exact_laws import PairLaw, blocks, marginal, pair_law, pair_states, ragged
from saturation.typing import Floats, Ints, Reference

STATES_A_BLOCK = 1_000_000
"""States of pairs held in memory at a time; results do not depend on it."""
MAX_PAIR_STATES = 30_000_000
"""Beyond this many states of all distinct pairs a variance is left to Monte Carlo (``Moments.variance`` is None)."""
MAX_JOINT_CELLS = 20_000_000
"""Most cells of a table over two labels' counts among N + R votes, a statistic; beyond, likewise."""


@dataclass(frozen=True, slots=True)
class Additive:
    """A statistic that sums ``function(target share, reference share)`` over labels.

    Attributes
    ----------
    function
        Elementwise on two arrays of one shape.
    alpha
        The target is (drawn + alpha) / (N + K alpha); 0 leaves the drawn shares raw.
    cumulative
        Sum over the K - 1 cumulative shares of ordered labels instead.
    reference_alpha
        The reference share is (votes + alpha) / (R + K alpha) likewise.
    """

    function: Callable[[Floats, Floats], Floats]
    alpha: float = 0.0
    cumulative: bool = False
    reference_alpha: float = 0.0


@dataclass(frozen=True, slots=True)
class Draw:
    """What is drawn from each item's n votes, and what it is compared with.

    Attributes
    ----------
    reference
        ``all``: N votes without replacement against all n; ``plug_in``: N with replacement from the observed shares
        against those; ``rest``: N without replacement against the other n - N; ``disjoint``: against R others.
    budget
        N.
    reference_size
        R, for ``disjoint`` only.
    """

    reference: Reference
    budget: int
    reference_size: int | None = None


@dataclass(frozen=True, slots=True)
class Moments:
    """Per-item moments over draws: ``mean`` (statistics, items); ``variance`` likewise, or None where not computed."""

    mean: Floats
    variance: Floats | None


def additive_moments(
    prepared: Prepared, draw: Draw, statistics: Sequence[Additive], *, variance: bool = True
) -> Moments:
    """Exact mean and variance over draws, per item, of additive statistics.

    Parameters
    ----------
    prepared
        From :func:`prepare`, with the same ``cumulative`` as the statistics.
    draw
        The law; every item needs at least N votes (``rest``: N + 1, ``disjoint``: N + R).
    statistics
        What to compute; they share all laws, so ask for several at once.
    variance
        Whether to compute variances (the costly part); statistics must then be finite.

    Returns
    -------
    Moments
        (statistics, items) arrays, in the statistic's own units and its square.

    Raises
    ------
    UsageError
        When an item has too few votes, or a statistic does not fit ``prepared``.

    Examples
    --------
    The Brier distance of 1 of 4 votes (2, 2) to all: shares (1, 0) against (1/2, 1/2), always 1/2.

    >>> from saturation.resampling.exact_cells import prepare
    >>> one = Additive(lambda target, reference: (target - reference) ** 2)
    >>> moments = additive_moments(prepare(np.array([[2, 2]])), Draw("all", 1), [one])
    >>> moments.mean.tolist(), moments.variance.tolist()
    ([[0.5]], [[0.0]])
    """
    _check(prepared, draw, statistics)
    if draw.reference == "disjoint":
        return _disjoint(prepared, draw, statistics, variance)
    cells, replace = prepared.cells, draw.reference == "plug_in"
    tables = np.stack([_table(one, cells, draw, prepared.n_labels) for one in statistics])
    return _moments(prepared, draw.budget, tables, replace=replace, variance=variance)


@dataclass(frozen=True, slots=True)
class _Within:
    """What is left of the variance once the N + R votes are given: of each cell, and of each pair of counts."""

    own: Floats
    """(statistics, slots, M + 1)"""
    joint: Floats
    """(statistics, slots, slots, M + 1, M + 1) covariances"""


def _disjoint(prepared: Prepared, draw: Draw, statistics: Sequence[Additive], variance: bool) -> Moments:
    """Split N + R votes into N and R (the ``rest`` law), then average over the N + R votes."""
    assert draw.reference_size is not None
    both = draw.budget + draw.reference_size
    n_slots = int(prepared.cells.slots.max(initial=0)) + 1
    grid = Cells(
        np.full(n_slots * (both + 1), both), np.tile(np.arange(both + 1), n_slots), np.repeat(range(n_slots), both + 1)
    )
    split = Draw("rest", draw.budget)
    inner = np.stack([_table(one, grid, split, prepared.n_labels) for one in statistics])
    law = marginal(grid.totals, grid.counts, draw.budget, replace=False)
    centre = _expect(law, inner)
    tables = centre.reshape(len(statistics), n_slots, both + 1)[:, prepared.cells.slots]
    mean = _moments(prepared, both, tables, replace=False, variance=False).mean
    pairs = _split_pairs(prepared.pairs, both)
    work = int(pair_states(pairs.totals, pairs.first, pairs.second, draw.budget, replace=False).sum())
    if (
        not variance
        or not prepared.has_pairs
        or work > MAX_PAIR_STATES
        or (n_slots * (both + 1)) ** 2 > MAX_JOINT_CELLS
    ):
        return Moments(mean, None)
    # where a mean is finite, infinite values stand only at counts that no item can have
    inner, centre, tables = (np.where(np.isfinite(one), one, 0.0) for one in (inner, centre, tables))
    within = _within(pairs, draw.budget, inner, centre, law, cumulative=prepared.cumulative, n_slots=n_slots)
    spread = _moments(prepared, both, tables, replace=False, variance=True, within=within)
    return Moments(mean, spread.variance)


def _split_pairs(pairs: Pairs, both: int) -> Pairs:
    """Every pair of counts that two labels can have among the N + R votes (one order of the two is enough)."""
    places = np.unique(np.stack([pairs.first_slot, pairs.second_slot], axis=1), axis=0)
    if (pairs.totals == both).all():
        return pairs
    only_two = bool((pairs.first + pairs.second == pairs.totals).all())
    s, t = ragged(np.ones(both, dtype=np.int64), np.arange(both, 0, -1) - 1)
    s += 1
    kept = s + t == both if only_two else s + t <= both
    if not len(places) or places.max() == 0:
        kept &= s >= t
    s, t = s[kept], t[kept]
    place = np.repeat(places, len(s), axis=0)
    s, t = np.tile(s, len(places)), np.tile(t, len(places))
    return Pairs(np.full(len(s), both), s, t, place[:, 0].copy(), place[:, 1].copy())


def _within(
    pairs: Pairs, budget: int, tables: Floats, centre: Floats, law: Floats, *, cumulative: bool, n_slots: int
) -> _Within:
    both = tables.shape[1] // n_slots - 1
    deviations = tables - centre[:, :, None]
    own = (law * deviations**2).sum(axis=2).reshape(len(tables), n_slots, both + 1)
    second = both - pairs.second if cumulative else pairs.second
    index = pairs.first_slot * (both + 1) + pairs.first, pairs.second_slot * (both + 1) + second
    covariance = _covariances(pairs, budget, deviations, index, replace=False, mirrored=cumulative)
    joint = np.zeros((len(tables), n_slots, n_slots, both + 1, both + 1))
    joint[:, pairs.first_slot, pairs.second_slot, pairs.first, pairs.second] = covariance
    if not cumulative:
        joint[:, 0, 0, pairs.second, pairs.first] = covariance
    return _Within(own, joint)


def _moments(
    prepared: Prepared,
    size: int,
    tables: Floats,
    *,
    replace: bool,
    variance: bool,
    within: _Within | None = None,
) -> Moments:
    """Moments of the sum over slots of ``tables`` (statistics, cells, size + 1) when ``size`` votes are drawn."""
    cells, pairs = prepared.cells, prepared.pairs
    law = marginal(cells.totals, cells.counts, size, replace=replace)
    centre = _expect(law, tables)
    mean = centre[:, prepared.cell].sum(axis=2)[:, prepared.group]
    work = int(pair_states(pairs.totals, pairs.first, pairs.second, size, replace=replace).sum())
    if not variance or not prepared.has_pairs or work > MAX_PAIR_STATES:
        return Moments(mean, None)
    deviations = tables - centre[:, :, None]
    own = (law * deviations**2).sum(axis=2)
    if within is not None:
        own += (law * within.own[:, cells.slots]).sum(axis=2)
    index = _pair_cells(cells, pairs, cumulative=prepared.cumulative)
    shared = _covariances(pairs, size, deviations, index, replace=replace, mirrored=prepared.cumulative, within=within)
    total = own[:, prepared.cell].sum(axis=2)
    for statistic, covariance in enumerate(shared):
        total[statistic] += 2 * np.bincount(prepared.pair_group, covariance[prepared.pair], minlength=prepared.n_groups)
    return Moments(mean, np.maximum(total, 0.0)[:, prepared.group])


def _covariances(
    pairs: Pairs,
    size: int,
    deviations: Floats,
    index: tuple[Ints, Ints],
    *,
    replace: bool,
    mirrored: bool,
    within: _Within | None = None,
) -> Floats:
    """(statistics, pairs) covariances of the deviations (statistics, cells, size + 1) of two slots.

    ``index`` holds the cells of both slots; ``mirrored``: the second count is that of the votes beyond the cut.
    """
    flat = deviations.reshape(len(deviations), -1)
    found = np.zeros((len(deviations), len(pairs.totals)))
    bound = pair_states(pairs.totals, pairs.first, pairs.second, size, replace=replace)
    for block in blocks(bound, STATES_A_BLOCK):
        law = pair_law(pairs.totals[block], pairs.first[block], pairs.second[block], size, replace=replace)
        first = index[0][block][law.pair] * (size + 1) + law.first
        drawn = size - law.second if mirrored else law.second
        second = (index[1][block] * (size + 1))[law.pair][law.row] + drawn
        joint = None if within is None else _joint_index(within, pairs, block, law)
        for statistic, values in enumerate(flat):
            rows = values[first] * law.over_second(values[second])
            if within is not None and joint is not None:
                rows += law.over_second(within.joint[statistic].reshape(-1)[joint])
            found[statistic, block] = law.expectation(rows)
    return found


def _joint_index(within: _Within, pairs: Pairs, block: NDArray[np.intp], law: PairLaw) -> Ints:
    """(states,) place of each state of a block in the flattened covariances given the N + R votes."""
    _, _, n_slots, width, _ = within.joint.shape
    place = (pairs.first_slot[block] * n_slots + pairs.second_slot[block]) * width
    return np.asarray(((place[law.pair] + law.first) * width)[law.row] + law.second)


def _expect(law: Floats, tables: Floats) -> Floats:
    """(statistics, cells) means; a value at an impossible count does not matter, were it infinite."""
    return np.asarray((law * np.where(law > 0, tables, 0.0)).sum(axis=2))


def _pair_cells(cells: Cells, pairs: Pairs, *, cumulative: bool) -> tuple[Ints, Ints]:
    """(pairs,) cell of the first and of the second slot."""
    second = pairs.totals - pairs.second if cumulative else pairs.second
    first_cell = _find(cells, pairs.totals, pairs.first, pairs.first_slot)
    return first_cell, _find(cells, pairs.totals, second, pairs.second_slot)


def _find(cells: Cells, totals: Ints, counts: Ints, slots: Ints) -> Ints:
    """Index of each (votes, count, slot) among the cells, which are sorted."""
    wide, deep = int(cells.totals.max(initial=0)) + 1, int(cells.slots.max(initial=0)) + 1
    known = (cells.totals * wide + cells.counts) * deep + cells.slots
    return np.asarray(np.searchsorted(known, (totals * wide + counts) * deep + slots))


def _table(statistic: Additive, cells: Cells, draw: Draw, n_labels: int) -> Floats:
    """(cells, N + 1) values at every drawn count; counts that cannot be drawn repeat the nearest that can."""
    size, totals, counts = draw.budget, cells.totals[:, None], cells.counts[:, None]
    if draw.reference == "plug_in":
        low, high = np.where(counts == totals, size, 0), np.where(counts == 0, 0, size)
    else:
        low, high = np.maximum(0, size - (totals - counts)), np.minimum(counts, size)
    drawn = np.clip(np.arange(size + 1), low, high)
    slots = cells.slots[:, None] + 1
    target = (drawn + statistic.alpha * slots) / (size + n_labels * statistic.alpha)
    votes, of = (counts - drawn, totals - size) if draw.reference == "rest" else (counts, totals)
    share = (votes + statistic.reference_alpha * slots) / (of + n_labels * statistic.reference_alpha)
    return np.asarray(statistic.function(target, np.broadcast_to(share, target.shape)))


def _check(prepared: Prepared, draw: Draw, statistics: Sequence[Additive]) -> None:
    if any(one.cumulative != prepared.cumulative for one in statistics):
        raise UsageError("statistics of cumulative shares need counts prepared with cumulative=True, others without")
    needed = {"all": 0, "plug_in": None, "rest": 1, "disjoint": draw.reference_size}[draw.reference]
    if draw.budget < 1 or (draw.reference == "disjoint" and (needed is None or needed < 1)):
        raise UsageError(f"{draw}: the budget, and for 'disjoint' the reference size, must be at least 1")
    fewest = int(prepared.cells.totals.min(initial=draw.budget + (needed or 0)))
    if needed is not None and fewest < draw.budget + needed:
        raise UsageError(f"an item has {fewest} votes, too few for {draw}; leave it out or lower the budget")
