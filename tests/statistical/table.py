"""Tables of the study in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from tests.statistical.settings import Setting
from tests.statistical.tally import Tally, merge, range_of, share_interval

NOMINAL = 0.95
TARGET = (0.93, 0.97)
LEVEL = 0.99
Results = Mapping[Setting, Mapping[str, Tally]]


def full(results: Results) -> str:
    """One row a setting and quantity."""
    head = (
        "setting",
        "quantity",
        "coverage",
        "99% range at .95",
        "missed low / high",
        "mean width",
        "bias",
        "undefined",
    )
    return markdown(head, _full_rows(results))


def _full_rows(results: Results) -> Iterator[Sequence[str]]:
    for setting, tallies in results.items():
        for name, one in tallies.items():
            undefined = str(one.asked - one.defined)
            sides = f"{one.below} / {one.above}"
            yield setting.name, name, share(one.coverage), chance(one.defined), sides, *numbers(one), undefined


def pooled(results: Results) -> str:
    """One row a quantity: coverage by number of seeds and kind of votes, pooled over items and votes."""
    columns = [(seeds, ids) for ids in (False, True) for seeds in sorted({s.n_seeds for s in results})]
    head = ["quantity", *(f"S={seeds}{', ids' if ids else ''}" for seeds, ids in columns)]
    head += ["all", "99% range at .95", "lowest setting", "mean width", "undefined"]
    return markdown(head, _pooled_rows(results, columns))


def _pooled_rows(results: Results, columns: Sequence[tuple[int, bool]]) -> Iterator[Sequence[str]]:
    regular = _regular(results)
    for name in names(regular):
        cells = []
        for seeds, ids in columns:
            found = [t[name] for s, t in regular.items() if (s.n_seeds, s.annotators) == (seeds, ids) and name in t]
            cells.append(share(merge(found).coverage))
        whole = merge(t[name] for t in regular.values() if name in t)
        undefined = f"{whole.asked - whole.defined} of {whole.asked}"
        worst = _lowest(regular, name)
        yield name, *cells, share(whole.coverage), chance(whole.defined), worst, numbers(whole)[0], undefined


def _lowest(results: Results, name: str) -> str:
    """The setting with the lowest coverage, and how many of how many intervals held there."""
    found = [(t[name].coverage, s.name, t[name]) for s, t in results.items() if name in t and t[name].defined]
    if not found:
        return "-"
    _, setting, one = min(found, key=lambda each: each[:2])
    return f"{share(one.coverage)} {setting} ({one.covered}/{one.defined})"


def misses(results: Results) -> str:
    """Where coverage is outside 93-97% beyond chance: the 99% interval of the share does not meet that range.

    First over all settings of one kind of votes together, then setting by setting.
    """
    regular = _regular(results)
    rows = []
    for kind, ids in (("all, no ids", False), ("all, ids", True)):
        those = [tallies for setting, tallies in regular.items() if setting.annotators is ids]
        together = {name: merge(t[name] for t in those if name in t) for name in names(regular)}
        rows += [(kind, *_miss(name, one)) for name, one in together.items() if _is_miss(one)]
    for setting, tallies in results.items():
        rows += [(setting.name, *_miss(name, one)) for name, one in tallies.items() if _is_miss(one)]
    return markdown(("setting", "quantity", "coverage", "its 99% interval"), rows)


def _is_miss(one: Tally) -> bool:
    if one.defined == 0:
        return False
    low, high = share_interval(one.covered, one.defined, LEVEL)
    return high < TARGET[0] or low > TARGET[1]


def _miss(name: str, one: Tally) -> tuple[str, str, str]:
    low, high = share_interval(one.covered, one.defined, LEVEL)
    return name, f"{share(one.coverage)} ({one.covered}/{one.defined})", f"{share(low)}-{share(high)}"


def _regular(results: Results) -> Results:
    """Without the settings that ask one seed's interval about new runs."""
    return {setting: found for setting, found in results.items() if not (setting.n_seeds == 1 and setting.new_runs)}


def names(results: Results) -> list[str]:
    """Quantities in the order in which they appear."""
    return list(dict.fromkeys(name for tallies in results.values() for name in tallies))


def numbers(one: Tally) -> tuple[str, str]:
    """Mean width and bias."""
    return _number(one.mean_width), _number(one.bias)


def share(value: float) -> str:
    """A share with three decimals and no leading zero."""
    return "-" if math.isnan(value) else f"{value:.3f}".removeprefix("0")


def chance(n: int) -> str:
    """Where a share of n would lie by chance at the nominal level."""
    if n == 0:
        return "-"
    low, high = range_of(n, NOMINAL, LEVEL)
    return f"{share(low)}-{share(high)}"


def markdown(head: Sequence[str], rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3g}"
