"""From a model and an items table to a predictions table: the route of ``inference predict``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from inference import labels as label_names
from inference import outputs, provenance
from inference.batching import TOKEN_BUDGET, Encoded, check_segments, encode
from inference.checkpoints import Checkpoint, Source, load_classifier
from inference.items import Items, read_items
from inference.machine import device_name, exact_arithmetic, set_threads
from inference.predict import dropout_on, predict, run
from saturation.errors import UsageError
from saturation.tables.door import read_votes

if TYPE_CHECKING:
    import polars as pl

    from saturation.tables.panel import Votes

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Setup:
    """How a model is run; what every member of an ensemble shares."""

    device: str
    precision: str
    token_budget: int | None
    max_length: int | None
    on_truncate: str
    quiet: bool
    trust_remote_code: bool
    label_map: Mapping[str, str] | None


def predict_table(
    *,
    items: Sequence[Path],
    text: Sequence[str] | None,
    source: str,
    name: str | None,
    votes: Sequence[Path],
    labels: Sequence[str] | None,
    method: str,
    budget: int | None,
    seed: int,
    split: str | None,
    ensemble: Sequence[str],
    dropout_samples: int | None,
    threads: int | None,
    out: Path,
    say: Say,
    **shared: Any,
) -> dict[str, Any]:
    """Predict, check and write; returns what the summary says.

    Parameters are those of the command, see ``inference predict --help``.
    """
    setup = Setup(**shared)
    if ensemble and dropout_samples:
        raise UsageError("--ensemble and --dropout-samples both make members: choose one")
    set_threads(threads)
    human = read_votes(list(votes)) if votes else None
    wanted = _labels(human, labels)
    read = read_items(list(items), text)
    members = [Source.parse(one) for one in (source, *ensemble)]
    frames, about, notes = [], [], {}
    for rank, member in enumerate(members):
        checkpoint = load_classifier(member, device=setup.device, trust_remote_code=setup.trust_remote_code)
        columns = {
            "model": name or checkpoint.about["name"], "method": method, "budget": budget, "seed": seed,
        } | ({"split": split} if split else {}) | ({"member": str(rank)} if len(members) > 1 else {})  # fmt: skip
        made, noted = _member(checkpoint, read, wanted, human, setup, columns, dropout_samples, say)
        frames += made
        notes |= noted
        about.append({**checkpoint.about, "device": device_name(checkpoint.device)})
    settings = {
        "text": list(read.columns), "precision": setup.precision, "token_budget": setup.token_budget,
        "max_length": setup.max_length, "on_truncate": setup.on_truncate, "label_map": dict(setup.label_map or {}),
        "dropout_samples": dropout_samples, "seed": seed,
    } | notes  # fmt: skip
    inputs = (*read.inputs, *(human.inputs if human is not None else ()))
    story = provenance.of_run("predict", inputs, about[0] if len(about) == 1 else {"members": about}, **settings)
    outputs.write(out, frames, wanted, story)
    return {"wrote": str(out), "items": frames[0]["item_id"].n_unique(), "rows": sum(map(len, frames))} | notes


def _labels(human: Votes | None, asked: Sequence[str] | None) -> tuple[str, ...]:
    if human is None and asked is None:
        raise UsageError("the labels and their order come from --votes, or from --labels a,b,c")
    if human is not None and asked is not None and set(asked) != set(human.labels):
        raise UsageError(f"--labels {','.join(asked)} are not the labels of the votes: {', '.join(human.labels)}")
    return tuple(asked) if asked is not None else human.labels if human is not None else ()


def _member(  # noqa: PLR0917
    checkpoint: Checkpoint,
    items: Items,
    labels: Sequence[str],
    human: Votes | None,
    setup: Setup,
    columns: Mapping[str, Any],
    samples: int | None,
    say: Say,
) -> tuple[list[pl.DataFrame], dict[str, Any]]:
    """Rows of one model, and what is worth saying about them."""
    order = label_names.match(checkpoint.head, labels, setup.label_map)
    encoded = prepared(checkpoint, items, setup.max_length, setup.on_truncate, say)
    options: dict[str, Any] = {"quiet": setup.quiet, "say": say}
    found = predict(checkpoint, encoded, token_budget=setup.token_budget, precision=setup.precision, **options)
    logits = found.values[:, order]
    probs = outputs.softmax(logits)
    _warn_of_order(probs, labels, encoded.ids, human, say)
    notes = {"padding_difference": found.padding_difference, "truncated": int(encoded.truncated.sum())}
    if samples is None:
        return [outputs.rows(encoded, encoded.ids, labels, probs, logits, columns=columns)], notes
    frames = []
    with exact_arithmetic(setup.precision, checkpoint.device.type):
        for member, drawn in enumerate(_dropout_logits(checkpoint, encoded, setup, samples, say)):
            own = {**columns, "member": str(member)}
            values = drawn[:, order]
            frames.append(outputs.rows(encoded, encoded.ids, labels, outputs.softmax(values), values, columns=own))
    return frames, notes


def _dropout_logits(checkpoint: Checkpoint, encoded: Encoded, setup: Setup, samples: int, say: Say) -> list[Any]:
    """One array of logits a sample: only dropout layers are switched on, and each sample has its own seed."""
    import torch

    budget = setup.token_budget or TOKEN_BUDGET.get(checkpoint.device.type, TOKEN_BUDGET["cpu"])
    made = []
    with dropout_on(checkpoint.model) as layers:
        if layers == 0:
            say("the model has no dropout layer, so all members are alike")
        for member in range(samples):
            torch.manual_seed(member)
            made.append(run(checkpoint.model, checkpoint, encoded, budget, quiet=setup.quiet, say=say))
    return made


def prepared(checkpoint: Checkpoint, items: Items, max_length: int | None, on_truncate: str, say: Say) -> Encoded:
    """Items as tokens, with what was asked done about those that are too long."""
    limit = min(max_length or checkpoint.max_length, checkpoint.max_length)
    encoded = encode(checkpoint.tokenizer, items.ids, items.texts, limit)
    if len(items.columns) > 1:
        check_segments(encoded, getattr(checkpoint.model.config, "type_vocab_size", 0) or 0)
    count = int(encoded.truncated.sum())
    if count == 0:
        return encoded
    worst = encoded.ids[int(np.argmax(encoded.n_tokens))]
    told = (
        f"{count} of {len(items.ids)} items ({count / len(items.ids):.1%}) have more than {limit} tokens, "
        f"the longest is {worst!r} with {int(encoded.n_tokens.max()):,}"
    )
    if on_truncate == "error":
        raise UsageError(f"{told}; raise --max-length or choose --on-truncate warn or drop")
    say(f"{told}: {'cut' if on_truncate == 'warn' else 'left out'}")
    return encoded if on_truncate == "warn" else encoded.take(np.flatnonzero(~encoded.truncated))


def _warn_of_order(probs: Any, labels: Sequence[str], ids: Sequence[str], human: Votes | None, say: Say) -> None:
    if human is None:
        return
    place = {item: row for row, item in enumerate(human.item_ids)}
    own = [row for row, item in enumerate(ids) if item in place]
    column = [human.labels.index(label) for label in labels]
    counts = human.counts[[place[ids[row]] for row in own]][:, column]
    better = label_names.better_order(probs[own], counts) if own else None
    if better is not None:
        used = ", ".join(f"{label} <- {labels[k]}" for label, k in zip(labels, better.order, strict=True))
        say(
            f"warning: the votes fit the model far better in another order ({used}; {better.gain:.2f} nats a vote): "
            "check the names of its outputs, and --label-map"
        )
