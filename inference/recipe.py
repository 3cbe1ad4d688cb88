"""How a model is trained: the same for all conditions of a study, and written into every file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from saturation.errors import UsageError

FREEZE = ("none", "embeddings")


@dataclass(frozen=True, slots=True)
class Recipe:
    """Hyper-parameters of one training run.

    Attributes
    ----------
    epochs
        At most; each shows every training item once (multipass: every vote).
    batch_size
        Items a step, whatever fits into memory at once.
    learning_rate, weight_decay
        Of AdamW; biases and norms do not decay.
    warmup
        Share of the steps in which the rate rises; then it falls to 0 linearly.
    patience
        Epochs without a better development loss before training stops, and the best epoch is taken; None: train all
        epochs and take the last.
    max_grad_norm
        Longer gradients are shortened to this.
    max_length
        Tokens an item; None: as many as the model reads.
    precision
        ``float32``, ``tf32`` or ``bf16`` (autocast).
    freeze
        ``none``, or ``embeddings``: the embedding table stays.
    hidden, dropout
        Of the head over frozen features.
    """

    epochs: int = 5
    batch_size: int = 32
    learning_rate: float = 2e-5
    weight_decay: float = 0.01
    warmup: float = 0.1
    patience: int | None = 2
    max_grad_norm: float = 1.0
    max_length: int | None = None
    precision: str = "float32"
    freeze: str = "none"
    hidden: int = 128
    dropout: float = 0.1

    def __post_init__(self) -> None:
        problems = [f"{name} is {getattr(self, name)!r}: {need}" for name, need, holds in self._rules() if not holds]
        if problems:
            raise UsageError("the recipe cannot be followed: " + "; ".join(problems))

    def _rules(self) -> list[tuple[str, str, bool]]:
        return [
            ("epochs", "at least 1", self.epochs >= 1),
            ("batch_size", "at least 1", self.batch_size >= 1),
            ("learning_rate", "above 0", self.learning_rate > 0),
            ("weight_decay", "0 or more", self.weight_decay >= 0),
            ("warmup", "from 0 to below 1", 0 <= self.warmup < 1),
            ("patience", "at least 1, or none", self.patience is None or self.patience >= 1),
            ("max_grad_norm", "above 0", self.max_grad_norm > 0),
            ("freeze", f"one of {', '.join(FREEZE)}", self.freeze in FREEZE),
            ("hidden", "at least 1", self.hidden >= 1),
            ("dropout", "from 0 to below 1", 0 <= self.dropout < 1),
        ]


def recipe_of(values: Mapping[str, Any]) -> Recipe:
    """A recipe from a mapping (a table of a TOML file); unknown names are refused.

    Examples
    --------
    >>> recipe_of({"epochs": 3, "patience": "none"}).patience is None
    True
    """
    known = {one.name for one in fields(Recipe)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise UsageError(f"the recipe has unknown entries {', '.join(unknown)}; it knows {', '.join(sorted(known))}")
    return Recipe(**{name: None if value == "none" and name == "patience" else value for name, value in values.items()})
