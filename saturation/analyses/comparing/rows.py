"""The rows of a comparison: difference, relative change, effect sizes, wins and tests of every metric and b."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from saturation.analyses.comparing.contests import Contest, Field
from saturation.analyses.comparing.draws import Entry, draws_of
from saturation.analyses.comparing.families import DIFFERENCE, Adjusted, adjusted
from saturation.analyses.comparing.tests import MARGIN_TESTS, NO_DIRECTION, NO_ITEMS, TESTS, Tally, outcome_of, tally
from saturation.analyses.comparing.words import sentence
from saturation.analyses.losses import sign
from saturation.resampling import effects
from saturation.resampling.intervals import Interval
from saturation.resampling.paired import NO_SPREAD, ROUNDING, Paired, undefined
from saturation.results import CompareRow, Uncertainty

NO_BINOMIAL = "no interval: cells share items and are not independent trials"


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """A contest, everything found out about it, and how to write it down."""

    entry: Entry
    outcomes: Mapping[str, Paired]
    adjusted: Mapping[str, Adjusted]
    adjustment: str

    @property
    def contest(self) -> Contest:
        """Whose rows these are."""
        return self.entry.contest

    def unc(self, made: Paired, *, design: str | None, n_resamples: int | None, **more: Any) -> Uncertainty:
        """A number with its uncertainty."""
        field, interval = self.entry.field, made.interval
        shared: dict[str, Any] = {
            "estimate": made.estimate,
            "low": interval.low,
            "high": interval.high,
            "se": made.se,
            "level": field.level,
            "interval": interval.method,
            "design": design,
            "n_resamples": n_resamples,
            "n_items": field.losses.n_items,
            "n_cells": field.losses.n_cells,
            "reason": interval.reason,
        }
        return Uncertainty(**{**shared, **more})

    def row(self, quantity: str, unc: Uncertainty, **more: Any) -> CompareRow:
        """A row of this contest."""
        contest, conditions = self.contest, self.entry.field.panel.conditions
        return CompareRow(
            metric=contest.metric.name,
            a=str(conditions[contest.a]),
            b=str(conditions[contest.b]),
            quantity=quantity,
            unc=unc,
            **more,
        )

    def tested(self, family: str, made: Paired) -> dict[str, Any]:
        """The columns of a p-value."""
        own = self.adjusted[family]
        return {
            "favours": self._favours(made, own),
            "statistic": made.statistic,
            "df": made.df,
            "p": made.p,
            "p_adjusted": own.p,
            "adjustment": self.adjustment,
            "family_size": own.family_size,
        }

    def _favours(self, made: Paired, own: Adjusted) -> str | None:
        better = self.contest.better
        side = made.side if made.side is not None else int(np.sign(made.estimate or 0.0))
        if better == 0 or side == 0 or own.p is None or own.p >= 1 - self.entry.field.level:
            return None
        return "a" if side == better else "b"


def rows_of(
    field: Field,
    contests: Sequence[Contest],
    tests: Sequence[str],
    *,
    adjustment: str,
    margins: Mapping[str, float],
    test_over_train: float | None,
) -> Iterator[CompareRow]:
    """Every row: metric by metric, b by b.

    Parameters
    ----------
    margins
        By metric.
    test_over_train
        Items tested on per item trained on; None where it is not known.
    """
    draws = draws_of(field, contests, tests)
    entries = [
        Entry(field, one, draws, place, margins.get(one.metric.name), test_over_train)
        for place, one in enumerate(contests)
    ]
    found: dict[str, list[Paired]] = {DIFFERENCE: [one.difference for one in contests]}
    found |= {name: [_outcome(entry, name) for entry in entries] for name in tests}
    families = adjusted(field, contests, draws, found, adjustment)
    for place, entry in enumerate(entries):
        told = Told(
            entry=entry,
            outcomes={name: found[name][place] for name in tests},
            adjusted={name: family[place] for name, family in families.items()},
            adjustment=adjustment,
        )
        yield _difference_row(told)
        yield _relative_row(told)
        yield from _effect_rows(told)
        yield _wins_row(told)
        for name in tests:
            yield _test_row(told, name)


def _outcome(entry: Entry, name: str) -> Paired:
    if name in MARGIN_TESTS and entry.margin is None:
        return undefined(f"no margin is given for {entry.contest.metric.name}", entry.contest.difference.estimate)
    return outcome_of(entry, name)


def _difference_row(told: Told) -> CompareRow:
    contest, field = told.contest, told.entry.field
    text = sentence(field, contest, told.adjusted, told.adjustment, told.entry.margin)
    unc = told.unc(contest.difference, design=field.design, n_resamples=field.n_drawn)
    won = _won(None if contest.reason else tally(told.entry))
    columns = told.tested(DIFFERENCE, contest.difference)
    return told.row(DIFFERENCE, unc, **columns, **won, n_pairs=field.losses.n_items, sentence=text)


def _relative_row(told: Told) -> CompareRow:
    field = told.entry.field
    unc = told.unc(_relative(told.entry), design=field.design, n_resamples=field.n_drawn)
    return told.row("relative_change", unc)


def _relative(entry: Entry) -> Paired:
    """(a - b)/b with Fieller's set; a ratio of means over cells."""
    contest, joint, losses = entry.contest, entry.field.joint, entry.field.losses
    made = contest.difference
    if contest.reason is not None or made.estimate is None:
        return made
    under = sign(contest.metric) * losses.unit(contest.rank, contest.b)
    value = sign(contest.metric) * float(losses.influence.estimates[losses.index(contest.rank, contest.b)])
    if value <= 0:
        return undefined(f"b is {value:.4g}: a change relative to it has no meaning")
    ratio = made.estimate / value
    if made.interval.low is None:
        return undefined(made.interval.reason or "the difference has no interval", ratio)
    whole = joint.covariance.ratio(made.estimate, value, contest.contrast, under, entry.field.level)
    if whole.shape != "bounded" or whole.low is None or whole.high is None:
        return undefined("no interval: b is not distinguishable from 0, so that Fieller's set is not bounded", ratio)
    if whole.high - whole.low <= ROUNDING * max(abs(ratio), 1.0):
        return undefined(NO_SPREAD, ratio)
    variance, _ = joint.covariance.variance(contest.contrast - ratio * under)
    interval = Interval(whole.low, whole.high, "fieller", made.interval.reason)
    return Paired(interval, ratio, se=variance**0.5 / value)


