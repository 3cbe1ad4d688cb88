"""Conditions compared on the same items: the difference with its uncertainty, effect sizes, and paired tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from saturation.analyses.comparing.contests import contest_of, field_of
from saturation.analyses.comparing.rows import rows_of
from saturation.analyses.comparing.tests import MARGIN_TESTS, TESTS
from saturation.analyses.comparing.words import notes
from saturation.analyses.losses import floored_rows
from saturation.conditions import Condition, select
from saturation.errors import UsageError
from saturation.metrics.catalogue import DEFAULT_METRICS, metrics_of
from saturation.metrics.metric import Metric
from saturation.resampling.multiplicity import ADJUSTMENTS
from saturation.results import CompareResult
from saturation.streams import seed_of
from saturation.tables.panel import Panel
from saturation.typing import TieRule

DEFAULT_TESTS = ("paired_t", "wilcoxon", "sign_flip", "bootstrap", "sign_cells")
SPLITS_TEST = "nadeau_bengio"


def compare(
    panel: Panel,
    *,
    a: str | Condition,
    b: str | Condition | Sequence[str | Condition],
    metrics: Sequence[str] = DEFAULT_METRICS,
    tests: Sequence[str] | None = None,
    margin: float | Mapping[str, float] | None = None,
    n_train: int | None = None,
    design: str | None = None,
    adjustment: str = "holm",
    level: float = 0.95,
    n_resamples: int = 9999,
    rng: int | np.random.Generator = 0,
    ties: TieRule = "share",
    floor: float = 1e-15,
    bins: int = 10,
    threads: int | None = None,
) -> CompareResult:
    """Compare condition a with one or several conditions b, metric by metric, on the same items and cells.

    For every metric and b: the difference a - b in the metric's units, the relative change (a - b)/b, Cohen's d_z, the
    probability that a is better on an item, cells won, and every test.

    Parameters
    ----------
    panel
        Votes and predictions of the same items; pairs are the items of every split, in every seed.
    a
        Selector of one condition, e.g. ``method=soft,budget=10``.
    b
        One selector or several.
    metrics
        Catalogue names; ``all`` for every one.
    tests
        Of ``paired_t``, ``wilcoxon``, ``sign_flip``, ``bootstrap``, ``sign_cells``, ``nadeau_bengio``, ``mixed_model``,
        ``williams``, ``steiger``, ``zou``, ``tost``, ``noninferiority``; or ``all``. None: the first five, with
        ``nadeau_bengio`` where ``n_train`` is given and the last two where there is a margin.
    margin
        For equivalence and non-inferiority, in the metric's units: a number, or one for each metric.
    n_train
        Items that every model was trained on, for Nadeau and Bengio's test.
    design
        What the difference itself redraws: ``items``, ``crossed`` (items and seeds), ``annotators``, ``items x
        annotators`` or ``crossed with annotators``; ``crossed`` redraws the annotators too where they are known.
        None: ``crossed``. Paired tests say for themselves what they are about.
    adjustment
        Over all metrics and b's of one test: ``holm``, ``bh``, ``romano_wolf`` (where a test has resamples) or
        ``none``.
    level
        Nominal coverage of the intervals; a finding needs an adjusted p below 1 - level.
    n_resamples
        Resamples of the items, and random sign flips.
    rng
        Seed of the resamples, or a generator that one is drawn from.
    ties, floor, bins
        Shared options of the metrics.
    threads
        Threads to use; never changes a number.

    Returns
    -------
    CompareResult
        ``p`` of a ``difference`` is below 1 - level exactly when its interval excludes 0. ``favours`` names the better
        side where the adjusted p is below 1 - level, and ``sentence`` says what may be concluded.

    Raises
    ------
    UsageError
        For selectors that do not name one condition, unknown options, or a margin that a test lacks.

    References
    ----------
    Student 1908; Wilcoxon 1945; Fisher 1935; Efron 1987; Nadeau and Bengio 2003; Schuirmann 1987; Williams 1959;
    Steiger 1980; Zou 2007; Holm 1979; Benjamini and Hochberg 1995; Romano and Wolf 2005.

    Examples
    --------
    >>> from saturation.tables.builders import panel_from_arrays
    >>> counts = [[3, 1], [0, 4], [2, 2], [4, 0]]
    >>> good, bad = [[0.7, 0.3], [0.1, 0.9], [0.5, 0.5], [0.9, 0.1]], [[0.5, 0.5]] * 4
    >>> panel = panel_from_arrays([good, bad], counts, conditions=[{"method": "soft"}, {"method": "base_rate"}])
    >>> row = compare(panel, a="method=soft", b="method=base_rate", metrics=["tvd"], n_resamples=99).rows[0]
    >>> round(row.unc.estimate, 4), row.favours  # (.05 + .1 + 0 + .1)/4 - (.25 + .5 + 0 + .5)/4
    (-0.25, None)
    """
    one = _condition(panel, a)
    pairs = [(one, other) for other in _others(panel, one, b)]
    asked = {"a": str(one), "b": [str(other) for _, other in pairs]}
    return _compared(
        panel, pairs, asked, metrics=metrics, tests=tests, margin=margin, n_train=n_train, design=design,
        adjustment=adjustment, level=level, n_resamples=n_resamples, rng=rng, ties=ties, floor=floor, bins=bins,
        threads=threads,
    )  # fmt: skip


def compare_pairs(
    panel: Panel,
    pairs: Sequence[tuple[str | Condition, str | Condition]],
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    tests: Sequence[str] | None = None,
    design: str | None = None,
    adjustment: str = "holm",
    level: float = 0.95,
    n_resamples: int = 9999,
    rng: int | np.random.Generator = 0,
    ties: TieRule = "share",
    floor: float = 1e-15,
    bins: int = 10,
    threads: int | None = None,
) -> CompareResult:
    """Compare several pairs of conditions (a, b) of one panel, all of them one family of tests.

    Parameters
    ----------
    panel
        Votes and predictions of the same items.
    pairs
        Selectors of a and b (or the conditions themselves), one pair a comparison; each pair once.
    metrics, tests, design, adjustment, level, n_resamples, rng, ties, floor, bins, threads
        As in :func:`compare`.

    Returns
    -------
    CompareResult
        The rows of :func:`compare`, metric by metric, pair by pair.

    Raises
    ------
    UsageError
        For no pair, a pair that is named twice, selectors that do not name one condition, or unknown options.

    Examples
    --------
    >>> from saturation.tables.builders import panel_from_arrays
    >>> counts = [[3, 1], [0, 4], [2, 2], [4, 0]]
    >>> good, bad = [[0.7, 0.3], [0.1, 0.9], [0.5, 0.5], [0.9, 0.1]], [[0.5, 0.5]] * 4
    >>> panel = panel_from_arrays([good, bad], counts, conditions=[{"method": "soft"}, {"method": "base_rate"}])
    >>> found = compare_pairs(panel, [("method=base_rate", "method=soft")], metrics=["tvd"], tests=[])
    >>> round(found.rows[0].unc.estimate, 4)  # (.25 + .5 + 0 + .5)/4 - (.05 + .1 + 0 + .1)/4
    0.25
    """
    chosen = [(_condition(panel, a), _condition(panel, b)) for a, b in pairs]
    if not chosen:
        raise UsageError("pairs is empty; name at least one pair of conditions")
    for one, other in chosen:
        if one == other:
            raise UsageError(f"a and b are the same condition: {one}")
        if chosen.count((one, other)) > 1:
            raise UsageError(f"the pair {one} against {other} is named twice")
    asked = {"pairs": [[str(one), str(other)] for one, other in chosen]}
    return _compared(
        panel, chosen, asked, metrics=metrics, tests=tests, margin=None, n_train=None, design=design,
        adjustment=adjustment, level=level, n_resamples=n_resamples, rng=rng, ties=ties, floor=floor, bins=bins,
        threads=threads,
    )  # fmt: skip


def _compared(
    panel: Panel,
    wanted: Sequence[tuple[Condition, Condition]],
    asked: Mapping[str, Any],
    *,
    metrics: Sequence[str],
    tests: Sequence[str] | None,
    margin: float | Mapping[str, float] | None,
    n_train: int | None,
    design: str | None,
    adjustment: str,
    level: float,
    n_resamples: int,
    rng: int | np.random.Generator,
    ties: TieRule,
    floor: float,
    bins: int,
    threads: int | None,
) -> CompareResult:
    """Every pair, on a panel of the conditions that occur in one."""
    _check(level, n_resamples, adjustment, n_train)
    chosen = metrics_of(metrics, ties=ties, floor=floor, bins=bins)
    margins = _margins(margin, chosen)
    named = _tests(tests, margin, n_train)
    seed = seed_of(rng)
    compared = _only(panel, sorted({panel.conditions.index(one) for pair in wanted for one in pair}))
    field = field_of(compared, chosen, design=design, level=level, n_resamples=n_resamples, seed=seed, threads=threads)
    places = [(compared.conditions.index(one), compared.conditions.index(other)) for one, other in wanted]
    contests = [contest_of(field, rank, *place) for rank in range(len(chosen)) for place in places]
    ratio = None if n_train is None else _test_size(compared) / n_train
    rows = tuple(rows_of(field, contests, named, adjustment=adjustment, margins=margins, test_over_train=ratio))
    settings: dict[str, Any] = {
        **asked,
        "metrics": [metric.name for metric in chosen],
        "tests": list(named),
        "margin": dict(margins) if margin is not None else None,
        "n_train": n_train,
        "adjustment": adjustment,
        "design": field.design,
        "inference": "linearized_t" if field.n_drawn is None else "bootstrap",
        "level": level,
        "n_resamples": n_resamples,
        "seed": seed,
        "ties": ties,
        "floor": floor,
        "bins": bins,
        "labels": list(panel.votes.labels),
    }
    data = replace(panel.summary, floored=floored_rows(compared, chosen, floor))
    said = (*panel.notes, *notes(field, named))
    return CompareResult(rows=rows, settings=settings, data=data, inputs=panel.inputs, notes=said)


# --- what was asked for -----------------------------------------------------------------------------------------------


def _check(level: float, n_resamples: int, adjustment: str, n_train: int | None) -> None:
    if not 0.5 < level < 1:
        raise UsageError(f"level is {level:g}; give a number above 0.5 and below 1")
    if n_resamples < 2:
        raise UsageError(f"n_resamples is {n_resamples}; give at least 2")
    if adjustment not in ADJUSTMENTS:
        raise UsageError(f"unknown adjustment {adjustment!r}; choose one of {', '.join(ADJUSTMENTS)}")
    if n_train is not None and n_train < 1:
        raise UsageError(f"n_train is {n_train}; give the number of items trained on")


def _tests(tests: Sequence[str] | None, margin: object, n_train: int | None) -> tuple[str, ...]:
    """The tests in their documented order; an option that none of them would read is refused."""
    if tests is None:
        return DEFAULT_TESTS + (() if n_train is None else (SPLITS_TEST,)) + (() if margin is None else MARGIN_TESTS)
    if isinstance(tests, str):
        raise UsageError(f"tests is the text {tests!r}; give a list of names")
    for name in tests:
        if name != "all" and name not in TESTS:
            raise UsageError(f"unknown test {name!r}; choose of {', '.join(TESTS)}, or all")
    if "all" in tests:
        return tuple(name for name in TESTS if margin is not None or name not in MARGIN_TESTS)
    lacking = [name for name in tests if name in MARGIN_TESTS and margin is None]
    if lacking:
        raise UsageError(f"{lacking[0]} needs a margin: how large a difference would not matter, in the metric's units")
    if margin is not None and not any(name in tests for name in MARGIN_TESTS):
        raise UsageError(f"a margin is given, but none of the tests reads it: add {' or '.join(MARGIN_TESTS)}")
    if n_train is not None and SPLITS_TEST not in tests:
        raise UsageError(f"n_train is given, but none of the tests reads it: add {SPLITS_TEST}")
    return tuple(name for name in TESTS if name in tests)


def _margins(margin: float | Mapping[str, float] | None, chosen: Sequence[Metric]) -> dict[str, float]:
    """The margin of every metric that has one."""
    if margin is None:
        return {}
    names = [metric.name for metric in chosen]
    given = dict(margin) if isinstance(margin, Mapping) else dict.fromkeys(names, float(margin))
    for name, value in given.items():
        if name not in names:
            raise UsageError(
                f"a margin is given for {name!r}, which is not compared; the metrics are {', '.join(names)}"
            )
        if not 0 < value < float("inf"):
            raise UsageError(f"the margin of {name} is {value:g}; give a number above 0, in the metric's units")
    return given


def _others(panel: Panel, one: Condition, b: str | Condition | Sequence[str | Condition]) -> list[Condition]:
    wanted = [b] if isinstance(b, str | Condition) else list(b)
    if not wanted:
        raise UsageError("b names no condition; name at least one to compare with")
    others = [_condition(panel, selector) for selector in wanted]
    for other in others:
        if other == one:
            raise UsageError(f"a and b are the same condition: {one}")
        if others.count(other) > 1:
            raise UsageError(f"b names the same condition twice: {other}")
    return others


def _condition(panel: Panel, asked: str | Condition) -> Condition:
    """The condition itself where the panel has it, else the one that the selector names."""
    return asked if isinstance(asked, Condition) and asked in panel.conditions else select(panel.conditions, str(asked))


def _only(panel: Panel, kept: Sequence[int]) -> Panel:
    """The panel with some conditions only."""
    conditions = tuple(panel.conditions[c] for c in kept)
    return replace(panel, conditions=conditions, probs=tuple(probs[list(kept)] for probs in panel.probs))


def _test_size(panel: Panel) -> float:
    return float(np.mean([len(places) for places in panel.items_of_split]))
