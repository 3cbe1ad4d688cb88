"""What the tests of a comparison are made from: one contest each, and the resamples that all of them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from saturation.analyses.comparing.contests import Contest, Field
from saturation.analyses.crossed import resampled_losses
from saturation.analyses.losses import sign
from saturation.resampling import effects, permutation
from saturation.resampling.draw import item_weights
from saturation.resampling.sums import weighted_sums
from saturation.typing import Floats

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
class Entry:
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
        columns.append(on_z(one, a) - on_z(one, b))
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


def on_z(contest: Contest, values: Floats) -> Floats:
    """Correlations on Fisher's z (NaN at -1 and 1), everything else as it is."""
    if not contest.metric.is_correlation:
        return values
    return np.arctanh(np.where(np.abs(values) < 1, values, np.nan))


def pair_of(entry: Entry) -> list[int]:
    """Positions of the two losses that are compared."""
    losses, contest = entry.field.losses, entry.contest
    return [losses.index(contest.rank, contest.a), losses.index(contest.rank, contest.b)]
