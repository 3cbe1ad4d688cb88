"""Scores against votes that training did not see, beside what a smaller reference alone would change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.context import Sample, Statistic, corrected, plain, samples
from saturation.analyses.disattenuation import BEYOND_ONE, NAME
from saturation.analyses.heldout import divisions, measured, reliabilities, words
from saturation.analyses.heldout.divisions import Division, Part
from saturation.analyses.heldout.measured import Measured
from saturation.analyses.heldout.reliabilities import Reliable
from saturation.analyses.heldout.uncertain import Family, Number, moves_with_people
from saturation.analyses.losses import floored_rows
from saturation.errors import UsageError
from saturation.metrics.catalogue import DEFAULT_METRICS, metrics_of
from saturation.metrics.estimators import resolve_estimator
from saturation.metrics.metric import Metric
from saturation.resampling.bias_aware import bias_aware
from saturation.resampling.intervals import Interval
from saturation.results import HeldOutResult, HeldOutRow, Uncertainty
from saturation.streams import seed_of
from saturation.tables.panel import Panel
from saturation.typing import TieRule

SHARE, REPEATS = 0.2, 50
_DIFFERENCES = ((0, 2), (0, 1))
"""Places in ``divisions.NAMES``: held-out less all votes, held-out less training votes."""


@dataclass(frozen=True, slots=True)
class _Settings:
    level: float
    seed: int
    floor: float
    pools: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Everything about one metric: raw and corrected against every part, floors and reliabilities."""

    metrics: tuple[Metric, ...]
    raw: Family
    fixed: Family | None
    floors: tuple[float | None, ...]
    reliable: tuple[Reliable | None, ...]


def heldout(
    panel: Panel,
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    share: float | None = None,
    repeats: int | None = None,
    level: float = 0.95,
    rng: int | np.random.Generator = 0,
    ties: TieRule = "share",
    floor: float = 1e-15,
    bins: int = 10,
    entropy_estimator: str | None = None,
) -> HeldOutResult:
    """Score predictions against held-out votes, training votes and all votes of the same items.

    Where votes have a column ``pool``, its ``heldout`` votes are held out. Else a ``share`` of every item's votes is,
    at random: metrics that are sums over labels are then exact means over all ways to divide the votes
    (hypergeometric), the others means over ``repeats`` divisions. That shows what a smaller reference alone moves.

    Parameters
    ----------
    panel
        Votes and predictions of the same items.
    metrics
        Catalogue names; ``all`` for every one.
    share
        Of an item's votes that are held out at random (.2), at least one vote. Not with pools.
    repeats
        Random divisions (50). Not with pools.
    level, rng
        Coverage of the intervals; seed of the divisions.
    ties, floor, bins
        Options of metrics that take them.
    entropy_estimator
        In corrected values. None: chosen for each part by its median votes an item.

    Returns
    -------
    HeldOutResult
        For every metric and condition a row each against ``heldout``, ``train`` and ``all`` votes, and the differences
        ``heldout - all`` and ``heldout - train`` on the same items. Values in the metric's units, means over split x
        seed cells. ``corrected``: against the population (kl, brier, ...), r / sqrt(R) for the entropy correlation, R
        its ``reliability`` at so many votes.

    Raises
    ------
    UsageError
        For unknown metrics and options, and where nothing can be held out.

    Notes
    -----
    Intervals are linearised t over items and seeds, with ids in pools over annotators too; the change from all votes,
    which hold the held-out ones, keeps the noise of single votes in both parts and is conservative. Corrections of kl
    and entropy_bias may leave a bias of up to a fifth of the floor, for which corrected intervals have room (coverage
    near 1 where it is not needed). R is exact where all votes of an item hold two disjoint crowds of that size, else
    stepped up from halves by Spearman-Brown. Of few votes, r / sqrt(R) is low where R is exact (.82 for .86 at 6 votes,
    .85 at 20) and high where it is stepped up (by .13 at 6 votes, .07 at 10, .02 at 20): changes of it have room for
    8/n^2 of it a part.

    References
    ----------
    Spearman 1904 (disattenuation), Spearman 1910 and Brown 1910 (reliability at another number of votes).

    Examples
    --------
    >>> from saturation.tables.builders import panel_from_arrays
    >>> panel = panel_from_arrays([[0.5, 0.5], [0.5, 0.5]], [[4, 1], [1, 4]])
    >>> result = heldout(panel, metrics=["brier"])
    >>> [(row.pool, round(row.unc.estimate, 6)) for row in result.rows][:3]  # one vote held out: always .5
    [('heldout', 0.5), ('train', 0.2), ('all', 0.18)]
    """
    seed = seed_of(rng)
    division, how = _divide(panel, share, repeats, seed)
    shared: dict[str, str | float | int] = {"ties": ties, "floor": floor, "bins": bins}
    estimators = [entropy_estimator or resolve_estimator(part.draws[0]) for part in division.parts]
    by_part = [metrics_of(metrics, **shared, entropy_estimator=one) for one in estimators]
    if not 0 < level < 1:
        raise UsageError(f"level is {level}; give a coverage between 0 and 1, such as 0.95")
    settings = _Settings(level, seed, floor, divisions.has_pools(panel.votes))
    (sample,) = samples(division.panel, None)
    tables = [_table(sample, division, of_part, settings) for of_part in zip(*by_part, strict=True)]
    with_people = settings.pools and division.panel.votes.ballots is not None
    return HeldOutResult(
        rows=tuple(row for table in tables for row in _rows(table, sample, division, settings)),
        settings={
            "metrics": [one.name for one in by_part[0]], **how, "design": "crossed", "level": level,
            "seed": seed, **shared, "entropy_estimator": dict(zip(divisions.NAMES, estimators, strict=True)),
            "labels": list(panel.votes.labels),
        },
        data=replace(panel.summary, floored=floored_rows(division.panel, by_part[0], floor)),
        inputs=panel.inputs,
        notes=(
            *(note for note in panel.notes if note.code != "both_pools"),
            *words.notes(division, by_part[0], pools=settings.pools, with_people=with_people),
        ),
    )  # fmt: skip


