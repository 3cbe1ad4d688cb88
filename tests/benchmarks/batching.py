"""Items a second: batches of similar length under a token budget, against fixed batches in the order of the table.

``python -m tests.benchmarks.batching --model FOLDER --items items.parquet [--n 384]`` prints both rates of
one run and their ratio, best of three each. The peers are what pipelines do by habit: batches of 32 padded to their
longest item, and padded to 128 tokens.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from inference.batching import TOKEN_BUDGET, Encoded, by_length, encode, pad
from inference.checkpoints import Checkpoint, Source, load_classifier
from inference.items import read_items

BATCH = 32
FIXED = 128


def fixed(encoded: Encoded) -> Iterator[np.ndarray]:
    """Batches of 32 in the order of the table."""
    return (np.arange(start, min(start + BATCH, len(encoded.ids))) for start in range(0, len(encoded.ids), BATCH))


def seconds(checkpoint: Checkpoint, encoded: Encoded, batches: Callable[[], Any], to: int | None = None) -> float:
    """Processor seconds for all items, best of three."""
    import torch

    found = []
    for _ in range(3):
        begin = time.process_time()
        with torch.inference_mode():
            for rows in batches():
                inputs = [encoded.inputs[row] for row in rows]
                if to is None:
                    batch = pad(checkpoint.tokenizer, inputs)
                else:
                    columns = {name: [one[name][:to] for one in inputs] for name in inputs[0]}
                    batch = checkpoint.tokenizer.pad(columns, padding="max_length", max_length=to, return_tensors="pt")
                checkpoint.model(**batch)
        found.append(time.process_time() - begin)
    return min(found)


def main() -> None:
    """Measure and print."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--items", type=Path, required=True)
    parser.add_argument("--n", type=int, default=384)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    items = read_items(given.items)
    chosen = np.linspace(0, len(items.ids) - 1, min(given.n, len(items.ids))).astype(int)
    items = items.take([items.ids[row] for row in chosen])
    checkpoint = load_classifier(Source.parse(given.model), labels=("a", "b", "c"), init_seed=0, device="cpu")
    encoded = encode(checkpoint.tokenizer, items.ids, items.texts, checkpoint.max_length)
    ours = seconds(checkpoint, encoded, lambda: by_length(encoded.lengths, TOKEN_BUDGET["cpu"]))
    peers = {
        f"batches of {BATCH}, padded to the longest": seconds(checkpoint, encoded, lambda: fixed(encoded)),
        f"batches of {BATCH}, padded to {FIXED}": seconds(checkpoint, encoded, lambda: fixed(encoded), to=FIXED),
    }
    count = len(items.ids)
    sys.stdout.write(f"{count} items, {given.threads} threads, items a processor second\n")
    sys.stdout.write(f"{count / ours:6.1f}  sorted by length, {TOKEN_BUDGET['cpu']} tokens a batch\n")
    for name, took in peers.items():
        sys.stdout.write(f"{count / took:6.1f}  {name}; ours is {took / ours:.1f} times as fast\n")


if __name__ == "__main__":
    main()
