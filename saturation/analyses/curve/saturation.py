"""Saturation curves: what each budget of votes brings a model, metric by metric.

First the absolute shortfall to the ceiling, then the fraction of the way from each baseline, then N*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from saturation.analyses.annotator_part import has_annotators
from saturation.analyses.crossed import resampled_losses
from saturation.analyses.curve import contrast
from saturation.analyses.curve import rows as curve_rows
from saturation.analyses.curve.asymptote import extrapolated_rows, with_asymptotes
from saturation.analyses.curve.cell_ratios import cell_rows
from saturation.analyses.curve.curves import ASYMPTOTE, Baseline, Curve, baselines_of, check_wanted, curves_of
from saturation.analyses.curve.fit_rows import FitOptions, fit_options, fit_rows
from saturation.analyses.curve.item_sets import PER_BUDGET_ITEMS, RAGGED, ItemSet, item_sets
from saturation.analyses.curve.labels_only import label_rows
from saturation.analyses.curve.margins import margins_of
from saturation.analyses.curve.notes import notes_of
from saturation.analyses.curve.study import Study
from saturation.analyses.joint import Joint, from_resamples
from saturation.analyses.losses import floored_rows, keep_items, losses_of
from saturation.analyses.redrawn import asked_design, linearised
from saturation.analyses.remarks import model_ties
from saturation.errors import UsageError
from saturation.metrics.catalogue import DEFAULT_METRICS, metrics_of
from saturation.metrics.metric import Metric
from saturation.resampling.designs import FROM_SEEDS, Design
from saturation.results import CurveRow, SaturationResult
from saturation.streams import seed_of
from saturation.tables.panel import Panel

CROSSED, CELL = "crossed", "cell"
PER_BUDGET = ("value", "shortfall", "gain", "fraction", "gap_difference", "gap_closure")
"""Quantities that one item set for each budget can give."""


def saturation_curve(
    panel: Panel,
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    baselines: Sequence[str] | None = None,
    ceiling: str | None = None,
    q: Sequence[float] = (0.90, 0.95),
    margin: float | None = None,
    design: str | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: Any = 0,
    ragged: str = "common",
    ties: str = "share",
    floor: float = 1e-15,
    bins: int = 10,
    fits: Sequence[str] | None = None,
    predict: Sequence[int] = (),
    by: str | None = None,
    threads: int | None = None,
) -> SaturationResult:
    """Saturation of every metric in the number of votes a training target was made from.

    A curve is all conditions that share every condition column but budget; l(N) is the metric at budget N (negated
    where higher is better), a plain mean over cells (split x seed). For every curve and metric the rows hold the
    value, the shortfall l_N - l_ceil and the gain l_smallest - l_N in the metric's own units, the fraction
    f(N) = (l_base - l_N) / (l_base - l_ceil) over every baseline side by side, and N* at each q.

    Parameters
    ----------
    panel
        Votes and predictions, aligned.
    metrics
        Names of the catalogue.
    baselines
        Names to keep (``hard``, ``hard[N]``, ``smoothing[0.1]``, ``temperature``, ``base_rate``, ``smallest`` ...);
        None: all that the study has.
    ceiling
        Selector of the condition that counts as saturated, e.g. ``method=soft,budget=100``; None: ``soft`` at the
        largest budget of the same model, else the curve's own largest budget; ``asymptote``: what the curve of that
        condition settles at, fitted, its uncertainty carried into every shortfall, fraction and N* (a reason where the
        budgets show no level that it settles at).
    q
        Shares of the gain that N* is asked for, each in (0, 1).
    margin
        Non-inferiority margin in the metric's units; None: the m = p noise of the votes.
    design
        What is redrawn: ``items``, ``crossed`` (items and seeds), ``annotators``, ``items x annotators`` or ``crossed
        with annotators``; ``crossed`` redraws the annotators too where they are known. None: all that there are several
        of. Items x seeds are resampled jointly with at least 10 seeds in every split, or where ``crossed`` is asked
        for; else intervals are linearised t of the same design, since resampling few seeds covers too rarely.
    level
        Coverage of the intervals, above 0.5; one-sided bounds (N*) have the same level.
    n_resamples
        Resamples of the joint bootstrap; rows say how many were used (null: none, intervals are linearised).
    rng
        Seed, or a NumPy generator.
    ragged
        ``common``: one item set for a whole study; ``per-budget``: each budget on all items with enough votes.
    ties, floor, bins
        Shared options of the metrics.
    fits
        Forms to fit through the budgets of every curve, of ``power`` (a + b N^-c, c in (0, 3]) and ``exponential``
        (a + b exp(-c N)), where it has at least 5; None: none, or both where ``predict`` or the ceiling asks for one.
        Correlations and the like are fitted on the loss scale, that is negated.
    predict
        Numbers of votes to read off every fit; beyond the budgets tried the rows say ``extrapolated``.
    by
        ``cell``: how far the fractions of single cells (split x seed) spread, as rows ``fraction_cell_sd``.
    threads
        Threads of the resampling; they change no number.

    Returns
    -------
    SaturationResult

    Raises
    ------
    UsageError
        For unknown or contradictory options.

    References
    ----------
    Fieller 1954 (ratios); Goeman and Solari 2010 and Maurer et al. 1995 (fixed sequences of tests); Hurvich and Tsai
    1989 (AICc); Venzon and Moolgavkar 1988 (profile intervals of fits).

    Examples
    --------
    >>> saturation_curve(None, q=(1.5,))
    Traceback (most recent call last):
    ...
    saturation.errors.UsageError: q is 1.5; give shares between 0 and 1
    """
    _check(q, level, ragged, n_resamples)
    if by not in (None, CELL):
        raise UsageError(f"by is {by!r}; a saturation curve takes {CELL!r} or none")
    seed = seed_of(rng)
    chosen = metrics_of(metrics, ties=ties, floor=floor, bins=bins, seed=seed)
    fitting = fit_options(fits, predict, ceiling)
    if fitting.forms and ragged == PER_BUDGET_ITEMS:
        raise UsageError("fits need one item set for the whole curve; leave out ragged=per-budget")
    curves = curves_of(panel.conditions, ceiling)
    sets, set_notes = item_sets(panel, curves, ragged)
    few = min(len(seeds) for seeds in panel.seeds) < FROM_SEEDS
    meant = asked_design(design, panel, _redraws(panel))
    people = "annotators" in meant.redraws
    resample = (design == CROSSED or (design is None and not few)) and not people
    options = _Options(chosen, curves, baselines, tuple(q), margin, level, n_resamples, seed, meant, resample, threads)
    studies = [(one, _study(keep_items(panel, one.kept), options)) for one in sets]
    if ragged == PER_BUDGET_ITEMS:
        rows = tuple(_rows_per_budget(studies))
    else:
        plain = studies[0][1]
        fitted = with_asymptotes(plain) if ceiling == ASYMPTOTE else None
        study = plain if fitted is None else fitted.study
        labels = label_rows(study, keep_items(panel, sets[0].kept), ties, seed, threads)
        rows = (*_rows(study), *contrast.metric_rows(study), *contrast.gap_rows(study), *labels)
        rows += tuple(_cell_rows(study)) if by == CELL else ()
        rows += (*_fit_rows(plain, fitting), *(() if fitted is None else extrapolated_rows(fitted)))
    settings = {
        "metrics": [m.name for m in chosen],
        "baselines": None if baselines is None else list(baselines),
        "ceiling": ceiling,
        "q": list(q),
        "margin": margin,
        "design": meant.name,
        "inference": "bootstrap" if resample else "linearized_t",
        "level": level,
        "n_resamples": n_resamples,
        "seed": seed,
        "ragged": ragged,
        "ties": ties,
        "floor": floor,
        "bins": bins,
        "fits": list(fitting.forms),
        "predict": list(fitting.predict),
        "by": by,
        "labels": list(panel.votes.labels),
    }
    notes = (
        *panel.notes,
        *set_notes,
        *notes_of(panel, curves, resample=resample, few=few, people=people, ceiling=ceiling),
        *model_ties(panel, chosen),
    )
    data = replace(panel.summary, floored=floored_rows(panel, chosen, floor))
    return SaturationResult(rows=rows, settings=settings, data=data, inputs=panel.inputs, notes=notes)


@dataclass(frozen=True, slots=True)
class _Options:
    """Resolved options that every item set shares."""

    metrics: tuple[Metric, ...]
    curves: tuple[Curve, ...]
    baselines: Sequence[str] | None
    q: tuple[float, ...]
    margin: float | None
    level: float
    n_resamples: int
    seed: int
    design: Design
    resample: bool
    threads: int | None


def _check(q: Sequence[float], level: float, ragged: str, n_resamples: int) -> None:
    for share in q:
        if not 0 < share < 1:
            raise UsageError(f"q is {share:g}; give shares between 0 and 1")
    if not 0.5 < level < 1:
        raise UsageError(f"level is {level:g}; give a number above 0.5 and below 1")
    if ragged not in RAGGED:
        raise UsageError(f"ragged is {ragged!r}; give one of {', '.join(RAGGED)}")
    if n_resamples < 2:
        raise UsageError(f"n_resamples is {n_resamples}; give at least 2")


def _redraws(panel: Panel) -> str:
    """The design that the intervals are about: training seeds only where there are several, people where known."""
    seeds = min(len(seeds) for seeds in panel.seeds) > 1
    if has_annotators(panel):
        return "crossed with annotators" if seeds else "items x annotators"
    return CROSSED if seeds else "items"


def _study(panel: Panel, options: _Options) -> Study:
    """Losses and their joint uncertainty on one item set."""
    losses = losses_of(panel, options.metrics)
    drawn, n_resamples = None, None
    if options.resample:
        n_resamples = options.n_resamples
        drawn = resampled_losses(panel, options.metrics, options.n_resamples, options.seed, options.threads)
    if drawn is not None:
        spread = from_resamples(drawn, [len(seeds) for seeds in panel.seeds])
    else:
        spread, losses = linearised(options.design, losses, panel, options.seed, options.threads)
    joint = Joint(losses.influence.estimates, spread, drawn, options.level, options.seed)
    return Study(
        names=tuple(map(str, panel.conditions)),
        losses=losses,
        joint=joint,
        curves=options.curves,
        baselines=_baselines(options, panel),
        margins=margins_of(panel, options.metrics, options.margin, options.seed),
        q=options.q,
        design=options.design.name,
        n_resamples=n_resamples,
    )


def _baselines(options: _Options, panel: Panel) -> tuple[tuple[Baseline, ...], ...]:
    every = tuple(baselines_of(curve, panel.conditions) if curve.takes_votes else () for curve in options.curves)
    check_wanted(options.baselines, {b.name: b for found in every for b in found})
    if options.baselines is None:
        return every
    return tuple(tuple(b for b in found if b.name in options.baselines) for found in every)


def _rows(study: Study) -> Iterator[CurveRow]:
    """Values, shortfalls, fractions and N* on one item set: curve by curve, metric by metric."""
    for curve, baselines in zip(study.curves, study.baselines, strict=True):
        for rank, metric in enumerate(study.metrics):
            yield from curve_rows.value_rows(study, curve, rank)
            if metric.direction == "none":
                yield from curve_rows.undirected_row(study, curve, rank)
                continue
            yield from curve_rows.shortfall_rows(study, curve, rank)
            if curve.is_curve:
                yield from curve_rows.gain_rows(study, curve, rank)
            for baseline in baselines:
                yield from curve_rows.fraction_rows(study, curve, rank, baseline)
            if curve.is_curve:
                yield curve_rows.noninferiority_row(study, curve, rank)


def _cell_rows(study: Study) -> Iterator[CurveRow]:
    for curve, baselines in zip(study.curves, study.baselines, strict=True):
        for rank, metric in enumerate(study.metrics):
            for baseline in baselines if metric.direction != "none" else ():
                yield from cell_rows(study, curve, rank, baseline)


def _fit_rows(study: Study, options: FitOptions) -> Iterator[CurveRow]:
    """Fits of every curve and metric with a better and worse."""
    for curve in study.curves:
        for rank, metric in enumerate(study.metrics):
            if curve.is_curve and metric.direction != "none":
                yield from fit_rows(study, curve, rank, options)


def _rows_per_budget(studies: Sequence[tuple[ItemSet, Study]]) -> Iterator[CurveRow]:
    """Rows of each budget from its own items; N* and contrasts need one item set and are left out."""
    for one, study in studies:
        for row in (*_rows(study), *contrast.gap_rows(study)):
            if row.budget == one.budget and row.quantity in PER_BUDGET:
                yield row
