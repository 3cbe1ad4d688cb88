"""Estimates of the entropy of the population behind an item's votes; the plug-in is biased low at few votes.

Bias in nats at 5, 10, 20 and 50 votes, by enumeration of every possible row of counts:

=============  ===========================  ===========================  ===========================
estimator      p = (.6, .3, .1)             p = (1/2, 1/2)               p = (.9, .08, .02)
=============  ===========================  ===========================  ===========================
plugin         -.227 -.113 -.054 -.021      -.116 -.053 -.026 -.010      -.148 -.093 -.053 -.022
miller_madow   -.104 -.032 -.008 -.001      -.022 -.003 -.001 -.000      -.104 -.055 -.024 -.006
chao_shen      +.001 -.010 -.013 -.016      -.004 -.042 -.026 -.010      -.037 +.019 +.032 +.013
jackknife      -.011 +.003 +.004 +.001      +.028 +.004 +.001 +.000      -.064 -.026 -.007 -.000
grassberger    -.022 -.004 -.000 -.000      -.000 -.000 -.000 -.000      -.016 -.026 -.007 -.001
=============  ===========================  ===========================  ===========================

Chao-Shen does well where rare labels are yet unseen and hardly corrects a row whose labels are all seen twice: at
p = (1/2, 1/2) and 10 votes it leaves four fifths of the plug-in's bias. Averaged over the items of each ChaosNLI set
the default rule leaves at most .15 of the plug-in's bias at 2 to 50 votes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy.special import digamma, entr

from saturation.errors import UsageError
from saturation.metrics.common import in_base, shares
from saturation.metrics.entropy import entropy_of_counts
from saturation.typing import Counts, Floats, Scores

Estimator = Literal["auto", "plugin", "miller_madow", "chao_shen", "jackknife", "grassberger"]
JACKKNIFE_FROM = 10
"""``auto`` takes Chao-Shen below this median number of votes, the jackknife from it on.

Where labels are spread evenly Chao-Shen gets worse with more votes (.24 of the plug-in's bias at 19), where most votes
go to one of ten labels the jackknife is worse with few (.23 at 5): at 10 votes neither is beyond a fifth.
"""
RESIDUAL = 0.2
"""The share of the plug-in's bias that ``auto`` may leave at 5 votes and more, averaged over the items of a table.

The largest share in simulated tables of 2, 3, 5 and 10 labels; ``tests/statistical/README.md`` has them all.
"""


def resolve_estimator(counts: Counts, estimator: Estimator = "auto") -> Estimator:
    """The estimator that ``auto`` stands for, chosen once a table by the median number of votes.

    Examples
    --------
    >>> import numpy as np
    >>> resolve_estimator(np.array([[3, 2], [60, 40], [2, 2]])), resolve_estimator(np.array([[60, 40]]))
    ('chao_shen', 'jackknife')
    """
    if estimator != "auto":
        return estimator
    median = float(np.median(np.asarray(counts).sum(axis=-1)))
    return "jackknife" if median >= JACKKNIFE_FROM else "chao_shen"


def population_entropy(counts: Counts, estimator: Estimator = "auto", *, base: float | None = None) -> Scores:
    """Estimated entropy of the distribution that an item's votes were drawn from.

    Parameters
    ----------
    counts
        (..., items, labels) whole votes.
    estimator
        ``auto`` (Chao-Shen below 10 median votes, else jackknife) or one of the named ones.
    base
        Logarithm; None means nats.

    Returns
    -------
    (..., items); NaN for items with fewer than two votes, which say nothing about their spread.

    Raises
    ------
    UsageError
        For an unknown estimator, or votes that carry weights.

    Examples
    --------
    >>> import numpy as np
    >>> population_entropy(np.array([[2, 1, 1], [1, 0, 0]]), "miller_madow", base=2).round(4).tolist()
    [1.8607, nan]
    """
    votes = whole_votes(counts)
    named = resolve_estimator(votes, estimator)
    if named not in ESTIMATORS:
        raise UsageError(f"unknown entropy estimator {named!r}; choose auto, {', '.join(ESTIMATORS)}")
    n = votes.sum(axis=-1)
    values = np.full(n.shape, np.nan)
    several = n >= 2
    values[several] = ESTIMATORS[named](np.sort(votes[several], axis=-1))
    return in_base(values, base)


def whole_votes(counts: Counts) -> Floats:
    """Counts as floats, refused when votes carry weights: corrections for few votes need whole ones."""
    votes = np.asarray(counts, dtype=np.float64)
    if (votes != np.floor(votes)).any():
        raise UsageError("corrections for few votes need whole vote counts, not weights or shares")
    return votes


def plugin(counts: Floats) -> Scores:
    """H(h). Needs no correction only when votes are many."""
    return entropy_of_counts(counts)


def miller_madow(counts: Floats) -> Scores:
    """H(h) + (labels seen - 1) / (2 n) (Miller 1955)."""
    n = counts.sum(axis=-1)
    return np.asarray(entropy_of_counts(counts) + ((counts > 0).sum(axis=-1) - 1) / (2 * n))


def chao_shen(counts: Floats) -> Scores:
    """Coverage-adjusted Horvitz-Thompson entropy (Chao and Shen 2003).

    C = 1 - f1/n, f1 the labels with a single vote (f1 = n replaced by n - 1);
    H = - sum C h ln(C h) / (1 - (1 - C h)^n).
    """
    n = counts.sum(axis=-1, keepdims=True)
    singletons = (counts == 1).sum(axis=-1, keepdims=True)
    singletons = np.where(singletons == n, n - 1, singletons)
    covered = (1 - singletons / n) * shares(counts)
    seen = np.where(covered > 0, -np.expm1(n * np.log1p(-np.minimum(covered, 1 - 1e-16))), 1.0)
    return np.asarray((entr(covered) / seen).sum(axis=-1))


def jackknife(counts: Floats) -> Scores:
    """First-order jackknife over votes (Zahl 1977): n H - (n - 1)/n sum over labels of c H without one such vote."""
    n = counts.sum(axis=-1)
    total = n * entropy_of_counts(counts)
    for label in range(counts.shape[-1]):
        voted = counts[..., label] > 0
        fewer = counts.copy()
        fewer[voted, label] -= 1
        total -= (n - 1) / n * counts[..., label] * entropy_of_counts(fewer)
    return np.asarray(total)


def grassberger(counts: Floats) -> Scores:
    """psi(n) - sum c G(c) / n with G(c) = psi(c) + (-1)^c (psi((c + 1)/2) - psi(c/2)) / 2 (Grassberger 2003).

    psi(n), not ln n: the logarithm would belong to Poisson totals (Schuermann 2004).
    """
    n = counts.sum(axis=-1)
    votes = np.maximum(counts, 1.0)
    sign = np.where(votes % 2 == 0, 1.0, -1.0)
    g = digamma(votes) + sign / 2 * (digamma((votes + 1) / 2) - digamma(votes / 2))
    return np.asarray(digamma(n) - (counts * g).sum(axis=-1) / n)


ESTIMATORS: dict[str, Callable[[Floats], Scores]] = {
    "plugin": plugin,
    "miller_madow": miller_madow,
    "chao_shen": chao_shen,
    "jackknife": jackknife,
    "grassberger": grassberger,
}
