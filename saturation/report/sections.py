"""The sections of the page between the answers and what was read: a heading, words, pictures and tables each.

A new section is a function in ``SECTIONS``: a report in, no section or several out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from saturation.report import (
    ceiling_page,
    compare_page,
    contrast_grids,
    equivalents_page,
    figures,
    fits_page,
    grids,
    heldout_page,
    murphy_figures,
    murphy_page,
    pilot_page,
    plan_page,
    plotdata,
    style,
    words_page,
)
from saturation.report.section import Answered, Group, Section, Words, picture
from saturation.results import ReportResult
from saturation.studies import contrasts, gaps, phrases
from saturation.studies.answers import LABEL_NOISE, NOT_TRAINING, HowMany, how_many

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def groups_of(found: Sequence[HowMany]) -> tuple[Group, ...]:
    """Answers by curve, the curve named where there are several."""
    names = plotdata.short_names(one.answer.curve for one in found if one.answer.curve is not None)
    by_curve: dict[str, list[Answered]] = {}
    for one in found:
        shown = Answered(one.short, one.kind, phrases.metric(one.answer.metric), one.answer.headline, one.answer.detail)
        by_curve.setdefault(one.answer.curve or "", []).append(shown)
    return tuple(
        Group(f"Trained on {names[curve]} targets" if len(by_curve) > 1 else None, tuple(answers))
        for curve, answers in by_curve.items()
    )


def assumptions_of(found: Sequence[HowMany]) -> tuple[str, ...]:
    """Each assumption once; with the metrics it belongs to where not all share it."""
    by_text: dict[str, list[str]] = {}
    for one in (one for one in found if one.kind != "undefined"):
        text = one.answer.assumption.removeprefix(NOT_TRAINING).strip()
        by_text.setdefault(text, []).append(phrases.metric(one.answer.metric))
    texts = [text for text in by_text if text]
    if len(texts) < 2:
        return tuple(texts)
    return tuple(f"{phrases.listed(dict.fromkeys(by_text[text]))}: {text}" for text in texts)


def _difference_part(report: ReportResult) -> list[Section]:
    if not report.findings:
        return []
    curve: Any = report.sections["curve"]
    return [
        Section(
            "differ",
            "Do the metrics differ?",
            "Shares kept are compared within one order: a metric that is quadratic in the error saturates earlier than "
            "a linear one whatever the learner does, so linear ones are compared with each other, or squared first. "
            f"{contrasts.BANDS} Correlations and accuracy are compared with what the labels alone would do.",
            (),
            tuple(made for grids_of in _CONTRAST_GRIDS for made in grids_of(curve)),
            words=_finding_words(report),
        )
    ]


_CONTRAST_GRIDS = (contrast_grids.pair_grids, contrast_grids.labels_grids, contrast_grids.gap_grids)


def _finding_words(report: ReportResult) -> tuple[Words, ...]:
    pairs = contrasts.of_first_curve(report.findings, "metrics")
    over = f", over {phrases.baseline(pairs[0].baseline)}" if pairs and pairs[0].baseline else ""
    listed = {
        f"Metrics of one order{over}": (*contrasts.summary(pairs), *contrasts.merged(pairs)),
        "The model and the labels alone": tuple(one.sentence for one in report.findings if one.kind == "labels"),
        "Other targets at the same budget": tuple(gaps.gap_summaries(report.sections["curve"].rows)),
    }
    return tuple(Words(name, lines) for name, lines in listed.items() if lines)


def _curve_part(report: ReportResult) -> list[Section]:
    if "curve" not in report.sections:
        return []
    curve: Any = report.sections["curve"]
    with_labels = any(row.quantity.startswith("label_") for row in curve.rows)
    beside = " The dashed line is the labels alone, without a model." if with_labels else ""
    return [
        Section(
            "curves",
            "How the models improve with the budget",
            "Each line is a model trained on N votes an item; the band is its interval. Dotted levels are conditions "
            f"without a budget.{beside}",
            _pictures(curve, figures.saturation_curve, "curve"),
            (grids.values_grid(curve),),
        )
    ]


def _fraction_part(report: ReportResult) -> list[Section]:
    if "curve" not in report.sections:
        return []
    curve: Any = report.sections["curve"]
    return [
        Section(
            "model-fractions",
            "How much of the improvement each budget keeps",
            "0% is the baseline, 100% the ceiling. Dashed lines: the shares asked for. A dotted vertical line is "
            "a budget whose share the data leave unbounded.",
            _fraction_pictures(curve, "model-fraction"),
            (grids.fractions_grid(curve),),
        )
    ]


def _star_part(report: ReportResult) -> list[Section]:
    if "curve" not in report.sections:
        return []
    curve: Any = report.sections["curve"]
    return [
        Section(
            "model-n-star",
            "How many annotators that takes",
            "The smallest budget that is shown to keep the share. An arrow is a censored answer: it lies beyond the "
            "budgets that can be told from the ceiling.",
            (_star_picture(curve, "model-star"),),
            (grids.n_star_grid(curve),),
        )
    ]


def _label_part(report: ReportResult) -> list[Section]:
    result: Any = report.sections["label_curve"]
    alone = [one for one in how_many(report.sections) if one.answer.curve is None]
    with_models = "curve" in report.sections
    lead = (
        "How far N votes are from the reference, with no model. Dark band: the interval for other items. Light "
        "band: where one actual collection of that many votes would fall."
    )
    pictures = _pictures(result, figures.label_curve, "labels")
    if not with_models:
        pictures += (*_fraction_pictures(result, "labels-fraction"), _star_picture(result, "labels-star"))
    return [
        Section(
            "labels",
            "What the labels say on their own",
            f"{lead} {LABEL_NOISE}" if with_models else lead,
            pictures,
            (grids.values_grid(result), grids.fractions_grid(result), grids.n_star_grid(result)),
            groups_of(alone) if with_models else (),
            assumptions_of(alone) if with_models else (),
        )
    ]


def _condition_part(report: ReportResult) -> list[Section]:
    if "evaluate" not in report.sections:
        return []
    result: Any = report.sections["evaluate"]
    bars = {bar.name for bar in plotdata.conditions_data(result)}
    height = 0.9 + 0.21 * max(len(bars), 1)
    return [
        Section(
            "conditions",
            "Every condition",
            "Means over splits and seeds, with their intervals. Arrows in the table say which way is better.",
            _pictures(result, figures.conditions, "condition", height=height),
            (grids.conditions_grid(result),),
        )
    ]


def _murphy_part(report: ReportResult) -> list[Section]:
    if "murphy" not in report.sections:
        return []
    result: Any = report.sections["murphy"]
    known = murphy_figures.conditions_of(result)
    selectors = [murphy_page.exact(one, known) for one in murphy_page.headline_conditions(result)]
    return [
        Section(
            "murphy",
            "Calibrated, or only telling items apart?",
            "The Brier score splits into what miscalibration costs, what telling items apart gains, and what belongs "
            "to the labels alone. On the diagonal a forecast means what it says; whiskers are intervals for other "
            "items, the grey band is the annotators' own noise, bars show how many items a bin holds.",
            tuple(
                picture(figures.reliability(result, condition=one), f"murphy-{place}", "Reliability diagram")
                for place, one in enumerate(selectors)
            ),
            (murphy_page.murphy_grid(result),),
            words=(Words("In words", murphy_page.sentences(result)),),
        )
    ]


SECTIONS: tuple[Callable[[ReportResult], list[Section]], ...] = (
    _difference_part,
    _curve_part,
    _fraction_part,
    _star_part,
    fits_page.part,
    _label_part,
    pilot_page.part,
    _condition_part,
    compare_page.part,
    heldout_page.part,
    equivalents_page.part,
    ceiling_page.part,
    plan_page.part,
    _murphy_part,
    words_page.part,
)
"""In the order of the page; each gives nothing where the report has nothing for it."""


def sections_of(report: ReportResult) -> list[Section]:
    """All sections of a report."""
    return [section for part in SECTIONS for section in part(report)]


def _fraction_pictures(result: Any, prefix: str) -> tuple[str, ...]:
    """One picture a metric, for each curve where there are several; none of what is exact by definition alone."""
    pictures: tuple[str, ...] = ()
    for place, curve in enumerate(plotdata.curves_of(result) or (None,)):
        points = plotdata.fractions_data(result, curve)
        shown = [p.metric for p in points if p.unbounded or (p.value is not None and p.low != p.high)]
        draw = partial(figures.fractions, curve=curve)
        pictures += _pictures(result, draw, f"{prefix}-{place}", metrics=tuple(dict.fromkeys(shown)))
    return pictures


def _star_picture(result: Any, prefix: str) -> str:
    return picture(figures.n_star(result), prefix, "Annotators needed by metric")


def _pictures(
    result: Any, draw: Callable[..., Axes], prefix: str, *, height: float = 3.1, metrics: Sequence[str] | None = None
) -> tuple[str, ...]:
    """One picture a metric; the page lays them out."""
    wanted = plotdata.metrics_of(result) if metrics is None else metrics
    return tuple(
        picture(draw(result, style.new_axes(4.8, height), metric=metric), f"{prefix}-{place}", phrases.metric(metric))
        for place, metric in enumerate(wanted)
    )
