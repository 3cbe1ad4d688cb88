"""Do intervals between models and between data sets hold the truth? ``python -m tests.statistical.across [studies]``.

Two labels, votes that agree on one half, so that the Brier score of a forecast 1/2 + sqrt(l / 2) is l, and l_i(N) =
(a_i + b_i / N) x noise of the run x noise of item and run, all noise with mean 1. Two models share what an item is like
in part; two data sets share nothing. Every difference has its truth in closed form.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from saturation.analyses.across.differences import fraction_rows, value_rows
from saturation.analyses.across.sides import sides_of
from saturation.analyses.across.steps import steps_of
from saturation.conditions import Condition
from saturation.metrics.catalogue import metrics_of
from saturation.results import Uncertainty
from saturation.tables.builders import votes_from_counts
from saturation.tables.panel import Panel
from tests.statistical.table import markdown, share

BUDGETS = (1, 3, 10, 50)
MODELS = {"m": (0.006, 0.01, 0.02), "n": (0.008, 0.018, 0.024)}
"""What a curve settles at, what it loses on top at one vote, and the loss of hard labels."""
STUDIES = 1000


@dataclass(frozen=True, slots=True)
class Setting:
    """One kind of study."""

    n_items: int
    n_seeds: int
    n_splits: int

    @property
    def name(self) -> str:
        """For the table."""
        return f"{self.n_items} items, {self.n_splits} x {self.n_seeds} runs"


SETTINGS = (Setting(100, 3, 1), Setting(300, 1, 1), Setting(300, 3, 3), Setting(500, 9, 1))


def loss(model: str, budget: int | None) -> float:
    """The true loss; None: hard labels."""
    settles, falls, hard = MODELS[model]
    return hard if budget is None else settles + falls / budget


def panel_of(setting: Setting, seed: int) -> Panel:
    """One data set with both models; budgets of one model share what an item is like to it."""
    rng = np.random.default_rng(seed)
    n_all = setting.n_items if setting.n_splits == 1 else setting.n_items * 5 // 3
    common = rng.gamma(12, 1 / 12, n_all)
    conditions, means = [], []
    for model, (settles, falls, hard) in MODELS.items():
        of_item = common * rng.gamma(12, 1 / 12, (3, n_all))
        conditions += [Condition.of(model=model, method="hard")]
        conditions += [Condition.of(model=model, method="soft", budget=n) for n in BUDGETS]
        means += [hard * of_item[2], *(settles * of_item[0] + falls / n * of_item[1] for n in BUDGETS)]
    order = sorted(range(len(conditions)), key=lambda k: conditions[k].sort_key)
    items, probs = [], []
    for _ in range(setting.n_splits):
        chosen = np.sort(rng.choice(n_all, setting.n_items, replace=False))
        shape = (len(conditions), setting.n_seeds)
        run = 1 + (0.02 * rng.standard_normal((*shape, 1)) if setting.n_seeds > 1 else 0.0)
        losses = np.stack(means)[:, None, chosen] * run * rng.gamma(20, 1 / 20, (*shape, setting.n_items))
        assert losses.max() <= 0.5
        up = 0.5 + np.sqrt(losses / 2)
        items.append(chosen)
        probs.append(np.stack([up, 1 - up], axis=-1)[order])
    votes = votes_from_counts(np.full((n_all, 2), 20))
    return Panel(
        votes=votes,
        conditions=tuple(conditions[k] for k in order),
        splits=tuple(str(s) for s in range(setting.n_splits)),
        seeds=(tuple(range(setting.n_seeds)),) * setting.n_splits,
        items_of_split=tuple(items),
        probs=tuple(probs),
        has_draws=True,
        summary=votes.summary,
    )


def fraction(model: str, budget: int) -> float:
    """The true share kept over hard labels."""
    hard, top = loss(model, None), loss(model, BUDGETS[-1])
    return (hard - loss(model, budget)) / (hard - top)


Found = tuple[str, Uncertainty, float]
"""What is asked, the answer, the truth."""


def answers(setting: Setting, seed: int) -> Iterator[Found]:
    """Everything asked of two data sets with two models each."""
    brier = metrics_of(["brier"])
    first, second = (
        sides_of(name, panel_of(setting, 2 * seed + at), brier, ceiling=None, level=0.95, seed=0, threads=1)
        for at, name in enumerate("de")
    )
    m, n = first
    for row in fraction_rows(m, n, "hard"):
        if row.budget == 3:
            yield "shares, models", row.unc, fraction("m", 3) - fraction("n", 3)
            band = Uncertainty(row.unc.estimate, low=row.simultaneous_low, high=row.simultaneous_high)
            yield "one band", band, fraction("m", 3) - fraction("n", 3)
    for row in value_rows(m, n):
        if row.budget == 3:
            yield "values, models", row.unc, loss("m", 3) - loss("n", 3)
    for row in fraction_rows(m, second[1], "hard"):
        if row.budget == 3:
            yield "shares, data sets", row.unc, fraction("m", 3) - fraction("n", 3)
    for step in steps_of(n):
        if step.budget == 3:
            yield "step", step.unc, loss("n", 3) - loss("n", 10)


def coverage(setting: Setting, studies: int) -> dict[str, tuple[int, int]]:
    """How many intervals hold the truth, of how many there are."""
    counts: dict[str, list[int]] = {}
    for seed in range(studies):
        for name, unc, true in answers(setting, seed):
            if unc.low is None or unc.high is None:
                continue
            one = counts.setdefault(name, [0, 0])
            one[0] += unc.low <= true <= unc.high
            one[1] += 1
    return {name: (held, of) for name, (held, of) in counts.items()}


def main(studies: int = STUDIES) -> str:
    """The table, a setting a row."""
    found = [coverage(setting, studies) for setting in SETTINGS]
    names = list(found[0])
    rows = [[s.name, *(_share(one[name]) for name in names)] for s, one in zip(SETTINGS, found, strict=True)]
    pooled = [(sum(one[name][0] for one in found), sum(one[name][1] for one in found)) for name in names]
    rows.append(["all", *map(_share, pooled)])
    return markdown(["study", *names], rows) + "\n"


def _share(counted: tuple[int, int]) -> str:
    held, of = counted
    return f"{share(held / of)} ({of})" if of else "-"


if __name__ == "__main__":
    sys.stdout.write(main(*map(int, sys.argv[1:])))
