"""The simulated learner: probabilities for every condition of a study, closer to the truth the more votes it saw.

Every condition reads an item through the same misreading (what the learner cannot see, however many votes it is
given), plus noise of its run and noise of its votes. The votes' noise at budget N is the mean of the first N of one
sequence of errors, so budgets are nested and its variance falls as 1/N. Methods differ as they do in practice:
``hard`` is overconfident, ``smoothing`` mixes it with the uniform distribution, ``dirichlet`` shrinks the target.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from saturation.conditions import Condition
from saturation.simulate.draws import Kind, normal
from saturation.simulate.population import LABELS, Items
from saturation.targets import SMOOTHING_STRENGTHS
from saturation.typing import Floats

MODEL = "planted"
BASE_RATE = np.array([0.40, 0.28, 0.32])
SOFT_BUDGETS = (1, 3, 5, 10, 20, 50, 100)
DIRICHLET_BUDGETS = (3, 10)
MISREADING_SD = 0.55
RUN_SD = 0.12
MAJORITY_SD = 0.55
"""Extra misreading under majority labels, which hide how close the call was."""
VOTE_SD = 0.9
CELL_SHIFT_SD = 0.06
CELL_SCALE_SD = 0.04
HARD_SCALE = 2.6
_K = len(LABELS)


def conditions() -> tuple[Condition, ...]:
    """The conditions of a simulated study."""
    return (
        Condition.of(model=MODEL, method="base_rate"),
        Condition.of(model=MODEL, method="hard"),
        *(Condition.of(model=MODEL, method="smoothing", strength=strength) for strength in SMOOTHING_STRENGTHS),
        *(Condition.of(model=MODEL, method="soft", budget=budget) for budget in SOFT_BUDGETS),
        *(Condition.of(model=MODEL, method="dirichlet", budget=budget, alpha=1 / _K) for budget in DIRICHLET_BUDGETS),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Noise:
    """What one training run adds to the items' logits.

    Attributes
    ----------
    shift, scale
        (labels,) and scalar: common to all items of the run.
    run
        (run streams, items, labels) standard normal, one independent array a condition.
    votes
        By budget, (items, labels): mean of the first N standard normal errors.
    """

    shift: Floats
    scale: float
    run: Floats
    votes: Mapping[int, Floats]


def predict(seed: int, cell: int, items: Items, ranks: NDArray[np.integer]) -> Floats:
    """(conditions, items, labels) probabilities of one training run, numbered ``cell``, on some items.

    ``ranks`` are the items' ranks in the sequence of the seed; an item keeps its misreading in every cell.
    """
    evidence = np.log(items.probs)
    evidence = evidence - evidence.mean(axis=1, keepdims=True)
    seen = evidence + MISREADING_SD * normal(seed, Kind.MISREADING, ranks, _K)
    noise = _draw_noise(seed, cell, ranks)
    hard = _hard(seen, noise)
    every = [np.broadcast_to(BASE_RATE, hard.shape), hard]
    every += [(1 - strength) * hard + strength / _K for strength in SMOOTHING_STRENGTHS]
    soft = {budget: _soft(seen, noise, budget, 2 + rank) for rank, budget in enumerate(SOFT_BUDGETS)}
    every += list(soft.values())
    for rank, budget in enumerate(DIRICHLET_BUDGETS):
        own = _soft(seen, noise, budget, 2 + len(SOFT_BUDGETS) + rank)
        every.append((budget * own + 1 / _K) / (budget + 1))
    return np.stack(every)


def _hard(seen: Floats, noise: _Noise) -> Floats:
    errors = MAJORITY_SD * noise.run[1] + VOTE_SD * noise.votes[max(SOFT_BUDGETS)]
    return np.asarray(softmax(HARD_SCALE * noise.scale * (seen + errors) + noise.shift, axis=-1))


def _soft(seen: Floats, noise: _Noise, budget: int, stream: int) -> Floats:
    errors = RUN_SD * noise.run[stream] + VOTE_SD * noise.votes[budget]
    return np.asarray(softmax(noise.scale * (seen + errors) + noise.shift, axis=-1))


def _draw_noise(seed: int, cell: int, ranks: NDArray[np.integer]) -> _Noise:
    common = normal(seed, Kind.CELL, np.array([cell]), _K + 1)[0]
    n_streams = len(conditions())
    streams = (np.int64(cell) << 24) + np.asarray(ranks, dtype=np.int64)
    run = normal(seed, Kind.RUN_NOISE, streams, n_streams * _K)
    steps = normal(seed, Kind.VOTE_NOISE, streams, len(SOFT_BUDGETS) * _K)
    by_budget = steps.reshape(len(ranks), len(SOFT_BUDGETS), _K)
    widths = np.sqrt(np.diff([0, *SOFT_BUDGETS]))
    sums = np.cumsum(by_budget * widths[None, :, None], axis=1)
    return _Noise(
        shift=CELL_SHIFT_SD * common[:_K],
        scale=float(np.exp(CELL_SCALE_SD * common[_K])),
        run=run.reshape(len(ranks), n_streams, _K).transpose(1, 0, 2),
        votes={budget: sums[:, rank] / budget for rank, budget in enumerate(SOFT_BUDGETS)},
    )
