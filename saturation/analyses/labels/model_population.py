"""Expected metrics of N votes against an item's own distribution under a law of items, for sums over labels.

A label's share x is Beta under every component, and given x its count among N votes is binomial, whatever the law. So
the expected term F(x) is a table over fixed nodes of x, made once, averaged with the density of each Beta.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import betainc, betaln, gammaln

from saturation.populations.laws import Laws
from saturation.resampling.exact_moments import Additive
from saturation.typing import Floats, Ints

CELLS_A_BLOCK = 4_000_000
REACH, PANEL, NODES = 40.0, 0.125, 8
"""Gauss-Legendre nodes of ln(x/(1-x)) on panels; what lies beyond is at 0 or 1 to 17 digits."""
NARROW = 1e-3
"""Components of smaller spread 1/A are averaged at three points of the same mean and variance."""


def population_means(laws: Laws, budget: int, statistics: Sequence[Additive]) -> Floats:
    """Expected statistics of ``budget`` votes against the distribution they are drawn from.

    Accurate to about 1e-5 of the value (terms with a kink), mostly far better.

    Parameters
    ----------
    laws
        Of shape (laws, ...).
    budget
        N.
    statistics
        All over labels, or all over cumulative shares.

    Returns
    -------
    (statistics, laws), infinite where a term is infinite at counts that can occur.

    Examples
    --------
    Brier is E (1 - sum p^2) / N; uniform shares of two labels: (1 - 2/3)/4.

    >>> laws = Laws(np.ones((1, 1)), np.array([[[0.5, 0.5]]]), np.array([[0.5]]))
    >>> float(population_means(laws, 4, [Additive(lambda m, h: (m - h) ** 2)])[0, 0].round(9))
    0.083333333
    """
    cumulative, n_labels = statistics[0].cumulative, laws.means.shape[-1]
    means = np.minimum(laws.means.cumsum(axis=-1)[..., :-1], 1.0) if cumulative else laws.means
    logits, widths = _nodes()
    log_x = np.stack([-np.logaddexp(0.0, -logits), -np.logaddexp(0.0, logits)])
    slots = range(means.shape[-1] if cumulative else 1)
    tables = np.stack([[_terms(one, log_x, budget, n_labels, slot) for slot in slots] for one in statistics])
    ends = np.array([[-np.inf, 0.0], [0.0, -np.inf]])
    at_ends = np.stack([[_terms(one, ends, budget, n_labels, slot) for slot in slots] for one in statistics])
    found = np.empty((len(statistics), len(means)))
    size = max(1, CELLS_A_BLOCK // (means[0].size * len(logits)))
    for low in range(0, len(means), size):
        part = slice(low, low + size)
        spreads = np.broadcast_to(laws.spreads[part][..., None], means[part].shape)
        mass, low_end, high_end = _mass(means[part], spreads, log_x, widths)
        for index, one in enumerate(statistics):
            values = _product(mass, tables[index]).sum(axis=-1)
            values = values + _product(low_end, at_ends[index][:, 0]) + _product(high_end, at_ends[index][:, 1])
            narrow = spreads < NARROW
            if narrow.any():
                slot = np.broadcast_to(np.arange(means.shape[-1]), narrow.shape)[narrow]
                values[narrow] = _narrow(one, means[part][narrow], spreads[narrow], budget, n_labels, slot)
            found[index, part] = (laws.weights[part] * values.sum(axis=-1)).sum(axis=-1)
    return found


def _nodes() -> tuple[Floats, Floats]:
    """Nodes of ln(x/(1-x)) and their widths."""
    at, weight = np.polynomial.legendre.leggauss(NODES)
    left = np.arange(-REACH, REACH, PANEL)[:, None]
    return (left + PANEL * (at + 1) / 2).ravel(), np.tile(weight * PANEL / 2, len(left))


def _terms(statistic: Additive, log_x: Floats, budget: int, n_labels: int, slot: int) -> Floats:
    """(nodes,) expected term over the binomial count at each share, from ln x and ln(1 - x) (2, nodes)."""
    n = np.arange(budget + 1)
    choose = gammaln(budget + 1.0) - gammaln(n + 1.0) - gammaln(budget - n + 1.0)
    with np.errstate(invalid="ignore"):  # 0 times minus infinity
        up = np.where(n > 0, n * log_x[0][:, None], 0.0)
        down = np.where(n < budget, (budget - n) * log_x[1][:, None], 0.0)
    law = np.exp(choose + up + down)
    share = (n + statistic.alpha * (slot + 1)) / (budget + n_labels * statistic.alpha)
    human = np.broadcast_to(np.exp(log_x[0])[:, None], law.shape)
    return np.asarray(_product(law, statistic.function(np.broadcast_to(share, law.shape), human)).sum(axis=1))


def _product(law: Floats, values: Floats) -> Floats:
    """Products that are 0 where the law is, were the value infinite."""
    return np.asarray(np.where(law > 0, law * np.where(law > 0, values, 0.0), 0.0))


def _mass(means: Floats, spreads: Floats, log_x: Floats, widths: Floats) -> tuple[Floats, Floats, Floats]:
    """Probability (..., nodes) near each node of every Beta, and (...,) below and above all of them."""
    wide = np.maximum(spreads, NARROW)
    a, b = means / wide, np.maximum(1.0 - means, 0.0) / wide
    inside = (a > 0) & (b > 0)
    a, b = np.where(inside, a, 1.0), np.where(inside, b, 1.0)
    log_density = a[..., None] * log_x[0] + b[..., None] * log_x[1] - betaln(a, b)[..., None]
    edge = float(np.exp(-np.logaddexp(0.0, REACH)))
    mass = np.where(inside[..., None], np.exp(log_density) * widths, 0.0)
    low = np.where(inside, betainc(a, b, edge), means <= 0)
    high = np.where(inside, betainc(b, a, edge), means > 0)
    return mass, low, high


def _narrow(  # noqa: PLR0917
    statistic: Additive, means: Floats, spreads: Floats, budget: int, n_labels: int, slot: Ints
) -> Floats:
    """Three points with weights 1/6, 2/3, 1/6, which have the first five moments of a normal law."""
    reach = np.sqrt(3 * means * (1 - means) * spreads / (1 + spreads))
    total = np.zeros(len(means))
    for sign, weight in ((-1, 1 / 6), (0, 2 / 3), (1, 1 / 6)):
        x = np.clip(means + sign * reach, 0.0, 1.0)
        with np.errstate(divide="ignore"):
            log_x = np.stack([np.log(x), np.log1p(-x)])
        if statistic.cumulative:
            for one in np.unique(slot):
                mine = slot == one
                total[mine] += weight * _terms(statistic, log_x[:, mine], budget, n_labels, int(one))
        else:
            total += weight * _terms(statistic, log_x, budget, n_labels, 0)
    return total
