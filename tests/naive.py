"""Slow, obvious twins of the fast code: plain Python loops, to test against."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

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
    df = max(df, min(U - 1, J * (T - 1)))
    return {"items": v_items, "seeds": v_seeds, "error": v_error, "variance": variance, "df": df}


def entropy_of(counts) -> float:
    """Entropy in nats of one row of counts."""
    total = sum(counts)
    return -sum(c / total * math.log(c / total) for c in counts if c > 0)


# --- metrics --------------------------------------------------------------------------------------------------------


def shares(counts) -> list[float]:
    total = sum(counts)
    return [c / total for c in counts]


def entropy(p) -> float:
    return -sum(x * math.log(x) for x in p if x > 0)


def raised(p, floor: float) -> list[float]:
    """Values below the floor raised to it, then the row renormalised if one was."""
    if all(x >= floor for x in p):
        return list(p)
    lifted = [max(x, floor) for x in p]
    return [x / sum(lifted) for x in lifted]


def kl(m, c, floor: float = 1e-15) -> float:
    h, m = shares(c), raised(m, floor)
    return sum(x * math.log(x / y) for x, y in zip(h, m, strict=True) if x > 0)


def reverse_kl(m, c, floor: float = 1e-15, smooth: float | None = None) -> float:
    h = shares(c if smooth is None else [x + smooth for x in c])
    h = raised(h, floor)
    return sum(y * math.log(y / x) for x, y in zip(h, m, strict=True) if y > 0)


def cross_entropy(m, c, floor: float = 1e-15) -> float:
    return -sum(x * math.log(y) for x, y in zip(shares(c), raised(m, floor), strict=True) if x > 0)


def jsd(m, c) -> float:
    total = 0.0
    for x, y in zip(shares(c), m, strict=True):
        a = (x + y) / 2
        total += x / 2 * math.log(x / a) if x > 0 else 0.0
        total += y / 2 * math.log(y / a) if y > 0 else 0.0
    return max(total, 0.0)


def tvd(m, c) -> float:
    return sum(abs(x - y) for x, y in zip(shares(c), m, strict=True)) / 2


def squared_hellinger(m, c) -> float:
    return sum((math.sqrt(x) - math.sqrt(y)) ** 2 for x, y in zip(shares(c), m, strict=True)) / 2


def brier(m, c) -> float:
    return sum((x - y) ** 2 for x, y in zip(shares(c), m, strict=True))


def brier_vote(m, c) -> float:
    """One vote at a time: its squared error, weighted by how many cast it."""
    total = 0.0
    for label, votes in enumerate(c):
        error = sum((y - (1 if k == label else 0)) ** 2 for k, y in enumerate(m))
        total += votes / sum(c) * error
    return total


def wasserstein(m, c) -> float:
    h, total = shares(c), 0.0
    for k in range(len(m) - 1):
        total += abs(sum(h[: k + 1]) - sum(m[: k + 1]))
    return total


def modes(c) -> list[int]:
    return [k for k, votes in enumerate(c) if votes == max(c)]


def top(m) -> int:
    return next(k for k, y in enumerate(m) if y == max(m))


def majority_credit(c, ties: str, published: int | None = None) -> list[float]:
    tied = modes(c)
    if ties == "share":
        return [1 / len(tied) if k in tied else 0.0 for k in range(len(c))]
    if ties == "any":
        return [1.0 if k in tied else 0.0 for k in range(len(c))]
    chosen = {"first": tied[0], "last": tied[-1], "column": published}[ties]
    return [1.0 if k == chosen else 0.0 for k in range(len(c))]


def rank_agreement(m, c, ties: str) -> float:
    if ties == "stable":
        by_model = sorted(range(len(m)), key=lambda k: m[k])
        by_votes = sorted(range(len(c)), key=lambda k: c[k])
        return float(by_model == by_votes)
    for a in range(len(m)):
        for b in range(len(m)):
            if c[a] < c[b] and not m[a] < m[b]:
                return 0.0
    return 1.0


def bin_of(value: float, bins: int) -> int:
    """(a, b] with edges linspace(0, 1, bins + 1), 0 in the first."""
    edges = [float(edge) for edge in np.linspace(0, 1, bins + 1)]
    for b in range(bins):
        if value <= edges[b + 1]:
            return b
    return bins - 1


def equal_count_bins(values, bins: int) -> list[int]:
    """Stable ascending sort, cut as numpy's array_split does; equal values go to the bin of the first of them."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    found: list[int] = [0] * len(values)
    of_value: dict[float, int] = {}
    for b, part in enumerate(np.array_split(order, bins)):
        for i in part:
            found[i] = of_value.setdefault(values[i], b)
    return found


