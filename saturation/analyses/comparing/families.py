"""Families of tests: one kind of test over all metrics and conditions, adjusted for having looked at all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from saturation.analyses.comparing.contests import Contest, Field
from saturation.analyses.comparing.draws import Draws
from saturation.resampling.max_t import max_t_p
from saturation.resampling.multiplicity import adjust, romano_wolf
from saturation.resampling.paired import Paired
from saturation.typing import Floats

DIFFERENCE = "difference"
NO_RESAMPLES = "Romano-Wolf needs the resamples of the test itself, and this one has none: choose holm or bh"


@dataclass(frozen=True, slots=True)
class Adjusted:
    """An adjusted p (None where undefined), the tests counted with it, and why it is missing."""

    p: float | None
    family_size: int
    reason: str | None = None


def adjusted(
    field: Field, contests: Sequence[Contest], draws: Draws, found: Mapping[str, Sequence[Paired]], adjustment: str
) -> dict[str, list[Adjusted]]:
    """Adjusted p-values of every family.

    Parameters
    ----------
    found
        By family (``difference`` or a test): the outcome of every contest.
    adjustment
        ``holm``, ``bh``, ``romano_wolf`` or ``none``.
    """
    made = {}
    for name, outcomes in found.items():
        p = np.array([np.nan if one.p is None else one.p for one in outcomes])
        size = int(np.isfinite(p).sum())
        if adjustment != "romano_wolf":
            values = adjust(p, adjustment)[0]
            made[name] = [Adjusted(_or_none(value), size) for value in values]
            continue
        stepped = _max_t(field, contests, draws, name, p)
        if stepped is None:
            made[name] = [Adjusted(None, size, None if one.p is None else NO_RESAMPLES) for one in outcomes]
        else:
            made[name] = [Adjusted(_or_none(value), size) for value in np.maximum(stepped, p)]
    return made


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _max_t(field: Field, contests: Sequence[Contest], draws: Draws, name: str, p: Floats) -> Floats | None:
    """Step-down max-t of one family; None where it has no resamples of its own."""
    if name == DIFFERENCE and field.joint.distribution is None:
        return _from_covariance(field, contests, p)
    if name == DIFFERENCE:
        assert field.joint.distribution is not None
        resampled = np.stack([(field.joint.distribution * one.contrast).sum(axis=1) for one in contests], axis=1)
        return _centred(resampled, p)
    if name == "bootstrap":
        return _centred(draws.items, p)
    if name == "sign_flip":
        return _from_flips(contests, draws.flips, p)
    return None


def _centred(resampled: Floats, p: Floats) -> Floats:
    """Resamples about their own mean, in units of their standard deviation, against the observed difference."""
    usable = np.isfinite(p)
    null, t = np.zeros(resampled.shape), np.full(len(p), np.nan)
    for place in np.flatnonzero(usable):
        column = resampled[:, place]
        center, sd = float(np.nanmean(column)), float(np.nanstd(column, ddof=1))
        if sd > 0:
            null[:, place] = np.nan_to_num((column - center) / sd)
            t[place] = center / sd
        else:
            t[place] = 1e9  # a difference without spread is beyond every resample
    return romano_wolf(t, null)


def _from_flips(contests: Sequence[Contest], flips: Floats, p: Floats) -> Floats:
    null, t = np.zeros(flips.shape), np.full(len(p), np.nan)
    for place, one in enumerate(contests):
        if np.isfinite(p[place]) and one.items is not None:
            scale = float(np.sqrt((one.items.parts**2).sum())) / len(one.items.parts)
            null[:, place], t[place] = flips[:, place] / scale, float(one.items.parts.mean()) / scale
    return romano_wolf(t, null)


def _from_covariance(field: Field, contests: Sequence[Contest], p: Floats) -> Floats:
    """The same steps with draws of the multivariate t that the linearised covariance implies."""
    out = np.full(len(p), np.nan)
    tested = [int(place) for place in np.flatnonzero(np.isfinite(p))]
    flat = [place for place in tested if contests[place].difference.statistic is None]
    out[flat] = p[flat]  # no spread: its p is a limit
    usable = [place for place in tested if place not in flat]
    t = np.array([contests[place].difference.statistic for place in usable], dtype=np.float64)
    so_far = 0.0
    order = np.argsort(-np.abs(t), kind="stable")
    for place in range(len(order)):
        left = order[place:]
        which = [usable[i] for i in left]
        correlation = field.joint.covariance.correlation(np.stack([contests[i].contrast for i in which]))
        df = min(float(contests[i].difference.df or np.inf) for i in which)
        so_far = max(so_far, float(max_t_p(t[left], correlation, df, field.seed)[0]))
        out[usable[order[place]]] = so_far
    return out
