"""The mean of paired differences in a crossed mixed model: items and cells (training runs) are both random.

d_ic = mean + item_i + cell_c + rest_ic. Balanced (every cell has every item): two-way analysis of variance with
Satterthwaite's degrees of freedom, which gives the mixed model's estimate and cannot fail to converge. Unbalanced:
restricted maximum likelihood, written for many items and few cells, so that its cost grows with the items and not with
their cube; the same model as statsmodels' ``MixedLM`` with two variance components.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from saturation.resampling.paired import Paired, t_test, undefined
from saturation.typing import Floats, Ints

ONE_CELL = "one training run only: the mixed model needs at least two"
NOT_CONVERGED = "the mixed model's restricted likelihood has no maximum that the search could find"
_AT_ZERO = 1e-8
"""A variance below this part of the rest's variance sits at its boundary, 0."""
_STEP = 1e-3
_BOUNDS = [(-25.0, 12.0)] * 2
"""Logarithms of the two variance ratios; the likelihood is flat towards a variance of 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Differences of items in cells, in long form.

    Attributes
    ----------
    values
        (observations,)
    item, cell
        (observations,) codes 0, 1, ...
    """

    values: Floats
    item: Ints
    cell: Ints

    @property
    def is_balanced(self) -> bool:
        """Whether every cell has every item once."""
        return len(self.values) == (int(self.item.max()) + 1) * (int(self.cell.max()) + 1)


def mixed_model(data: Cells, level: float = 0.95) -> Paired:
    """Test of the mean difference with random items and random cells.

    Parameters
    ----------
    data
        Each (item, cell) at most once.
    level
        Nominal coverage.

    Examples
    --------
    >>> table = np.array([[1.0, 2.0], [2.0, 3.5], [3.0, 4.0], [2.5, 3.0]])  # 4 items in 2 cells
    >>> long = Cells(table.ravel(), np.repeat(np.arange(4), 2), np.tile(np.arange(2), 4))
    >>> test = mixed_model(long)
    >>> test.estimate, round(test.se, 4)  # mean squares 1.375, 2 and 1/12: sqrt((1.375 + 2 - 1/12) / 8)
    (2.625, 0.6415)
    """
    if int(data.cell.max()) < 1:
        return undefined(ONE_CELL, float(data.values.mean()))
    if int(data.item.max()) < 1:
        return undefined("one item only: no spread over items", float(data.values.mean()))
    if data.values.min() == data.values.max():
        return t_test(float(data.values[0]), 0.0, int(data.item.max()), level)
    if data.is_balanced:
        order = np.lexsort((data.cell, data.item))
        return two_way(data.values[order].reshape(int(data.item.max()) + 1, -1), level)
    return restricted_likelihood(data, level)


def two_way(table: Floats, level: float = 0.95) -> Paired:
    """Mean of a balanced two-way table with random rows and columns.

    Var(mean) = (MS_items + MS_cells - MS_rest) / (I C), but where a mean square falls below that of the rest its
    variance is 0 and it is pooled with the rest, as restricted maximum likelihood does; df by Satterthwaite (1946),
    never fewer than the term with the fewest.

    Parameters
    ----------
    table
        (items, cells)

    Notes
    -----
    Satterthwaite's df are themselves estimated. With two or three cells that differ more than their items let them, a
    true null is rejected too often: 8% with 100 items, 3 cells and a standard deviation between cells of .5 beside 1
    of the items and 1 of the rest, 12% with 2 cells; 4 to 6% at .1 and from 5 cells on.
    """
    n_items, n_cells = table.shape
    mean = float(table.mean())
    of_item, of_cell = table.mean(axis=1) - mean, table.mean(axis=0) - mean
    rest = table - mean - of_item[:, None] - of_cell
    squares = [n_cells * float((of_item**2).sum()), n_items * float((of_cell**2).sum()), float((rest**2).sum())]
    df = [n_items - 1, n_cells - 1, (n_items - 1) * (n_cells - 1)]
    return _from_mean_squares(mean, squares, df, n_items * n_cells, level)


def _from_mean_squares(mean: float, squares: list[float], df: list[int], size: int, level: float) -> Paired:
    """Pool what falls below the rest (cells first), then combine: V = (sum of the others - (k - 1) rest) / size."""
    kept = {"items": (squares[0], df[0]), "cells": (squares[1], df[1])}
    rest, rest_df = squares[2], df[2]
    for _ in range(2):
        below = {name: s / d for name, (s, d) in kept.items() if s / d < rest / rest_df}
        if not below:
            break
        lowest = min(below, key=lambda name: below[name])
        rest, rest_df = rest + kept[lowest][0], rest_df + kept[lowest][1]
        del kept[lowest]
    terms = [(s / d, d) for s, d in kept.values()] if kept else [(rest / rest_df, rest_df)]
    if len(terms) == 2:
        terms.append((-rest / rest_df, rest_df))
    whole = sum(term for term, _ in terms)
    satterthwaite = whole**2 / sum(term**2 / d for term, d in terms)
    return t_test(mean, (whole / size) ** 0.5, max(satterthwaite, min(d for _, d in terms)), level)


