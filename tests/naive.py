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


# --- draws, weighted sums and linearised variances ----------------------------------------------------------------


def below(seed: int, purpose: int, resample: int, position: int, size: int) -> int:
    """One outcome in [0, size): even positions take the high half of their word, odd ones the low half."""
    from saturation.streams import word

    drawn = word(seed, purpose, resample, position // 2)
    half = drawn % 2**32 if position % 2 else drawn // 2**32
    return half * size // 2**32


def item_weights(seed: int, resample: int, strata: list[int]) -> list[int]:
    """How often each item is drawn when every stratum draws as many items as it has."""
    from saturation.streams import Purpose

    weights = [0] * len(strata)
    draw = 0
    for stratum in sorted(set(strata)):
        members = [i for i, s in enumerate(strata) if s == stratum]
        for _ in members:
            weights[members[below(seed, Purpose.ITEMS, resample, draw, len(members))]] += 1
            draw += 1
    return weights


def ballots(counts) -> list[list[int]]:
    """The votes of each item, by label."""
    return [[k for k, c in enumerate(item) for _ in range(int(c))] for item in counts]


def redraw_votes(seed: int, resample: int, counts) -> list[list[int]]:
    """Each vote replaced by a random vote of its item."""
    from saturation.streams import Purpose

    out, position = [], 0
    for votes in ballots(counts):
        new = [0] * len(counts[0])
        for _ in votes:
            new[votes[below(seed, Purpose.VOTES, resample, position, len(votes))]] += 1
            position += 1
        out.append(new)
    return out


def vote_orders(seed: int, resample: int, counts) -> list[list[int]]:
    """A random order of each item's votes, by swapping the next vote with a random later one."""
    from saturation.streams import Purpose

    out, offset = [], 0
    for votes in ballots(counts):
        order = list(votes)
        for d in range(len(order)):
            chosen = d + below(seed, Purpose.SUBSAMPLE, resample, offset + d, len(order) - d)
            order[d], order[chosen] = order[chosen], order[d]
        out.append(order)
        offset += len(order)
    return out


def weighted_sums(weights, features) -> list[list[float]]:
    """Sums in item order, items of weight zero left out."""
    out = []
    for row in weights:
        sums = []
        for feature in features:
            total = 0.0
            for w, x in zip(row, feature, strict=True):
                if w != 0:
                    total += w * x
            sums.append(total)
        out.append(sums)
    return out


def few_seeds_variance(z, items_of_split) -> dict[str, float]:
    """V and df of methods, section 6, for one statistic with the same number of seeds in every split.

    ``z[s][t][j]`` is the influence value of the j-th item of split s under seed t.
    """
    J, T = len(z), len(z[0])
    zbar = [[sum(z[s][t][j] for t in range(T)) / T for j in range(len(items_of_split[s]))] for s in range(J)]
    mean = [sum(row) / len(row) for row in zbar]
    distinct = sorted({int(u) for items in items_of_split for u in items})
    U = len(distinct)
    v_items = 0.0
    for u in distinct:
        moved = 0.0
        for s in range(J):
            for j, item in enumerate(items_of_split[s]):
                if item == u:
                    moved += (zbar[s][j] - mean[s]) / (J * len(items_of_split[s]))
        v_items += moved**2
    v_items *= U / (U - 1)
    if T == 1:
        return {"items": v_items, "seeds": 0.0, "error": 0.0, "variance": v_items, "df": U - 1}
    v_seeds = v_error = 0.0
    for s in range(J):
        size = len(items_of_split[s])
        of_seed = [sum(z[s][t]) / size for t in range(T)]
        grand = sum(of_seed) / T
        v_seeds += sum((m - grand) ** 2 for m in of_seed) / (T - 1) / (T * J**2)
        squares = 0.0
        for t in range(T):
            for j in range(size):
                squares += (z[s][t][j] - zbar[s][j] - of_seed[t] + grand) ** 2
        v_error += squares / ((T - 1) * (size - 1)) / (size * T * J**2)
    variance = max(v_items + v_seeds - v_error, v_items)
    df = variance**2 / (v_items**2 / (U - 1) + v_seeds**2 / (J * (T - 1)))
    return {"items": v_items, "seeds": v_seeds, "error": v_error, "variance": variance, "df": df}


def entropy_of(counts) -> float:
    """Entropy in nats of one row of counts."""
    total = sum(counts)
    return -sum(c / total * math.log(c / total) for c in counts if c > 0)
