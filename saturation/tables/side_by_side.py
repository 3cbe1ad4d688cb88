"""Several files beside each other: do they speak of the same labels and the same items?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from saturation.results import Note

HUMAN = ("votes", "vote_counts")
_NAMED = 3
"""Items that a remark names."""


@dataclass(frozen=True, slots=True)
class Side:
    """What one file holds: its name, table, labels in order (empty: it has none) and items."""

    path: str
    table: str
    labels: tuple[str, ...]
    items: frozenset[str]


def differences(sides: Sequence[Side]) -> tuple[Note, ...]:
    """Remarks on every file whose labels or items are not those of the votes, or of the first file without votes."""
    if len(sides) < 2:
        return ()
    ordered = sorted(sides, key=lambda side: side.table not in HUMAN)
    return (*_labels(ordered), *_items(ordered))


def _labels(sides: Sequence[Side]) -> Iterator[Note]:
    labelled = [side for side in sides if side.labels]
    for other in labelled[1:]:
        first = labelled[0]
        both = f"{other.path} has the labels {', '.join(other.labels)}, {first.path} {', '.join(first.labels)}"
        if set(other.labels) != set(first.labels):
            yield Note("labels_differ", f"{both}: they cannot be read together")
        elif other.labels != first.labels and other.table != "predictions":  # aligning them says what it did
            yield Note("label_order_differs", f"{both}: the same in another order; columns are matched by name")


def _items(sides: Sequence[Side]) -> Iterator[Note]:
    human = [side for side in sides if side.table in HUMAN] or list(sides[:1])
    known = frozenset[str]().union(*(side.items for side in human))
    where = "the votes" if human[0].table in HUMAN else human[0].path
    for other in (side for side in sides if side not in human):
        unknown, missing = other.items - known, known - other.items
        if unknown:
            text = f"{other.path}: {len(unknown):,} of its {len(other.items):,} items are not in {where}"
            yield Note("items_unknown", f"{text} ({_some(unknown)})")
        if missing and other.table != "predictions":
            text = f"{other.path}: {len(missing):,} of {len(known):,} items of {where} are not in it"
            yield Note("items_missing", f"{text} ({_some(missing)})")


def _some(items: frozenset[str]) -> str:
    named = sorted(items)[:_NAMED]
    return ", ".join(map(repr, named)) + (", ..." if len(items) > len(named) else "")
