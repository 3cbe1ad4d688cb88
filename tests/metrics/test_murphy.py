"""Murphy's terms: by hand, against loops, against independent values on real votes, and where they are undefined."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from saturation.errors import UsageError
from saturation.metrics.isotonic import isotonic
from saturation.metrics.metric import Human
from saturation.metrics.murphy import decompose, isotonic_scores, residual, term_names
from saturation.metrics.murphy_bins import bin_sums, binned, leave_one_out, terms
from saturation.metrics.murphy_pairs import over_labels, pairs
from saturation.metrics.murphy_squares import squares_variance
from tests import naive

OUTCOMES = ("votes", "soft", "majority")
BINNINGS = ("width", "count")


def made_up(seed=0, n_items=40, n_labels=3, n_votes=8, models=()):
    """Probabilities with many ties, and votes."""
    generator = np.random.default_rng(seed)
    p = generator.dirichlet(np.ones(n_labels), size=n_items)
    counts = generator.multinomial(generator.integers(2, n_votes + 1, n_items), p)
    rough = generator.multinomial(7, 0.7 * p + 0.3 / n_labels, size=(*models, n_items)) + 0.25
    return rough / rough.sum(axis=-1, keepdims=True), counts


def test_two_bins_by_hand():
    """m .2, .4 | .8 of label 1; votes 0/2, 1/2, 2/2: h 0, .5, 1.

    Bins (0, .5]: m .3, h .25, share 2/3; (.5, 1]: m .8, h 1; hbar .5.
    REL 2/3 .05^2 + 1/3 .2^2 = .015; RES 2/3 .25^2 + 1/3 .5^2 = .125; WBV 2/3 .01; WBC 2 2/3 .1 .25 = 1/30.
    UNC(soft) (.25 + 0 + .25)/3 = 1/6; UNC(votes) .25 = 1/6 + mean(0, .25, 0).
    Score (soft): (.04 + .01 + .04)/3 = .03 = .015 - .125 + .166667 + .006667 - .033333; of votes + .083333.
    Correction: the first bin's s^2 = .125, the second takes the pooled .125: c = (.125 + .125)/3; s^2 = .25, v = .25/3.
    Irreducible, corrected: 2 .25 / 1 over 3 items = 1/6; resolvable .25 + .083333 - .166667.
    """
    probs = np.array([[0.8, 0.2], [0.6, 0.4], [0.2, 0.8]])
    counts = np.array([[2, 0], [1, 1], [0, 2]])
    soft = decompose(probs, counts, outcome="soft", bins=2, label=1)
    expected = {"rel": 0.015, "res": 0.125, "unc": 1 / 6, "wbv": 0.02 / 3, "wbc": 1 / 30, "brier": 0.03}
    noise, v = 0.25 / 3, 0.25 / 3
    expected |= {"rel_corrected": 0.015 - noise, "res_corrected": 0.125 - noise + v, "unc_corrected": 1 / 6 + v}
    assert {name: float(soft[name]) for name in expected} == pytest.approx(expected, abs=1e-15)
    votes = decompose(probs, counts, bins=2, label=1)
    expected |= {"unc": 0.25, "unc_corrected": 0.25 + v, "brier": 0.03 + 0.25 / 3}
    expected |= {"resolvable": 1 / 6, "irreducible": 0.25 / 3}
    expected |= {"resolvable_corrected": 0.25 + v - 1 / 6, "irreducible_corrected": 1 / 6}
    assert {name: float(votes[name]) for name in expected} == pytest.approx(expected, abs=1e-15)
    fixed = decompose(probs, counts, bins=2, label=1, fixed_forecasts=True)
    assert float(fixed["unc_corrected"]) == pytest.approx(0.25 + (2 / 3 * 0.125 + 1 / 3 * 0.125) / 3)


@pytest.mark.parametrize(("outcome", "binning", "fixed"), list(itertools.product(OUTCOMES, BINNINGS, (False, True))))
def test_every_term_of_every_label_equals_loops(outcome, binning, fixed):
    probs, counts = made_up()
    n_votes = counts.sum(axis=1).tolist()
    for label in range(3):
        m = probs[:, label].tolist()
        if outcome == "majority":
            h = [naive.majority_credit(c, "share")[label] for c in counts.tolist()]
        else:
            h = (counts[:, label] / counts.sum(axis=1)).tolist()
        index = [naive.bin_of(x, 6) for x in m] if binning == "width" else naive.equal_count_bins(m, 6)
        expected = naive.murphy_terms(m, h, index, outcome, n_votes, fixed)
        found = decompose(probs, counts, outcome=outcome, binning=binning, bins=6, label=label, fixed_forecasts=fixed)
        assert set(expected) | {"residual"} == set(found)
        assert {name: float(found[name]) for name in expected} == pytest.approx(expected, abs=1e-14)


def test_sum_mean_top_and_leading_axes():
    probs, counts = made_up(models=(2, 3))
    single = [decompose(probs, counts, label=k) for k in range(3)]
    summed, mean = decompose(probs, counts, label="sum"), decompose(probs, counts, label="mean")
    for name in term_names("votes"):
        assert summed[name].shape == (2, 3)
        assert summed[name] == pytest.approx(sum(one[name] for one in single), abs=1e-14)
        assert mean[name] == pytest.approx(summed[name] / 3, abs=1e-15)
    one = decompose(probs[1, 2], counts, label="top", outcome="soft")
    confidence, top = probs[1, 2].max(axis=1), probs[1, 2].argmax(axis=1)
    h = counts[np.arange(40), top] / counts.sum(axis=1)
    index = [naive.bin_of(x, 10) for x in confidence]
    expected = naive.murphy_terms(confidence.tolist(), h.tolist(), index, "soft")
    assert {name: float(one[name]) for name in expected} == pytest.approx(expected, abs=1e-14)
    whole = decompose(probs, counts, label="top", outcome="soft")
    assert {name: float(whole[name][1, 2]) for name in expected} == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(("outcome", "binning"), list(itertools.product(OUTCOMES, BINNINGS)))
def test_the_identity_holds_and_the_score_is_the_brier_score(outcome, binning):
    for seed in range(5):
        probs, counts = made_up(seed, n_items=200, n_labels=4)
        found = decompose(probs, counts, outcome=outcome, binning=binning, bins=15)
        assert abs(float(found["residual"])) < 1e-12
        corrected = found["rel_corrected"] - found["res_corrected"] + found["unc_corrected"]
        assert float(corrected) == pytest.approx(float(found["rel"] - found["res"] + found["unc"]), abs=1e-13)
        score = {"votes": naive.brier_vote, "soft": naive.brier}.get(outcome)
        if score:
            expected = np.mean([score(m, c) for m, c in zip(probs.tolist(), counts.tolist(), strict=True)])
            assert float(found["brier"]) == pytest.approx(expected, abs=1e-13)


def test_a_wrong_identity_is_an_error():
    good = decompose(*made_up())
    with pytest.raises(AssertionError, match="identity"):
        residual({**good, "res": good["res"] / 2})


@pytest.mark.parametrize("fixed", [False, True])
def test_leaving_out_one_item_equals_doing_it(fixed):
    """Bins of equal width do not move when an item goes, so deleting it is the decomposition of the rest."""
    probs, counts = made_up(3, n_items=12)
    cut = binned(pairs(probs, Human(counts)), bins=8)
    found = over_labels(np.moveaxis(leave_one_out(cut, fixed_forecasts=fixed), -1, 0), "sum")
    for i in range(12):
        kept = np.arange(12) != i
        rest = decompose(probs[kept], counts[kept], bins=8, fixed_forecasts=fixed)
        assert found[i] == pytest.approx([float(rest[name]) for name in term_names("votes")], abs=1e-13)


def test_a_repeated_item_weighs_twice():
    probs, counts = made_up(4, n_items=15)
    times = np.arange(15) % 3
    cut = binned(pairs(probs, Human(counts), outcome="soft"), bins=5)
    weighted = binned(pairs(probs, Human(counts), outcome="soft"), bins=5)
    sums = bin_sums(weighted) * 0
    for i, n in enumerate(times):
        for row in range(3):
            sums[row, :, cut.index[row, i]] += n * cut.features[row, :, i]
    rows = np.repeat(np.arange(15), times)
    expected = decompose(probs[rows], counts[rows], outcome="soft", bins=5)
    found = over_labels(terms(sums, cut), "sum")
    assert found == pytest.approx([float(expected[name]) for name in term_names("soft")], abs=1e-13)


# --- isotonic twin -------------------------------------------------------------------------------------------------


def test_isotonic_by_hand():
    """m .2, .2, .6, .9 and h 1, 0, .25, 1: the ties pool to .5, which .25 pulls down: 1.25/3 = .41667, then 1.

    Means of squares over 4: raw (.64 + .04 + .1225 + .01)/4 = .203125; mean .5625: (.1914 + .3164 + .0977 + .1914)/4 =
    .19921875; fit (.340278 + .173611 + .027778 + 0)/4 = .135417. MCB .067708, DSC .063802, UNC .199219.
    """
    probs = np.array([[0.8, 0.2], [0.8, 0.2], [0.4, 0.6], [0.1, 0.9]])
    counts = np.array([[0, 4], [4, 0], [3, 1], [0, 4]])
    found = decompose(probs, counts, outcome="soft", binning="isotonic", label=1)
    expected = {"miscalibration": 0.0677083, "discrimination": 0.0638021, "uncertainty": 0.1992188, "brier": 0.203125}
    assert {name: float(found[name]) for name in expected} == pytest.approx(expected, abs=1e-7)
    votes = decompose(probs, counts, binning="isotonic", label=1)
    assert float(votes["uncertainty"]) == pytest.approx(0.5625 * 0.4375)
    assert float(votes["miscalibration"]) == pytest.approx(0.0677083, abs=1e-7)


def test_isotonic_fit_equals_the_max_min_formula():
    for seed in range(6):
        probs, counts = made_up(seed, n_items=25)
        x, y = probs[:, 0], counts[:, 0] / counts.sum(axis=1)
        assert isotonic(x, y).fitted.tolist() == pytest.approx(naive.pool_adjacent_violators(x.tolist(), y.tolist()))


def test_isotonic_terms_do_not_depend_on_row_order_to_the_bit():
    probs, counts = made_up(8, n_items=300)
    found = decompose(probs, counts, binning="isotonic")
    order = np.random.default_rng(1).permutation(300)
    shuffled = decompose(probs[order], counts[order], binning="isotonic")
    assert {k: float(v).hex() for k, v in found.items()} == {k: float(v).hex() for k, v in shuffled.items()}


def test_influence_with_the_fit_held_fixed_is_the_jackknifes():
    """Envelope theorem: refitting without an item changes the terms by second-order amounts only."""
    generator = np.random.default_rng(2)
    p = generator.beta(2, 4, 400)
    probs = np.stack([1 - p, p], axis=1)
    counts = generator.binomial(20, 0.15 + 0.7 * p)
    counts = np.stack([20 - counts, counts], axis=1)
    of_items, values, _ = isotonic_scores(pairs(probs, Human(counts), label=1))
    kept = [np.arange(400) != i for i in range(400)]
    without = np.array(
        [list(decompose(probs[k], counts[k], binning="isotonic", label=1).values()) for k in kept], dtype=float
    )
    pseudo = 400 * values[0] - 399 * without
    for place, name in enumerate(term_names("votes", "isotonic")):
        fixed, refitted = of_items[0, place].std(ddof=1), pseudo[:, place].std(ddof=1)
        assert np.corrcoef(of_items[0, place], pseudo[:, place])[0, 1] > 0.97, name
        assert fixed == pytest.approx(refitted, rel=0.15), name


# --- undefined and degenerate --------------------------------------------------------------------------------------


def test_one_item_has_terms_but_nothing_to_correct_with():
    found = decompose(np.array([[0.7, 0.3]]), np.array([[3, 1]]))
    assert float(found["brier"]) == pytest.approx(2 * (0.05**2 + 0.75 * 0.25))
    assert [float(found[name]) for name in ("res", "wbv", "wbc", "resolvable")] == [0, 0, 0, 0]
    assert all(np.isnan(found[name]) for name in ("rel_corrected", "res_corrected", "unc_corrected"))
    assert float(found["irreducible_corrected"]) == pytest.approx(2 * 4 / 3 * 0.75 * 0.25)


def test_items_alone_in_their_bins_have_no_noise_to_estimate():
    probs = np.array([[0.95, 0.05], [0.5, 0.5], [0.05, 0.95]])
    found = decompose(probs, np.array([[3, 1], [2, 2], [1, 3]]))
    assert np.isnan(found["rel_corrected"])
    assert np.isnan(found["res_corrected"])
    assert np.isfinite(found["unc_corrected"])


def test_constant_model_and_unanimous_items():
    probs = np.tile([0.3, 0.3, 0.4], (7, 1))
    counts = np.tile([5, 0, 0], (7, 1))
    for binning in BINNINGS:
        found = decompose(probs, counts, binning=binning)
        assert float(found["rel"]) == pytest.approx(0.49 + 0.09 + 0.16)
        assert all(abs(float(found[name])) < 1e-16 for name in ("res", "unc", "wbv", "wbc", "irreducible"))
    found = decompose(probs, counts, binning="isotonic")
    assert float(found["miscalibration"]) == pytest.approx(0.74)
    assert [float(found[name]) for name in ("discrimination", "uncertainty")] == [0, 0]


def test_single_votes_leave_the_split_uncorrected():
    probs, _ = made_up()
    found = decompose(probs, np.eye(3, dtype=int)[np.arange(40) % 3])
    assert np.isnan(found["irreducible_corrected"])
    assert np.isnan(found["resolvable_corrected"])
    assert np.isfinite(found["rel_corrected"])


def test_tie_rules_of_the_majority():
    probs, counts = np.array([[0.6, 0.4], [0.2, 0.8]]), np.array([[2, 2], [1, 3]])
    first = decompose(probs, counts, outcome="majority", ties="first", label=0)
    share = decompose(probs, counts, outcome="majority", label=0)
    column = decompose(probs, Human(counts, majority=np.array([1, 1])), outcome="majority", ties="column", label=0)
    assert [float(one["brier"]) for one in (first, share, column)] == pytest.approx(
        [(0.16 + 0.04) / 2, (0.01 + 0.04) / 2, (0.36 + 0.04) / 2]
    )


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"outcome": "hard"}, "unknown outcome"),
        ({"binning": "quantile"}, "unknown binning"),
        ({"label": 3}, "neither"),
        ({"label": "median"}, "neither"),
        ({"bins": 0}, "at least 1"),
        ({"outcome": "majority", "ties": "column"}, "majority_label"),
    ],
)
def test_unknown_options(options, match):
    with pytest.raises(UsageError, match=match):
        decompose(*made_up(), **options)


def test_correction_removes_the_bias():
    """A calibrated model: REL is all noise; corrected, its mean over samples is zero within 4 standard errors."""
    generator = np.random.default_rng(5)
    plain, corrected, split = [], [], []
    for _ in range(400):
        m = generator.uniform(size=60)
        counts = generator.binomial(5, m)
        found = decompose(np.stack([1 - m, m], 1), np.stack([5 - counts, counts], 1), bins=10, label=1)
        plain.append(float(found["rel"]))
        corrected.append(float(found["rel_corrected"]))
        split.append(float(found["irreducible_corrected"]))
    assert abs(np.mean(corrected)) < 4 * np.std(corrected) / 20
    assert abs(np.mean(corrected)) < 0.1 * np.mean(plain)
    assert np.mean(split) == pytest.approx(1 / 6, abs=4 * np.std(split) / 20)  # E m (1 - m) of a uniform m


def test_variance_of_a_square_is_that_of_simulated_squares():
    """Three labels in two bins: the variance over samples of sum_k sum_b w_b (h_b - its expectation)^2, within 10%."""
    generator = np.random.default_rng(8)
    shares = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    probs = np.repeat([[0.3, 0.3, 0.4], [0.6, 0.2, 0.2]], 50, axis=0)
    found, claimed = [], []
    for _ in range(4000):
        h = generator.multinomial(1, np.repeat(shares, 50, axis=0))
        found.append(sum(0.5 * ((h[50 * b : 50 * b + 50].mean(axis=0) - shares[b]) ** 2).sum() for b in range(2)))
        if len(claimed) < 200:
            claimed.append(float(squares_variance(binned(pairs(probs, Human(h)), bins=2, binning="count"), "sum")))
    assert np.mean(claimed) == pytest.approx(np.var(found), rel=0.1)
