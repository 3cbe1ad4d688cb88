"""Whether plans are right: ``python -m tests.statistical.plans``.

Pilots of items whose label distributions are softmax(x_i), x_i normal, scored by a model that sees x_i through noise.
With ids, person a votes from softmax(x_i + e_a): people differ by main effects and from item to item. The truth
(components, the best number of votes, widths, biases) is about new items, new people and any number of votes; it is
computed from 60,000 items. Simulated metrics are judged against the spread of the metric over fresh evaluations.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from saturation.analyses.planning.costs import Costs
from saturation.analyses.planning.plan import plan
from saturation.metrics.catalogue import metric
from saturation.metrics.metric import Human
from saturation.results import PlanResult, PlanRow
from saturation.tables.builders import panel_from_arrays, row_ids
from saturation.tables.panel import Ballots, Panel
from tests.statistical.table import markdown

LINEAR = ("brier_vote", "cross_entropy")
DRAWN = ("tvd", "entropy_correlation", "kl")
PRICES = {"cost_per_vote": 1.0, "cost_per_item": 10.0, "total": 6000.0, "max_votes": 50}
DRAWN_PRICES = PRICES | {"max_votes": 12}
LOOKED_AT = 10
"""Votes an item at which widths are judged."""
ITEM_SD, MODEL_SD = 1.2, 0.8


@dataclass(frozen=True, slots=True)
class Setting:
    """A kind of pilot."""

    items: int
    votes: int
    people: int | None
    person_sd: float = 0.0

    @property
    def name(self) -> str:
        """As in the table."""
        crowd = "independent votes" if self.people is None else f"{self.people} people, sd {self.person_sd:g}"
        return f"{self.items} x {self.votes}, {crowd}"


SETTINGS = (
    Setting(100, 3, None),
    Setting(100, 20, None),
    Setting(500, 3, None),
    Setting(500, 5, None),
    Setting(500, 5, 40, 0.5),
    Setting(500, 5, 40, 1.0),
    Setting(500, 5, 40, 0.0),
    Setting(200, 20, 20, 1.0),
    Setting(500, 5, 150, 1.0),
)
DRAWN_SETTINGS = (Setting(200, 5, None), Setting(500, 5, None), Setting(500, 20, None))


@dataclass(frozen=True, slots=True)
class Truth:
    """Components of one metric."""

    items: float
    votes: float
    people: float

    def variance(self, budget: int) -> float:
        """Of one item's mean over so many votes."""
        return self.items + self.votes / budget

    @property
    def best(self) -> int:
        """The best number of votes an item."""
        costs = Costs(PRICES["cost_per_vote"], PRICES["cost_per_item"], PRICES["total"], int(PRICES["max_votes"]))
        return costs.best(self.votes / self.items)


def items(draw: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray]:
    """(items, 3) leanings of the items, and a model's forecasts of them."""
    x = draw.normal(0, ITEM_SD, (number, 3))
    return x, softmax(0.8 * x + draw.normal(0, MODEL_SD, x.shape), axis=1)


def labels_of(draw: np.random.Generator, probs: np.ndarray) -> np.ndarray:
    """One label each from (..., 3) probabilities."""
    return (draw.random(probs.shape[:-1])[..., None] >= np.cumsum(probs, axis=-1)[..., :-1]).sum(axis=-1)


def table_of(name: str, probs: np.ndarray) -> np.ndarray:
    """(items, 3) score against each vote."""
    one = metric(name)
    assert one.features is not None
    single = np.eye(3, dtype=int)
    return np.stack(
        [one.features(probs, Human(np.tile(single[k], (len(probs), 1))))[..., 0, :] for k in range(3)], axis=-1
    )


