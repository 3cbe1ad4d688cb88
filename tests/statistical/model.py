"""The population that replications are drawn from: items, a crowd with habits, and a learner that has seen N votes.

A careful reader of item i votes from p*_i (Dirichlet). An annotator is careless with a chance of their own and then
names their favourite label, so votes of one annotator are dependent across items, while a vote of a fresh annotator
has the distribution p_i = (1 - w) p*_i + w r in closed form. Without annotator effects every vote is an independent
draw from the same p_i, so both kinds of study have the same truth.

The learner reads log p_i through a misreading of the item (the same for all seeds), noise of item x seed that falls
with the budget, and a shift and a scale of the whole run (the seed's effect, which no number of items averages out).
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from saturation.conditions import Condition
from saturation.tables.panel import Ballots, Panel, Votes
from tests.statistical.settings import N_ANNOTATORS, Setting, generator

LABELS = ("a", "b", "c")
ITEMS = 1.24 * np.array([0.5, 0.2, 0.3])
FAVOURITES = np.array([0.3, 0.5, 0.2])
CARELESS_SHARE, CARELESS, CAREFUL = 0.2, 0.45, 0.03
MEAN_CARELESSNESS = CARELESS_SHARE * CARELESS + (1 - CARELESS_SHARE) * CAREFUL
BASE_RATE = (1 - MEAN_CARELESSNESS) * ITEMS / ITEMS.sum() + MEAN_CARELESSNESS * FAVOURITES

BUDGETS = (3, 10, 30, 100)
CONDITIONS = tuple(Condition.of(model="m", method="soft", budget=budget) for budget in BUDGETS)
SMALLEST, TOP = 0, len(BUDGETS) - 1
MISREADING_SD = 0.45
SHIFT_SD, SCALE_SD = 0.18, 0.12
SHIFT = np.array([1.0, 0.0, -1.0])
RUN_SD, VOTE_SD = 0.2, 1.6
SHARED = 0.5**0.5
"""Half the variance of a run's shift and scale is common to all conditions of its seed."""


def draw_items(rng: np.random.Generator, n_items: int) -> tuple[np.ndarray, np.ndarray]:
    """(items, labels) what a careful reader votes from, and what a fresh vote is drawn from."""
    careful = rng.dirichlet(ITEMS, n_items)
    return careful, (1 - MEAN_CARELESSNESS) * careful + MEAN_CARELESSNESS * FAVOURITES


def evidence(rng: np.random.Generator, population: np.ndarray) -> np.ndarray:
    """(items, labels) what every run of the learner reads."""
    logits = np.log(population)
    logits -= logits.mean(axis=1, keepdims=True)
    return logits + MISREADING_SD * rng.standard_normal(population.shape)


def predict(condition: int, seen: np.ndarray, noise: np.ndarray, shift: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Probabilities of one condition.

    ``noise`` (..., items, labels) and the run's ``shift`` and ``scale`` (...) are standard normal.
    """
    run = np.exp(SCALE_SD * scale)[..., None, None]
    moved = SHIFT_SD * shift[..., None, None] * SHIFT
    budget = BUDGETS[condition]
    sd = (RUN_SD**2 + VOTE_SD**2 / budget) ** 0.5
    lost = 1 / (budget + 4)
    return (1 - lost) * softmax(run * (seen + sd * noise) + moved, axis=-1) + lost * BASE_RATE


def study(seed: int, setting: Setting, replication: int, n_people: int | None = None) -> Panel:
    """One simulated study as a panel; ``n_people`` in place of the setting's own crowd."""
    rng = generator(seed, setting, replication)
    careful, population = draw_items(rng, setting.n_items)
    if setting.annotators:
        votes = _crowd_votes(rng, careful, setting.n_votes, n_people or N_ANNOTATORS[setting.n_votes])
    else:
        votes = _votes(rng.multinomial(setting.n_votes, population), None)
    seen = evidence(rng, population)
    of_runs = SHARED * float(setting.new_runs)
    common = rng.standard_normal((2, setting.n_seeds))
    probs = np.empty((len(CONDITIONS), setting.n_seeds, *population.shape))
    for condition in range(len(CONDITIONS)):
        shift, scale = of_runs * common + of_runs * rng.standard_normal(common.shape)
        noise = rng.standard_normal(probs.shape[1:])
        probs[condition] = predict(condition, seen, noise, shift, scale)
    return Panel(
        votes=votes,
        conditions=CONDITIONS,
        splits=("all",),
        seeds=(tuple(range(setting.n_seeds)),),
        items_of_split=(np.arange(setting.n_items),),
        probs=(probs,),
        has_draws=True,
        summary=votes.summary,
    )


def pick(rng: np.random.Generator, probs: np.ndarray, n_draws: int) -> np.ndarray:
    """(rows, draws) labels drawn from (rows, labels) probabilities."""
    edges = probs.cumsum(axis=1)[:, :-1]
    return (rng.random((len(probs), n_draws))[:, :, None] >= edges[:, None, :]).sum(axis=2)


def count(labels: np.ndarray) -> np.ndarray:
    """(items, draws) labels -> (items, labels) counts."""
    return np.stack([(labels == k).sum(axis=1) for k in range(len(LABELS))], axis=1)


def _crowd_votes(rng: np.random.Generator, careful: np.ndarray, n_votes: int, n_people: int) -> Votes:
    """Every item is voted on by ``n_votes`` different people of one crowd."""
    n_items = len(careful)
    carelessness = np.where(rng.random(n_people) < CARELESS_SHARE, CARELESS, CAREFUL)
    favourite = pick(rng, FAVOURITES[None], n_people)[0]
    people = np.sort(rng.random((n_items, n_people)).argsort(axis=1)[:, :n_votes], axis=1)
    careless = rng.random(people.shape) < carelessness[people]
    labels = np.where(careless, favourite[people], pick(rng, careful, n_votes))
    ballots = Ballots(
        annotator_ids=tuple(f"{person:03d}" for person in range(n_people)),
        item=np.repeat(np.arange(n_items), n_votes),
        annotator=people.ravel(),
        label=labels.ravel(),
    )
    return _votes(count(labels), ballots)


def _votes(counts: np.ndarray, ballots: Ballots | None) -> Votes:
    ids = tuple(f"{item:05d}" for item in range(len(counts)))
    return Votes(item_ids=ids, labels=LABELS, counts=counts.astype(np.int64), ballots=ballots)
