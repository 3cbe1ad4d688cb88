"""Rows of probabilities: recognise other scales, refuse what does not sum to 1, renormalise 32-bit rounding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from saturation.tables.findings import Findings, option
from saturation.tables.schema import ROUNDING, SIMPLEX_TOLERANCE
from saturation.typing import Floats

if TYPE_CHECKING:
    import polars as pl


def check_simplex(found: Findings, frame: pl.DataFrame, labels: Sequence[str]) -> Floats:
    """Note every row that is no distribution; returns (rows, labels) as they are, NaN where missing."""
    columns = ["p_" + label for label in labels]
    values = matrix(frame, columns)
    values[np.isinf(values)] = np.nan
    extra = _extra_column(values)
    if extra is not None:
        message = f"without column {columns[extra]!r} the rows sum to 1, so it is no label"
        found.add("L02", f"{message}; rename it or pass {option('labels')}")
        return values
    scale = _other_scale(values)
    if scale is not None:
        found.add("P03", f"the columns {columns[0]} ... {columns[-1]} hold {scale}")
        return values
    with np.errstate(invalid="ignore"):
        outside = ~((values >= 0) & (values <= 1 + SIMPLEX_TOLERANCE))
        sums = values.sum(axis=1)
    bad = outside.any(axis=1)
    first = outside.argmax(axis=1)
    rows = np.flatnonzero(bad)
    found.add_rows("P01", frame[rows], [_improper(columns[first[row]], values[row, first[row]]) for row in rows])
    rows = np.flatnonzero(~bad & ~(np.abs(sums - 1) <= SIMPLEX_TOLERANCE))
    found.add_rows("P02", frame[rows], [f"the probabilities sum to {sums[row]:.9g}, not 1" for row in rows])
    return values


def renormalise(values: Floats) -> tuple[Floats, int]:
    """Divide rows by their sum where it differs from 1 by more than float64 rounding; returns how many were.

    Examples
    --------
    >>> import numpy as np
    >>> renormalise(np.array([[0.25, 0.75], [0.25, 0.75 + 5e-7]]))[1]
    1
    """
    sums = values.sum(axis=1)
    touched = np.abs(sums - 1) > ROUNDING
    values[touched] /= sums[touched, None]
    return values, int(touched.sum())


def matrix(frame: pl.DataFrame, columns: Sequence[str]) -> Floats:
    """(rows, columns) in C order, so that sums do not depend on how the frame was laid out."""
    values = np.empty((len(frame), len(columns)))
    for index, name in enumerate(columns):
        values[:, index] = frame[name].to_numpy()
    return values


def _extra_column(values: Floats) -> int | None:
    """The column without which most rows become distributions, such as ``p_value``."""
    sums = values.sum(axis=1)
    if values.shape[1] < 3 or np.mean(np.abs(sums - 1) <= SIMPLEX_TOLERANCE) > 0.5:
        return None
    for column in range(values.shape[1]):
        rest = np.delete(values, column, axis=1)
        good = (np.abs(rest.sum(axis=1) - 1) <= SIMPLEX_TOLERANCE) & (rest >= 0).all(axis=1)
        if good.mean() > 0.5 and values[:, column].any():
            return column
    return None


def _improper(column: str, value: float) -> str:
    shown = f"{value:.6g}" if np.isfinite(value) else "empty or not finite"
    return f"{column} is {shown}, not a probability"


def _other_scale(values: Floats) -> str | None:
    """What the rows are instead of probabilities, if most of them are something else."""
    finite = values[np.isfinite(values).all(axis=1)]
    if not len(finite):
        return None
    sums = finite.sum(axis=1)
    good = (np.abs(sums - 1) <= 1e-2) & (finite >= 0).all(axis=1)
    if good.mean() > 0.5:
        return None
    low, high = float(finite.min()), float(finite.max())
    if high <= 0 and np.mean(np.abs(np.exp(finite).sum(axis=1) - 1) < 1e-2) > 0.5:
        return "log-probabilities; write exp of them"
    if low >= 0 and np.mean(np.abs(sums - 100) < 1.5) > 0.5:
        return "percentages; divide by 100"
    if low < 0 or high > 1:
        spread = f"values from {low:.3g} to {high:.3g}"
        return f"logits ({spread}); take the softmax, and name the logits z_<label>"
    return None
