"""N*: the smallest budget that keeps a share q of the gain. Functions of budgets and fractions; they know no panel.

The headline tests budgets from the largest below the ceiling downwards and stops at the first failure: a fixed
sequence needs no correction for the number of budgets. N* is interval-censored by the grid of budgets: found at N_j it
lies in (N_{j-1}, N_j], and so its interval (low, high] is open below, with N_0 = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from saturation.analyses.fractions import WORSE_CEILING, Fraction
from saturation.typing import Floats

Censored = Literal["above", "below"]

NOTHING_BETWEEN = "no budget was tried between the baseline and the ceiling"


@dataclass(frozen=True, slots=True)
class NStar:
    """A budget, its interval and what the grid of budgets leaves open.

    Attributes
    ----------
    estimate
        The budget; None where censored or undefined.
    low, high
        Ends of its interval, None where open. On the grid of budgets (low, high]: ``low`` is the largest budget that is
        excluded, 0 where none is. Interpolated: [low, high].
    censored
        ``above``: more than the largest budget below the ceiling; ``below``: at most the smallest budget tried.
    reason
        In words.
    """

    estimate: float | None
    low: float | None = None
    high: float | None = None
    censored: Censored | None = None
    reason: str | None = None


def n_star(budgets: Sequence[int], fractions: Sequence[Fraction], q: float) -> NStar:
    """The smallest N whose one-sided lower bound of f(N) reaches q, by the fixed sequence.

    Parameters
    ----------
    budgets
        (budgets,) ascending.
    fractions
        (budgets,) the fraction at each; the ceiling's own is exactly 1 and is not tested.
    q
        Share of the gain to keep.

    Returns
    -------
    The interval (low, high] inverts the test of f = q: above the budget before the first whose upper limit reaches q,
    up to the one from which on every lower limit does.
    """
    broken = _undefined(fractions)
    if broken is not None:
        return NStar(None, reason=broken)
    tested = _below_ceiling(fractions)
    first = fixed_sequence([f.lower is not None and f.lower >= q for f in fractions[:tested]])
    low, high = _compatible(
        budgets,
        may=[f.high is None or f.high >= q for f in fractions],
        must=[f.low is not None and f.low >= q for f in fractions],
    )
    return _above(budgets, tested, low) if first is None else _found(budgets, first, low, high)


def n_star_noninferiority(
    budgets: Sequence[int],
    upper: Sequence[float | None],
    limits: Sequence[tuple[float | None, float | None]],
    margin: float,
    tested: int,
) -> NStar:
    """The smallest N whose shortfall l_N - l_ceil is below a margin with confidence, by the same fixed sequence.

    Parameters
    ----------
    budgets
        (budgets,) ascending.
    upper
        (budgets,) one-sided upper bounds of the shortfall; None where there is none (does not pass).
    limits
        (budgets,) its two-sided intervals; None where open.
    margin
        In the metric's units.
    tested
        How many of the budgets lie below the ceiling.
    """
    first = fixed_sequence([u is not None and u < margin for u in upper[:tested]])
    low, high = _compatible(
        budgets,
        may=[least is None or least < margin for least, _ in limits],
        must=[most is not None and most < margin for _, most in limits],
    )
    return _above(budgets, tested, low) if first is None else _found(budgets, first, low, high)


def n_star_interpolated(budgets: Sequence[int], fractions: Sequence[Fraction], q: float) -> NStar:
    """The point from which on f >= q on the isotonic fit, linear in log N between budgets.

    The interval holds all N for which q lies in the interval of f(N), interpolated in the same way.
    """
    broken = _undefined(fractions) or _nothing_between(fractions)
    if broken is not None:
        return NStar(None, reason=broken)
    fit, _ = isotonic(values_of(fractions), weights_of(fractions))
    estimate, censored = crossing(budgets, fit, q)
    low, _ = crossing(budgets, np.maximum.accumulate([np.inf if f.high is None else f.high for f in fractions]), q)
    lowest = np.minimum.accumulate([-np.inf if f.low is None else f.low for f in fractions][::-1])[::-1]
    high, _ = crossing(budgets, lowest, q)
    if estimate is None:
        at = budgets[0] if censored == "below" else budgets[-1]
        word = "at most the smallest budget" if censored == "below" else "more than the largest budget"
        return NStar(None, low, high, censored, f"{word} tried, {at}")
    low = None if low is None else min(low, estimate)
    high = None if high is None else max(high, estimate)
    return NStar(estimate, low, high, None, f"interpolated in log N on the isotonic fit over budgets {_grid(budgets)}")


def fixed_sequence(passes: Sequence[bool]) -> int | None:
    """Index of the smallest budget in the unbroken run of passes that ends at the last; None if the last fails.

    Examples
    --------
    >>> fixed_sequence([True, False, True, True]), fixed_sequence([True, False])
    (2, None)
    """
    first = None
    for index in range(len(passes) - 1, -1, -1):
        if not passes[index]:
            break
        first = index
    return first


def isotonic(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Weighted non-decreasing least-squares fit by pooling adjacent violators.

    Returns
    -------
    The fit (budgets,) and the matrix (budgets, budgets) of the pooled averages, fit = matrix . values.

    Examples
    --------
    >>> fit, _ = isotonic(np.array([0.0, 0.9, 0.7, 1.0]), np.array([1.0, 1.0, 3.0, 1.0]))
    >>> fit.round(9).tolist()  # (0.9 + 3 x 0.7) / 4
    [0.0, 0.75, 0.75, 1.0]
    """
    blocks: list[list[int]] = []
    for index in range(len(values)):
        blocks.append([index])
        while len(blocks) > 1 and _mean(values, weights, blocks[-2]) > _mean(values, weights, blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    fit, matrix = np.empty(len(values)), np.zeros((len(values), len(values)))
    for block in blocks:
        fit[block] = _mean(values, weights, block)
        matrix[np.ix_(block, block)] = weights[block] / weights[block].sum()
    return fit, matrix


def crossing(budgets: Sequence[int], fit: Floats, q: float) -> tuple[float | None, Censored | None]:
    """Where a non-decreasing curve, linear in log N, reaches q; or on which side of the grid it does.

    Examples
    --------
    >>> crossing([1, 10, 100], np.array([0.0, 0.8, 1.0]), 0.9)  # half way in log N between 10 and 100
    (31.6227766016..., None)
    """
    reached = np.flatnonzero(np.asarray(fit) >= q)
    if len(reached) == 0:
        return None, "above"
    after = int(reached[0])
    if after == 0:
        return (1.0, None) if budgets[0] == 1 else (None, "below")
    share = crossing_share(fit, after, q)
    if share == 1:
        return float(budgets[after]), None
    return float(np.exp((1 - share) * np.log(budgets[after - 1]) + share * np.log(budgets[after]))), None


def crossing_share(fit: Floats, after: int, q: float) -> float:
    """How far between budgets after - 1 and after the curve reaches q, 0 to 1; 1 where it is unbounded before."""
    if not np.isfinite(fit[after - 1]):
        return 1.0
    return float((q - fit[after - 1]) / (fit[after] - fit[after - 1]))


def values_of(fractions: Sequence[Fraction]) -> Floats:
    """(budgets,) estimates."""
    return np.array([f.estimate for f in fractions], dtype=np.float64)


def weights_of(fractions: Sequence[Fraction]) -> Floats:
    """(budgets,) 1/Var, up to a factor; values known by definition outweigh all others."""
    variances = np.array([(f.se or 0.0) ** 2 for f in fractions])
    largest = float(variances.max(initial=0.0))
    return np.asarray(1 / np.maximum(variances / largest, 1e-12)) if largest > 0 else np.ones(len(variances))


def _mean(values: Floats, weights: Floats, block: list[int]) -> float:
    return float((weights[block] * values[block]).sum() / weights[block].sum())


def _undefined(fractions: Sequence[Fraction]) -> str | None:
    """The reason that spoils every N*: an undefined fraction, or a ceiling worse than the baseline."""
    for one in fractions:
        if one.estimate is None:
            return one.reason
        if one.denominator < 0:
            return WORSE_CEILING
    return None


def _nothing_between(fractions: Sequence[Fraction]) -> str | None:
    """Why a line from the baseline to the ceiling says nothing: it is the same whatever the losses are."""
    ends = [one.estimate for one in fractions if one.interval == "exact" and one.estimate in {0.0, 1.0}]
    return NOTHING_BETWEEN if len(ends) == len(fractions) and len(set(ends)) > 1 else None


def _below_ceiling(fractions: Sequence[Fraction]) -> int:
    """How many budgets are tested: all but a ceiling at the end."""
    at_end = fractions[-1].interval == "exact" and fractions[-1].estimate == 1
    return len(fractions) - int(at_end)


def _compatible(budgets: Sequence[int], *, may: Sequence[bool], must: Sequence[bool]) -> tuple[float, float | None]:
    """(low, high] from what two-sided intervals say of each budget: that it may do, and that it does."""
    first = next((at for at, possible in enumerate(may) if possible), len(budgets))
    last = fixed_sequence(must)
    return float(budgets[first - 1]) if first > 0 else 0.0, None if last is None else float(budgets[last])


def _above(budgets: Sequence[int], tested: int, low: float) -> NStar:
    if tested == 0:
        return NStar(None, reason="no budget below the ceiling to test")
    last = budgets[tested - 1]
    reason = f"> {last}: no budget tried below the ceiling is shown to keep that much"
    if tested == len(budgets):
        reason = f"> {budgets[-1]}: no budget of this curve is shown to keep that much"
    return NStar(None, low, None, "above", reason)


def _found(budgets: Sequence[int], first: int, low: float, high: float | None) -> NStar:
    at = budgets[first]
    if first > 0:
        return NStar(at, low, high, None, f"in ({budgets[first - 1]}, {at}]: the budgets between were not tried")
    if at == 1:
        return NStar(at, low, high)
    return NStar(None, 0.0, at, "below", f"<= {at}: smaller budgets were not tried")


def _grid(budgets: Sequence[int]) -> str:
    return ", ".join(str(b) for b in budgets)
