"""Finite mixtures of Dirichlets or of points by the EM algorithm, many fits side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from saturation.populations.dirichlet import MOST, first_shares, fit_dirichlet
from saturation.populations.laws import Laws, mixed, row_likelihoods
from saturation.populations.steps import Steps
from saturation.streams import Purpose, uniforms
from saturation.typing import Floats

Kind = Literal["dirichlet", "dirichlet_mixture", "multinomial_mixture"]
ROUNDS = 300
"""Most rounds of EM; a fit that stops there is a law like any other, only not quite the likeliest."""
TOLERANCE = 1e-5
"""EM ends where a round gains less log likelihood than this."""
STARTS = 6
CELLS_A_BLOCK = 4_000_000
INNER = 3
"""Steps of each component's own fit a round."""
EMPTY = 1.0
"""Components with fewer items than this keep their shape."""
PENALTY = 1.0
"""Keeps components of a mixture from becoming points, which few votes cannot tell from narrow Dirichlets."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Laws and the (penalised) log likelihood (...,) of the weighted votes under each, up to a constant."""

    laws: Laws
    log_likelihood: Floats


def fit_one(steps: Steps, weights: Floats, start: Laws | None = None) -> Fit:
    """One Dirichlet for each (..., rows) weights of rows."""
    first = None if start is None else concentrations(start)[..., 0, :]
    a = fit_dirichlet(steps, steps.of_steps(weights), steps.of_totals(weights), first)
    laws = _laws(np.ones((*a.shape[:-1], 1)), a[..., None, :])
    return Fit(laws, _log_likelihood(laws, steps, weights))


def fit_mixture(steps: Steps, weights: Floats, start: Laws, *, points: bool) -> Fit:
    """EM from ``start`` for each row of weights (fits, rows), its laws likewise (fits, ...).

    Parameters
    ----------
    steps
        The votes.
    weights
        (fits, rows) how many items of each row.
    start
        Laws to begin from, one a fit.
    points
        Components are points (multinomials) instead of Dirichlets.

    References
    ----------
    Dempster, Laird and Rubin 1977, J. R. Stat. Soc. B 39, 1; Lindsay 1983, Ann. Statist. 11, 86 (mixing
    distributions that are likeliest have few points).
    """
    # blocks of fits that fit in memory
    size = max(1, CELLS_A_BLOCK // (start.weights.shape[-1] * max(len(steps.cell_step), len(steps.step_label))))
    blocks = [slice(low, low + size) for low in range(0, len(weights), size)]
    parts = [_fit_block(steps, weights[one], start.take(one), points) for one in blocks]
    laws = [part.laws for part in parts]
    return Fit(
        Laws(
            np.concatenate([one.weights for one in laws]),
            np.concatenate([one.means for one in laws]),
            np.concatenate([one.spreads for one in laws]),
        ),
        np.concatenate([part.log_likelihood for part in parts]),
    )


def _fit_block(steps: Steps, weights: Floats, start: Laws, points: bool) -> Fit:
    """EM of some fits together; each ends on its own."""
    laws = replace(start, weights=start.weights.copy(), means=start.means.copy(), spreads=start.spreads.copy())
    reached = np.full(len(weights), -np.inf)
    active = np.arange(len(weights))
    for _ in range(ROUNDS):
        own = _take(laws, active)
        log_rows = row_likelihoods(own, steps)
        whole = mixed(log_rows, own.weights)
        now = _sum(weights[active], whole) + (0.0 if points else _penalty(own))
        ended = now - reached[active] < TOLERANCE
        reached[active] = now
        going = ~ended
        active = active[going]
        if len(active) == 0:
            break
        share = np.exp(log_rows[going] - whole[going, None]) * own.weights[going][..., None]
        better = _maximised(steps, weights[active][:, None] * share, _take(own, going), points)
        laws.weights[active], laws.means[active], laws.spreads[active] = better.weights, better.means, better.spreads
    score = _log_likelihood(laws, steps, weights)
    return Fit(laws, score if points else score + _penalty(laws))


def _maximised(steps: Steps, parts: Floats, before: Laws, points: bool) -> Laws:
    """The M step from parts (fits, components, rows) of the items; components without items stay as they are."""
    size = parts.sum(axis=-1)
    weights = size / size.sum(axis=-1, keepdims=True)
    up = steps.of_steps(parts)
    if points:
        means = first_shares(steps, up)
        found = Laws(weights, means, np.zeros_like(weights))
    else:
        a = fit_dirichlet(steps, up, steps.of_totals(parts), concentrations(before), iterations=INNER, penalty=PENALTY)
        found = _laws(weights, a)
    empty = size < EMPTY
    return Laws(
        weights,
        np.where(empty[..., None], before.means, found.means),
        np.where(empty, before.spreads, found.spreads),
    )


def starts(steps: Steps, base: Laws, components: int, seed: int, *, points: bool) -> Laws:
    """Several laws (``STARTS``, components, used) to begin from: the votes of random items, pulled to the pooled mean.

    ``base`` is one Dirichlet, (1, 1, used) means.
    """
    n_items = len(steps.item_row)
    streams = np.arange(STARTS)[:, None]
    chance = uniforms(seed, Purpose.POPULATION, streams + 1000 * components, np.arange(components))
    row = steps.item_row[(chance * n_items).astype(np.int64)]
    votes = steps.rows[row] / steps.totals[row][..., None]
    means = (votes + base.means[0, 0]) / 2
    spread = np.zeros(row.shape) if points else np.full(row.shape, max(float(base.spreads[0, 0]) / 2, 1e-3))
    return Laws(np.full(row.shape, 1.0 / components), means, spread)


def concentrations(laws: Laws) -> Floats:
    """(..., components, labels) a = A pi, points at the largest A that a fit may have."""
    return np.asarray(laws.means / np.maximum(laws.spreads, 1 / MOST)[..., None])


def _laws(weights: Floats, a: Floats) -> Laws:
    total = a.sum(axis=-1)
    return Laws(weights, a / total[..., None], np.where(total >= MOST * (1 - 1e-9), 0.0, 1 / total))


def _penalty(laws: Laws) -> Floats:
    """(fits,) sum over components of ln rho + ln(1 - rho), where rho = 1/(1 + A)."""
    spread = np.maximum(laws.spreads, 1 / MOST)
    return np.asarray(PENALTY * (np.log(spread) - 2 * np.log1p(spread)).sum(axis=-1))


def _take(laws: Laws, which: np.ndarray[tuple[int], np.dtype[np.int64 | np.bool_]]) -> Laws:
    return Laws(laws.weights[which], laws.means[which], laws.spreads[which])


def _log_likelihood(laws: Laws, steps: Steps, weights: Floats) -> Floats:
    return _sum(weights, mixed(row_likelihoods(laws, steps), laws.weights))


def _sum(weights: Floats, values: Floats) -> Floats:
    """Weighted sums over rows; a row without weight does not matter, were it impossible."""
    return np.asarray((weights * np.where(weights > 0, values, 0.0)).sum(axis=-1))
