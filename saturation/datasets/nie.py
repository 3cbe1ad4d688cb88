"""Model predictions in the layouts of ChaosNLI's repository (Nie, Zhou & Bansal, EMNLP 2020).

Two public layouts, both ``{model: {uid: {...}}}`` in one JSON file: the released predictions with ``logits``, and the
evaluator's sample files with ``predicted_probabilities``. Order [entailment, neutral, contradiction], or [1, 2] for
alphaNLI; ``predicted_label`` in full words (or 1, 2). A file whose ``predicted_label`` is not a largest entry is
refused, since its columns are then probably in another order. Sample files may also lack the model level. Rows get
``method=hard``: the released models were fine-tuned on the corpora's own gold labels. Built from the public
description; tested on made-up rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from saturation.datasets.conversion import ABDUCTION_LABELS, NLI_LABELS, Conversion, Log, Options
from saturation.datasets.reading import Fields, as_text, fail, read_json

METHOD = "hard"
_TIE = 1e-9
"""Entries closer than this are tied: published ties differ in the last digits."""
_SUM_TOLERANCE = 1e-6


def read(paths: list[Path], options: Options, log: Log) -> Conversion:
    """Read prediction files of one label set."""
    import polars as pl

    del options
    rows: list[dict[str, Any]] = []
    seen: set[tuple[str, str]] = set()
    labels: tuple[str, ...] | None = None
    for path in paths:
        before = len(rows)
        for model, uid, content in _entries(path):
            fields = Fields(content, path, item=uid)
            names, own = _prediction(fields)
            if labels not in (None, names):
                fields.fail("C05", f"labels {', '.join(names)} after {', '.join(labels or ())}: convert the sets apart")
            if (model, uid) in seen:
                fields.fail("C04", f"{model} predicts this uid already")
            labels = names
            seen.add((model, uid))
            rows.append({"item_id": uid, "model": model, "method": METHOD, "seed": 0, "split": "all", **own})
        log.read(path, len(rows) - before)
    if labels is None:
        fail("C01", "the file has no predictions", paths[0])
    log.note("method=hard: the released models were fine-tuned on the corpora's own gold labels")
    return Conversion(tables={"predictions": pl.DataFrame(rows, infer_schema_length=None)}, labels=labels)


def _entries(path: Path) -> Iterator[tuple[str, str, object]]:
    """(model, uid, entry); without a model level the file's name is the model."""
    content = read_json(path)
    if content and all(isinstance(value, dict) and "predicted_label" in value for value in content.values()):
        content = {path.stem: content}
    for model, predictions in content.items():
        if not isinstance(predictions, Mapping):
            fail("C02", f"the model {model!r} is not an object of predictions by uid", path)
        for uid, entry in predictions.items():
            yield model, uid, entry


def _prediction(fields: Fields) -> tuple[tuple[str, ...], dict[str, float]]:
    """Labels and the p_ (and z_) columns of one entry."""
    if fields.content.get("uid", fields.item) != fields.item:
        fields.fail("C05", f"the entry says that its uid is {fields.content['uid']!r}")
    name = "logits" if "logits" in fields.content else "predicted_probabilities"
    by_length = {len(NLI_LABELS): NLI_LABELS, len(ABDUCTION_LABELS): ABDUCTION_LABELS}
    labels = by_length.get(len(fields.sequence(name)))
    if labels is None:
        fields.fail("C02", f"{name} has {len(fields.sequence(name))} entries, not 3 (e, n, c) or 2 (1, 2)")
    values = np.array(fields.numbers(name, len(labels)))
    _check_label(fields, values, labels)
    if name == "logits":
        shifted = np.exp(values - values.max())
        probs = shifted / shifted.sum()
        scores = {f"z_{label}": float(value) for label, value in zip(labels, values, strict=True)}
    else:
        if values.min() < 0 or abs(values.sum() - 1) > _SUM_TOLERANCE:
            fields.fail("C03", f"predicted_probabilities {values.tolist()} do not sum to 1")
        probs, scores = values, {}
    return labels, {f"p_{label}": float(value) for label, value in zip(labels, probs, strict=True)} | scores


def _check_label(fields: Fields, values: Any, labels: tuple[str, ...]) -> None:
    predicted = as_text(fields.need("predicted_label"))
    if predicted not in labels:
        fields.fail("C03", f"predicted_label is {predicted!r}, not one of {', '.join(labels)}")
    if values[labels.index(predicted)] < values.max() - _TIE:
        largest = labels[int(values.argmax())]
        fields.fail("C05", f"predicted_label is {predicted!r}, but {largest!r} is largest: are the columns in order?")
