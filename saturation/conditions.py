"""A condition: what was varied when a model's target was made, e.g. ``model=m,method=soft,budget=10``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from saturation.errors import UsageError

Value: TypeAlias = str | int | float | None

STANDARD_COLUMNS = ("model", "method", "budget", "strength", "alpha", "prior", "temperature")
"""Columns of a predictions table that are condition columns without being declared, in text order."""

TEXT_COLUMNS = ("model", "method", "prior")
"""Columns whose values are words, even where they look like numbers."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One tuple of condition columns; null columns are left out of ``values``.

    Attributes
    ----------
    values
        (column, value) pairs of the non-null columns: the standard columns first, the rest alphabetically.

    Examples
    --------
    >>> c = Condition.of(model="m", method="soft", budget=10, corpus="a,b")
    >>> str(c)
    'model=m,method=soft,budget=10,corpus="a,b"'
    >>> c.budget, c.strength, str(c.without("budget"))
    (10, None, 'model=m,method=soft,corpus="a,b"')
    """

    values: tuple[tuple[str, Value], ...]

    @classmethod
    def of(cls, **values: Value) -> Condition:
        """Make a condition from columns; nulls are dropped and the order made canonical."""
        present = {name: value for name, value in values.items() if value is not None}
        return cls(tuple((name, present[name]) for name in sorted(present, key=_column_order)))

    def get(self, column: str) -> Value:
        """The value of a column, None where it is null or absent."""
        return dict(self.values).get(column)

    @property
    def model(self) -> str:
        """Name of the model."""
        return str(self.get("model"))

    @property
    def method(self) -> str:
        """How the target was made (hard, smoothing, soft, dirichlet, ...)."""
        return str(self.get("method"))

    @property
    def budget(self) -> int | None:
        """Votes an item that the target was built from; None means all."""
        budget = self.get("budget")
        return None if budget is None else int(budget)

    @property
    def strength(self) -> float | None:
        """Smoothing strength, where there is one."""
        strength = self.get("strength")
        return None if strength is None else float(strength)

    def without(self, *columns: str) -> Condition:
        """The same condition with some columns forgotten."""
        return Condition(tuple((name, value) for name, value in self.values if name not in columns))

    def matches(self, selector: Condition, *, null: tuple[str, ...] = ()) -> bool:
        """Whether every column of the selector agrees; columns in ``null`` must be null here."""
        own = dict(self.values)
        agrees = all(name in own and _same(own[name], value) for name, value in selector.values)
        return agrees and all(name not in own for name in null)

    @property
    def sort_key(self) -> tuple[tuple[object, ...], ...]:
        """Canonical order: null first, numbers numerically, text by its UTF-8 bytes."""
        own = dict(self.values)
        extra = sorted(name for name in own if name not in STANDARD_COLUMNS)
        standard = tuple(_value_order(own.get(name)) for name in STANDARD_COLUMNS)
        return standard + tuple((name, *_value_order(own[name])) for name in extra)

    def __str__(self) -> str:
        return ",".join(f"{name}={_quote(name, value)}" for name, value in self.values)


def select(conditions: tuple[Condition, ...], selector: str) -> Condition:
    """The one condition that a text such as ``method=soft,budget=10`` selects.

    Raises
    ------
    UsageError
        When none or several conditions match; the message lists them.

    Examples
    --------
    >>> both = (Condition.of(model="m", method="hard"), Condition.of(model="m", method="hard", budget=3))
    >>> str(select(both, "method=hard,budget=null"))
    'model=m,method=hard'
    """
    wanted, null = parse(selector)
    found = [c for c in conditions if c.matches(wanted, null=null)]
    if len(found) == 1:
        return found[0]
    what = "no condition matches" if not found else f"{len(found)} conditions match"
    listed = "; ".join(str(c) for c in (found or conditions))
    raise UsageError(f"{what} {selector!r}; name exactly one of: {listed}")


def parse(text: str) -> tuple[Condition, tuple[str, ...]]:
    """Read a selector; returns the condition and the columns that must be null."""
    values: dict[str, Value] = {}
    null = []
    for part in _split(text):
        name, equals, raw = part.partition("=")
        name = name.strip()
        if not equals or not name or name in values or name in null or not _well_quoted(raw):
            raise UsageError(f"{text!r} is not a condition: write column=value,column=value, each column once")
        if raw == "null":
            null.append(name)
        else:
            values[name] = _read(name, raw)
    return Condition.of(**values), tuple(null)


def _split(text: str) -> list[str]:
    """Split at commas outside double quotes."""
    parts, current, quoted = [], "", False
    for character in text:
        quoted ^= character == '"'
        if character == "," and not quoted:
            parts.append(current)
            current = ""
        else:
            current += character
    return [*parts, current]


def _well_quoted(raw: str) -> bool:
    """Either no quote at all, or one around the whole value with every inner one doubled."""
    if '"' not in raw:
        return True
    inner = raw[1:-1]
    return len(raw) > 1 and raw[0] == raw[-1] == '"' and '"' not in inner.replace('""', "")


def _read(column: str, raw: str) -> Value:
    if raw.startswith('"'):
        return raw[1:-1].replace('""', '"')
    return raw if column in TEXT_COLUMNS else _number_or_text(raw)


def _number_or_text(raw: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(raw)
        except ValueError:
            continue
    return raw


def _quote(column: str, value: Value) -> str:
    """Quotes only where a bare value would be read as something else."""
    text = str(value)
    bare = bool(text) and text == text.strip() and text != "null" and not any(c in text for c in ',="')
    word = column in TEXT_COLUMNS or not isinstance(value, str)
    if bare and (word or str(_number_or_text(text)) == text):
        return text
    return '"' + text.replace('"', '""') + '"'


def _same(own: Value, wanted: Value) -> bool:
    """Equal, or the same once written: the text "10" and the number 10 look alike in a selector."""
    return own == wanted or str(own) == str(wanted)


def _column_order(name: str) -> tuple[int, str]:
    return (STANDARD_COLUMNS.index(name), "") if name in STANDARD_COLUMNS else (len(STANDARD_COLUMNS), name)


def _value_order(value: Value) -> tuple[object, ...]:
    if value is None:
        return (0,)
    if isinstance(value, int | float):
        return (1, float(value))
    return (2, value.encode())