def calibration_error(forecast, outcome, index, bins: int) -> float:
    """Sum over bins of n_b / I abs(mean forecast - mean outcome)."""
    total = 0.0
    for b in range(bins):
        inside = [i for i in range(len(forecast)) if index[i] == b]
        if inside:
            gap = sum(forecast[i] for i in inside) / len(inside) - sum(outcome[i] for i in inside) / len(inside)
            total += len(inside) / len(forecast) * abs(gap)
    return total


def macro_f1(probs, counts) -> float:
    """Share rule; labels neither predicted nor in a majority are left out."""
    values = []
    for k in range(len(counts[0])):
        hits = wrong = missed = 0.0
        for m, c in zip(probs, counts, strict=True):
            credit = majority_credit(c, "share")[k]
            if top(m) == k:
                hits, wrong = hits + credit, wrong + 1 - credit
            else:
                missed += credit
        if hits + wrong + missed > 0:
            values.append(2 * hits / (2 * hits + wrong + missed))
    return sum(values) / len(values)


def pearson(x, y) -> float:
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    xy = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    xx, yy = sum((a - mean_x) ** 2 for a in x), sum((b - mean_y) ** 2 for b in y)
    return xy / math.sqrt(xx * yy) if xx > 1e-20 and yy > 1e-20 else math.nan


def mid_ranks(x) -> list[float]:
    return [sum(b < a for b in x) + (sum(b == a for b in x) + 1) / 2 for a in x]


def kendall(x, y) -> float:
    """tau-b by counting pairs."""
    balance = untied_x = untied_y = 0
    for i in range(len(x)):
        for j in range(i):
            s = (x[i] > x[j]) - (x[i] < x[j])
            t = (y[i] > y[j]) - (y[i] < y[j])
            balance += s * t
            untied_x, untied_y = untied_x + abs(s), untied_y + abs(t)
    return balance / math.sqrt(untied_x * untied_y) if untied_x and untied_y else math.nan


def auroc(score, positive) -> float:
    wins = pairs = 0.0
    for a, is_a in zip(score, positive, strict=True):
        for b, is_b in zip(score, positive, strict=True):
            if is_a and not is_b:
                wins, pairs = wins + (a > b) + (a == b) / 2, pairs + 1
    return wins / pairs if pairs else math.nan


def aurc(score, risk) -> float:
    """Mean over all orders of the items that sort the score (every arrangement of ties)."""
    orders = [
        o
        for o in itertools.permutations(range(len(score)))
        if all(score[a] <= score[b] for a, b in itertools.pairwise(o))
    ]
    total = 0.0
    for order in orders:
        for j in range(1, len(order) + 1):
            total += sum(risk[i] for i in order[:j]) / j / len(order)
    return total / len(orders)


def pairwise_disagreement(c) -> float:
    """Every pair of different annotators."""
    votes = [k for k, number in enumerate(c) for _ in range(number)]
    pairs = [(a, b) for i, a in enumerate(votes) for j, b in enumerate(votes) if i != j]
    return sum(a != b for a, b in pairs) / len(pairs)


def zahl_jackknife(c) -> float:
    """n H - (n - 1) times the mean of H without each single vote."""
    n, total = sum(c), 0.0
    for k, votes in enumerate(c):
        for _ in range(votes):
            total += entropy(shares([x - (j == k) for j, x in enumerate(c)]))
    return n * entropy(shares(c)) - (n - 1) * total / n


