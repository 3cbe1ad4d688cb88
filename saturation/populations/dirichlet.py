"""One Dirichlet law of item distributions, by maximum marginal likelihood of the votes (Dirichlet-multinomial).

Many fits side by side: the leading axes of all arrays are resamples, folds or components of a mixture. A fit never
depends on the others beside it.
"""

from __future__ import annotations

import numpy as np

from saturation.populations.steps import Steps
from saturation.typing import Floats

LEAST, MOST = 1e-6, 1e7
"""Concentrations outside are at the boundary: every item has one label, or all items have one distribution."""
ITERATIONS = 200
TOLERANCE = 1e-9
"""Fits end where no log concentration moves by more."""
LONGEST_STEP = 2.0
SMALLEST = 1e-14
"""A label that no item of a component has keeps this much."""


def fit_dirichlet(
    steps: Steps,
    of_steps: Floats,
    of_totals: Floats,
    start: Floats | None = None,
    *,
    iterations: int = ITERATIONS,
    penalty: float = 0.0,
) -> Floats:
    """Concentrations a (..., used labels) that maximise sum U ln(a_k + j) - sum V ln(A + j).

    Newton's method on ln a, whose Hessian is diagonal plus rank one; where a step does not increase the likelihood,
    Minka's fixed point a_k S_k / T, which always does. Where votes are not more alike within items than between them
    (the score at an infinite concentration is not positive) the fit is A = ``MOST``, to be read as infinite.

    Parameters
    ----------
    steps
        The votes.
    of_steps, of_totals
        (..., steps) U and (..., most votes) V: weighted numbers of items with more than j votes for a label, in all.
    start
        (..., used) to begin from; None: pooled shares at A = 1.
    iterations
        Most steps; fewer serve where fits alternate with other estimates.
    penalty
        Adds ``penalty`` (ln rho + ln(1 - rho)), rho = 1/(1 + A) the agreement of two votes beyond chance: keeps A from
        the boundary.

    Returns
    -------
    (..., used); sums are within [``LEAST``, ``MOST``].

    References
    ----------
    Minka 2000, Estimating a Dirichlet distribution (Newton, eq. 57-65; fixed point, eq. 55); Levin and Reeds 1977,
    Ann. Statist. 5, 79 (one maximum; infinite where the score is not positive).

    Examples
    --------
    >>> from saturation.populations.steps import steps_of
    >>> votes = steps_of(np.array([[2, 0], [0, 2], [1, 1], [1, 1]]))  # as binomial: not more alike within items
    >>> a = fit_dirichlet(votes, votes.of_steps(votes.weights), votes.of_totals(votes.weights))
    >>> (a / a.sum()).round(6).tolist(), bool(a.sum() >= MOST / 2)
    ([0.5, 0.5], True)
    """
    leading = of_steps.shape[:-1]
    up, down = of_steps.reshape(-1, of_steps.shape[-1]), of_totals.reshape(-1, of_totals.shape[-1])
    first = up[:, steps.label_start]
    if penalty:
        # ln A - 2 ln(1 + A) is as if one item less had a vote j = 0 and two more a vote j = 1
        down = _penalised(down, penalty)
    shares = first_shares(steps, up)
    a = shares.copy() if start is None else start.reshape(shares.shape).copy()
    flat = (_score_at_infinity(steps, up, down, shares) <= 0) & (penalty == 0)
    a[flat] = shares[flat] * MOST
    active = np.flatnonzero(~flat & (first.sum(axis=1) > 0))
    for _ in range(iterations):
        if len(active) == 0:
            break
        moved = _improved(steps, a[active], up[active], down[active])
        change = np.abs(np.log(moved / a[active])).max(axis=1)
        a[active] = moved
        total = moved.sum(axis=1)
        ended = (change < TOLERANCE) | (total >= MOST) | (total <= LEAST)
        active = active[~ended]
    return np.asarray(_bounded(a).reshape(*leading, -1))


def first_shares(steps: Steps, of_steps: Floats) -> Floats:
    """(..., used) shares of all votes; a label that lost all its votes keeps a share that is next to nothing."""
    votes = steps.of_labels(of_steps)
    shares = votes / np.maximum(votes.sum(axis=-1, keepdims=True), 1e-300)
    shares = np.maximum(shares, 1e-12)
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))


def _penalised(of_totals: Floats, penalty: float) -> Floats:
    changed = of_totals.copy()
    changed[:, 0] -= penalty
    changed[:, 1] += 2 * penalty
    return changed


def _score_at_infinity(steps: Steps, up: Floats, down: Floats, shares: Floats) -> Floats:
    """Derivative of the log likelihood in 1/A at 1/A = 0 and pooled shares: sum U j / pi_k - sum V j."""
    agreeing = steps.of_labels(up * steps.step_number) / shares
    return np.asarray(agreeing.sum(axis=1) - (down * np.arange(down.shape[1])).sum(axis=1))


def _improved(steps: Steps, a: Floats, up: Floats, down: Floats) -> Floats:
    """One step: Newton's where it increases the likelihood, else the fixed point's."""
    number = np.arange(down.shape[1])
    rising = np.take(a, steps.step_label, axis=1) + steps.step_number
    falling = a.sum(axis=1, keepdims=True) + number
    s, s2 = steps.of_labels(up / rising), steps.of_labels(up / rising**2)
    t, t2 = (down / falling).sum(axis=1, keepdims=True), (down / falling**2).sum(axis=1, keepdims=True)
    gradient = a * (s - t)
    diagonal = gradient - a**2 * s2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = 1 + t2 * (a**2 / diagonal).sum(axis=1, keepdims=True)
        inner = (a * gradient / diagonal).sum(axis=1, keepdims=True)
        step = -(gradient - a * t2 * inner / ratio) / diagonal
    concave = (diagonal < 0).all(axis=1) & (ratio[:, 0] > 0) & np.isfinite(step).all(axis=1)
    step = np.where(concave[:, None], step, 0.0)
    step *= LONGEST_STEP / np.maximum(np.abs(step).max(axis=1, keepdims=True), LONGEST_STEP)
    newton = np.maximum(a * np.exp(step), SMALLEST)
    before = _likelihood(steps, a, up, down)
    good = concave & (_likelihood(steps, newton, up, down) >= before - 1e-12 * np.abs(before))
    fixed = np.maximum(a * s / np.maximum(t, SMALLEST), SMALLEST)
    return np.where(good[:, None], newton, fixed)


def _likelihood(steps: Steps, a: Floats, up: Floats, down: Floats) -> Floats:
    rising = np.log(np.take(a, steps.step_label, axis=1) + steps.step_number)
    falling = np.log(a.sum(axis=1, keepdims=True) + np.arange(down.shape[1]))
    return np.asarray((up * rising).sum(axis=1) - (down * falling).sum(axis=1))


def _bounded(a: Floats) -> Floats:
    total = a.sum(axis=1, keepdims=True)
    return np.asarray(a * (np.clip(total, LEAST, MOST) / total))
