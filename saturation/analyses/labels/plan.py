"""Which items, which budgets and which reference a label-side curve uses: decided once, for all metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from saturation.errors import UsageError
from saturation.resampling.exact_moments import Draw
from saturation.results import Note
from saturation.typing import Floats, Ints, Reference

DEFAULT_BUDGETS = (1, 2, 3, 5, 10, 20, 50, 100)
SHARE_OF_ITEMS = 0.8
"""The default budgets are those that at least this share of the items can reach."""
REFERENCES: tuple[Reference, ...] = ("disjoint", "rest", "all", "plug_in")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is drawn from which items.

    Attributes
    ----------
    reference
        What N votes are compared with.
    budgets
        Ascending budgets that can be computed.
    refused
        Asked budgets that cannot, with the reason.
    reference_size
        R of ``disjoint``, or of the others where it is one number for all items and budgets; else None.
    same_votes
        Votes of every item used, where that is one number.
    items
        (union items,) the items used, of those given.
    members
        (budgets, union items) which of them each budget uses; all, unless items are chosen per budget.
    notes
        Remarks on the choice.
    of_population
        Whether the reference is the item's own distribution under a fitted law instead of votes.
    """

    reference: Reference
    budgets: tuple[int, ...]
    refused: dict[int, str]
    reference_size: int | None
    same_votes: int | None
    items: Ints
    members: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
    notes: tuple[Note, ...]
    of_population: bool = False

    @property
    def reference_name(self) -> str:
        """The reference as rows name it."""
        return "population" if self.of_population else self.reference

    def draw(self, budget: int) -> Draw:
        """The law at one budget."""
        return Draw(self.reference, budget, self.reference_size if self.reference == "disjoint" else None)


def make_plan(counts: Ints, reference: str, budgets: Sequence[int] | None, ragged: str) -> Plan:
    """Choose items, budgets and the size of the reference.

    One item set serves a whole curve: the items with enough votes for its largest budget (and the reference). For
    ``disjoint``, M is the largest number of votes that 80% of the items reach, the items are those with M votes or
    more, default budgets go up to M // 2, and R = M - max N for every budget. ``plug_in`` draws with replacement, so
    it takes all items.

    Parameters
    ----------
    counts
        (items, labels)
    reference
        ``disjoint``, ``rest``, ``all`` or ``plug_in``.
    budgets
        Asked budgets; None: the defaults that the data allow.
    ragged
        ``common``, or ``per-budget``: every budget takes all items that reach it (then budgets are not comparable).

    Raises
    ------
    UsageError
        For unknown words, budgets below 1, or where no item has a vote.
    """
    if reference not in REFERENCES:
        raise UsageError(f"unknown reference {reference!r}; choose {', '.join(REFERENCES)}")
    if ragged not in ("common", "per-budget"):
        raise UsageError(f"unknown item rule {ragged!r}; choose common or per-budget")
    kind: Reference = reference
    totals = counts.sum(axis=1)
    if not (totals > 0).any():
        raise UsageError("no item has a vote; nothing can be drawn")
    reach = reached(totals[totals > 0])
    asked = _asked(budgets, kind, reach)
    possible, refused = _possible(asked, kind, reach, int(totals.max()))
    if not possible:
        return _nothing(kind, refused, totals)
    size = reach - possible[-1] if kind == "disjoint" else None
    needed = [_needed(kind, budget, size) for budget in possible]
    members = np.stack([totals >= (votes if ragged == "per-budget" else needed[-1]) for votes in needed])
    if kind == "disjoint" and ragged == "common":
        members[:] = totals >= reach
    union = np.flatnonzero(members.any(axis=0))
    members = members[:, union]
    return Plan(
        reference=kind,
        budgets=possible,
        refused=refused,
        reference_size=size if kind == "disjoint" else None if kind == "rest" else _one_number(totals[union]),
        same_votes=_one_number(totals[union]),
        items=union.astype(np.int64),
        members=members,
        notes=tuple(_notes(counts, union, members, kind, ragged)),
    )


