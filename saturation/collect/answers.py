"""Answers from a form: read strictly, kept the moment they are given, each once."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from saturation import files
from saturation.collect.tasks import Task
from saturation.errors import UsageError

LONGEST = 24 * 3600.0
"""Seconds that an answer may have taken; more is an interrupted one, whose time is not recorded."""


class BadAnswerError(ValueError):
    """An answer that cannot be taken, with what to say to the person."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody said about an item; ``second`` and percents only where whole distributions are asked for."""

    top: int
    top_percent: float | None = None
    second: int | None = None
    second_percent: float | None = None
    impossible: tuple[int, ...] = ()


def read_answer(form: Mapping[str, Any], ticked: Sequence[str], n_labels: int, *, soft: bool) -> Answer:
    """An answer from form fields, all of them text.

    Raises
    ------
    BadAnswerError
        With a sentence for the person.

    Examples
    --------
    >>> read_answer({"top": "1", "top_percent": "80"}, ["0"], 3, soft=True)
    Answer(top=1, top_percent=80.0, second=None, second_percent=None, impossible=(0,))
    """
    top = _label(form.get("top"), n_labels)
    if top is None:
        raise BadAnswerError("Choose the most probable answer.")
    if not soft:
        return Answer(top)
    top_percent = _percent(form.get("top_percent"))
    if top_percent is None or top_percent == 0:
        raise BadAnswerError("Say how probable the first answer is, from 1 to 100.")
    second = _label(form.get("second"), n_labels)
    second_percent = None if second is None else _percent(form.get("second_percent"))
    if second == top:
        raise BadAnswerError("The second answer is the first again: choose another one, or none.")
    if top_percent + (second_percent or 0) > 100:
        raise BadAnswerError("The two percentages together are more than 100.")
    impossible = tuple(sorted({label for text in ticked if (label := _label(text, n_labels)) is not None}))
    if top in impossible or second in impossible:
        raise BadAnswerError("An answer that you chose is marked as impossible.")
    return Answer(top, top_percent, second, second_percent, impossible)


def _label(text: object, n_labels: int) -> int | None:
    if text is None or text == "":
        return None
    if not (isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 5 and int(text) < n_labels):
        raise BadAnswerError("That is not one of the answers.")
    return int(text)


def _percent(text: object) -> float | None:
    if text is None or text == "":
        return None
    if not (isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= 100):
        raise BadAnswerError("A percentage is a whole number from 0 to 100.")
    return float(text)


class Store:
    """The file of answers: a JSON line each, on the disk before anybody is thanked.

    Parameters
    ----------
    path
        The file; what is there already is read, so that work goes on.
    item_ids, labels
        Names, for the rows.
    soft
        Whether whole distributions are asked for.
    """

    def __init__(self, path: Path, item_ids: Sequence[str], labels: Sequence[str], *, soft: bool) -> None:
        self.path = path
        self.item_ids = tuple(item_ids)
        self.labels = tuple(labels)
        self.soft = soft
        self._lock = threading.Lock()
        self._done: set[tuple[str, int, int]] = set()
        place = {item: row for row, item in enumerate(item_ids)}
        for number, row in enumerate(_rows(path), 1):
            if row.get("item_id") not in place or ("top" in row) != soft:
                raise UsageError(
                    f"{path}, line {number}: not an answer to these questions; choose another --out, or the items, "
                    "labels and --mode that it was begun with"
                )
            self._done.add((str(row["annotator_id"]), place[row["item_id"]], int(row.get("repeat", 0))))

    def done(self, annotator: str, task: Task) -> bool:
        """Whether this was answered."""
        return (annotator, task.item, task.repeat) in self._done

    def number(self, annotator: str) -> int:
        """How many answers somebody gave."""
        return sum(one[0] == annotator for one in self._done)

    def add(self, annotator: str, task: Task, answer: Answer, seconds: float | None) -> bool:
        """Keep an answer; False where the question was answered before, and the first answer stays."""
        with self._lock:
            if self.done(annotator, task):
                return False
            files.append_line(self.path, json.dumps(self._row(annotator, task, answer, seconds), ensure_ascii=False))
            self._done.add((annotator, task.item, task.repeat))
            return True

    def _row(self, annotator: str, task: Task, answer: Answer, seconds: float | None) -> dict[str, Any]:
        row: dict[str, Any] = {"item_id": self.item_ids[task.item], "annotator_id": annotator}
        if self.soft:
            row |= {
                "top": self.labels[answer.top],
                "top_percent": answer.top_percent,
                "second": None if answer.second is None else self.labels[answer.second],
                "second_percent": answer.second_percent,
                "impossible": [self.labels[k] for k in answer.impossible],
            }
        else:
            row["label"] = self.labels[answer.top]
        known = seconds is not None and 0 <= seconds <= LONGEST
        return row | {"seconds": round(seconds, 3) if known and seconds is not None else None, "repeat": task.repeat}


def _rows(path: Path) -> list[dict[str, Any]]:
    """Whole lines; the last one may have been cut off by a crash, and was then never confirmed to anybody."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    made = []
    for number, line in enumerate(lines[:-1], 1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise UsageError(f"{path}, line {number}: not a JSON line; choose another --out") from error
        if not isinstance(row, dict) or "annotator_id" not in row:
            raise UsageError(f"{path}, line {number}: not an answer of this form; choose another --out")
        made.append(row)
    return made
