"""Results made by hand from the row classes: what a page must be able to show, hostile names included."""

from __future__ import annotations

import math

from saturation.conditions import Condition
from saturation.results import (
    CurveRow,
    DataSummary,
    EvaluateResult,
    EvaluateRow,
    Input,
    LabelCurveResult,
    LabelCurveRow,
    Note,
    ReportResult,
    SaturationResult,
    Uncertainty,
)
from saturation.studies import contrasts
from saturation.studies.answers import how_many

HOSTILE = "<script>alert(1)</script>"
BUDGETS = (1, 2, 3, 5, 10, 20, 50, 100)
LABEL_BUDGETS = (1, 2, 3, 5, 10, 20, 50)
METRICS = {"kl": "lower", "brier": "lower", "entropy_correlation": "higher", "entropy": "none"}
DATA = DataSummary(n_items=1234, n_labels=3, n_votes=123400, votes_min=100, votes_max=100, dropped=2, floored=7)
SETTINGS = {"seed": 0, "level": 0.95, "n_resamples": 2000, "labels": ["yes", HOSTILE], "margin": None}
INPUTS = (Input("votes", f"{HOSTILE}.csv", "ab" * 32, 1234), Input("predictions", "p.parquet", None, 9))


def unc(estimate, half=None, **more):
    """An estimate with a symmetric interval, or none."""
    limits = {} if half is None else {"low": estimate - half, "high": estimate + half, "level": 0.95}
    return Uncertainty(estimate, **({"interval": "linearized_t", "design": "crossed"} | limits | more))


def shape(budget, order=1.0):
    """A share that rises from 0 at one vote to 1 at a hundred."""
    return (1 - budget**-order) / (1 - 100**-order)


def label_curve(metrics=METRICS) -> LabelCurveResult:
    rows = []
    for metric, direction in metrics.items():
        common = {"metric": metric, "direction": direction, "target": "raw", "reference": "disjoint",
                  "reference_size": 50}  # fmt: skip
        for budget in LABEL_BUDGETS:
            value = 0.4 / budget if direction == "lower" else shape(budget, 0.7)
            spread = {"draw_sd": 0.01, "draw_low": value - 0.03, "draw_high": value + 0.03}
            rows.append(
                LabelCurveRow(
                    quantity="value", budget=budget, unc=unc(value, 0.012, design="items"), **spread, **common
                )
            )
            if direction != "none":
                kept = unc(shape(budget) / shape(50), 0.02, design="items", interval="fieller")
                rows.append(LabelCurveRow(quantity="fraction", budget=budget, unc=kept, **common))
        for q, found in ((0.9, 10), (0.95, 20)):
            if direction != "none":
                star = unc(float(found), None, low=5.0, high=float(found), level=0.95, reason=f"in (5, {found}]: rest")
                rows.append(LabelCurveRow(quantity="n_star", q=q, unc=star, **common))
    return LabelCurveResult(rows=tuple(rows), settings=SETTINGS | {"reference": "disjoint"}, data=DATA, inputs=INPUTS)


def curve(model="m", baselines=("hard", "smoothing[0.1]", "smallest")) -> SaturationResult:
    soft = Condition.of(model=model, method="soft")
    hard = Condition.of(model=model, method="hard")
    rows = []
    for metric, direction in METRICS.items():
        common = {"metric": metric, "direction": direction, "curve": str(soft), "model": model, "method": "soft"}
        ceiling = str(Condition.of(model=model, method="soft", budget=100))
        level = {"curve": str(hard), "method": "hard"}
        rows.append(CurveRow(quantity="value", unc=unc(0.31, 0.01), **common | level))
        for budget in BUDGETS:
            value = 0.2 + 0.1 / budget if direction == "lower" else 0.3 + 0.25 * shape(budget, 0.4)
            rows.append(CurveRow(quantity="value", budget=budget, unc=unc(value, 0.01), **common))
            if metric == "entropy_correlation":
                alone = unc(shape(budget, 0.7), 0.01)
                rows.append(CurveRow(quantity="label_value", budget=budget, unc=alone, **common))
            if direction != "none":
                left = unc(value - 0.201, 0.004)
                rows.append(CurveRow(quantity="shortfall", budget=budget, ceiling=ceiling, unc=left, **common))
                rows += [_fraction(common, budget, one, ceiling) for one in baselines]
        if direction != "none":
            rows += [row for one in baselines for row in _stars(common, one, ceiling)]
    rows += _contrasts(str(soft), model)
    return SaturationResult(rows=tuple(rows), settings=SETTINGS | {"design": "crossed"}, data=DATA, inputs=INPUTS)


