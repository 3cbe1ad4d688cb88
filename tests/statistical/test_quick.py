"""Two hundred replications of four settings: coverage as documented in README.md.

Every count of covering intervals is compared with the central 99.9% range of the binomial at 95%; where an interval is
known to be conservative (few seeds, redrawn annotators, grid-valued N*, fractions, room for bias), with its lower end
alone.
One comparison fails by chance with odds of at most 1 in 1,000. The replications have fixed random numbers, so a pass
stays a pass until the code changes a number; a change that alters all of them draws anew, and with about 40
comparisons, most of them of the same data, then fails by chance once in 25 or more.
"""

import math

import pytest

from tests.statistical.quantities import curves, decomposed, differences, evaluated, labels
from tests.statistical.replicate import replicate
from tests.statistical.settings import Setting
from tests.statistical.tally import range_of
from tests.statistical.truth import truths

REPLICATIONS = 200
CONSERVATIVE = ("n_star", "fraction", "kl corrected", "entropy_bias corrected")
MEASURED = {"murphy unc_corrected": 0.92}
"""What README.md says of intervals that hold a little less: UNC is concave in the labels' shares, its interval even."""
CASES = {
    "few seeds": (Setting(100, 5, 3, annotators=False), (evaluated, differences, decomposed, curves)),
    "the seed's own run": (Setting(500, 20, 1, annotators=False, new_runs=False), (evaluated, differences)),
    "labels alone": (Setting(100, 20, 1, annotators=False, new_runs=False), (labels,)),
    "a crowd": (Setting(100, 20, 5, annotators=True), (evaluated, differences)),
}


@pytest.fixture(scope="module")
def true():
    """With 100,000 items the truth is known to a tenth of the widest standard error here or better."""
    kinds = {(setting.n_votes, setting.new_runs) for setting, _ in CASES.values()}
    return {kind: truths(kind[0], new_runs=kind[1], batches=10) for kind in kinds}


@pytest.mark.parametrize("case", CASES)
def test_intervals_cover_as_documented(case, true):
    setting, analyses = CASES[case]
    found = replicate(0, setting, range(REPLICATIONS), true[setting.n_votes, setting.new_runs], analyses)
    assert len(found) >= 10
    wrong = {}
    for name, one in found.items():
        if one.defined == 0:
            continue
        low, high = range_of(one.defined, MEASURED.get(name, 0.95), 0.999)
        if setting.n_seeds > 1 or any(word in name for word in CONSERVATIVE):
            high = 1.0
        if not low <= one.coverage <= high:
            wrong[name] = (one.covered, one.defined, low, high)
    assert not wrong


def test_truth_of_labels_alone_by_hand():
    """Brier of N fresh votes against R others is E (1 - sum p^2) (1/N + 1/R): the same spread at every budget."""
    found = truths(20, new_runs=False, batches=2)
    spread = [found[f"labels brier value {n}"].value / (1 / n + 1 / 10) for n in (1, 2, 3, 5, 10)]
    assert max(spread) == pytest.approx(min(spread), rel=1e-12)
    # the plug-in score exceeds the corrected one by the same spread over all n = 20 votes
    plain, corrected = (found[f"evaluate brier{word}"].value for word in ("", " corrected"))
    assert plain - corrected == pytest.approx(spread[0] / 20, rel=1e-9)
    assert math.isfinite(found["curve kl n_star_interpolated"].se)
