"""Engines that tell how probable a continuation is: transformers here, vLLM behind the same small protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from inference.batching import TOKEN_BUDGET, by_length
from inference.checkpoints import Source, describe, longest, quiet, settle_padding
from inference.machine import device_of, exact_arithmetic
from inference.progress import Progress
from saturation.errors import UsageError
from saturation.typing import Floats, Ints

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """How probable continuations are.

    Attributes
    ----------
    logprob
        (pairs,) sum of the log probabilities of the continuation's tokens, nats.
    n_tokens, n_bytes
        (pairs,) tokens and UTF-8 bytes of the continuation.
    truncated
        (pairs,) whether the beginning of the prompt was cut off.
    prompt_tokens
        (pairs,) tokens of the prompt, before cutting.
    """

    logprob: Floats
    n_tokens: Ints
    n_bytes: Ints
    truncated: np.ndarray[Any, np.dtype[np.bool_]]
    prompt_tokens: Ints


class Backend(Protocol):
    """An engine with a model."""

    @property
    def about(self) -> dict[str, Any]:
        """What identifies the model."""

    def score(self, pairs: Sequence[tuple[str, str]], *, say: Say, quiet: bool) -> Scores:
        """Log probability of each (prompt, continuation)."""


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """(prompt, continuation) pairs as tokens, the split where the prompt's own tokens end."""

    ids: tuple[list[int], ...]
    begins: Ints
    prompt_tokens: Ints
    truncated: np.ndarray[Any, np.dtype[np.bool_]]


def tokens_of(tokenizer: Any, pairs: Sequence[tuple[str, str]], limit: int) -> Tokens:
    """Tokenise prompt and continuation as one text, and split where the prompt's tokens stop agreeing.

    A tokenizer may merge the end of a prompt with the beginning of what follows; then the continuation begins at the
    first token that differs. Prompts that are too long lose their beginning, never the continuation.
    """
    whole = tokenizer([prompt + rest for prompt, rest in pairs], padding=False, verbose=False)["input_ids"]
    alone = tokenizer([prompt for prompt, _ in pairs], padding=False, verbose=False)["input_ids"]
    end = tokenizer.eos_token_id
    ids, begins, cut = [], [], []
    for text, prompt in zip(whole, alone, strict=True):
        if text and text[-1] == end and prompt and prompt[-1] == end:  # added to every text, so it is no part of it
            text, prompt = text[:-1], prompt[:-1]  # noqa: PLW2901
        begin = _agreement(text, prompt)
        lost = max(0, len(text) - limit)
        if len(text) - begin >= limit:
            raise UsageError("a label has more tokens than the model can read")
        ids.append(text[lost:])
        begins.append(begin - lost)
        cut.append(lost > 0)
    sizes = np.array([len(prompt) for prompt in alone], dtype=np.int64)
    return Tokens(tuple(ids), np.array(begins, dtype=np.int64), sizes, np.array(cut, dtype=bool))


def _agreement(text: list[int], prompt: list[int]) -> int:
    """How many first tokens the two share; at least one token is left to the continuation, and one to the prompt."""
    shared = 0
    while shared < min(len(text), len(prompt)) and text[shared] == prompt[shared]:
        shared += 1
    if shared == 0:
        raise UsageError("a prompt is empty, so nothing can be said about what follows it")
    return min(shared, len(text) - 1)