def _divide(panel: Panel, share: float | None, repeats: int | None, seed: int) -> tuple[Division, dict[str, object]]:
    """The parts of the votes, and how they were made."""
    if divisions.has_pools(panel.votes):
        if share is not None or repeats is not None:
            raise UsageError(
                "the votes say which of them are held out (column `pool`): share and repeats are for votes that do not"
            )
        return divisions.by_pool(panel), {"division": "pool", "share": None, "repeats": None}
    share, repeats = SHARE if share is None else share, REPEATS if repeats is None else repeats
    if not 0 < share < 1:
        raise UsageError(f"share is {share}; give the part of the votes to hold out, such as 0.2")
    if repeats < 2:
        raise UsageError(f"repeats is {repeats}; give at least 2, so that their spread can be told")
    made = divisions.at_random(panel, share, repeats, seed)
    return made, {"division": "random", "share": share, "repeats": repeats}


def _table(sample: Sample, division: Division, metrics: tuple[Metric, ...], settings: _Settings) -> _Table:
    """One metric (its options may differ by part) against every part."""
    pairs = list(zip(metrics, division.parts, strict=True))
    raw = [measured.raw(metric, sample, part, settings.floor) for metric, part in pairs]
    if metrics[0].name == NAME:
        known: list[Reliable | None] = [reliabilities.reliable(part, settings.level) for part in division.parts]
        fixed = [_disattenuated(own, sample, one) for own, one in zip(raw, known, strict=True)]
        fixes: list[Statistic | None] = [None] * len(pairs)
    else:
        known = [None] * len(pairs)
        fixed = [measured.fixed(m, own, sample, part) for (m, part), own in zip(pairs, raw, strict=True)]
        fixes = [corrected(metric) for metric in metrics]
    return _Table(
        metrics=metrics,
        raw=_family(sample, division, raw, [plain(metric) for metric in metrics], settings),
        fixed=None if all(one is None for one in fixed) else _family(sample, division, fixed, fixes, settings),
        floors=tuple(measured.floor_of(metric, sample, part) for metric, part in pairs),
        reliable=tuple(known),
    )


def _disattenuated(own: Measured, sample: Sample, known: Reliable | None) -> Measured | None:
    return None if known is None else reliabilities.disattenuated(own, sample, known)


def _family(
    sample: Sample,
    division: Division,
    several: Sequence[Measured | None],
    statistics: Sequence[Statistic | None],
    settings: _Settings,
) -> Family:
    moves = [
        None if one is None else moves_with_people(sample, [one], part, settings.seed)[0]
        for one, part in zip(statistics, division.parts, strict=True)
    ]
    is_correlation = any(one is not None and one.is_correlation for one in statistics)
    return Family(sample, tuple(several), tuple(moves), settings.level, is_correlation)


def _rows(table: _Table, sample: Sample, division: Division, settings: _Settings) -> list[HeldOutRow]:
    rows = []
    for c in range(len(division.panel.conditions)):
        rows += [_part_row(table, sample, division, settings, (place, c)) for place in range(len(division.parts))]
        rows += [_change_row(table, sample, division, settings, (pair, c)) for pair in _DIFFERENCES]
    return rows


