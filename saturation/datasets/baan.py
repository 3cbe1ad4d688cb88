"""Predictions of Baan et al. (EMNLP 2022), "Stop Measuring Calibration When Humans Disagree", as JSON lines.

One file a corpus part, model and training seed, named ``SNLI_dev_roberta-base_0.json``. The columns of ``probs`` and
``logits`` come in the order entailment, *contradiction*, neutral; the tables have ours. Rows get ``method=hard``:
the models were fine-tuned on the corpora's own gold labels. Items are those of the corpus part; items without votes
are left out, and counted, when predictions meet votes. ``p_`` columns are the softmax of the logits in 64 bits: the
files' own probs, which must agree, are rounded to 32 bits, which moves a mean KL in its ninth digit.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from saturation.datasets.conversion import NLI_LABELS, Conversion, Log, Options
from saturation.datasets.reading import Fields, fail, is_whole, read_json_lines

if TYPE_CHECKING:
    import polars as pl

ORDER = ("entailment", "contradiction", "neutral")
"""Column order of the published files."""
METHOD = "hard"
_NAME = re.compile(r"(?P<corpus>[A-Za-z]+)_(?P<part>train|dev|test)_(?P<model>.+)_(?P<seed>\d{1,9})\.jsonl?")
_TOLERANCE = 1e-5


def read(paths: list[Path], options: Options, log: Log) -> Conversion:
    """Read files whose names say corpus part, model and seed."""
    import polars as pl

    del options
    seen: set[tuple[str, int, str]] = set()
    frames = [_read_one(path, seen, log) for path in paths]
    log.note("p_ columns are the softmax of the logits in 64 bits; the files' probs are rounded to 32 bits")
    log.note("method=hard: the models were fine-tuned on the corpora's own gold labels")
    return Conversion(tables={"predictions": pl.concat(frames)}, labels=NLI_LABELS)


def _read_one(path: Path, seen: set[tuple[str, int, str]], log: Log) -> pl.DataFrame:
    import polars as pl

    named = _NAME.fullmatch(path.name)
    if named is None:
        fail("C02", "the file name does not say model and seed, as SNLI_dev_roberta-base_0.json does", path)
    model, seed = named["model"], int(named["seed"])
    uids, probs, logits = [], [], []
    for row, content in read_json_lines(path):
        uid = Fields(content, path, row=row).text("uid")
        fields = Fields(content, path, row=row, item=uid)
        if (model, seed, uid) in seen:
            fields.fail("C04", f"{model}, seed {seed}, predicts this uid already")
        seen.add((model, seed, uid))
        own_logits = fields.numbers("logits", len(ORDER))
        uids.append(uid)
        probs.append(_checked_probs(fields, own_logits))
        logits.append(own_logits)
    if not uids:
        fail("C01", "the file has no rows", path)
    log.read(path, len(uids))
    columns: dict[str, Any] = {"item_id": uids}
    columns |= {"model": [model] * len(uids), "method": [METHOD] * len(uids), "seed": [seed] * len(uids)}
    columns |= {"split": ["all"] * len(uids)}
    for prefix, values in (("p_", probs), ("z_", logits)):
        columns |= {prefix + label: [row[ORDER.index(label)] for row in values] for label in NLI_LABELS}
    return pl.DataFrame(columns)


def _checked_probs(fields: Fields, logits: list[float]) -> list[float]:
    """The softmax of the logits, after seeing that probs, logits and pred are three accounts of one prediction."""
    stored = fields.numbers("probs", len(ORDER))
    weights = np.exp(np.array(logits) - max(logits))
    probs = weights / weights.sum()
    if np.abs(probs - stored).max() > _TOLERANCE:
        fields.fail("C05", "probs are not the softmax of logits")
    pred = fields.content.get("pred")
    if pred is not None and (not is_whole(pred) or not 0 <= pred < len(ORDER) or stored[pred] < max(stored)):
        fields.fail("C05", f"pred is {pred!r}, but probs are largest at {int(np.argmax(stored))}")
    return [float(value) for value in probs]