def chao_shen(c) -> float:
    n = sum(c)
    singles = sum(x == 1 for x in c)
    if singles == n:
        singles = n - 1
    coverage = 1 - singles / n
    total = 0.0
    for x in c:
        if x > 0:
            p = coverage * x / n
            total -= p * math.log(p) / (1 - (1 - p) ** n)
    return total


def grassberger(c) -> float:
    """G(1) = -gamma - ln 2, G(2) = 2 - gamma - ln 2, G(2j + 1) = G(2j), G(2j + 2) = G(2j) + 2/(2j + 1)."""
    n = sum(c)
    g = {1: -EULER - math.log(2), 2: 2 - EULER - math.log(2)}
    for x in range(3, n + 1):
        g[x] = g[x - 1] if x % 2 else g[x - 2] + 2 / (x - 1)
    psi_n = -EULER + sum(1 / j for j in range(1, n))
    return psi_n - sum(x * g[x] for x in c if x > 0) / n


EULER = 0.5772156649015328606


# --- saturation -----------------------------------------------------------------------------------------------------


def saturation_fraction(scores, base, at, ceiling, items_of_split, quantile, zoom=60) -> dict[str, float]:
    """f = (l_base - l_at) / (l_base - l_ceil) of an item metric, its Fieller limits by bisection.

    ``scores[c][s][t][j]``: loss of condition c on the j-th item of split s under seed t. ``quantile(df)`` is t_df.
    """

    def mean_over_cells(z):
        cells = [sum(row) / len(row) for split in z for row in split]
        return sum(cells) / len(cells)

    def gap(one, other):
        return [
            [[a - b for a, b in zip(x, y, strict=True)] for x, y in zip(p, q, strict=True)]
            for p, q in zip(scores[one], scores[other], strict=True)
        ]

    num, den = gap(base, at), gap(base, ceiling)
    f = mean_over_cells(num) / mean_over_cells(den)

    def moved(f0):
        return [
            [[a - f0 * b for a, b in zip(x, y, strict=True)] for x, y in zip(p, q, strict=True)]
            for p, q in zip(num, den, strict=True)
        ]

    t = quantile(few_seeds_variance(moved(f), items_of_split)["df"])

    def inside(f0):
        spread = few_seeds_variance(moved(f0), items_of_split)["variance"]
        return abs(mean_over_cells(moved(f0))) <= t * spread**0.5

    def edge(direction):
        near, far = f, f + direction
        while inside(far):
            far += direction
        for _ in range(zoom):
            middle = (near + far) / 2
            near, far = (middle, far) if inside(middle) else (near, middle)
        return near

    return {"estimate": f, "low": edge(-1.0), "high": edge(1.0)}


# --- Murphy decomposition ------------------------------------------------------------------------------------------


