"""DICES (Aroyo et al., NeurIPS 2023): safety ratings of conversations by about 70 (or 120) people.

Two layouts. The official CSV files (``diverse_safety_adversarial_dialog_*.csv``) have ``rater_id``, ``item_id`` and
``Q_overall`` and become votes; built from their public description, tested on made-up rows. The JSON of JUDGE-BENCH
has lists of ratings without ids and becomes counts. Labels Yes, No, Unsure. **Yes means unsafe** in both, although
the JSON's prompt asks whether the response is safe.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from saturation.datasets.conversion import Conversion, Log, Options, counts_frame, items_frame
from saturation.datasets.reading import MAX_TEXT, Fields, fail, read_json, read_text
from saturation.errors import UsageError

LABELS = ("Yes", "No", "Unsure")
POLARITY = "Yes means that the rater found the response unsafe, whatever the prompt in the source asks"
_METRIC = "safety"
_NEEDED = ("rater_id", "item_id", "Q_overall")
_ATTRIBUTES = ("degree_of_harm", "harm_type", "context", "response")


def read(paths: list[Path], options: Options, log: Log) -> Conversion:
    """Read one CSV or JSON file; items of different releases share numbers, so one at a time."""
    del options
    if len(paths) != 1:
        raise UsageError(f"dices is one file at a time (items of 350 and 990 share numbers); {len(paths)} were given")
    log.note(POLARITY)
    return _read_csv(paths[0], log) if paths[0].suffix.lower() == ".csv" else _read_json(paths[0], log)


def _read_csv(path: Path, log: Log) -> Conversion:
    import polars as pl

    votes: dict[tuple[str, str], str] = {}
    items: dict[str, dict[str, str | None]] = {}
    for row, cells in _csv_rows(path):
        rater, item, label = (cells[name] for name in _NEEDED)
        if not rater or not item:
            fail("C02", "rater_id or item_id is empty", path, row=row)
        if label not in LABELS:
            fail("C03", f"Q_overall is {label!r}, not one of {', '.join(LABELS)}", path, row=row, item=item)
        if (item, rater) in votes:
            fail("C04", f"rater {rater} has rated this item already", path, row=row, item=item)
        votes[item, rater] = label
        own = {"item_id": item} | {name: cells[name] or None for name in _ATTRIBUTES if name in cells}
        if items.setdefault(item, own) != own:
            fail("C05", "the item's text or harm differs from that of an earlier row", path, row=row, item=item)
    if not votes:
        fail("C01", "the file has no rows", path)
    log.read(path, len(votes))
    log.note("gender, locale and other attributes of the raters are not carried")
    frame = pl.DataFrame(
        {
            "item_id": [item for item, _ in votes],
            "annotator_id": [rater for _, rater in votes],
            "label": list(votes.values()),
        }
    )
    return Conversion(tables={"votes": frame, "items": items_frame(items.values())}, labels=LABELS)


def _csv_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Row number (from 1) and cells by column; strict about quotes and the number of cells."""
    text = read_text(path)
    limit = csv.field_size_limit(MAX_TEXT)
    try:
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = next(rows, [])
        missing = [name for name in _NEEDED if name not in header]
        if missing:
            fail("C02", f"the column {missing[0]} is missing: is this an official DICES file?", path)
        for row, cells in enumerate(rows, start=1):
            if not cells:
                continue
            if len(cells) != len(header):
                fail("C01", f"{len(cells)} cells, the header has {len(header)}", path, row=row)
            yield row, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        fail("C01", f"not readable as CSV: {error}", path)
    finally:
        csv.field_size_limit(limit)


def _read_json(path: Path, log: Log) -> Conversion:
    counts: dict[str, list[int]] = {}
    items: list[dict[str, str | None]] = []
    for number, instance in enumerate(Fields(read_json(path), path).sequence("instances"), start=1):
        item = Fields(instance, path, row=number).text("id")
        fields = Fields(instance, path, row=number, item=item)
        if item in counts:
            fields.fail("C04", "the id is there twice")
        rated = Fields(fields.mapping("annotations").get(_METRIC), path, row=number, item=item)
        counts[item] = _count(rated)
        shown = Fields(fields.mapping("instance"), path, row=number, item=item)
        majority = rated.optional("majority_human")
        if majority not in (None, *LABELS):
            rated.fail("C03", f"majority_human is {majority!r}, not one of {', '.join(LABELS)}")
        texts = {name: shown.optional(name) for name in ("user_prompt", "response")}
        items.append({"item_id": item, "majority_label": majority, **texts})
    if not counts:
        fail("C01", "the file has no instances", path)
    log.read(path, len(counts))
    log.note("this file has no rater ids, so intervals assume that no one labels many items, which is wrong here")
    tables = {"vote_counts": counts_frame(counts, counts.values(), LABELS), "items": items_frame(items)}
    return Conversion(tables=tables, labels=LABELS)


def _count(rated: Fields) -> list[int]:
    scores: list[Any] = rated.sequence("individual_human_scores")
    strange = [score for score in scores if score not in LABELS]
    if strange or not scores:
        what = f"has {strange[0]!r}" if strange else "is empty"
        rated.fail("C03", f"individual_human_scores {what}; the labels are {', '.join(LABELS)}")
    number = Counter(scores)
    return [number[label] for label in LABELS]
