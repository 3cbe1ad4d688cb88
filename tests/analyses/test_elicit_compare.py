"""Soft votes against plain votes: worth by construction, by enumeration, and on CIFAR-10S."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from saturation.analyses.eliciting.compare import elicit_compare
from saturation.analyses.eliciting.sides import moments
from saturation.elicitation import means_of_first
from saturation.errors import UsageError
from saturation.tables.builders import votes_from_counts
from saturation.tables.soft_votes import SoftVotes, taken


def study(n_items=150, n_soft=3, n_votes=40, worth=3, seed=0, bias=0.0):
    """A soft vote is the shares of ``worth`` plain votes: n of them are worth exactly worth x n plain votes."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.8, 0.6, 0.4], size=n_items)
    counts = np.stack([rng.multinomial(n_votes, row) for row in p])
    said = np.concatenate([rng.multinomial(worth, row, size=n_soft) / worth for row in p])
    said = (1 - bias) * said + bias / 3
    item = np.repeat(np.arange(n_items), n_soft)
    names = tuple(f"q{i:04d}" for i in range(n_items))
    soft = SoftVotes(names, tuple(f"a{i}" for i in range(len(item))), ("x", "y", "z"), item, np.arange(len(item)), said)
    return soft, votes_from_counts(counts, labels=("x", "y", "z"), item_ids=names)


def rows_of(result, quantity, metric="brier", n=None):
    return [r for r in result.rows if r.quantity == quantity and r.metric == metric and n in (None, r.n)]


def test_soft_votes_made_of_three_votes_are_worth_three():
    """Over 40 studies and two metrics the interval holds 3 n in 92-98% of the cases (240; by chance .95 +- .042)."""
    held = []
    for seed in range(40):
        result = elicit_compare(
            *study(seed=seed), metrics=("brier", "tvd"), reference_size=25, budgets=range(1, 16), n_draws=40
        )
        for metric in ("brier", "tvd"):
            for n in (1, 2, 3):
                (row,) = rows_of(result, "equivalent_votes", metric, n)
                held.append((row.unc.low or 0) <= 3 * n <= (row.unc.high or np.inf))
    assert 0.90 <= np.mean(held) <= 0.995


def test_brier_of_soft_votes_by_enumeration():
    """Two items, three soft votes, against R of n votes: the mean over all pairs, plus the noise of the reference."""
    soft, votes = study(n_items=2, n_votes=8, seed=3)
    result = elicit_compare(soft, votes, metrics=("brier",), reference_size=4, budgets=(1, 2, 4), n_draws=4000)
    expected = []
    for i in range(2):
        own = soft.probs[soft.item == i]
        h = votes.counts[i] / 8
        noise = (1 - (h**2).sum()) * 8 / 7 * (1 / 4 - 1 / 8)  # of 4 votes drawn from 8
        pairs = [own[list(two)].mean(0) for two in combinations(range(3), 2)]
        expected.append(np.mean([((m - h) ** 2).sum() for m in pairs]) + noise)
    (row,) = [r for r in rows_of(result, "value", n=2) if r.side == "soft"]
    assert abs(row.unc.estimate - np.mean(expected)) < 4.5 * row.mc_se
    (plain,) = [r for r in rows_of(result, "value", n=2) if r.side == "votes"]
    s2 = np.mean([(1 - ((c / 8) ** 2).sum()) * 8 / 7 for c in votes.counts])
    assert abs(plain.unc.estimate - s2 * (1 / 2 + 1 / 4)) < 4.5 * plain.mc_se


def test_bias_and_variance_by_hand():
    """Soft votes (1, 0) and (.5, .5); plain votes 6, 2: m = (.75, .25) is h, so only noise is taken off."""
    said = SoftVotes(
        ("q",), ("a", "b"), ("x", "y"), np.array([0, 0]), np.array([0, 1]), np.array([[1.0, 0], [0.5, 0.5]])
    )
    found = moments(said, np.array([[6, 2]]))
    assert found.variance.tolist() == [0.25]  # two labels, each (.25^2 + .25^2) / 1
    assert found.vote_noise.tolist() == [pytest.approx((1 - 0.625) * 8 / 7)]
    assert found.bias_squared.tolist() == [pytest.approx(0 - 0.375 / 7 - 0.125)]


