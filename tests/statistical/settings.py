"""The settings of the study: sizes of simulated studies, and the random numbers that belong to each replication."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from saturation.streams import Purpose, word

N_ITEMS = (100, 500, 1500)
N_VOTES = (5, 20, 100)
N_SEEDS = (1, 3, 5, 9)
N_ANNOTATORS = {5: 30, 20: 40, 100: 150}
"""People in the crowd, where votes carry their ids: enough that nobody votes twice on an item."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One size of study.

    Attributes
    ----------
    n_items, n_votes, n_seeds
        Items, votes an item, training seeds.
    annotators
        Votes come from a crowd with habits, and carry ids.
    new_runs
        With one seed the interval is about that very run, and studies share its shift and scale. True: they are
        drawn anew in every study, and the truth is about new runs, as with several seeds.
    """

    n_items: int
    n_votes: int
    n_seeds: int
    annotators: bool
    new_runs: bool = True

    @property
    def name(self) -> str:
        """E.g. ``I100-n5-S3-ids``; also the name of its file."""
        seeds = f"S{self.n_seeds}{'new' if self.n_seeds == 1 and self.new_runs else ''}"
        return f"I{self.n_items}-n{self.n_votes}-{seeds}-{'ids' if self.annotators else 'plain'}"

    @property
    def rank(self) -> int:
        """Its number among all settings that could be asked for; part of the key of its random numbers."""
        return ((self.n_items * 1000 + self.n_votes) * 100 + self.n_seeds) * 4 + 2 * self.annotators + self.new_runs


def grid() -> list[Setting]:
    """All settings, and what one seed's interval is worth for a new run."""
    crossed = product(N_ITEMS, N_VOTES, N_SEEDS, (False, True))
    every = [Setting(items, votes, seeds, ids, new_runs=seeds > 1) for items, votes, seeds, ids in crossed]
    return every + [Setting(items, 20, 1, annotators=False) for items in N_ITEMS]


def generator(seed: int, setting: Setting, replication: int) -> np.random.Generator:
    """Random numbers of one replication: a pure function of (seed, setting, replication), whoever computes it when."""
    key = word(seed, Purpose.SIMULATE, setting.rank, replication)
    return np.random.Generator(np.random.Philox(key=key))