def truths(setting: Setting, names: Sequence[str] = LINEAR, number: int = 60_000) -> dict[str, Truth]:
    """Components over the whole population."""
    draw = np.random.default_rng(987_654)
    x, probs = items(draw, number)
    people = np.zeros((1, 3)) if setting.people is None else draw.normal(0, setting.person_sd, (2000, 3))
    tables = {name: table_of(name, probs) for name in names}
    share, some = np.zeros_like(x), slice(0, 3000)
    for one in people[:150]:
        share += softmax(x + one, axis=1) / len(people[:150])
    # a person's mean score, the same items for all people
    votes = [softmax(x[some] + one, axis=1) for one in people]
    found = {}
    for name, table in tables.items():
        of_item = (share * table).sum(axis=1)
        of_person = [float((one * table[some]).sum(axis=1).mean()) for one in votes]
        within = (share * table**2).sum(axis=1) - of_item**2
        found[name] = Truth(float(of_item.var()), float(within.mean()), float(np.var(of_person)))
    return found


def pilot(setting: Setting, seed: int) -> Panel:
    """One simulated pilot."""
    draw = np.random.default_rng([17, seed, setting.items, setting.votes, setting.people or 0])
    x, probs = items(draw, setting.items)
    if setting.people is None:
        label = labels_of(draw, np.tile(softmax(x, axis=1)[:, None], (1, setting.votes, 1)))
        return panel_from_arrays(probs, counts_of(label))
    who = np.argsort(draw.random((setting.items, setting.people)), axis=1)[:, : setting.votes]
    who.sort(axis=1)
    people = draw.normal(0, setting.person_sd, (setting.people, 3))
    label = labels_of(draw, softmax(x[:, None] + people[who], axis=-1))
    ballots = Ballots(
        annotator_ids=row_ids(setting.people),
        item=np.repeat(np.arange(setting.items), setting.votes),
        annotator=who.ravel(),
        label=label.ravel(),
    )
    panel = panel_from_arrays(probs, counts_of(label))
    return replace(panel, votes=replace(panel.votes, ballots=ballots))


def counts_of(label: np.ndarray) -> np.ndarray:
    """(items, 3) from (items, votes)."""
    return np.stack([(label == k).sum(axis=1) for k in range(3)], axis=1)


def held(row: PlanRow, truth: float) -> bool | None:
    """Whether a row's interval holds the truth; None without one."""
    if row.unc.low is None or row.unc.high is None:
        return None
    return row.unc.low <= truth <= row.unc.high


def judged(result: PlanResult, setting: Setting, truth: dict[str, Truth]) -> Iterator[tuple[str, bool | None]]:
    """Every interval of a plan against the truth."""
    for row in result.rows:
        known = truth[row.metric]
        if row.quantity == "component":
            yield f"sigma_{str(row.component)[0].upper()}^2", held(row, getattr(known, _PART[str(row.component)]))
        elif row.quantity == "optimum":
            yield "best N", held(row, known.best)
            yield "best N within one step", row.budget is not None and abs(row.budget - known.best) <= 1
            yield "within 1% of the best width", row.budget is not None and _loss(known, row.budget) < 1.01
        elif row.quantity == "width" and row.budget == LOOKED_AT:
            assert row.unc.estimate is not None
            assert row.unc.se is not None
            of_people = known.people / setting.people if setting.people else 0.0
            se = (known.variance(LOOKED_AT) / (row.items or 1) + of_people) ** 0.5
            yield "width", held(row, row.unc.estimate / row.unc.se * se)


_PART = {"items": "items", "votes": "votes", "annotators": "people"}


def _loss(truth: Truth, budget: int) -> float:
    """True width at a number of votes, relative to the best."""
    cost = {n: truth.variance(n) * (PRICES["cost_per_item"] + n) for n in (budget, truth.best)}
    return float((cost[budget] / cost[truth.best]) ** 0.5)


def coverage(setting: Setting, replications: int) -> dict[str, tuple[int, int]]:
    """By quantity: how many held, of how many with an interval."""
    truth, hits, all_ = truths(setting), Counter[str](), Counter[str]()
    for seed in range(replications):
        for name, holds in judged(plan(pilot(setting, seed), metrics=LINEAR, **PRICES), setting, truth):
            if holds is not None:
                hits[name] += holds
                all_[name] += 1
    return {name: (hits[name], all_[name]) for name in all_}