def _effect_rows(told: Told) -> Iterator[CompareRow]:
    entry, items = told.entry, told.contest.items
    level, n = entry.field.level, entry.field.n_resamples
    reason = told.contest.reason or f"{told.contest.metric.name} {NO_ITEMS}"
    moments = entry.draws.moments[:, entry.place]
    dz = undefined(reason) if items is None else effects.cohen_dz(items.own, moments[:, :2], level)
    yield told.row("cohen_dz", told.unc(dz, design="items", n_resamples=n))
    better = told.contest.better
    if items is not None and better == 0:
        made = undefined(NO_DIRECTION)
    else:
        made = undefined(reason) if items is None else effects.superiority(better * items.own, moments[:, 2], level)
    drawn = n if made.interval.method == "bca" else None
    yield told.row("superiority", told.unc(made, design="items", n_resamples=drawn))


def _wins_row(told: Told) -> CompareRow:
    found = None if told.contest.reason else tally(told.entry)
    if found is None:
        reason = told.contest.reason or NO_DIRECTION
        return told.row("wins", told.unc(undefined(reason), design=None, n_resamples=None))
    reason = NO_BINOMIAL if found.n > 1 else "no interval: one cell only"
    made = undefined(reason, found.wins / found.n)
    return told.row("wins", told.unc(made, design=None, n_resamples=None), **_won(found), n_pairs=found.n)


def _won(found: Tally | None) -> dict[str, int]:
    return {} if found is None else {"wins": found.wins, "losses": found.losses, "ties": found.ties}


def _test_row(told: Told, name: str) -> CompareRow:
    test, made, field = TESTS[name], told.outcomes[name], told.entry.field
    design = field.design if name in MARGIN_TESTS else test.design
    n_resamples = field.n_resamples if test.resampled and made.p is not None else None
    more: dict[str, Any] = {"estimator": "exact"} if name == "sign_flip" and made.p is not None else {}
    reason = "; ".join(filter(None, (made.interval.reason, told.adjusted[name].reason))) or None
    one_sided = max(2 * field.level - 1, 0.0) if name in MARGIN_TESTS else field.level
    unc = told.unc(made, design=design, n_resamples=n_resamples, **more, level=one_sided, reason=reason)
    columns = told.tested(name, made)
    if name in MARGIN_TESTS:
        columns |= {"favours": None, "margin": told.entry.margin}
    if name == "sign_cells" and told.contest.reason is None:
        columns |= _won(tally(told.entry))
    pairs = {"items": field.losses.n_items, "cells": field.losses.n_cells, "splits": len(field.panel.splits)}
    return told.row("test", unc, test=name, alternative=test.alternative, **columns, n_pairs=pairs[test.over])
