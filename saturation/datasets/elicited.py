"""Responses with a most probable label, perhaps a second one, and impossible labels, as ``soft_votes``.

``cifar10s``: the responses (``human_soft_labels_data.json``, {test index: [response]}) or the published soft labels
({test index: [[ten numbers]]}) of Collins, Bhatt & Weller 2022. ``elicited``: anybody's CSV, JSONL or parquet with
``item_id, annotator_id, top, top_percent, second, second_percent, impossible, seconds``; ``impossible`` is a list
(JSONL) or labels with ``|`` between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from saturation.datasets.conversion import CIFAR_LABELS, Conversion, Log, Options
from saturation.datasets.reading import Fields, fail, read_json
from saturation.elicitation import CONTRADICTIONS, MENDED, NO_LABEL, Responses, contradictions, soft_labels
from saturation.errors import DataError, Problem, UsageError
from saturation.tables.findings import ROW
from saturation.tables.io import load
from saturation.tables.labels import from_values

if TYPE_CHECKING:
    import polars as pl

    from saturation.typing import Probs

_TOP, _TOP_PERCENT = "Most Probable Class", "Most Probable Class Prob"
_SECOND, _SECOND_PERCENT, _TICKED = (
    "Second Most Probable Class",
    "Second Most Probable Class Prob",
    "Impossible Class(es)",
)
_NO_SECOND = "No"
_POOLED = (
    "annotators are not published and one person may have answered twice about an image: responses are pooled, and "
    "each counts as a person of its own"
)
_BETWEEN = "|"


@dataclass(frozen=True, slots=True)
class Answer:
    """One response as a file has it; labels by name."""

    item: str
    annotator: str
    top: str
    top_percent: float | None
    second: str | None
    second_percent: float | None
    impossible: tuple[str, ...]
    seconds: float | None = None


def read_cifar10s(paths: list[Path], options: Options, log: Log) -> Conversion:
    """Responses or published soft labels of CIFAR-10S; items are indices of the CIFAR-10 test set."""
    if len(paths) > 1:
        raise UsageError("cifar10s is one file: the responses, or the published soft labels")
    content = read_json(paths[0])
    log.read(paths[0], sum(len(one) if isinstance(one, list) else 1 for one in content.values()))
    log.note(_POOLED)
    first = next(iter(content.values()), None)
    if isinstance(first, list) and first and isinstance(first[0], list):
        return _published(content, paths[0])
    answers = [answer for item, responses in content.items() for answer in _of_image(item, responses, paths[0])]
    return _conversion(answers, CIFAR_LABELS, options, log, default_rule="published")


def read_elicited(paths: list[Path], options: Options, log: Log) -> Conversion:
    """Responses in a table of one's own; an annotator's first response to an item counts, repeats are left out."""
    loaded = load(paths, "votes").renamed(
        {"item_id": options.item_column, "annotator_id": options.annotator_column, "top": options.label_column}
    )
    for one in loaded.inputs:
        log.read(one.path, one.rows)
    missing = [name for name in ("item_id", "annotator_id", "top") if name not in loaded.columns]
    if missing:
        raise UsageError(
            f"{loaded.name} has no column {', '.join(missing)}; its columns are {', '.join(loaded.columns)}"
        )
    answers, problems = [], []
    for record in loaded.frame.to_dicts():
        file, row = loaded.place(record.pop(ROW))
        try:
            answers.append(_of_record(record))
        except ValueError as error:
            problems.append(Problem("C03", str(error), file, row, str(record.get("item_id"))))
    if problems:
        raise DataError(problems)
    said = {name for one in answers for name in (one.top, one.second, *one.impossible) if name is not None}
    labels = options.labels or from_values(sorted(said))
    if options.labels is None:
        log.note(f"labels in the order {', '.join(labels)}; --labels sets another, and names labels that nobody chose")
    return _conversion(_first_only(answers, log), labels, options, log, default_rule="repaired")


def _conversion(
    answers: Sequence[Answer], labels: Sequence[str], options: Options, log: Log, *, default_rule: str
) -> Conversion:
    if not answers:
        raise UsageError("the files hold no responses")
    responses = _responses(answers, labels)
    rule: Any = options.rule or default_rule
    _tell(answers, responses, rule, options.strict, log)
    probs = soft_labels(
        responses,
        variety=options.variety or "T2",
        spread=options.spread or "clamp",
        gamma=0.10 if options.gamma is None else options.gamma,
        rule=rule,
    )
    return Conversion(tables={"soft_votes": _frame(answers, probs, labels)}, labels=tuple(labels))


def _tell(answers: Sequence[Answer], responses: Responses, rule: str, strict: bool, log: Log) -> None:
    """Count contradictions; with ``--strict`` refuse them, each by item and annotator."""
    found = contradictions(responses)
    if strict:
        problems = [
            Problem("C05", f"{CONTRADICTIONS[kind]} (annotator {answers[row].annotator!r})", item=answers[row].item)
            for kind in MENDED
            for row in np.flatnonzero(found[kind]).tolist()
        ]
        if problems:
            raise DataError(problems)
    for kind, rows in found.items():
        if rule == "repaired" and kind in MENDED:
            log.repair("responses", int(rows.sum()), CONTRADICTIONS[kind])
        elif rows.any():
            log.note(f"{int(rows.sum()):,} responses taken as they are: {CONTRADICTIONS[kind]}")


def _responses(answers: Sequence[Answer], labels: Sequence[str]) -> Responses:
    place = {label: k for k, label in enumerate(labels)}
    unknown = [
        Problem("C03", f"{name!r} is none of the labels {', '.join(labels)}", item=one.item)
        for one in answers
        for name in (one.top, one.second, *one.impossible)
        if name is not None and name not in place
    ]
    if unknown:
        raise DataError(unknown)
    ticked = np.zeros((len(answers), len(labels)), dtype=bool)
    for row, one in enumerate(answers):
        ticked[row, [place[name] for name in one.impossible]] = True
    return Responses(
        top=np.array([place[one.top] for one in answers], dtype=np.int64),
        top_percent=_numbers(one.top_percent for one in answers),
        second=np.array([NO_LABEL if one.second is None else place[one.second] for one in answers], dtype=np.int64),
        second_percent=_numbers(one.second_percent for one in answers),
        impossible=ticked,
    )


def _numbers(values: Iterable[float | None]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _frame(answers: Sequence[Answer], probs: Probs, labels: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    columns: dict[str, Any] = {
        "item_id": [one.item for one in answers],
        "annotator_id": [one.annotator for one in answers],
        **{f"p_{label}": probs[:, k] for k, label in enumerate(labels)},
    }
    if any(one.seconds is not None for one in answers):
        columns["seconds"] = pl.Series([one.seconds for one in answers], dtype=pl.Float64)
    return pl.DataFrame(columns)


def _of_image(item: str, responses: Any, path: Path) -> list[Answer]:
    if not isinstance(responses, list):
        fail("C02", "an image has a list of responses", path, item=item)
    made = []
    for rank, response in enumerate(responses):
        fields = Fields(response, path, item=item)
        second = fields.need(_SECOND)
        made.append(
            Answer(
                item=item,
                annotator=f"{item}/{rank}",
                top=_class(fields, fields.need(_TOP)),
                top_percent=_percent_of(fields, _TOP_PERCENT),
                second=None if second in (_NO_SECOND, None) else _class(fields, second),
                second_percent=_percent_of(fields, _SECOND_PERCENT),
                impossible=tuple(_class(fields, name) for name in fields.need(_TICKED)),
            )
        )
    return made


def _class(fields: Fields, name: Any) -> str:
    label = str(name).lower()
    if label not in CIFAR_LABELS:
        fields.fail("C03", f"{name!r} is none of the ten classes")
    return label


def _percent_of(fields: Fields, name: str) -> float | None:
    value = fields.content.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        fields.fail("C03", f"{name!r} is {value!r}, not a percent")
    return float(value)


def _published(content: dict[str, Any], path: Path) -> Conversion:
    import polars as pl

    rows = [(item, rank, row) for item, rank_rows in content.items() for rank, row in enumerate(rank_rows)]
    wrong = [(item, row) for item, _, row in rows if not isinstance(row, list) or len(row) != len(CIFAR_LABELS)]
    if wrong:
        fail("C02", f"a soft label is {wrong[0][1]!r}, not ten numbers", path, item=wrong[0][0])
    probs = np.array([row for _, _, row in rows], dtype=np.float64)
    frame = pl.DataFrame(
        {
            "item_id": [item for item, _, _ in rows],
            "annotator_id": [f"{item}/{rank}" for item, rank, _ in rows],
            **{f"p_{label}": probs[:, k] for k, label in enumerate(CIFAR_LABELS)},
        }
    )
    return Conversion(tables={"soft_votes": frame}, labels=CIFAR_LABELS)


def _of_record(record: dict[str, Any]) -> Answer:
    top = _text(record.get("top"))
    if top is None:
        raise ValueError("there is no most probable label (top)")
    return Answer(
        item=str(record["item_id"]),
        annotator=str(record["annotator_id"]),
        top=top,
        top_percent=_number(record.get("top_percent"), "top_percent"),
        second=_text(record.get("second")),
        second_percent=_number(record.get("second_percent"), "second_percent"),
        impossible=_ticked(record.get("impossible")),
        seconds=_number(record.get("seconds"), "seconds"),
    )


def _text(value: Any) -> str | None:
    return None if value is None or not str(value).strip() else str(value).strip()


def _number(value: Any, name: str) -> float | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}, not a number") from None
    if not 0 <= number < float("inf"):
        raise ValueError(f"{name} is {value!r}, not a number from 0")
    return number


def _ticked(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    parts = value.split(_BETWEEN) if isinstance(value, str) else list(value)
    return tuple(dict.fromkeys(str(part).strip() for part in parts if str(part).strip()))


def _first_only(answers: Sequence[Answer], log: Log) -> list[Answer]:
    kept: dict[tuple[str, str], Answer] = {}
    for one in answers:
        kept.setdefault((one.item, one.annotator), one)
    log.drop("responses", len(answers) - len(kept), "the same annotator had answered about the item before")
    return list(kept.values())