def murphy_terms(m, h, index, kind: str, n_votes=None, fixed_forecasts: bool = False) -> dict[str, float]:
    """Terms of one label: forecasts ``m`` in bins ``index`` against outcomes ``h`` of ``n_votes`` votes each."""
    size = len(m)
    mean = sum(h) / size
    variance = sum((x - mean) ** 2 for x in h) / size
    bins = [[i for i in range(size) if index[i] == b] for b in sorted(set(index))]
    rel = res = wbv = wbc = noise = fixed = 0.0
    within = [sum((h[i] - sum(h[j] for j in b) / len(b)) ** 2 for i in b) for b in bins]
    spare = size - len(bins)
    for members, squares in zip(bins, within, strict=True):
        share = len(members) / size
        m_bar, h_bar = (sum(x[i] for i in members) / len(members) for x in (m, h))
        rel += share * (m_bar - h_bar) ** 2
        res += share * (h_bar - mean) ** 2
        wbv += share * sum((m[i] - m_bar) ** 2 for i in members) / len(members)
        wbc += 2 * share * sum((m[i] - m_bar) * (h[i] - h_bar) for i in members) / len(members)
        if spare:
            s2 = squares / (len(members) - 1) if len(members) > 1 else sum(within) / spare
            noise += share * s2 / len(members)
            fixed += share * s2 / size
    irreducible = sum(x * (1 - x) for x in h) / size
    votes = kind == "votes"
    terms = {
        "rel": rel,
        "res": res,
        "unc": mean * (1 - mean) if votes else variance,
        "wbv": wbv,
        "wbc": wbc,
        "brier": sum((x - y) ** 2 for x, y in zip(m, h, strict=True)) / size + (irreducible if votes else 0),
    }
    if spare:
        v = fixed if fixed_forecasts else variance / (size - 1)
        terms |= {"rel_corrected": rel - noise, "res_corrected": res - noise + v, "unc_corrected": terms["unc"] + v}
    if votes:
        terms |= {"resolvable": variance, "irreducible": irreducible}
    if votes and spare and min(n_votes) > 1:
        terms["irreducible_corrected"] = sum(n * x * (1 - x) / (n - 1) for n, x in zip(n_votes, h, strict=True)) / size
        terms["resolvable_corrected"] = terms["unc_corrected"] - terms["irreducible_corrected"]
    return terms


def pool_adjacent_violators(x, y) -> list[float]:
    """The closest non-decreasing function of x to y, at every point: the max-min formula over distinct x."""
    levels = sorted(set(x))
    means = {a: [y[i] for i in range(len(x)) if x[i] == a] for a in levels}

    def mean(first: int, last: int) -> float:
        values = [v for a in levels[first : last + 1] for v in means[a]]
        return sum(values) / len(values)

    size = len(levels)
    fit = [max(min(mean(u, v) for v in range(k, size)) for u in range(k + 1)) for k in range(size)]
    return [fit[levels.index(a)] for a in x]


# --- comparisons ------------------------------------------------------------------------------------------------------


def sign_flip_p(differences):
    """Two-sided p of the sum over every pattern of signs."""
    from itertools import product

    observed = abs(sum(differences))
    patterns = list(product((-1, 1), repeat=len(differences)))
    extreme = 0
    for pattern in patterns:
        total = sum(sign * d for sign, d in zip(pattern, differences, strict=True))
        if abs(total) >= observed - 1e-12:
            extreme += 1
    return extreme / len(patterns)


