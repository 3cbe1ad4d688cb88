"""Numbers and names as a person would write them: digits that the uncertainty supports, percents, annotators."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeVar

from saturation.results import Uncertainty

T = TypeVar("T")
NO_ESTIMATE = "undefined"

_METRICS = {
    "kl": "KL divergence",
    "reverse_kl": "Reverse KL divergence",
    "cross_entropy": "Cross-entropy",
    "jsd": "Jensen–Shannon divergence",
    "js_distance": "Jensen–Shannon distance",
    "tvd": "Total variation distance",
    "manhattan": "Manhattan distance",
    "soft_accuracy": "Soft accuracy",
    "hellinger": "Hellinger distance",
    "brier": "Brier score",
    "brier_vote": "Brier score of one vote",
    "entropy": "Entropy",
    "entropy_error": "Entropy error",
    "entropy_bias": "Entropy bias",
    "entropy_correlation": "Entropy correlation",
    "entropy_correlation_within": "Entropy correlation within source",
    "entropy_rmse": "Root mean squared entropy error",
    "adaptive_ece": "Adaptive calibration error",
    "classwise_ece": "Classwise calibration error",
    "dist_ece_top": "Distribution calibration error of the top label",
    "wasserstein": "Wasserstein distance",
    "accuracy": "Accuracy",
    "top_vote_share": "Top vote share",
    "rank_agreement": "Rank agreement",
    "ece": "Expected calibration error",
    "dist_ece": "Distribution calibration error",
    "macro_f1": "Macro F1",
}
_NAMES = ("Brier", "Hellinger", "Jensen", "Manhattan", "Wasserstein")
_SQUARED = "^2"
"""End of the name of an order-1 metric that was squared to be compared with order-2 ones."""
_IN_NATS = ("kl", "reverse_kl", "cross_entropy", "jsd", "entropy", "entropy_error", "entropy_bias")

_BASELINES = {
    "hard": "hard labels",
    "smoothing_tuned": "tuned label smoothing",
    "temperature": "hard labels with a fitted temperature",
    "base_rate": "the base rate",
    "smallest": "the smallest budget",
}


def decimals(low: float | None, high: float | None) -> int:
    """Decimals that show two significant digits of the interval's half width; 3 where there is none.

    Examples
    --------
    >>> decimals(0.211, 0.229), decimals(1.0, 9.0), decimals(None, None)
    (4, 1, 3)
    """
    if low is None or high is None or high <= low:
        return 3
    return min(6, max(1, 1 - math.floor(math.log10((high - low) / 2))))


def number(value: float | None, places: int = 3) -> str:
    """A number with fixed decimals and a real minus sign; the word for a missing one.

    Examples
    --------
    >>> number(0.61730318), number(-0.0004), number(None), number(1e-9, 6)
    ('0.617', '0.000', 'undefined', '0.000000')
    """
    if value is None:
        return NO_ESTIMATE
    text = f"{value:.{places}f}"
    if float(text) == 0:
        text = f"{0:.{places}f}"
    return text.replace("-", "\u2212")


def percent(value: float | None, places: int = 0) -> str:
    """A share in percent.

    Examples
    --------
    >>> percent(0.914), percent(-0.02), percent(None)
    ('91%', '−2%', 'undefined')
    """
    return NO_ESTIMATE if value is None else number(100 * value, places) + "%"


def percent_places(low: float, high: float) -> int:
    """Decimals for the two ends of an interval in percent: one where whole percents would hide its width."""
    return 0 if high - low >= 0.02 else 1


def share(value: float) -> str:
    """A target such as q in percent, without losing digits.

    Examples
    --------
    >>> share(0.9), share(0.975)
    ('90%', '97.5%')
    """
    return f"{100 * value:.6g}%"


def with_interval(unc: Uncertainty, places: int | None = None) -> str:
    """An estimate in the metric's units with its interval.

    Examples
    --------
    >>> with_interval(Uncertainty(0.6173, low=0.5911, high=0.6439, level=0.95, interval="bca"))
    '0.617 [0.591, 0.644]'
    >>> with_interval(Uncertainty(0.5, interval="exact"))
    '0.500'
    """
    if unc.estimate is None:
        return NO_ESTIMATE
    places = decimals(unc.low, unc.high) if places is None else places
    if unc.low is None and unc.high is None:
        return number(unc.estimate, places)
    return f"{number(unc.estimate, places)} [{_bound(unc.low, places)}, {_bound(unc.high, places)}]"


def percent_interval(unc: Uncertainty) -> str:
    """A fraction in percent with its interval; one known by definition has none.

    Examples
    --------
    >>> percent_interval(Uncertainty(0.914, low=0.88, high=0.953, level=0.95, interval="fieller"))
    '91% [88%, 95%]'
    """
    if unc.estimate is None:
        return NO_ESTIMATE
    if (unc.low is None and unc.high is None) or unc.interval == "exact":
        return percent(unc.estimate)
    if unc.low is None or unc.high is None:
        low = "\u2212\u221e" if unc.low is None else percent(unc.low)
        high = "\u221e" if unc.high is None else percent(unc.high)
        return f"{percent(unc.estimate)} [{low}, {high}]"
    places = percent_places(unc.low, unc.high)
    return f"{percent(unc.estimate, places)} [{percent(unc.low, places)}, {percent(unc.high, places)}]"


def half_open(low: float | None, high: float | None) -> str:
    """The interval of an N* on the grid of budgets: without its lower end, with its upper one.

    Examples
    --------
    >>> half_open(10.0, 20.0), half_open(10.0, None)
    ('(10, 20]', '(10, ∞)')
    """
    start = "" if low is None else budget(low)
    return f"({start}, \u221e)" if high is None else f"({start}, {budget(high)}]"


def metric(spec: str) -> str:
    """A metric in words, its options kept.

    Examples
    --------
    >>> metric("kl"), metric("reverse_kl[floor=1e-12]"), metric("aurc"), metric("tvd^2")
    ('KL divergence', 'Reverse KL divergence [floor=1e-12]', 'aurc', 'Squared total variation distance')
    """
    if spec.endswith(_SQUARED):
        return f"Squared {metric_inside(spec.removesuffix(_SQUARED))}"
    name, bracket, options = spec.partition("[")
    words = _METRICS.get(name, name)
    return f"{words} {bracket}{options}" if bracket else words


def metric_inside(spec: str) -> str:
    """A metric in words inside a sentence: small letters, but for people's names and abbreviations.

    Examples
    --------
    >>> metric_inside("accuracy"), metric_inside("kl"), metric_inside("brier"), metric_inside("tvd^2")
    ('accuracy', 'KL divergence', 'Brier score', 'squared total variation distance')
    """
    words = metric(spec)
    return words if words.startswith(_NAMES) or words[1:2].isupper() else words[:1].lower() + words[1:]


def unit(spec: str) -> str:
    """The unit of a metric; empty where it has none.

    Examples
    --------
    >>> unit("kl"), unit("jsd[base=2]"), unit("brier")
    ('nats', 'bits', '')
    """
    name, _, options = spec.partition("[")
    if name not in _IN_NATS:
        return ""
    base = [part for part in options.removesuffix("]").split(",") if part.startswith("base=")]
    if not base or base[0] == "base=e":
        return "nats"
    return "bits" if base[0] == "base=2" else f"log {base[0]}"


def axis(spec: str) -> str:
    """What the axis of a metric counts: its unit or its range, and which way is better.

    Examples
    --------
    >>> axis("kl"), axis("brier"), axis("entropy_correlation")
    ('nats (lower is better)', '0 to 2 (lower is better)', '−1 to 1 (higher is better)')
    """
    from saturation.metrics import catalogue

    name = spec.removesuffix(_SQUARED)
    if name.partition("[")[0] not in catalogue.all_names():  # a metric of the labels alone
        return unit(spec) or metric(spec)
    made = catalogue.metric(name)
    what = unit(name) or made.range.strip("[]()").replace(", ", " to ").replace("-", "\u2212").replace("inf", "\u221e")
    return what if made.direction == "none" else f"{what} ({made.direction} is better)"


def annotators(count: float | int) -> str:
    """A number of annotators.

    Examples
    --------
    >>> annotators(1), annotators(10.0), annotators(3.74)
    ('1 annotator', '10 annotators', '3.7 annotators')
    """
    return "1 annotator" if count == 1 else f"{budget(count)} annotators"


def budget(count: float | int) -> str:
    """A budget: whole numbers without decimals, interpolated ones with one."""
    return f"{round(count):,}" if float(count).is_integer() else f"{count:,.1f}"


def baseline(name: str) -> str:
    """A baseline in words.

    Examples
    --------
    >>> baseline("hard"), baseline("smoothing[0.1]"), baseline("hard[5]")
    ('hard labels', 'label smoothing 0.1', 'hard labels from 5 votes')
    """
    kind, bracket, rest = name.partition("[")
    inside = rest.removesuffix("]")
    if bracket and kind == "smoothing":
        return f"label smoothing {inside}"
    if bracket and kind == "hard":
        return f"hard labels from {inside} votes"
    return _BASELINES.get(name, name)


def listed(parts: Iterable[str]) -> str:
    """Join with commas and a last "and".

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    parts = list(parts)
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


