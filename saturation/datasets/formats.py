"""The formats that can be converted: where each is read, from which files, with which options."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from saturation.datasets.conversion import Conversion, Log, Options
from saturation.errors import UsageError

Reader = Callable[[list[Path], Options, Log], Conversion]


@dataclass(frozen=True, slots=True)
class Format:
    """One published format.

    Attributes
    ----------
    module, function
        Where its reader is.
    what
        For people: the data and the files.
    suffixes
        Files that it reads.
    takes
        Names of the options that it takes.
    skip
        Ends of file names that lie beside the data and are something else.
    """

    module: str
    what: str
    suffixes: tuple[str, ...]
    takes: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    function: str = "read"

    def reader(self) -> Reader:
        """Import the reader."""
        reader: Reader = getattr(importlib.import_module(f"saturation.datasets.{self.module}"), self.function)
        return reader


_TABLES = (".csv", ".parquet", ".pq", ".jsonl", ".ndjson", ".arrow", ".ipc", ".feather")

_ELICITED = ("variety", "spread", "gamma", "rule", "strict")

FORMATS: dict[str, Format] = {
    "chaosnli": Format("chaosnli", "ChaosNLI v1.0: chaosNLI_*.jsonl", (".jsonl",)),
    "baan-predictions": Format("baan", "predictions of Baan et al. 2022: SNLI_dev_roberta-base_0.json", (".json",)),
    "nie-predictions": Format("nie", "model predictions of the ChaosNLI repository: one JSON", (".json",)),
    "cifar10h": Format("cifar10h", "CIFAR-10H: cifar10h-counts.npy", (".npy",)),
    "cifar10s": Format(
        "elicited", "CIFAR-10S: the responses, or the published soft labels", (".json",), _ELICITED, (), "read_cifar10s"
    ),
    "dices": Format("dices", "DICES: the official CSV, or the JSON of JUDGE-BENCH", (".csv", ".json")),
    "lewidi": Format(
        "lewidi",
        "LeWiDi 2023 and 2025: the JSON files of one task",
        (".json",),
        ("labels",),
        ("_annotators_meta.json",),
    ),
    "peerannot": Format("peerannot", "peerannot: answers.json", (".json",), ("labels",), ("metadata.json",)),
    "cubam": Format("cubam", "CUBAM: labels.txt", (".txt",), ("labels",)),
    "elicited": Format(
        "elicited",
        "your own table of responses: item_id, annotator_id, top, top_percent, second, second_percent, impossible",
        _TABLES,
        ("labels", "item_column", "annotator_column", "label_column", *_ELICITED),
        (".meta.json",),
        "read_elicited",
    ),
    "long": Format(
        "plain",
        "your own table, one row a vote",
        _TABLES,
        ("labels", "item_column", "annotator_column", "label_column"),
        (".meta.json",),
        "read_long",
    ),
    "wide": Format(
        "plain",
        "your own table, one row an item and one column of counts a label",
        _TABLES,
        ("labels", "item_column"),
        (".meta.json",),
        "read_wide",
    ),
}
"""By the name that ``convert`` takes."""


def format_named(name: str) -> Format:
    """A format by its name.

    Raises
    ------
    UsageError
        Naming what exists.
    """
    if name not in FORMATS:
        near = sorted(difflib.get_close_matches(name, FORMATS, n=2))
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise UsageError(f"unknown format {name!r}; {hint}formats are {', '.join(FORMATS)}")
    return FORMATS[name]


def check_options(name: str, options: Options) -> None:
    """Refuse options that a format would not read."""
    chosen = format_named(name)
    for option in ("labels", "item_column", "annotator_column", "label_column", *_ELICITED):
        if getattr(options, option) not in (None, False) and option not in chosen.takes:
            takes = ", ".join("--" + one.replace("_", "-") for one in chosen.takes) or "none of them"
            raise UsageError(f"{name} does not take --{option.replace('_', '-')} (it takes {takes})")
