"""One model's curve as one side of a comparison, with the joint uncertainty of everything on its data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from saturation.analyses.annotator_part import annotators_part, has_annotators
from saturation.analyses.curve.curves import Baseline, Curve, baselines_of, curves_of
from saturation.analyses.curve.item_sets import item_sets
from saturation.analyses.curve.rows import fractions_of, over_under
from saturation.analyses.curve.study import Study
from saturation.analyses.fractions import Fraction
from saturation.analyses.joint import Joint
from saturation.analyses.losses import keep_items, losses_of
from saturation.metrics.metric import Metric
from saturation.resampling.linearized import covariance
from saturation.tables.panel import Panel
from saturation.typing import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The main curve of one model on one data set.

    Attributes
    ----------
    data, model
        Their names.
    study
        Losses and joint uncertainty of all models of the data set, on one item set.
    curve
        Soft labels where there are any, else the curve with the most budgets.
    baselines
        By name.
    """

    data: str
    model: str
    study: Study
    curve: Curve
    baselines: Mapping[str, Baseline]

    def fractions(self, rank: int, baseline: str) -> dict[int, Fraction]:
        """Fractions of a metric by budget, without the ceiling itself."""
        made = fractions_of(self.study, self.curve, rank, self.baselines[baseline])
        return {b: made[at] for at, b in self._open(baseline) if made[at] is not None}  # type: ignore[misc]

    def contrasts(self, rank: int, baseline: str) -> dict[int, tuple[Floats, Floats]]:
        """By budget: the contrasts l_base - l_N and l_base - l_ceil behind the fractions."""
        base = self.baselines[baseline].members
        return {
            b: over_under(self.study, self.curve, rank, self.curve.members[at], base[at])  # type: ignore[arg-type]
            for at, b in self._open(baseline)
        }

    def _open(self, baseline: str) -> list[tuple[int, int]]:
        """(place, budget) of the points that have the baseline and are not an end of the scale."""
        base = self.baselines[baseline].members
        ceiling = self.curve.ceiling
        return [
            (at, int(b))
            for at, (b, member) in enumerate(zip(self.curve.budgets, self.curve.members, strict=True))
            if b is not None and ceiling is not None and base[at] not in (None, member) and member != ceiling
        ]


def sides_of(
    data: str,
    panel: Panel,
    metrics: Sequence[Metric],
    *,
    ceiling: str | None,
    level: float,
    seed: int,
    threads: int | None,
) -> list[Side]:
    """One side for every model with at least two budgets, in canonical order.

    Intervals are linearised for any number of seeds, because a joint bootstrap of every model would not add to them.

    Parameters
    ----------
    data
        Name of the data set.
    panel
        All its models.
    metrics
        Of the comparison.
    ceiling
        As in :func:`~saturation.analyses.curve.saturation.saturation_curve`.
    level, seed, threads
        Of the intervals.
    """
    whole = curves_of(panel.conditions, ceiling)
    chosen = [curve for curve in (main_curve(whole, model) for model in models_of(panel)) if curve is not None]
    if not chosen:
        return []
    sets, _ = item_sets(panel, whole, "common")
    small = _only(keep_items(panel, sets[0].kept), _used(panel, chosen))
    curves = curves_of(small.conditions, ceiling)
    study = _study(small, metrics, curves, level, seed, threads)
    sides = []
    for one in chosen:
        curve = next(c for c in curves if (c.condition, c.budgets) == (one.condition, one.budgets))
        baselines = {b.name: b for b in baselines_of(curve, small.conditions)}
        sides.append(Side(data, curve.condition.model, study, curve, baselines))
    return sides


def models_of(panel: Panel) -> tuple[str, ...]:
    """The models of a panel, in canonical order."""
    return tuple(dict.fromkeys(one.model for one in panel.conditions))


def main_curve(curves: Sequence[Curve], model: str) -> Curve | None:
    """The curve a model is judged by: soft labels first, then the one with the most budgets; None without a curve."""
    own = [c for c in curves if c.condition.model == model and c.is_curve and c.takes_votes]
    return max(own, key=lambda c: (c.condition.method == "soft", len(c.budgets)), default=None)


def _used(panel: Panel, chosen: Sequence[Curve]) -> list[int]:
    """Conditions that the curves, their ceilings or their baselines are made of."""
    used: set[int] = set()
    for curve in chosen:
        used |= {*curve.members, *(() if curve.ceiling is None else (curve.ceiling,))}
        used |= {m for b in baselines_of(curve, panel.conditions) for m in b.members if m is not None}
    return sorted(used)


def _only(panel: Panel, kept: Sequence[int]) -> Panel:
    conditions = tuple(panel.conditions[c] for c in kept)
    return replace(panel, conditions=conditions, probs=tuple(probs[list(kept)] for probs in panel.probs))


def _study(  # noqa: PLR0917
    panel: Panel, metrics: Sequence[Metric], curves: tuple[Curve, ...], level: float, seed: int, threads: int | None
) -> Study:
    losses = losses_of(panel, metrics)
    several = min(len(seeds) for seeds in panel.seeds) > 1
    if has_annotators(panel):
        people = annotators_part(panel, metrics, seed, threads)
        spread, design = (
            people.added_to(losses.influence),
            "crossed with annotators" if several else "items x annotators",
        )
        losses = replace(losses, reasons={**people.reasons, **losses.reasons})
    else:
        spread, design = covariance(losses.influence), "crossed" if several else "items"
    return Study(
        names=tuple(map(str, panel.conditions)),
        losses=losses,
        joint=Joint(losses.influence.estimates, spread, None, level, seed),
        curves=curves,
        baselines=(),
        margins={},
        q=(),
        design=design,
        n_resamples=None,
    )
