"""What makes a mean score uncertain: how items differ, how votes on one item differ, and how people differ.

For a score that is a mean over votes, with I items of N votes each from a crowd of A people,

    Var(mean score) = sigma_I^2 / I + sigma_V^2 / (I N) + sigma_A^2 / A.

sigma_V^2 is the mean over items of s_i^2, the sample variance of the score over the votes of item i. Items' mean scores
vary by sigma_I^2 + sigma_V^2 / n, so sigma_I^2 is their sample variance less the mean of s_i^2 / n_i. Both are unbiased
at any number of votes from two on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.analyses.planning.people import People, people_of
from saturation.resampling.intervals import Interval, critical, none
from saturation.tables.panel import Ballots
from saturation.typing import Floats, Ints

ONE_VOTE = (
    "no item has two votes to tell the noise of a vote from the differences between items: ask for a second vote on "
    "some items"
)
FEW_ITEMS = "{} with two votes or more: a plan needs at least three"
TRUNCATED = "truncated at 0: the items differ no more than the noise of their votes explains"
_ITEMS, _VOTES = 0, 1


@dataclass(frozen=True, slots=True, eq=False)
class VoteScores:
    """The score of a forecast against single votes.

    Attributes
    ----------
    table
        (items, labels) score of the forecast of an item against a vote for a label.
    counts
        (items, labels) the votes that are scored.
    ballots
        The same votes with the people who cast them; None without ids.
    """

    table: Floats
    counts: Ints
    ballots: Ballots | None

    def means(self) -> Floats:
        """(items,) mean score over the votes of an item."""
        return np.asarray((self.counts * self.table).sum(axis=1) / self.counts.sum(axis=1))

    def variances(self) -> Floats:
        """(items,) s_i^2, the sample variance of the score over the votes of an item; NaN with a single vote."""
        n = self.counts.sum(axis=1)
        squares = (self.counts * (self.table - self.means()[:, None]) ** 2).sum(axis=1)
        return np.asarray(np.divide(squares, n - 1, out=np.full(len(n), np.nan), where=n > 1))


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """Variance components of a mean score, in squared units of the metric.

    Attributes
    ----------
    mean
        The pilot's mean score.
    items, votes
        sigma_I^2 as estimated, which may be below 0, and sigma_V^2.
    people
        sigma_A^2; None without annotator ids.
    covariance
        (2, 2) of the estimates of ``items`` and ``votes``, for other items and other people.
    df
        Degrees of freedom behind it.
    noise
        The mean of s_i^2 / n_i, which was taken off the variance of the items' means.
    mean_variance
        Of ``mean``, for other items and other people.
    n_items, n_dropped
        Items with two votes or more, and the others.
    """

    mean: float
    items: float
    votes: float
    people: People | None
    covariance: Floats
    df: float
    noise: float
    mean_variance: float
    n_items: int
    n_dropped: int

    @property
    def is_truncated(self) -> bool:
        """Whether sigma_I^2 came out below 0."""
        return self.items < 0

    def variance(self, budget: int) -> float:
        """Variance of one item's mean over ``budget`` votes: sigma_I^2 + sigma_V^2 / N, sigma_I^2 truncated at 0."""
        return max(self.items, 0.0) + self.votes / budget

    def interval(self, component: str, level: float) -> Interval:
        """Of ``items`` or ``votes``, on the logarithm of what was observed: variances are skewed.

        sigma_V^2 is observed itself, sigma_I^2 with the noise of the votes on top: T = sigma_I^2 + mean s_i^2 / n_i.
        The ends are T exp(+- t se / T) less that noise, and not below 0.
        """
        place, taken_off = (0, self.noise) if component == "items" else (1, 0.0)
        observed = (self.items if component == "items" else self.votes) + taken_off
        se = self.spread(np.eye(2)[place])
        if se <= 0 or observed <= 0:
            return none("no interval: every item says the same")
        stretch = float(np.exp(critical(level, self.df) * se / observed))
        low, high = observed / stretch - taken_off, observed * stretch - taken_off
        return Interval(max(low, 0.0), max(high, 0.0), "linearized_t")

    def spread(self, contrast: Floats) -> float:
        """Standard error of a combination (items, votes) of the two components."""
        variance = float((contrast[:, None] * contrast * self.covariance).sum())
        return float(np.sqrt(max(variance, 0.0)))


