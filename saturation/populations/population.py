"""The law of item distributions behind a pilot of a few votes an item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, softmax

from saturation.errors import UsageError
from saturation.populations.choice import CANDIDATES, Candidate, choose, fitted, identifiable
from saturation.populations.laws import Laws, mixed, orders, row_likelihoods
from saturation.populations.mixtures import Kind, fit_mixture, fit_one, starts
from saturation.populations.steps import Steps, steps_of
from saturation.streams import Purpose, seed_of, uniforms
from saturation.typing import Counts, Floats, Ints, Probs, Scores

KINDS = ("auto", "dirichlet", "dirichlet_mixture", "multinomial_mixture")
ONE_VOTE = (
    "one vote an item tells how common each label is, not how much items differ; the law of items needs a second vote "
    "on some items"
)
UNANIMOUS = (
    "every item with two votes or more is unanimous, so any law in which items have one label fits equally well; more "
    "votes or items are needed"
)
ONE_ITEM = "one item only: a law of items needs two items or more with two votes or more"
REJECTED = 2.0
"""Standard errors behind the best law from which on a law is told from it."""
_SAMPLE_STREAM = 2 << 40


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """A law of item distributions: a mixture of Dirichlets (infinite concentration: a point).

    Attributes
    ----------
    name
        ``dirichlet``, ``dirichlet_mixture`` or ``multinomial_mixture``.
    weights
        (components,) summing to 1.
    means
        (components, labels) mean distributions; 0 for labels without any vote.
    concentrations
        (components,) A; infinite for a point, next to 0 for nearly one label an item.
    candidates
        What it was chosen from, with scores on items left out; empty where it was asked for by name.
    """

    name: Kind
    weights: Floats
    means: Floats
    concentrations: Floats
    candidates: tuple[Candidate, ...] = ()

    @property
    def laws(self) -> Laws:
        """The same as laws with a leading axis of one."""
        return Laws(self.weights[None], self.means[None], 1 / self.concentrations[None])

    def sample(self, seed: int, n_items: int) -> Probs:
        """(items, labels) distributions of new items; item i is a function of (seed, i) alone.

        Examples
        --------
        >>> law = Population("dirichlet", np.ones(1), np.array([[0.5, 0.5]]), np.array([2.0]))
        >>> bool((law.sample(3, 5)[:2] == law.sample(3, 2)).all())
        True
        """
        items, n_labels = np.arange(n_items), self.means.shape[1]
        chance = uniforms(seed, Purpose.POPULATION, _SAMPLE_STREAM + items[:, None], np.arange(2 * n_labels + 1))
        edges = np.cumsum(self.weights)[:-1]
        component = (chance[:, :1] >= edges).sum(axis=1)
        means = self.means[component]
        spread = (1 / self.concentrations)[component]
        is_point = spread == 0
        a = means / np.where(is_point, 1.0, spread)[:, None]
        # ln of a gamma variate of shape a is ln of one of shape a + 1 plus ln(u) / a, which no small a underflows
        with np.errstate(divide="ignore"):
            larger = np.log(gammaincinv(np.maximum(a, 0.0) + 1.0, chance[:, 1 : n_labels + 1]))
            log_gamma = np.where(a > 0, larger + np.log(chance[:, n_labels + 1 :]) / np.where(a > 0, a, 1.0), -np.inf)
        return np.where(is_point[:, None], means, softmax(log_gamma, axis=1))

    def posterior_mean(self, counts: Counts) -> Probs:
        """(items, labels) expected distribution of each item given its votes; without votes the law's mean.

        Examples
        --------
        >>> law = Population("dirichlet", np.ones(1), np.array([[0.5, 0.5]]), np.array([2.0]))
        >>> law.posterior_mean(np.array([[3, 0], [0, 0]])).tolist()  # (3 + 1) / (3 + 2)
        [[0.8, 0.2], [0.5, 0.5]]
        """
        votes = np.asarray(counts, dtype=np.int64)
        found = np.repeat((self.weights[:, None] * self.means).sum(axis=0)[None], len(votes), axis=0)
        steps = steps_of(votes)
        if len(steps.voted) == 0:
            return found
        own = row_likelihoods(self._used(steps), steps)[0]
        with np.errstate(divide="ignore"):
            own = own + np.log(self.weights)[:, None]
        top = own.max(axis=0)
        if not np.isfinite(top).all():
            raise UsageError("an item has votes for a label that the law does not know; fit it to these votes too")
        share = np.exp(own - top)
        share /= share.sum(axis=0)
        given, total = votes[steps.voted], votes[steps.voted].sum(axis=1, keepdims=True)
        expected = np.zeros(given.shape)
        for weight, mean, spread in zip(share, self.means, 1 / self.concentrations, strict=True):
            expected += weight[steps.item_row][:, None] * (given * spread + mean) / (total * spread + 1)
        found[steps.voted] = expected
        return found

    def log_likelihood(self, counts: Counts) -> Scores:
        """(items,) ln of the probability of each item's counts, nats; 0 for an item without votes.

        Examples
        --------
        >>> law = Population("dirichlet", np.ones(1), np.array([[0.5, 0.5]]), np.array([2.0]))
        >>> np.exp(law.log_likelihood(np.array([[1, 2]]))).round(6).tolist()  # uniform share: 1 of 4 counts
        [0.25]
        """
        votes = np.asarray(counts, dtype=np.int64)
        found, steps = np.zeros(len(votes)), steps_of(votes)
        if len(steps.voted):
            rows = mixed(row_likelihoods(self._used(steps), steps), self.weights[None])[0]
            found[steps.voted] = rows[steps.item_row] + orders(votes[steps.voted].astype(np.float64))
        return found

    def _used(self, steps: Steps) -> Laws:
        laws = self.laws
        return Laws(laws.weights, laws.means[..., steps.labels], laws.spreads)

    def describe(self) -> str:
        """The law in a few words.

        Examples
        --------
        >>> Population("dirichlet", np.ones(1), np.array([[0.5, 0.5]]), np.array([2.0])).describe()
        'a Dirichlet distribution with concentration 2'
        """
        if self.name == "dirichlet" and np.isinf(self.concentrations[0]):
            return "all items alike (votes of an item agree no more than votes of different items)"
        if self.name == "dirichlet":
            return f"a Dirichlet distribution with concentration {self.concentrations[0]:.3g}"
        shares = ", ".join(f"{weight:.0%}" for weight in self.weights)
        what = "Dirichlet distributions" if self.name == "dirichlet_mixture" else "kinds of items that are alike"
        return f"a mixture of {len(self.weights)} {what} ({shares})"


def fit_population(
    counts: Counts, *, kind: str = "auto", rng: int | np.random.Generator = 0, threads: int | None = None
) -> Population:
    """Fit the law of item distributions to a few votes an item by maximum marginal likelihood.

    n votes of an item tell the moments of the law up to order n, and no more: what it says about more votes rests on
    its shape. Items with one vote tell its mean.

    Parameters
    ----------
    counts
        (items, labels) integer votes; items may differ in their number.
    kind
        ``dirichlet``: one Dirichlet (votes are Dirichlet-multinomial); ``dirichlet_mixture``: 2 or 3 of them;
        ``multinomial_mixture``: 2 to 5 kinds of items, alike within a kind; ``auto``: the simplest of all these that is
        not worse than the best by more than one standard error on items left out. The number of components is
        chosen in the same way.
    rng
        Seed of folds and starts.
    threads
        Accepted by every analysis; a fit uses one.

    Returns
    -------
    Population

    Raises
    ------
    UsageError
        Where no item has two votes, where all are unanimous, for one item, and for unknown kinds.

    References
    ----------
    Mosimann 1962, Biometrika 49, 65 (Dirichlet-multinomial); Lindsay 1983, Ann. Statist. 11, 86 (mixtures of points).

    Examples
    --------
    >>> counts = np.repeat([[3, 0], [0, 3], [2, 1], [1, 2]], [30, 30, 20, 20], axis=0)
    >>> law = fit_population(counts, kind="dirichlet")
    >>> law.describe()  # unanimous: 60 of 100 = (a + 2)/(4a + 2), so A = 2a = 8/7
    'a Dirichlet distribution with concentration 1.14'
    """
    if kind not in KINDS:
        raise UsageError(f"unknown law {kind!r}; choose {', '.join(KINDS)}")
    reason = unfit(counts)
    if reason is not None:
        raise UsageError(reason)
    seed, steps = seed_of(rng), steps_of(counts)
    candidates = identifiable(steps, tuple(one for one in CANDIDATES if kind in ("auto", one[0])))
    judged: tuple[Candidate, ...] = ()
    name, components = candidates[0]
    if len(candidates) > 1:
        chosen, judged = choose(steps, seed, candidates)
        name, components = chosen.kind, chosen.components
    return _of_kind(steps, name, components, seed, np.asarray(counts).shape[1], judged)


def fit_alternatives(
    counts: Counts, population: Population, *, rng: int | np.random.Generator = 0
) -> tuple[Population, ...]:
    """The other laws with a density that the votes do not tell from the chosen one.

    Candidates that are behind the best on items left out by at most two standard errors, fitted to the same votes; none
    where one candidate was asked for by name. What such laws say about more votes shows how much rests on their shape.
    Mixtures of points are left out: a few kinds of items, all alike within, fit few votes nearly always and say that
    entropies hardly vary, which nobody would believe of items and people.
    """
    seed, steps = seed_of(rng), steps_of(counts)
    own = (population.name, len(population.weights))
    return tuple(
        _of_kind(steps, one.kind, one.components, seed, population.means.shape[1], ())
        for one in population.candidates
        if (one.kind, one.components) != own
        and one.kind != "multinomial_mixture"
        and one.behind <= REJECTED * one.behind_se
    )


def _of_kind(  # noqa: PLR0917
    steps: Steps, name: Kind, components: int, seed: int, n_labels: int, judged: tuple[Candidate, ...]
) -> Population:
    """The likeliest law of one kind, its components by size."""
    whole = spread_out(fitted(steps, steps.weights[None], name, components, seed), steps, n_labels)
    order = np.argsort(-whole.weights[0], kind="stable")
    with np.errstate(divide="ignore"):
        concentrations = 1 / whole.spreads[0]
    return Population(name, whole.weights[0][order], whole.means[0][order], concentrations[order], judged)


def unfit(counts: Counts) -> str | None:
    """Why no law can be fitted to these votes; None where one can.

    Examples
    --------
    >>> unfit(np.array([[1, 0], [0, 1]])).partition(",")[0]
    'one vote an item tells how common each label is'
    """
    votes = np.asarray(counts)
    totals = votes.sum(axis=1)
    if not (totals >= 2).any():
        return ONE_VOTE
    if (totals > 0).sum() < 2:
        return ONE_ITEM
    if (votes.max(axis=1) == totals)[totals >= 2].all():
        return UNANIMOUS
    return None


def refit(population: Population, steps: Steps, weights: Floats, seed: int = 0) -> Laws:
    """Laws of the same kind for weights (fits, rows) of the rows, means of all labels.

    For resampled items: ``weights`` says how often each distinct row of counts was drawn. Mixtures start from the given
    law and from one of the random starts, and the likelier of the two counts: what another sample could have looked
    like may lie near another maximum.
    """
    laws, n_labels = population.laws, population.means.shape[1]
    own = Laws(laws.weights, _lifted(laws.means[..., steps.labels]), laws.spreads)
    near = _repeated(own, np.zeros(len(weights), dtype=np.int64))
    if population.name == "dirichlet":
        return spread_out(fit_one(steps, weights, near).laws, steps, n_labels)
    points = population.name == "multinomial_mixture"
    base = fit_one(steps, steps.weights[None]).laws
    first = starts(steps, base, len(population.weights), seed, points=points)
    far = _repeated(first, np.arange(len(weights)) % len(first.weights))
    one, two = (fit_mixture(steps, weights, start, points=points) for start in (near, far))
    better = two.log_likelihood > one.log_likelihood
    chosen = Laws(
        np.where(better[:, None], two.laws.weights, one.laws.weights),
        np.where(better[:, None, None], two.laws.means, one.laws.means),
        np.where(better[:, None], two.laws.spreads, one.laws.spreads),
    )
    return spread_out(chosen, steps, n_labels)


def _repeated(laws: Laws, which: Ints) -> Laws:
    return Laws(laws.weights[which], laws.means[which], laws.spreads[which])


def _lifted(means: Floats) -> Floats:
    """Means without zeros, from which a fit could not start."""
    lifted = np.maximum(means, 1e-12)
    return np.asarray(lifted / lifted.sum(axis=-1, keepdims=True))


def spread_out(laws: Laws, steps: Steps, n_labels: int) -> Laws:
    """Laws of the used labels as laws of all labels; shares that are next to nothing become 0."""
    means = np.zeros((*laws.means.shape[:-1], n_labels))
    means[..., steps.labels] = np.where(laws.means > 1e-11, laws.means, 0.0)
    return Laws(laws.weights, means / means.sum(axis=-1, keepdims=True), laws.spreads)
