"""The loss of training: cross-entropy against a distribution, ours rather than the model's own."""

from __future__ import annotations

from typing import Any


def soft_cross_entropy(logits: Any, targets: Any, *, reduction: str = "mean") -> Any:
    """- sum_k t_k log softmax(z)_k, nats; its gradient in z is softmax(z) - t (divided by the items for the mean).

    Never the model's own loss: given distributions as ``labels`` it becomes a multi-label loss without a word.

    Parameters
    ----------
    logits
        (items, labels) tensor.
    targets
        (items, labels) distributions.
    reduction
        ``mean`` or ``sum`` over items.

    Examples
    --------
    >>> import pytest; torch = pytest.importorskip("torch")
    >>> round(float(soft_cross_entropy(torch.zeros(1, 2), torch.tensor([[0.25, 0.75]]))), 6)
    0.693147
    """
    from torch.nn.functional import cross_entropy

    return cross_entropy(logits.float(), targets, reduction=reduction)
