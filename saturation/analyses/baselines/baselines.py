"""Temperature, tuned smoothing and base rate as further conditions of a table, fitted on development items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from saturation.analyses.baselines import rates, temperatures, tuned
from saturation.analyses.baselines.sources import Made, Settings, Source
from saturation.calibration import Weighting
from saturation.conditions import STANDARD_COLUMNS
from saturation.errors import UsageError
from saturation.results import BaselineRow, BaselinesResult, Note
from saturation.streams import seed_of
from saturation.tables import door
from saturation.tables.align import PredictionOptions
from saturation.tables.panel import Votes
from saturation.tables.parted import Parted, read_parted

if TYPE_CHECKING:
    import polars as pl

METHODS = (temperatures.METHOD, tuned.METHOD, rates.METHOD)
FITTED = ("fitted_temperature", "fitted_strength")
"""Columns that say what was fitted."""
_NEEDS = {temperatures.METHOD: temperatures.NO_HARD, tuned.METHOD: tuned.NO_SMOOTHING}


def baselines(
    votes: Any,
    predictions: Any,
    *,
    methods: Sequence[str] | None = None,
    splits: Any = None,
    labels: Sequence[str] | None = None,
    condition_columns: Sequence[str] = (),
    ignore_columns: Sequence[str] = (),
    weights: Weighting = "items",
    best_on_test: bool = False,
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
    floor: float = 1e-15,
    threads: int | None = None,
) -> BaselinesResult:
    """Make baselines that need no training: fitted on development items, applied to test items.

    ``temperature``: the logits z of every hard model, split and seed divided by the T that minimises the soft
    cross-entropy - mean_i sum_k h_ik ln softmax(z_i / T)_k of its own development items; without logits, ln p takes
    their place (the same but for rounding). ``smoothing_tuned``: of the strengths e that a model was trained with, the
    one with the smallest such loss, chosen once a split over all seeds, which share their development items; never over
    splits, whose development items may be test items elsewhere. ``base_rate``: the mean label distribution pi of the
    split's training items where the table or ``splits`` knows them, else of its development items, for every test item.

    Parameters
    ----------
    votes
        Votes as of ``read_votes``, or what it reads.
    predictions
        Paths or frames: rows of development and test items under ``hard`` and ``smoothing``.
    methods
        Of ``temperature``, ``smoothing_tuned``, ``base_rate``. None: those that the table allows.
    splits
        A splits table, where ``predictions`` has no column ``part``.
    labels, condition_columns, ignore_columns
        As in ``read_panel``.
    weights
        ``items``: every development item counts alike; ``votes``: by its votes.
    best_on_test
        Also say what the strength that is best on the test items would score: a bound, not a result.
    level, n_resamples, rng, threads
        Of the intervals. T and the strength are fitted anew in every resample of the items.
    floor
        Probabilities below it are raised to it, in the loss of smoothing and where logits are missing.

    Returns
    -------
    BaselinesResult
        Rows: T, strengths and base rates with intervals over development items, losses in nats; ``share`` is how many
        of the resamples choose a strength. ``predictions``: the given rows and then the new ones, with T and strength
        in ``fitted_temperature`` and ``fitted_strength``, which tell no conditions apart.

    Raises
    ------
    DataError
        With every problem of the tables; an item that is in two parts of a split is one.
    UsageError
        For what cannot be made, with the reason.

    References
    ----------
    Guo et al. 2017 (temperature), Szegedy et al. 2016 (label smoothing).

    Examples
    --------
    >>> import polars as pl, saturation as sat
    >>> votes = sat.votes_from_counts([[3, 1], [1, 3], [4, 0]], labels=("no", "yes"), item_ids=("a", "b", "c"))
    >>> table = pl.DataFrame({
    ...     "item_id": ["a", "b", "c"], "method": ["hard"] * 3, "part": ["dev", "dev", "test"],
    ...     "p_no": [0.9, 0.1, 0.9], "p_yes": [0.1, 0.9, 0.1],
    ... })
    >>> made = baselines(votes, table, methods=["temperature"], n_resamples=20)
    >>> round(made.rows[0].unc.estimate, 6)  # ln 9 / ln 3: the model says 9 to 1, people 3 to 1
    2.0
    >>> made.predictions.filter(method="temperature").select("item_id", pl.col("p_no").round(9)).rows()
    [('c', 0.75)]
    """
    asked = _checked(methods, level, n_resamples, best_on_test)
    own = votes if isinstance(votes, Votes) else door.read_votes(votes, labels=labels)
    options = PredictionOptions(
        labels=None if labels is None else tuple(labels),
        condition_columns=tuple(condition_columns),
        ignore_columns=tuple(ignore_columns),
        part="all",
    )
    parted = read_parted(own, predictions, options, splits)
    source = Source.of(parted, Settings(weights, floor, level, n_resamples, seed_of(rng), threads))
    possible, notes = _possible(source, asked)
    rows, made, more = _make(source, possible, best_on_test)
    return BaselinesResult(
        rows=tuple(rows),
        settings={
            "methods": list(possible), "weights": weights, "best_on_test": best_on_test, "level": level,
            "n_resamples": n_resamples, "seed": source.settings.seed, "floor": floor,
            "labels": list(parted.votes.labels),
        },
        data=replace(parted.votes.summary, dropped=own.dropped),
        inputs=parted.votes.inputs,
        notes=(*parted.notes, *notes, *more),
        predictions=_table(parted, made),
        labels=parted.votes.labels,
        condition_columns=tuple(name for name in parted.condition_columns if name not in STANDARD_COLUMNS),
    )  # fmt: skip


def _checked(
    methods: Sequence[str] | None, level: float, n_resamples: int, best_on_test: bool
) -> tuple[str, ...] | None:
    if not 0 < level < 1:
        raise UsageError(f"level is {level}; give a coverage between 0 and 1, such as 0.95")
    if n_resamples < 2:
        raise UsageError(f"n_resamples is {n_resamples}; give at least 2")
    if methods is None:
        return None
    unknown = [name for name in methods if name not in METHODS]
    if unknown or not methods:
        raise UsageError(f"methods are {', '.join(methods) or 'none'}; choose of {', '.join(METHODS)}")
    if best_on_test and tuned.METHOD not in methods:
        raise UsageError("best_on_test is about smoothing_tuned, which is not among the methods")
    return tuple(dict.fromkeys(methods))


def _possible(source: Source, asked: tuple[str, ...] | None) -> tuple[tuple[str, ...], list[Note]]:
    """The methods that the table allows; those that were asked for by name must be."""
    reasons = {}
    for name in METHODS if asked is None else asked:
        if any(condition.method == name for condition in source.parted.conditions):
            reasons[name] = f"the predictions have method={name} already; drop those rows, or name the other methods"
        elif name in _NEEDS and not _has(source, name):
            reasons[name] = _NEEDS[name]
    if asked is not None and reasons:
        raise UsageError("; ".join(f"{name} cannot be made: {reason}" for name, reason in reasons.items()))
    possible = tuple(name for name in (asked or METHODS) if name not in reasons)
    if not possible:
        raise UsageError("; ".join(f"{name} cannot be made: {reason}" for name, reason in reasons.items()))
    return possible, [Note("not_made", f"{name} is not made: {reason}") for name, reason in reasons.items()]


def _has(source: Source, name: str) -> bool:
    """Whether there are test rows that a baseline is made of."""
    wanted = "hard" if name == temperatures.METHOD else "smoothing"
    return any(
        cell.condition.method == wanted and len(cell.test) and (wanted == "hard" or cell.condition.strength is not None)
        for cell in source.cells.values()
    )


def _make(
    source: Source, methods: Sequence[str], best_on_test: bool
) -> tuple[list[BaselineRow], list[Made], list[Note]]:
    _refuse_members(source.parted)
    rows: list[BaselineRow] = []
    made: list[Made] = []
    notes: list[Note] = []
    if source.n_unvoted:
        message = f"{source.n_unvoted:,} development rows have no votes and are not fitted on"
        notes.append(Note("dev_without_votes", message))
    if temperatures.METHOD in methods:
        more, new, without = temperatures.temperatures(source)
        rows, made = rows + more, made + new
        if without:
            message = f"no logits for {without:,} of {len(new):,} hard models (split x seed): ln p was scaled instead"
            notes.append(Note("no_logits", message))
    others: dict[str, Callable[[], tuple[list[BaselineRow], list[Made]]]] = {
        tuned.METHOD: lambda: tuned.tuned(source, best_on_test=best_on_test),
        rates.METHOD: lambda: rates.base_rates(source),
    }
    for name, make in others.items():
        if name in methods:
            more, new = make()
            rows, made = rows + more, made + new
    return rows, made, notes


def _refuse_members(parted: Parted) -> None:
    if "member" in parted.frame.columns and parted.frame["member"].n_unique() > 1:
        raise UsageError("the predictions have rows of several members; average them before making baselines")


def _table(parted: Parted, made: Sequence[Made]) -> pl.DataFrame:
    """The given rows and then the new ones."""
    import polars as pl

    given = parted.frame.with_columns(
        (pl.col(name) if name in parted.frame.columns else pl.lit(None)).cast(pl.Float64, strict=False).alias(name)
        for name in FITTED
    )
    return pl.concat([given, *(_rows(parted, given, one) for one in made)], how="vertical_relaxed")


def _rows(parted: Parted, given: pl.DataFrame, one: Made) -> pl.DataFrame:
    """New rows like the given ones they come from."""
    import polars as pl

    own = given[one.source]
    changed: dict[str, Any] = {
        name: one.condition.get(name) for name in parted.condition_columns if name in own.columns
    }
    changed |= dict(zip(FITTED, (one.temperature, one.strength), strict=True))
    if not one.has_seed:
        changed |= {name: None for name in ("seed", "draw", "member") if name in own.columns}
    shares: dict[str, Any] = {f"p_{label}": one.probs[:, k] for k, label in enumerate(parted.votes.labels)}
    logits = {name: _logits(own[name], one) for name in own.columns if name.removeprefix("z_") in parted.votes.labels}
    return own.with_columns(
        *(pl.lit(value, dtype=given.schema[name]).alias(name) for name, value in changed.items()),
        *(pl.Series(name, values) for name, values in (shares | logits).items()),
    ).select(given.columns)


def _logits(column: pl.Series, one: Made) -> pl.Series:
    """Scaled with a temperature, as they are for a tuned model, none for a base rate."""
    if not one.has_seed:
        return column.clear(len(column))
    return column if one.temperature is None else column / one.temperature
