"""What a comparison may and may not conclude, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from saturation.analyses.comparing.contests import Contest, Field
from saturation.analyses.comparing.families import DIFFERENCE, Adjusted
from saturation.analyses.remarks import FEW_SEEDS, NO_DRAW_COLUMN, people
from saturation.resampling.designs import FROM_SEEDS, redrawn_units
from saturation.resampling.linearized import ONE_SEED
from saturation.resampling.paired import Paired
from saturation.results import Note

METHODS = {"holm": "Holm's method", "bh": "Benjamini and Hochberg's method", "romano_wolf": "Romano and Wolf's method"}


def sentence(
    field: Field,
    contest: Contest,
    adjusted: Mapping[str, Adjusted],
    adjustment: str,
    margin: float | None,
) -> str:
    """One contest in words: what the data say, for whom, and what they do not say."""
    made, name = contest.difference, contest.metric.name
    if contest.reason is not None:
        return f"{name}: no comparison ({contest.reason})."
    if made.estimate is None or made.p is None:
        return f"{name}: no conclusion ({made.interval.reason})."
    said = [_finding(field, contest, adjusted[DIFFERENCE], adjustment), *_against_margin(field, margin, adjusted)]
    said.append(_scope(field))
    return " ".join(said)


def _finding(field: Field, contest: Contest, adjusted: Adjusted, adjustment: str) -> str:
    made, alpha = contest.difference, 1 - field.level
    assert made.estimate is not None
    assert made.p is not None
    head = f"{contest.metric.name}: {_measured(field, made)}"
    if made.p >= alpha:
        return (
            f"{head}. The data do not tell which of the two is better; this is no evidence that they are equal"
            f"{_still_possible(made)}."
        )
    if adjustment != "none" and (adjusted.p is None or adjusted.p >= alpha):
        after = "not adjusted" if adjusted.p is None else f"{number(adjusted.p)} after {METHODS[adjustment]}"
        return (
            f"{head}. Alone it would count as a difference, but among {adjusted.family_size} comparisons it does not "
            f"({after}): no conclusion."
        )
    over = adjusted.family_size > 1 and adjustment != "none"
    also = f", also among {adjusted.family_size} comparisons ({METHODS[adjustment]})" if over else ""
    if contest.better == 0:
        return f"{head}. The two differ{also}; neither direction is better."
    winner = "a" if made.estimate * contest.better > 0 else "b"
    word = "lower" if contest.better < 0 else "higher"
    return f"{head}. {word.capitalize()} is better: {winner} is better{also}."


def _measured(field: Field, made: Paired) -> str:
    assert made.estimate is not None
    assert made.p is not None
    way = "lower" if made.estimate < 0 else "higher"
    size = "a and b score the same" if made.estimate == 0 else f"a scores {abs(made.estimate):.4g} {way} than b"
    if made.interval.low is None or made.interval.high is None:
        reason = (made.interval.reason or "none was computed").removeprefix("no interval: ")
        return f"{size} (no interval: {reason})"
    ends = f"{made.interval.low:.4g} to {made.interval.high:.4g}"
    return f"{size} (a - b: {100 * field.level:g}% interval {ends}, {number(made.p)})"


def _still_possible(made: Paired) -> str:
    if made.interval.low is None or made.interval.high is None:
        return ""
    return f", differences from {made.interval.low:.4g} to {made.interval.high:.4g} remain possible"


def _against_margin(field: Field, margin: float | None, adjusted: Mapping[str, Adjusted]) -> Iterator[str]:
    """What the tests against a margin show; a margin that is not shown to hold is not shown to fail."""
    told = {
        "tost": ("they are equivalent within", "two one-sided tests"),
        "noninferiority": ("a is worse than b by less than", "non-inferiority"),
    }
    for test, (claim, name) in told.items():
        own = adjusted[test].p if test in adjusted else None
        if own is None:
            continue
        shown = claim if own < 1 - field.level else f"it is not shown that {claim}"
        yield f"{shown[0].upper()}{shown[1:]} {margin:g} ({name}, {number(own)})."


def _scope(field: Field) -> str:
    """What the difference is about, from what its design redraws."""
    units = redrawn_units(field.design)
    one = min(len(seeds) for seeds in field.panel.seeds) == 1
    kept = " and these very models: training noise is not in it" if one or "seeds" not in units else ""
    items = "other items like these" if "items" in units else "these very items"
    seeds = "" if kept else ", other training seeds"
    people = " and another crowd of annotators" if "annotators" in units else ""
    return f"This is about {items}{seeds}{people}{kept}."


def number(p: float) -> str:
    """A p-value in a sentence: two digits, never an exact zero.

    Examples
    --------
    >>> number(0.0123), number(0.0)
    ('p = 0.012', 'p < 0.0001')
    """
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def notes(field: Field, tests: Sequence[str]) -> tuple[Note, ...]:
    """What a reader of a comparison must keep in mind."""
    return tuple(_notes(field, tests))


def _notes(field: Field, tests: Sequence[str]) -> Iterator[Note]:
    panel = field.panel
    fewest = min(len(seeds) for seeds in panel.seeds)
    yield from people(panel.votes.ballots, redrawn="annotators" in redrawn_units(field.design))
    if fewest == 1:
        yield Note("one_seed", ONE_SEED)
    elif fewest < FROM_SEEDS:
        yield FEW_SEEDS
    if max(len(seeds) for seeds in panel.seeds) > 1 and not panel.has_draws:
        yield NO_DRAW_COLUMN
    if len(panel.splits) > 1:
        yield Note("splits_fixed", "splits are fixed: the intervals are about these partitions, not about new ones")
    if tests:
        yield Note(
            "tests_over_items",
            "paired_t, wilcoxon, sign_flip and bootstrap are about other items alone, seeds averaged first; the "
            "difference itself also allows for training seeds and, where they are known, annotators",
        )
