"""The page: one self-contained file, drawn from a finished report. Everything from the data is escaped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Any

from saturation.report import figures, grids, plotdata, style, svg
from saturation.report.grids import Grid
from saturation.results import ReportResult, version
from saturation.studies import phrases
from saturation.studies.answers import LABEL_NOISE, NOT_TRAINING, HowMany, how_many

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.axes import Axes

_TRUTH = "planted_truth"
_SAID_ABOVE = ("label_noise_only", _TRUTH)
"""Notes that the page says in its own place."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer as the page shows it."""

    short: str
    kind: str
    title: str
    headline: str
    detail: str


@dataclass(frozen=True, slots=True)
class Group:
    """The answers of one curve; the name is None where there is only one."""

    name: str | None
    answers: tuple[Answered, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, some words, the pictures and the tables below it."""

    anchor: str
    heading: str
    lead: str
    pictures: tuple[str, ...]
    grids: tuple[Grid, ...]
    groups: tuple[Group, ...] = ()
    assumptions: tuple[str, ...] = ()


def page(report: ReportResult, *, repeat: str | None = None) -> str:
    """The report as one HTML file.

    Parameters
    ----------
    report
        A finished report.
    repeat
        The command line that makes it again; None where it was made from Python.

    Returns
    -------
    str
        HTML with inline CSS and SVG; it loads nothing.
    """
    found = how_many(report.sections)
    with_models = "curve" in report.sections
    first = [one for one in found if (one.answer.curve is not None) == with_models]
    return _environment().get_template("page.html.j2").render(
        css=_resource("page.css"),
        title=_title(report),
        facts=_facts(report),
        truth=next((phrases.sentence(note.message) for note in report.notes if note.code == _TRUTH), None),
        with_models=with_models,
        label_noise=LABEL_NOISE,
        groups=_groups(first),
        assumptions=_assumptions(first),
        sections=_sections(report, found),
        checks=plotdata.checks_data(report.data),
        notes=[phrases.sentence(note.message) for note in report.notes if note.code not in _SAID_ABOVE],
        settings=_settings(report.settings),
        inputs=report.inputs,
        repeat=repeat,
        version=version(),
    )  # fmt: skip


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("saturation.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _resource(name: str) -> Any:
    from markupsafe import Markup

    return Markup(resources("saturation.report").joinpath("templates", name).read_text())


def _title(report: ReportResult) -> str:
    return "How many annotators per item?" if report.command == "report" else "How many annotators per item? A demo"


def _facts(report: ReportResult) -> list[str]:
    """One line on what was read."""
    data = report.data
    each = (
        phrases.budget(data.votes_min)
        if data.votes_min == data.votes_max
        else f"{phrases.budget(data.votes_min)} to {phrases.budget(data.votes_max)}"
    )
    facts = [f"{data.n_items:,} items", f"{data.n_labels:,} labels", f"{each} votes an item"]
    if data.n_annotators is not None:
        facts.append(f"{data.n_annotators:,} annotators")
    if "evaluate" in report.sections:
        rows = report.sections["evaluate"].rows
        conditions = len({str(row.condition) for row in rows})
        cells = max((row.unc.n_cells or 0 for row in rows), default=0)
        facts += [f"{conditions} training conditions", f"{cells} {'cell' if cells == 1 else 'cells'} (split × seed)"]
    return facts


def _groups(found: Sequence[HowMany]) -> tuple[Group, ...]:
    names = plotdata.short_names(one.answer.curve for one in found if one.answer.curve is not None)
    by_curve: dict[str, list[Answered]] = {}
    for one in found:
        shown = Answered(one.short, one.kind, phrases.metric(one.answer.metric), one.answer.headline, one.answer.detail)
        by_curve.setdefault(one.answer.curve or "", []).append(shown)
    return tuple(
        Group(f"Trained on {names[curve]} targets" if len(by_curve) > 1 else None, tuple(answers))
        for curve, answers in by_curve.items()
    )


def _assumptions(found: Sequence[HowMany]) -> tuple[str, ...]:
    """Each assumption once; with the metrics it belongs to where not all share it."""
    by_text: dict[str, list[str]] = {}
    for one in (one for one in found if one.kind != "undefined"):
        text = one.answer.assumption.removeprefix(NOT_TRAINING).strip()
        by_text.setdefault(text, []).append(phrases.metric(one.answer.metric))
    texts = [text for text in by_text if text]
    if len(texts) < 2:
        return tuple(texts)
    return tuple(f"{phrases.listed(dict.fromkeys(by_text[text]))}: {text}" for text in texts)


def _sections(report: ReportResult, found: Sequence[HowMany]) -> list[Section]:
    sections = _model_parts(report) if "curve" in report.sections else []
    return [*sections, _label_part(report, found), *(_condition_parts(report) if "evaluate" in report.sections else [])]


def _model_parts(report: ReportResult) -> list[Section]:
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
        ),
        *_fraction_parts(curve, "model"),
    ]


def _fraction_parts(result: Any, prefix: str) -> list[Section]:
    return [
        Section(
            f"{prefix}-fractions",
            "How much of the improvement each budget keeps",
            "0% is the baseline, 100% the ceiling. Dashed lines: the shares asked for. A dotted vertical line is "
            "a budget whose share the data leave unbounded.",
            _fraction_pictures(result, f"{prefix}-fraction"),
            (grids.fractions_grid(result),),
        ),
        Section(
            f"{prefix}-n-star",
            "How many annotators that takes",
            "The smallest budget that is shown to keep the share. An arrow is a censored answer: it lies beyond the "
            "budgets that can be told from the ceiling.",
            (_picture(figures.n_star(result), f"{prefix}-star", "Annotators needed by metric"),),
            (grids.n_star_grid(result),),
        ),
    ]


def _fraction_pictures(result: Any, prefix: str) -> tuple[str, ...]:
    """One picture a metric, for each curve where there are several."""
    pictures: tuple[str, ...] = ()
    for place, curve in enumerate(plotdata.curves_of(result) or (None,)):
        shown = [p.metric for p in plotdata.fractions_data(result, curve) if p.value is not None or p.unbounded]
        draw = partial(figures.fractions, curve=curve)
        pictures += _pictures(result, draw, f"{prefix}-{place}", metrics=tuple(dict.fromkeys(shown)))
    return pictures


def _label_part(report: ReportResult, found: Sequence[HowMany]) -> Section:
    result: Any = report.sections["label_curve"]
    alone = [one for one in found if one.answer.curve is None]
    with_models = "curve" in report.sections
    lead = (
        "How far N votes are from the reference, with no model. Dark band: the interval for other items. Light "
        "band: where one actual collection of that many votes would fall."
    )
    pictures = _pictures(result, figures.label_curve, "labels")
    more = _fraction_parts(result, "labels")
    return Section(
        "labels",
        "What the labels say on their own",
        f"{lead} {LABEL_NOISE}" if with_models else lead,
        (*pictures, *(more[0].pictures if not with_models else ()), *(more[1].pictures if not with_models else ())),
        (grids.values_grid(result), *more[0].grids, *more[1].grids),
        _groups(alone) if with_models else (),
        _assumptions(alone) if with_models else (),
    )


def _condition_parts(report: ReportResult) -> list[Section]:
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


def _pictures(
    result: Any, draw: Callable[..., Axes], prefix: str, *, height: float = 3.1, metrics: Sequence[str] | None = None
) -> tuple[str, ...]:
    """One picture a metric; the page lays them out."""
    wanted = plotdata.metrics_of(result) if metrics is None else metrics
    return tuple(
        _picture(draw(result, style.new_axes(4.8, height), metric=metric), f"{prefix}-{place}", phrases.metric(metric))
        for place, metric in enumerate(wanted)
    )


def _picture(axes: Axes, prefix: str, title: str) -> Any:
    from markupsafe import Markup

    figure = style.figure_of(axes)
    words = f"{axes.get_xlabel()} against {axes.get_ylabel()}" if axes.get_ylabel() else axes.get_xlabel()
    drawn = svg.inline(figure, prefix=prefix, title=title, description=f"{words}. The table below has the numbers.")
    return Markup(drawn)


def _settings(settings: Any, prefix: str = "") -> list[tuple[str, str]]:
    """Settings as flat (name, text) pairs."""
    pairs: list[tuple[str, str]] = []
    for name, value in settings.items():
        if isinstance(value, dict):
            pairs += _settings(value, f"{prefix}{name}: ")
        else:
            pairs.append((prefix + re.sub("_", " ", name), _plain(value)))
    return pairs


def _plain(value: Any) -> str:
    if value is None:
        return "by default"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(_plain(one) for one in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
