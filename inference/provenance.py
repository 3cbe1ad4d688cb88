"""What a predictions table says about where it comes from: enough to make it again."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from saturation.tables.provenance import describe

LIBRARIES = ("torch", "transformers", "tokenizers", "numpy")


def of_run(step: str, inputs: Sequence[Any], model: Mapping[str, Any] | None, **settings: Any) -> dict[str, Any]:
    """Command, files, model and libraries of a run.

    Parameters
    ----------
    step
        The command, e.g. ``predict``.
    inputs
        Files read (``Items.inputs``, ``Votes.inputs``).
    model
        ``Checkpoint.about``; None where no model was run.
    settings
        Every option as resolved, seeds included; JSON values.
    """
    return describe(f"inference {step}", tuple(inputs), model=model, libraries=libraries(), settings=settings)


def libraries() -> dict[str, str]:
    """Versions of what the numbers depend on."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
