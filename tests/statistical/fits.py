"""Do the intervals of fitted curves hold the truth? ``python -m tests.statistical.fits [studies]``.

Studies whose losses are what the form says: two labels, votes that agree on one half, so that the Brier score of a
forecast 1/2 + sqrt(l / 2) is l, and l_i(N) = (a_i + b_i fall(N)) x noise of the run x noise of item and run, with means
a, b and 1. Everything asked of ``saturation_curve`` has its truth in closed form: the asymptote a, the rate c, a
prediction at four times the largest budget, and with ``ceiling="asymptote"`` the shortfall and fraction at the middle
budget and the N* of the fit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from saturation.analyses.curve.saturation import saturation_curve
from saturation.conditions import Condition
from saturation.results import CurveRow
from saturation.tables.builders import votes_from_counts
from saturation.tables.panel import Panel
from tests.statistical.table import markdown, share

A, B, HARD, Q = 0.03, 0.05, 0.1, 0.9
SIX, EIGHT = (1, 2, 3, 5, 10, 20), (1, 2, 3, 5, 10, 20, 50, 100)
STUDIES = 200


@dataclass(frozen=True, slots=True)
class Setting:
    """One kind of study."""

    form: str
    rate: float
    budgets: tuple[int, ...]
    n_items: int
    n_seeds: int
    n_splits: int

    @property
    def name(self) -> str:
        """For the table."""
        law = f"N^-{self.rate:g}" if self.form == "power" else f"exp(-{self.rate:g} N)"
        runs = f"{self.n_splits} x {self.n_seeds}"
        return f"{law}, {len(self.budgets)} budgets to {self.budgets[-1]}, {self.n_items} items, {runs} runs"

    def fall(self, n: float) -> float:
        """From 1 (or exp(-c)) to 0."""
        return float(n**-self.rate if self.form == "power" else np.exp(-self.rate * n))


SETTINGS = (
    Setting("power", 1.0, SIX, 300, 1, 1),
    Setting("power", 1.0, SIX, 300, 3, 1),
    Setting("power", 1.0, SIX, 300, 3, 3),
    Setting("power", 0.5, SIX, 300, 3, 3),
    Setting("power", 0.5, EIGHT, 1000, 3, 3),
    Setting("power", 1.0, EIGHT, 100, 5, 1),
    Setting("exponential", 0.3, SIX, 300, 3, 3),
    Setting("exponential", 0.1, EIGHT, 300, 1, 1),
)


def panel_of(setting: Setting, seed: int) -> Panel:
    """One study; budgets of one item share what it is like, runs share nothing."""
    rng = np.random.default_rng(seed)
    n_all = setting.n_items if setting.n_splits == 1 else setting.n_items * 5 // 3
    of_item = rng.gamma(12, 1 / 12, (3, n_all))
    conditions = [Condition.of(model="m", method="hard")]
    conditions += [Condition.of(model="m", method="soft", budget=n) for n in setting.budgets]
    order = sorted(range(len(conditions)), key=lambda k: conditions[k].sort_key)
    mean = np.stack([HARD * of_item[2], *(A * of_item[0] + B * setting.fall(n) * of_item[1] for n in setting.budgets)])
    items, probs = [], []
    for _ in range(setting.n_splits):
        chosen = np.sort(rng.choice(n_all, setting.n_items, replace=False))
        shape = (len(conditions), setting.n_seeds)
        run = 1 + (0.02 * rng.standard_normal((*shape, 1)) if setting.n_seeds > 1 else 0.0)
        loss = mean[:, None, chosen] * run * rng.gamma(20, 1 / 20, (*shape, setting.n_items))
        assert loss.max() <= 0.5
        up = 0.5 + np.sqrt(loss / 2)
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


def truths(setting: Setting) -> dict[str, float]:
    """What each quantity is about."""
    middle, far = setting.budgets[3], 4 * setting.budgets[-1]
    gain = HARD - A
    share_left = (1 - Q) * gain / B
    star = share_left ** (-1 / setting.rate) if setting.form == "power" else -np.log(share_left) / setting.rate
    return {
        "asymptote": A,
        "rate": setting.rate,
        "prediction": A + B * setting.fall(far),
        "shortfall": B * setting.fall(middle),
        "fraction": (gain - B * setting.fall(middle)) / gain,
        "N* of the fit": max(float(star), 1.0),
    }


def asked(setting: Setting, seed: int) -> Iterator[tuple[str, CurveRow]]:
    """The rows that hold the answers of one study."""
    far = 4 * setting.budgets[-1]
    made = saturation_curve(
        panel_of(setting, seed), metrics=["brier"], baselines=["hard"], ceiling="asymptote", q=(Q,),
        fits=(setting.form,), predict=(far,), threads=1,
    )  # fmt: skip
    names = {
        ("fit_asymptote", None): "asymptote",
        ("fit_exponent", None): "rate",
        ("fit_prediction", far): "prediction",
        ("shortfall", setting.budgets[3]): "shortfall",
        ("fraction", setting.budgets[3]): "fraction",
        ("n_star_fit", None): "N* of the fit",
    }
    for row in made.rows:
        if row.method == "soft" and (row.quantity, row.budget) in names:
            yield names[row.quantity, row.budget], row


def coverage(setting: Setting, studies: int) -> dict[str, tuple[int, int]]:
    """How many intervals hold the truth, of how many there are; an open end is infinite."""
    true = truths(setting)
    counts = {name: [0, 0] for name in true}
    for seed in range(studies):
        for name, row in asked(setting, seed):
            if row.unc.estimate is None and row.unc.low is None and row.unc.high is None:
                continue
            low = -np.inf if row.unc.low is None else row.unc.low
            high = np.inf if row.unc.high is None else row.unc.high
            counts[name][0] += low <= true[name] <= high
            counts[name][1] += 1
    return {name: (held, of) for name, (held, of) in counts.items()}


def main(studies: int = STUDIES) -> str:
    """The table, a setting a row."""
    names = list(truths(SETTINGS[0]))
    found = [coverage(setting, studies) for setting in SETTINGS]
    rows = [
        [setting.name, *(_share(one[name]) for name in names)] for setting, one in zip(SETTINGS, found, strict=True)
    ]
    pooled = [(sum(one[name][0] for one in found), sum(one[name][1] for one in found)) for name in names]
    rows.append(["all", *map(_share, pooled)])
    return markdown(["study", *names], rows) + "\n"


def _share(counted: tuple[int, int]) -> str:
    held, of = counted
    return f"{share(held / of)} ({of})" if of else "-"


if __name__ == "__main__":
    sys.stdout.write(main(*map(int, sys.argv[1:])))
