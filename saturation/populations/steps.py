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
    """Distinct rows of counts, taken apart into steps.

    Attributes
    ----------
    labels
        (used,) labels with any vote; only those are kept.
    totals
        (rows,) votes of each distinct row.
    item_row
        (items,) row of each item with votes.
    voted
        (items,) which of the given items those are.
    step_of_entry, row_start
        (entries,) step of each vote, row by row; where rows begin.
    step_label, step_number, label_start
        (steps,) label (among those used) and number j of each distinct step, label by label; where labels begin.
    row_by_step, step_start
        (entries,) row of each vote, step by step; where steps begin.
    row_by_total, total_start
        (entries,) row of each vote by its number among all votes of its item; where numbers begin.
    """

    labels: Ints
    totals: Ints
    item_row: Ints
    voted: Ints
    step_of_entry: Ints
    row_start: Ints
    step_label: Ints
    step_number: Ints
    label_start: Ints
    row_by_step: Ints
    step_start: Ints
    row_by_total: Ints
    total_start: Ints

    @property
    def weights(self) -> Floats:
        """(rows,) items of each row."""
        return np.bincount(self.item_row, minlength=len(self.totals)).astype(np.float64)

    def of_steps(self, weights: Floats) -> Floats:
        """Weights (..., rows) of rows -> (..., steps): items whose label has more than j votes."""
        return _sums(weights, self.row_by_step, self.step_start)

    def of_totals(self, weights: Floats) -> Floats:
        """Weights (..., rows) of rows -> (..., most votes): items with more than j votes."""
        return _sums(weights, self.row_by_total, self.total_start)

    def of_labels(self, values: Floats) -> Floats:
        """Values (..., steps) added up by label (..., used)."""
        return np.asarray(np.add.reduceat(values, self.label_start, axis=-1))

    def of_rows(self, step_values: Floats, total_values: Floats) -> Floats:
        """Values of steps (..., steps) and of votes (..., most votes) -> their difference by row (..., rows)."""
        up = np.add.reduceat(np.take(step_values, self.step_of_entry, axis=-1), self.row_start, axis=-1)
        down = np.cumsum(total_values, axis=-1)
        return np.asarray(up - np.take(down, self.totals - 1, axis=-1))


def steps_of(counts: Counts) -> Steps:
    """Take counts (items, labels) apart; items without votes are left out.

    Examples
    --------
    >>> steps = steps_of(np.array([[2, 1], [2, 1], [0, 1]]))
    >>> steps.weights.tolist(), steps.of_steps(steps.weights).tolist()  # label 0: 2 items, 2 items; label 1: all 3
    ([1.0, 2.0], [2.0, 2.0, 3.0])
    """
    given = np.asarray(counts, dtype=np.int64)
    voted = np.flatnonzero(given.sum(axis=1) > 0)
    labels = np.flatnonzero(given.sum(axis=0) > 0)
    rows, item_row = np.unique(given[np.ix_(voted, labels)], axis=0, return_inverse=True)
    row, label, number = _entries(rows)
    order = np.lexsort((row, number, label))
    code = label[order] * (rows.max(initial=0) + 1) + number[order]
    first = np.diff(code, prepend=-1) > 0
    step_of_entry = np.empty(len(row), dtype=np.int64)
    step_of_entry[order] = np.cumsum(first) - 1
    of_total = _numbers(rows.sum(axis=1))
    by_total = np.lexsort((row, of_total))
    step_label = label[order][first]
    return Steps(
        labels=labels,
        totals=rows.sum(axis=1),
        item_row=item_row.reshape(-1),
        voted=voted,
        step_of_entry=step_of_entry,
        row_start=_starts(row),
        step_label=step_label,
        step_number=number[order][first],
        label_start=_starts(step_label),
        row_by_step=row[order],
        step_start=np.flatnonzero(first),
        row_by_total=row[by_total],
        total_start=_starts(of_total[by_total]),
    )


def _entries(rows: Ints) -> tuple[Ints, Ints, Ints]:
    """Row, label and number j of every vote, in the order of rows and labels."""
    row, label = np.nonzero(rows)
    count = rows[row, label]
    return np.repeat(row, count), np.repeat(label, count), _numbers(count)


def _numbers(sizes: Ints) -> Ints:
    """0, 1, ... within each group of the given sizes."""
    return np.asarray(np.arange(sizes.sum()) - np.repeat(sizes.cumsum() - sizes, sizes))


def _starts(sorted_codes: Ints) -> Ints:
    return np.flatnonzero(np.diff(sorted_codes, prepend=-1))


def _sums(weights: Floats, rows: Ints, starts: Ints) -> Floats:
    return np.asarray(np.add.reduceat(np.take(weights, rows, axis=-1), starts, axis=-1))
