"""Sign flips: under the null the two conditions of a pair could be exchanged, so every difference could change sign.

The null distribution of the mean difference needs no Monte Carlo: it is the law of sum e_i abs(d_i) with fair signs
e_i, found by enumeration, by convolution or by a saddlepoint. Random flips stand beside it, with the Monte Carlo
error that they have, and serve several differences at once (the same signs for all of them).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from saturation.errors import UsageError
from saturation.resampling.sums import weighted_sums
from saturation.streams import Purpose, words
from saturation.typing import Floats, Ints, Weights

Law = Literal["enumeration", "exact convolution", "convolution", "saddlepoint"]

SMALLEST_P = float(np.finfo(np.float64).tiny)
"""A p-value below what a float can hold; a p-value is never 0."""
_ENUMERATED = 16
"""Differences up to which all sign patterns are listed (65,536)."""
_CELLS = 1 << 15
"""Grid of the convolution: at 1,514 differences a cell is less than a hundredth of a standard deviation."""
_CONVOLVED = 20_000
"""Differences up to which the convolution is done; beyond, the saddlepoint is exact to many digits."""
_FRACTIONS = 24
"""Lattices that are looked for: multiples of the smallest difference divided by 1..24 (shares of ties and seeds)."""
_TIE = 1e-12
"""Flipped sums this close to the observed one (relative) count as equal to it."""
_SIGNS_AT_ONCE = 1 << 21
_BITS = 64
_HALVINGS = 200


@dataclass(frozen=True, slots=True)
class SignFlip:
    """Two-sided sign-flip test of a mean difference.

    Attributes
    ----------
    statistic
        The mean difference.
    p
        By ``law``; at least 2 / 2^n with n differences that are not 0. None where all are 0.
    law
        How the null distribution was found.
    p_flips, se_flips
        (1 + flips at least as extreme) / (flips + 1), and its Monte Carlo standard error.
    n_flips
        Number of random flips.
    """

    statistic: float
    p: float | None
    law: Law
    p_flips: float
    se_flips: float
    n_flips: int


def sign_flip(differences: Floats, seed: int = 0, n_flips: int = 9999, threads: int | None = None) -> SignFlip:
    """Sign-flip test of one set of paired differences (Fisher 1935; Pitman 1937).

    Parameters
    ----------
    differences
        (pairs,)
    seed
        The resample seed of the random flips.
    n_flips
        Number of random flips.
    threads
        Threads to use; never changes a number.

    Examples
    --------
    >>> test = sign_flip(np.array([1.0, 2.0, 3.0]))  # only +++ and --- reach 6: 2 of 8 patterns
    >>> test.p, test.law
    (0.25, 'enumeration')
    """
    flipped = flipped_means(differences[None], seed, n_flips, threads)[:, 0]
    p_flips = flips_p(float(differences.mean()), flipped)
    p, law = exact_p(differences)
    return SignFlip(
        statistic=float(differences.mean()),
        p=p,
        law=law,
        p_flips=p_flips,
        se_flips=float(np.sqrt(p_flips * (1 - p_flips) / n_flips)),
        n_flips=n_flips,
    )


def signs(seed: int, start: int, stop: int, n_items: int) -> Weights:
    """Random signs of the flips ``start``..``stop``: a bit each, sixty-four items a word.

    Returns
    -------
    (stop - start, items) of -1 and 1; row b depends on (seed, start + b) alone.

    Examples
    --------
    >>> np.unique(signs(0, 0, 10, 5)).tolist()
    [-1.0, 1.0]
    """
    items = np.arange(n_items)
    drawn = words(seed, Purpose.SIGNS, np.arange(start, stop)[:, None], np.arange(-(-n_items // _BITS)))
    bits = (drawn[:, items // _BITS] >> (items % _BITS).astype(np.uint64)) & np.uint64(1)
    return np.asarray(1.0 - 2.0 * bits)


def flipped_means(differences: Floats, seed: int, n_flips: int, threads: int | None = None) -> Floats:
    """Means of the differences under random signs, the same signs for every set of differences.

    Parameters
    ----------
    differences
        (sets, items); an item that a set lacks is 0 there.

    Returns
    -------
    (flips, sets)
    """
    n_items = differences.shape[1]
    rows = max(1, _SIGNS_AT_ONCE // max(n_items, 1))
    blocks = [
        weighted_sums(signs(seed, start, min(start + rows, n_flips), n_items), differences, threads)
        for start in range(0, n_flips, rows)
    ]
    return np.asarray(np.concatenate(blocks) / n_items)


def flips_p(observed: float, flipped: Floats) -> float:
    """Two-sided p from random flips: (1 + how many are as extreme) / (flips + 1).

    Examples
    --------
    >>> flips_p(2.0, np.array([2.0, -1.0, -3.0]))
    0.75
    """
    return (1 + int((np.abs(flipped) >= abs(observed) * (1 - _TIE)).sum())) / (len(flipped) + 1)


def exact_p(differences: Floats) -> tuple[float | None, Law]:
    """Two-sided p of the mean difference over all 2^n sign patterns, and how it was found.

    Up to 16 differences by enumeration; where all are multiples of one unit by exact convolution; else by convolution
    on a fine grid, or the saddlepoint for very many.

    Returns
    -------
    p None where every difference is 0.

    Raises
    ------
    UsageError
        When a difference is not finite.

    Examples
    --------
    >>> exact_p(np.ones(40))[0] == 2.0**-39
    True
    """
    sizes, total = _sizes(differences)
    if not len(sizes):
        return None, "enumeration"
    law: Law
    if len(sizes) <= _ENUMERATED:
        p, law = _enumerated(sizes, total), "enumeration"
    elif (lattice := _on_lattice(sizes)) is not None:
        p, law = _exactly_convolved(lattice, total / float(sizes.sum()) * int(lattice.sum())), "exact convolution"
    elif len(sizes) <= _CONVOLVED:
        p, law = _convolved(sizes, total, _CELLS), "convolution"
    else:
        p, law = saddlepoint_p(differences) or 1.0, "saddlepoint"
    return _bounded(p, len(sizes)), law


def saddlepoint_p(differences: Floats) -> float | None:
    """Two-sided p by the saddlepoint of Lugannani and Rice (1980); None where every difference is 0.

    With K(t) = sum log cosh(t d_i) and K'(t) = s: P(S >= s) = 1 - Phi(w) + phi(w) (1/u - 1/w), w^2 = 2 (t s - K(t)),
    u = t sqrt(K''(t)). Good to a few percent from 16 differences, to many digits from some hundreds.
    """
    sizes, total = _sizes(differences)
    if not len(sizes):
        return None
    whole = float(sizes.sum())
    if total >= whole * (1 - _TIE):
        return _bounded(0.0, len(sizes))
    scale = float(np.sqrt((sizes**2).sum()))
    d, s = sizes / scale, total / scale
    t = _saddlepoint(d, s)
    tanh = np.tanh(t * d)
    w = float(np.sqrt(max(2 * (t * s - float(_log_cosh(t * d).sum())), 0.0)))
    if w < 1e-4:
        # 1/u - 1/w is a difference of two large numbers here; the law is symmetric, so its limit is the normal
        return _bounded(2 * float(special.ndtr(-s)), len(sizes))
    u = t * float(np.sqrt((d**2 * (1 - tanh**2)).sum()))
    tail = float(special.ndtr(-w)) + float(np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi)) * (1 / u - 1 / w)
    return _bounded(2 * tail, len(sizes))


def _sizes(differences: Floats) -> tuple[Floats, float]:
    """Absolute differences that are not 0, and the absolute value of their signed sum."""
    if not np.isfinite(differences).all():
        raise UsageError("sign flips need finite differences; leave out pairs that have none on both sides alike")
    return np.abs(differences[differences != 0]), abs(float(differences.sum()))


def _bounded(p: float, n_pairs: int) -> float:
    """Between the smallest attainable p, 2 / 2^n, and 1."""
    return min(max(p, 2.0 ** max(1 - n_pairs, -1000), SMALLEST_P), 1.0)


def _enumerated(sizes: Floats, total: float) -> float:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    return float((np.abs(sums) >= total - _TIE * float(sizes.sum())).mean())


def _on_lattice(sizes: Floats) -> Ints | None:
    """The differences in multiples of a common unit, if there is one and the grid can hold them."""
    smallest = float(sizes.min())
    for parts in range(1, _FRACTIONS + 1):
        multiples = sizes / (smallest / parts)
        whole = np.rint(multiples)
        if whole.sum() > _CELLS:
            return None
        if (np.abs(multiples - whole) <= 1e-9 * whole).all():
            return whole.astype(np.int64)
    return None


def _subset_law(multiples: Ints) -> Floats:
    """Probabilities of 0, 1, ..., G for the sum over a random half of the differences (each in or out)."""
    law = np.zeros(int(multiples.sum()) + 1)
    law[0], reached = 1.0, 0
    for step in multiples[multiples > 0]:
        before = law[: reached + 1] * 0.5
        law[: reached + 1] = before
        law[step : reached + step + 1] += before
        reached += int(step)
    return law


def _exactly_convolved(multiples: Ints, total: float) -> float:
    law = _subset_law(multiples)
    first = int(np.ceil((multiples.sum() + total) / 2 - 1e-6))  # signed sum s means the sum (G + s) / 2 of those in
    return 2 * float(law[first:][::-1].sum())


def _convolved(sizes: Floats, total: float, cells: int) -> float:
    """P by convolution on a grid of ``cells`` steps.

    The differences are rounded to the grid, the observed sum is not: it falls between two sums of the grid, and the
    law is interpolated there.
    """
    unit = float(sizes.sum()) / cells
    multiples = np.rint(sizes / unit).astype(np.int64)
    law = _subset_law(multiples)
    spread = float(np.sqrt((multiples**2).sum() / ((sizes / unit) ** 2).sum()))  # rounding moves the variance a little
    at = min((float(multiples.sum()) + spread * total / unit) / 2, len(law) - 1.0)
    nearest = int(np.floor(at + 0.5))
    above = float(law[nearest + 1 :][::-1].sum())
    return 2 * (above + float(law[nearest]) * (nearest + 0.5 - at))


def _log_cosh(x: Floats) -> Floats:
    """Logarithm of cosh x to full relative precision, also near 0."""
    small = np.minimum(x, 1.0)
    return np.asarray(
        np.where(x < 1, np.log1p(2 * np.sinh(small / 2) ** 2), x + np.log1p(np.exp(-2 * x)) - np.log(2.0))
    )


def _saddlepoint(d: Floats, s: float) -> float:
    """The t >= 0 with sum d tanh(t d) = s, by bisection to the last bit."""
    low, high = 0.0, 1.0
    while float((d * np.tanh(high * d)).sum()) < s:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if float((d * np.tanh(middle * d)).sum()) < s:
            low = middle
        else:
            high = middle
    return (low + high) / 2
