"""A whole study: every model on every data set, and the tables that stand across them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from saturation.analyses.across.differences import fraction_rows, value_rows
from saturation.analyses.across.ranks import rank_rows
from saturation.analyses.across.sides import Side, models_of, sides_of
from saturation.analyses.curve.curves import ASYMPTOTE
from saturation.errors import UsageError
from saturation.results import DataSummary, ReportResult, Result
from saturation.results.study import AcrossRow, StudyPart, StudyResult
from saturation.streams import seed_of
from saturation.studies import study_tables
from saturation.studies.answers import headline_baseline
from saturation.studies.kept import Kept, fingerprint
from saturation.studies.report import Job, gather, merged_settings, report_jobs
from saturation.typing import Reference, TieRule

if TYPE_CHECKING:
    import numpy as np

    from saturation.tables.panel import Panel, Votes


def study(
    panels: Mapping[str, Panel],
    *,
    votes: Mapping[str, Votes] | None = None,
    metrics: Sequence[str] | None = None,
    budgets: Sequence[int] | None = None,
    reference: Reference = "disjoint",
    alpha: float | str | None = None,
    baselines: Sequence[str] | None = None,
    ceiling: str | None = None,
    q: Sequence[float] = (0.90, 0.95),
    margin: float | None = None,
    against: str | None = None,
    cost_per_vote: float | None = None,
    cost_per_item: float | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator = 0,
    ties: TieRule = "share",
    floor: float = 1e-15,
    bins: int = 10,
    threads: int | None = None,
    kept: Kept | None = None,
) -> StudyResult:
    """Every table of a study: each model on each data set, and what stands across them.

    Models of one data set are compared on the same items; data sets have items of their own and are compared as
    independent samples.

    Parameters
    ----------
    panels
        Votes and predictions by name of the data set; a panel may hold several models.
    votes
        All votes of each data set, for the curves of the labels alone; None: those of the predicted items.
    metrics, budgets, reference, alpha, baselines, q, margin, level, n_resamples, rng, ties, floor, bins, threads
        As in :func:`~saturation.studies.report.make_report`.
    ceiling
        Selector of the condition that counts as saturated; a fitted asymptote is not compared across models.
    against
        Selector of the baseline of the main table, one condition a model; None: hard labels, else the first baseline
        that a model has, else its smallest budget.
    cost_per_vote, cost_per_item
        Of labelling, for the table of budgets; both or neither.
    kept
        Where finished analyses are kept; None: nowhere.

    Returns
    -------
    StudyResult
        One report for each data set and model; ``main`` (every condition and metric, against the baseline; p adjusted
        by Holm's method over the whole study), ``across`` (models and data sets side by side) and ``advice`` (N*, and
        what the next step buys).

    Raises
    ------
    UsageError
        For no data set, one cost without the other, and options that an analysis refuses.

    Examples
    --------
    >>> import numpy as np, saturation as sat
    >>> draws = np.random.default_rng(0)
    >>> truth = draws.dirichlet([1.0, 1.0, 1.0], size=60)
    >>> counts = np.array([draws.multinomial(20, p) for p in truth])
    >>> probs = [(truth + noise * draws.dirichlet([1.0, 1.0, 1.0], size=60)) / (1 + noise) for noise in (2, 1, 0.2)]
    >>> names = [{"method": "hard"}, {"method": "soft", "budget": 1}, {"method": "soft", "budget": 20}]
    >>> panel = sat.panel_from_arrays(probs, counts, conditions=names)
    >>> study = sat.study({"simulated": panel}, metrics=("brier",), n_resamples=50)
    >>> [(row.condition.budget, row.favours) for row in study.main if row.against]
    [(1, 'condition'), (20, 'condition')]
    """
    _check(panels, votes, ceiling, cost_per_vote, cost_per_item)
    kept = Kept() if kept is None else kept
    seed = seed_of(rng)
    of_report: dict[str, Any] = {
        "metrics": metrics, "budgets": budgets, "reference": reference, "alpha": alpha, "baselines": baselines,
        "ceiling": ceiling, "q": tuple(q), "margin": margin, "design": None, "level": level,
        "n_resamples": n_resamples, "rng": seed, "ragged": "common", "ties": ties, "floor": floor, "bins": bins,
    }  # fmt: skip
    made = _Study(panels, votes or {}, of_report, against, threads, kept)
    parts = tuple(part for data in panels for part in made.parts(data))
    main = study_tables.main_rows(parts, {data: made.compared(data) for data in panels})
    across = study_tables.adjusted(made.across(parts))
    costs = None if cost_per_vote is None or cost_per_item is None else (cost_per_item, cost_per_vote)
    advice = tuple(row for part in parts for row in study_tables.advice_rows(part, made.steps(part.data), costs))
    settings = {"against": against, "cost_per_vote": cost_per_vote, "cost_per_item": cost_per_item}
    return StudyResult(
        parts=parts,
        main=main,
        across=across,
        advice=advice,
        settings=merged_settings({f"{p.data}, {p.model}": p.report.settings for p in parts}) | settings,
        data=_summaries(panels),
        inputs=tuple(dict.fromkeys(one for part in parts for one in part.report.inputs)),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.report.notes)),
    )


class _Study:
    """The analyses of a study, each run once: its reports, its comparisons, its sides."""

    def __init__(  # noqa: PLR0917
        self,
        panels: Mapping[str, Panel],
        votes: Mapping[str, Votes],
        options: Mapping[str, Any],
        against: str | None,
        threads: int | None,
        kept: Kept,
    ) -> None:
        self.panels, self.votes, self.options = panels, votes, options
        self.against, self.threads, self.kept = against, threads, kept
        self.prints = {data: fingerprint(panel) for data, panel in panels.items()}
        self.sides: Callable[[str], list[Side]] = cache(self._sides)

    def parts(self, data: str) -> Iterator[StudyPart]:
        """The report of every model of a data set."""
        panel = self.panels[data]
        people = self.votes.get(data, panel.votes)
        for model in models_of(panel):
            yield StudyPart(data=data, model=model, report=self._report(data, people, of_model(panel, model), model))

    def compared(self, data: str) -> Result[Any] | None:
        """Every condition against the baseline of its model; None where no model has one."""
        from saturation.analyses.comparing.comparison import compare_pairs

        pairs = study_tables.against_baseline(self.panels[data].conditions, self.against)
        if not pairs:
            return None
        shared = {name: self.options[name] for name in ("level", "n_resamples", "rng", "ties", "floor", "bins")}
        texts = [[str(one), str(other)] for one, other in pairs]
        depends_on = {"data": self.prints[data], "pairs": texts, "metrics": self._metrics(), **shared}
        made: Result[Any] = self.kept.result(
            f"{data}: every condition against its baseline",
            depends_on,
            lambda: compare_pairs(
                self.panels[data], pairs, metrics=self._metrics(), tests=(), threads=self.threads, **shared
            ),
        )
        return made

    def across(self, parts: Sequence[StudyPart]) -> list[AcrossRow]:
        """Models of a data set against each other, and each model with itself on another data set."""
        rows: list[AcrossRow] = []
        for one, other in self._pairs(parts):
            baseline = common_baseline(one, other)
            names = [one.data, one.model, other.data, other.model]
            tables = [self.prints[one.data], self.prints[other.data]]
            rows += self.kept.rows(
                f"{one.data}, {one.model} and {other.data}, {other.model}",
                {**self._of_sides(), "data": tables, "baseline": baseline, "names": names},
                AcrossRow,
                partial(self._rows, one, other, baseline),
            )
        return rows

    def steps(self, data: str) -> tuple[study_tables.StepRow, ...]:
        """What each step of every model's curve buys."""
        depends_on = {**self._of_sides(), "data": self.prints[data]}
        return self.kept.rows(
            f"{data}: steps",
            depends_on,
            study_tables.StepRow,
            lambda: [row for side in self.sides(data) for row in study_tables.step_rows(side)],
        )

    def _report(self, data: str, people: Votes, panel: Panel, model: str) -> ReportResult:
        jobs = report_jobs(people, panel, threads=self.threads, **self.options) | self._held_out(panel)
        votes_print, panel_print = fingerprint(people), fingerprint(panel)
        sections = {}
        for name, job in jobs.items():
            of_labels = name == "label_curve"
            source = [votes_print] if of_labels else [votes_print, panel_print]
            where = data if of_labels else f"{data}, {model}"
            sections[name] = self.kept.result(f"{where}: {name}", {"data": source, **self.options}, job)
        return gather(sections, people, panel)

    def _held_out(self, panel: Panel) -> dict[str, Job]:
        """Scores against votes that training did not see, where the votes say which."""
        from saturation.analyses.heldout.divisions import has_pools
        from saturation.analyses.heldout.heldout import heldout

        if not has_pools(panel.votes):
            return {}
        own = {name: self.options[name] for name in ("level", "rng", "ties", "floor", "bins")}
        return {"heldout": lambda: heldout(panel, metrics=self._metrics(), **own)}

    def _pairs(self, parts: Sequence[StudyPart]) -> Iterator[tuple[StudyPart, StudyPart]]:
        curves = [part for part in parts if study_tables.main_curve_of(part) is not None]
        by_data = {data: [part for part in curves if part.data == data] for data in self.panels}
        for own in by_data.values():
            yield from combinations(own, 2)
        for one, other in combinations(by_data.values(), 2):
            alone = 1 in (len(one), len(other))
            yield from (pair for pair in product(one, other) if alone or pair[0].model == pair[1].model)

    def _rows(self, one: StudyPart, other: StudyPart, baseline: str | None) -> list[AcrossRow]:
        first, second = (next(s for s in self.sides(p.data) if s.model == p.model) for p in (one, other))
        rows = list(value_rows(first, second)) if first.study is second.study else []
        if baseline is not None:
            rows += [*fraction_rows(first, second, baseline), *rank_rows(first, second, baseline)]
        return rows

    def _sides(self, data: str) -> list[Side]:
        from saturation.metrics.catalogue import metrics_of

        own = {name: self.options[name] for name in ("ties", "floor", "bins")}
        chosen = metrics_of(self._metrics(), seed=self.options["rng"], **own)
        return sides_of(
            data,
            self.panels[data],
            chosen,
            ceiling=self.options["ceiling"],
            level=self.options["level"],
            seed=self.options["rng"],
            threads=self.threads,
        )

    def _of_sides(self) -> dict[str, Any]:
        names = ("ceiling", "level", "rng", "ties", "floor", "bins")
        return {"metrics": self._metrics(), **{name: self.options[name] for name in names}}

    def _metrics(self) -> tuple[str, ...]:
        from saturation.metrics.catalogue import DEFAULT_METRICS

        return tuple(DEFAULT_METRICS if self.options["metrics"] is None else self.options["metrics"])


