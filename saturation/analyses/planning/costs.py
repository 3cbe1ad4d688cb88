"""Money: what votes and items cost, how many items a design affords, and how many votes an item are best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saturation.typing import Ints

_SLACK = 1e-9
"""A design that costs the total but for rounding is affordable."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What there is to spend.

    Attributes
    ----------
    vote, item, total
        Price of a vote, price of an item apart from its votes, and the money, all in one currency.
    most_votes
        Votes an item at most.
    most_items
        Items that there are; None: as many as can be paid.
    """

    vote: float
    item: float
    total: float
    most_votes: int
    most_items: int | None = None

    def items(self, budget: int) -> int:
        """Items that can be had with ``budget`` votes each.

        Examples
        --------
        >>> Costs(vote=0.1, item=1.0, total=30.0, most_votes=9).items(5)  # 30 / (1 + .5)
        20
        """
        return int(self._affordable(np.array([budget]))[0])

    def spent(self, budget: int) -> float:
        """What that design costs."""
        return self.items(budget) * (self.item + budget * self.vote)

    def budgets(self) -> Ints:
        """Every number of votes an item that leaves two items or more."""
        every = np.arange(1, self.most_votes + 1, dtype=np.int64)
        return every[self._affordable(every) >= 2]

    def best(self, ratio: float) -> int:
        """The number of votes an item with the smallest variance (sigma_I^2 + sigma_V^2 / N) / items(N).

        With items without end and whole numbers forgotten it is sqrt(ratio * item / vote).

        Parameters
        ----------
        ratio
            sigma_V^2 / sigma_I^2, which may be infinite.

        Examples
        --------
        >>> Costs(vote=1.0, item=4.0, total=10_000.0, most_votes=50).best(9.0)  # sqrt(9 * 4 / 1)
        6
        """
        budgets = self.budgets()
        relative = 1 / budgets if np.isinf(ratio) else 1 + ratio / budgets
        return int(budgets[np.argmin(relative / self._affordable(budgets))])

    def _affordable(self, budgets: Ints) -> Ints:
        paid = np.floor(self.total / (self.item + budgets * self.vote) * (1 + _SLACK)).astype(np.int64)
        return paid if self.most_items is None else np.asarray(np.minimum(paid, self.most_items))
