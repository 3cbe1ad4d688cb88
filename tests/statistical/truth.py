"""What an infinitely large study would find: new items, new seeds, new annotators, the same number of votes an item.

Means over votes are exact given an item's distribution p (sums over the binomial law of one label's count), means over
a run's shift and scale are Gauss-Hermite sums, means over items are taken over many simulated ones in batches, which
give the standard error. Plug-in metrics are about the score against n votes, corrected ones about the population p.
The metrics are written out once more here, so that a wrong formula in the package shows as missing coverage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import entr, xlogy
from scipy.stats import binom

from saturation.streams import Purpose, word
from tests.statistical import model, truth_murphy

BATCH = 10_000
TRUTH_STREAM = 1 << 40
"""Far from the ranks of settings, so that no study shares its random numbers."""
LABEL_BUDGETS = {5: (1, 2), 20: (1, 2, 3, 5, 10), 100: (1, 2, 3, 5, 10, 20, 50)}
"""Default budgets of the label curve; the reference holds R = n - max N other votes."""
Q = 0.9
_NORMAL = [
    (node, weight / (2 * np.pi) ** 0.5) for node, weight in zip(*np.polynomial.hermite_e.hermegauss(5), strict=True)
]
_RUNS = [(shift, scale, a * b) for shift, a in _NORMAL for scale, b in _NORMAL]
"""Shift, scale and weight: the sum over them is the mean over runs."""
_THAT_RUN = [(0.0, 0.0, 1.0)]
_GRID = np.linspace(0.0, 1.0, 20_001)


@dataclass(frozen=True, slots=True)
class Truth:
    """A true value and the standard error that the simulation of items leaves."""

    value: float
    se: float


def truths(n_votes: int, *, new_runs: bool, batches: int = 20, seed: int = 1) -> dict[str, Truth]:
    """True values by the names of ``quantities``, for studies with this many votes an item.

    Parameters
    ----------
    n_votes
        Votes an item.
    new_runs
        Over new runs of the learner; False: of the run without shift and scale.
    batches
        Batches of ``BATCH`` items.
    seed
        Of the simulated items.
    """
    parts = [_batch(n_votes, seed, number, new_runs=new_runs) for number in range(batches)]
    means = {name: np.array([part[name] for part in parts]) for name in parts[0]}
    return {name: _summary(means, combine) for name, combine in _combinations(n_votes, means).items()}


Means = Mapping[str, np.ndarray]
Combination = Callable[[Means], float]


def _batch(n_votes: int, seed: int, number: int, *, new_runs: bool) -> dict[str, float | np.ndarray]:
    """Metrics of every condition on one batch of items, under names ``metric/condition``, and of the labels.

    ``murphy/condition`` are (runs, labels, bins, 3) sums over bins of the forecasts.
    """
    rng = np.random.Generator(np.random.Philox(key=word(seed, Purpose.SIMULATE, TRUTH_STREAM + n_votes, number)))
    _, population = model.draw_items(rng, BATCH)
    crowd = _Crowd.of(rng, population, n_votes)
    seen = model.evidence(rng, population)
    found: dict[str, float | np.ndarray] = {}
    runs = _RUNS if new_runs else _THAT_RUN
    for condition in range(len(model.CONDITIONS)):
        noise = rng.standard_normal(population.shape)
        made = [model.predict(condition, seen, noise, np.array(shift), np.array(scale)) for shift, scale, _ in runs]
        scores = sum(weight * _scores(probs, crowd) for probs, (*_, weight) in zip(made, runs, strict=True))
        found |= {f"{name}/{condition}": float(value) for name, value in zip(SCORES, scores, strict=True)}
        if condition in DECOMPOSED:
            found[f"murphy/{condition}"] = np.stack([truth_murphy.bin_sums(probs, population) for probs in made])
    return found | _label_curve(rng, population, n_votes)


@dataclass(frozen=True, slots=True, eq=False)
class _Crowd:
    """The human side of a batch: p, its entropy, the mean entropy of n votes given p, and one draw of n votes."""

    n_votes: int
    population: np.ndarray
    entropy: np.ndarray
    mean_entropy: np.ndarray
    shares: np.ndarray
    modes: np.ndarray

    @classmethod
    def of(cls, rng: np.random.Generator, population: np.ndarray, n_votes: int) -> _Crowd:
        """With a fresh draw of votes."""
        counts = rng.multinomial(n_votes, population)
        modes = counts == counts.max(axis=1, keepdims=True)
        return cls(
            n_votes,
            population,
            entr(population).sum(axis=1),
            _expected(_entropy_term, n_votes, population).sum(axis=1),
            counts / n_votes,
            modes / modes.sum(axis=1, keepdims=True),
        )

    @property
    def one_vote_spread(self) -> float:
        """Mean of 1 - sum p^2."""
        return float(1 - (self.population**2).sum(axis=1).mean())


SCORES = ("brier_p", "brier", "kl_p", "kl", "tvd", "accuracy", "bias_p", "bias", "r_p", "r")
"""``_p``: against the population, what corrected values estimate; else against n votes."""


def _scores(probs: np.ndarray, crowd: _Crowd) -> np.ndarray:
    """``SCORES`` of one run on a batch."""
    cross = -(crowd.population * np.log(probs)).sum(axis=1).mean()
    brier = ((crowd.population - probs) ** 2).sum(axis=1).mean()
    own = entr(probs).sum(axis=1)
    chosen = probs.argmax(axis=1)
    return np.array(
        [
            brier,
            brier + crowd.one_vote_spread / crowd.n_votes,
            cross - crowd.entropy.mean(),
            cross - crowd.mean_entropy.mean(),
            np.abs(crowd.shares - probs).sum(axis=1).mean() / 2,
            crowd.modes[np.arange(len(chosen)), chosen].mean(),
            own.mean() - crowd.entropy.mean(),
            own.mean() - crowd.mean_entropy.mean(),
            np.corrcoef(own, crowd.entropy)[0, 1],
            _covariance(own, crowd.mean_entropy) / (own.std() * entr(crowd.shares).sum(axis=1).std()),
        ]
    )


def _label_curve(rng: np.random.Generator, population: np.ndarray, n_votes: int) -> dict[str, float]:
    """N fresh votes against R fresh others, under names ``metric@N``; kl with 1/K votes added to every label."""
    budgets = LABEL_BUDGETS[n_votes]
    size = n_votes - budgets[-1]
    n_labels = population.shape[1]
    spread = 1 - (population**2).sum(axis=1).mean()
    mean_reference = _expected(_entropy_term, size, population).sum(axis=1)
    sd_reference = entr(rng.multinomial(size, population) / size).sum(axis=1).std()
    found = {}
    for budget in budgets:
        log_target = _expected(_log_smoothed(1 / n_labels, n_labels), budget, population)
        found[f"brier@{budget}"] = spread * (1 / budget + 1 / size)
        found[f"kl@{budget}"] = -float((population * log_target).sum(axis=1).mean() + mean_reference.mean())
        if budget > 1:
            mean_target = _expected(_entropy_term, budget, population).sum(axis=1)
            sd_target = entr(rng.multinomial(budget, population) / budget).sum(axis=1).std()
            found[f"r@{budget}"] = _covariance(mean_target, mean_reference) / (sd_target * sd_reference)
        else:
            found[f"r@{budget}"] = 0.0
    return found


def _expected(term: Callable[[np.ndarray, int], np.ndarray], n: int, chance: np.ndarray) -> np.ndarray:
    """E term(c, n) for c ~ Binomial(n, chance), by a fine table of chances."""
    counts = np.arange(n + 1)
    table = (binom.pmf(counts, n, _GRID[:, None]) * term(counts, n)).sum(axis=1)
    return np.interp(chance, _GRID, table)


def _entropy_term(counts: np.ndarray, n: int) -> np.ndarray:
    return -xlogy(counts / n, counts / n)


def _log_smoothed(alpha: float, n_labels: int) -> Callable[[np.ndarray, int], np.ndarray]:
    return lambda counts, n: np.log((counts + alpha) / (n + n_labels * alpha))


def _covariance(x: np.ndarray, y: np.ndarray) -> float:
    return float(((x - x.mean()) * (y - y.mean())).mean())


# --- from metrics to quantities ------------------------------------------------------------------------------------

CURVE_METRICS = {"kl": ("kl", 1.0), "entropy_correlation": ("r", -1.0)}
"""Public metric name -> (name here, sign that makes it a loss)."""
LABEL_METRICS = {"brier": "brier", "kl": "kl", "entropy_correlation": "r"}
BASELINE = "smallest"
"""Where the fractions of model curves start."""
EVALUATED = {"brier": "brier", "kl": "kl", "tvd": "tvd", "accuracy": "accuracy"}
EVALUATED |= {"entropy_bias": "bias", "entropy_correlation": "r"}
CORRECTED = ("brier", "kl", "entropy_bias", "entropy_correlation")
EVALUATED_CONDITION = 1
"""soft, budget 10."""
COMPARED = (1, 2)
"""soft, budgets 10 and 30: a and b of differences."""
COMPARED_METRICS = {"kl": "kl", "entropy_correlation": "r"}
DECOMPOSED = COMPARED


def _combinations(n_votes: int, means: Means) -> dict[str, Combination]:
    """How each quantity follows from mean metrics."""
    found: dict[str, Combination] = {}
    for metric, name in EVALUATED.items():
        found[f"evaluate {metric}"] = _mean(f"{name}/{EVALUATED_CONDITION}")
        if metric in CORRECTED:
            found[f"evaluate {metric} corrected"] = _mean(f"{name}_p/{EVALUATED_CONDITION}")
    for metric, (name, sign) in CURVE_METRICS.items():
        at = {budget: f"{name}/{rank}" for rank, budget in enumerate(model.BUDGETS)}
        base, top = f"{name}/{model.SMALLEST}", f"{name}/{model.TOP}"
        for budget, key in at.items():
            found[f"curve {metric} value {budget}"] = _mean(key)
            if key != top:
                found[f"curve {metric} shortfall {budget}"] = _difference(key, top, sign)
            if key not in (base, top):
                found[f"curve {metric} fraction {budget}"] = _ratio(base, key, top)
                found[f"curve {metric} fraction {budget} set"] = _ratio(base, key, top)
        found |= _n_stars(f"curve {metric}", {budget: (base, key, top) for budget, key in at.items()}, means)
    found |= _differences()
    found |= _decompositions(len(means[f"murphy/{DECOMPOSED[0]}"][0]))
    budgets = LABEL_BUDGETS[n_votes]  # brier's fraction is (1 - 1/N) / (1 - 1/max N) in every study: nothing to cover
    for metric, name in LABEL_METRICS.items():
        at = {budget: f"{name}@{budget}" for budget in budgets}
        base, top = at[budgets[0]], at[budgets[-1]]
        for budget, key in at.items():
            if key != base or metric != "entropy_correlation":
                found[f"labels {metric} value {budget}"] = _mean(key)
            if key not in (base, top) and metric != "brier":
                found[f"labels {metric} fraction {budget}"] = _ratio(base, key, top)
        if metric != "brier" and len(budgets) > 2:
            found |= _n_stars(f"labels {metric}", {budget: (base, key, top) for budget, key in at.items()}, means)
    return found


def _differences() -> dict[str, Combination]:
    """``compare``: a - b in the metric's own units, and as a share of b."""
    found: dict[str, Combination] = {}
    for metric, name in COMPARED_METRICS.items():
        a, b = (f"{name}/{condition}" for condition in COMPARED)
        found[f"compare {metric} difference"] = _difference(a, b, 1.0)
        found[f"compare {metric} relative_change"] = _relative(a, b)
    return found