def flip_sign(seed, flip, item):
    """The sign of one item in one random flip: bit item % 64 of word item // 64."""
    from saturation.streams import Purpose, word

    return -1 if (word(seed, Purpose.SIGNS, flip, item // 64) >> (item % 64)) & 1 else 1


def student_level(level, n):
    """Where the normal is as far out as Student's t of n - 1 degrees of freedom times sqrt(n / (n - 1))."""
    from scipy import stats

    return 2 * float(stats.norm.cdf(math.sqrt(n / (n - 1)) * stats.t.ppf((1 + level) / 2, n - 1))) - 1


def bca_of_mean(differences, weights, level):
    """BCa interval of a mean from bootstrap weights (Efron 1987), one step after another."""
    from statistics import NormalDist

    n = len(differences)
    normal = NormalDist()
    estimate = sum(differences) / n
    means = sorted(sum(w * d for w, d in zip(row, differences, strict=True)) / sum(row) for row in weights)
    below = sum(m < estimate for m in means)
    equal = sum(m == estimate for m in means)
    z0 = normal.inv_cdf((below + equal / 2) / len(means))
    without = [(sum(differences) - d) / (n - 1) for d in differences]
    center = sum(without) / n
    cubes = sum((center - w) ** 3 for w in without)
    squares = sum((center - w) ** 2 for w in without)
    a = cubes / (6 * squares**1.5)
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = z0 + normal.inv_cdf(tail)
        place = normal.cdf(z0 + z / (1 - a * z)) * (len(means) - 1)
        under = int(place)
        over = min(under + 1, len(means) - 1)
        ends.append(means[under] + (place - under) * (means[over] - means[under]))
    return ends


def step_down_max_t(t, null):
    """Romano-Wolf adjusted p-values: from the largest t down, against the largest of those still in."""
    order = sorted(range(len(t)), key=lambda s: -abs(t[s]))
    adjusted = [0.0] * len(t)
    so_far = 0.0
    for place, test in enumerate(order):
        left = order[place:]
        extreme = sum(max(abs(row[s]) for s in left) >= abs(t[test]) for row in null)
        so_far = max(so_far, (1 + extreme) / (len(null) + 1))
        adjusted[test] = so_far
    return adjusted


def crowd_parts(votes, statistic):
    """V_A and V_w: delete-one-annotator, and the part of it that is the noise of single votes.

    ``votes`` are (item, annotator, label); ``statistic`` takes {item: labels of its votes}.
    """
    items = sorted({item for item, _, _ in votes})
    people = sorted({who for _, who, _ in votes})
    kept = {i: [k for item, _, k in votes if item == i] for i in items}
    whole = statistic(kept)
    taken_along = {who: sum(all(w == who for i, w, _ in votes if i == item) for item in items) for who in people}
    moved = []
    for i in items:
        own = [(who, k) for item, who, k in votes if item == i]
        persons = sorted({who for who, _ in own})
        change, lost = {}, {}
        for gone in persons:
            left = [k for who, k in own if who != gone]
            without = {**kept, i: left} if left else {item: v for item, v in kept.items() if item != i}
            change[gone] = statistic(without) - whole
            lost[gone] = len(own) - len(left)
        if len(persons) == 1:
            together = (len(items) - 1) / (len(items) - taken_along[persons[0]])
            moved.append((persons[0], change[persons[0]], together))
        else:
            a_vote = sum(change.values()) / len(own)
            moved += [(gone, change[gone] - lost[gone] * a_vote, 1.0) for gone in persons]
    growth = (len(people) - 1) / len(people)
    sums = {who: sum(psi * factor for other, psi, factor in moved if other == who) for who in people}
    return growth * sum(d * d for d in sums.values()), growth * sum(psi * psi * factor for _, psi, factor in moved)


def dirichlet_multinomial_pmf(counts, a):
    """Probability of counts under a Dirichlet with concentrations a: n!/prod c! times rising factorials."""
    found = float(math.factorial(int(sum(counts))))
    for c, concentration in zip(counts, a, strict=True):
        found /= math.factorial(int(c))
        for j in range(int(c)):
            found *= concentration + j
    for j in range(int(sum(counts))):
        found /= sum(a) + j
    return found


def all_counts(votes, n_labels):
    """Every way to give ``votes`` votes to the labels."""
    if n_labels == 1:
        return [(votes,)]
    return [(c, *rest) for c in range(votes + 1) for rest in all_counts(votes - c, n_labels - 1)]


def law_expectation(score, weights, concentrations, budget, reference_size):
    """Mean score of N votes against R others of an item drawn from a mixture of Dirichlets: every outcome in turn."""
    total = 0.0
    for weight, a in zip(weights, concentrations, strict=True):
        for target in all_counts(budget, len(a)):
            after = [x + c for x, c in zip(a, target, strict=True)]
            for reference in all_counts(reference_size, len(a)):
                chance = dirichlet_multinomial_pmf(target, a) * dirichlet_multinomial_pmf(reference, after)
                total += weight * chance * score(target, reference)
    return total


def crowd_against_a_vote(counts, pi, strength, size):
    """Mean log loss and Brier score of ``size`` combined votes against another vote, over every choice of both."""
    votes = [k for k, number in enumerate(counts) for _ in range(number)]
    log_losses, squares = [], []
    for left_out, label in enumerate(votes):
        others = votes[:left_out] + votes[left_out + 1 :]
        for crowd in itertools.combinations(others, size):
            answer = [(crowd.count(k) + strength * pi[k]) / (size + strength) for k in range(len(counts))]
            log_losses.append(-math.log(answer[label]))
            squares.append(sum((answer[k] - (k == label)) ** 2 for k in range(len(counts))))
    return sum(log_losses) / len(log_losses), sum(squares) / len(squares)


def crowd_of_all_others(counts, pi, strength):
    """Mean log loss of the n - 1 other votes of an item, combined, against each of its votes."""
    return crowd_against_a_vote(counts, pi, strength, sum(counts) - 1)[0]


def noise_given_population(p, votes, score):
    """Mean score(p, shares) over every outcome of ``votes`` votes from p."""
    total = 0.0
    for drawn in itertools.product(range(len(p)), repeat=votes):
        chance = math.prod(p[k] for k in drawn)
        total += chance * score(p, [drawn.count(k) / votes for k in range(len(p))])
    return total


def vote_components(items):
    """sigma_I^2 and sigma_V^2 of lists of scores, one list an item: the definitions, item by item."""
    means, within, explained = [], [], []
    for scores in items:
        mean = sum(scores) / len(scores)
        variance = sum((s - mean) ** 2 for s in scores) / (len(scores) - 1)
        means.append(mean)
        within.append(variance)
        explained.append(variance / len(scores))
    grand = sum(means) / len(means)
    between = sum((m - grand) ** 2 for m in means) / (len(means) - 1)
    return between - sum(explained) / len(explained), sum(within) / len(within)


def person_component(votes):
    """sigma_A^2 from (item, person, score): products of one person's deviations on different items.

    Over what they would be if a person added 1 to all of their scores and nobody else anything.
    """
    items, people = sorted({v[0] for v in votes}), sorted({v[1] for v in votes})

    def deviations(score):
        mean = {i: sum(score(v) for v in votes if v[0] == i) / sum(1 for v in votes if v[0] == i) for i in items}
        return {(i, p): sum(score(v) - mean[i] for v in votes if v[:2] == (i, p)) for i in items for p in people}

    def products(found):
        return sum(found[i, p] * found[j, p] for p in people for i in items for j in items if i != j)

    expected = sum(products(deviations(lambda v, one=one: float(v[1] == one))) for one in people)
    return products(deviations(lambda v: v[2])) / expected


def soft_label(top, p1, second, p2, ticked, n_labels, variety, spread, gamma):
    """One soft vote by the rules of the elicitation paper, word by word; None for what is not given."""
    s = [0.0] * n_labels
    s[top] = p1 / 100
    if variety == "T2" and second is not None and p2 is not None:
        s[second] = p2 / 100
    named = sum(1 for x in s if x > 0)
    possible = [k for k in range(n_labels) if k not in ticked]
    others = len(possible) - named
    total = sum(s)
    if total < 1:
        rest = 1 - total
    else:
        s = [x / total for x in s]
        rest = 0.0
        if spread == "clamp" and others > 0:
            rest = gamma
            s = [x * (1 - gamma) for x in s]
    out = list(s)
    for k in range(n_labels):
        if s[k] == 0 and spread == "clamp" and k in possible and others > 0:
            out[k] = rest / others
        if s[k] == 0 and spread == "uniform":
            out[k] = rest / (n_labels - named)
    return [x / sum(out) for x in out]


def crowd_against_others(counts, pi, strength, size, others, score, model):
    """Mean scores of ``size`` combined votes, and of a model, against ``others`` other votes: every choice of both."""
    votes = [k for k, number in enumerate(counts) for _ in range(number)]
    of_crowd, of_model = [], []
    for crowd in itertools.combinations(range(len(votes)), size):
        rest = [v for v in range(len(votes)) if v not in crowd]
        for chosen in itertools.combinations(rest, others):
            own = [sum(votes[v] == k for v in crowd) for k in range(len(counts))]
            reference = [sum(votes[v] == k for v in chosen) for k in range(len(counts))]
            answer = [(own[k] + strength * pi[k]) / (size + strength) for k in range(len(counts))]
            of_crowd.append(score(answer, reference))
            of_model.append(score(list(model), reference))
    return sum(of_crowd) / len(of_crowd), sum(of_model) / len(of_model)