def test_bias_is_what_stays_however_many_are_asked():
    soft, votes = study(n_items=600, bias=0.3)
    result = elicit_compare(soft, votes, metrics=("brier",), n_draws=10)
    # the mean of soft votes is .7 p + .1: off by .3 (p - 1/3), so bias^2 is .09 sum (p - 1/3)^2 on average
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.8, 0.6, 0.4], size=600)
    truth = 0.09 * ((p - 1 / 3) ** 2).sum(1).mean()
    (row,) = rows_of(result, "bias_squared")
    assert row.unc.low < truth < row.unc.high
    (limit,) = rows_of(result, "limit")
    noise = (1 - (p**2).sum(1)).mean()
    assert limit.unc.low < noise / truth < limit.unc.high
    (none,) = rows_of(elicit_compare(*study(), metrics=("brier",), n_draws=10), "limit")
    assert none.unc.estimate is None
    assert none.censored == "above"


def test_soft_votes_worse_than_any_plain_vote_are_worth_less_than_one():
    """Sure of the rarest label: told from every crowd, so at most one vote, that is at least n x 30 seconds a vote."""
    soft, votes = study(n_items=60)
    rarest = np.repeat(votes.counts.argmin(axis=1), 3)
    wrong = replace(soft, probs=np.eye(3)[rarest])
    result = elicit_compare(wrong, votes, metrics=("brier",), reference_size=25, n_draws=10, seconds_per_soft=30.0)
    (row,), (even,) = (rows_of(result, name, n=2) for name in ("equivalent_votes", "break_even_seconds"))
    assert (row.unc.estimate, row.unc.low, row.unc.high, row.censored) == (None, None, 1.0, "below")
    assert (even.unc.estimate, even.unc.low, even.unc.high, even.censored) == (None, 60.0, None, "above")
    (note,) = [note for note in result.notes if note.code == "worth"]
    assert note.message.endswith("fewer than the fewest tried [0.0, 1.0] by brier")


def test_times_follow_from_the_equivalent_number():
    options = {"metrics": ("brier",), "reference_size": 25, "n_draws": 20}
    result = elicit_compare(*study(), seconds_per_soft=30.0, seconds_per_vote=6.0, **options)
    (worth,), (even,), (ratio,) = (
        rows_of(result, name, n=2) for name in ("equivalent_votes", "break_even_seconds", "time_ratio")
    )
    assert even.unc.estimate == pytest.approx(60 / worth.unc.estimate)
    assert (even.unc.low, even.unc.high) == (
        pytest.approx(60 / worth.unc.high), pytest.approx(60 / worth.unc.low),
    )  # fmt: skip
    assert ratio.unc.estimate == pytest.approx(6 * worth.unc.estimate / 60)
    (value,) = [r for r in rows_of(result, "value", n=2) if r.side == "soft"]
    assert value.seconds == 60.0
    timed = replace(study()[0], seconds=np.full(450, 12.0))
    taken_from_table = elicit_compare(timed, study()[1], **options)
    assert taken_from_table.settings["seconds_per_soft"] == 12.0


def test_means_are_nested_and_every_soft_vote_is_drawn_alike():
    soft, _ = study(n_items=30, n_soft=4)
    first = np.stack([means_of_first(soft.probs, soft.item, 30, (1, 2, 4), draw=draw) for draw in range(400)])
    own = soft.probs.reshape(30, 4, 3)
    assert np.allclose(first[:, 2], own.mean(1), atol=1e-12)
    assert np.abs(first[:, 0].mean(0) - own.mean(1)).max() < 0.12  # sd of one at most .5; 400 draws; 4.5 sd
    for draw in range(20):
        for i in range(30):
            single = first[draw, 0, i]
            assert (np.abs(own[i] - single).sum(1) < 1e-12).any()
            assert any(np.allclose((single + other) / 2, first[draw, 1, i]) for other in own[i])
    part = taken(soft, np.array([3, 7]))
    assert np.array_equal(part.probs, soft.probs[np.isin(soft.item, [3, 7])])


