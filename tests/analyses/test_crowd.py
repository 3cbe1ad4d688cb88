"""What moves when annotators do: delete-one, less the noise of single votes that the items' spread holds already."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest

from saturation.analyses.annotator_part import annotators_part, moves_of
from saturation.analyses.context import corrected, plain, samples
from saturation.analyses.deleted_groups import groups_of, shuffled
from saturation.analyses.evaluate import evaluate
from saturation.conditions import Condition
from saturation.metrics.catalogue import metric, metrics_of
from saturation.metrics.metric import Human
from saturation.tables.panel import Ballots, Panel, Votes
from tests import naive


def panel_of(votes, probs, splits=None, groups=None):
    """A panel of (item, annotator, label) votes and one (conditions, seeds, items, labels) array a split."""
    votes = sorted(votes, key=lambda v: (v[0], v[1]))
    n_items, n_labels = max(i for i, _, _ in votes) + 1, probs[0].shape[-1]
    counts = np.zeros((n_items, n_labels), dtype=np.int64)
    for i, _, k in votes:
        counts[i, k] += 1
    names = sorted({who for _, who, _ in votes})
    item, who, label = (np.array(column) for column in zip(*votes, strict=True))
    ballots = Ballots(tuple(f"w{name:03d}" for name in names), item, np.searchsorted(names, who), label)
    one = Votes(
        item_ids=tuple(f"i{i:03d}" for i in range(n_items)),
        labels=tuple("abcdefgh"[:n_labels]),
        counts=counts,
        ballots=ballots,
        groups=groups or {},
    )
    splits = splits or [np.arange(n_items)]
    return Panel(
        votes=one,
        conditions=tuple(Condition.of(model="m", budget=c + 1) for c in range(len(probs[0]))),
        splits=tuple(f"s{s}" for s in range(len(splits))),
        seeds=tuple(tuple(range(p.shape[1])) for p in probs),
        items_of_split=tuple(splits),
        probs=tuple(probs),
        has_draws=True,
        summary=one.summary,
    )


def crowd_votes(seed=0, n_items=18, n_votes=4, n_people=7, *, repeats=True, singles=True):
    rng = np.random.default_rng(seed)
    votes = []
    for i in range(n_items):
        p = rng.dirichlet([0.7, 0.7, 0.7])
        votes += [(i, int(who), int(rng.choice(3, p=p))) for who in rng.choice(n_people, n_votes, replace=False)]
        if repeats and i % 5 == 0:
            votes.append((i, votes[-1][1], int(rng.choice(3))))
    if singles:
        votes += [(n_items, 0, 1), (n_items + 1, 3, 2), (n_items + 2, 3, 0), (n_items + 2, 3, 1)]
    return votes


def probs_of(seed, n_conditions, n_seeds, n_items):
    return np.random.default_rng(seed).dirichlet([1.0, 1.0, 1.0], (n_conditions, n_seeds, n_items))


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_two_people_by_hand():
    """Two items, x and y name a, a on the first and a, b on the second; the model says (1, 0).

    Brier now: 0 and .5 (h = (.5, .5)): mean .25. Without x: item 1 stays, item 2 is b: 2, + 1.5/2; without y: item 2 is
    a: 0, - .5/2. About their mean (.25): psi = +.5 and -.5. V_A = V_w = 1/2 (.25 + .25) = .25.
    """
    panel = panel_of([(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 1)], [np.array([[[[1.0, 0.0], [1.0, 0.0]]]])])
    part = annotators_part(panel, [metric("brier")], seed=0)
    assert (part.covariance[0, 0], part.within[0, 0], part.df) == (pytest.approx(0.25), pytest.approx(0.25), 1.0)


def test_two_people_who_differ_alike_by_hand():
    """x names a, y names b on three items: psi = +-.5 on each by the arithmetic above, with 1/3 in place of 1/2.

    Brier .5 each; without x the item is b: 2, without y it is a: 0; about the mean (+.5): psi = +-1/3. D = +-1,
    V_A = 1/2 (1 + 1) = 1, V_w = 1/2 6/9 = 1/3.
    """
    votes = [(i, who, who) for i in range(3) for who in range(2)]
    panel = panel_of(votes, [np.tile([1.0, 0.0], (1, 1, 3, 1))])
    part = annotators_part(panel, [metric("brier")], seed=0)
    assert (part.covariance[0, 0], part.within[0, 0]) == (pytest.approx(1.0), pytest.approx(1 / 3))


def test_items_with_a_single_vote_go_with_their_annotator():
    """Three people with two items each, one vote an item: V_A is the jackknife of the mean over people.

    Scores with the model at (1, 0): 0 for a vote for a, 2 for b. People's sums: x 0 + 0, y 0 + 2, z 2 + 2; mean 1.
    Without x 6/4 = 1.5, without y 4/4, without z 2/4: D = .5, 0, -.5. V_A = 2/3 .5 = 1/3.
    V_w is V_items = 1.2/6 = .2 (six scores, three 0 and three 2: variance 6/5): nothing else is noise of votes.
    """
    labels = [0, 0, 0, 1, 1, 1]
    panel = panel_of([(i, i // 2, k) for i, k in enumerate(labels)], [np.tile([1.0, 0.0], (1, 1, 6, 1))])
    part = annotators_part(panel, [metric("brier")], seed=0)
    assert (part.covariance[0, 0], part.within[0, 0]) == (pytest.approx(1 / 3), pytest.approx(0.2))


# --- against loops ----------------------------------------------------------------------------------------------------


NAMES = (
    "brier",
    "kl",
    "accuracy",
    "entropy_bias",
    "entropy_correlation",
    "dist_ece",
    "macro_f1",
    "reverse_kl",
    "entropy",
)


@pytest.mark.parametrize("name", NAMES)
def test_parts_against_loops(name):
    """Every statistic anew without each vote; two splits that share items, two seeds, repeats and single votes."""
    votes = crowd_votes()
    splits = [np.arange(15), np.arange(9, 21)]
    probs = [probs_of(1, 2, 2, 15), probs_of(2, 2, 2, 12)]
    panel = panel_of(votes, probs, splits)
    one = metric(name, bins=4)
    part = annotators_part(panel, [one], seed=0)
    for c in range(2):

        def statistic(kept, c=c):
            cells = []
            for of_split, items in zip(probs, splits, strict=True):
                there = [i for i in items if i in kept]
                rows = [list(items).index(i) for i in there]
                counts = np.array([[Counter(kept[i])[k] for k in range(3)] for i in there])
                cells += [float(plain(one).value(of_split[c][None, t][:, rows], Human(counts))[0]) for t in range(2)]
            return sum(cells) / len(cells)

        people, noise = naive.crowd_parts(votes, statistic)
        assert part.covariance[c, c] == pytest.approx(people, rel=1e-6, abs=1e-18)
        assert part.within[c, c] == pytest.approx(noise, rel=1e-6, abs=1e-18)


def test_covariances_are_those_of_sums_and_differences():
    """V(a - b) of two conditions is what the scores' difference gives by itself."""
    votes = crowd_votes(3)
    probs = probs_of(4, 2, 1, 21)
    panel = panel_of(votes, [probs])
    part = annotators_part(panel, [metric("brier"), metric("tvd")], seed=0)

    def statistic(kept):
        total = 0.0
        for i, labels in kept.items():
            c = [labels.count(k) for k in range(3)]
            total += naive.brier(list(probs[0, 0, i]), c) - naive.tvd(list(probs[1, 0, i]), c)
        return total / len(kept)

    contrast = np.array([1.0, 0.0, 0.0, -1.0])  # brier of the first condition, tvd of the second
    people, noise = naive.crowd_parts(votes, statistic)
    assert contrast @ part.covariance @ contrast == pytest.approx(people, rel=1e-9)
    assert contrast @ part.within @ contrast == pytest.approx(noise, rel=1e-9)


