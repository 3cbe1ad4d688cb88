"""Where a table comes from, in words that a later reader (and the same command) can repeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saturation.results import Input, as_dict, version


def describe(step: str, inputs: Sequence[Input] = (), **details: Any) -> dict[str, Any]:
    """Provenance of a table: what made it, from which files, with which settings.

    No time and no machine, so that the same step on the same files writes the same bytes.

    Parameters
    ----------
    step
        The command or function, e.g. ``convert chaosnli``.
    inputs
        Files read, with their hashes.
    details
        Settings; JSON values.

    Examples
    --------
    >>> describe("convert long", label_column="answer")["label_column"]
    'answer'
    """
    return {
        "made_by": f"saturation {version()}",
        "step": step,
        "inputs": [as_dict(one) for one in inputs],
        **details,
    }
