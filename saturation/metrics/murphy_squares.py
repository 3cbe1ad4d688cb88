"""Variances of sums of squares of means, where first derivatives do not see them.

REL, RES and UNC are quadratic in means of outcomes. Where a mean difference d is near zero (a calibrated bin) or the
labels are balanced (UNC at its maximum), a term moves with the *square* of the mean's error. A jackknife's variance
4 d^2 s^2, s^2 the variance of that error, is then next to nothing in the very samples where d happens to vanish, and
a term that is off by s^2 seems known exactly. The variance of the square itself is 2 s^4: no variance of such a term
is to be believed below that. (UNC of balanced labels: 77-85% of intervals covered without it, all with it.)
"""

from __future__ import annotations

import numpy as np

from saturation.metrics.murphy_bins import Binned, bin_sums
from saturation.metrics.murphy_pairs import LabelChoice
from saturation.typing import Floats


def squares_variance(cut: Binned, label: LabelChoice) -> Floats:
    """Variance of sum over labels and bins of w_b (error of the mean outcome of the bin)^2, w_b its share of items.

    Per label 2 sum_b (s_b^2 / I)^2, s_b^2 the sample variance in the bin; between labels k and l with the squared
    correlation of their outcomes over items, which for normal errors is the correlation of their squares.

    Parameters
    ----------
    cut
        Outcomes in bins; one bin: the square of the overall mean.
    label
        ``mean`` divides by the number of labels.

    Returns
    -------
    (...)

    Examples
    --------
    Two items, h 0 and 1 of one label: s^2 = .5, 2 (.5 / 2)^2.

    >>> import numpy as np
    >>> from saturation.metrics.murphy_bins import binned
    >>> from saturation.metrics.murphy_pairs import pairs
    >>> from saturation.metrics.metric import Human
    >>> given = pairs(np.full((2, 2), 0.5), Human(np.array([[3, 0], [0, 3]])), label=1)
    >>> round(float(squares_variance(binned(given, bins=1), 1)), 12)
    0.125
    """
    sums = bin_sums(cut)
    n, y, yy = sums[..., 0, :], sums[..., 2, :], sums[..., 5, :]
    several = n > 1.5
    squares = yy - np.divide(y * y, n, out=np.zeros(n.shape), where=several)
    variance = np.where(several, squares / np.where(several, n - 1, 1.0), 0.0)
    sd = np.sqrt(2 * (variance**2).sum(axis=-1)) / n.sum(axis=-1)
    total = np.zeros(sd.shape[:-1])
    outcome = cut.features[..., 2, :]
    spread = (outcome * outcome).sum(axis=-1)
    for k in range(sd.shape[-1]):
        for other in range(sd.shape[-1]):
            together = (outcome[..., k, :] * outcome[..., other, :]).sum(axis=-1)
            under = spread[..., k] * spread[..., other]
            alike = np.divide(together**2, under, out=np.zeros(under.shape), where=under > 0)
            total += alike * sd[..., k] * sd[..., other]
    return total / sd.shape[-1] ** 2 if label == "mean" else total