def test_rank_statistics_are_computed_anew_without_everybody():
    """A <= 50: D_a = T_(a) - T, less what a lost vote does alike; V_A from it."""
    votes = crowd_votes(5, singles=False)
    panel = panel_of(votes, [probs_of(6, 1, 1, 18)])
    (moved,) = moves_of(samples(panel, None)[0], [plain(metric("spearman"))], seed=0)
    gaps = []
    for gone in range(7):
        left = [v for v in votes if v[1] != gone]
        gaps.append(spearman_of(left, panel) - spearman_of(votes, panel))
    loads = [sum(who == gone for _, who, _ in votes) for gone in range(7)]
    expected = [g - n / len(votes) * sum(gaps) for g, n in zip(gaps, loads, strict=True)]
    assert moved.people[0] == pytest.approx(expected, rel=1e-9)
    assert moved.noise.shape == (1, 14)
    assert 0 < moved.variances[1][0] < 10 * moved.variances[0][0]


def spearman_of(votes, panel):
    counts = np.zeros((18, 3), dtype=np.int64)
    for i, _, k in votes:
        counts[i, k] += 1
    x = naive.mid_ranks([round(naive.entropy(list(p)), 12) for p in panel.probs[0][0, 0]])
    y = naive.mid_ranks([round(naive.entropy_of(list(c)), 12) for c in counts])
    return naive.pearson(x, y)


