"""Is it cheaper to ask fewer people for more? Soft votes against plain votes, at equal number and equal time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from saturation.analyses.eliciting.sides import Sides, moments, standings
from saturation.analyses.labels.plan import reached
from saturation.analyses.remarks import ANNOTATORS_UNKNOWN
from saturation.analyses.worth.crossing import Track, Worth, worth_of
from saturation.analyses.worth.equivalents import directed
from saturation.analyses.worth.standing import Standing
from saturation.analyses.worth.values import uncertainty, value_of
from saturation.errors import UsageError
from saturation.metrics.catalogue import metrics_of
from saturation.metrics.metric import Metric
from saturation.resampling import intervals
from saturation.resampling.fieller import fieller
from saturation.results import DataSummary, Note, Uncertainty
from saturation.results.elicited import ElicitedResult, ElicitedRow
from saturation.streams import seed_of
from saturation.tables.panel import Votes
from saturation.tables.soft_votes import SoftVotes, taken
from saturation.typing import Floats, TieRule

DEFAULT_METRICS = ("tvd", "brier", "jsd", "entropy_correlation")
N_DRAWS = 200
FEWEST_SOFT = 2


def elicit_compare(
    soft: SoftVotes,
    votes: Votes,
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    budgets: Sequence[int] | None = None,
    reference_size: int | None = None,
    seconds_per_soft: float | None = None,
    seconds_per_vote: float | None = None,
    level: float = 0.95,
    n_draws: int = N_DRAWS,
    rng: int | np.random.Generator = 0,
    ties: TieRule = "share",
    floor: float = 1e-3,
    bins: int = 10,
) -> ElicitedResult:
    """How many plain votes an item are worth as much as n soft votes, by number and by time.

    The mean of n soft votes and the shares of N plain votes are scored against the same R plain votes, none of them
    among the N. Where the two curves cross, n soft votes are worth N plain ones: interpolated on 1/N, with an interval
    that holds every N that the paired test of both sides does not reject.

    Parameters
    ----------
    soft
        One distribution an annotator and item.
    votes
        Plain votes of the same items; items that only one side has are left out and counted.
    metrics
        Catalogue names with a better side.
    budgets
        Plain votes N; None: 1 to M - R.
    reference_size
        R; None: two thirds of M, the largest number of plain votes that 80% of the items reach.
    seconds_per_soft, seconds_per_vote
        Time that a vote takes; None: the mean of the column ``seconds`` of the soft votes, and no time.
    level
        Nominal coverage.
    n_draws
        Random orders of the votes of every item; what they leave open is ``mc_se``.
    rng
        Seed of the draws, or a generator that one is drawn from.
    ties, bins
        Shared options of the metrics.
    floor
        Probabilities below it are raised: soft votes may give 0 to a label that has votes (kl is infinite then).

    Returns
    -------
    ElicitedResult
        Rows as in :class:`~saturation.results.elicited.ElicitedRow`. ``bias_squared`` and ``variance`` (Brier): the
        mean of soft votes does not converge to the distribution of plain votes, so ``limit`` is what any number of
        them is worth: the noise of a plain vote over the squared bias.

    Raises
    ------
    UsageError
        When the sides share no items or labels, votes are too few, or options mean nothing.

    Notes
    -----
    Intervals are about other items. They assume that nobody gave soft votes to many of them.

    References
    ----------
    Collins, Bhatt and Weller 2022, Eliciting and Learning with Soft Labels from Every Annotator, arXiv 2207.00810.
    """
    _check(level, n_draws, seconds_per_soft, seconds_per_vote)
    chosen = metrics_of(metrics, ties=ties, floor=floor, bins=bins)
    directed(chosen)
    ours = _ordered(soft, votes)
    sides, left_out = _sides(ours, votes, budgets, reference_size)
    seed = seed_of(rng)
    per_soft = seconds_per_soft
    if per_soft is None and sides.soft.seconds is not None:
        per_soft = float(sides.soft.seconds.mean())
    clock = (per_soft, seconds_per_vote)
    found = standings(sides, chosen, n_draws=n_draws, seed=seed)
    rows = [row for metric, one in zip(chosen, found, strict=True) for row in _rows(sides, metric, one, clock, level)]
    settings: dict[str, Any] = {
        "metrics": [one.name for one in chosen],
        "budgets": list(sides.vote_sizes),
        "reference_size": sides.reference_size,
        "seconds_per_soft": per_soft,
        "seconds_per_vote": seconds_per_vote,
        "level": level,
        "n_draws": n_draws,
        "seed": seed,
        "ties": ties,
        "floor": floor,
        "bins": bins,
        "labels": list(votes.labels),
    }
    return ElicitedResult(
        rows=(*rows, *_moment_rows(sides, level)),
        settings=settings,
        data=_summary(sides, left_out),
        inputs=(*soft.inputs, *votes.inputs),
        notes=(*_worth_notes(rows, sides), *soft.notes, *votes.notes, *_notes(sides, left_out)),
    )


def _check(level: float, n_draws: int, *seconds: float | None) -> None:
    if not 0 < level < 1:
        raise UsageError(f"level is {level}; give a coverage between 0 and 1, such as 0.95")
    if n_draws < 2:
        raise UsageError(f"n_draws is {n_draws}; give at least 2")
    for one in seconds:
        if one is not None and not 0 < one < float("inf"):
            raise UsageError(f"seconds are {one}; give a time above 0")


def _ordered(soft: SoftVotes, votes: Votes) -> SoftVotes:
    """The soft votes with labels in the order of the votes."""
    if set(soft.labels) != set(votes.labels):
        raise UsageError(f"soft votes have the labels {', '.join(soft.labels)}, votes {', '.join(votes.labels)}")
    column = [soft.labels.index(label) for label in votes.labels]
    return replace(soft, labels=votes.labels, probs=soft.probs[:, column])


def _sides(
    soft: SoftVotes, votes: Votes, budgets: Sequence[int] | None, reference_size: int | None
) -> tuple[Sides, int]:
    """Items with both kinds of vote and enough of each, and how many others there were."""
    enough = {item for item, n in zip(soft.item_ids, soft.totals, strict=True) if n >= FEWEST_SOFT}
    both = np.array([row for row, item in enumerate(votes.item_ids) if item in enough], dtype=np.int64)
    if len(both) == 0:
        raise UsageError(f"no item has plain votes and at least {FEWEST_SOFT} soft votes")
    most = reached(votes.totals[both])
    size = reference_size if reference_size is not None else max(1, round(2 * most / 3))
    sizes = tuple(sorted(set(budgets))) if budgets is not None else tuple(range(1, most - size + 1))
    if not sizes or sizes[0] < 1 or size < 1:
        raise UsageError(
            f"80% of the items have {most} votes; {size} of them as reference leave none to compare with: "
            "give a smaller --reference-size"
        )
    kept = both[votes.totals[both] >= sizes[-1] + size]
    if len(kept) == 0:
        raise UsageError(f"no item has {sizes[-1]} votes and {size} others as reference; ask for fewer")
    place = {item: row for row, item in enumerate(soft.item_ids)}
    own = np.array([place[votes.item_ids[row]] for row in kept], dtype=np.int64)
    used = taken(soft, own)
    fewest, all_of_them = int(used.totals.min()), int(used.totals.max())
    soft_sizes = tuple(range(1, fewest + 1)) + ((all_of_them,) if all_of_them > fewest else ())
    everything = len(set(soft.item_ids) | set(votes.item_ids))
    return Sides(used, votes.take(kept), soft_sizes, sizes, size), everything - len(kept)


# --- rows -------------------------------------------------------------------------------------------------------------


def _rows(
    sides: Sides, metric: Metric, standing: Standing, clock: tuple[float | None, float | None], level: float
) -> Iterator[ElicitedRow]:
    def row(quantity: str, unc: Uncertainty, **more: Any) -> ElicitedRow:
        return ElicitedRow(
            quantity=quantity,
            metric=metric.name,
            reference_size=sides.reference_size,
            direction=metric.direction,
            unc=unc,
            **more,
        )

    first, mean_n = len(sides.soft_sizes), float(sides.soft.totals.mean())

    def number(n: int) -> tuple[int | None, float]:
        """(n as rows have it, mean number of votes): null for all soft votes of an item, where items differ."""
        return (n, n) if n <= sides.soft.totals.min() else (None, mean_n)

    for start, side, sizes, seconds in (
        (0, "soft", sides.soft_sizes, clock[0]),
        (first, "votes", sides.vote_sizes, clock[1]),
    ):
        for place, size in enumerate(sizes):
            n, mean = number(size) if side == "soft" else (size, size)
            yield row(
                "value",
                value_of(standing, start + place, level, is_model=False),
                side=side,
                n=n,
                seconds=None if seconds is None else mean * seconds,
                mc_se=standing.mc_se(standing.unit(start + place)),
            )
    for place, size in enumerate(sides.soft_sizes):
        worth, unc = _equivalent(sides, standing, place, level)
        n, mean = number(size)
        told = {"n": n, "censored": None if worth is None else worth.censored}
        yield row("equivalent_votes", unc, mc_se=_mc_se(standing, worth), **told)
        for quantity, over, power in _times(mean, clock):
            yield row(quantity, _scaled(unc, over, power), **_turned(told, power))


def _equivalent(sides: Sides, standing: Standing, place: int, level: float) -> tuple[Worth | None, Uncertainty]:
    """Plain votes that score as the mean of some soft votes does."""
    first = len(sides.soft_sizes)
    known = [(first + g, n) for g, n in enumerate(sides.vote_sizes) if np.isfinite(standing.estimates[first + g])]
    if not np.isfinite(standing.estimates[place]) or not known:  # one vote has no entropy: left out of the curve
        return None, uncertainty(standing, None, level, reason=standing.reasons[place if known else first])
    crowds, sizes = zip(*known, strict=True)
    track = Track(standing, place, crowds, sizes, 0.0, level)
    if not track.rises:
        return None, uncertainty(standing, None, level, reason="more plain votes do not score better by this metric")
    worth = worth_of(track)
    return worth, uncertainty(
        standing,
        worth.estimate,
        level,
        low=worth.low if worth.tested else None,
        high=worth.high,
        interval="linearized_t" if worth.tested else "none",
        reason=_reason(worth, sizes),
    )


def _reason(worth: Worth, sizes: Sequence[int]) -> str | None:
    said = []
    if worth.censored == "below":
        said.append(f"worse than {_plain_votes(sizes[0])}, the fewest tried")
    elif worth.censored == "above":
        said.append(f"better than {_plain_votes(sizes[-1])}, the most tried")
    if not worth.tested:
        said.append("no interval: one item only")
    elif worth.high is None and worth.censored is None:
        said.append(f"open above: not told from {_plain_votes(sizes[-1])}, the most tried")
    return "; ".join(said) or None


def _plain_votes(n: int) -> str:
    return f"{n} plain vote{'s' if n > 1 else ''}"


def _mc_se(standing: Standing, worth: Worth | None) -> float | None:
    if worth is None or worth.contrast is None or not worth.slope:
        return None
    found = standing.mc_se(worth.contrast)
    return None if found is None else found / abs(worth.slope)


def _times(n: float, clock: tuple[float | None, float | None]) -> Iterator[tuple[str, float, int]]:
    """(quantity, factor, power): factor times the equivalent number to that power."""
    per_soft, per_vote = clock
    if per_soft is not None:
        yield "break_even_seconds", n * per_soft, -1
        if per_vote is not None:
            yield "time_ratio", per_vote / (n * per_soft), 1


def _scaled(unc: Uncertainty, factor: float, power: int) -> Uncertainty:
    """A monotone function of a number: so are the ends of its interval; None and 0 change places where it falls."""
    estimate = None if unc.estimate is None else factor * unc.estimate**power
    low, high = unc.low, unc.high
    if power < 0:
        low = None if unc.low is None and unc.interval == "none" else 0.0 if unc.high is None else factor / unc.high
        high = None if not unc.low else factor / unc.low
    else:
        low = None if low is None else factor * low
        high = None if high is None else factor * high
    return replace(unc, estimate=estimate, low=low, high=high, se=None)


def _turned(told: dict[str, Any], power: int) -> dict[str, Any]:
    turned = {"above": "below", "below": "above"}
    return told if power > 0 else told | {"censored": turned.get(told["censored"])}


def _moment_rows(sides: Sides, level: float) -> Iterator[ElicitedRow]:
    """Bias and variance of soft votes apart, and what no number of them can be worth more than."""
    if (sides.votes.totals < 2).any():
        return
    found = moments(sides.soft, sides.votes.counts)

    def row(quantity: str, unc: Uncertainty, censored: str | None = None) -> ElicitedRow:
        return ElicitedRow(
            quantity=quantity, metric="brier", side="soft", direction="lower", unc=unc, censored=censored
        )

    for quantity, values in (("bias_squared", found.bias_squared), ("variance", found.variance)):
        yield row(quantity, _mean(values, level))
    unc, censored = _limit(found.vote_noise, found.bias_squared, level)
    yield row("limit", unc, censored)


def _mean(values: Floats, level: float) -> Uncertainty:
    n = len(values)
    shared: dict[str, Any] = {"level": level, "estimator": "corrected", "design": "items", "n_items": n, "n_cells": 1}
    if n < 2:
        return Uncertainty(float(values.mean()), reason="no interval: one item only", **shared)
    se = float(values.std(ddof=1) / n**0.5)
    made = intervals.normal(float(values.mean()), se, level, n - 1, "linearized_t")
    return Uncertainty(
        float(values.mean()), made.low, made.high, se, interval=made.method, reason=made.reason, **shared
    )


def _limit(noise: Floats, bias: Floats, level: float) -> tuple[Uncertainty, str | None]:
    """Noise of a plain vote over squared bias, by Fieller's set; unbounded where the bias is not told from 0."""
    n = len(noise)
    shared: dict[str, Any] = {"level": level, "estimator": "corrected", "design": "items", "n_items": n, "n_cells": 1}
    top, bottom = float(noise.mean()), float(bias.mean())
    if n < 2:
        return Uncertainty(None, reason="one item only", **shared), None
    covariance = np.cov(np.stack([noise, bias])) / n
    found = fieller(top, bottom, covariance, n - 1, level)
    if found is None or found.shape != "bounded" or bottom <= 0:
        why = "no bias of soft votes can be told from none, so nothing bounds what many of them are worth"
        return Uncertainty(None, reason=why, **shared), "above"
    return Uncertainty(top / bottom, found.low, found.high, interval="fieller", **shared), None


