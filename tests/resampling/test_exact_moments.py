"""Exact means and variances against full enumeration, scipy's laws and closed forms."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import rel_entr, xlogy

from saturation.errors import UsageError
from saturation.resampling import exact_moments
from saturation.resampling.exact_cells import prepare
from saturation.resampling.exact_laws import marginal, pair_law
from saturation.resampling.exact_moments import Additive, Draw, additive_moments
from tests import naive

COUNTS = np.array([[3, 2, 1], [0, 4, 3], [6, 0, 0], [2, 3, 1], [1, 1, 5], [1, 2, 3]])
WIDE = np.array([[2, 1, 1, 2], [1, 0, 2, 3], [0, 0, 7, 0], [1, 1, 1, 3], [4, 0, 0, 3]])

BRIER = Additive(lambda m, h: (h - m) ** 2)
TVD = Additive(lambda m, h: np.abs(h - m) / 2)
ENTROPY = Additive(lambda m, h: -xlogy(m, m))
KL = Additive(lambda m, h: xlogy(h, h) - xlogy(h, m), alpha=0.5)
REVERSE_KL = Additive(lambda m, h: xlogy(m, m) - xlogy(m, h), reference_alpha=0.25)
WASSERSTEIN = Additive(lambda m, h: np.abs(h - m), cumulative=True)
WASSERSTEIN_SMOOTH = Additive(lambda m, h: np.abs(h - m), alpha=0.3, cumulative=True)

DRAWS = [Draw("all", 3), Draw("all", 6), Draw("plug_in", 4), Draw("rest", 2), Draw("rest", 5), Draw("disjoint", 2, 3),
         Draw("disjoint", 3, 3), Draw("disjoint", 1, 1)]  # fmt: skip


def slow_score(statistic, n_labels):
    def score(drawn, other):
        size, reference_size = sum(drawn), sum(other)
        target = [(x + statistic.alpha) / (size + n_labels * statistic.alpha) for x in drawn]
        prior = statistic.reference_alpha
        share = [(y + prior) / (reference_size + n_labels * prior) for y in other]
        if statistic.cumulative:
            target = [sum(target[: k + 1]) for k in range(n_labels - 1)]
            share = [sum(share[: k + 1]) for k in range(n_labels - 1)]
        return sum(float(statistic.function(m, h)) for m, h in zip(target, share, strict=True))

    return score


@pytest.mark.parametrize("counts", [COUNTS, WIDE], ids=["three labels", "four labels"])
@pytest.mark.parametrize("draw", DRAWS, ids=str)
@pytest.mark.parametrize("statistics", [[BRIER, TVD, ENTROPY, KL, REVERSE_KL], [WASSERSTEIN, WASSERSTEIN_SMOOTH]])
def test_moments_equal_full_enumeration(counts, draw, statistics):
    moments = additive_moments(prepare(counts, cumulative=statistics[0].cumulative), draw, statistics)
    for s, statistic in enumerate(statistics):
        slow = [
            naive.draw_moments(row, slow_score(statistic, counts.shape[1]), draw.reference, draw.budget,
                               draw.reference_size)
            for row in counts
        ]  # fmt: skip
        np.testing.assert_allclose(moments.mean[s], [m for m, _ in slow], rtol=0, atol=1e-12)
        np.testing.assert_allclose(moments.variance[s], [v for _, v in slow], rtol=0, atol=1e-12)


@pytest.mark.parametrize("draw", DRAWS, ids=str)
def test_blocks_do_not_change_a_bit(draw, monkeypatch):
    whole = additive_moments(prepare(WIDE), draw, [BRIER, TVD])
    monkeypatch.setattr(exact_moments, "STATES_A_BLOCK", 3)
    pieces = additive_moments(prepare(WIDE), draw, [BRIER, TVD])
    assert (whole.mean == pieces.mean).all()
    assert (whole.variance == pieces.variance).all()


def test_item_and_label_order_do_not_matter():
    draw = Draw("disjoint", 2, 3)
    whole = additive_moments(prepare(WIDE), draw, [BRIER, KL])
    shuffled = additive_moments(prepare(WIDE[::-1, [2, 0, 3, 1]]), draw, [BRIER, KL])
    assert (whole.mean[:, ::-1] == shuffled.mean).all()
    assert (whole.variance[:, ::-1] == shuffled.variance).all()


def test_zero_labels_count_in_a_smoothed_target():
    # counts (2, 0, 0), one vote, alpha = 1: target (2, 1, 1)/4 against (1, 0, 0): 1/4 + 1/16 + 1/16 = 3/8
    smooth = Additive(lambda m, h: (h - m) ** 2, alpha=1.0)
    moments = additive_moments(prepare(np.array([[2, 0, 0]])), Draw("all", 1), [smooth])
    assert moments.mean[0, 0] == pytest.approx(3 / 8, abs=1e-15)
    assert moments.variance[0, 0] == 0.0


def test_all_votes_drawn_leave_no_spread():
    moments = additive_moments(prepare(np.array([[40, 35, 25]])), Draw("all", 100), [TVD, ENTROPY])
    assert moments.mean[0, 0] == 0.0
    assert (moments.variance == 0.0).all()


def test_brier_closed_forms():
    """Disjoint: s^2 (1/N + 1/R); all: s^2 (1/N - 1/n), s^2 = (1 - sum h^2) n/(n - 1)."""
    counts = np.array([[50, 30, 20], [90, 10, 0], [34, 33, 33]])
    spread = (1 - ((counts / 100) ** 2).sum(axis=1)) * 100 / 99
    disjoint = additive_moments(prepare(counts), Draw("disjoint", 10, 50), [BRIER], variance=False)
    np.testing.assert_allclose(disjoint.mean[0], spread * (1 / 10 + 1 / 50), rtol=1e-12)
    assert disjoint.variance is None
    everyone = additive_moments(prepare(counts), Draw("all", 10), [BRIER], variance=False)
    np.testing.assert_allclose(everyone.mean[0], spread * (1 / 10 - 1 / 100), rtol=1e-12)


@pytest.mark.parametrize(
    ("n", "c", "size"), [(100, 37, 10), (63, 1, 47), (7, 7, 3), (9, 0, 4), (1000, 400, 200), (3000, 3, 900)]
)
def test_marginal_laws_are_scipys(n, c, size):
    drawn = np.arange(size + 1)
    hyper = marginal(np.array([n]), np.array([c]), size, replace=False)[0]
    np.testing.assert_allclose(hyper, stats.hypergeom(n, c, size).pmf(drawn), rtol=1e-9, atol=1e-14)
    binom = marginal(np.array([n]), np.array([c]), size, replace=True)[0]
    np.testing.assert_allclose(binom, stats.binom(size, c / n).pmf(drawn), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("votes", [(9, 4, 3), (9, 4, 5), (6, 1, 1)])
def test_pair_laws_are_scipys(votes, replace):
    n, a, b = votes
    law = pair_law(np.array([n]), np.array([a]), np.array([b]), 4, replace=replace)
    states = np.stack([law.first[law.row], law.second, 4 - law.first[law.row] - law.second], axis=1)
    parts = np.array([a, b, n - a - b])
    theirs = stats.multinomial(4, parts / n) if replace else stats.multivariate_hypergeom(parts, 4)
    np.testing.assert_allclose(law.probability, theirs.pmf(states), atol=1e-14)
    assert law.probability.sum() == pytest.approx(1, abs=1e-14)


def test_too_few_votes_is_an_error():
    with pytest.raises(UsageError, match="too few"):
        additive_moments(prepare(COUNTS), Draw("rest", 6), [BRIER])
    with pytest.raises(UsageError, match="reference size"):
        additive_moments(prepare(COUNTS), Draw("disjoint", 2), [BRIER])
    with pytest.raises(UsageError, match="cumulative"):
        additive_moments(prepare(COUNTS), Draw("all", 2), [WASSERSTEIN])


def test_far_too_much_work_leaves_the_variance_out(monkeypatch):
    monkeypatch.setattr(exact_moments, "MAX_PAIR_STATES", 5)
    for draw in DRAWS[:1] + DRAWS[5:6]:
        moments = additive_moments(prepare(COUNTS), draw, [BRIER])
        assert moments.variance is None
        assert math.isfinite(moments.mean.sum())


def test_an_infinite_mean_is_infinite_and_only_where_it_can_happen():
    """Raw KL from (2, 1) to one vote: a label with votes always has none in the target; (3, 0) to its votes: 0."""
    kl = Additive(lambda m, h: rel_entr(h, m))
    moments = additive_moments(prepare(np.array([[2, 1], [3, 0]])), Draw("all", 1), [kl], variance=False)
    assert moments.mean[0].tolist() == [math.inf, 0.0]