def p_value(p: float) -> str:
    """A p-value as papers print it.

    Examples
    --------
    >>> p_value(0.0004), p_value(0.0734), p_value(0.92)
    ('p < .001', 'p = .073', 'p = .92')
    """
    if p < 0.001:
        return "p < .001"
    return "p = " + f"{p:.{2 if p >= 0.1 else 3}f}".removeprefix("0")


def rejects(p: float, unc: Uncertainty) -> bool:
    """Whether a test rejects at the level of the interval beside it; a tested number always has one.

    Examples
    --------
    >>> rejects(0.03, Uncertainty(0.5, level=0.95)), rejects(0.03, Uncertainty(0.5, level=0.99))
    (True, False)
    """
    assert unc.level is not None
    return p < 1 - unc.level


def distinct(values: Iterable[T]) -> tuple[T, ...]:
    """Distinct values in first-seen order.

    Examples
    --------
    >>> distinct(["b", "a", "b"])
    ('b', 'a')
    """
    return tuple(dict.fromkeys(values))


def levels(uncertainties: Iterable[Uncertainty], what: str = "intervals") -> str:
    """What the brackets of a table hold, for its caption.

    Examples
    --------
    >>> levels([Uncertainty(0.5, level=0.95)]), levels([Uncertainty(0.5)], "bands")
    ('[95% intervals]', '(no bands)')
    """
    found = distinct(unc.level for unc in uncertainties if unc.level is not None)
    return f"[{listed(map(share, found))} {what}]" if found else f"(no {what.partition(' ')[0]})"


def sentence(text: str) -> str:
    """First letter up (unless it begins a name of ours), one full stop at the end; other letters as they are.

    Examples
    --------
    >>> sentence("one seed: training noise is not in this interval")
    'One seed: training noise is not in this interval.'
    >>> sentence("kl: no interval"), sentence("r at one vote is constant")
    ('kl: no interval.', 'r at one vote is constant.')
    """
    text = text.strip()
    if not text:
        return text
    first = text.split(" ", 1)[0]
    is_name = "_" in first or len(first.strip(":,;")) == 1 or first.removesuffix(":") in _METRICS
    return (text if is_name else text[0].upper() + text[1:]) + ("" if text[-1] in ".!?" else ".")


def no_comparison(name: str, reason: str) -> str:
    """Why two sides are not compared."""
    return sentence(f"{name}: no comparison, because {reason.removeprefix('undefined: ') or 'none was made'}")


def _bound(value: float | None, places: int) -> str:
    return "open" if value is None else number(value, places)