def test_shuffled_votes_keep_items_and_loads():
    votes = crowd_votes(7)
    panel = panel_of(votes, [probs_of(8, 1, 1, 21)])
    ballots = panel.votes.ballots
    other = shuffled(ballots, panel.votes.counts, 0, 1)
    assert not np.array_equal(other.label, ballots.label)
    assert np.array_equal(np.bincount(other.annotator), np.bincount(ballots.annotator))
    both = [Counter(zip(b.item.tolist(), b.label.tolist(), strict=True)) for b in (ballots, other)]
    assert both[0] == both[1]


def test_groups_vote_alike_often():
    """120 people with 1 to 120 votes in 50 groups."""
    who = np.repeat(np.arange(120), np.arange(1, 121))
    ballots = Ballots(tuple(f"{i:03d}" for i in range(120)), np.arange(len(who)), who, np.zeros(len(who), dtype=int))
    group = groups_of(ballots)
    loads = np.bincount(group, weights=np.arange(1, 121))
    assert len(loads) == 50
    assert loads.max() < 1.6 * loads.min()


# --- what it is for ---------------------------------------------------------------------------------------------------


def test_a_planted_crowd_effect_is_found_and_none_is_not():
    """Scores linear in votes: of a person who names b more often than others by u_a, sd(u) = .15, A = 12.

    top_vote_share with the model at a is 1 minus the share of b: V_A - V_w estimates .15^2/12 = .001875; without
    habits 0. 300 studies each: the means lie within four standard errors.
    """
    rng = np.random.default_rng(11)
    found = {0.0: [], 0.15: []}
    for sd, gaps in found.items():
        for _ in range(300):
            lean = sd * rng.standard_normal(12)
            p = rng.uniform(0.35, 0.65, 40)
            votes = []
            for i in range(40):
                people = rng.choice(12, 4, replace=False)
                votes += [(i, int(who), int(rng.random() < np.clip(p[i] + lean[who], 0, 1))) for who in people]
            votes += [(0, who, 0) for who in range(12) if all(v[1] != who for v in votes)]
            part = annotators_part(panel_of(votes, [np.tile([1.0, 0.0], (1, 1, 40, 1))]), [metric("top_vote_share")], 0)
            gaps.append(part.covariance[0, 0] - part.within[0, 0])
    for sd, gaps in found.items():
        assert abs(np.mean(gaps) - sd**2 / 12) < 4 * np.std(gaps) / 300**0.5