def test_ragged_soft_votes_have_a_row_for_all_of_them():
    soft, votes = study(n_items=40, n_soft=4)
    keep = np.flatnonzero(~((soft.item < 20) & (np.arange(len(soft.item)) % 4 == 3)))
    ragged = replace(soft, item=soft.item[keep], annotator=soft.annotator[keep], probs=soft.probs[keep])
    result = elicit_compare(ragged, votes, metrics=("brier",), n_draws=20, seconds_per_soft=10)
    sizes = [r.n for r in result.rows if r.quantity == "value" and r.side == "soft"]
    assert sizes == [1, 2, 3, None]
    last = [r for r in result.rows if r.quantity == "value" and r.side == "soft"][-1]
    assert last.seconds == 35.0


def test_order_of_labels_and_items_does_not_matter():
    soft, votes = study(n_items=40)
    turned = replace(soft, labels=("z", "x", "y"), probs=soft.probs[:, [2, 0, 1]])
    first, second = ([r.unc.estimate for r in elicit_compare(one, votes, n_draws=5).rows] for one in (soft, turned))
    assert first == second


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s, v: (replace(s, labels=("x", "y", "w")), v, {}), "soft votes have the labels"),
        (lambda s, v: (s, v, {"reference_size": 40}), "leave none to compare with"),
        (lambda s, v: (s, v, {"budgets": (30,), "reference_size": 20}), "no item has 30 votes and 20 others"),
        (lambda s, v: (replace(s, item_ids=tuple(f"r{i}" for i in range(150))), v, {}), "no item has plain votes"),
        (lambda s, v: (s, v, {"seconds_per_vote": -1.0}), "time above 0"),
        (lambda s, v: (s, v, {"metrics": ("entropy",)}), "no better side"),
    ],
)
def test_what_cannot_be_compared_is_refused(change, message):
    soft, votes, options = change(*study())
    with pytest.raises(UsageError, match=message):
        elicit_compare(soft, votes, **options)


def test_degenerate_sides_have_reasons():
    soft, votes = study(n_items=1)
    rows = elicit_compare(soft, votes, n_draws=5).rows
    assert all(row.unc.estimate is not None or row.unc.reason for row in rows)
    assert all(
        row.unc.interval == "none" and row.unc.reason for row in rows if row.unc.low is None and row.quantity == "value"
    )
    same = replace(soft, probs=np.tile([1.0, 0, 0], (3, 1)))
    assert elicit_compare(same, votes, n_draws=5).rows


@pytest.mark.realdata
def test_cifar10s_is_worth_what_was_found_by_other_means(shared_data, tmp_path):
    """R = 35: all soft votes of an image are worth about 4.7 plain votes by Brier, 4 by TVD, 10 by entropy ranking."""
    from saturation.datasets import convert
    from saturation.tables.door import read_votes
    from saturation.tables.soft_votes import read_soft_votes

    said = shared_data / "cifar10s/cifar10s_data/human_soft_labels_data.json"
    convert("cifar10s", said, tmp_path / "s")
    convert("cifar10h", next((shared_data / "cifar10h").rglob("*counts*.npy")), tmp_path / "h")
    soft = read_soft_votes(tmp_path / "s/soft_votes.parquet")
    votes = read_votes(tmp_path / "h/vote_counts.parquet")
    result = elicit_compare(soft, votes, reference_size=35, n_draws=60)
    assert result.data.n_items == 1000 or result.data.n_items > 900
    for metric, point in (("brier", 4.7), ("tvd", 4.0), ("entropy_correlation", 10.0)):
        (row,) = [r for r in rows_of(result, "equivalent_votes", metric) if r.n is None]
        assert row.unc.low < point < row.unc.high, (metric, row.unc)
