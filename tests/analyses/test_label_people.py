"""Label-side intervals about other people: delete-one over annotators at the same N, against loops."""

from __future__ import annotations

import numpy as np
import pytest

from saturation.analyses.labels.label_curve import label_curve
from saturation.errors import UsageError
from saturation.tables.panel import Ballots, Votes
from tests import naive


def crowd(seed, n_items=20, n_votes=6, n_people=8, lean=0.3):
    """Votes of people who name the first of two labels more or less often than others."""
    rng = np.random.default_rng(seed)
    habit = lean * rng.standard_normal(n_people)
    votes = []
    for i in range(n_items):
        p = rng.beta(0.8, 0.8)
        people = sorted(rng.choice(n_people, n_votes, replace=False).tolist())
        votes += [(i, who, int(rng.random() > np.clip(p + habit[who], 0, 1))) for who in people]
    return votes


def votes_of(votes, *, ids=True):
    votes = sorted(votes, key=lambda v: v[:2])
    counts = np.zeros((max(i for i, _, _ in votes) + 1, 2), dtype=np.int64)
    for i, _, k in votes:
        counts[i, k] += 1
    item, who, label = (np.array(column) for column in zip(*votes, strict=True))
    names = tuple(f"w{a:02d}" for a in range(who.max() + 1))
    ballots = Ballots(names, item, who, label) if ids else None
    return Votes(
        item_ids=tuple(f"i{i:02d}" for i in range(len(counts))), labels=("a", "b"), counts=counts, ballots=ballots
    )


def row_of(result, quantity, metric, budget):
    (row,) = [r for r in result.rows if (r.quantity, r.metric, r.budget) == (quantity, metric, budget)]
    return row


def mean_of(score):
    """The statistic that naive.crowd_parts takes: the mean of a score of two counts."""
    return lambda kept: sum(score([labels.count(0), labels.count(1)]) for labels in kept.values()) / len(kept)


def disagreement(c):
    """s^2 = (1 - sum h^2) n/(n - 1)."""
    n = sum(c)
    return (1 - sum((k / n) ** 2 for k in c)) * n / (n - 1)


def test_brier_adds_what_people_do_alike():
    """Score s_i^2 (1/N + 1/R): with a vote gone s_i^2 of the others, N and R stay as they are."""
    votes = crowd(1)
    both = row_of(label_curve(votes_of(votes), metrics=["brier"], budgets=[1, 2]), "value", "brier", 2)
    alone = row_of(label_curve(votes_of(votes, ids=False), metrics=["brier"], budgets=[1, 2]), "value", "brier", 2)
    assert both.reference_size == 4
    people, within = naive.crowd_parts(votes, mean_of(disagreement))
    factor = (1 / 2 + 1 / 4) ** 2
    assert people > within
    assert both.unc.se**2 == pytest.approx(alone.unc.se**2 + factor * (people - within), rel=1e-9)
    assert (both.unc.estimate, both.unc.design) == (alone.unc.estimate, "items x annotators")


@pytest.mark.parametrize(("name", "score"), [("tvd", naive.tvd), ("kl[alpha]", naive.kl)])
def test_metrics_that_are_sums_over_labels(name, score):
    """With R = 4 - 1 others where a vote is gone, shrunken by mean score at R over mean score at R - 1."""
    votes = crowd(2)
    metric, alpha = name.partition("[")[0], 0.5 if "alpha" in name else 0.0

    def at(size):
        def of_item(c):
            def drawn(target, reference):
                total = sum(target) + 2 * alpha
                return score([(k + alpha) / total for k in target], list(reference))

            return naive.draw_moments(tuple(c), drawn, "disjoint", 2, size)[0]

        return of_item

    people, within = naive.crowd_parts(votes, mean_of(at(3)))
    counts = votes_of(votes).counts.tolist()
    smaller, asked = (np.mean([at(size)(c) for c in counts]) for size in (3, 4))
    options = {"metrics": [metric], "budgets": [1, 2]}
    both = row_of(label_curve(votes_of(votes), **options), "value", metric, 2)
    alone = row_of(label_curve(votes_of(votes, ids=False), **options), "value", metric, 2)
    assert both.unc.estimate == pytest.approx(asked)
    assert people > within
    added = (asked / smaller) ** 2 * (people - within)
    assert both.unc.se**2 == pytest.approx(alone.unc.se**2 + added, rel=1e-9)


def test_a_reference_of_all_votes():
    """The law of N = 2 of n votes against the n, on n - 1 as on n; no number shrinks."""
    votes = crowd(3)

    def of_item(c):
        def drawn(target, reference):
            return naive.brier([k / 2 for k in target], list(reference))

        return naive.draw_moments(tuple(c), drawn, "all", 2)[0]

    people, within = naive.crowd_parts(votes, mean_of(of_item))
    options = {"metrics": ["brier"], "budgets": [2, 5], "reference": "all"}
    both = row_of(label_curve(votes_of(votes), **options), "value", "brier", 2)
    alone = row_of(label_curve(votes_of(votes, ids=False), **options), "value", "brier", 2)
    assert people > within
    assert both.unc.se**2 == pytest.approx(alone.unc.se**2 + people - within, rel=1e-9)


