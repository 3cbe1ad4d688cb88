"""Array aliases with their axes, and the words an option may take."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint64]

Probs: TypeAlias = Floats
"""(..., items, labels): a model's probabilities, rows on the simplex."""
Counts: TypeAlias = NDArray[Any]
"""(items, labels): votes per label; integers, or non-negative floats where votes carry weights."""
Scores: TypeAlias = Floats
"""(..., items): one value an item."""
Weights: TypeAlias = Floats
"""(resamples, items): how often (or how heavily) a resample uses each item."""

Direction = Literal["lower", "higher", "none"]
Reference = Literal["disjoint", "rest", "all", "plug_in"]
DesignName = Literal[
    "items", "crossed", "seeds", "votes", "annotators", "items x annotators", "crossed with annotators"
]
IntervalName = Literal[
    "bca",
    "basic",
    "percentile",
    "studentized",
    "linearized_t",
    "fieller",
    "normal",
    "jackknife",
    "profile",
    "mover",
    "exact",
    "none",
]
EstimatorName = Literal["plugin", "exact", "exact_moments", "corrected", "monte_carlo", "fit", "model"]
TieRule = Literal["first", "last", "random", "share", "any", "column"]
