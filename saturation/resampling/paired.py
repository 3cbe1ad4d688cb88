"""Paired tests of a difference, each with its interval where it has one, its limit or its reason where it has none.

Differences that are all the same have no spread: the statistic is infinite and p its limit 0, or, where the
difference is 0 too, there is nothing to test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from saturation.errors import UsageError
from saturation.resampling import intervals
from saturation.resampling.intervals import Interval
from saturation.typing import Floats

ROUNDING = 1e-12
"""Differences below this part of the values they are between are rounding, not differences."""
NO_DIFFERENCE = "the two sides are equal in every pair: there is nothing to test"
NO_SPREAD = "every pair gives the same difference: no spread to build an interval from, and p is its limit"
ONE_PAIR = "one pair only: no spread over pairs"
_SUREST = 1 - 1e-12
"""With two or three pairs Student's level is 1 but for rounding; no resamples reach so far."""
ONLY_P = "this test gives a p-value and no interval"


@dataclass(frozen=True, slots=True)
class Paired:
    """The outcome of one test.

    Attributes
    ----------
    interval
        Of the estimate; ends None with a reason where there is none.
    estimate
        What is tested, None where it does not exist.
    p
        None where it does not exist; the interval's reason then says why.
    statistic, df, se
        None where they do not apply or are infinite.
    side
        1: the first side is larger, -1: the second, 0: neither; None: as the sign of the estimate.
    """

    interval: Interval
    estimate: float | None = None
    p: float | None = None
    statistic: float | None = None
    df: float | None = None
    se: float | None = None
    side: int | None = None


def undefined(reason: str, estimate: float | None = None) -> Paired:
    """No test, with the reason."""
    return Paired(intervals.none(reason), estimate)


def settled(differences: Floats, size: float) -> Floats:
    """Differences without what is only rounding: near 0 they are 0, near their common value they are that value.

    Parameters
    ----------
    differences
        (...)
    size
        How large the values are that the differences are between.

    Examples
    --------
    >>> settled(np.array([0.1, 0.1 + 1e-16]), 1.0).tolist(), settled(np.array([1e-17, 0.2]), 1.0).tolist()
    ([0.1, 0.1], [0.0, 0.2])
    """
    quantum = ROUNDING * max(size, float(np.abs(differences).max(initial=0.0)))
    kept = np.where(np.abs(differences) <= quantum, 0.0, differences)
    same = len(kept) > 0 and float(kept.max() - kept.min()) <= quantum
    return np.full_like(kept, kept.flat[0]) if same else np.asarray(kept)


def paired_t(differences: Floats, level: float = 0.95) -> Paired:
    """Student's t of the mean of paired differences.

    Its size is 5% for normal differences and, in 10,000 simulated studies each, 7.8% for 20 differences as skewed as an
    exponential, 6.4% for 50 and 5.8% for 100.

    Examples
    --------
    >>> test = paired_t(np.array([1.0, 2.0, 3.0]))  # mean 2, se 1/sqrt 3
    >>> round(test.statistic, 4), test.df, round(test.p, 4)
    (3.4641, 2, 0.0742)
    """
    n = len(differences)
    if n < 2:
        return undefined(ONE_PAIR, float(differences.mean()) if n else None)
    if differences.min() == differences.max():
        return t_test(float(differences[0]), 0.0, n - 1, level)
    return t_test(float(differences.mean()), float(differences.std(ddof=1)) / n**0.5, n - 1, level)


def t_test(estimate: float, se: float, df: float, level: float = 0.95) -> Paired:
    """Estimate / se against Student's t, with its interval; the limit where se is 0.

    Examples
    --------
    >>> t_test(0.1, 0.0, 9).p, t_test(0.0, 0.0, 9).p
    (0.0, None)
    """
    if se <= 0:
        return _limit(estimate, df)
    t = estimate / se
    made = intervals.normal(estimate, se, level, df, "linearized_t")
    return Paired(made, estimate, 2 * float(special.stdtr(df, -abs(t))), t, df, se)


def _limit(estimate: float, df: float | None = None) -> Paired:
    if estimate == 0:
        return undefined(NO_DIFFERENCE, 0.0)
    return Paired(intervals.none(NO_SPREAD), estimate, 0.0, None, df, 0.0)


