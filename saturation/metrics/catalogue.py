"""Every metric by name: what ``--metrics`` understands and ``saturation metrics`` lists."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import get_args

from saturation.errors import UsageError
from saturation.metrics.item_entries import ITEM_METRICS
from saturation.metrics.metric import Metric
from saturation.metrics.ranking import RankTies
from saturation.metrics.set_entries import SET_METRICS
from saturation.metrics.spec import (
    READERS,
    Reader,
    Value,
    close_match,
    one_of,
    spec_text,
    split_spec,
    unknown_name,
    value_text,
)

DEFAULT_METRICS = ("kl", "jsd", "tvd", "brier", "entropy_correlation", "accuracy", "dist_ece")

CATALOGUE: dict[str, Callable[..., Metric]] = ITEM_METRICS | SET_METRICS

OWN_READERS: dict[tuple[str, str], Reader] = {("rank_agreement", "ties"): one_of(*get_args(RankTies))}
"""Options that mean something else in one metric: read their own way and never shared."""


def all_names() -> tuple[str, ...]:
    """Every name, in catalogue order: what ``--metrics all`` stands for."""
    return tuple(CATALOGUE)


def options_of(name: str) -> dict[str, Value]:
    """The options a metric takes, with their defaults.

    Examples
    --------
    >>> options_of("jsd"), options_of("accuracy")
    ({'base': None}, {'ties': 'share', 'model_ties': 'first', 'seed': 0})
    """
    if name not in CATALOGUE:
        raise unknown_name(name, CATALOGUE)
    parameters = inspect.signature(CATALOGUE[name]).parameters
    return {option: p.default for option, p in parameters.items() if p.kind is p.KEYWORD_ONLY}


def metric(spec: str, **shared: Value) -> Metric:
    """A metric from its text form.

    Parameters
    ----------
    spec
        ``name`` or ``name[option=value;option=value]``.
    shared
        Options for all metrics alike (ties, floor, bins, base, entropy_estimator, seed ...): applied where the metric
        takes them; None means the default. Options in the brackets win.

    Returns
    -------
    Metric
        Its ``name`` is the canonical text form: bracketed options that differ from what holds without them.

    Raises
    ------
    UsageError
        For an unknown metric, an option that it does not take, or a value out of range.

    Examples
    --------
    >>> metric("reverse_kl[floor=1e-12]").name, metric("kl[floor=1e-15]").name, metric("accuracy", ties="last").name
    ('reverse_kl[floor=1e-12]', 'kl', 'accuracy')
    """
    name, told = split_spec(spec)
    defaults = options_of(name) | _shared_options(name, shared)
    options = {option: _read(name, option, value) for option, value in told.items()}
    return CATALOGUE[name](spec_text(name, options, defaults), **defaults | options)


def metrics_of(specs: Iterable[str], **shared: Value) -> tuple[Metric, ...]:
    """Several metrics; ``all`` stands for every name. The same metric twice is an error.

    Examples
    --------
    >>> [m.name for m in metrics_of(DEFAULT_METRICS)][:3]
    ['kl', 'jsd', 'tvd']
    """
    named = [one for spec in specs for one in (all_names() if spec == "all" else (spec,))]
    made = tuple(metric(spec, **shared) for spec in named)
    names = [one.name for one in made]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"metric given twice: {', '.join(twice)}")
    if not made:
        raise UsageError("no metric is named; name one or leave the option out")
    return made


def _shared_options(name: str, shared: Mapping[str, Value]) -> dict[str, Value]:
    unknown = [option for option in shared if option not in READERS]
    if unknown:
        raise UsageError(f"no metric has an option {unknown[0]!r}{close_match(unknown[0], READERS)}")
    return {
        option: READERS[option](option, value)
        for option, value in shared.items()
        if value is not None and option in options_of(name) and (name, option) not in OWN_READERS
    }


def _read(name: str, option: str, value: str) -> Value:
    takes = options_of(name)
    if option not in takes:
        listed = f"it takes {', '.join(takes)}" if takes else "it takes none"
        raise UsageError(f"{name} has no option {option!r}; {listed}")
    return OWN_READERS.get((name, option), READERS[option])(option, value)


def records() -> tuple[dict[str, str | int | None], ...]:
    """The catalogue as rows for people: name, title, direction, order, range, formula, options, reference."""
    return tuple(_record(name) for name in all_names())


def _record(name: str) -> dict[str, str | int | None]:
    made = metric(name)
    return {
        "name": name,
        "title": made.title,
        "kind": made.kind,
        "direction": made.direction,
        "order": made.order,
        "range": made.range,
        "formula": made.formula,
        "options": ", ".join(f"{option}={value_text(option, value)}" for option, value in options_of(name).items()),
        "reference": made.reference,
        "default": "yes" if name in DEFAULT_METRICS else "no",
    }
