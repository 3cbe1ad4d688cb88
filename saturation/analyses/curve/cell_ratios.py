"""Fractions cell by cell, a diagnostic: does the ratio of means stand for the single splits and seeds?

The fraction of the rows is a ratio of means over cells, since single ratios have denominators of their own noise. How
far they spread shows whether one split or seed behaves unlike the others.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from saturation.analyses.curve.curves import Baseline, Curve
from saturation.analyses.curve.rows import over_under
from saturation.analyses.curve.study import Study
from saturation.results import CurveRow, Uncertainty
from saturation.typing import Floats

ONE_CELL = "there is one cell only: nothing to compare"


def cell_rows(study: Study, curve: Curve, rank: int, baseline: Baseline) -> Iterator[CurveRow]:
    """``fraction_cell_sd`` at every budget that is neither the baseline nor the ceiling itself.

    The standard deviation over cells of the ratio (l_base - l_N) / (l_base - l_ceil) of the cell; the reason holds the
    smallest, the largest and their mean.
    """
    for budget, member, base in zip(curve.budgets, curve.members, baseline.members, strict=True):
        if base is None or curve.ceiling is None or len({member, base, curve.ceiling}) < 3:
            continue
        reason = study.losses.reason(rank, member, base, curve.ceiling)
        unc = _spread(_ratios(study, curve, rank, member, base)) if reason is None else Uncertainty(None, reason=reason)
        made = study.unc(unc.estimate, reason=unc.reason)
        yield study.row(curve, study.metrics[rank], "fraction_cell_sd", made, budget=budget, baseline=baseline.name)


def _ratios(study: Study, curve: Curve, rank: int, member: int, base: int) -> Floats:
    """(cells,) the ratio of each; NaN where its denominator is 0."""
    over, under = over_under(study, curve, rank, member, base)
    cells = np.concatenate(study.losses.influence.cells, axis=1)
    used = np.flatnonzero((over != 0) | (under != 0))
    top = (over[used, None] * cells[used]).sum(axis=0)
    bottom = (under[used, None] * cells[used]).sum(axis=0)
    return np.asarray(top / np.where(bottom == 0, np.nan, bottom))


def _spread(ratios: Floats) -> Uncertainty:
    known = ratios[np.isfinite(ratios)]
    if len(ratios) < 2:
        return Uncertainty(None, reason=ONE_CELL)
    if len(known) < len(ratios):
        return Uncertainty(None, reason=f"the denominator is 0 in {len(ratios) - len(known)} of {len(ratios)} cells")
    words = f"{len(known)} cells from {known.min():.3g} to {known.max():.3g}, mean {known.mean():.3g}"
    return Uncertainty(float(known.std(ddof=1)), reason=f"{words}: a diagnostic, needs no interval")