class TransformersBackend:
    """Teacher forcing with transformers, on a processor or an accelerator.

    Parameters
    ----------
    source, device, precision, token_budget, max_length, trust_remote_code
        As in ``inference predict``.
    """

    def __init__(
        self,
        source: Source,
        *,
        device: str = "auto",
        precision: str = "float32",
        token_budget: int | None = None,
        max_length: int | None = None,
        trust_remote_code: bool = False,
    ) -> None:
        import torch
        import transformers

        quiet()
        self.device = device_of(device)
        self.precision = precision
        shared: dict[str, Any] = {"revision": source.revision, "trust_remote_code": trust_remote_code}
        if source.folder is not None:
            shared["local_files_only"] = True
        try:
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(source.name, **shared)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                source.name, dtype=torch.float32, use_safetensors=True, **shared
            )
        except (OSError, ImportError, ValueError) as error:
            raise UsageError(f"cannot load the language model {source.name}: {str(error).splitlines()[0]}") from error
        settle_padding(model, self.tokenizer)
        self.model = model.to(self.device).eval()
        self.max_length = min(
            max_length or longest(model.config, self.tokenizer), longest(model.config, self.tokenizer)
        )
        self.budget = token_budget or TOKEN_BUDGET.get(self.device.type, TOKEN_BUDGET["cpu"])
        self.about: dict[str, Any] = describe(source, model, self.tokenizer)

    def score(self, pairs: Sequence[tuple[str, str]], *, say: Say, quiet: bool) -> Scores:
        """Log probability of each continuation, padded on the right and masked."""
        tokens = tokens_of(self.tokenizer, pairs, self.max_length)
        lengths = np.array([len(one) for one in tokens.ids], dtype=np.int64)
        logprob = np.zeros(len(pairs))
        waiting, halved = by_length(lengths, self.budget), False
        with (
            Progress("scoring", int(lengths.sum()), quiet=quiet) as progress,
            exact_arithmetic(self.precision, self.device.type),
        ):
            while waiting:
                rows = waiting.pop(0)
                found = self._batch([tokens.ids[row] for row in rows], tokens.begins[rows])
                if found is None:
                    waiting = [half for batch in (rows, *waiting) for half in np.array_split(batch, 2) if len(half)]
                    if not halved:
                        say(f"not enough memory for batches of {self.budget} tokens: halved until they fit")
                    halved = True
                    continue
                logprob[rows] = found
                progress.advance(int(lengths[rows].sum()))
        n_bytes = np.array([len(rest.encode()) for _, rest in pairs], dtype=np.int64)
        return Scores(logprob, lengths - tokens.begins, n_bytes, tokens.truncated, tokens.prompt_tokens)

    def _batch(self, ids: Sequence[list[int]], begins: Ints) -> Floats | None:
        """Sums of log probabilities; None where memory does not suffice for more than one text."""
        import torch

        longest_text = max(map(len, ids))
        padded = torch.full((len(ids), longest_text), self.tokenizer.pad_token_id)
        mask = torch.zeros_like(padded)
        for row, one in enumerate(ids):
            padded[row, : len(one)] = torch.tensor(one)
            mask[row, : len(one)] = 1
        try:
            with torch.inference_mode():
                out = self.model(input_ids=padded.to(self.device), attention_mask=mask.to(self.device)).logits
                logs = torch.log_softmax(out.float(), dim=-1)[:, :-1]
                told = logs.gather(2, padded[:, 1:, None].to(self.device)).squeeze(2).double().cpu().numpy()
        except torch.OutOfMemoryError:
            if len(ids) == 1:
                raise
            return None
        place = np.arange(1, longest_text)
        ends = np.array([len(one) for one in ids])
        counted = (place >= begins[:, None]) & (place < ends[:, None])
        return np.asarray((told * counted).sum(axis=1))


class VllmBackend:
    """Teacher forcing with vLLM: the log probabilities of the prompt's own tokens, never the likeliest few.

    One engine on the accelerators that it sees; for several, start one process each with a shard of the items.

    Parameters
    ----------
    source
        The model.
    engine
        A ``vllm.LLM``; None: made from ``source``.
    parameters
        Makes its sampling parameters; None: ``vllm.SamplingParams``.
    max_length
        Tokens that a text may have.
    """

    def __init__(
        self, source: Source, *, engine: Any = None, parameters: Any = None, max_length: int | None = None
    ) -> None:
        if engine is None:
            import vllm

            engine = vllm.LLM(model=source.name, revision=source.revision, max_model_len=max_length)
        self.engine = engine
        self._parameters = parameters
        self.tokenizer = engine.get_tokenizer()
        self.max_length = max_length or int(engine.llm_engine.model_config.max_model_len)
        self.about: dict[str, Any] = {"name": source.name, "revision": source.revision, "engine": "vllm"}

    def score(self, pairs: Sequence[tuple[str, str]], *, say: Say, quiet: bool) -> Scores:
        """Log probability of each continuation, from ``prompt_logprobs``."""
        tokens = tokens_of(self.tokenizer, pairs, self.max_length - 1)
        outputs = self.engine.generate(
            [{"prompt_token_ids": one} for one in tokens.ids], self._sampling(), use_tqdm=not quiet
        )
        logprob = np.array(
            [
                _told(output.prompt_logprobs, one, int(begin))
                for output, one, begin in zip(outputs, tokens.ids, tokens.begins, strict=True)
            ]
        )
        lengths = np.array([len(one) for one in tokens.ids], dtype=np.int64)
        n_bytes = np.array([len(rest.encode()) for _, rest in pairs], dtype=np.int64)
        return Scores(logprob, lengths - tokens.begins, n_bytes, tokens.truncated, tokens.prompt_tokens)

    def _sampling(self) -> Any:
        """One token is generated and thrown away: the engine generates at least one."""
        if self._parameters is None:
            import vllm

            self._parameters = vllm.SamplingParams
        return self._parameters(max_tokens=1, temperature=0.0, prompt_logprobs=0)


def _told(logprobs: Sequence[Any], ids: Sequence[int], begin: int) -> float:
    """Sum over the continuation; a token whose log probability was not returned is an error, not a small number."""
    total = 0.0
    for place in range(begin, len(ids)):
        entry = logprobs[place]
        if entry is None or ids[place] not in entry:
            raise UsageError("the engine did not return the log probability of a label's token: it cannot be scored")
        total += float(getattr(entry[ids[place]], "logprob", entry[ids[place]]))
    return total
