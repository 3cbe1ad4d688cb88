"""The text form of a metric: ``name`` or ``name[option=value;option=value]``; a comma separates options as well."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, get_args

from saturation.errors import UsageError
from saturation.metrics.bins import Binning
from saturation.metrics.correlation import Kind
from saturation.metrics.estimators import Estimator
from saturation.typing import TieRule

Value: TypeAlias = str | int | float | None
Reader: TypeAlias = Callable[[str, str | float | None], Value]
"""(option, value) -> the value checked, read from text where it is text; UsageError where it is no such value."""

MAX_BINS = 10_000
"""Most bins of a calibration error; features of every bin are kept for every item."""

_SPEC = re.compile(r"(?P<name>[a-z][a-z0-9_]*)(?:\[(?P<options>[^\[\]]*)\])?")


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Name and options of a text form, the options still text.

    Examples
    --------
    >>> split_spec("reverse_kl[floor=1e-12;base=2]")
    ('reverse_kl', {'floor': '1e-12', 'base': '2'})
    """
    match = _SPEC.fullmatch(spec.strip())
    if match is None:
        raise UsageError(f"{spec!r} is not a metric; write name or name[option=value;option=value]")
    options: dict[str, str] = {}
    for part in filter(None, re.split("[;,]", match["options"] or "")):
        option, equals, text = (piece.strip() for piece in part.partition("="))
        if not equals or not text:
            raise UsageError(f"{spec!r}: write {option}=value")
        if option in options:
            raise UsageError(f"{spec!r}: {option} is given twice")
        options[option] = text
    return match["name"], options


def spec_text(name: str, options: Mapping[str, Value], defaults: Mapping[str, Value]) -> str:
    """The canonical text form: options that differ from their default, in the metric's own order."""
    told = [
        f"{option}={value_text(option, options[option])}"
        for option in defaults
        if option in options and options[option] != defaults[option]
    ]
    return f"{name}[{';'.join(told)}]" if told else name


def unknown_name(name: str, known: Iterable[str]) -> UsageError:
    """The error for a name that is not in a list, with the closest that is."""
    return UsageError(f"unknown metric {name!r}{close_match(name, known)}; `saturation metrics` lists all")


def close_match(name: str, known: Iterable[str]) -> str:
    """A hint at the closest known name, or nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def value_text(option: str, value: Value) -> str:
    """An option's value as it is written in a text form."""
    if value is None:
        return "e" if option == "base" else "none"
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return short if isinstance(value, str) or float(short) == value else repr(value)


def _number(option: str, value: str | float | None) -> float:
    try:
        return float(value)  # type: ignore[arg-type]  # None raises TypeError, which is caught
    except (TypeError, ValueError):
        raise UsageError(f"{option} must be a number, not {value!r}") from None


def _positive(option: str, value: str | float | None) -> float:
    number = _number(option, value)
    if not 0 < number < float("inf"):
        raise UsageError(f"{option} must be a positive number, not {value!r}")
    return number


def _floor(option: str, value: str | float | None) -> float:
    number = _number(option, value)
    if not 0 <= number < 1:
        raise UsageError(f"{option} must lie in [0, 1), not {value!r}; 0 leaves infinities")
    return number


def _whole(option: str, value: str | float | None) -> int:
    number = _number(option, value)
    if number % 1 != 0 or number < 0:  # infinity % 1 is NaN
        raise UsageError(f"{option} must be a whole number, not {value!r}")
    return int(number)


def _bins(option: str, value: str | float | None) -> int:
    number = _whole(option, value)
    if number < 1:
        raise UsageError(f"{option} must be at least 1, not {value!r}")
    if number > MAX_BINS:
        raise UsageError(f"{option} must be at most {MAX_BINS:,}, not {value!r}")
    return number


def _base(option: str, value: str | float | None) -> float | None:
    if value is None or value == "e":
        return None
    number = _number(option, value)
    if not 1 < number < float("inf"):
        raise UsageError(f"{option} must be 'e' or a number above 1, not {value!r}")
    return number


def _smooth(option: str, value: str | float | None) -> str | float | None:
    if value is None or value == "none":
        return None
    return "1/K" if value == "1/K" else _positive(option, value)


def one_of(*words: str) -> Reader:
    """A reader that takes one of these words."""

    def read(option: str, value: str | float | None) -> str:
        if value not in words:
            raise UsageError(f"{option} must be one of {', '.join(words)}, not {value!r}")
        return str(value)

    return read


READERS: dict[str, Reader] = {
    "floor": _floor,
    "base": _base,
    "smooth": _smooth,
    "ties": one_of(*get_args(TieRule)),
    "model_ties": one_of("first", "share"),
    "seed": _whole,
    "bins": _bins,
    "binning": one_of(*get_args(Binning)),
    "kind": one_of(*get_args(Kind)),
    "entropy_estimator": one_of(*get_args(Estimator)),
}
