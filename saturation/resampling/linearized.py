"""Variances from influence values: the engine for few training seeds.

A percentile bootstrap over three seeds covers 75-90% of the time. Here the spread over items and over seeds is
estimated from influence values z (statistic, split, seed, item) and used with Student's t:

    V = max(V_items + V_seeds - V_e, V_items) + max(V_A - V_w, 0)

V_items sees each *distinct* item once, with its sum over the splits that share it; V_e, the residual of items x
seeds, is in both other terms and is taken off once. V_A is the variance over annotators where there are ids, V_w the
part of it that is the noise of single votes, which the spread of the items holds already.
Splits are fixed: the statement is about these partitions of the items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from saturation.errors import UsageError
from saturation.resampling import intervals
from saturation.resampling.fieller import FiellerSet, fieller, union
from saturation.resampling.intervals import Interval
from saturation.typing import Floats, Ints

ONE_SEED = "one seed: training noise is not in this interval"


@dataclass(frozen=True, slots=True, eq=False)
class Influence:
    """Influence values of several statistics on common cells.

    Attributes
    ----------
    estimates
        (statistics,) the statistics, means over cells (split x seed).
    cells
        One (statistics, seeds) array a split: the statistic of each cell. Their spread over seeds is the training
        noise.
    values
        One (statistics, seeds, items_of_split) array a split: influence values, how much each item moves the
        statistic of each cell, in its own units (for a mean: the item's score; pseudo-values serve too). Their mean
        over items is immaterial: it is replaced by ``cells``.
    items_of_split
        One index array into the distinct items a split.
    n_items
        Number of distinct items that indices may point to.
    annotators
        (statistics, draws) values of the statistics under redrawn annotators, items and seeds fixed: their sample
        covariance is the annotators' part. None: no annotators' part.
    """

    estimates: Floats
    cells: tuple[Floats, ...]
    values: tuple[Floats, ...]
    items_of_split: tuple[Ints, ...]
    n_items: int
    annotators: Floats | None = None

    def __post_init__(self) -> None:
        if not len(self.values) == len(self.items_of_split) == len(self.cells):
            raise UsageError(
                f"{len(self.values)} splits of values, {len(self.cells)} of cells, {len(self.items_of_split)} of items"
            )
        for cells, values, items in zip(self.cells, self.values, self.items_of_split, strict=True):
            expected = (len(self.estimates), cells.shape[-1], len(items))
            if cells.ndim != 2 or len(cells) != len(self.estimates) or values.shape != expected:
                raise UsageError(
                    f"cells are {cells.shape}, influence values {values.shape}; expected {expected[:2]} and {expected}"
                )

    def centred(self) -> tuple[Floats, ...]:
        """Influence values of every split whose mean over items is the cell's statistic."""
        return tuple(cells[..., None] + _centred(values) for cells, values in zip(self.cells, self.values, strict=True))

    def combine(self, matrix: Floats, estimates: Floats) -> Influence:
        """Linear combinations of the statistics, e.g. differences; the caller gives their estimates.

        A smooth function of statistics takes the matrix of its derivatives (delta method).

        Parameters
        ----------
        matrix
            (new statistics, statistics)
        estimates
            (new statistics,)
        """
        matrix = np.asarray(matrix, dtype=np.float64)
        return Influence(
            estimates=np.asarray(estimates, dtype=np.float64),
            cells=tuple(_mix(matrix, cells) for cells in self.cells),
            values=tuple(_mix(matrix, values) for values in self.values),
            items_of_split=self.items_of_split,
            n_items=self.n_items,
            annotators=None if self.annotators is None else _mix(matrix, self.annotators),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Covariance:
    """The covariance of several statistics in its parts.

    Attributes
    ----------
    items, seeds, error, annotators
        (statistics, statistics); ``seeds`` and ``error`` are zero where a split has one seed, ``annotators`` where
        there are no ids.
    items_df, seeds_df, annotators_df
        Degrees of freedom: distinct items - 1; sum over splits of seeds - 1 (0: one seed); of the annotators' part.
    within
        (statistics, statistics) V_w, what ``annotators`` and ``items`` have in common; None: nothing.
    within_df
        Its degrees of freedom; ``annotators_df`` are then those of V_A - V_w.
    """

    items: Floats
    seeds: Floats
    error: Floats
    annotators: Floats
    items_df: int
    seeds_df: int
    annotators_df: float
    within: Floats | None = None
    within_df: float = float("inf")

    @property
    def reason(self) -> str | None:
        """What the intervals leave out, in words."""
        return ONE_SEED if self.seeds_df == 0 else None

    def map(self, change: Callable[[Floats], Floats]) -> Covariance:
        """Every part (statistics, statistics) changed alike; the degrees of freedom stay."""
        return replace(
            self,
            items=change(self.items),
            seeds=change(self.seeds),
            error=change(self.error),
            annotators=change(self.annotators),
            within=None if self.within is None else change(self.within),
        )

    def variance(self, contrast: Floats) -> tuple[float, float]:
        """Variance and degrees of freedom (Satterthwaite) of a linear contrast of the statistics.

        Parameters
        ----------
        contrast
            (statistics,) coefficients.

        Returns
        -------
        V = max(V_items + V_seeds - V_e, V_items) + max(V_A - V_w, 0) and
        df = V^2 / (V_items^2/(U-1) + V_seeds^2/sum(T-1) + V_A^2/df_A), but never fewer degrees of freedom than the part
        with the fewest; NaN both where there is one item only. V_A is known as well as what it is made of:
        V_A / sqrt(df_A) = max(V_A - V_w, 0) / sqrt(annotators_df) + min(V_A, V_w) / sqrt(within_df).

        Notes
        -----
        Satterthwaite's df of a sum lies between the smallest df of its parts and their total. Taking V_e and V_w off
        leaves the denominator as it was, which alone could push it below.
        """
        items, seeds, error, annotators = (
            _form(contrast, part) for part in (self.items, self.seeds, self.error, self.annotators)
        )
        within = 0.0 if self.within is None else min(_form(contrast, self.within), annotators)
        total = max(items + seeds - error, items) + annotators - within
        if self.items_df < 1:
            return float("nan"), float("nan")
        people_df = self._people_df(annotators, within)
        parts = ((items, self.items_df), (seeds, self.seeds_df), (annotators, people_df))
        used = [(part, df) for part, df in parts if part > 0 and df]
        spread = sum(part**2 / df for part, df in used)
        if spread <= 0:
            return total, float(self.items_df)
        return total, float(max(total**2 / spread, min(df for _, df in used)))

    def _people_df(self, annotators: float, within: float) -> float:
        """Degrees of freedom of V_A, from those of its two parts."""
        spread = (annotators - within) / self.annotators_df**0.5 + within / self.within_df**0.5
        return float((annotators / spread) ** 2) if spread > 0 else float("inf")

    def interval(self, estimate: float, contrast: Floats, level: float = 0.95) -> Interval:
        """The contrast's estimate +- t sqrt(V); with one seed it carries the reason that says what is missing."""
        variance, df = self.variance(contrast)
        if not np.isfinite(variance):
            return intervals.none(self._undefined())
        made = intervals.normal(estimate, variance**0.5, level, df, "linearized_t")
        return made if made.low is None else Interval(made.low, made.high, made.method, self.reason)

    def p_value(self, estimate: float, contrast: Floats) -> float | None:
        """Two-sided p of contrast = 0; None where there is no variance to test against."""
        variance, df = self.variance(contrast)
        if not np.isfinite(variance) or variance <= 0:
            return None
        return 2 * float(special.stdtr(df, -abs(estimate) / variance**0.5))

    def ratio(
        self, numerator: float, denominator: float, over: Floats, under: Floats, level: float = 0.95
    ) -> FiellerSet:
        """All f0 for which numerator - f0 denominator = 0 is not rejected, df at the estimate.

        Parameters
        ----------
        numerator, denominator
            The two estimates.
        over, under
            (statistics,) contrasts whose estimates they are.
        level
            Nominal coverage.

        Notes
        -----
        V(f0) is the largest of a few quadratics in f0, so the set is the union of their Fieller sets. One that takes
        V_e or V_w off may be empty; that of the items, a covariance, always holds the estimate.
        """
        fraction = numerator / denominator if denominator else 0.0
        _, df = self.variance(over - fraction * under)
        sets = [fieller(numerator, denominator, _pair(over, under, part), df, level) for part in self._candidates()]
        held = sets[0] or FiellerSet("bounded", fraction, fraction)  # no variance but rounding: the estimate is left
        for more in sets[1:]:
            held = held if more is None else union(held, more, at=fraction)
        return held

    def _candidates(self) -> list[Floats]:
        """The matrices of which the variance of a contrast is the largest, the items' own first."""
        cleaned = self.items + self.seeds - self.error
        if self.within is None:
            return [self.items + self.annotators, cleaned + self.annotators]
        people = self.annotators - self.within
        return [self.items, cleaned, self.items + people, cleaned + people]

    def correlation(self, contrasts: Floats) -> Floats:
        """(contrasts, contrasts) correlations of linear contrasts (contrasts, statistics), for :func:`max_t`.

        The parts are added without the maximum taken for single variances; where the sum is not a covariance, V_e and
        V_w are not taken off one after the other, until one is left.
        """
        people = self.annotators if self.within is None else self.annotators - self.within
        whole = _between(contrasts, self.items + self.seeds - self.error + people)
        for safer in (self.items + people, self.items + self.annotators):
            if (np.diag(whole) > 0).all() and np.linalg.eigvalsh(whole)[0] >= -1e-9 * np.trace(whole):
                break
            whole = _between(contrasts, safer)
        sd = np.sqrt(np.diag(whole))
        return np.asarray(np.clip(whole / (sd[:, None] * sd), -1.0, 1.0))

    def _undefined(self) -> str:
        return "one item only: no spread over items" if self.items_df < 1 else "the variance is undefined"


def covariance(
    influence: Influence,
    annotators: Floats | None = None,
    annotators_df: float = float("inf"),
    within: Floats | None = None,
    within_df: float = float("inf"),
) -> Covariance:
    """The parts of the covariance of the statistics.

    With z the influence values, J splits of T seeds, I_s items of split s, U distinct items and zbar the mean over
    seeds: V_items = U/(U-1) sum_u [sum over s with u of (zbar_us - zbar_s) / (J I_s)]^2, V_seeds = sum_s var_t(zbar_st)
    / (T J^2), V_e = sum_s MSE_s / (I_s T J^2), MSE_s the residual mean square of items x seeds. Where splits have
    unequal numbers of seeds, 1/J becomes the split's share of the cells, as in the plain mean over cells.

    Parameters
    ----------
    influence
        Influence values.
    annotators
        (statistics, statistics) covariance over annotators with items and seeds fixed; None: the sample covariance
        of ``influence.annotators``, zero where that is None too.
    annotators_df
        Degrees of freedom of that part.
    within, within_df
        (statistics, statistics) what that part has in common with the items', None: nothing; its degrees of freedom.

    Examples
    --------
    One split, one seed: the variance of a mean is s^2 / I.

    >>> scores = np.array([[[1.0, 2.0, 6.0]]])
    >>> one = Influence(np.array([3.0]), (scores.mean(axis=-1),), (scores,), (np.arange(3),), 3)
    >>> variance, df = covariance(one).variance(np.array([1.0]))
    >>> round(variance, 9), df  # ((-2)^2 + (-1)^2 + 3^2) / 2 / 3
    (2.333333333, 2.0)
    """
    n_seeds = [cells.shape[1] for cells in influence.cells]
    centred = influence.centred()
    shares = [n / sum(n_seeds) for n in n_seeds]
    size = len(influence.estimates)
    items, n_distinct = _over_items(influence, centred, shares)
    seeds, error = np.zeros((size, size)), np.zeros((size, size))
    if min(n_seeds) > 1:
        for values, share in zip(centred, shares, strict=True):
            seeds += share**2 * _over_seeds(values)
            error += share**2 * _residual(values)
    if annotators is None:
        annotators = np.zeros((size, size)) if influence.annotators is None else _sample(influence.annotators)
    return Covariance(
        items=items,
        seeds=seeds,
        error=error,
        annotators=np.asarray(annotators, dtype=np.float64),
        items_df=n_distinct - 1,
        seeds_df=sum(n - 1 for n in n_seeds) if min(n_seeds) > 1 else 0,
        annotators_df=annotators_df,
        within=within,
        within_df=within_df,
    )


def _over_items(influence: Influence, centred: tuple[Floats, ...], shares: list[float]) -> tuple[Floats, int]:
    """V_items, and the number of distinct items: each item once, summed over the splits it is in."""
    moved = np.zeros((len(influence.estimates), influence.n_items))
    present = np.zeros(influence.n_items, dtype=bool)
    for values, items, share in zip(centred, influence.items_of_split, shares, strict=True):
        of_item = values.mean(axis=1)
        moved[:, items] += share * _centred(of_item) / len(items)
        present[items] = True
    n_distinct = int(present.sum())
    return _products(moved[:, present]) * (n_distinct / max(n_distinct - 1, 1)), n_distinct


def _over_seeds(values: Floats) -> Floats:
    """Covariance over seeds of the split's mean, divided by the number of seeds."""
    n_seeds = values.shape[1]
    return np.asarray(_products(_centred(values.mean(axis=2))) / ((n_seeds - 1) * n_seeds))


def _residual(values: Floats) -> Floats:
    """Residual mean products of the two-way table items x seeds, divided by items and seeds."""
    size, n_seeds, n_items = values.shape
    if n_items < 2:
        return np.zeros((size, size))
    rest = values - values.mean(axis=1, keepdims=True) - values.mean(axis=2, keepdims=True)
    rest += values.mean(axis=(1, 2), keepdims=True)
    return np.asarray(_products(rest.reshape(size, -1)) / ((n_seeds - 1) * (n_items - 1) * n_items * n_seeds))


def _sample(draws: Floats) -> Floats:
    """Sample covariance of (statistics, draws)."""
    return np.asarray(_products(_centred(draws)) / (draws.shape[1] - 1))


def _centred(values: Floats) -> Floats:
    return np.asarray(values - values.mean(axis=-1, keepdims=True))


def _products(values: Floats) -> Floats:
    """(S, n) -> (S, S) sums of products; one pair never depends on which others there are, so no BLAS."""
    return np.stack([(row * values).sum(axis=-1) for row in values])


def _mix(matrix: Floats, values: Floats) -> Floats:
    """(S2, S) by (S, ...) -> (S2, ...), added in order of S."""
    out = np.zeros((matrix.shape[0], *values.shape[1:]))
    for new, row in enumerate(matrix):
        for coefficient, one in zip(row, values, strict=True):
            if coefficient != 0:
                out[new] += coefficient * one
    return out


def _form(contrast: Floats, matrix: Floats) -> float:
    """The quadratic form of the contrast, over its nonzero coefficients; never below 0, where rounding could put it."""
    used = np.flatnonzero(contrast)
    return max(float((contrast[used, None] * contrast[used] * matrix[np.ix_(used, used)]).sum()), 0.0)


def _between(contrasts: Floats, matrix: Floats) -> Floats:
    """(C, S) contrasts -> (C, C) covariances."""
    half = _mix(contrasts, matrix)
    return np.stack([(half * one).sum(axis=-1) for one in contrasts])


def _pair(over: Floats, under: Floats, matrix: Floats) -> Floats:
    return _between(np.stack([over, under]), matrix)
