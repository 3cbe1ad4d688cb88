"""Answers drawn from a language model, counted by the label that they begin with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from inference.backends import TransformersBackend
from inference.machine import exact_arithmetic
from inference.progress import Progress
from saturation.streams import Purpose, uniforms
from saturation.typing import Ints

_SPARE = 2
"""Tokens beyond the longest label that an answer may have, for a blank or a line before it."""


def sample_counts(
    backend: TransformersBackend,
    prompts: Sequence[str],
    label_words: Sequence[str],
    *,
    n_samples: int,
    seed: int = 0,
    quiet: bool = True,
) -> Ints:
    """How many of ``n_samples`` answers to each prompt begin with each label.

    An answer counts for the longest label that it begins with, case folded and without leading blanks; one that begins
    with none counts for none. Each prompt has random numbers of its own, so its answers depend neither on the order of
    the prompts nor on how many there are.

    Returns
    -------
    (prompts, labels) whole numbers; rows sum to at most ``n_samples``.
    """
    words = [backend.tokenizer(f" {word}")["input_ids"] for word in label_words]
    steps = max(map(len, words)) + _SPARE
    counts = np.zeros((len(prompts), len(label_words)), dtype=np.int64)
    with (
        Progress("sampling", len(prompts), quiet=quiet) as progress,
        exact_arithmetic(backend.precision, backend.device.type),
    ):
        for row, prompt in enumerate(prompts):
            drawn = uniforms(seed, Purpose.TRAINING_LABELS, np.array([[row]]), np.arange(n_samples * steps)[None])
            for answer in _answers(backend, prompt, drawn.reshape(n_samples, steps)):
                label = first_label(answer, label_words)
                if label is not None:
                    counts[row, label] += 1
            progress.advance(1)
    return counts


def first_label(answer: str, label_words: Sequence[str]) -> int | None:
    """The label that an answer begins with, the longest of several.

    Examples
    --------
    >>> first_label(" Not entailed.", ("not", "not entailed", "maybe")), first_label("Well, yes", ("yes", "no"))
    (1, None)
    """
    said = " ".join(answer.casefold().split())
    found = [(len(word), k) for k, word in enumerate(map(_folded, label_words)) if _begins(said, word)]
    return max(found)[1] if found else None


def _begins(said: str, word: str) -> bool:
    """Whether the text begins with the word and the word ends there."""
    return said.startswith(word) and not said[len(word) : len(word) + 1].isalnum()


def _folded(word: str) -> str:
    return " ".join(word.casefold().split())


def _answers(backend: TransformersBackend, prompt: str, drawn: np.ndarray[Any, Any]) -> list[str]:
    """One answer a row of uniform numbers, a token a column: the token where the cumulated probability passes it."""
    import torch

    ids = backend.tokenizer(prompt.rstrip(" "))["input_ids"]
    if ids and ids[-1] == backend.tokenizer.eos_token_id:
        ids = ids[:-1]
    room = backend.max_length - drawn.shape[1]
    given = torch.tensor([ids[-room:]], device=backend.device)
    tokens = np.zeros(drawn.shape, dtype=np.int64)
    with torch.inference_mode():
        out = backend.model(input_ids=given, use_cache=True)
        name = _cache_name(out)
        past = out[name]
        past.batch_repeat_interleave(len(drawn))
        logits = out.logits[:, -1].expand(len(drawn), -1)
        for step in range(drawn.shape[1]):
            tokens[:, step] = _passed(logits.double().softmax(-1).cpu().numpy(), drawn[:, step])
            if step + 1 < drawn.shape[1]:
                fed = torch.as_tensor(tokens[:, step : step + 1], device=backend.device)
                out = backend.model(input_ids=fed, use_cache=True, **{name: past})
                past, logits = out[name], out.logits[:, -1]
    ends = backend.tokenizer.eos_token_id
    return [backend.tokenizer.decode(_until(row.tolist(), ends)) for row in tokens]


def _cache_name(out: Any) -> str:
    """What the library calls the keys and values it keeps: the name changed within version 5."""
    return "cache" if "cache" in out else "past_key_values"


def _passed(probs: np.ndarray[Any, Any], drawn: np.ndarray[Any, Any]) -> Ints:
    """(rows,) the first token whose cumulated probability exceeds the row's number."""
    reached = probs.cumsum(axis=1)
    return np.asarray((reached < (drawn * reached[:, -1])[:, None]).sum(axis=1), dtype=np.int64)


def _until(tokens: list[int], end: int | None) -> list[int]:
    return tokens[: tokens.index(end)] if end in tokens else tokens
