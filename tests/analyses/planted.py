"""Small studies with a planted order of conditions, and how to find rows of a result."""

import numpy as np
from scipy import special

from saturation.conditions import Condition
from saturation.tables.builders import votes_from_counts
from saturation.tables.panel import Panel
from tests import naive

SOFT = [Condition.of(model="m", method="soft", budget=b) for b in (1, 3, 10, 40)]
HARD = Condition.of(model="m", method="hard")
SMOOTH = [Condition.of(model="m", method="smoothing", strength=e) for e in (0.1, 0.2)]
DIRICHLET = Condition.of(model="m", method="dirichlet", budget=3, alpha=0.5)
CONDITIONS = (DIRICHLET, HARD, *SMOOTH, *SOFT)
Q_BETWEEN = 0.8
BLUR = {
    DIRICHLET: 0.35,
    HARD: 0.9,
    SMOOTH[0]: 0.75,
    SMOOTH[1]: 0.7,
    SOFT[0]: 0.6,
    SOFT[1]: 0.4,
    SOFT[2]: 0.25,
    SOFT[3]: 0.2,
}


def study(seed=0, n_items=60, n_labels=3, n_seeds=3, splits=2, votes=40, conditions=CONDITIONS):
    """Models are the item's distribution blurred by noise that falls with the budget."""
    rng = np.random.default_rng(seed)
    population = rng.dirichlet(np.ones(n_labels), n_items)
    counts = np.array([rng.multinomial(votes, p) for p in population])
    human = votes_from_counts(counts)
    items = tuple(np.sort(rng.choice(n_items, max(n_items * 2 // 3, 1), replace=False)) for _ in range(splits))
    probs = []
    order = sorted(conditions, key=lambda c: c.sort_key)
    for chosen in items:
        noise = rng.normal(size=(1, 1, len(chosen), n_labels)) + 0.3 * rng.normal(
            size=(len(order), n_seeds, len(chosen), n_labels)
        )
        logits = np.log(population[chosen]) + np.array([BLUR[c] for c in order])[:, None, None, None] * noise
        probs.append(special.softmax(logits, axis=-1))
    return Panel(
        votes=human,
        conditions=tuple(order),
        splits=tuple(str(s) for s in range(splits)),
        seeds=(tuple(range(n_seeds)),) * splits,
        items_of_split=items,
        probs=tuple(probs),
        has_draws=True,
        summary=human.summary,
    )


def find(result, quantity, metric, **wanted):
    rows = [
        r
        for r in result.rows
        if r.quantity == quantity and r.metric == metric and all(getattr(r, k) == v for k, v in wanted.items())
    ]
    assert len(rows) == 1, (quantity, metric, wanted, len(rows))
    return rows[0]


def losses_of(panel, metric):
    """[condition][split][seed][item] by loops."""
    one = {"kl": naive.kl, "brier": naive.brier, "tvd": naive.tvd}[metric]
    return {
        str(c): [
            [[one(list(m), list(panel.votes.counts[i])) for m, i in zip(seed, items, strict=True)] for seed in probs[k]]
            for probs, items in zip(panel.probs, panel.items_of_split, strict=True)
        ]
        for k, c in enumerate(panel.conditions)
    }


def undefined_rows_have_reasons(made):
    for row in made.rows:
        if row.unc.estimate is None or (row.unc.low is None and row.unc.interval == "none"):
            if row.quantity.startswith("n_star") and row.unc.estimate is not None:
                continue
            assert row.unc.reason, row
    made.to_frame()
    return made
