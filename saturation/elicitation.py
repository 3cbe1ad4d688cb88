"""Soft votes from what single annotators say: a most probable label, perhaps a second one, and what is impossible.

The construction is that of CIFAR-10S (Collins, Bhatt & Weller 2022, arXiv 2207.00810, section 4), as a function of
arrays: one response a row, one distribution a row out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from saturation.errors import UsageError
from saturation.streams import Purpose, uniforms
from saturation.typing import Counts, Floats, Ints, Probs

Variety: TypeAlias = Literal["T2", "T1", "fifty_fifty", "hard_top"]
"""Which answers are used: both labels with their percents, the first alone, both as equals, the first as certain."""
Spread: TypeAlias = Literal["clamp", "uniform", "none"]
"""Where the probability goes that no percent names: to the possible labels, to all others, nowhere."""
Rule: TypeAlias = Literal["repaired", "published"]
"""What becomes of contradictions: mended and counted, or taken as the authors' script takes them."""

VARIETIES: tuple[Variety, ...] = ("T2", "T1", "fifty_fifty", "hard_top")
SPREADS: tuple[Spread, ...] = ("clamp", "uniform", "none")
GAMMA = 0.10
"""Probability that is kept for other possible labels where the percents leave nothing (clamp)."""
GAMMAS = (0.0, 0.02, 0.05, 0.10, 0.15, 0.20, 0.30)
NO_LABEL = -1


@dataclass(frozen=True, slots=True, eq=False)
class Responses:
    """Answers of annotators, one a row.

    Attributes
    ----------
    top
        (responses,) index of the most probable label.
    top_percent
        (responses,) its percent; NaN where none was given.
    second
        (responses,) index of the second label, -1 where none was named.
    second_percent
        (responses,) its percent; NaN where none was given.
    impossible
        (responses, labels) labels ticked as impossible.
    """

    top: Ints
    top_percent: Floats
    second: Ints
    second_percent: Floats
    impossible: NDArray[np.bool_]

    def __post_init__(self) -> None:
        n, n_labels = self.impossible.shape
        shapes = {len(one) for one in (self.top, self.top_percent, self.second, self.second_percent)}
        if shapes != {n}:
            raise UsageError("responses have one top, percent, second, percent and row of ticks each")
        if n and (self.top.min() < 0 or max(self.top.max(), self.second.max()) >= n_labels):
            raise UsageError(f"a response names a label that is none of the {n_labels}")
        wrong = [bool((one < 0).any() or np.isinf(one).any()) for one in (self.top_percent, self.second_percent)]
        if any(wrong):
            raise UsageError("a percent is negative or infinite; percents are numbers from 0 to 100")

    def take(self, rows: Ints) -> Responses:
        """Some of the responses."""
        return Responses(
            self.top[rows],
            self.top_percent[rows],
            self.second[rows],
            self.second_percent[rows],
            self.impossible[rows],
        )


CONTRADICTIONS = {
    "same_label_twice": "the second label is the first again",
    "top_impossible": "the most probable label is ticked as impossible",
    "second_impossible": "the second label is ticked as impossible",
    "all_impossible": "every label is ticked as impossible",
    "second_above_first": "the second percent is above the first",
    "percent_above_100": "a percent is above 100",
    "top_percent_zero": "the percent of the most probable label is 0",
    "top_percent_missing": "the most probable label has no percent",
}
"""What a response can contradict itself in; ``--strict`` rejects all but ``second_above_first``."""
MENDED = tuple(name for name in CONTRADICTIONS if name != "second_above_first")
"""What the rule ``repaired`` changes; a second label that is more probable than the first is taken at its word."""


def contradictions(responses: Responses) -> dict[str, NDArray[np.bool_]]:
    """Which responses contradict themselves, by kind (keys of ``CONTRADICTIONS``): (responses,) each."""
    rows = np.arange(len(responses.top))
    named = responses.second >= 0
    with np.errstate(invalid="ignore"):
        return {
            "same_label_twice": named & (responses.second == responses.top),
            "top_impossible": responses.impossible[rows, responses.top],
            "second_impossible": named & responses.impossible[rows, np.maximum(responses.second, 0)],
            "all_impossible": responses.impossible.all(axis=1),
            "second_above_first": named & (responses.second_percent > responses.top_percent),
            "percent_above_100": (responses.top_percent > 100) | (named & (responses.second_percent > 100)),
            "top_percent_zero": responses.top_percent == 0,
            "top_percent_missing": np.isnan(responses.top_percent),
        }


