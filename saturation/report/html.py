"""The page: one self-contained file, drawn from a finished report. Everything from the data is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Any

from saturation.report import plotdata
from saturation.report.sections import assumptions_of, groups_of, sections_of
from saturation.results import ReportResult, version
from saturation.studies import phrases
from saturation.studies.answers import LABEL_NOISE, how_many

if TYPE_CHECKING:
    from jinja2 import Environment

_TRUTH = "planted_truth"
_SAID_ABOVE = ("label_noise_only", _TRUTH)
"""Notes that the page says in its own place."""


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
    return environment().get_template("page.html.j2").render(
        css=resource("page.css"),
        title=_title(report),
        facts=facts_of(report),
        truth=next((phrases.sentence(note.message) for note in report.notes if note.code == _TRUTH), None),
        with_models=with_models,
        label_noise=LABEL_NOISE,
        groups=groups_of(first),
        assumptions=assumptions_of(first),
        sections=sections_of(report),
        checks=plotdata.checks_data(report.data),
        notes=[phrases.sentence(note.message) for note in report.notes if note.code not in _SAID_ABOVE],
        settings=settings_of(report.settings),
        inputs=report.inputs,
        repeat=repeat,
        version=version(),
    )  # fmt: skip


def environment() -> Environment:
    """Our templates; everything that is not markup of ours is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("saturation.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def resource(name: str) -> Any:
    """A file of ours that goes into a page as it is."""
    from markupsafe import Markup

    return Markup(resources("saturation.report").joinpath("templates", name).read_text(encoding="utf-8"))


def _title(report: ReportResult) -> str:
    return "How many annotators per item?" if report.command == "report" else "How many annotators per item? A demo"


def facts_of(report: ReportResult) -> list[str]:
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


def settings_of(settings: Any, prefix: str = "") -> list[tuple[str, str]]:
    """Settings as flat (name, text) pairs."""
    pairs: list[tuple[str, str]] = []
    for name, value in settings.items():
        if isinstance(value, dict):
            pairs += settings_of(value, f"{prefix}{name}: ")
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
