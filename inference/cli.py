"""The door of the model side; the commands behind it (finetune, predict, score) are still to come."""

from __future__ import annotations

import sys
from collections.abc import Sequence

HELP = """usage: inference [--version]

Fine-tune and run models on items, and write predictions tables for saturation. Nothing to run yet."""
TO_COME = (
    "inference: fine-tuning and prediction are still to come; "
    "until then bring your own predictions table (saturation schema predictions)"
)


def main(args: Sequence[str] | None = None) -> None:
    """Print the version or what is to come, and exit: 0 for ``--version`` and ``--help``, else 2."""
    words = list(sys.argv[1:] if args is None else args)
    if words == ["--version"]:
        from importlib.metadata import version

        sys.stdout.write(f"inference {version('annotation-saturation')}\n")
        sys.exit(0)
    if words and words[0] in ("-h", "--help"):
        sys.stdout.write(f"{HELP}\n")
        sys.exit(0)
    sys.stderr.write(f"{TO_COME}\n")
    sys.exit(2)
