"""What is asked of the tests: scenarios in which the null is true (size), or false by a known amount (power)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from zlib import crc32

import numpy as np

from saturation.streams import Purpose, word
from tests.statistical import size_draws as draws
from tests.statistical import size_tests as tests
from tests.statistical.size_tests import Decisions

SIZE_STREAM = 1 << 41
"""Far from the ranks of coverage settings."""
CONSERVATIVE = (
    "sign test over cells",
    "sign flips, whole numbers",
    "TOST",
    "Holm",
    "Benjamini-Hochberg",
    "Romano-Wolf, covariance",
    "max-t band",
)
"""At most the level by construction: discrete, or a bound (TOST where the margin is small, families whose tests are
dependent, bands that are never narrower than one interval)."""
WITHOUT_CLAIM = {
    "Wilcoxon, skewed": "its null is symmetry, not a mean of 0",
    "sign flips, skewed": "its null is symmetry; exact for the mean only as n grows",
    "sign test over cells, overlapping": "cells are not independent: every such row says so",
    "paired t, crossed": "takes the runs as fixed: its row says so",
    "Williams, entropies": "assumes normal entropies: its row says so",
    "Steiger, entropies": "assumes normal entropies: its row says so",
    "Zou, entropies": "assumes normal entropies: its row says so",
}
"""Where the null of a test is not the one simulated: no size is promised, the number is for information."""
EFFECTS = (0.15, 0.22, 0.3)
"""Of 100 differences, in their standard deviations: about 30, 60 and 85% power."""
GAINS = (0.05, 0.1, 0.15)
"""Of one of two correlations of .5, 100 items."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Simulated data and the tests that see them.

    Attributes
    ----------
    data
        In words; with ``n`` the name of its random numbers too.
    n
        Items, cells or splits, in words.
    decide
        (generator, replications) -> decisions by test.
    group
        ``size`` or ``power``.
    effect
        True difference; 0 for size.
    claim
        Key of ``WITHOUT_CLAIM`` that goes with the name of a test.
    most
        Replications at most, for slow tests.
    """

    data: str
    n: str
    decide: Callable[[np.random.Generator, int], Decisions]
    group: str = "size"
    effect: float = 0.0
    claim: str = ""
    most: int = 1_000_000

    def run(self, seed: int, replications: int) -> dict[str, tuple[int, int]]:
        """Rejections and replications by test: a pure function of seed, scenario and replications."""
        rank = SIZE_STREAM + crc32(f"{self.data} {self.n} {self.effect}".encode())
        rng = np.random.Generator(np.random.Philox(key=word(seed, Purpose.SIMULATE, rank, 0)))
        size = min(replications, self.most)
        return {name: (int(found.sum()), size) for name, found in self.decide(rng, size).items()}


def scenarios() -> list[Scenario]:
    """All of them."""
    return [*_differences(), *_cells(), *_crossed(), *_correlations(), *_margins(), *_families()]


def _differences() -> list[Scenario]:
    size = [
        Scenario(f"{law} differences", f"{n} items", partial(_of_differences, law, n, 0.0), claim=law)
        for law in draws.LAWS
        for n in (20, 50, 100, 500)
    ]
    power = [
        Scenario(f"{law} differences", "100 items", partial(_of_differences, law, 100, effect), "power", effect)
        for law in ("normal", "skewed")
        for effect in EFFECTS
    ]
    return size + power


def _of_differences(law: str, n: int, effect: float, rng: np.random.Generator, size: int) -> Decisions:
    return tests.of_differences(draws.differences(rng, law, (size, n), effect))


def _cells() -> list[Scenario]:
    independent = [
        Scenario("independent cells", f"{n} cells", partial(_of_cells, n, 0.0), claim="independent") for n in (9, 27)
    ]
    power = [Scenario("independent cells", "9 cells", partial(_of_cells, 9, e), "power", e) for e in (0.4, 0.8, 1.2)]
    splits = [
        Scenario("random splits of 120 items, 24 tested", f"{n} splits", partial(_of_splits, n, 120, 24))
        for n in (3, 5, 10)
    ]
    shared = Scenario(
        "cells that share items: 3 splits of 100 of 300 items, 3 seeds", "9 cells", _of_overlap, claim="overlapping"
    )
    gaps = [
        Scenario(
            "random splits of 120 items, 24 tested", "5 splits", partial(_of_splits, 5, 120, 24, gap=gap), "power", gap
        )
        for gap in (0.3, 0.6, 0.9)
    ]
    return [*independent, shared, *splits, *power, *gaps]


def _of_cells(n: int, effect: float, rng: np.random.Generator, size: int) -> Decisions:
    return tests.of_cells(draws.differences(rng, "normal", (size, n), effect))


def _of_overlap(rng: np.random.Generator, size: int) -> Decisions:
    return tests.of_cells(draws.overlapping_cells(rng, size))


def _of_splits(n: int, pool: int, n_test: int, rng: np.random.Generator, size: int, gap: float = 0.0) -> Decisions:
    return tests.of_splits(gap + draws.random_splits(rng, size, n, pool, n_test), n_test / (pool - n_test))


def _crossed() -> list[Scenario]:
    shapes = [(20, 3, 0.3), (100, 2, 0.1), (100, 2, 0.5), (100, 3, 0.0), (100, 3, 0.1), (100, 3, 0.5), (100, 5, 0.5)]
    shapes += [(100, 9, 0.1), (500, 5, 0.1)]
    balanced = [
        Scenario(
            f"items x runs, sd 1, {cell_sd:g} and 1",
            f"{n} items, {cells} runs",
            partial(_of_tables, n, cells, cell_sd),
            claim="crossed",
        )
        for n, cells, cell_sd in shapes
    ]
    ragged = Scenario(
        "items x runs, sd 1, 0.1 and 1, a fifth missing", "60 items, 4 runs", _of_ragged, claim="crossed", most=2_000
    )
    power = [
        Scenario(
            "items x runs, sd 1, 0.1 and 1",
            "100 items, 5 runs",
            partial(_of_tables, 100, 5, 0.1, gap=gap),
            "power",
            gap,
        )
        for gap in (0.2, 0.3, 0.4)
    ]
    return [*balanced, ragged, *power]


def _of_tables(n: int, cells: int, cell_sd: float, rng: np.random.Generator, size: int, gap: float = 0.0) -> Decisions:
    return tests.of_tables(gap + draws.crossed(rng, (size, n, cells), 1.0, cell_sd))


def _of_ragged(rng: np.random.Generator, size: int) -> Decisions:
    tables = draws.crossed(rng, (size, 60, 4), 1.0, 0.1)
    return tests.of_ragged_tables(tables, rng.random(tables.shape) < 0.8)


def _correlations() -> list[Scenario]:
    size = [
        Scenario(data, f"{n} items", partial(make, n), claim=claim)
        for data, claim, make in (
            ("normal triples, r = .5", "", _of_triples),
            ("entropies of three labels", "entropies", _of_entropies),
        )
        for n in (20, 100, 500)
    ]
    power = [
        Scenario("normal triples, r = .5", "100 items", partial(_of_triples, 100, gain=gain), "power", gain)
        for gain in GAINS
    ]
    return size + power


def _of_triples(n: int, rng: np.random.Generator, size: int, gain: float = 0.0) -> Decisions:
    return tests.of_correlations(draws.normal_triples(rng, size, n, gain))


def _of_entropies(n: int, rng: np.random.Generator, size: int) -> Decisions:
    return tests.of_correlations(draws.entropy_triples(rng, size, n))


def _margins() -> list[Scenario]:
    power = [
        Scenario("equal means, by the margin in sd", "100 items", partial(_of_equal, 100, margin), "power", margin)
        for margin in (0.25, 0.3, 0.4)
    ]
    return power + [
        Scenario(f"{law} differences at the margin, {margin:g} sd", f"{n} items", partial(_of_margin, law, n, margin))
        for law in ("normal", "skewed")
        for n, margin in ((20, 0.2), (20, 1.0), (100, 0.5), (500, 0.5))
    ]


def _of_equal(n: int, margin: float, rng: np.random.Generator, size: int) -> Decisions:
    """Power of TOST: there is no difference at all."""
    return tests.of_margin(draws.differences(rng, "normal", (size, n)), margin)


def _of_margin(law: str, n: int, margin: float, rng: np.random.Generator, size: int) -> Decisions:
    return tests.of_margin(draws.differences(rng, law, (size, n), margin), margin)


def _families() -> list[Scenario]:
    power = [
        Scenario(
            "6 normal differences, correlated at 0.5",
            "100 items",
            partial(_of_families, "normal", 0.5, 100, effect=effect),
            "power",
            effect,
            most=3_000,
        )
        for effect in EFFECTS
    ]
    return power + [
        Scenario(f"6 {law} differences, correlated at {r:g}", f"{n} items", partial(_of_families, law, r, n))
        for law, r, n in (
            ("normal", 0.0, 100),
            ("normal", 0.5, 20),
            ("normal", 0.5, 100),
            ("normal", 0.5, 500),
            ("skewed", 0.5, 100),
        )
    ]


def _of_families(law: str, r: float, n: int, rng: np.random.Generator, size: int, effect: float = 0.0) -> Decisions:
    """``effect`` is in all six: power is the chance to find one of them."""
    own = draws.differences(rng, law, (size, 6, n))
    shared = draws.differences(rng, law, (size, 1, n))
    return tests.of_families(effect + (1 - r) ** 0.5 * own + r**0.5 * shared)