def wilcoxon(differences: Floats) -> Paired:
    """Wilcoxon's signed-rank test; zeros are left out, ties share ranks, exact up to 50 differences without ties.

    It asks whether the differences are symmetric about 0, not whether their mean is 0: skewed differences with a mean
    of 0 are rejected as surely as any (39% of studies of 100 items where 5% of means would be).
    """
    from scipy import stats

    kept = _tied(differences[differences != 0])
    if not len(kept):
        return undefined(NO_DIFFERENCE)
    n_ties = len(kept) - len(np.unique(np.abs(kept)))
    method: Literal["exact", "approx"] = "exact" if len(kept) <= 50 and n_ties == 0 else "approx"
    found = stats.wilcoxon(kept, method=method)
    of_larger = float(stats.rankdata(np.abs(kept))[kept > 0].sum())
    side = int(np.sign(of_larger - len(kept) * (len(kept) + 1) / 4))
    return Paired(intervals.none(ONLY_P), None, float(found.pvalue), float(found.statistic), side=side)


def _tied(differences: Floats) -> Floats:
    """Differences whose sizes agree but for rounding get the same size: 1 - 1/3 and 2/3 are tied."""
    sizes = np.abs(differences)
    ordered = np.sort(sizes)
    begins = np.diff(ordered, prepend=-np.inf) > ROUNDING * float(ordered.max(initial=0.0))
    group = np.cumsum(begins) - 1
    return np.asarray(np.sign(differences) * ordered[begins][group[np.searchsorted(ordered, sizes)]])


def sign_test(wins: int, losses: int) -> float | None:
    """Two-sided exact sign test, ties left out; None without a win or a loss.

    Examples
    --------
    >>> sign_test(9, 0), sign_test(0, 0)
    (0.00390625, None)
    """
    n = wins + losses
    return min(1.0, 2 * float(special.bdtr(min(wins, losses), n, 0.5))) if n else None


def smallest_sign_p(n: int) -> float:
    """The smallest p that a sign test of n wins can reach: 2 / 2^n.

    Examples
    --------
    >>> smallest_sign_p(9), smallest_sign_p(1)
    (0.00390625, 1.0)
    """
    return min(1.0, 2.0 ** (1 - n))


def nadeau_bengio(of_split: Floats, test_over_train: float, level: float = 0.95) -> Paired:
    """Corrected resampled t over random splits (Nadeau and Bengio 2003, eq. 7).

    t = dbar / sqrt((1/J + n_test/n_train) s_d^2), df = J - 1: overlapping training parts make the differences of
    splits dependent, which the second term allows for.

    Parameters
    ----------
    of_split
        (splits,) difference of each split, averaged over its seeds.
    test_over_train
        Items tested on per item trained on.

    Examples
    --------
    >>> test = nadeau_bengio(np.array([1.0, 2.0, 3.0]), 0.5)  # se = sqrt(1/3 + 1/2)
    >>> round(test.se, 4), test.df
    (0.9129, 2)
    """
    n = len(of_split)
    if n < 2:
        return undefined("one split only: Nadeau and Bengio's test compares splits", float(of_split.mean()))
    if not 0 < test_over_train < np.inf:
        raise UsageError(f"the ratio of test to training items is {test_over_train}; give a number above 0")
    same = of_split.min() == of_split.max()
    se = 0.0 if same else float(np.sqrt((1 / n + test_over_train) * of_split.var(ddof=1)))
    return t_test(float(of_split[0] if same else of_split.mean()), se, n - 1, level)


def tost(estimate: float, se: float, df: float, margin: float, level: float = 0.95) -> Paired:
    """Two one-sided tests of equivalence within the margin (Schuirmann 1987): p is the larger of the two.

    The interval is the one at level 2 level - 1: it lies inside the margin exactly when p < 1 - level. One side of a
    skewed mean is judged less well than both together: of studies whose differences are as skewed as an exponential and
    lie at the margin, 11% are called equivalent with 20 items, 7% with 100, 6% with 500.

    Examples
    --------
    >>> round(tost(0.0, 1.0, 10, 2.0).p, 4)  # P(T_10 > 2)
    0.0367
    """
    made = t_test(estimate, se, df, max(2 * level - 1, 0.0)) if se > 0 else _limit(estimate, df)
    if se <= 0:
        return Paired(made.interval, estimate, 0.0 if abs(estimate) < margin else 1.0, None, df, se)
    t = (margin - abs(estimate)) / se
    return Paired(made.interval, estimate, float(special.stdtr(df, -t)), t, df, se)


def noninferiority(loss: float, se: float, df: float, margin: float, level: float = 0.95) -> Paired:
    """One-sided test that a loses less than the margin against b: H0 is loss >= margin.

    With skewed losses it errs as :func:`tost` does.

    Parameters
    ----------
    loss
        How much worse a is than b; negative where it is better.

    Examples
    --------
    >>> round(noninferiority(0.0, 1.0, 10, 2.0).p, 4)  # P(T_10 > 2)
    0.0367
    """
    if se <= 0:
        return Paired(_limit(loss, df).interval, loss, 0.0 if loss < margin else 1.0, None, df, se)
    t = (loss - margin) / se
    made = t_test(loss, se, df, max(2 * level - 1, 0.0)).interval
    return Paired(made, loss, float(special.stdtr(df, t)), t, df, se)