# --- what is said beside --------------------------------------------------------------------------------------------


def _summary(sides: Sides, left_out: int) -> DataSummary:
    return replace(sides.votes.summary, voted_without_predictions=left_out)


def _worth_notes(rows: Sequence[ElicitedRow], sides: Sides) -> Iterator[Note]:
    """What the most soft votes of an item are worth by every metric, in one sentence."""
    last = {row.metric: row for row in rows if row.quantity == "equivalent_votes"}
    said = [
        f"{_number(row, sides.vote_sizes)} by {name}" for name, row in last.items() if row.unc.estimate or row.censored
    ]
    if said:
        mean = f"{sides.soft.totals.mean():.3g}"
        yield Note("worth", f"{mean} soft votes of an item are worth as many plain votes: {', '.join(said)}")


def _number(row: ElicitedRow, sizes: Sequence[int]) -> str:
    if row.unc.estimate is None:
        beyond = f"more than {sizes[-1]}" if row.censored == "above" else "fewer than the fewest tried"
        return f"{beyond}{_ends(row.unc)}"
    return f"{row.unc.estimate:.1f}{_ends(row.unc)}"


def _ends(unc: Uncertainty) -> str:
    if unc.interval == "none":
        return " (no interval)"
    return f" [{unc.low or 0:.1f}, {'open' if unc.high is None else f'{unc.high:.1f}'}]"


def _notes(sides: Sides, left_out: int) -> Iterator[Note]:
    if left_out:
        yield Note("item_set", f"{left_out} items lack votes of one kind, or enough of them, and are left out")
    yield Note(
        "soft_means_differ",
        "people who give percents are not people who vote: the mean of many soft votes need not be the distribution of "
        "votes; bias_squared is what stays however many are asked",
    )
    busiest = np.bincount(sides.soft.annotator).max(initial=0)
    if busiest > 1:
        yield Note(
            "annotators_ignored",
            f"one annotator gave soft votes to {busiest} of these items: intervals are about other items and do not "
            "know that the same people come again",
        )
    if sides.votes.ballots is None:
        yield ANNOTATORS_UNKNOWN
