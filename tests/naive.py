"""Slow, obvious twins of the fast code: plain Python loops, to test against."""

from __future__ import annotations

import math
from fractions import Fraction

# --- exact moments of drawn votes ---------------------------------------------------------------------------------


def compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    """All ways to write ``total`` as an ordered sum of ``parts`` non-negative integers."""
    if parts == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in compositions(total - first, parts - 1)]


def probability_of_draw(counts: tuple[int, ...], drawn: tuple[int, ...], replace: bool) -> Fraction:
    """Probability that a draw of sum(drawn) votes out of ``counts`` is exactly ``drawn``."""
    size, total = sum(drawn), sum(counts)
    probability = Fraction(1)
    if not replace:
        for c, x in zip(counts, drawn, strict=True):
            probability *= math.comb(c, x)
        return probability / math.comb(total, size)
    left = size
    for c, x in zip(counts, drawn, strict=True):
        probability *= math.comb(left, x) * Fraction(c, total) ** x
        left -= x
    return probability


def draw_moments(counts, score, reference: str, budget: int, reference_size: int | None = None) -> tuple[float, float]:
    """Mean and variance of score(drawn counts, reference counts) over all draws of one item's votes."""
    counts = tuple(int(c) for c in counts)
    first = second = 0.0
    for drawn in compositions(budget, len(counts)):
        p = probability_of_draw(counts, drawn, reference == "plug_in")
        if p == 0:
            continue
        rest = tuple(c - x for c, x in zip(counts, drawn, strict=True))
        for other, q in _references(counts, rest, reference, reference_size):
            value = score(drawn, other)
            first += float(p * q) * value
            second += float(p * q) * value**2
    return first, second - first**2


def _references(counts, rest, reference, reference_size):
    if reference in ("all", "plug_in"):
        return [(counts, Fraction(1))]
    if reference == "rest":
        return [(rest, Fraction(1))]
    found = [(y, probability_of_draw(rest, y, False)) for y in compositions(reference_size, len(rest))]
    return [(y, q) for y, q in found if q > 0]
