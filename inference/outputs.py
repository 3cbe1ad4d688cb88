"""Logits as rows of a predictions table: labels in the tables' order, probabilities in double precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from inference.batching import Encoded
from saturation.tables import io
from saturation.typing import Floats

if TYPE_CHECKING:
    import polars as pl


def softmax(logits: Floats) -> Floats:
    """Rows of probabilities, in double precision whatever the logits are in.

    Examples
    --------
    >>> softmax(np.array([[0.0, 0.0]])).tolist()
    [[0.5, 0.5]]
    """
    wide = np.asarray(logits, dtype=np.float64)
    grown = np.exp(wide - wide.max(axis=-1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=-1, keepdims=True))


def rows(
    encoded: Encoded | None,
    ids: Sequence[str],
    labels: Sequence[str],
    probs: Floats,
    logits: Floats | None,
    *,
    columns: Mapping[str, Any],
) -> pl.DataFrame:
    """A predictions frame.

    Parameters
    ----------
    encoded
        Where the numbers of tokens come from; None: no such columns.
    ids
        (items,)
    labels
        (labels,) the order of the table.
    probs, logits
        (items, labels) in that order.
    columns
        Model, method, budget, seed, split, part, ...: one value, or one an item.
    """
    import polars as pl

    data: dict[str, Any] = {"item_id": list(ids)}
    data |= {name: list(value) if _many(value) else [value] * len(ids) for name, value in columns.items()}
    data |= {f"p_{label}": probs[:, k] for k, label in enumerate(labels)}
    if logits is not None:
        data |= {f"z_{label}": np.asarray(logits[:, k], dtype=np.float32) for k, label in enumerate(labels)}
    if encoded is not None:
        data |= {"n_tokens": encoded.n_tokens, "truncated": encoded.truncated}
    return pl.DataFrame(data, schema_overrides={name: kind for name, kind in _kinds().items() if name in data})


def write(
    path: Path,
    frames: Sequence[pl.DataFrame],
    labels: Sequence[str],
    provenance: Mapping[str, Any],
    condition_columns: Sequence[str] = (),
) -> Path:
    """Validate the rows of all frames and write them, whole or not at all."""
    import polars as pl

    frame = pl.concat(list(frames), how="diagonal")
    return io.write_table(
        path,
        frame,
        table="predictions",
        labels=labels,
        condition_columns=condition_columns,
        provenance=provenance,
    )


def _many(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray)


def _kinds() -> dict[str, Any]:
    """Types of columns that may be wholly null."""
    import polars as pl

    whole = dict.fromkeys(("budget", "seed", "draw"), pl.Int64)
    return whole | dict.fromkeys(("strength", "alpha", "fitted_temperature"), pl.Float64) | {"prior": pl.String}