def _relative(a: str, b: str) -> Combination:
    return lambda means: float(means[a].mean() / means[b].mean() - 1)


def _decompositions(n_runs: int) -> dict[str, Combination]:
    """``murphy``: corrected terms of one condition, and of its difference to the other."""
    weights = np.array([weight for *_, weight in (_RUNS if n_runs > 1 else _THAT_RUN)])

    def term(place: int, condition: int, means: Means) -> float:
        return float(truth_murphy.of_runs(means[f"murphy/{condition}"].mean(axis=0), weights)[place])

    found: dict[str, Combination] = {}
    one, other = DECOMPOSED
    for place, name in enumerate(truth_murphy.TERMS):
        found[f"murphy {name}_corrected"] = partial(term, place, one)
        if name != "unc":  # the labels' own, the same for both conditions
            found[f"murphy {name}_corrected difference"] = lambda means, place=place: (
                term(place, one, means) - term(place, other, means)
            )
    return found


def _mean(key: str) -> Combination:
    return lambda means: float(means[key].mean())


def _difference(one: str, other: str, sign: float) -> Combination:
    return lambda means: float(sign * (means[one].mean() - means[other].mean()))


def _ratio(base: str, at: str, top: str) -> Combination:
    return lambda means: float((means[base].mean() - means[at].mean()) / (means[base].mean() - means[top].mean()))


