"""Expected metrics of N votes against R others under a law of items, without Monte Carlo, for sums over labels.

Given that a label has s of the N + R votes of an item, its count among the N is hypergeometric, whatever the law; the
law only says how likely s is. So a metric that adds up a term over labels is a table over s, made once, averaged with
beta-binomial probabilities: E = sum_g w_g sum_k sum_s BB(s; N + R, pi_gk, A_g) table(s).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saturation.populations.laws import Laws, beta_binomial
from saturation.resampling.exact_laws import marginal
from saturation.resampling.exact_moments import Additive
from saturation.typing import Floats

CELLS_A_BLOCK = 4_000_000


def law_means(laws: Laws, budget: int, reference_size: int, statistics: Sequence[Additive]) -> Floats:
    """Expected statistics of ``budget`` votes against ``reference_size`` others of the same item.

    Parameters
    ----------
    laws
        Of shape (laws, ...).
    budget, reference_size
        N and R.
    statistics
        All over labels, or all over cumulative shares.

    Returns
    -------
    (statistics, laws), infinite or NaN where a term is not finite at counts that can occur.

    Examples
    --------
    Brier is E (1 - sum p^2) (1/N + 1/R); uniform shares of two labels: 1 - 2/3.

    >>> laws = Laws(np.ones((1, 1)), np.array([[[0.5, 0.5]]]), np.array([[0.5]]))
    >>> squares = Additive(lambda m, h: (m - h) ** 2)
    >>> float(law_means(laws, 2, 5, [squares])[0, 0].round(12))  # 1/3 x (1/2 + 1/5)
    0.233333333333
    """
    n_labels = laws.means.shape[-1]
    n_slots = n_labels - 1 if statistics[0].cumulative else 1
    tables = split_tables(budget, reference_size, statistics, n_labels, max(n_slots, 1))
    cells = laws.means[0].size * (budget + reference_size + 1)
    size = max(1, CELLS_A_BLOCK // cells)
    parts = [
        _average(laws.take(slice(low, low + size)), tables, statistics[0].cumulative)
        for low in range(0, len(laws.weights), size)
    ]
    return np.concatenate(parts, axis=1)


def split_tables(
    budget: int, reference_size: int, statistics: Sequence[Additive], n_labels: int, n_slots: int
) -> Floats:
    """(statistics, slots, N + R + 1) expected term given that s of the N + R votes are for the label (or below it)."""
    both = budget + reference_size
    s = np.arange(both + 1)[:, None]
    drawn = np.arange(budget + 1)
    possible = (drawn <= s) & (s - drawn <= reference_size)
    law = marginal(np.full(both + 1, both), np.arange(both + 1), budget, replace=False)
    rest = np.clip(s - drawn, 0, reference_size)
    tables = np.empty((len(statistics), n_slots, both + 1))
    for table, one in zip(tables, statistics, strict=True):
        for slot in range(n_slots):
            share = (drawn + one.alpha * (slot + 1)) / (budget + n_labels * one.alpha)
            other = (rest + one.reference_alpha * (slot + 1)) / (reference_size + n_labels * one.reference_alpha)
            terms = one.function(np.broadcast_to(share, rest.shape), other)
            table[slot] = (law * np.where(possible, terms, 0.0)).sum(axis=1)
    return tables


def _average(laws: Laws, tables: Floats, cumulative: bool) -> Floats:
    """(statistics, laws)"""
    means = np.minimum(laws.means.cumsum(axis=-1)[..., :-1], 1.0) if cumulative else laws.means
    votes = tables.shape[-1] - 1
    law = beta_binomial(means, laws.spreads[..., None], votes)
    found = np.empty((len(tables), len(laws.weights)))
    for one, table in zip(found, tables, strict=True):
        values = np.where(law > 0, law * np.where(law > 0, table, 0.0), 0.0).sum(axis=-1)
        one[:] = (laws.weights * values.sum(axis=-1)).sum(axis=-1)
    return found
