"""Items of similar length together, up to a budget of tokens: little padding, little memory, the same numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from saturation.errors import UsageError
from saturation.streams import Purpose, words
from saturation.typing import Ints

TOKEN_BUDGET = {"cpu": 384, "cuda": 16_384}
"""Tokens a batch, padding included: what fits a processor's cache, or keeps an accelerator busy."""
_SHUFFLED_TOGETHER = 16
"""Batches whose items are sorted among themselves in training."""


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Items as token ids.

    Attributes
    ----------
    ids
        Names of the items, for messages.
    inputs
        One mapping of token lists an item (``input_ids`` and what else the tokenizer returns).
    n_tokens
        (items,) tokens before truncation.
    truncated
        (items,) whether tokens were cut off.
    """

    ids: tuple[str, ...]
    inputs: tuple[dict[str, list[int]], ...]
    n_tokens: Ints
    truncated: np.ndarray[Any, np.dtype[np.bool_]]

    @property
    def lengths(self) -> Ints:
        """(items,) tokens that the model reads."""
        return np.array([len(one["input_ids"]) for one in self.inputs], dtype=np.int64)

    def take(self, rows: Sequence[int] | Ints) -> Encoded:
        """Some of the items, in the order asked for."""
        rows = np.asarray(rows, dtype=np.int64)
        return Encoded(
            tuple(self.ids[row] for row in rows),
            tuple(self.inputs[row] for row in rows),
            self.n_tokens[rows],
            self.truncated[rows],
        )


def encode(tokenizer: Any, ids: Sequence[str], texts: Sequence[tuple[str, ...]], max_length: int) -> Encoded:
    """Token ids of single texts or pairs; of pairs that are too long the longer text is cut first.

    Raises
    ------
    UsageError
        When the tokenizer does not mark which tokens belong to the second text although its model tells them apart.
    """
    whole = _tokens(tokenizer, texts, None)
    sizes = np.array([len(one["input_ids"]) for one in whole], dtype=np.int64)
    long = np.flatnonzero(sizes > max_length)
    for row, cut in zip(long, _tokens(tokenizer, [texts[row] for row in long], max_length), strict=True):
        whole[row] = cut
    return Encoded(tuple(ids), tuple(whole), sizes, sizes > max_length)


def _tokens(tokenizer: Any, texts: Sequence[tuple[str, ...]], max_length: int | None) -> list[dict[str, list[int]]]:
    if not texts:
        return []
    columns = [list(column) for column in zip(*texts, strict=True)]
    cut = {"truncation": "longest_first", "max_length": max_length} if max_length else {"truncation": False}
    found = tokenizer(*columns, padding=False, verbose=False, **cut)
    return [{name: list(found[name][row]) for name in found} for row in range(len(texts))]


def check_segments(encoded: Encoded, segments: int) -> None:
    """Refuse pairs whose second text is not marked although the model has types for it: half its meaning is lost.

    Parameters
    ----------
    encoded
        Pairs.
    segments
        The model's ``type_vocab_size``.
    """
    if segments > 1 and not any(max(one.get("token_type_ids", [0])) > 0 for one in encoded.inputs):
        raise UsageError(
            "the model tells the first text of a pair from the second, but its tokenizer does not mark them: save it "
            "again with model_input_names=['input_ids', 'token_type_ids', 'attention_mask'] and a pair template"
        )


def by_length(lengths: Ints, token_budget: int) -> list[Ints]:
    """Rows in batches of similar length, the longest first, each of at most ``token_budget`` tokens with padding.

    The longest first: memory that does not suffice is known at once. An item longer than the budget is a batch.

    Examples
    --------
    >>> [batch.tolist() for batch in by_length(np.array([3, 9, 4, 4]), 12)]
    [[1], [2, 3, 0]]
    """
    order = np.argsort(-lengths, kind="stable")
    batches: list[Ints] = []
    start = 0
    while start < len(order):
        size = max(1, token_budget // max(int(lengths[order[start]]), 1))
        batches.append(order[start : start + size])
        start += size
    return batches


def shuffled(lengths: Ints, batch_size: int, *, seed: int, epoch: int) -> Iterator[Ints]:
    """The batches of one epoch of training: random items, those of 16 batches sorted by length, random order again.

    A pure function of the seed, the epoch and the lengths.
    """
    order = np.argsort(_noise(seed, 2 * epoch, len(lengths)), kind="stable")
    pieces = []
    for start in range(0, len(order), batch_size * _SHUFFLED_TOGETHER):
        block = order[start : start + batch_size * _SHUFFLED_TOGETHER]
        block = block[np.argsort(lengths[block], kind="stable")]
        pieces += [block[a : a + batch_size] for a in range(0, len(block), batch_size)]
    for place in np.argsort(_noise(seed, 2 * epoch + 1, len(pieces)), kind="stable"):
        yield pieces[place]


def _noise(seed: int, stream: int, size: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    return words(seed, Purpose.TRAINING_ORDER, np.array([stream]), np.arange(size))


def pad(tokenizer: Any, inputs: Sequence[dict[str, list[int]]]) -> Any:
    """A batch of tensors, padded to its longest item."""
    return tokenizer.pad({name: [one[name] for one in inputs] for name in inputs[0]}, return_tensors="pt")