def repaired(responses: Responses) -> Responses:
    """Responses without contradictions: a choice beats a tick, the first of two percents counts.

    The same label twice: the second answer is dropped. All labels ticked: the ticks are ignored. Percents above 100
    become 100; 0 or none for the most probable label becomes 100.
    """
    found = contradictions(responses)
    rows = np.arange(len(responses.top))
    second = np.where(found["same_label_twice"], NO_LABEL, responses.second)
    impossible = responses.impossible & ~found["all_impossible"][:, None]
    impossible[rows, responses.top] = False
    impossible[rows[second >= 0], second[second >= 0]] = False
    silent = found["top_percent_zero"] | found["top_percent_missing"]
    return replace(
        responses,
        top_percent=np.where(silent, 100.0, np.minimum(responses.top_percent, 100.0)),
        second=second,
        second_percent=np.where(second >= 0, np.minimum(responses.second_percent, 100.0), np.nan),
        impossible=impossible,
    )


def soft_labels(
    responses: Responses,
    *,
    variety: Variety = "T2",
    spread: Spread = "clamp",
    gamma: float = GAMMA,
    rule: Rule = "repaired",
) -> Probs:
    """One distribution a response.

    With s the percents over 100 and A their sum: A < 1 leaves r = 1 - A for other labels; otherwise s is divided by A
    and, for ``clamp`` where another label is possible, r = gamma is kept for those. ``clamp`` spreads r evenly over
    the possible labels without a percent, ``uniform`` over all labels without one, ``none`` not at all; then rows are
    divided by their sum.

    Parameters
    ----------
    responses
        What annotators said.
    variety
        ``T2``: both percents; ``T1``: the first; ``fifty_fifty``: both labels as equals; ``hard_top``: the first label
        alone. The last two take neither spread nor gamma.
    spread, gamma
        As above.
    rule
        ``repaired`` (see :func:`repaired`), or ``published``: as the authors' script does it; rebuilds their file.

    Returns
    -------
    (responses, labels) rows on the simplex.

    Raises
    ------
    UsageError
        For unknown options, gamma outside [0, 1), or a response that names no probability at all (``published`` only).

    Examples
    --------
    >>> said = Responses(np.array([0]), np.array([70.0]), np.array([1]), np.array([20.0]), np.eye(4, dtype=bool)[[3]])
    >>> soft_labels(said).round(3).tolist()  # .1 is left, and one other label is possible
    [[0.7, 0.2, 0.1, 0.0]]
    >>> soft_labels(said, variety="T1", spread="uniform").round(3).tolist()  # .3 is left for three labels
    [[0.7, 0.1, 0.1, 0.1]]
    """
    _known(variety, VARIETIES, "variety")
    _known(spread, SPREADS, "spread")
    _known(rule, ("repaired", "published"), "rule")
    if not 0 <= gamma < 1:
        raise UsageError(f"gamma is {gamma}; it is a probability below 1")
    said = repaired(responses) if rule == "repaired" else responses
    if variety == "hard_top":
        return _of_labels(said, np.zeros(len(said.top), dtype=bool))
    if variety == "fifty_fifty":
        return _of_labels(said, said.second >= 0)
    return _spread(_named(said, variety), said.impossible, spread, gamma)


def _of_labels(said: Responses, both: NDArray[np.bool_]) -> Probs:
    out = np.zeros(said.impossible.shape)
    out[np.arange(len(out)), said.top] = 1.0
    out[np.flatnonzero(both), said.second[both]] = 1.0
    return np.asarray(out / out.sum(axis=1, keepdims=True))


def _named(said: Responses, variety: Variety) -> Floats:
    """(responses, labels) percents over 100, 0 where none was given."""
    shares = np.zeros(said.impossible.shape)
    shares[np.arange(len(shares)), said.top] = np.nan_to_num(said.top_percent) / 100
    if variety == "T2":
        given = np.flatnonzero((said.second >= 0) & ~np.isnan(said.second_percent))
        shares[given, said.second[given]] = said.second_percent[given] / 100
    return shares


def _spread(shares: Floats, impossible: NDArray[np.bool_], spread: Spread, gamma: float) -> Probs:
    total = shares.sum(axis=1, keepdims=True)
    unnamed = shares == 0
    others = (~impossible).sum(axis=1, keepdims=True) - (~unnamed).sum(axis=1, keepdims=True)
    full = total >= 1
    kept = full & (others > 0) & (spread == "clamp")
    left = np.where(full, np.where(kept, gamma, 0.0), 1 - total)
    shares = np.where(full, shares / np.where(full, total, 1.0) * np.where(kept, 1 - gamma, 1.0), shares)
    if spread == "clamp":
        shares = shares + np.where(unnamed & ~impossible & (others > 0), left / np.maximum(others, 1), 0.0)
    elif spread == "uniform":
        shares = shares + np.where(unnamed, left / np.maximum(unnamed.sum(axis=1, keepdims=True), 1), 0.0)
    total = shares.sum(axis=1, keepdims=True)
    if (total == 0).any():
        raise UsageError(f"{int((total == 0).sum())} responses give no label a probability: use the rule 'repaired'")
    return np.asarray(shares / total)