def of_model(panel: Panel, model: str) -> Panel:
    """The panel with the conditions of one model."""
    kept = [place for place, one in enumerate(panel.conditions) if one.model == model]
    conditions = tuple(panel.conditions[place] for place in kept)
    return replace(panel, conditions=conditions, probs=tuple(probs[kept] for probs in panel.probs))


def common_baseline(one: StudyPart, other: StudyPart) -> str | None:
    """The baseline that fractions of both sides are read over: hard labels where both have them."""
    first, second = (study_tables.main_rows_of_curve(part) for part in (one, other))
    shared = {row.baseline for row in first} & {row.baseline for row in second} - {None}
    return headline_baseline(row for row in first if row.baseline in shared)


def _check(
    panels: Mapping[str, Panel],
    votes: Mapping[str, Votes] | None,
    ceiling: str | None,
    cost_per_vote: float | None,
    cost_per_item: float | None,
) -> None:
    if not panels:
        raise UsageError("no data set is given; name at least one")
    strange = [name for name in votes or {} if name not in panels]
    if strange:
        raise UsageError(f"votes are given for {strange[0]!r}, which has no panel")
    if ceiling == ASYMPTOTE:
        raise UsageError("a study compares models with what was trained: name a condition as the ceiling, or none")
    if (cost_per_vote is None) != (cost_per_item is None):
        raise UsageError("give both the cost of a vote and the cost of an item (it may be 0), or neither")
    for name, value in (("vote", cost_per_vote), ("item", cost_per_item)):
        if value is not None and not 0 <= value < float("inf"):
            raise UsageError(f"the cost of one {name} is {value:g}; give a number of at least 0")


def _summaries(panels: Mapping[str, Panel]) -> dict[str, DataSummary]:
    return {data: panel.summary for data, panel in panels.items()}
