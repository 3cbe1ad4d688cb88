"""Logits of a classifier for items: deterministic, padded little, checked, each item counted once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from inference.batching import TOKEN_BUDGET, Encoded, by_length, pad
from inference.checkpoints import Checkpoint
from inference.machine import exact_arithmetic
from inference.progress import Progress
from saturation.errors import DataError, Problem, UsageError
from saturation.typing import Floats

PADDING_TOLERANCE = 1e-3
"""How far a logit may move when its item is padded; more means that padding is read as text."""
_CHECKED = 8


@dataclass(frozen=True, slots=True, eq=False)
class Logits:
    """What a model said.

    Attributes
    ----------
    values
        (items, outputs) float32, in the order of the model's head.
    padding_difference
        The largest change of a logit by padding, over a few items; None where it was not looked at.
    """

    values: np.ndarray[Any, np.dtype[np.float32]]
    padding_difference: float | None = None


def predict(
    checkpoint: Checkpoint,
    encoded: Encoded,
    *,
    token_budget: int | None = None,
    precision: str = "float32",
    check_padding: bool = True,
    quiet: bool = True,
    say: Callable[[str], None] = lambda text: None,
) -> Logits:
    """Logits of all items.

    Parameters
    ----------
    checkpoint
        Model and tokenizer.
    encoded
        Items as tokens.
    token_budget
        Tokens a batch, padding included; None: 384 on a processor, 16,384 on an accelerator. Where memory does not
        suffice it is halved and the same items are tried again.
    precision
        ``float32``, ``tf32`` or ``bf16`` (autocast).
    check_padding
        Whether a few items are run alone and padded, and a difference above 1e-3 stops (float32 only).
    quiet, say
        Whether progress is shown, and where remarks go.

    Raises
    ------
    DataError
        When a logit is not finite; the message names the items.
    UsageError
        When padding changes what the model says.
    """
    model = checkpoint.model.eval()
    budget = token_budget or TOKEN_BUDGET.get(checkpoint.device.type, TOKEN_BUDGET["cpu"])
    with exact_arithmetic(precision, checkpoint.device.type):
        difference = _padding_difference(checkpoint, encoded) if check_padding and precision == "float32" else None
        return Logits(run(model, checkpoint, encoded, budget, quiet=quiet, say=say), difference)


def run(
    model: Any,
    checkpoint: Checkpoint,
    encoded: Encoded,
    budget: int,
    *,
    quiet: bool = True,
    say: Callable[[str], None] = lambda text: None,
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Logits by batches; whatever mode the model's parts are in stays as it is (dropout samples need some on)."""
    lengths = encoded.lengths
    out: Any = None
    with Progress("predicting", int(lengths.sum()), quiet=quiet) as progress:
        waiting, halved = by_length(lengths, budget), False
        while waiting:
            rows = waiting.pop(0)
            found = _forward_or_none(model, checkpoint, encoded, rows)
            if found is None:
                waiting = [half for batch in (rows, *waiting) for half in np.array_split(batch, 2) if len(half)]
                if not halved:
                    say(f"not enough memory for batches of {budget} tokens: halved until they fit")
                halved = True
                continue
            out = np.zeros((len(lengths), found.shape[1]), dtype=np.float32) if out is None else out
            out[rows] = found
            progress.advance(int(lengths[rows].sum()))
    _refuse_infinite(out, encoded)
    return np.asarray(out)


def _forward_or_none(model: Any, checkpoint: Checkpoint, encoded: Encoded, rows: Any) -> Any:
    """Logits of one batch; None where memory does not suffice and the batch can still be made smaller."""
    import torch

    try:
        with torch.inference_mode():
            batch = pad(checkpoint.tokenizer, [encoded.inputs[row] for row in rows]).to(checkpoint.device)
            return model(**batch).logits.float().cpu().numpy()
    except torch.OutOfMemoryError:
        if len(rows) == 1:
            raise
        if checkpoint.device.type == "cuda":
            torch.cuda.empty_cache()
        return None


def _padding_difference(checkpoint: Checkpoint, encoded: Encoded) -> float | None:
    """Run a few items of different lengths alone and together."""
    order = np.argsort(encoded.lengths, kind="stable")
    rows = np.unique(order[np.linspace(0, len(order) - 1, min(_CHECKED, len(order))).astype(int)])
    together = _forward_or_none(checkpoint.model, checkpoint, encoded, rows)
    if together is None or len(set(encoded.lengths[rows])) < 2:
        return None
    alone = np.concatenate(
        [_forward_or_none(checkpoint.model, checkpoint, encoded, rows[i : i + 1]) for i in range(len(rows))]
    )
    found = float(np.abs(together - alone).max())
    if not found <= PADDING_TOLERANCE and np.isfinite(together).all():
        raise UsageError(
            f"padding changes the model's logits by up to {found:.2g}: its padding token or attention mask is not set "
            "up, and batches of different sizes would give different answers"
        )
    return found


def _refuse_infinite(values: Floats, encoded: Encoded) -> None:
    lost = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(lost):
        raise DataError(
            Problem(
                "M01",
                "the model's logits are not finite; use --precision float32 and check the weights",
                item=encoded.ids[row],
            )
            for row in lost
        )


@contextmanager
def dropout_on(model: Any) -> Iterator[int]:
    """Switch on the dropout layers and nothing else; yields how many there are with a rate above 0."""
    import torch

    layers = [layer for layer in model.modules() if isinstance(layer, torch.nn.Dropout) and layer.p > 0]
    for layer in layers:
        layer.train()
    try:
        yield len(layers)
    finally:
        model.eval()
