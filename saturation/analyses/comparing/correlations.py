"""The contest of two entropy correlations: both models against the same human entropies (Williams, Steiger, Zou)."""

from __future__ import annotations

import numpy as np

from saturation.analyses.comparing.draws import Entry
from saturation.analyses.losses import humans
from saturation.metrics.correlation import combine_pearson, pearson_features
from saturation.metrics.entropy import entropy, entropy_of_counts
from saturation.resampling import correlations, intervals, paired
from saturation.resampling.intervals import Interval
from saturation.resampling.paired import Paired, undefined
from saturation.typing import Floats

NORMAL_ENTROPIES = "assumes normal entropies, which are bounded and skewed: the bootstrap is the safer test"
_UNDEFINED_R = "undefined: fewer than 4 items, a correlation of -1 or 1, or models whose entropies agree entirely"


def _correlations(entry: Entry) -> tuple[Floats, int, str] | Paired:
    """R with the annotators of a and b, and of a with b: means over cells; the items of the smallest split."""
    contest, panel = entry.contest, entry.field.panel
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


def williams(entry: Entry) -> Paired:
    """Williams' t of the two correlations."""
    found = _correlations(entry)
    if isinstance(found, Paired):
        return found
    r, n, told = found
    t, df, p = (float(value) for value in correlations.williams(r[0], r[1], r[2], n))
    return _from_statistic(float(r[0] - r[1]), t, p, told, df)


def steiger(entry: Entry) -> Paired:
    """Steiger's z of the two correlations."""
    found = _correlations(entry)
    if isinstance(found, Paired):
        return found
    r, n, told = found
    z, p = (float(value) for value in correlations.steiger(r[0], r[1], r[2], n))
    return _from_statistic(float(r[0] - r[1]), z, p, told)


def zou(entry: Entry) -> Paired:
    """Zou's interval of their difference, and the p that inverts it."""
    found = _correlations(entry)
    if isinstance(found, Paired):
        return found
    r, n, told = found

    def at(level: float) -> Interval:
        low, high = (float(end) for end in correlations.zou(r[0], r[1], r[2], n, level))
        return Interval(low, high, "normal", told) if np.isfinite(low) else intervals.none(_UNDEFINED_R)

    made = at(entry.field.level)
    return Paired(made, float(r[0] - r[1]), intervals.inversion_p(at))


def _from_statistic(difference: float, statistic: float, p: float, told: str, df: float | None = None) -> Paired:
    if not np.isfinite(statistic):
        return undefined(_UNDEFINED_R, difference)
    return Paired(intervals.none(f"{paired.ONLY_P}; {told}"), difference, p, statistic, df)
