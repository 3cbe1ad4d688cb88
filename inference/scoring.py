"""A language model's distribution over labels: the route of ``inference score``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from inference import outputs, provenance
from inference.backends import Backend, Scores, TransformersBackend, VllmBackend
from inference.checkpoints import Source
from inference.items import Items, read_items
from inference.machine import set_threads
from inference.prompts import Template, orders, template
from inference.sampling import sample_counts
from saturation.errors import DataError, Problem, UsageError
from saturation.tables.door import read_votes
from saturation.typing import Floats

if TYPE_CHECKING:
    import polars as pl

Say = Callable[[str], None]
NORMALISATIONS = ("none", "token", "byte")
_LITTLE = 0.5
"""Labels that together hold less than this of the probability are hardly what the model would say."""


def label_distribution(scores: Scores, n_labels: int, normalisation: str) -> Floats:
    """(prompts, labels) probabilities of the labels, renormalised over them.

    Parameters
    ----------
    scores
        Of (prompt, label) pairs, the labels of a prompt side by side.
    n_labels
        How many labels a prompt has.
    normalisation
        ``none``: the probability of the words; ``token``, ``byte``: its log divided by their number, so that long
        labels do not lose for their length.
    """
    divisor = {"none": np.ones(1), "token": scores.n_tokens, "byte": scores.n_bytes}
    if normalisation not in divisor:
        raise UsageError(f"normalisation is {normalisation!r}; choose one of {', '.join(NORMALISATIONS)}")
    return outputs.softmax((scores.logprob / divisor[normalisation]).reshape(-1, n_labels))


def score_items(
    backend: Backend,
    items: Items,
    prompt: Template,
    labels: Sequence[str],
    *,
    listed: Sequence[Sequence[int]],
    normalisation: str = "none",
    columns: Mapping[str, Any],
    quiet: bool = True,
    say: Say = lambda text: None,
) -> list[pl.DataFrame]:
    """Rows of a predictions table, one member an order of the labels in the prompt.

    Raises
    ------
    DataError
        When a log probability is not finite; the message names the items.
    """
    frames = []
    for rank, order in enumerate(listed):
        prompts = [prompt.prompt(dict(zip(items.columns, text, strict=True)), order) for text in items.texts]
        pairs = [prompt.with_label(one, label) for one in prompts for label in range(len(labels))]
        found = backend.score(pairs, say=say, quiet=quiet)
        _refuse_infinite(found, items, len(labels))
        probs = label_distribution(found, len(labels), normalisation)
        own = {**columns, **({"member": str(rank)} if len(listed) > 1 else {})}
        frames.append(_frame(items, labels, probs, found, own))
    return frames


def sample_items(
    backend: TransformersBackend,
    items: Items,
    prompt: Template,
    labels: Sequence[str],
    *,
    listed: Sequence[Sequence[int]],
    n_samples: int,
    seed: int,
    columns: Mapping[str, Any],
    quiet: bool = True,
    say: Say = lambda text: None,
) -> list[pl.DataFrame]:
    """Rows of a predictions table from answers drawn: shares of the answers that name a label.

    ``label_mass`` is the share of answers that do. Items none of whose answers does are left out, and counted aloud.
    """
    frames = []
    for rank, order in enumerate(listed):
        prompts = [prompt.prompt(dict(zip(items.columns, text, strict=True)), order) for text in items.texts]
        counts = sample_counts(backend, prompts, prompt.label_words, n_samples=n_samples, seed=seed + rank, quiet=quiet)
        told = counts.sum(axis=1)
        if (told == 0).any():
            say(f"{int((told == 0).sum())} of {len(told)} items got no answer that names a label: left out")
        kept = np.flatnonzero(told)
        own = {**columns, **({"member": str(rank)} if len(listed) > 1 else {})}
        ids = [items.ids[row] for row in kept]
        made = outputs.rows(None, ids, labels, counts[kept] / told[kept, None], None, columns=own)
        frames.append(
            _with_columns(made, {"label_mass": told[kept] / n_samples, "truncated": np.zeros(len(kept), bool)})
        )
    return frames


def _with_columns(frame: pl.DataFrame, columns: Mapping[str, Any]) -> pl.DataFrame:
    import polars as pl

    return frame.with_columns([pl.Series(name, values) for name, values in columns.items()])


def _frame(
    items: Items, labels: Sequence[str], probs: Floats, found: Scores, columns: Mapping[str, Any]
) -> pl.DataFrame:
    shape = (len(items.ids), len(labels))
    logs = found.logprob.reshape(shape)
    made = outputs.rows(None, items.ids, labels, probs, None, columns=columns)
    extra: dict[str, Any] = {f"logprob_{label}": logs[:, k] for k, label in enumerate(labels)}
    for what, values in (("tokens", found.n_tokens), ("bytes", found.n_bytes)):
        extra |= {f"logprob_{what}_{label}": values.reshape(shape)[:, k] for k, label in enumerate(labels)}
    extra["label_mass"] = np.exp(logs).sum(axis=1)
    extra["n_tokens"] = found.prompt_tokens.reshape(shape)[:, 0]
    extra["truncated"] = found.truncated.reshape(shape).any(axis=1)
    return _with_columns(made, extra)


def score_table(
    *,
    items: Sequence[Path],
    text: Sequence[str] | None,
    source: str,
    name: str | None,
    trust_remote_code: bool,
    votes: Sequence[Path],
    labels: Sequence[str] | None,
    prompt: str,
    label_words: Mapping[str, str] | None,
    n_orders: int | None,
    normalisation: str,
    samples: int | None,
    engine: str,
    seed: int,
    device: str,
    threads: int | None,
    precision: str,
    token_budget: int | None,
    max_length: int | None,
    out: Path,
    quiet: bool,
    say: Say,
) -> dict[str, Any]:
    """Score, check and write; returns what the summary says.

    Parameters are those of the command, see ``inference score --help``.
    """
    set_threads(threads)
    human = read_votes(list(votes)) if votes else None
    if human is None and labels is None:
        raise UsageError("the labels and their order come from --votes, or from --labels a,b,c")
    wanted = tuple(labels) if labels is not None else human.labels if human is not None else ()
    read = read_items(list(items), text)
    made = template(prompt, wanted, label_words, read)
    if n_orders is not None and n_orders > 1 and not made.lists_options:
        raise UsageError("--orders: the template does not list the labels ({options}), so their order cannot matter")
    listed = orders(len(wanted), n_orders, seed) if made.lists_options else (tuple(range(len(wanted))),)
    origin = Source.parse(source)
    backend: Backend = (
        VllmBackend(origin, max_length=max_length)
        if engine == "vllm"
        else TransformersBackend(
            origin, device=device, precision=precision, token_budget=token_budget, max_length=max_length,
            trust_remote_code=trust_remote_code,
        )
    )  # fmt: skip
    method = "scored" if samples is None else "sampled_answers"
    shared: dict[str, Any] = {
        "listed": listed, "columns": {"model": name or backend.about["name"], "method": method, "seed": seed},
        "quiet": quiet, "say": say,
    }  # fmt: skip
    if samples is None:
        frames = score_items(backend, read, made, wanted, normalisation=normalisation, **shared)
    elif isinstance(backend, TransformersBackend):
        frames = sample_items(backend, read, made, wanted, n_samples=samples, seed=seed, **shared)
    else:
        raise UsageError("--samples needs --engine transformers")
    facts = _facts(frames, say)
    story = provenance.of_run(
        "score", (*read.inputs, *(human.inputs if human is not None else ())), backend.about, template=made.text,
        template_sha256=made.digest, label_words=list(made.label_words), orders=[list(one) for one in listed],
        normalisation=normalisation, samples=samples, engine=engine, precision=precision, seed=seed,
    )  # fmt: skip
    outputs.write(out, frames, wanted, story)
    return {"wrote": str(out), "items": len(read.ids), "orders": len(listed), **facts}


def _facts(frames: Sequence[pl.DataFrame], say: Say) -> dict[str, Any]:
    """How much of the model's probability the labels hold, and how many prompts were cut."""
    mass = float(np.mean([frame["label_mass"].mean() for frame in frames]))
    cut = int(max(frame["truncated"].sum() for frame in frames))
    if mass < _LITTLE:
        say(
            f"warning: the labels hold {mass:.1%} of the model's probability on average: it would rather say something "
            "else, so look at the template and --label-words"
        )
    if cut:
        say(f"{cut} prompts were too long and lost their beginning")
    return {"mean_label_mass": mass, "truncated": cut}


def _refuse_infinite(found: Scores, items: Items, n_labels: int) -> None:
    lost = np.flatnonzero(~np.isfinite(found.logprob).reshape(-1, n_labels).all(axis=1))
    if len(lost):
        raise DataError(Problem("M01", "a log probability is not finite", item=items.ids[row]) for row in lost)
