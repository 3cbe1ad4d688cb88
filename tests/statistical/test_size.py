"""The size of tests at a true null, a quick version of ``python -m tests.statistical.size``.

Counts of rejections are compared with the central 99.9% range of the binomial at 5%; the random numbers are fixed, so
a pass stays a pass until the code changes a number.
"""

import numpy as np
import pytest

from tests.statistical import size, size_draws, size_tests
from tests.statistical.size_cases import CONSERVATIVE, Scenario, scenarios
from tests.statistical.tally import range_of

REPLICATIONS = 1_000
QUICK = (
    ("normal differences", "100 items", 0.0),
    ("independent cells", "9 cells", 0.0),
    ("random splits of 120 items, 24 tested", "5 splits", 0.0),
    ("items x runs, sd 1, 0.1 and 1", "100 items, 3 runs", 0.0),
    ("normal triples, r = .5", "100 items", 0.0),
    ("normal differences at the margin, 0.5 sd", "100 items", 0.0),
    ("6 normal differences, correlated at 0.5", "100 items", 0.0),
)


def scenario(data: str, n: str, effect: float) -> Scenario:
    return next(one for one in scenarios() if (one.data, one.n, one.effect) == (data, n, effect))


@pytest.mark.parametrize("key", QUICK)
def test_true_nulls_are_rejected_as_often_as_promised(key):
    one = scenario(*key)
    low, high = range_of(REPLICATIONS, 0.05, 0.999)
    for name, (rejections, replications) in one.run(0, REPLICATIONS).items():
        claimed = size.verdict(name, one.claim, rejections, replications)
        if claimed == "peer" or claimed.startswith("no claim"):
            continue
        assert rejections / replications <= high, name
        assert rejections / replications >= (0 if name in CONSERVATIVE else low), name


def test_a_false_null_is_rejected_more_often_where_the_effect_is_larger():
    power = [scenario("normal differences", "100 items", e).run(0, 300)["paired t"][0] for e in (0.15, 0.3)]
    assert 60 < power[0] < 140 < 210 < power[1] < 280  # .32 and .84 of 300, by the noncentral t


def test_scenarios_have_random_numbers_of_their_own():
    names = [(one.data, one.n, one.effect) for one in scenarios()]
    assert len(set(names)) == len(names)
    one = scenario("independent cells", "9 cells", 0.0)
    assert one.run(0, 50) == one.run(0, 50) != one.run(1, 50)


@pytest.mark.parametrize("law", size_draws.LAWS)
def test_differences_have_mean_0_and_standard_deviation_1(law):
    d = size_draws.differences(np.random.default_rng(0), law, (100_000,), 0.5)
    assert d.mean() == pytest.approx(0.5, abs=5 / 100_000**0.5)
    assert d.std() == pytest.approx(1.0, abs=0.03)


def test_correlations_of_triples():
    h, a, b = size_draws.normal_triples(np.random.default_rng(0), 1, 100_000, gain=0.1)
    assert np.corrcoef(h, a)[0, 1] == pytest.approx(0.6, abs=0.01)
    assert np.corrcoef(h, b)[0, 1] == pytest.approx(0.5, abs=0.01)


def test_the_attainable_level_of_a_sign_test_by_hand():
    """9 cells: 8 wins or 8 losses give p = 20/512 = .039 < .05, 7 give .18: the level is .039. 3 cells: never."""
    assert size._attainable("sign test over cells", "9 cells") == "; attainable .039"
    assert size._attainable("sign test over cells", "3 cells") == "; attainable .000"


def test_verdicts():
    """Of 10,000: 400 is within 4 to 6%, 300 (.026 to .035) and 800 (.073 to .087) are not."""
    told = [size.verdict("paired t", "normal", k, 10_000) for k in (400, 300, 800)]
    assert told == ["yes", "**below**", "**above**"]
    assert size.verdict("TOST", "", 0, 10_000) == "yes, conservative"
    assert size.verdict("t over cells (peer)", "", 9_000, 10_000) == "peer"


def test_the_bootstrap_of_correlations_is_the_one_of_compare():
    """Same decision as ``compare`` on the same entropies: its p by 999 resamples with seed 0."""
    from saturation.analyses.comparing.comparison import compare
    from saturation.metrics.entropy import entropy, entropy_of_counts
    from saturation.tables.builders import panel_from_arrays

    rng = np.random.default_rng(5)
    decided = set()
    for gap in (0.0, 0.4, 0.8, 1.2, 1.6):
        counts = rng.multinomial(10, [0.5, 0.3, 0.2], 40)
        shares = (counts + 1) / 13
        probs = [(1 - w) * shares + w * rng.dirichlet([1, 1, 1], 40) for w in (0.5 - gap / 4, 0.5)]
        panel = panel_from_arrays(probs, counts, conditions=[{"method": "soft"}, {"method": "hard"}])
        row = compare(
            panel,
            a="method=soft",
            b="method=hard",
            metrics=["entropy_correlation"],
            tests=["bootstrap"],
            n_resamples=999,
        ).rows[-1]
        triple = np.stack([entropy_of_counts(counts), *(entropy(p) for p in probs)])[:, None]
        assert bool(size_tests.of_correlations(triple)["bootstrap on Fisher's z"][0]) == (row.p < 0.05)
        decided.add(row.p < 0.05)
    assert decided == {True, False}