def components_of(scores: VoteScores) -> Components | str:
    """The components of a pilot, or the reason why there are none.

    Parameters
    ----------
    scores
        Of every vote of the pilot.

    Examples
    --------
    Three items with two votes each, scores 0 and 1, 0 and 1, 2 and 2: s_i^2 = .5, .5, 0, so sigma_V^2 = 1/3; means .5,
    .5, 2 have variance .75, and the votes explain half of 1/3 of it.

    >>> counts = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 2]])
    >>> found = components_of(VoteScores(np.tile([0.0, 1.0, 2.0], (3, 1)), counts, None))
    >>> round(found.votes, 6), round(found.items, 6)
    (0.333333, 0.583333)
    """
    several = scores.counts.sum(axis=1) > 1
    n_items = int(several.sum())
    if n_items == 0:
        return ONE_VOTE
    if n_items < 3:
        return FEW_ITEMS.format("one item" if n_items == 1 else "two items")
    kept = _take(scores, several)
    n, means, within = kept.counts.sum(axis=1), kept.means(), kept.variances()
    people = None if kept.ballots is None else people_of(kept.table, kept.counts, kept.ballots)
    shared = 0.0 if people is None else people.shared
    # values whose mean is the estimate: what each item says of the two components
    between = _variance_values(means) - within / n + shared
    values = np.stack([between, within])
    of_items = _products(values - values.mean(axis=1, keepdims=True)) / (n_items * (n_items - 1))
    of_mean = float(((means - means.mean()) ** 2).sum()) / (n_items * (n_items - 1))
    of_people, people_df = _people_part(kept, means, within)
    covariance = of_items + of_people[:2, :2]
    return Components(
        mean=float(means.mean()),
        items=float(between.mean()),
        votes=float(within.mean()),
        people=people,
        covariance=covariance,
        df=_joined_df(of_items[_VOTES, _VOTES], of_people[_VOTES, _VOTES], n_items - 1, people_df),
        noise=float((within / n).mean()),
        mean_variance=of_mean + float(of_people[2, 2]),
        n_items=n_items,
        n_dropped=int((~several).sum()),
    )


def _variance_values(means: Floats) -> Floats:
    """(items,) jackknife pseudo-values of the sample variance; their mean is the sample variance."""
    size = len(means)
    squares = (means - means.mean()) ** 2
    total = squares.sum()
    without = (total - size / (size - 1) * squares) / (size - 2)
    return np.asarray(size * total / (size - 1) - (size - 1) * without)


def _people_part(scores: VoteScores, means: Floats, within: Floats) -> tuple[Floats, float]:
    """(3, 3) covariance that people add to (items, votes, mean) beyond the spread of the items, and its df.

    Deleting annotator a moves the statistics by D_a = sum_i psi_ia. What people do alike on different items is
    (A - 1)/A [sum_a D_a D_a' - sum_ia psi_ia psi_ia'], here without the directions in which it came out below 0.
    """
    if scores.ballots is None or len(scores.ballots.annotator_ids) < 2:
        return np.zeros((3, 3)), np.inf
    ballots, n_items = scores.ballots, len(means)
    n = scores.counts.sum(axis=1)[ballots.item]
    deviation = scores.table[ballots.item, ballots.label] - means[ballots.item]
    s2 = within[ballots.item]
    # without one vote: the mean moves by -deviation / (n - 1), s^2 by what the square of the deviation took
    of_mean = -deviation / (n - 1)
    more = n > 2
    of_s2 = np.where(more, (s2 - deviation**2 * n / (n - 1)) / np.where(more, n - 2, 1), 0.0)
    of_between = 2 * (means[ballots.item] - means.mean()) * of_mean * n_items / (n_items - 1) - of_s2 / n
    moves = np.stack([of_between, of_s2, of_mean]) / n_items
    n_people = len(ballots.annotator_ids)
    sums = np.stack([np.bincount(ballots.annotator, one, minlength=n_people).astype(np.float64) for one in moves])
    whole = (n_people - 1) / n_people * (_products(sums) - _products(moves))
    load = np.bincount(ballots.annotator, minlength=n_people).astype(np.float64)
    return _nearest_covariance(whole), max(float((load**2).sum() ** 2 / (load**4).sum()) - 1, 1.0)


def _nearest_covariance(matrix: Floats) -> Floats:
    """A symmetric matrix without its negative directions, each statistic in units of its own size first."""
    size = np.sqrt(np.abs(np.diag(matrix)))
    size = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(matrix / size[:, None] / size)
    clipped = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(clipped * size[:, None] * size)


def _joined_df(of_items: float, of_people: float, items_df: float, people_df: float) -> float:
    """Satterthwaite's degrees of freedom of a sum of two variances."""
    if of_people <= 0 or of_items + of_people <= 0:
        return float(items_df)
    joined = (of_items + of_people) ** 2 / (of_items**2 / items_df + of_people**2 / people_df)
    return float(max(joined, min(items_df, people_df)))


def _products(values: Floats) -> Floats:
    """(statistics, n) -> (statistics, statistics) sums of products, added in the order of the last axis."""
    return np.stack([(values * one).sum(axis=1) for one in values])


def _take(scores: VoteScores, kept: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> VoteScores:
    """The scores of some items."""
    ballots = scores.ballots
    if ballots is not None and not kept.all():
        rank = np.cumsum(kept) - 1
        inside = kept[ballots.item]
        present, annotator = np.unique(ballots.annotator[inside], return_inverse=True)
        ballots = Ballots(
            annotator_ids=tuple(ballots.annotator_ids[a] for a in present),
            item=rank[ballots.item[inside]],
            annotator=annotator.astype(np.int64),
            label=ballots.label[inside],
        )
    return VoteScores(scores.table[kept], scores.counts[kept], ballots)
