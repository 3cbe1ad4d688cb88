"""The label-side curve: stored values of slow independent code, enumeration, hand arithmetic and Monte Carlo."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from saturation.analyses.labels import exact as label_exact
from saturation.analyses.labels import monte_carlo as label_monte_carlo
from saturation.analyses.labels.label_curve import label_curve
from saturation.analyses.labels.monte_carlo import Draws, item_moments, set_points
from saturation.analyses.labels.plan import make_plan, reached
from saturation.analyses.labels.scores import mode_agreement, score_of, top_vote_share
from saturation.errors import UsageError
from saturation.metrics.catalogue import metric
from saturation.metrics.metric import Human
from saturation.resampling import exact_cells, exact_moments, exact_states
from saturation.tables.panel import Ballots, Votes
from tests import naive

COUNTS = np.array([[3, 2, 1], [0, 4, 2], [6, 0, 0], [2, 3, 1], [1, 1, 4], [1, 2, 3], [5, 1, 0]])


def votes_of(counts, **more):
    counts = np.asarray(counts)
    ids = tuple(f"i{k:05d}" for k in range(len(counts)))
    return Votes(item_ids=ids, labels=tuple("abcdefghij"[: counts.shape[1]]), counts=counts, **more)


def crowd(n_items=60, n_votes=30, n_labels=3, seed=5):
    rng = np.random.default_rng(seed)
    return np.array([rng.multinomial(n_votes, p) for p in rng.dirichlet([0.7] * n_labels, n_items)])


def find(result, quantity, name, budget=None, q=None):
    rows = [r for r in result.rows if (r.quantity, r.metric, r.budget, r.q) == (quantity, name, budget, q)]
    assert len(rows) == 1
    return rows[0]


# --- plan -------------------------------------------------------------------------------------------------------------


def test_disjoint_plan_by_hand():
    """Votes 20 x 8, 9, 30: 90% reach 20 so M = 20; budgets to 10; R = 20 - 10 = 10; the item with 9 is left out."""
    counts = np.array([[10, 10]] * 8 + [[9, 0], [15, 15]])
    plan = make_plan(counts, "disjoint", None, "common")
    assert plan.budgets == (1, 2, 3, 5, 10)
    assert plan.reference_size == 10
    assert plan.items.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 9]
    asked = make_plan(counts, "disjoint", (1, 15, 20, 25), "common")
    assert asked.budgets == (1, 15)
    assert asked.reference_size == 5
    assert list(asked.refused) == [20, 25]
    assert "--reference plug_in" in asked.refused[20]


@pytest.mark.parametrize(
    ("reference", "budgets", "n_items"), [("all", (1, 2, 3, 5, 10, 20), 9), ("rest", (1, 2, 3, 5, 10), 9),
                                          ("plug_in", (1, 2, 3, 5, 10, 20), 10)],
)  # fmt: skip
def test_other_plans(reference, budgets, n_items):
    plan = make_plan(np.array([[10, 10]] * 8 + [[9, 0], [15, 15]]), reference, None, "common")
    assert plan.budgets == budgets
    assert len(plan.items) == n_items


def test_items_per_budget_come_with_a_warning():
    counts = np.array([[10, 10]] * 4 + [[2, 1]])
    plan = make_plan(counts, "all", (2, 10), "per-budget")
    assert plan.members.sum(axis=1).tolist() == [5, 4]
    assert any(note.code == "ragged_per_budget" for note in plan.notes)
    result = label_curve(votes_of(counts), metrics=["brier"], budgets=(2, 10), reference="all", ragged="per-budget")
    assert find(result, "value", "brier", 2).unc.n_items == 5
    assert find(result, "value", "brier", 10).n_dropped == 1
    # s^2 = 1/2 x 20/19 of the four; (1 - 5/9) x 3/2 = 2/3 of the fifth; times 1/2 - 1/n
    by_hand = (4 * (10 / 19) * (1 / 2 - 1 / 20) + (2 / 3) * (1 / 2 - 1 / 3)) / 5
    assert find(result, "value", "brier", 2).unc.estimate == pytest.approx(by_hand, abs=1e-12)


def test_disjoint_items_per_budget_need_their_reference_too():
    """8 items with 20 votes, 2 with 12: M = 20, R = 20 - 10 = 10, so N = 1 needs 11 votes and N = 10 needs 20."""
    plan = make_plan(np.array([[10, 10]] * 8 + [[6, 6]] * 2), "disjoint", (1, 10), "per-budget")
    assert plan.reference_size == 10
    assert plan.members.sum(axis=1).tolist() == [10, 8]


def test_items_left_out_of_a_budget_do_not_shrink_its_error():
    """40 items reach N = 10, 20 do not: the se is that of 40 item scores, but for U/(U - 1) with U = 60, not 40."""
    counts = np.concatenate([crowd(n_items=40, n_votes=30), crowd(n_items=20, n_votes=5, seed=6)])
    result = label_curve(votes_of(counts), metrics=["brier"], budgets=(2, 10), reference="all", ragged="per-budget")
    scores = (1 - ((counts[:40] / 30) ** 2).sum(axis=1)) * 30 / 29 * (1 / 10 - 1 / 30)
    by_hand = scores.std() / math.sqrt(40) * math.sqrt(60 / 59)
    assert find(result, "value", "brier", 10).unc.se == pytest.approx(by_hand, rel=1e-9)


def test_reached_is_the_largest_number_that_four_in_five_reach():
    assert reached(np.array([1, 7, 7, 7, 7])) == 7
    assert reached(np.array([1, 6, 7, 7, 7])) == 6
    assert reached(np.array([4])) == 4


@pytest.mark.parametrize(
    "options",
    [{"reference": "other"}, {"ragged": "some"}, {"budgets": (0, 2)}, {"budgets": ()}, {"alpha": "half"}, {"alpha": -1},
     {"q": (1.5,)}, {"level": 1.0}, {"n_resamples": 1}, {"metrics": ["no_such"]}, {"metrics": ["kl", "kl"]},
     {"metrics": ["accuracy"], "ties": "column"}, {"metrics": "kl"}],
)  # fmt: skip
def test_wrong_options_are_refused(options):
    with pytest.raises(UsageError):
        label_curve(votes_of(COUNTS), **options)


# --- values -----------------------------------------------------------------------------------------------------------


def slow_scores(alpha):
    def shares(counts, prior=0.0):
        total = sum(counts) + prior * len(counts)
        return [(c + prior) / total for c in counts]

    def pairs(x, y):
        return list(zip(shares(x, alpha), shares(y), strict=True))

    return {
        "brier": lambda x, y: sum((m - h) ** 2 for m, h in pairs(x, y)),
        "tvd": lambda x, y: sum(abs(m - h) for m, h in pairs(x, y)) / 2,
        "hellinger": lambda x, y: math.sqrt(sum((m**0.5 - h**0.5) ** 2 for m, h in pairs(x, y)) / 2),
        "entropy_error": lambda x, y: abs(naive.entropy_of(shares(x, alpha)) - naive.entropy_of(shares(y))),
        "wasserstein": lambda x, y: sum(
            abs(sum(shares(x, alpha)[: k + 1]) - sum(shares(y)[: k + 1])) for k in range(len(x) - 1)
        ),
        "accuracy": lambda x, y: (
            sum(a == max(x) and b == max(y) for a, b in zip(x, y, strict=True)) / sum(a == max(x) for a in x)
        ),
    }


@pytest.mark.parametrize(("reference", "budget"), [("all", 3), ("plug_in", 3), ("rest", 2), ("disjoint", 2)])
@pytest.mark.parametrize("alpha", [None, 0.5])
def test_values_and_draw_spread_equal_full_enumeration(reference, budget, alpha):
    slow = slow_scores(alpha or 0.0)
    result = label_curve(votes_of(COUNTS), metrics=list(slow), budgets=(1, budget), reference=reference, alpha=alpha)
    size = 6 - budget if reference == "disjoint" else None
    for name, score in slow.items():
        moments = [naive.draw_moments(row, score, reference, budget, size) for row in COUNTS]
        row = find(result, "value", name, budget)
        assert row.unc.estimate == pytest.approx(np.mean([m for m, _ in moments]), abs=1e-12)
        assert row.draw_sd == pytest.approx(math.sqrt(sum(v for _, v in moments)) / len(COUNTS), abs=1e-9)
        assert row.draw_high - row.draw_low == pytest.approx(2 * stats.norm.ppf(0.975) * row.draw_sd, rel=1e-9)
        assert row.reference_size == {"all": 6, "plug_in": 6, "rest": 6 - budget, "disjoint": size}[reference]
        assert (row.target, row.alpha) == (("raw", None) if alpha is None else ("dirichlet", alpha))


@pytest.mark.parametrize(("reference", "budget"), [("all", 3), ("plug_in", 3), ("rest", 2), ("disjoint", 3)])
def test_entropy_correlation_equals_full_enumeration(reference, budget):
    size = 6 - budget if reference == "disjoint" else None

    def moment(f):
        return np.mean([naive.draw_moments(row, f, reference, budget, size)[0] for row in COUNTS])

    x, y = (lambda d, r: naive.entropy_of(d)), (lambda d, r: naive.entropy_of(r))
    var_x = moment(lambda d, r: x(d, r) ** 2) - moment(x) ** 2
    var_y = moment(lambda d, r: y(d, r) ** 2) - moment(y) ** 2
    joint = moment(lambda d, r: x(d, r) * y(d, r)) - moment(x) * moment(y)
    result = label_curve(votes_of(COUNTS), metrics=["entropy_correlation"], budgets=(1, budget), reference=reference)
    row = find(result, "value", "entropy_correlation", budget)
    assert row.unc.estimate == pytest.approx(joint / math.sqrt(var_x * var_y), abs=1e-12)
    assert row.unc.estimator == "exact_moments"
    first = find(result, "value", "entropy_correlation", 1)
    assert first.unc.estimate is None
    assert "with one vote" in first.unc.reason
    assert find(result, "fraction", "entropy_correlation", 1).unc.estimate in (0.0, None)


def test_the_interval_for_other_items_is_a_t_interval_of_the_item_scores():
    """Brier, all: score_i = s_i^2 (1/N - 1/n), so low and high are mean +- t_{I-1} sd / sqrt(I)."""
    counts = crowd()
    scores = (1 - ((counts / 30) ** 2).sum(axis=1)) * 30 / 29 * (1 / 5 - 1 / 30)
    unc = find(label_curve(votes_of(counts), metrics=["brier"], reference="all"), "value", "brier", 5).unc
    half = stats.t.ppf(0.975, len(counts) - 1) * scores.std(ddof=1) / math.sqrt(len(counts))
    assert (unc.low, unc.high) == pytest.approx((scores.mean() - half, scores.mean() + half), rel=1e-10)
    assert unc.interval == "linearized_t"
    assert unc.reason is None


def test_entropy_correlation_interval_is_its_jackknife():
    counts = crowd()
    result = label_curve(votes_of(counts), metrics=["entropy_correlation"], reference="all")
    unc = find(result, "value", "entropy_correlation", 5).unc
    left_out = []
    for item in range(len(counts)):
        rest = label_curve(votes_of(np.delete(counts, item, axis=0)), metrics=["entropy_correlation"], reference="all")
        left_out.append(find(rest, "value", "entropy_correlation", 5).unc.estimate)
    n = len(counts)
    jackknife = math.sqrt((n - 1) ** 2 / n * np.var(left_out, ddof=1))
    assert unc.se == pytest.approx(jackknife, rel=0.05)


def test_infinite_values_are_reasons_not_numbers():
    result = label_curve(votes_of(COUNTS), metrics=["kl", "reverse_kl", "cross_entropy"], alpha="none", budgets=(1, 3))
    kl = find(result, "value", "kl", 3)
    assert kl.unc.estimate is None
    assert "alpha" in kl.unc.reason
    assert kl.draw_sd is None
    assert "smooth=1/K" in find(result, "value", "reverse_kl", 3).unc.reason
    assert find(result, "fraction", "kl", 3).unc.estimate is None
    assert find(result, "n_star", "kl", q=0.9).unc.reason
    finite = label_curve(votes_of(COUNTS), metrics=["reverse_kl"], reference="all", budgets=(1, 3))
    assert find(finite, "value", "reverse_kl", 3).unc.estimate > 0
    smooth = label_curve(votes_of(COUNTS), metrics=["reverse_kl[smooth=1/K]"], budgets=(1, 3))
    assert find(smooth, "value", "reverse_kl[smooth=1/K]", 3).unc.estimate > 0


def test_only_kl_is_smoothed_by_default():
    result = label_curve(votes_of(COUNTS), metrics=["kl", "tvd"], budgets=(1, 3))
    assert find(result, "value", "kl", 3).alpha == pytest.approx(1 / 3)
    assert find(result, "value", "tvd", 3).target == "raw"


def test_refused_budgets_are_rows_with_a_reason():
    result = label_curve(votes_of(COUNTS), metrics=["tvd"], budgets=(1, 2, 6))
    row = find(result, "value", "tvd", 6)
    assert row.unc.estimate is None
    assert "--reference all" in row.unc.reason
    assert find(result, "fraction", "tvd", 6).unc.reason


@pytest.mark.parametrize("reference", ["disjoint", "rest"])
def test_single_votes_leave_only_reasons(reference):
    result = label_curve(votes_of([[1, 0], [0, 1]]), metrics=["tvd", "accuracy", "dist_ece"], reference=reference)
    assert {row.unc.estimate for row in result.rows} == {None}
    assert all("--reference" in row.unc.reason for row in result.rows)
    assert {row.quantity for row in result.rows} == {"value", "shortfall", "fraction", "n_star", "n_star_interpolated"}


@pytest.mark.parametrize(
    "counts",
    [
        [[5, 5]],
        [[6, 0], [0, 6], [6, 0]],
        [[4, 2]] * 5,
        [[0, 0], [4, 4], [8, 0], [3, 5]],
        [[2, 1, 0], [0, 3, 0], [1, 1, 1]],
        [[3, 2], [10, 9], [30, 1], [4, 4], [2, 6]],
    ],
)
@pytest.mark.parametrize("reference", ["disjoint", "rest", "all", "plug_in"])
def test_small_and_odd_votes_give_numbers_or_reasons(counts, reference):
    result = label_curve(votes_of(counts), metrics=["all"], reference=reference, n_resamples=3)
    for row in result.records():
        assert row["estimate"] is not None or row["reason"], row
        assert (
            row["estimate"] is None or row["quantity"].startswith("n_star") or row["low"] is not None or row["reason"]
        )


def test_metrics_without_direction_have_no_fraction():
    result = label_curve(votes_of(crowd()), metrics=["entropy", "entropy_bias"])
    assert find(result, "value", "entropy", 5).unc.estimate > 0
    for quantity in ("fraction", "shortfall"):
        row = find(result, quantity, "entropy", 5)
        assert row.unc.estimate is None
        assert "neither" in row.unc.reason


def test_rules_for_tied_modes():
    drawn, reference = np.array([2, 2, 1]), np.array([1, 5, 4])
    assert [mode_agreement(drawn, reference, t).item() for t in ("share", "any", "first", "last")] == [0.5, 1, 0, 1]
    assert [top_vote_share(drawn, reference, t).item() for t in ("share", "any", "first", "last")] == [
        0.3,
        0.5,
        0.1,
        0.5,
    ]


# --- fractions and N* -------------------------------------------------------------------------------------------------


def test_brier_fractions_by_hand():
    """All: l(N) = s^2 (1/N - 1/n), so f(N) = (1 - 1/N)/(1 - 1/20) for budgets 1..20 whatever the items."""
    result = label_curve(votes_of(crowd(n_votes=30)), metrics=["brier"], reference="all", budgets=(1, 2, 5, 10, 20))
    for budget in (2, 5, 10):
        unc = find(result, "fraction", "brier", budget).unc
        assert unc.estimate == pytest.approx((1 - 1 / budget) / (1 - 1 / 20), abs=1e-12)
        assert (unc.interval, unc.low, unc.high) == ("exact", unc.estimate, unc.estimate)
    assert find(result, "fraction", "brier", 20).unc.interval == "exact"
    star = find(result, "n_star", "brier", q=0.9)  # f(5) = .842, f(10) = .947
    assert star.unc.estimate == 10
    assert "(5, 10]" in star.unc.reason
    assert find(result, "n_star", "brier", q=0.95).censored == "above"
    shortfall = find(result, "shortfall", "brier", 5).unc
    values = [find(result, "value", "brier", b).unc.estimate for b in (5, 20)]
    assert shortfall.estimate == pytest.approx(values[0] - values[1], abs=1e-15)


def test_higher_is_better_fractions_rise_too():
    result = label_curve(votes_of(crowd()), metrics=["accuracy", "soft_accuracy"], reference="all")
    for name in ("accuracy", "soft_accuracy"):
        values = [find(result, "value", name, b).unc.estimate for b in (1, 10, 20)]
        assert find(result, "shortfall", name, 10).unc.estimate == pytest.approx(values[2] - values[1], abs=1e-15)
        fraction = find(result, "fraction", name, 10).unc.estimate
        assert fraction == pytest.approx((values[1] - values[0]) / (values[2] - values[0]), abs=1e-12)


def test_item_order_and_threads_do_not_matter():
    counts = crowd()
    names = ["kl", "tvd", "hellinger", "entropy_correlation"]
    one = label_curve(votes_of(counts), metrics=names, reference="all")
    other = label_curve(votes_of(counts[:, [1, 2, 0]]), metrics=names, reference="all")
    for a, b in zip(one.records(), other.records(), strict=True):
        assert a == b
    shuffled = label_curve(votes_of(counts[::-1]), metrics=names, reference="all")
    for a, b in zip(one.rows, shuffled.rows, strict=True):
        assert (a.unc.estimate is None) == (b.unc.estimate is None)
        assert a.unc.estimate is None or a.unc.estimate == pytest.approx(b.unc.estimate, rel=1e-12)
    drawn = [label_curve(votes_of(counts), metrics=["dist_ece"], n_resamples=20, threads=t).records() for t in (1, 2)]
    assert drawn[0] == drawn[1]


# --- Monte Carlo ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["disjoint", "rest", "all", "plug_in"])
def test_draws_agree_with_exact_values(reference, monkeypatch):
    """Four standard errors: a right sampler fails one of these checks about once in 4,000 runs; the seed is fixed."""
    counts = crowd(n_items=40, n_votes=12)
    exact = label_curve(votes_of(counts), metrics=["hellinger"], budgets=(2, 5), reference=reference)
    monkeypatch.setattr(exact_states, "MAX_STATES", 0)
    drawn = label_curve(votes_of(counts), metrics=["hellinger"], budgets=(2, 5), reference=reference)
    for budget in (2, 5):
        a, b = find(exact, "value", "hellinger", budget), find(drawn, "value", "hellinger", budget)
        assert b.unc.estimator == "monte_carlo"
        assert b.unc.n_resamples == 400
        assert abs(a.unc.estimate - b.unc.estimate) < 4 * b.mc_se
        assert b.draw_sd == pytest.approx(a.draw_sd, rel=0.05)


@pytest.mark.parametrize("copies", [1, 9])
def test_monte_carlo_error_of_items_that_share_their_draws(copies, monkeypatch):
    """An item and its copies move together: the error of their sum is ``copies`` times one item's.

    With all rows distinct mc_se = draw_sd / sqrt(400); draw_sd is that of independent items, sqrt(copies) smaller.
    """
    counts = np.repeat([[8, 4, 0], [7, 3, 2], [5, 5, 2]], copies, axis=0)
    monkeypatch.setattr(exact_states, "MAX_STATES", 0)
    row = find(label_curve(votes_of(counts), metrics=["hellinger"], reference="all"), "value", "hellinger", 2)
    assert row.mc_se == pytest.approx(row.draw_sd * math.sqrt(copies) / 20, rel=1e-9)


def test_monte_carlo_error_is_the_spread_over_seeds(monkeypatch):
    """The sd of 60 estimates is good to 1/sqrt(118) = 9%; the bound is four times that."""
    counts = np.concatenate([crowd(n_items=10, n_votes=12), [[8, 4, 0]] * 30])
    monkeypatch.setattr(exact_states, "MAX_STATES", 0)
    plan = make_plan(counts, "all", (3,), "common")
    score, symmetric = score_of(metric("hellinger"), 0.0, "share")
    points = [
        label_exact.item_points(counts, plan, [score], Draws(seed, 50, 1), symmetric=symmetric)[0][0]
        for seed in range(60)
    ]
    found = np.std([point.estimate for point in points], ddof=1)
    assert found == pytest.approx(np.mean([point.mc_se for point in points]), rel=0.36)


def test_items_with_few_states_stay_exact_beside_drawn_ones(monkeypatch):
    counts = np.array([[9, 0, 0], [8, 1, 0], [4, 3, 2], [3, 3, 3]])
    score, symmetric = score_of(metric("hellinger"), 0.0, "share")
    plan = make_plan(counts, "all", (4,), "common")
    exact = label_exact.item_points(counts, plan, [score], Draws(0, 50, 1), symmetric=symmetric)[0][0]
    monkeypatch.setattr(exact_states, "MAX_CELLS", 9)  # 1 and 2 states of 3 labels
    mixed = label_exact.item_points(counts, plan, [score], Draws(0, 50, 1), symmetric=symmetric)[0][0]
    assert (exact.estimator, mixed.estimator, mixed.n_resamples) == ("exact", "monte_carlo", 50)
    assert mixed.influence[:2].tolist() == exact.influence[:2].tolist()
    assert (mixed.influence[2:] != exact.influence[2:]).all()
    # only the two drawn items carry Monte Carlo error
    drawn = item_moments(counts[2:], plan.draw(4), [score], Draws(0, 50, 1), symmetric=True)
    assert mixed.mc_se == pytest.approx(math.sqrt(drawn.variance.sum() / 50) / 4, rel=1e-12)


@pytest.mark.parametrize("draw", ["all", "disjoint", "plug_in"])
def test_blocks_of_draws_change_no_bit(draw, monkeypatch):
    counts = crowd(n_items=10, n_votes=12)
    plan = make_plan(counts, draw, (3,), "common")
    score, _ = score_of(metric("hellinger"), 0.0, "share")
    whole = item_moments(counts, plan.draw(3), [score], Draws(0, 30, 1), symmetric=True)
    monkeypatch.setattr(label_monte_carlo, "CELLS_A_BLOCK", 100)
    pieces = item_moments(counts, plan.draw(3), [score], Draws(0, 30, 2), symmetric=True)
    assert (whole.mean == pieces.mean).all()
    assert (whole.variance == pieces.variance).all()


@pytest.mark.parametrize("reference", ["disjoint", "all", "plug_in"])
def test_entropy_correlation_agrees_with_draws(reference):
    """Exact moments give the r of the mean moments; the mean of r differs by O(1/I), a few 1e-3 at 300 items."""
    counts = crowd(n_items=300, n_votes=20)
    plan = make_plan(counts, reference, (2, 5), "common")
    exact = label_exact.correlation_points(counts, plan, 0.0, Draws(3, 500, None))
    drawn = set_points(
        counts, plan, Draws(3, 500, None), asked=[(metric("entropy_correlation"), 0.0)], human=Human(counts)
    )[0]
    for a, b in zip(exact, drawn, strict=True):
        assert a.estimate == pytest.approx(b.estimate, abs=4 * b.mc_se + 3e-3)
        assert a.draw_sd == pytest.approx(b.draw_sd, rel=0.15)


def test_the_drawn_spread_is_close_to_the_exact_one(monkeypatch):
    """100 draws each of about 150 distinct items: the sd is good to a few percent."""
    counts = crowd(n_items=200, n_votes=40)
    for reference in ("all", "disjoint", "plug_in"):
        plan = make_plan(counts, reference, (2, 5, 10), "common")
        monkeypatch.setattr(label_exact, "CELLS_FOR_A_SPREAD", 20_000_000)
        exact = label_exact.correlation_points(counts, plan, 0.0, Draws(0, 400, None))
        monkeypatch.setattr(label_exact, "CELLS_FOR_A_SPREAD", 0)
        drawn = label_exact.correlation_points(counts, plan, 0.0, Draws(0, 400, None))
        for a, b in zip(exact, drawn, strict=True):
            assert b.draw_sd == pytest.approx(a.draw_sd, rel=0.05)
            assert "100 draws" in b.reason


def test_draws_with_replacement_have_the_right_law():
    """Counts (3, 1): 2 of 2 votes for the first label with chance 9/16; 4,000 draws, four standard errors."""
    drawn = label_monte_carlo.with_replacement(1, 0, 4000, np.array([[3, 1]]), 2)
    share = (drawn[:, 0, 0] == 2).mean()
    assert abs(share - 9 / 16) < 4 * math.sqrt(9 / 16 * 7 / 16 / 4000)
    again = label_monte_carlo.with_replacement(1, 10, 20, np.array([[3, 1]]), 2)
    assert (again == drawn[10:20]).all()


def test_metrics_of_sets_share_draws_and_do_not_move_each_other():
    votes, names = votes_of(crowd()), ["dist_ece", "macro_f1", "entropy_correlation[kind=kendall]"]
    together = label_curve(votes, metrics=names, budgets=(2, 5), n_resamples=150)
    for name in names:
        alone = label_curve(votes, metrics=[name], budgets=(2, 5), n_resamples=150).rows
        assert [row for row in together.rows if row.metric == name] == list(alone)
    drawn = [find(together, "value", name, 5).unc.n_resamples for name in names]
    assert drawn == [150, 150, 100]


def rich(n_items, n_labels, n_votes=30):
    """Many labels a vote could fall on: more states an item than can be listed."""
    rng = np.random.default_rng(0)
    return np.array([rng.multinomial(n_votes, p) for p in rng.dirichlet([0.05] * n_labels, n_items)])


def gives_answers_or_reasons(result):
    for row in result.records():
        assert row["estimate"] is not None or row["reason"], row
        if row["estimator"] == "monte_carlo" and row["quantity"] == "value" and row["estimate"] is not None:
            assert row["mc_se"] is not None
            assert row["draw_sd"] is not None


@pytest.mark.parametrize("reference", ["disjoint", "all", "plug_in"])
def test_two_hundred_labels_end_in_seconds(reference):
    """The work is bounded over all items: what cannot be listed is drawn, and says so."""
    votes = Votes(
        item_ids=tuple(f"i{k}" for k in range(300)), labels=tuple(f"l{k}" for k in range(200)), counts=rich(300, 200)
    )
    result = label_curve(votes, budgets=(1, 3, 10), reference=reference, n_resamples=50)
    gives_answers_or_reasons(result)
    assert find(result, "value", "tvd", 10).unc.estimator == "exact"
    assert find(result, "value", "accuracy", 1).unc.estimator in ("exact", "monte_carlo")
    accuracy = find(result, "value", "accuracy", 10)
    assert accuracy.unc.estimator == "monte_carlo"
    assert 0 < accuracy.mc_se < accuracy.draw_sd
    r = find(result, "value", "entropy_correlation", 10)
    assert r.unc.estimator == "exact_moments"
    assert "draw_sd from 50 draws" in r.unc.reason


def test_twenty_thousand_items_end_in_seconds():
    result = label_curve(votes_of(rich(20_000, 10)), budgets=(2, 10), n_resamples=50)
    gives_answers_or_reasons(result)
    assert find(result, "value", "brier", 10).unc.n_items == 20_000


@pytest.mark.parametrize(("module", "limit"), [(exact_cells, "MAX_PAIRS"), (exact_moments, "MAX_PAIR_STATES")])
@pytest.mark.parametrize("reference", ["disjoint", "all", "plug_in"])
def test_where_pairs_are_too_many_spreads_are_drawn(module, limit, reference, monkeypatch):
    """100 draws of 60 items: each variance is good to 14%, their sum to 2%; 4 mc_se bound r, whose means are exact."""
    names = ["tvd", "wasserstein", "kl", "entropy_correlation"]
    options = {"metrics": names, "budgets": (1, 5), "reference": reference}
    whole = label_curve(votes_of(crowd()), **options)
    monkeypatch.setattr(module, limit, 2)
    some = label_curve(votes_of(crowd()), **options)
    for name in names[:-1]:
        a, b = (find(made, "value", name, 5) for made in (whole, some))
        assert b.unc.estimate == a.unc.estimate
        assert b.unc.estimator == "exact"
        assert b.draw_sd == pytest.approx(a.draw_sd, rel=0.08)
        assert "draw_sd from 100 draws" in b.unc.reason
    a, b = (find(made, "value", names[-1], 5) for made in (whole, some))
    assert (b.unc.estimator, b.unc.n_resamples) == ("monte_carlo", 400)
    assert 0 < abs(b.unc.estimate - a.unc.estimate) < 4 * b.mc_se
    assert b.mc_se < a.draw_sd / 5
    assert b.draw_sd == pytest.approx(a.draw_sd, rel=0.08)


@pytest.mark.parametrize("name", ["entropy_correlation_within", "entropy_correlation[kind=spearman]"])
def test_drawn_correlations_of_one_vote_count_as_zero_too(name):
    """Higher is better and r(1) counts as 0, so f(N) = r(N) / r(largest), as for the exact entropy correlation."""
    counts = crowd()
    votes = votes_of(counts, groups={"source": tuple("xy"[i % 2] for i in range(len(counts)))})
    result = label_curve(votes, metrics=[name], budgets=(1, 5, 10), n_resamples=40)
    first = find(result, "value", name, 1)
    assert first.unc.estimate is None
    assert "with one vote" in first.unc.reason
    values = [find(result, "value", name, budget).unc.estimate for budget in (5, 10)]
    fraction = find(result, "fraction", name, 5).unc
    assert fraction.estimate == pytest.approx(values[0] / values[1], rel=1e-12)
    assert "counts as 0" in fraction.reason


def test_a_constant_reference_gives_no_correlation_and_counts_as_nothing():
    votes = votes_of([[4, 2], [2, 4], [4, 2]], groups={"source": ("x", "x", "y")})
    result = label_curve(votes, metrics=["entropy_correlation_within"], budgets=(1, 3), reference="all", n_resamples=9)
    assert find(result, "value", "entropy_correlation_within", 1).unc.estimate is None
    assert "undefined" in find(result, "fraction", "entropy_correlation_within", 3).unc.reason


# --- stored values ----------------------------------------------------------------------------------------------------

OURS = {
    "sq_euclid": ("brier", None),
    "tvd": ("tvd", None),
    "jsd": ("jsd", None),
    "jsd_distance": ("js_distance", None),
    "entropy_mean_plugin": ("entropy", None),
    "entropy_bias_plugin": ("entropy_bias", None),
    "entropy_abs_error_plugin": ("entropy_error", None),
    "entropy_rmse_plugin": ("entropy_rmse", None),
    "mode_agreement": ("accuracy", None),
    "entropy_corr_plugin": ("entropy_correlation", None),
    **{f"kl_full_sub_alpha_{a}": ("kl", a) for a in ("1/K", "0.5", "1", "0.01")},
    **{f"sq_euclid_dirichlet_{a}": ("brier", a) for a in ("1/K", "0.5", "1", "0.01")},
    **{f"entropy_bias_dirichlet_{a}": ("entropy_bias", a) for a in ("1/K", "0.5", "1", "0.01")},
    **{f"entropy_corr_dirichlet_{a}": ("entropy_correlation", a) for a in ("1/K", "0.5", "1", "0.01")},
}


@pytest.fixture(scope="module")
def snli(shared_data):
    path = shared_data / "chaosnli" / "data" / "chaosNLI_v1.0" / "chaosNLI_snli.jsonl"
    return votes_of([json.loads(line)["label_count"] for line in path.read_text().splitlines()])


@pytest.fixture(scope="session")
def stored(reference):
    return reference["label_side"]


def curves(votes, reference, budgets):
    """One run an alpha, with the metrics that have stored values for it."""
    found = {}
    for alpha in {alpha for _, alpha in OURS.values()}:
        names = sorted({name for name, a in OURS.values() if a == alpha})
        number = alpha if alpha in (None, "1/K") else float(alpha)
        some = [n for n in budgets if n <= 100 or alpha is None]  # larger ones take long, and raw targets cover them
        found[alpha] = label_curve(votes, metrics=names, budgets=some, reference=reference, alpha=number)
    return found


def by_budget(values, budgets):
    return values if isinstance(values, dict) else dict(zip(budgets, values, strict=True))


@pytest.fixture(scope="module")
def against_all(snli, stored):
    return curves(snli, "all", [int(n) for n in stored["hyper/snli"]["N"]])


@pytest.mark.realdata
def test_stored_values_without_replacement(against_all, stored):
    check_values(against_all, stored["hyper/snli"])


@pytest.mark.realdata
def test_stored_values_with_replacement(snli, stored):
    values = stored["multinomial/snli"]
    check_values(curves(snli, "plug_in", [int(n) for n in values["N"]]), values)


def check_values(found, values):
    stored_budgets = [str(n) for n in values["N"]]
    checked = 0
    for key, (name, alpha) in OURS.items():
        for budget, value in by_budget(values[key], stored_budgets).items():
            if int(budget) > 100 and alpha is not None:
                continue
            mine = find(found[alpha], "value", name, int(budget)).unc.estimate
            if value is None or (key.startswith("entropy_corr") and budget == "1"):
                assert mine is None
                continue
            assert mine == pytest.approx(value, abs=2e-9 if key == "entropy_rmse_plugin" else 1e-9), (key, budget)
            checked += 1
    assert checked > 200


@pytest.mark.parametrize("everybody", [True, False])
def test_where_people_are_not_in_an_interval_that_is_said(everybody):
    # 30 people vote on all 12 items: whoever they are moves every item at once; one person an item cannot
    rng = np.random.default_rng(5)
    label = (rng.random((12, 30)) < rng.random((12, 1))).astype(np.int64)
    item, person = (grid.ravel() for grid in np.meshgrid(np.arange(12), np.arange(30), indexing="ij"))
    people = person if everybody else np.arange(360)
    counts = np.stack([30 - label.sum(axis=1), label.sum(axis=1)], axis=1)
    ballots = Ballots(tuple(f"{one:03d}" for one in range(people.max() + 1)), item, people, label.ravel())
    result = label_curve(votes_of(counts, ballots=ballots), metrics=["kl", "dist_ece"], budgets=[1, 3, 10])
    told = "other annotators are not in this interval"
    for row in result.rows:
        if row.unc.interval not in {"none", "exact"}:
            assert (told in (row.unc.reason or "")) is (everybody and row.metric == "dist_ece")
            assert row.unc.design == ("items x annotators" if everybody and row.metric == "kl" else "items")
    said = [note.message for note in result.notes if note.code == "annotators_not_in_interval"]
    assert [message[:9] for message in said] == (["dist_ece:"] if everybody else [])


@pytest.mark.realdata
def test_stored_fractions(against_all, stored):
    for key, (name, alpha) in OURS.items():
        if key not in stored["hyper/snli/fractions"] or name in ("entropy", "entropy_bias"):
            continue
        for budget, value in stored["hyper/snli/fractions"][key]["fraction"].items():
            mine = find(against_all[alpha], "fraction", name, int(budget)).unc.estimate
            # the stored smoothed correlations have rounding noise of 2e-9 for r(1), which is 0 by convention here
            tolerance = 1e-8 if key.startswith("entropy_corr_dirichlet") else 1e-9
            assert mine == pytest.approx(value, abs=tolerance), (key, budget)


@pytest.mark.realdata
def test_worked_rows_and_disjoint_closed_form(snli):
    names = ["tvd", "brier", "entropy_correlation"]
    result = label_curve(snli, metrics=names, reference="all", budgets=(10,))
    assert find(result, "value", "tvd", 10).unc.estimate == pytest.approx(0.10541805786817623, abs=1e-12)
    assert find(result, "value", "brier", 10).unc.estimate == pytest.approx(0.030782082382612968, abs=1e-12)
    assert find(result, "value", "entropy_correlation", 10).unc.estimate == pytest.approx(0.759180410859503, abs=1e-12)
    spread = (1 - ((snli.counts / 100) ** 2).sum(axis=1)).mean() * 100 / 99
    disjoint = label_curve(snli, metrics=["brier", "entropy_correlation"])
    for budget in (1, 2, 3, 5, 10, 20, 50):
        value = find(disjoint, "value", "brier", budget).unc.estimate
        assert value == pytest.approx(spread * (1 / budget + 1 / 50), abs=1e-12)
    half = find(disjoint, "value", "entropy_correlation", 50).unc.estimate
    assert half == pytest.approx(0.8566697603149124, abs=1e-9)  # split_half_disjoint_exact at 50
