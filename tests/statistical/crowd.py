"""Intervals about another crowd: ``python -m tests.statistical.crowd``.

Studies whose votes come from one crowd of A people with habits; the truth is about new items and a new crowd. Three
ways to an interval are compared with the spread of the estimates: ``independent``, design ``items``: as if no person
voted on two items; ``weights``, random weights on items and annotators (``interval="normal"`` of ``evaluate``);
``house``, what every analysis does without being asked: V_items + max(V_A - V_w, 0), see ``saturation.analyses.crowd``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturation.analyses.comparing.comparison import compare
from saturation.analyses.curve.saturation import saturation_curve
from saturation.analyses.evaluate import evaluate
from saturation.analyses.labels.label_curve import label_curve
from saturation.analyses.remarks import equally_busy
from saturation.tables.panel import Ballots, Panel
from tests.statistical import model, truth
from tests.statistical.settings import Setting
from tests.statistical.table import markdown, share
from tests.statistical.truth import truths

METRICS = ("brier", "kl", "tvd", "accuracy", "entropy_bias", "entropy_correlation")
LABELS = ("brier", "kl", "entropy_correlation")
WAYS = ("independent", "weights", "house")
WEIGHTS_DRAWS = 200
Found = dict[str, tuple[float, float, float]]
"""Quantity -> estimate, low and high."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """One size of study: items, votes an item and people; ``drawn_from`` votes, busy people's first.

    ``weights``: whether that way is tried too, which takes longer than everything else together.
    """

    items: int
    votes: int
    people: int
    drawn_from: int | None = None
    replications: int = 120
    weights: bool = False

    @property
    def text(self) -> str:
        """For the table."""
        uneven = ", uneven" if self.drawn_from else ""
        return f"{self.items} x {self.votes}, {self.people} people{uneven}"


STUDIES = (
    Crowd(100, 5, 30, replications=200, weights=True),
    Crowd(500, 5, 30, replications=200, weights=True),
    Crowd(1500, 5, 30),
    Crowd(500, 5, 150),
    Crowd(500, 20, 40),
    Crowd(500, 5, 40, drawn_from=20),
    Crowd(500, 5, 8),
)


def study(crowd: Crowd, replication: int, seed: int) -> Panel:
    """One simulated study; predictions do not depend on the votes."""
    setting = Setting(crowd.items, crowd.drawn_from or crowd.votes, 1, annotators=True, new_runs=False)
    panel = model.study(seed, setting, replication, crowd.people)
    if crowd.drawn_from is None:
        return panel
    rng = np.random.default_rng((seed, replication))
    votes = replace(panel.votes, **thinned(panel.votes.ballots, crowd, rng))
    return replace(panel, votes=votes, summary=votes.summary)


def thinned(ballots: Ballots | None, crowd: Crowd, rng: np.random.Generator) -> dict[str, object]:
    """Ballots and counts of the votes that are kept: people are lognormally busy, whatever they say."""
    assert ballots is not None
    busy = np.exp(1.2 * rng.standard_normal(crowd.people))
    key = np.log(rng.random(len(ballots.item))) / busy[ballots.annotator]
    order = np.lexsort((-key, ballots.item)).reshape(crowd.items, -1)[:, : crowd.votes]
    kept = np.sort(order, axis=1).ravel()
    present, annotator = np.unique(ballots.annotator[kept], return_inverse=True)
    item, label = ballots.item[kept], ballots.label[kept]
    counts = np.zeros((crowd.items, len(model.LABELS)), dtype=np.int64)
    np.add.at(counts, (item, label), 1)
    names = tuple(ballots.annotator_ids[a] for a in present)
    return {"counts": counts, "ballots": Ballots(names, item, annotator, label)}


def answers(panel: Panel, way: str) -> Found:
    """Every quantity by one way; weights are only there for ``evaluate``."""
    at = truth.EVALUATED_CONDITION
    one = replace(panel, conditions=panel.conditions[at : at + 1], probs=(panel.probs[0][at : at + 1],))
    told = {
        "independent": {"design": "items", "interval": "linearized_t"},
        "weights": {"design": "items x annotators", "interval": "normal", "n_resamples": WEIGHTS_DRAWS},
        "house": {},
    }[way]
    found: Found = {}
    for row in evaluate(one, metrics=METRICS, threads=1, **told).rows:
        found[f"evaluate {row.metric}"] = _ends(row.unc)
    if way == "weights":
        return found
    design = "items" if way == "independent" else None
    budget, top = panel.conditions[at], panel.conditions[-1]
    for row in compare(panel, a=budget, b=top, metrics=["kl"], tests=[], design=design, threads=1).rows:
        if row.quantity == "difference":
            found["curve kl shortfall 10"] = _ends(row.unc)
    options = {"baselines": [truth.BASELINE], "design": design, "threads": 1}
    for row in saturation_curve(panel, metrics=["kl"], **options).rows:
        if (row.quantity, row.budget) == ("fraction", 10):
            found["curve kl fraction 10"] = _ends(row.unc)
    for row in label_curve(panel.votes, metrics=LABELS, design=design, threads=1).rows:
        if row.quantity in ("value", "fraction"):
            found[f"labels {row.metric} {row.quantity} {row.budget}"] = _ends(row.unc)
    return found


def _ends(unc: object) -> tuple[float, float, float]:
    values = (getattr(unc, name) for name in ("estimate", "low", "high"))
    estimate, low, high = (np.nan if value is None else value for value in values)
    return estimate, low, high


def compared(crowd: Crowd, seed: int = 0) -> Iterator[Sequence[str]]:
    """Rows of the table for one size of study: coverage, and mean half width over 1.96 standard deviations."""
    true = truths(crowd.votes, new_runs=False)
    found: dict[str, dict[str, list[tuple[float, float, float]]]] = {}
    busy = []
    for replication in range(crowd.replications):
        panel = study(crowd, replication, seed)
        assert panel.votes.ballots is not None
        busy.append(equally_busy(panel.votes.ballots))
        for way in WAYS if crowd.weights else ("independent", "house"):
            for name, ends in answers(panel, way).items():
                found.setdefault(name, {}).setdefault(way, []).append(ends)
    for name, ways in found.items():
        if name not in true:
            continue
        spread = float(np.nanstd(np.array(ways["house"])[:, 0]))
        cells = [_cell(np.array(ways[way]), true[name].value, spread) if way in ways else "-" for way in WAYS]
        yield crowd.text, str(crowd.replications), f"{np.mean(busy):.0f}", name, f"{spread:.4f}", *cells


def _cell(ends: np.ndarray, true: float, spread: float) -> str:
    """Coverage of the intervals that there are, and how wide they are."""
    ends = ends[np.isfinite(ends).all(axis=1)]
    if not len(ends) or spread < 1e-12:
        return "-"
    covered = float(((ends[:, 1] <= true) & (true <= ends[:, 2])).mean())
    wide = float((ends[:, 2] - ends[:, 1]).mean()) / 2 / 1.96 / spread
    return f"{share(covered)} ({wide:.2f})"


def main() -> None:
    """Print the table, one size of study after the other."""
    head = ("study", "replications", "equally busy", "quantity", "sd of estimates", *WAYS)
    for number, crowd in enumerate(STUDIES):
        lines = markdown(head, list(compared(crowd))).splitlines(keepends=True)
        sys.stdout.write("".join(lines if number == 0 else lines[2:]).rstrip("\n") + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
