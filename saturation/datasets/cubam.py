"""Label files of CUBAM (Welinder et al., NIPS 2010): ``labels.txt``.

The first line is "items workers rows"; every further line "item worker label", whole numbers from 0. The YAML files
beside it hold the same votes under the images' own names and are not read.
"""

from __future__ import annotations

from pathlib import Path

from saturation.datasets.conversion import Conversion, Log, Options, label_names
from saturation.datasets.reading import fail, read_text
from saturation.errors import UsageError


def read(paths: list[Path], options: Options, log: Log) -> Conversion:
    """Read one labels.txt."""
    import polars as pl

    if len(paths) != 1:
        raise UsageError(f"cubam is one labels.txt at a time (items are numbers); {len(paths)} were given")
    path = paths[0]
    lines = [(row, line) for row, line in enumerate(read_text(path).split("\n"), start=1) if line.strip()]
    if not lines:
        fail("C01", "the file is empty", path)
    n_items, n_workers, n_rows = _numbers(path, *lines[0])
    votes = [_numbers(path, row, line) for row, line in lines[1:]]
    if len(votes) != n_rows or not votes:
        fail("C05", f"the first line promises {n_rows} votes, the file has {len(votes)}", path)
    seen: set[tuple[int, int]] = set()
    for (row, _), (item, worker, _) in zip(lines[1:], votes, strict=True):
        if item >= n_items or worker >= n_workers:
            fail(
                "C03", f"item {item}, worker {worker}: the first line promises {n_items} and {n_workers}", path, row=row
            )
        if (item, worker) in seen:
            fail("C04", f"worker {worker} has labelled this item already", path, row=row, item=str(item))
        seen.add((item, worker))
    log.read(path, len(votes))
    labels = label_names(options, max(2, max(label for _, _, label in votes) + 1))
    frame = pl.DataFrame(
        {
            "item_id": [str(item) for item, _, _ in votes],
            "annotator_id": [str(worker) for _, worker, _ in votes],
            "label": [labels[label] for _, _, label in votes],
        }
    )
    return Conversion(tables={"votes": frame}, labels=labels)


def _numbers(path: Path, row: int, line: str) -> tuple[int, int, int]:
    """Three whole numbers from 0."""
    words = line.split()
    if len(words) != 3 or not all(word.isascii() and word.isdigit() and len(word) <= 9 for word in words):
        fail("C02", f"{line[:80]!r} is not three whole numbers", path, row=row)
    first, second, third = (int(word) for word in words)
    return first, second, third