def aggregate(soft_votes: Probs, item: Ints, n_items: int) -> Probs:
    """(items, labels) mean of each item's soft votes; NaN where an item has none.

    Examples
    --------
    >>> aggregate(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0, 0]), 1).tolist()
    [[0.75, 0.25]]
    """
    sums = np.stack([np.bincount(item, weights=column, minlength=n_items) for column in soft_votes.T], axis=1)
    counts = np.bincount(item, minlength=n_items)[:, None]
    return np.asarray(np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0))


def means_of_first(
    soft_votes: Probs, item: Ints, n_items: int, sizes: Sequence[int], *, seed: int = 0, draw: int = 0
) -> Probs:
    """Means of the first soft votes of every item in a random order; larger sizes hold the smaller ones.

    Parameters
    ----------
    soft_votes
        (soft votes, labels), an item's side by side.
    item
        (soft votes,) ascending rows of the items.
    n_items
        How many there are.
    sizes
        Soft votes to take; an item with fewer gives the mean of all it has (NaN where it has none).
    seed, draw
        Which order: that of an item depends on these and its place alone.

    Returns
    -------
    (sizes, items, labels) rows on the simplex.

    Examples
    --------
    >>> means_of_first(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0, 0]), 1, (2, 5)).tolist()
    [[[0.75, 0.25]], [[0.75, 0.25]]]
    """
    totals = np.bincount(item, minlength=n_items)
    first = np.concatenate([[0], totals.cumsum()[:-1]])
    within = np.arange(len(item)) - first[item]
    noise = uniforms(seed, Purpose.SOFT_VOTES, np.array([draw]), item * int(totals.max(initial=0)) + within)
    ordered = soft_votes[np.lexsort((noise, item))]  # items stay together
    return np.stack([aggregate(ordered[within < size], item[within < size], n_items) for size in sizes])


@dataclass(frozen=True, slots=True)
class ChosenGamma:
    """A gamma chosen by cross-validation over items.

    Attributes
    ----------
    gamma
        The one with the smallest loss; the smallest of those that tie.
    losses
        (gamma, cross-validated cross-entropy against the votes, nats a vote) of all.
    """

    gamma: float
    losses: tuple[tuple[float, float], ...]


def choose_gamma(
    responses: Responses,
    item: Ints,
    counts: Counts,
    *,
    gammas: Sequence[float] = GAMMAS,
    variety: Variety = "T2",
    rule: Rule = "repaired",
    floor: float = 1e-3,
) -> ChosenGamma:
    """The gamma whose mean soft votes predict plain votes of the same items best.

    One number is fitted, so its loss on the items it is chosen on and on left-out items hardly differ; it is chosen on
    all of them. Probabilities below ``floor`` are raised to it, because a label that nobody thought possible may still
    get a vote.

    Parameters
    ----------
    responses
        What annotators said.
    item
        (responses,) rows of ``counts``.
    counts
        (items, labels) plain votes.
    gammas
        To choose from.
    variety, rule
        As in :func:`soft_labels` (``spread`` is ``clamp``).
    floor
        Smallest probability.
    """
    used = np.flatnonzero((counts.sum(axis=1) > 0) & (np.bincount(item, minlength=len(counts)) > 0))
    if len(used) == 0:
        raise UsageError("gamma cannot be chosen: no item has both responses and plain votes")
    losses = []
    for gamma in sorted(gammas):
        made = aggregate(soft_labels(responses, variety=variety, gamma=gamma, rule=rule), item, len(counts))[used]
        raised = np.maximum(made, floor)
        logs = np.log(raised / raised.sum(axis=1, keepdims=True))
        shares = counts[used] / counts[used].sum(axis=1, keepdims=True)
        losses.append((float(gamma), float(-(shares * logs).sum(axis=1).mean())))
    best = min(losses, key=lambda one: one[1])
    return ChosenGamma(best[0], tuple(losses))


def _known(value: str, names: Sequence[str], what: str) -> None:
    if value not in names:
        raise UsageError(f"{what} is {value!r}; choose one of {', '.join(names)}")
