"""Where the committed demonstration study lies: inside an installed package, or in the checkout beside it."""

from __future__ import annotations

from pathlib import Path

from saturation.errors import UsageError

NAMES = ("votes", "items", "splits", "predictions")
_PACKAGE = Path(__file__).resolve().parents[1]
_FOLDERS = (_PACKAGE / "_fixtures" / "study", _PACKAGE.parent / "fixtures" / "study")


def demo_files() -> dict[str, Path]:
    """Paths of the demonstration study: ``votes``, ``items``, ``splits``, ``predictions`` and ``truth``.

    The study is ``study(seed=0)``; ``truth`` is a CSV file of its planted truth (see :func:`truth_table`).

    Raises
    ------
    UsageError
        When the installation lacks the files.

    Examples
    --------
    >>> sorted(demo_files())
    ['items', 'predictions', 'splits', 'truth', 'votes']
    """
    files = {name: f"{name}.parquet" for name in NAMES} | {"truth": "truth.csv"}
    for folder in _FOLDERS:
        found = {name: folder / file for name, file in files.items()}
        if all(path.is_file() for path in found.values()):
            return found
    raise UsageError(f"the demonstration study is not in {_FOLDERS[0]}; install the package again")
