"""Vote counts as steps: a label's first, second, third ... vote on an item, which is all a Dirichlet law looks at.

The probability of counts c under a Dirichlet with concentration a is a ratio of rising factorials, so that its
logarithm is a sum over steps, sum_k sum_{j < c_k} ln(a_k + j) - sum_{j < n} ln(A + j). Items with equal counts share
a row, and weights of rows (resamples, folds, responsibilities of components) only weigh the same steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.typing import Counts, Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Distinct rows of counts, and how they are made of steps (label, j), j = 0, 1, ... below the largest count.

    Attributes
    ----------
    rows
        (rows, used) distinct counts of the labels with any vote.
    labels
        (used,) which labels those are.
    totals
        (rows,) votes of each row.
    item_row
        (items with votes,) row of each.
    voted
        (items with votes,) which of the given items those are.
    step_label, step_number
        (steps,) label (among those used) and j of each step, label by label.
    cell_step, row_start
        (cells,) last step of each positive count, row by row; where rows begin.
    row_by_step, met_steps, step_start
        (cells,) row of each positive count, by last step; the steps that are last somewhere; where each begins.
    row_by_total, met_totals, total_start
        (rows,) rows by their votes; the numbers of votes less one that occur; where each begins.
    """

    rows: Ints
    labels: Ints
    totals: Ints
    item_row: Ints
    voted: Ints
    step_label: Ints
    step_number: Ints
    cell_step: Ints
    row_start: Ints
    row_by_step: Ints
    met_steps: Ints
    step_start: Ints
    row_by_total: Ints
    met_totals: Ints
    total_start: Ints

    @property
    def weights(self) -> Floats:
        """(rows,) items of each row."""
        return np.bincount(self.item_row, minlength=len(self.totals)).astype(np.float64)

    @property
    def label_start(self) -> Ints:
        """(used,) the step j = 0 of each label."""
        return np.flatnonzero(self.step_number == 0)

    def of_steps(self, weights: Floats) -> Floats:
        """Weights (..., rows) of rows -> (..., steps): items whose label has more than j votes."""
        last = np.zeros((*weights.shape[:-1], len(self.step_label)))
        last[..., self.met_steps] = _sums(weights, self.row_by_step, self.step_start)
        return _at_least(self._by_label(last)).reshape(last.shape)

    def of_totals(self, weights: Floats) -> Floats:
        """Weights (..., rows) of rows -> (..., most votes): items with more than j votes."""
        last = np.zeros((*weights.shape[:-1], int(self.totals.max(initial=0))))
        last[..., self.met_totals] = _sums(weights, self.row_by_total, self.total_start)
        return _at_least(last)

    def of_labels(self, values: Floats) -> Floats:
        """Values (..., steps) added up by label (..., used)."""
        return np.asarray(self._by_label(values).sum(axis=-1))

    def of_rows(self, step_values: Floats, total_values: Floats) -> Floats:
        """Values of steps (..., steps) and of votes (..., most votes) -> their difference by row (..., rows)."""
        up = np.cumsum(self._by_label(step_values), axis=-1).reshape(step_values.shape)
        down = np.cumsum(total_values, axis=-1)
        whole = np.add.reduceat(np.take(up, self.cell_step, axis=-1), self.row_start, axis=-1)
        return np.asarray(whole - np.take(down, self.totals - 1, axis=-1))

    def _by_label(self, values: Floats) -> Floats:
        return values.reshape(*values.shape[:-1], len(self.labels), -1)


def steps_of(counts: Counts) -> Steps:
    """Take counts (items, labels) apart; items without votes are left out.

    Examples
    --------
    >>> steps = steps_of(np.array([[2, 1], [2, 1], [0, 1]]))
    >>> steps.weights.tolist(), steps.of_steps(steps.weights).tolist()  # label 0: 2 items, 2 items; label 1: 3, 0
    ([1.0, 2.0], [2.0, 2.0, 3.0, 0.0])
    """
    given = np.asarray(counts, dtype=np.int64)
    voted = np.flatnonzero(given.sum(axis=1) > 0)
    labels = np.flatnonzero(given.sum(axis=0) > 0)
    rows, item_row = np.unique(given[np.ix_(voted, labels)], axis=0, return_inverse=True)
    totals, most = rows.sum(axis=1), int(rows.max(initial=0))
    row, label = np.nonzero(rows)
    cell_step = label * most + rows[row, label] - 1
    by_step, by_total = np.argsort(cell_step, kind="stable"), np.argsort(totals, kind="stable")
    step_start, total_start = _starts(cell_step[by_step]), _starts(totals[by_total])
    return Steps(
        rows=rows,
        labels=labels,
        totals=totals,
        item_row=item_row.reshape(-1),
        voted=voted,
        step_label=np.repeat(np.arange(len(labels)), most),
        step_number=np.tile(np.arange(most), len(labels)),
        cell_step=cell_step,
        row_start=_starts(row),
        row_by_step=row[by_step],
        met_steps=cell_step[by_step][step_start],
        step_start=step_start,
        row_by_total=by_total,
        met_totals=totals[by_total][total_start] - 1,
        total_start=total_start,
    )


def _starts(sorted_codes: Ints) -> Ints:
    return np.flatnonzero(np.diff(sorted_codes, prepend=-1))


def _sums(weights: Floats, rows: Ints, starts: Ints) -> Floats:
    return np.asarray(np.add.reduceat(np.take(weights, rows, axis=-1), starts, axis=-1))


def _at_least(last: Floats) -> Floats:
    """Numbers of items whose last step it is -> of those that reach it."""
    return np.ascontiguousarray(np.cumsum(last[..., ::-1], axis=-1)[..., ::-1])