def bca_test(distribution: Floats, estimate: float, jackknife_values: Floats, level: float = 0.95) -> Paired:
    """BCa interval of a resampled difference, and the p-value that inverts it, with Student's t in the normal's place.

    Resampled means of n pairs have (n - 1)/n of the variance that their mean has, and a normal quantile takes that
    variance as known: plain BCa at 95% rejects a true null in 8% of studies of 20 pairs, 6.5% of 50. So it is asked at
    the level whose normal quantile is sqrt(n/(n-1)) times Student's (Hesterberg 2015, sec. 5.3); from some hundred
    pairs on there is no difference. Sizes are in ``tests/statistical/README.md``.

    Where every resample agrees on a difference that is not 0, p is the smallest that so many resamples can give. With
    so few resamples that no p could be below 1 - level there is neither: an interval without 0 would contradict it.
    """
    if distribution.min() == distribution.max():
        if estimate == 0:
            return undefined(NO_DIFFERENCE, 0.0)
        return Paired(intervals.none(NO_SPREAD), estimate, 2 / (len(distribution) + 1), se=0.0)
    few = fewest_resamples(level)
    if len(distribution) < few:
        return undefined(f"BCa at level {level:g} needs {few} resamples, and there are {len(distribution)}", estimate)
    made = intervals.bca(distribution, estimate, jackknife_values, student_level(level, len(jackknife_values)))
    if made.low is None:
        return Paired(made, estimate)
    kept, _ = intervals.defined(distribution)
    assert kept is not None
    return Paired(made, estimate, bca_p(kept, estimate, jackknife_values), se=float(kept.std(ddof=1)))


def student_level(level: float, n: int) -> float:
    """The level at which an interval with normal quantiles is as wide as Student's t and the sample variance make it.

    Examples
    --------
    >>> round(student_level(0.95, 20), 4), round(student_level(0.95, 1000), 4)  # 2 Phi(sqrt(20/19) 2.093) - 1
    (0.9682, 0.9504)
    """
    half = (n / (n - 1)) ** 0.5 * intervals.critical(level, n - 1)
    return min(2 * float(special.ndtr(half)) - 1, _SUREST)


def fewest_resamples(level: float) -> int:
    """How many resamples it takes for the smallest p that they can give, 2 / (B + 1), to be below 1 - level.

    Examples
    --------
    >>> fewest_resamples(0.95), fewest_resamples(0.99)  # 2 / 41 = .0488, 2 / 201 = .00995
    (40, 200)
    """
    return int(np.floor(2 / (1 - level) + 1e-9))


def bca_p(distribution: Floats, estimate: float, jackknife_values: Floats, null: float = 0.0) -> float:
    """Two-sided p of a null value by inverting the interval of :func:`bca_test`; at least 2 / (resamples + 1).

    With F the resamples' share below the null, z0 and a as in the interval: w = Phi^-1(F) - z0 is turned back to
    w / (1 + a w) - z0, the normal deviate whose interval ends at the null. Where several resamples are the null itself,
    F is any share between those below it and those up to it, and p the largest of theirs.
    """
    smallest = 2 / (len(distribution) + 1)
    ordered = np.sort(distribution)
    z0, acceleration = intervals.bias_and_acceleration(distribution, estimate, jackknife_values)
    deviates = [_turned_back(share, z0, acceleration) for share in _shares_at(ordered, null)]
    if deviates[0] <= 0 <= deviates[1]:
        return 1.0
    n = len(jackknife_values)
    t = min(abs(one) for one in deviates) / (n / (n - 1)) ** 0.5
    return max(2 * float(special.stdtr(n - 1, -t)), smallest)


def _shares_at(ordered: Floats, null: float) -> tuple[float, float]:
    """Smallest and largest share whose quantile, between neighbours by a straight line, is the null."""
    last = len(ordered) - 1
    first, end = int(np.searchsorted(ordered, null)), int(np.searchsorted(ordered, null, side="right"))
    if first < end:
        return first / last, (end - 1) / last
    if first in (0, len(ordered)):
        return (0.0, 0.0) if first == 0 else (1.0, 1.0)
    between = (null - ordered[first - 1]) / (ordered[first] - ordered[first - 1])
    share = (first - 1 + float(between)) / last
    return share, share


def _turned_back(share: float, z0: float, acceleration: float) -> float:
    """The deviate whose BCa limit is the quantile of this share; infinite where none reaches so far."""
    if share in (0.0, 1.0):
        return float("-inf") if share == 0.0 else float("inf")
    w = float(special.ndtri(share)) - z0
    scale = 1 + acceleration * w
    return w / scale - z0 if scale > 0 else float(np.copysign(np.inf, w))