def _nothing(reference: Reference, refused: dict[int, str], totals: Ints) -> Plan:
    """A plan without any budget: every asked one is refused."""
    voted = np.flatnonzero(totals > 0).astype(np.int64)
    return Plan(reference, (), refused, None, None, voted, np.zeros((0, len(voted)), dtype=np.bool_), ())


def reached(totals: Ints) -> int:
    """The largest number of votes that at least 80% of the items reach.

    Examples
    --------
    >>> reached(np.array([3, 5, 5, 5, 9]))
    5
    """
    ordered = np.sort(totals)[::-1]
    last = int(np.ceil(SHARE_OF_ITEMS * len(ordered) - 1e-9)) - 1
    return int(ordered[last])


def _asked(budgets: Sequence[int] | None, reference: Reference, reach: int) -> tuple[int, ...]:
    if budgets is not None:
        wanted = tuple(sorted({int(b) for b in budgets}))
        if not wanted or wanted[0] < 1:
            raise UsageError(f"budgets are {tuple(budgets)}; give whole numbers of votes from 1")
        return wanted
    largest = {"disjoint": reach // 2, "rest": reach - 1, "all": reach, "plug_in": reach}[reference]
    return tuple(b for b in DEFAULT_BUDGETS if b <= largest) or (1,)


def _possible(
    asked: tuple[int, ...], reference: Reference, reach: int, most: int
) -> tuple[tuple[int, ...], dict[int, str]]:
    """Budgets that can be computed, and the reasons of the others."""
    if reference == "plug_in":
        return asked, {}
    limit = {"disjoint": reach - 1, "rest": most - 1, "all": most}[reference]
    fitted = "--estimator model (a fitted law of items)"
    way_out = f"use {fitted}, --reference plug_in, or --reference all for fewer votes" if reference != "all" else ""
    reasons = {
        "disjoint": f"leaves no other votes as reference (80% of the items have {reach} votes or more); {way_out}",
        "rest": f"leaves no other votes as reference (no item has more than {most}); {way_out}",
        "all": f"no item has that many votes (at most {most}); use {fitted} or --reference plug_in",
    }
    refused = {b: f"N = {b} {reasons[reference]}" for b in asked if b > limit}
    return tuple(b for b in asked if b <= limit), refused


def _needed(reference: Reference, budget: int, size: int | None) -> int:
    """Votes that an item needs."""
    return {"disjoint": budget + (size or 0), "rest": budget + 1, "all": budget, "plug_in": 1}[reference]


def _one_number(totals: Ints) -> int | None:
    """Votes an item where all items have the same number."""
    return int(totals[0]) if len(np.unique(totals)) == 1 else None


def _notes(counts: Ints, union: Ints, members: Floats, reference: Reference, ragged: str) -> list[Note]:
    """What a reader must know about the item set."""
    notes = []
    if ragged == "per-budget" and not members.all():
        text = "every budget uses all items that reach it, so that budgets differ by their items too; do not compare"
        notes.append(Note("ragged_per_budget", text))
    if len(union) < len(counts):
        voted = counts[counts.sum(axis=1) > 0]
        text = (
            f"the curve uses {len(union)} of {len(counts)} items, those with enough votes (mean entropy "
            f"{_entropy(counts[union]):.3f} nats, of all voted items {_entropy(voted):.3f})"
        )
        notes.append(Note("item_set", text))
    if reference == "rest":
        notes.append(Note("rest_not_comparable", "the reference shrinks as N grows, so budgets are not comparable"))
    if reference == "all":
        notes.append(Note("all_flatters", "the reference holds the N votes themselves, which flatters large N"))
    return notes


def _entropy(counts: Ints) -> float:
    shares = counts / counts.sum(axis=1, keepdims=True)
    return float(-xlogy(shares, shares).sum(axis=1).mean())