# --- simulated metrics ------------------------------------------------------------------------------------------------


def fresh_values(name: str, budget: int, n_items: int, number: int) -> tuple[float, float]:
    """Variance x items, and bias, of a metric over fresh evaluations of so many votes; corrected where plans are."""
    one = metric(name)
    score = one.corrected
    draw = np.random.default_rng(5)
    values, truth = [], []
    for _ in range(number):
        x, probs = items(draw, n_items)
        p = softmax(x, axis=1)
        counts = counts_of(labels_of(draw, np.tile(p[:, None], (1, budget, 1))))
        human = Human(counts)
        values.append(one.value(probs, human) if score is None else score(probs, human).mean())
        truth.append(one.value(probs, Human(p)))
    return float(np.var(values)) * n_items, float(np.mean(values) - np.mean(truth))


def drawn_table(replications: int, number: int = 3000) -> str:
    """Simulated metrics: widths and biases against fresh evaluations."""
    truth = {(name, n): fresh_values(name, n, 200, number) for name in DRAWN for n in (2, LOOKED_AT)}
    rows = []
    for setting in DRAWN_SETTINGS:
        told = [plan(pilot(setting, seed), metrics=DRAWN, **DRAWN_PRICES) for seed in range(replications)]
        for (name, budget), (variance, bias) in truth.items():
            found = [
                r for one in told for r in one.rows if (r.metric, r.budget) == (name, budget) and r.metric_b is None
            ]
            widths = [r for r in found if r.quantity == "width"]
            ratios = [(r.unc.se or 0) * (r.items or 1) ** 0.5 / variance**0.5 for r in widths]
            hits = sum(
                bool(held(r, (r.unc.estimate or 0) / (r.unc.se or 1) * (variance / (r.items or 1)) ** 0.5))
                for r in widths
            )
            biases = [r.unc.estimate or 0 for r in found if r.quantity == "bias"]
            cells = (f"{np.mean(ratios):.3f}", f"{hits} of {len(widths)}", f"{bias:.4f}", f"{np.mean(biases):.4f}")
            rows.append((setting.name, name, str(budget), *cells))
    head = ("pilot", "metric", "N", "planned / true se", "width held", "true bias", "planned bias")
    return markdown(head, rows)


def linear_table(replications: int) -> str:
    """Means over votes: coverage by setting, then pooled."""
    names = ("sigma_I^2", "sigma_V^2", "sigma_A^2", "width", "best N", "best N within one step",
             "within 1% of the best width")  # fmt: skip
    found = {setting.name: coverage(setting, replications) for setting in SETTINGS}
    rows = [(setting, *(_share(of.get(name)) for name in names)) for setting, of in found.items()]
    pooled = [tuple(sum(of.get(name, (0, 0))[k] for of in found.values()) for k in (0, 1)) for name in names]
    return markdown(("pilot", *names), [*rows, ("all", *(_share(one) for one in pooled))])


def _share(found: tuple[int, ...] | None) -> str:
    return "" if found is None or not found[1] else f"{found[0] / found[1]:.3f}"


def formula_check(number: int = 2000) -> str:
    """The three terms against evaluations that were simulated as a whole."""
    setting = Setting(150, 4, 20, 1.0)
    known = truths(setting)["brier_vote"]
    means = []
    for seed in range(number):
        panel = pilot(setting, 10_000 + seed)
        table = table_of("brier_vote", panel.probs[0][0, 0])
        means.append(float((panel.votes.counts * table).sum() / panel.votes.counts.sum()))
    told = (known.variance(4) / 150 + known.people / 20) ** 0.5
    return f"se of a mean over 150 items x 4 votes by 20 people: {told:.5f} by the formula, {np.std(means):.5f} seen"


def main(replications: int = 200, drawn: int = 100) -> None:
    """Print the tables."""
    sys.stdout.write(f"{formula_check()}\n\n{linear_table(replications)}\n\n{drawn_table(drawn)}\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
