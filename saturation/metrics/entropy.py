"""Entropies of distributions and of counts, and how a model's entropy errs (EntCE of Baan et al. 2022)."""

from __future__ import annotations

import numpy as np
from scipy.special import entr

from saturation.metrics.common import in_base, shares
from saturation.typing import Counts, Floats, Probs, Scores

RANK_DECIMALS = 12
"""Entropies are rounded to this many decimals before they are ranked, so that rounding noise cannot break a tie."""


def entropy(probs: Floats, *, base: float | None = None) -> Scores:
    """Shannon entropy H = - sum p ln p of every item, in [0, ln K] nats; no direction.

    The values are summed in sorted order, so that two items with the same values in another label order tie exactly.

    Parameters
    ----------
    probs
        (..., items, labels) distributions.
    base
        Logarithm; None means nats.

    Returns
    -------
    (..., items)

    Examples
    --------
    >>> import numpy as np
    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]]), base=2).tolist()
    [1.0, 0.0]
    """
    return in_base(np.asarray(entr(np.sort(probs, axis=-1)).sum(axis=-1)), base)


def entropy_of_counts(counts: Counts, *, base: float | None = None) -> Scores:
    """Plug-in entropy H(h) of every item's votes, nats; biased low at few votes (see ``corrections``).

    Examples
    --------
    >>> import numpy as np
    >>> entropy_of_counts(np.array([[2, 1, 1], [1, 2, 1]]), base=2).tolist()
    [1.5, 1.5]
    """
    return entropy(shares(counts), base=base)


def entropy_bias(probs: Probs, counts: Counts, *, base: float | None = None) -> Scores:
    """Signed entropy error H(m) - H(h): negative where the model is more certain than the annotators.

    Range [-ln K, ln K] nats; no direction.

    Examples
    --------
    >>> import numpy as np
    >>> entropy_bias(np.array([[1.0, 0.0]]), np.array([[5, 5]]), base=2).tolist()
    [-1.0]
    """
    return entropy(probs, base=base) - entropy_of_counts(counts, base=base)


def entropy_error(probs: Probs, counts: Counts, *, base: float | None = None) -> Scores:
    """Absolute entropy error abs(H(m) - H(h)), the EntCE of Baan et al. (2022); lower is better, order 1.

    Range [0, ln K] nats.

    Examples
    --------
    >>> import numpy as np
    >>> entropy_error(np.array([[1.0, 0.0]]), np.array([[5, 5]]), base=2).tolist()
    [1.0]
    """
    return np.abs(entropy_bias(probs, counts, base=base))


def entropy_term(model: Floats, human: Floats) -> Floats:
    """One label's share of ``entropy``; the human side plays no part."""
    return np.asarray(entr(model) + 0.0 * human)


def entropy_bias_term(model: Floats, human: Floats) -> Floats:
    """One label's share of ``entropy_bias``."""
    return np.asarray(entr(model) - entr(human))
