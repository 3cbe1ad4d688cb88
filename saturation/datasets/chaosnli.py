"""ChaosNLI v1.0 (Nie, Zhou & Bansal, EMNLP 2020): 100 votes an item on SNLI, MNLI and alphaNLI, as JSON lines.

Labels are written out: entailment, neutral, contradiction; alphaNLI's are "1" and "2". The two sets do not mix.
``label_count`` is in the order [e, n, c] or [1, 2]; ``label_counter`` says the same by name and has to agree. The
published ``entropy`` is in bits and is not carried.
"""

from __future__ import annotations

from pathlib import Path

from saturation.datasets.conversion import (
    ABDUCTION_LABELS,
    NLI_LABELS,
    Conversion,
    Log,
    Options,
    counts_frame,
    items_frame,
)
from saturation.datasets.reading import Fields, as_text, fail, is_whole, read_json_lines

_SHORT = {"e": "entailment", "n": "neutral", "c": "contradiction"}
_TEXTS = ("premise", "hypothesis", "obs1", "obs2", "hyp1", "hyp2")


def read(paths: list[Path], options: Options, log: Log) -> Conversion:
    """Read one or several ``chaosNLI_*.jsonl`` files of one label set."""
    del options
    counts: dict[str, list[int]] = {}
    items: list[dict[str, str | None]] = []
    labels: tuple[str, ...] | None = None
    for path in paths:
        before = len(counts)
        for row, content in read_json_lines(path):
            uid = Fields(content, path, row=row).text("uid")
            fields = Fields(content, path, row=row, item=uid)
            own, names = _counts(fields)
            if labels not in (None, names):
                fields.fail("C05", f"labels {', '.join(names)} after {', '.join(labels or ())}: convert the sets apart")
            if uid in counts:
                fields.fail("C04", "the uid is there twice")
            labels = names
            counts[uid] = own
            items.append({"item_id": uid, **_attributes(fields, names)})
        log.read(path, len(counts) - before)
    if labels is None:
        fail("C01", "the file has no rows", paths[0])
    log.note("the individual annotators are not published, so intervals assume that no one labels many items")
    return Conversion(
        tables={"vote_counts": counts_frame(counts, counts.values(), labels), "items": items_frame(items)},
        labels=labels,
    )


def _counts(fields: Fields) -> tuple[list[int], tuple[str, ...]]:
    """Counts in label order, by position and by name, which have to agree."""
    counts = fields.whole("label_count")
    by_length = {len(NLI_LABELS): NLI_LABELS, len(ABDUCTION_LABELS): ABDUCTION_LABELS}
    if len(counts) not in by_length:
        fields.fail("C02", f"label_count has {len(counts)} entries, not 3 (e, n, c) or 2 (1, 2)")
    names = by_length[len(counts)]
    by_name = dict.fromkeys(names, 0)
    for short, number in fields.mapping("label_counter").items():
        name = _SHORT.get(short, short)
        if name not in by_name or not is_whole(number):
            fields.fail("C03", f"label_counter has {short!r}: {number!r}; its labels are {', '.join(names)}")
        by_name[name] = number
    if list(by_name.values()) != counts:
        fields.fail("C05", f"label_counter says {list(by_name.values())}, label_count {counts} ({', '.join(names)})")
    return counts, names


def _attributes(fields: Fields, labels: tuple[str, ...]) -> dict[str, str | None]:
    example = Fields(fields.content.get("example", {}), fields.path, row=fields.row, item=fields.item)
    return {
        "source": example.optional("source"),
        "majority_label": _label(fields, "majority_label", labels),
        "old_label": _label(fields, "old_label", labels),
        **{name: example.optional(name) for name in _TEXTS},
    }


def _label(fields: Fields, name: str, labels: tuple[str, ...]) -> str | None:
    """A published label in full words; None where there is none."""
    value = as_text(fields.content.get(name))
    if not value:
        return None
    label = _SHORT.get(value, value)
    if label not in labels:
        fields.fail("C03", f"{name} is {value!r}, not one of {', '.join(labels)}")
    return label
