"""Learning with Disagreements: the shared JSON format of the 2023 and 2025 editions.

2023 (Leonardelli et al., SemEval-2023 task 11): ``annotations`` "0,1,1" beside ``annotators`` "Ann1,Ann2,Ann3".
2025 (NLPerspectives): ``annotations`` is an object {annotator: label} and ``text`` an object of fields; built from
its public description, tested on made-up rows. Where someone gave several labels to one item (VariErrNLI), the whole
is in ``soft_votes`` with equal shares, and ``votes`` leaves those annotations out. Item ids are the files' keys,
with the split in front (``train:1``) only where keys of several files collide. Labels: those of ``soft_label`` and
of the votes; numbers by size, NLI labels as in ChaosNLI.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from saturation.datasets.conversion import NLI_LABELS, Conversion, Log, Options, items_frame
from saturation.datasets.reading import Fields, as_text, fail, read_json
from saturation.errors import UsageError
from saturation.tables.labels import from_values
from saturation.tables.schema import PARTS

SPLIT = "published"
_EMPTY = ("", "nan", "None")


@dataclass(frozen=True, slots=True)
class _Entry:
    """One item of one file: votes are (annotator, labels), usually one label."""

    item: str
    part: str
    votes: list[tuple[str, tuple[str, ...]]]
    attributes: dict[str, str | None]
    scale: tuple[str, ...]


def read(paths: list[Path], options: Options, log: Log) -> Conversion:
    """Read the files of one task, usually its train, dev and test parts."""
    entries: list[_Entry] = []
    for path in paths:
        content = read_json(path)
        log.read(path, len(content))
        entries += [_entry(Fields(one, path, item=key)) for key, one in content.items()]
    if not entries:
        fail("C01", "the file has no items", paths[0])
    entries = _distinct(entries)
    unlabelled = sum(not entry.votes for entry in entries)
    log.drop("items", unlabelled, "no annotation is published; they are in items and splits only")
    labels = _labels(entries, options)
    tables = _vote_tables(entries, labels, log)
    if not tables:
        fail("C01", "no item has an annotation", paths[0])
    tables["items"] = items_frame({"item_id": entry.item} | entry.attributes for entry in entries)
    tables["splits"] = _splits_frame(entries)
    return Conversion(tables=tables, labels=labels)


def _entry(fields: Fields) -> _Entry:
    part = fields.text("split")
    if part not in PARTS:
        fields.fail("C03", f"split is {part!r}, not one of {', '.join(PARTS)}")
    hard = fields.optional("hard_label")
    attributes = _texts(fields) | {"lang": fields.optional("lang")}
    attributes |= {"majority_label": None if hard is None else plain_label(hard)}
    assert fields.item is not None
    return _Entry(fields.item, part, _votes(fields), attributes, _scale(fields))


def _texts(fields: Fields) -> dict[str, str | None]:
    """``text`` as one column, or one column a field of it."""
    text = fields.need("text")
    if not isinstance(text, dict):
        return {"text": fields.optional("text")}
    parts = Fields(text, fields.path, item=fields.item)
    return {f"text_{name}": parts.optional(name) for name in text}


def _votes(fields: Fields) -> list[tuple[str, tuple[str, ...]]]:
    """(annotator, labels) of one item, in the order of the file."""
    given = fields.content.get("annotations")
    if given in (None, "", {}):
        return []
    if isinstance(given, dict):
        pairs = [(name, as_text(value)) for name, value in given.items()]
        if any(value is None for _, value in pairs):
            fields.fail("C02", "an annotation is neither a text nor a whole number")
        votes = [(name, tuple(plain_label(one) for one in (value or "").split(","))) for name, value in pairs]
    else:
        values, names = fields.text("annotations").split(","), fields.text("annotators").split(",")
        if len(values) != len(names):
            fields.fail("C05", f"{len(values)} annotations by {len(names)} annotators")
        votes = [(name.strip(), (plain_label(value),)) for name, value in zip(names, values, strict=True)]
    twice = [name for name, number in Counter(name for name, _ in votes).items() if number > 1]
    if twice:
        fields.fail("C04", f"annotator {twice[0]!r} is there twice")
    if not all(name for name, _ in votes) or any(one in _EMPTY for _, labels in votes for one in labels):
        fields.fail("C02", "an annotator or an annotation is empty")
    if any(len(set(labels)) < len(labels) for _, labels in votes):
        fields.fail("C04", "an annotator gives the same label twice")
    return votes


def _scale(fields: Fields) -> tuple[str, ...]:
    """Labels that ``soft_label`` names, whether or not anyone chose them."""
    soft = fields.content.get("soft_label")
    return tuple(plain_label(name) for name in soft) if isinstance(soft, dict) else ()


def plain_label(text: str) -> str:
    """A label without blanks, and 0.0 as 0: soft labels and votes of one file write the same number differently.

    Examples
    --------
    >>> plain_label(" 1.0"), plain_label("neutral"), plain_label("-3")
    ('1', 'neutral', '-3')
    """
    text = text.strip()
    return text.removesuffix(".0") if text.lstrip("-").replace(".", "", 1).isdigit() else text


def _distinct(entries: list[_Entry]) -> list[_Entry]:
    """Items under distinct ids: the split goes in front of all of them where keys collide."""
    if len({entry.item for entry in entries}) == len(entries):
        return entries
    named = [
        _Entry(f"{entry.part}:{entry.item}", entry.part, entry.votes, entry.attributes, entry.scale)
        for entry in entries
    ]
    twice = [item for item, number in Counter(entry.item for entry in named).items() if number > 1]
    if twice:
        raise UsageError(f"the item {twice[0]} is in two files of one split: convert the tasks apart")
    return named


def _labels(entries: list[_Entry], options: Options) -> tuple[str, ...]:
    voted = {label for entry in entries for _, labels in entry.votes for label in labels}
    found = voted | {label for entry in entries for label in entry.scale}
    if options.labels is not None:
        lacking = sorted(found - set(options.labels))
        if lacking:
            raise UsageError(f"--labels lacks {lacking[0]!r}, which the source uses")
        return options.labels
    return NLI_LABELS if found == set(NLI_LABELS) else from_values(found)


def _vote_tables(entries: list[_Entry], labels: tuple[str, ...], log: Log) -> dict[str, Any]:
    """``votes`` of those who chose one label; ``soft_votes`` of all where someone chose several."""
    import polars as pl

    every = [(entry.item, name, chosen) for entry in entries for name, chosen in entry.votes]
    single = [(item, name, chosen[0]) for item, name, chosen in every if len(chosen) == 1]
    log.drop("annotations", len(every) - len(single), "several labels at once; they are in soft_votes, in equal shares")
    tables = {}
    if single:
        tables["votes"] = pl.DataFrame(single, schema=["item_id", "annotator_id", "label"], orient="row")
    if len(single) < len(every):
        shares = [[1 / len(chosen) if label in chosen else 0.0 for label in labels] for _, _, chosen in every]
        columns: Mapping[str, Any] = {
            "item_id": [item for item, _, _ in every],
            "annotator_id": [n for _, n, _ in every],
        }
        columns = {**columns, **{f"p_{label}": [row[k] for row in shares] for k, label in enumerate(labels)}}
        tables["soft_votes"] = pl.DataFrame(columns)
    return tables


def _splits_frame(entries: list[_Entry]) -> Any:
    import polars as pl

    return pl.DataFrame(
        {
            "item_id": [entry.item for entry in entries],
            "split": [SPLIT] * len(entries),
            "part": [entry.part for entry in entries],
        }
    )