def test_intervals_are_never_narrower_than_with_independent_votes():
    panel = panel_of(crowd_votes(13, n_items=30, singles=False), [probs_of(14, 1, 3, 30)])
    bare = dataclasses.replace(panel, votes=dataclasses.replace(panel.votes, ballots=None))
    names = ("brier", "kl", "tvd", "accuracy", "entropy_correlation", "dist_ece")
    for wide, narrow in zip(evaluate(panel, metrics=names).rows, evaluate(bare, metrics=names).rows, strict=True):
        assert wide.unc.se >= narrow.unc.se * (1 - 1e-12), wide.metric


def test_evaluate_adds_the_part_and_says_its_design():
    panel = panel_of(crowd_votes(15, singles=False), [probs_of(16, 1, 1, 18)])
    row = evaluate(panel, metrics=("brier",)).rows[0]
    part = annotators_part(panel, [metric("brier")], seed=0)
    scores = [naive.brier(list(m), list(c)) for m, c in zip(panel.probs[0][0, 0], panel.votes.counts, strict=True)]
    items = np.var(scores, ddof=1) / 18
    assert row.unc.se == pytest.approx(math.sqrt(items + max(part.covariance[0, 0] - part.within[0, 0], 0)), rel=1e-9)
    assert (row.unc.interval, row.unc.design, row.unc.n_resamples) == ("linearized_t", "items x annotators", None)


def test_corrections_that_need_two_votes_move_as_their_plain_scores_do():
    """Items with two votes: the corrected Brier score of the one that is left does not exist."""
    votes = crowd_votes(17, n_votes=2, repeats=False, singles=False)
    panel = panel_of(votes, [probs_of(18, 1, 1, 18)])
    of_plain, of_corrected = moves_of(
        samples(panel, None)[0], [plain(metric("brier")), corrected(metric("brier"))], seed=0
    )
    assert of_corrected.people == pytest.approx(of_plain.people)
    assert evaluate(panel, metrics=("brier",)).rows[0].corrected_low is not None


def test_entropies_of_two_votes_show_nothing_of_the_people():
    """Without either of two votes an item has the same entropy, 0: that is not a crowd without habits."""
    panel = panel_of(crowd_votes(19, n_votes=2, repeats=False, singles=False), [probs_of(20, 1, 1, 18)])
    rows = {row.metric: row for row in evaluate(panel, metrics=("entropy_bias", "brier")).rows}
    assert rows["entropy_bias"].unc.low is None
    assert "alike whosever vote" in rows["entropy_bias"].unc.reason
    assert rows["brier"].unc.low is not None


def test_a_metric_of_the_model_alone_does_not_move():
    panel = panel_of(crowd_votes(21, n_votes=2, repeats=False), [probs_of(22, 1, 1, 21)])
    row = evaluate(panel, metrics=("entropy",)).rows[0]
    assert row.unc.low is not None


def test_names_order_and_threads_change_nothing():
    votes = crowd_votes(23)
    probs = [probs_of(24, 2, 3, 21)]
    names = ("kl", "entropy_correlation", "spearman", "dist_ece")
    one = evaluate(panel_of(votes, probs), metrics=names, threads=1)
    two = evaluate(panel_of(votes[::-1], probs), metrics=names, threads=3)
    assert one.rows == two.rows
    alone = evaluate(panel_of(votes, probs), metrics=("kl",), threads=2)
    assert alone.rows == tuple(row for row in one.rows if row.metric == "kl")


def test_conditions_alone_and_together_agree():
    votes, probs = crowd_votes(25), probs_of(26, 3, 2, 21)
    whole = annotators_part(panel_of(votes, [probs]), metrics_of(["kl", "spearman"]), seed=0)
    alone = annotators_part(panel_of(votes, [probs[1:2]]), metrics_of(["kl", "spearman"]), seed=0)
    rows = np.ix_([1, 4], [1, 4])
    assert np.array_equal(np.diag(whole.covariance[rows]), np.diag(alone.covariance))
    assert np.array_equal(np.diag(whole.within[rows]), np.diag(alone.within))
