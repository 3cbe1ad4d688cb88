"""Delete-one-item values in closed form: from sums, in time and memory proportional to the items."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from saturation.typing import Floats, Scores


def leave_one_out(features: Floats, combine: Callable[[Floats], Floats]) -> Scores:
    """The statistic without each item.

    Parameters
    ----------
    features
        (..., features, items)
    combine
        Feature means (..., features) -> statistic (...).

    Returns
    -------
    (..., items)

    Examples
    --------
    >>> leave_one_out(np.array([[1.0, 2.0, 6.0]]), lambda means: means[..., 0])
    array([4. , 3.5, 1.5])
    """
    n_items = features.shape[-1]
    rest = (features.sum(axis=-1, keepdims=True) - features) / (n_items - 1)
    return combine(np.moveaxis(rest, -1, -2))


def pseudo_values(features: Floats, combine: Callable[[Floats], Floats]) -> Scores:
    """Jackknife pseudo-values I T - (I - 1) T_(i); for a mean they are the scores themselves.

    Their mean estimates the statistic and their sample variance / I its variance (Efron and Tibshirani 1993,
    eq. 11.17 and 11.18).

    Parameters
    ----------
    features
        (..., features, items)
    combine
        Feature means (..., features) -> statistic (...).

    Returns
    -------
    (..., items)

    Examples
    --------
    >>> pseudo_values(np.array([[1.0, 2.0, 6.0]]), lambda means: means[..., 0])
    array([1., 2., 6.])
    """
    n_items = features.shape[-1]
    whole = combine(features.mean(axis=-1))
    return np.asarray(n_items * whole[..., None] - (n_items - 1) * leave_one_out(features, combine))