@pytest.mark.parametrize("metric", ["accuracy", "entropy_rmse", "js_distance", "entropy_correlation"])
def test_other_metrics_are_about_people_too(metric):
    votes = crowd(4, n_items=40)
    both = label_curve(votes_of(votes), metrics=[metric], budgets=[1, 2, 3])
    alone = label_curve(votes_of(votes, ids=False), metrics=[metric], budgets=[1, 2, 3])
    for one, other in zip(both.rows, alone.rows, strict=True):
        assert one.unc.estimate == other.unc.estimate
        if one.unc.interval not in ("none", "exact"):
            assert one.unc.design == "items x annotators"
            assert one.unc.se is None or one.unc.se >= other.unc.se * (1 - 1e-12)


def test_entropy_correlation_against_a_correlation_of_moments():
    """r of E[H_N H_R] and the other moments, with a vote gone: its derivative, item by item."""
    votes = crowd(5, n_items=25)
    labels = votes_of(votes)
    both = row_of(
        label_curve(labels, metrics=["entropy_correlation"], budgets=[1, 2]), "value", "entropy_correlation", 2
    )
    bare = votes_of(votes, ids=False)
    alone = row_of(
        label_curve(bare, metrics=["entropy_correlation"], budgets=[1, 2]), "value", "entropy_correlation", 2
    )

    def moment(power):
        def drawn(target, reference):
            x, y = naive.entropy_of(list(target)), naive.entropy_of(list(reference))
            return [x, y, x * x, y * y, x * y][power]

        return lambda c: naive.draw_moments(tuple(c), drawn, "disjoint", 2, 3)[0]

    cache = {}

    def moments(c):
        key = tuple(sorted(c))
        if key not in cache:
            cache[key] = np.array([moment(power)(c) for power in range(5)])
        return cache[key]

    def r(means):
        x, y, xx, yy, xy = means
        return (xy - x * y) / np.sqrt((xx - x * x) * (yy - y * y))

    whole = np.mean([moments(c) for c in labels.counts.tolist()], axis=0)
    step = 1e-5
    slope = np.array([(r(whole + step * e) - r(whole - step * e)) / (2 * step) for e in np.eye(5)])
    people, within = naive.crowd_parts(votes, mean_of(lambda c: float(slope @ moments(c))))
    assert both.unc.se**2 == pytest.approx(alone.unc.se**2 + max(people - within, 0), rel=1e-6)
    assert people > within


def test_two_votes_an_item_cannot_do_without_one():
    """N = R = 1: no vote can go, so the interval says that people are not in it."""
    result = label_curve(votes_of(crowd(6, n_votes=2)), metrics=["brier"])
    row = row_of(result, "value", "brier", 1)
    assert row.unc.low is not None
    assert "other annotators are not in this interval" in row.unc.reason
    assert row.unc.design == "items"


def test_designs_keep_items_or_people():
    """Brier at N = 2, R = 4: V_items; V_A, single votes' noise and all; both, without that noise twice."""
    votes = crowd(1)
    people, within = naive.crowd_parts(votes, mean_of(disagreement))
    scores = [disagreement(c) for c in votes_of(votes).counts.tolist()]
    factor, items = (1 / 2 + 1 / 4) ** 2, np.var(scores, ddof=1) / 20
    expected = {"items": items, "annotators": people, "items x annotators": items + people - within}
    for design, variance in expected.items():
        result = label_curve(votes_of(votes), metrics=["brier"], budgets=[1, 2], design=design)
        unc = row_of(result, "value", "brier", 2).unc
        assert unc.se**2 == pytest.approx(factor * variance, rel=1e-9)
        assert (unc.design, unc.reason, result.settings["design"]) == (design, None, design)
    codes = [note.code for note in label_curve(votes_of(votes), metrics=["brier"], design="items").notes]
    assert codes == ["crowd_size", "few_annotators"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"design": "crossed"}, "takes items, annotators"),
        ({"design": "annotators", "ids": False}, "ids of two annotators"),
        ({"design": "annotators", "estimator": "model"}, "knows no annotators"),
    ],
)
def test_designs_that_are_not_possible(options, told):
    votes = votes_of(crowd(1), ids=options.pop("ids", True))
    with pytest.raises(UsageError, match=told):
        label_curve(votes, metrics=["brier"], **options)


def test_a_fitted_law_says_that_people_are_not_in_it():
    row = row_of(
        label_curve(votes_of(crowd(1)), metrics=["brier"], budgets=[1, 2], estimator="model"), "value", "brier", 2
    )
    assert "other annotators are not in this interval" in row.unc.reason


def test_order_of_votes_and_threads_change_nothing():
    votes = crowd(7)
    one = label_curve(votes_of(votes), metrics=["kl", "accuracy"], threads=1)
    two = label_curve(votes_of(votes[::-1]), metrics=["kl", "accuracy"], threads=3)
    assert one.rows == two.rows


def test_items_that_a_budget_leaves_out_weigh_nothing_in_it():
    """Per-budget items: 15 items have 6 votes, 5 have 3; N = 4 of all leaves the latter out."""
    votes = [v for place, v in enumerate(crowd(8)) if v[0] < 15 or place % 6 < 3]
    result = label_curve(votes_of(votes), metrics=["brier"], reference="all", budgets=[1, 4], ragged="per-budget")
    kept = [v for v in votes if v[0] < 15]
    common = label_curve(votes_of(kept), metrics=["brier"], reference="all", budgets=[4])
    here, there = (row_of(r, "value", "brier", 4).unc for r in (result, common))
    assert here.estimate == there.estimate
    assert here.design == "items x annotators"
    assert here.se == pytest.approx(there.se, rel=0.06)  # items and people of the whole set stand behind n/(n - 1)
