"""Tables of a study: what stands across its models and data sets, a few lines each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from saturation.conditions import parse
from saturation.report.compare_page import metric_head
from saturation.report.grids import Content, Grid, count_text, grid_of
from saturation.report.plotdata import short_names
from saturation.results import (
    AcrossRow,
    AdviceRow,
    CurveRow,
    HeldOutResult,
    HeldOutRow,
    MainRow,
    StudyPart,
    StudyResult,
    Uncertainty,
)
from saturation.studies import phrases
from saturation.studies.answers import fieller_in_words, headline_baseline
from saturation.studies.study_tables import main_rows_of_curve


def names_of(study: StudyResult) -> dict[tuple[str, str], str]:
    """Short names of the parts by (data, model): the data set, the model, where there are several of them."""
    several_data = len({part.data for part in study.parts}) > 1
    several_models = len({part.model for part in study.parts}) > 1
    shown: dict[tuple[str, str], str] = {}
    for part in study.parts:
        words = [part.model] if several_models else []
        words += [part.data] if several_data else []
        shown[part.data, part.model] = " on ".join(words)
    return shown


def stars_grid(study: StudyResult) -> Grid:
    """N* at every q: a line a part and q, a column a metric."""
    names = names_of(study)
    texts = star_texts(study)
    baselines = phrases.listed(dict.fromkeys(phrases.baseline(row.baseline) for row, _ in texts if row.baseline))
    return grid_of(
        f"Annotators needed per item to keep a share of the improvement over {baselines or 'the baseline'}; in "
        "brackets the interval, (10, 20] for more than 10 and at most 20; > N: more than the budgets tried can show.",
        "study, share kept",
        sorted(texts, key=lambda pair: (list(names).index((pair[0].data, pair[0].model)), pair[0].q or 0)),
        lambda pair: _line(names[pair[0].data, pair[0].model], phrases.share(pair[0].q or 0)),
        lambda pair: phrases.metric(pair[0].metric),
        lambda pair: Content(pair[1], pair[0].unc.reason if pair[1] == phrases.NO_ESTIMATE else None),
    )


def star_texts(study: StudyResult) -> list[tuple[AdviceRow, str]]:
    """Every N* with how it is written."""
    found = _fractions(study)
    rows = [row for row in study.advice if row.quantity == "n_star"]
    return [(row, count_text(row, [f for f in found[row.data, row.model] if f.metric == row.metric])) for row in rows]


def main_grids(study: StudyResult) -> tuple[Grid, ...]:
    """For each data set: every condition (lines) and metric (columns), then the differences to the baseline."""
    several = len(study.data) > 1
    made: list[Grid] = []
    for data in study.data:
        rows = [row for row in study.main if row.data == data]
        names = short_names(str(row.condition) for row in rows)
        made.append(_values_grid(rows, names, f"{data}: mean" if several else "Mean"))
        made.append(_against_grid(rows, names, f"{data}: condition" if several else "Condition"))
    return tuple(made)


def _values_grid(rows: Sequence[MainRow], names: Mapping[str, str], head: str) -> Grid:
    places: dict[str, int] = {}
    for row in rows:
        if row.unc.low is not None:
            places[row.metric] = max(places.get(row.metric, 0), phrases.decimals(row.unc.low, row.unc.high))

    def cell(row: MainRow) -> Content:
        text = phrases.with_interval(row.unc, places.get(row.metric))
        return Content(text, row.unc.reason, strong=row.favours == "condition")

    return grid_of(
        f"{head} over cells {phrases.levels(row.unc for row in rows)}; in bold where it was found to be better "
        f"than {_opponents(rows)}{_method(rows)}.",
        "condition",
        rows,
        lambda row: names[str(row.condition)],
        metric_head,
        cell,
    )


def _against_grid(rows: Sequence[MainRow], names: Mapping[str, str], head: str) -> Grid:
    compared = [row for row in rows if row.against is not None]

    def cell(row: MainRow) -> Content:
        unc = Uncertainty(row.difference, low=row.difference_low, high=row.difference_high, level=row.unc.level)
        p = row.p if row.p_adjusted is None else row.p_adjusted
        told = [phrases.with_interval(unc), *([] if p is None else [phrases.p_value(p)])]
        told += [] if row.wins is None else [f"{row.wins}/{row.n_cells_compared}"]
        worse = " (worse)" if row.favours == "baseline" else ""
        return Content(", ".join(told) + worse, row.difference_reason, strong=row.favours == "condition")

    return grid_of(
        f"{head} − {_opponents(rows)} in the metric's units {phrases.levels(row.unc for row in rows)}, adjusted p, and "
        "cells (split × seed) in which the condition is better.",
        "condition",
        compared,
        lambda row: names[str(row.condition)],
        metric_head,
        cell,
        folded=True,
    )


def _opponents(rows: Iterable[MainRow]) -> str:
    """The baselines without the names of their models: each model is compared with its own."""
    found = dict.fromkeys(str(parse(row.against)[0].without("model")) for row in rows if row.against is not None)
    names = short_names(found)
    return phrases.listed(dict.fromkeys(names.values())) or "a baseline"


def _method(rows: Iterable[MainRow]) -> str:
    size = max((row.family_size or 0 for row in rows), default=0)
    return f" (p adjusted by Holm's method over {size} comparisons)" if size else ""


def side_by_side_grid(study: StudyResult) -> Grid:
    """Fractions of every part: a line a metric and part, a column a budget."""
    names = names_of(study)
    found = [(names[key], row) for key, rows in _fractions(study).items() for row in rows]
    metrics = list(dict.fromkeys(row.metric for _, row in found))

    def cell(pair: tuple[str, CurveRow]) -> Content:
        row = pair[1]
        if fieller_in_words(row):
            return Content("unbounded", row.unc.reason or fieller_in_words(row))
        return Content(phrases.percent_interval(row.unc), None if row.unc.interval == "exact" else row.unc.reason)

    over = phrases.listed(dict.fromkeys(phrases.baseline(row.baseline) for _, row in found if row.baseline))
    return grid_of(
        f"Share of the improvement over {over or 'the baseline'} kept, by annotators per item "
        f"{phrases.levels(row.unc for _, row in found)}.",
        "metric, study",
        sorted(found, key=lambda pair: metrics.index(pair[1].metric)),
        lambda pair: _line(phrases.metric(pair[1].metric), pair[0]),
        lambda pair: "all votes" if pair[1].budget is None else phrases.budget(pair[1].budget),
        cell,
    )


def across_grids(study: StudyResult) -> tuple[Grid, ...]:
    """Differences between parts by budget: of fractions, then of values; then how far they agree on the order."""
    names = names_of(study)
    captions = {
        "fraction_difference": "Differences of shares kept, first − second, in percentage points",
        "value_difference": "Differences of the metric itself, first − second, on the same items",
    }
    made = [
        _differences_grid([row for row in study.across if row.quantity == quantity], names, caption)
        for quantity, caption in captions.items()
    ]
    ranks = [row for row in study.across if row.quantity == "rank_agreement"]
    made.append(
        grid_of(
            f"Do both sides order the metrics alike? Kendall's tau of their shares kept {_levels(ranks)}: 1 the same "
            "order, −1 the opposite one. Quadratic metrics saturate earlier than linear ones whatever the learner "
            "does, so some agreement is no finding.",
            "first, second",
            ranks,
            lambda row: pair_name(row, names),
            lambda row: phrases.budget(row.budget or 0),
            lambda row: Content(phrases.with_interval(row.unc, 2), row.unc.reason),
        )
    )
    return tuple(grid for grid in made if grid.rows)


def pair_name(row: AcrossRow, names: Mapping[tuple[str, str], str]) -> str:
    """The two sides of a row."""
    return f"{names[row.data, row.model]} against {names[row.data_b, row.model_b]}"


def _differences_grid(rows: Sequence[AcrossRow], names: Mapping[tuple[str, str], str], caption: str) -> Grid:
    shares = bool(rows) and rows[0].quantity == "fraction_difference"

    def cell(row: AcrossRow) -> Content:
        unc = _times(row.unc, 100) if shares else row.unc
        known = row.p_adjusted is not None and row.unc.level is not None and row.p_adjusted < 1 - row.unc.level
        return Content(phrases.with_interval(unc, 1 if shares else None), row.unc.reason, strong=known)

    return grid_of(
        f"{caption} {_levels(rows)}; in bold where p adjusted over the whole table tells the two apart.",
        "metric, first and second",
        rows,
        lambda row: f"{phrases.metric(row.metric or '')}, {pair_name(row, names)}",
        lambda row: phrases.budget(row.budget or 0),
        cell,
        folded=not shares,
    )


def advice_grids(study: StudyResult) -> tuple[Grid, ...]:
    """What each step buys, a line a metric and part, a column a step; with costs also for each unit of cost."""
    rows = [row for row in study.advice if row.quantity == "next_step"]
    order = list(dict.fromkeys(row.metric for row in rows))
    rows.sort(key=lambda row: order.index(row.metric))
    gain = _steps_grid(
        study,
        rows,
        f"Gain of each step to the next budget, in the metric's units {_levels(rows)}, positive where more votes help; "
        "in bold where the interval, one at a time, lies above 0.",
        lambda row: row.unc,
    )
    bought = [row for row in rows if row.per_cost is not None]
    if not bought:
        return (gain,)
    caption = f"The same gain for each unit of cost that it adds to an item {_levels(rows)}."
    return gain, _steps_grid(study, bought, caption, _per_cost, folded=True)


def _steps_grid(
    study: StudyResult,
    rows: Sequence[AdviceRow],
    caption: str,
    number: Callable[[AdviceRow], Uncertainty],
    *,
    folded: bool = False,
) -> Grid:
    names = names_of(study)

    def cell(row: AdviceRow) -> Content:
        known = row.unc.low is not None and row.unc.low > 0
        return Content(phrases.with_interval(number(row)), row.unc.reason, strong=known)

    return grid_of(
        caption,
        "metric, study",
        rows,
        lambda row: _line(_with_unit(row.metric), names[row.data, row.model]),
        lambda row: f"{phrases.budget(row.budget or 0)} → {phrases.budget(row.budget_next or 0)}{_cost(row)}",
        cell,
        folded=folded,
    )


def _per_cost(row: AdviceRow) -> Uncertainty:
    return replace(row.unc, estimate=row.per_cost, low=row.per_cost_low, high=row.per_cost_high)


def _cost(row: AdviceRow) -> str:
    return "" if row.cost is None or row.cost_next is None else f" (cost {row.cost:g} → {row.cost_next:g})"


def _line(*parts: str) -> str:
    """Names of a line; a study of one model and data set needs no name."""
    return ", ".join(filter(None, parts))


def _with_unit(metric: str) -> str:
    unit = phrases.unit(metric)
    return f"{phrases.metric(metric)}{f' ({unit})' if unit else ''}"


def held_out_grid(result: HeldOutResult) -> Grid:
    """Raw scores against the held-out votes: a line a condition, a column a metric."""
    return _held_out(result, "Against held-out votes", lambda row: row.unc)


def held_out_corrected_grid(result: HeldOutResult) -> Grid:
    """The same against the people behind those votes: without what so few votes add, r disattenuated."""

    def corrected(row: HeldOutRow) -> Uncertainty:
        reason = None if row.corrected is not None else row.unc.reason or "this metric has no correction"
        return replace(row.unc, estimate=row.corrected, low=row.corrected_low, high=row.corrected_high, reason=reason)

    return _held_out(result, "Corrected for so few votes (entropy correlation: disattenuated)", corrected)


def _held_out(result: HeldOutResult, caption: str, number: Callable[[HeldOutRow], Uncertainty]) -> Grid:
    rows = [row for row in result.rows if row.pool == "heldout"]
    names = short_names(str(row.condition) for row in rows)
    return grid_of(
        f"{caption} {phrases.levels(row.unc for row in rows)}.",
        "condition",
        rows,
        lambda row: names[str(row.condition)],
        metric_head,
        lambda row: Content(phrases.with_interval(number(row)), number(row).reason),
    )


def fractions_of(part: StudyPart) -> list[CurveRow]:
    """Shares kept by the curve a model is judged by, over its headline baseline."""
    rows = main_rows_of_curve(part)
    baseline = headline_baseline(rows)
    return [row for row in rows if row.quantity == "fraction" and row.baseline == baseline and row.budget is not None]


def _fractions(study: StudyResult) -> dict[tuple[str, str], list[CurveRow]]:
    return {(part.data, part.model): fractions_of(part) for part in study.parts}


def _times(unc: Uncertainty, factor: float) -> Uncertainty:
    scaled = [None if value is None else factor * value for value in (unc.estimate, unc.low, unc.high)]
    return replace(unc, estimate=scaled[0], low=scaled[1], high=scaled[2])


def _levels(rows: Iterable[AcrossRow | AdviceRow]) -> str:
    return phrases.levels(row.unc for row in rows)