def _fraction(common, budget, baseline, ceiling) -> CurveRow:
    own = {"baseline": baseline, "ceiling": ceiling, "budget": budget, "quantity": "fraction", **common}
    if baseline == "smoothing[0.1]" and common["metric"] == "brier":
        reason = "undefined: the whole improvement from baseline to ceiling is not distinguishable from 0 (p = 0.3)"
        set_ = {"fieller_shape": "complement", "fieller_low": -0.1, "fieller_high": 0.8}
        return CurveRow(unc=unc(None, None, reason=reason, interval="none"), denominator_p=0.3, **set_, **own)
    if budget == 100:
        return CurveRow(unc=Uncertainty(1.0, low=1.0, high=1.0, level=0.95, interval="exact"), **own)
    start = {"hard": 0.4, "smallest": 0.0}.get(baseline, -0.3)
    kept = start + (1 - start) * shape(budget, 0.5 if common["direction"] == "higher" else 1.1)
    half = 0.03 + 0.1 / budget
    set_ = {"fieller_shape": "bounded", "fieller_low": kept - half, "fieller_high": kept + half}
    return CurveRow(unc=unc(kept, half, interval="fieller"), denominator_p=1e-4, **set_, **own)


def _contrasts(curve, model) -> list[CurveRow]:
    """KL ahead of Brier at small budgets; the model behind its labels at none; one target beside the soft one."""
    common = {"curve": curve, "model": model, "method": "soft"}
    rows = []
    for budget in BUDGETS[:-1]:
        apart = unc(0.2 / budget, 0.02)
        band = {"simultaneous_low": 0.2 / budget - 0.03, "simultaneous_high": 0.2 / budget + 0.03}
        rows.append(CurveRow(quantity="contrast_fraction", metric="kl", metric_b="brier", direction="lower",
                             baseline="hard", budget=budget, unc=apart, p=0.01, **band, **common))  # fmt: skip
    rows += [
        CurveRow(quantity="contrast_labels", metric="entropy_correlation", direction="higher", baseline="smallest",
                 budget=budget, unc=unc(-0.01, 0.02), p=0.3, simultaneous_low=-0.04, simultaneous_high=0.02, **common)
        for budget in BUDGETS[1:-1]
    ]  # fmt: skip
    ratio = unc(math.log(0.6), 0.2)
    rows.append(CurveRow(quantity="contrast_log_n_star", metric="kl", metric_b="brier", direction="lower",
                         baseline="hard", q=0.9, unc=ratio, p=0.001, **common))  # fmt: skip
    other = {"curve": str(Condition.of(model=model, method="dirichlet")), "model": model, "method": "dirichlet"}
    for budget, p in ((3, 0.001), (10, 0.4)):
        at = {"metric": "kl", "direction": "lower", "budget": budget} | other
        rows.append(CurveRow(quantity="value", unc=unc(0.21, 0.01), **at))
        rows.append(CurveRow(quantity="gap_difference", unc=unc(0.01, 0.004), p=p, **at))
        rows.append(CurveRow(quantity="gap_closure", unc=unc(0.5, 0.2, interval="fieller"), p=p, **at))
        rows.append(CurveRow(quantity="shortfall", unc=unc(0.01, 0.02), p=0.2, **at))
    return rows


def _stars(common, baseline, ceiling) -> list[CurveRow]:
    stars = []
    for q in (0.9, 0.95):
        own = {"baseline": baseline, "ceiling": ceiling, "q": q, "quantity": "n_star", **common}
        if baseline == "smoothing[0.1]" and common["metric"] == "brier":
            stars.append(CurveRow(unc=unc(None, None, reason="undefined: the denominator", interval="none"), **own))
        elif common["metric"] == "entropy_correlation":
            reason = "> 50: no budget tried below the ceiling is shown to keep that much"
            stars.append(CurveRow(unc=unc(None, None, reason=reason), censored="above", **own))
        else:
            found = {"hard": 3, "smallest": 10}.get(baseline, 5) * (2 if q > 0.9 else 1)
            reason = f"in ({found - 1}, {found}]: the budgets between were not tried"
            stars.append(CurveRow(unc=unc(float(found), None, low=2.0, high=10.0, level=0.95, reason=reason), **own))
    return stars


def evaluated(model="m") -> EvaluateResult:
    conditions = [
        Condition.of(model=model, method="hard"),
        *(Condition.of(model=model, method="smoothing", strength=s) for s in (0.1, 0.2)),
        *(Condition.of(model=model, method="soft", budget=b) for b in BUDGETS),
    ]
    rows = [
        EvaluateRow(
            metric=metric, condition=one, direction=direction,
            unc=unc(0.3 + 0.05 * math.sin(place), 0.012, n_cells=9, n_items=617),
        )
        for metric, direction in METRICS.items()
        for place, one in enumerate(conditions)
    ]  # fmt: skip
    return EvaluateResult(rows=tuple(rows), settings=SETTINGS | {"design": "items"}, data=DATA, inputs=INPUTS)


def report(*, with_models=True, model="m") -> ReportResult:
    sections = {}
    if with_models:
        sections |= {"curve": curve(model), "evaluate": evaluated(model)}
    sections["label_curve"] = label_curve()
    return ReportResult(
        sections=sections,
        settings=SETTINGS,
        data=DATA,
        inputs=INPUTS,
        notes=(Note("label_order", f"labels taken in the order yes, {HOSTILE}"),),
        answers=tuple(found.answer for found in how_many(sections)),
        findings=contrasts.find(sections),
    )
