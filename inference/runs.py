"""One run of a study: everything that determines its predictions, and a key made of all that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

METHODS = ("base_rate", "hard", "smoothing", "soft", "dirichlet", "multipass", "sampled", "elicited")
"""Methods that are runs of their own; ``temperature`` comes out of a hard run."""


@dataclass(frozen=True, slots=True)
class Run:
    """A condition, a seed and a split.

    Attributes
    ----------
    model
        Name of the model in the table.
    split, seed
        The cell.
    method, budget, strength, alpha, prior
        The condition; budget None: all votes.
    draw
        Which draw of votes its targets are made of; None where all votes are used.
    with_temperature
        Whether the same model, its logits divided by a temperature fitted on development items, is a further
        condition.
    """

    model: str
    split: str
    seed: int
    method: str
    budget: int | None = None
    strength: float | None = None
    alpha: float | None = None
    prior: str | None = None
    draw: int | None = None
    with_temperature: bool = False

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a predictions table."""
        found = asdict(self)
        del found["with_temperature"]
        return found

    def __str__(self) -> str:
        shown = {name: value for name, value in self.columns.items() if value is not None and name != "draw"}
        return ",".join(f"{name}={value}" for name, value in shown.items())


def key(run: Run, **determined_by: Mapping[str, Any] | str) -> str:
    """The name of a run's part: a hash of everything that its predictions depend on, and of nothing else.

    Parameters
    ----------
    run
        Condition, seed, split.
    determined_by
        Data, recipe, model, arithmetic: JSON values.

    Examples
    --------
    >>> one = Run("m", "42", 0, "soft", 10)
    >>> key(one, data="a") == key(one, data="a"), key(one, data="a") == key(one, data="b")
    (True, False)
    """
    text = json.dumps({"run": asdict(run), **determined_by}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
