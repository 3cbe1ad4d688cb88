"""Answers in the format of peerannot (Lefort et al., Computo 2024): ``answers.json``, {item: {worker: label index}}.

``metadata.json`` beside it says ``n_classes``; labels are then "0", "1", ... or the names given with ``--labels``.
"""

from __future__ import annotations

from pathlib import Path

from saturation.datasets.conversion import Conversion, Log, Options, label_names
from saturation.datasets.reading import Fields, fail, is_whole, read_json

METADATA = "metadata.json"


def read(paths: list[Path], options: Options, log: Log) -> Conversion:
    """Read answers of one task; several files (train, valid) may not share items."""
    import polars as pl

    answers: list[tuple[str, str, int]] = []
    seen: set[str] = set()
    unanswered = 0
    for path in paths:
        content = read_json(path)
        log.read(path, len(content))
        for item, votes in content.items():
            fields = Fields(votes, path, item=item)
            if item in seen:
                fields.fail("C04", "the item is in two files; convert the tasks apart")
            seen.add(item)
            unanswered += not votes
            answers += [(item, worker, _index(fields, worker)) for worker in fields.content]
    if not answers:
        fail("C01", "the file has no answers", paths[0])
    log.drop("items", unanswered, "no one answered them")
    labels = label_names(options, _number_of_labels(paths, answers, log))
    frame = pl.DataFrame(
        {
            "item_id": [item for item, _, _ in answers],
            "annotator_id": [worker for _, worker, _ in answers],
            "label": [labels[index] for _, _, index in answers],
        }
    )
    return Conversion(tables={"votes": frame}, labels=labels)


def _index(fields: Fields, worker: str) -> int:
    value = fields.content[worker]
    if not is_whole(value) or value < 0:
        fields.fail("C03", f"worker {worker!r} answered {value!r}, not a label index from 0")
    return int(value)


def _number_of_labels(paths: list[Path], answers: list[tuple[str, str, int]], log: Log) -> int:
    """``n_classes`` of the metadata, which no answer may exceed; without metadata the largest answer decides."""
    used = max(index for _, _, index in answers) + 1
    promised = {_n_classes(beside) for path in paths if (beside := path.parent / METADATA).is_file()}
    if not promised:
        log.note(f"no {METADATA} beside the answers: labels that nobody chose, beyond the largest one, are unknown")
        return max(used, 2)
    if len(promised) > 1:
        fail(
            "C05",
            f"the metadata beside the files promise {sorted(promised)} classes: convert the tasks apart",
            paths[0],
        )
    number = promised.pop()
    if used > number:
        item, worker, index = next(answer for answer in answers if answer[2] >= number)
        fail("C05", f"worker {worker!r} answered {index}; {METADATA} promises {number} classes", paths[0], item=item)
    return number


def _n_classes(path: Path) -> int:
    number = Fields(read_json(path), path).need("n_classes")
    if not is_whole(number) or not 2 <= number <= 1000:
        fail("C03", f"n_classes is {number!r}, not a number from 2 to 1,000", path)
    return int(number)