def _part_row(
    table: _Table, sample: Sample, division: Division, settings: _Settings, where: tuple[int, int]
) -> HeldOutRow:
    """One condition against one part."""
    place, c = where
    part, metric = division.parts[place], table.metrics[place]
    raw, known = table.raw.alone(place, c), table.reliable[place]
    own = table.raw.measured[place]
    assert own is not None, "the metric itself is always measured"
    fixed = None
    if table.fixed is not None and table.fixed.measured[place] is not None:
        fixed = table.fixed.alone(place, c)
    room = None if fixed is None else _with_room(fixed, _bound(table, place), settings.level)
    return HeldOutRow(
        metric=metric.name,
        condition=division.panel.conditions[c],
        pool=part.name,
        votes=part.votes,
        repeats=_repeats(own, part),
        direction=metric.direction,
        unc=_uncertainty(raw, own, sample, settings, _reason(raw, fixed, known)),
        mc_se=None if own.mc_se is None or raw.estimate is None else float(own.mc_se[c]),
        floor=table.floors[place],
        corrected=None if fixed is None else fixed.estimate,
        corrected_low=None if room is None else room.low,
        corrected_high=None if room is None else room.high,
        reliability=None if known is None else known.value,
        reliability_low=None if known is None else known.interval.low,
        reliability_high=None if known is None else known.interval.high,
    )


def _change_row(
    table: _Table, sample: Sample, division: Division, settings: _Settings, where: tuple[tuple[int, int], int]
) -> HeldOutRow:
    """One condition's change from one part to another."""
    (one, other), c = where
    metric = table.metrics[one]
    raw = table.raw.difference(one, other, c)
    own = table.raw.measured[one]
    assert own is not None, "the metric itself is always measured"
    fixed = None
    if table.fixed is not None and all(table.fixed.measured[place] is not None for place in (one, other)):
        fixed = table.fixed.difference(one, other, c)
    room = None
    if table.fixed is not None and fixed is not None:
        sides = {place: table.fixed.measured[place] for place in (one, other)}
        bound = sum(_bound(table, place, float(own.values[c])) for place, own in sides.items() if own is not None)
        room = _with_room(fixed, bound, settings.level)
    return HeldOutRow(
        metric=metric.name,
        condition=division.panel.conditions[c],
        pool=f"{divisions.NAMES[one]} - {divisions.NAMES[other]}",
        repeats=_repeats(own, division.parts[one]),
        direction=metric.direction,
        unc=_uncertainty(raw, own, sample, settings, _with_remark(_reason(raw, fixed, None), metric, fixed)),
        mc_se=None if own.mc_se is None or raw.estimate is None else _mc_se_of_change(table.raw, one, other, c),
        corrected=None if fixed is None else fixed.estimate,
        corrected_low=None if room is None else room.low,
        corrected_high=None if room is None else room.high,
    )


def _with_remark(reason: str | None, metric: Metric, fixed: Number | None) -> str | None:
    """What the interval of a change of the disattenuated correlation has room for."""
    if metric.name != NAME or fixed is None or fixed.estimate is None:
        return reason
    return "; ".join(filter(None, (reason, words.OTHER_ENTROPIES)))


def _mc_se_of_change(raw: Family, one: int, other: int, condition: int) -> float:
    """At most: the two sides of a division move against each other."""
    found = [raw.measured[place] for place in (one, other)]
    return float(sum(own.mc_se[condition] for own in found if own is not None and own.mc_se is not None))


def _repeats(own: Measured, part: Part) -> int | None:
    return len(part.draws) if own.estimator == "monte_carlo" else None


def _bound(table: _Table, place: int, compared: float | None = None) -> float:
    """The bias that a correction may leave; in r / sqrt(R), so far as parts differ in it, where that is compared."""
    metric, floor, known = table.metrics[place], table.floors[place], table.reliable[place]
    if known is not None:
        return reliabilities.bias_bound(known, compared)
    return 0.0 if floor is None else metric.residual * abs(floor)


def _with_room(fixed: Number, bound: float, level: float) -> Interval:
    if fixed.interval.method == "exact":
        return fixed.interval
    return bias_aware(fixed.interval, fixed.estimate, fixed.se, bound, level)


def _uncertainty(number: Number, own: Measured, sample: Sample, settings: _Settings, reason: str | None) -> Uncertainty:
    return Uncertainty(
        estimate=number.estimate,
        low=number.interval.low,
        high=number.interval.high,
        se=number.se,
        level=settings.level,
        interval=number.interval.method,
        estimator=own.estimator,
        design="crossed",
        n_items=sample.n_items,
        n_cells=sample.n_cells,
        reason=reason,
    )


def _reason(raw: Number, fixed: Number | None, known: Reliable | None) -> str | None:
    """Everything to say about a row: its own interval, then its corrected value."""
    said = [raw.interval.reason]
    if known is not None and known.reason:
        said.append(f"reliability of the annotators' entropies: {known.reason}")
    if fixed is not None and fixed.interval.reason not in (None, raw.interval.reason):
        said.append(fixed.interval.reason if fixed.estimate is None else f"corrected: {fixed.interval.reason}")
    if known is not None and fixed is not None and fixed.estimate is not None and abs(fixed.estimate) > 1:
        said.append(BEYOND_ONE)
    return "; ".join(text for text in said if text) or None