def restricted_likelihood(data: Cells, level: float = 0.95) -> Paired:
    """Mean of an unbalanced two-way table with random rows and columns, by restricted maximum likelihood.

    df by Satterthwaite: 2 V^2 / (g' A g), g the gradient of V = Var(mean) by the variances and A their covariance,
    the inverse of the restricted likelihood's curvature; variances at their boundary 0 are held there.
    """
    from scipy import optimize

    scale = float(data.values.std())
    scaled = Cells(data.values / scale, data.item, data.cell)

    def deviance(log_ratios: Floats) -> float:
        return _profile(scaled, np.exp(log_ratios))[0]

    starts = [np.log(np.array(start)) for start in ((1.0, 0.1), (0.01, 0.01))]
    fits = [
        optimize.minimize(
            deviance, start, method="Nelder-Mead", bounds=_BOUNDS, options={"xatol": 1e-5, "fatol": 1e-10}
        )
        for start in starts
    ]
    fits = [fit for fit in fits if fit.success and np.isfinite(fit.fun)]
    if not fits:
        return undefined(NOT_CONVERGED, None)
    best = min(fits, key=lambda fit: float(fit.fun))
    ratios = np.exp(best.x)
    _, mean, error = _profile(scaled, ratios)
    variances = np.array([ratios[0] * error, ratios[1] * error, error])
    df = _satterthwaite(scaled, variances)
    if df is None:
        return undefined(NOT_CONVERGED, mean * scale)
    _, variance = mean_and_variance(scaled, variances)
    return t_test(mean * scale, variance**0.5 * scale, df, level)


def _profile(data: Cells, ratios: Floats) -> tuple[float, float, float]:
    """Restricted deviance at variance ratios (items, cells) to the rest, with the mean and the rest's variance."""
    log_det, ones, cross, square = _forms(data, ratios)
    mean = cross / ones
    residual = square - cross * mean
    n = len(data.values)
    error = residual / (n - 1)
    return float(log_det + np.log(ones) + (n - 1) * np.log(error)), mean, error


def _forms(data: Cells, ratios: Floats) -> tuple[float, float, float, float]:
    """With W = I + items + cells in units of the rest: log det W, 1'W^-1 1, 1'W^-1 y, y'W^-1 y.

    Items are eliminated one by one (their part of W is block diagonal), which leaves a matrix of the cells' size.
    """
    of_item, of_cell = float(ratios[0]), float(ratios[1])
    n_items, n_cells = int(data.item.max()) + 1, int(data.cell.max()) + 1
    seen = np.bincount(data.item, minlength=n_items).astype(np.float64)
    shrink = of_item / (1 + of_item * seen)  # (I + r 11')^-1 = I - shrink 11'
    member = np.zeros((n_items, n_cells))
    member[data.item, data.cell] = 1.0
    total = np.bincount(data.item, data.values, minlength=n_items)
    of_cells = np.bincount(data.cell, data.values, minlength=n_cells)
    inner_ones = float((seen - shrink * seen**2).sum())
    inner_cross = float((total - shrink * seen * total).sum())
    inner_square = float((data.values**2).sum() - (shrink * total**2).sum())
    ones_cells = (member * (1 - shrink * seen)[:, None]).sum(axis=0)
    values_cells = of_cells - (member * (shrink * total)[:, None]).sum(axis=0)
    middle = np.diag(member.sum(axis=0)) - np.stack(
        [(member * (shrink * col)[:, None]).sum(axis=0) for col in member.T]
    )
    inside = np.eye(n_cells) + of_cell * middle
    solved = np.linalg.solve(inside, of_cell * np.stack([ones_cells, values_cells], axis=1))
    log_det = float(np.log1p(of_item * seen).sum() + np.linalg.slogdet(inside)[1])
    return (
        log_det,
        inner_ones - float((ones_cells * solved[:, 0]).sum()),
        inner_cross - float((ones_cells * solved[:, 1]).sum()),
        inner_square - float((values_cells * solved[:, 1]).sum()),
    )


def restricted_deviance(data: Cells, variances: Floats) -> float:
    """Restricted deviance at the variances of items, cells and the rest."""
    error = float(variances[2])
    log_det, ones, cross, square = _forms(data, variances[:2] / error)
    n = len(data.values)
    return float(log_det + np.log(ones) + (n - 1) * np.log(error) + (square - cross**2 / ones) / error)


def mean_and_variance(data: Cells, variances: Floats) -> tuple[float, float]:
    """The generalised least squares mean and its variance at the variances of items, cells and the rest."""
    error = float(variances[2])
    _, ones, cross, _ = _forms(data, variances[:2] / error)
    return cross / ones, error / ones


def _satterthwaite(data: Cells, variances: Floats) -> float | None:
    """Degrees of freedom of the mean's variance; None where the likelihood is not curved downwards."""
    free = [i for i in range(3) if variances[i] > _AT_ZERO * variances[2]]
    fixed = np.where(np.isin(np.arange(3), free), variances, 0.0)

    def at(shift: Floats) -> Floats:
        moved = fixed.copy()
        moved[free] *= np.exp(shift)
        return moved

    steps = np.eye(len(free)) * _STEP
    gradient = np.array(
        [(mean_and_variance(data, at(s))[1] - mean_and_variance(data, at(-s))[1]) / (2 * _STEP) for s in steps]
    )
    curvature = np.array(
        [[_second(lambda s: restricted_deviance(data, at(s)), one, other) for other in steps] for one in steps]
    )
    if not np.isfinite(curvature).all() or np.linalg.eigvalsh(curvature)[0] <= 0:
        return None
    spread = float((gradient * np.linalg.solve(curvature / 2, gradient)).sum())
    whole = mean_and_variance(data, fixed)[1]
    return max(2 * whole**2 / spread, 1.0) if spread > 0 else None


def _second(function: Callable[[Floats], float], one: Floats, other: Floats) -> float:
    """Mixed second difference of a function around 0."""
    corners = (one + other, one - other, other - one, -one - other)
    first, *middle, last = (function(corner) for corner in corners)
    return (first - sum(middle) + last) / (4 * _STEP**2)