def _n_stars(prefix: str, curve: Mapping[int, tuple[str, str, str]], means: Means) -> dict[str, Combination]:
    """N* on the grid of budgets and interpolated in log N; left out where the fraction is q at the smallest budget."""
    budgets = list(curve)
    fractions = [_ratio(*keys)(means) for keys in curve.values()]
    first = max((at + 1 for at, fraction in enumerate(fractions) if fraction < Q), default=0)
    if not 0 < first < len(budgets):
        return {}
    below, above = _ratio(*curve[budgets[first - 1]]), _ratio(*curve[budgets[first]])

    def interpolated(used: Means) -> float:
        share = (Q - below(used)) / (above(used) - below(used))
        return float(budgets[first - 1] * (budgets[first] / budgets[first - 1]) ** share)

    return {f"{prefix} n_star": lambda _: float(budgets[first]), f"{prefix} n_star_interpolated": interpolated}


def _summary(means: Means, combine: Combination) -> Truth:
    """The value and its delete-one-batch jackknife standard error."""
    size = len(next(iter(means.values())))
    kept = [np.arange(size) != left for left in range(size)]
    without = np.array([combine({name: values[keep] for name, values in means.items()}) for keep in kept])
    se = ((size - 1) / size * ((without - without.mean()) ** 2).sum()) ** 0.5
    return Truth(combine(means), float(se))
