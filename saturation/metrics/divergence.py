"""Divergences with logarithms, in nats: KL in both directions, cross-entropy, Jensen-Shannon.

Each ``*_term`` is one label's share of the metric, for exact expectations over vote counts; terms know no floor.
"""

from __future__ import annotations

import numpy as np
from scipy.special import rel_entr, xlogy

from saturation.metrics.common import Smooth, in_base, raised, shares
from saturation.typing import Counts, Floats, Probs, Scores

DEFAULT_FLOOR = 1e-15


def kl(probs: Probs, counts: Counts, *, floor: float = DEFAULT_FLOOR, base: float | None = None) -> Scores:
    """KL(human to model) = sum over labels with votes of h ln(h / m); lower is better, order 2, range [0, inf).

    Model probabilities below ``floor`` are raised to it and those rows renormalised, as in the official ChaosNLI
    scorer (Nie et al. 2020); ``common.below_floor`` says which rows. ``floor=0`` leaves infinities.

    Parameters
    ----------
    probs
        (..., items, labels) model probabilities m.
    counts
        (items, labels) votes; h = counts / row sums.
    floor
        Smallest model probability.
    base
        Logarithm; None means nats.

    Returns
    -------
    (..., items)

    Raises
    ------
    UsageError
        When ``floor`` is negative or not below 1/K.

    Examples
    --------
    >>> import numpy as np
    >>> float(kl(np.array([[0.25, 0.75]]), np.array([[4, 0]]), base=2)[0])  # 1 log2(1 / 0.25)
    2.0
    """
    return in_base(kl_term(raised(probs, floor), shares(counts)).sum(axis=-1), base)


def reverse_kl(
    probs: Probs,
    counts: Counts,
    *,
    floor: float = DEFAULT_FLOOR,
    smooth: Smooth = None,
    base: float | None = None,
) -> Scores:
    """KL(model to human) = sum m ln(m / h); lower is better, order 2, range [0, inf).

    A label without votes would make it infinite, so the human side is either raised to ``floor`` and renormalised, or
    smoothed to (c + a) / (n + K a) with ``smooth=a``. The choice moves the result: report it. With ``smooth`` the
    floor has nothing left to raise.

    Examples
    --------
    >>> import numpy as np
    >>> m, c = np.array([[0.5, 0.5]]), np.array([[1, 0]])
    >>> round(float(reverse_kl(m, c, smooth=1.0, base=2)[0]), 6)  # h = 2/3, 1/3: log2(1/2) - log2(2/9)/2
    0.084963
    """
    human = raised(shares(counts, smooth), floor)
    return in_base(reverse_kl_term(probs, human).sum(axis=-1), base)


def cross_entropy(probs: Probs, counts: Counts, *, floor: float = DEFAULT_FLOOR, base: float | None = None) -> Scores:
    """Expected log loss against one vote, - sum h ln m = kl + H(h); lower is better, order 2, range [0, inf).

    Unbiased for the population at any number of votes, because it is linear in h.

    Examples
    --------
    >>> import numpy as np
    >>> float(cross_entropy(np.array([[0.25, 0.75]]), np.array([[4, 0]]), base=2)[0])
    2.0
    """
    return in_base(cross_entropy_term(raised(probs, floor), shares(counts)).sum(axis=-1), base)


def jsd(probs: Probs, counts: Counts, *, base: float | None = None) -> Scores:
    """Jensen-Shannon divergence (Lin 1991), the divergence and not its root; lower is better, order 2.

    Range [0, ln 2] nats, [0, 1] with ``base=2``.

    Examples
    --------
    >>> import numpy as np
    >>> jsd(np.array([[0.0, 1.0]]), np.array([[4, 0]]), base=2).tolist()
    [1.0]
    """
    total = jsd_term(probs, shares(counts)).sum(axis=-1)
    return in_base(np.maximum(total, 0.0), base)


def js_distance(probs: Probs, counts: Counts, *, base: float | None = None) -> Scores:
    """Square root of the Jensen-Shannon divergence of every item; lower is better, order 1.

    What scipy's ``jensenshannon`` and Nie et al. (2020) call JSD. Range [0, sqrt(ln 2)], [0, 1] with ``base=2``.

    Examples
    --------
    >>> import numpy as np
    >>> js_distance(np.array([[0.0, 1.0]]), np.array([[4, 0]]), base=2).tolist()
    [1.0]
    """
    return np.sqrt(jsd(probs, counts, base=base))


def kl_term(model: Floats, human: Floats) -> Floats:
    """One label's share of ``kl``: h ln(h / m); infinite where h > 0 = m."""
    return np.asarray(rel_entr(human, model))


def reverse_kl_term(model: Floats, human: Floats) -> Floats:
    """One label's share of ``reverse_kl``: m ln(m / h); infinite where m > 0 = h."""
    return np.asarray(rel_entr(model, human))


def cross_entropy_term(model: Floats, human: Floats) -> Floats:
    """One label's share of ``cross_entropy``: - h ln m."""
    return np.asarray(-xlogy(human, model))


def jsd_term(model: Floats, human: Floats) -> Floats:
    """One label's share of ``jsd``; both sides against their midpoint."""
    middle = (model + human) / 2
    return np.asarray((rel_entr(human, middle) + rel_entr(model, middle)) / 2)
