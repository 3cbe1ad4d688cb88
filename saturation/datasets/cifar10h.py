"""CIFAR-10H (Peterson et al., ICCV 2019): ``cifar10h-counts.npy``, votes of about 51 people an image.

Rows follow the CIFAR-10 test set; ``item_id`` is the row number. Labels airplane ... truck in the published order.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from saturation.datasets.conversion import CIFAR_LABELS, Conversion, Log, Options, counts_frame
from saturation.datasets.reading import fail, read_array
from saturation.errors import UsageError


def read(paths: list[Path], options: Options, log: Log) -> Conversion:
    """Read the counts file."""
    del options
    if len(paths) != 1:
        raise UsageError(f"cifar10h is one file, cifar10h-counts.npy; {len(paths)} were given")
    counts = read_array(paths[0])
    if counts.ndim != 2 or counts.shape[1] != len(CIFAR_LABELS) or not len(counts):
        fail("C02", f"the array has shape {counts.shape}, not (images, 10)", paths[0])
    if not np.issubdtype(counts.dtype, np.integer):
        hint = "shares say nothing of the number of votes; give cifar10h-counts.npy"
        fail("C02", f"the array holds {counts.dtype}, not whole numbers: {hint}", paths[0])
    for row in np.flatnonzero((counts < 0).any(axis=1) | (counts.sum(axis=1) == 0))[:1]:
        fail("C03", f"counts {counts[row].tolist()} are no votes", paths[0], row=int(row) + 1)
    log.read(paths[0], len(counts))
    log.note("this file has no annotator ids, so intervals assume that no one labels many items")
    ids = [str(row) for row in range(len(counts))]
    return Conversion(tables={"vote_counts": counts_frame(ids, counts.tolist(), CIFAR_LABELS)}, labels=CIFAR_LABELS)
