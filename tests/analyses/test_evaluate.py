"""evaluate: numbers by hand and by loops, intervals against scipy, coverage, invariances, reasons."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

from saturation.analyses.evaluate import evaluate
from saturation.conditions import Condition
from saturation.errors import UsageError
from saturation.metrics import corrections
from saturation.resampling.draw import annotator_weights, item_weights, redraw_votes, seed_weights
from saturation.resampling.linearized import ONE_SEED
from saturation.results import EvaluateRow, flatten
from saturation.tables.builders import panel_from_arrays
from saturation.tables.panel import Ballots, Panel, Votes
from tests import naive

LABELS = ("a", "b", "c")


def panel_of(counts, probs, items=None, *, ballots=None, groups=None, has_draws=True, conditions=None):
    """A panel from one (conditions, seeds, items, labels) array a split."""
    counts = np.asarray(counts)
    items = [np.arange(len(counts)) for _ in probs] if items is None else items
    votes = Votes(
        item_ids=tuple(f"i{i:04d}" for i in range(len(counts))),
        labels=LABELS[: counts.shape[1]],
        counts=counts,
        ballots=ballots,
        groups=groups or {},
    )
    n_conditions = len(probs[0])
    named = tuple(Condition.of(model="m", method="soft", budget=b + 1) for b in range(n_conditions))
    return Panel(
        votes=votes,
        conditions=conditions or named,
        splits=tuple(str(42 + s) for s in range(len(probs))),
        seeds=tuple(tuple(range(one.shape[1])) for one in probs),
        items_of_split=tuple(items),
        probs=tuple(np.asarray(one, dtype=float) for one in probs),
        has_draws=has_draws,
        summary=votes.summary,
    )


def study(seed=0, *, n_items=40, n_seeds=3, n_splits=1, n_conditions=2, n_votes=10, n_annotators=0, seed_sd=0.1):
    """A made-up study: models are blurred truths, training seeds differ in how blurred."""
    generator = np.random.default_rng(seed)
    p = generator.dirichlet(np.ones(3), size=n_items)
    ballots = None
    if n_annotators:
        ballots = ballots_of(generator, p, n_votes, n_annotators)
        counts = np.zeros((n_items, 3), dtype=np.int64)
        np.add.at(counts, (ballots.item, ballots.label), 1)
    else:
        counts = generator.multinomial(n_votes, p)
    items, probs = [np.arange(n_items)], []
    if n_splits > 1:
        items = [np.sort(generator.choice(n_items, n_items * 3 // 5, replace=False)) for _ in range(n_splits)]
    for chosen in items:
        blur = np.clip(generator.normal(0.3, seed_sd, (n_conditions, n_seeds, 1, 1)), 0, 0.8)
        noise = generator.dirichlet(np.ones(3), size=(n_conditions, n_seeds, len(chosen)))
        probs.append((0.85 - blur) * p[chosen] + blur / 3 + 0.15 * noise)
    return panel_of(counts, probs, items, ballots=ballots)


def ballots_of(generator, p, n_votes, n_annotators):
    """Each annotator has a favourite label and gives in to it at a rate of their own."""
    rate, favourite = generator.beta(1, 4, n_annotators), generator.integers(3, size=n_annotators)
    item = np.repeat(np.arange(len(p)), n_votes)
    who = np.concatenate([np.sort(generator.choice(n_annotators, n_votes, replace=False)) for _ in p])
    law = (1 - rate[who, None]) * p[item] + rate[who, None] * np.eye(3)[favourite[who]]
    label = (generator.random(len(item))[:, None] > law.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return Ballots(tuple(f"w{a:03d}" for a in range(n_annotators)), item, who, label)


def only(result, metric, condition=0):
    rows = [row for row in result.rows if row.metric == metric]
    return rows[condition]


# --- numbers by hand ----------------------------------------------------------------------------------------------


def test_brier_by_hand():
    """h = (.75, .25), (0, 1); m = (.5, .5), (.5, .5): scores .125, .5; mean .3125, sd .265165, se .1875.

    floor (1 - sum h^2)/(n - 1): .375/3 = .125 and 0; corrected scores 0 and .5, mean .25.
    t_{.975, 1} = 12.7062.
    """
    result = evaluate(panel_of([[3, 1], [0, 4]], [np.full((1, 1, 2, 2), 0.5)]), metrics=("brier",))
    row = only(result, "brier")
    assert row.unc.estimate == pytest.approx(0.3125)
    assert row.unc.se == pytest.approx(0.1875)
    assert row.unc.low == pytest.approx(0.3125 - 12.7062047 * 0.1875)
    assert (row.unc.interval, row.unc.reason) == ("linearized_t", ONE_SEED)
    assert row.floor == pytest.approx(0.0625)
    assert row.corrected == pytest.approx(0.25)
    assert row.corrected_low == pytest.approx(0.25 - 12.7062047 * 0.25)


def test_mean_over_cells_and_their_sd():
    """Two seeds that always say a, one that always says b; all votes a: accuracy 1, 1, 0."""
    probs = np.zeros((1, 3, 4, 2))
    probs[0, :2, :, 0] = 1
    probs[0, 2, :, 1] = 1
    row = only(evaluate(panel_of([[5, 0]] * 4, [probs]), metrics=("accuracy",)), "accuracy")
    assert row.unc.estimate == pytest.approx(2 / 3)
    assert row.cell_sd == pytest.approx(math.sqrt(1 / 3))
    assert (row.unc.n_cells, row.unc.n_items) == (3, 4)


def test_few_seeds_equal_the_formulas_with_loops():

    panel = study(3, n_splits=3)
    row = only(evaluate(panel, metrics=("tvd",)), "tvd", 1)
    z = []
    for items, probs in zip(panel.items_of_split, panel.probs, strict=True):
        h = panel.votes.counts[items] / panel.votes.counts[items].sum(axis=1, keepdims=True)
        z.append((np.abs(probs[1] - h).sum(axis=2) / 2).tolist())
    expected = naive.few_seeds_variance(z, panel.items_of_split)
    half = stats.t.ppf(0.975, expected["df"]) * expected["variance"] ** 0.5
    assert row.unc.estimate == pytest.approx(np.mean([np.mean(of_seed) for split in z for of_seed in split]))
    assert row.unc.se == pytest.approx(expected["variance"] ** 0.5)
    assert (row.unc.low, row.unc.high) == pytest.approx((row.unc.estimate - half, row.unc.estimate + half))


def test_bca_of_overlapping_splits_equals_scipys():
    """One item in two splits is resampled, and deleted, in both; scipy gets the same resamples."""
    panel = study(1, n_splits=2, n_seeds=10, n_conditions=1)
    row = only(evaluate(panel, metrics=("brier",), n_resamples=300, rng=5), "brier")
    assert row.unc.interval == "bca"
    ranks = np.unique(np.concatenate(panel.items_of_split))

    def statistic(weights):
        of_cells = []
        for items, probs in zip(panel.items_of_split, panel.probs, strict=True):
            w = weights[np.searchsorted(ranks, items)]
            h = panel.votes.counts[items] / 10
            of_cells += [(w * s).sum() / w.sum() for s in ((probs[0] - h) ** 2).sum(axis=2)]
        return np.mean(of_cells)

    drawn = np.array([statistic(w) for w in item_weights(5, 0, 300, len(ranks))])
    whole = np.ones(len(ranks))
    deleted = np.array([statistic(whole - np.eye(len(ranks))[u]) for u in range(len(ranks))])
    share = ((drawn < statistic(whole)).mean() + (drawn <= statistic(whole)).mean()) / 2
    d = deleted.mean() - deleted
    a = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
    z0, z = stats.norm.ppf(share), stats.norm.ppf([0.025, 0.975])
    ends = np.quantile(drawn, stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z))))
    assert (row.unc.low, row.unc.high) == pytest.approx(tuple(ends), rel=1e-12)
    assert row.unc.se == pytest.approx(drawn.std(ddof=1), rel=1e-12)


def test_crossed_redraws_seeds_together_with_items():
    panel = study(2, n_seeds=10, n_conditions=1)
    row = only(evaluate(panel, metrics=("brier",), design="crossed", n_resamples=200, rng=1), "brier")
    scores = ((panel.probs[0][0] - panel.votes.counts / 10) ** 2).sum(axis=2)
    of_items, of_seeds = item_weights(1, 0, 200, 40), seed_weights(1, 0, 200, (10,))[0]
    drawn = [(v[:, None] * w * scores).sum() / 400 for w, v in zip(of_items, of_seeds, strict=True)]
    expected = np.quantile(drawn, [0.025, 0.975])
    assert (row.unc.low, row.unc.high) == pytest.approx(tuple(expected), rel=1e-12)
    assert (row.unc.interval, row.unc.design, row.unc.n_resamples) == ("percentile", "crossed", 200)


def test_redrawn_votes_give_a_spread_around_the_estimate():
    """T +- z sd(T*); the corrected value with sd of the corrected T* and sqrt(n/(n-1)), n the harmonic mean."""
    panel = study(4, n_conditions=1, n_items=12)
    counts = panel.votes.counts.copy()
    counts[0] = [3, 1, 0]
    panel = replace(panel, votes=replace(panel.votes, counts=counts))
    row = only(evaluate(panel, metrics=("brier",), design="votes", n_resamples=150, rng=2), "brier")

    def both(c):
        h, n = c / c.sum(axis=1, keepdims=True), c.sum(axis=1)
        score = ((panel.probs[0][0] - h) ** 2).sum(axis=2)
        return score.mean(), (score - (1 - (h**2).sum(axis=1)) / (n - 1)).mean()

    drawn = np.array([both(c) for c in redraw_votes(2, 0, 150, counts)])
    n = 12 / (1 / 4 + 11 / 10)
    half = 1.959963985 * drawn.std(axis=0, ddof=1) * [1, math.sqrt(n / (n - 1))]
    value, corrected = both(counts)
    assert (row.unc.low, row.unc.high) == pytest.approx((value - half[0], value + half[0]), rel=1e-8)
    assert (row.corrected_low, row.corrected_high) == pytest.approx(
        (corrected - half[1], corrected + half[1]), rel=1e-8
    )


def test_annotator_weights_move_every_vote_of_a_person():
    panel = study(5, n_conditions=1, n_annotators=25)
    row = only(evaluate(panel, metrics=("brier",), design="annotators", n_resamples=120, rng=3), "brier")
    ballots = panel.votes.ballots
    drawn = []
    for weights in annotator_weights(3, 0, 120, 25):
        c = np.zeros((40, 3))
        for i, who, k in zip(ballots.item, ballots.annotator, ballots.label, strict=True):
            c[i, k] += weights[who]
        drawn.append(((panel.probs[0][0] - c / c.sum(axis=1, keepdims=True)) ** 2).sum(axis=2).mean())
    half = 1.959963985 * np.std(drawn, ddof=1) * math.sqrt(11 / 9)
    assert row.unc.high - row.unc.estimate == pytest.approx(half, rel=1e-8)
    assert row.corrected_high - row.corrected == pytest.approx(half, rel=1e-8)
    assert (row.unc.interval, row.unc.design) == ("normal", "annotators")


def test_few_annotators_are_left_out_one_by_one():
    """sd^2 = (A - 1)/A sum (T_(a) - mean)^2, t with A - 1."""
    panel = study(6, n_conditions=1, n_annotators=12)
    row = only(evaluate(panel, metrics=("brier",), design="annotators"), "brier")
    ballots, deleted = panel.votes.ballots, []
    for gone in range(12):
        c = np.zeros((40, 3))
        kept = ballots.annotator != gone
        np.add.at(c, (ballots.item[kept], ballots.label[kept]), 1)
        deleted.append(((panel.probs[0][0] - c / c.sum(axis=1, keepdims=True)) ** 2).sum(axis=2).mean())
    sd = math.sqrt(11 / 12 * sum((t - np.mean(deleted)) ** 2 for t in deleted))
    assert row.unc.se == pytest.approx(sd, rel=1e-9)
    assert row.unc.high == pytest.approx(row.unc.estimate + stats.t.ppf(0.975, 11) * sd, rel=1e-9)
    assert row.unc.interval == "jackknife"


@pytest.mark.parametrize("n_seeds", [3, 10])
def test_annotators_add_what_they_do_alike(n_seeds):
    """V = V (items, few seeds) + max(V_A - V_w, 0), for any number of training seeds."""
    panel = study(2, n_conditions=1, n_annotators=12, n_seeds=n_seeds)
    without = replace(panel, votes=replace(panel.votes, ballots=None))
    ballots = panel.votes.ballots
    probs = panel.probs[0][0]

    def mean(kept):
        total = 0.0
        for i, labels in kept.items():
            c = [labels.count(k) for k in range(3)]
            total += sum(naive.brier(list(m[i]), c) for m in probs) / n_seeds
        return total / len(kept)

    votes = list(zip(ballots.item.tolist(), ballots.annotator.tolist(), ballots.label.tolist(), strict=True))
    people, within = naive.crowd_parts(votes, mean)
    items = only(evaluate(without, metrics=("brier",), interval="linearized_t"), "brier")
    both = only(evaluate(panel, metrics=("brier",)), "brier")
    assert people > within
    assert both.unc.se**2 == pytest.approx(items.unc.se**2 + people - within, rel=1e-9)
    assert (both.unc.design, both.unc.interval) == ("items x annotators", "linearized_t")


def test_correlations_use_fishers_z_where_votes_are_redrawn():
    result = evaluate(study(5, n_annotators=25), metrics=("entropy_correlation",), design="annotators", n_resamples=200)
    unc = only(result, "entropy_correlation").unc
    below, above = (np.arctanh(unc.estimate) - np.arctanh(unc.low)), (np.arctanh(unc.high) - np.arctanh(unc.estimate))
    assert below == pytest.approx(above, rel=1e-9)
    assert unc.high - unc.estimate < unc.estimate - unc.low


def test_disattenuated_correlation_is_r_over_the_root_of_the_reliability():
    from saturation.analyses.entropy_reliability import reliability

    panel = study(7, n_items=60)
    row = only(evaluate(panel, metrics=("entropy_correlation",)), "entropy_correlation")
    known = reliability(panel.votes.counts)
    assert row.corrected == pytest.approx(row.unc.estimate / known.value**0.5, rel=1e-9)
    assert row.corrected_low < row.corrected < row.corrected_high


# --- rows, groups, cells, notes -----------------------------------------------------------------------------------


def test_every_row_has_the_documented_keys():
    keys = ["metric", "condition", "model", "method", "budget", "strength", "alpha", "group", "split", "seed"]
    keys += ["direction", "estimate", "low", "high", "se", "level", "interval", "estimator", "design", "n_resamples"]
    keys += ["n_items", "n_cells", "reason", "cell_sd", "floor", "corrected", "corrected_low", "corrected_high"]
    result = evaluate(study(), n_resamples=50)
    assert all(list(record) == keys for record in result.records())
    assert len(result.rows) == 7 * 2
    assert all(r.unc.low is not None or r.unc.reason for r in result.rows)


def test_by_cell_names_every_split_and_seed():
    panel = study(n_splits=2)
    whole = only(evaluate(panel, metrics=("kl",)), "kl")
    cells = [r for r in evaluate(panel, metrics=("kl",), by="cell").rows if r.condition == panel.conditions[0]]
    assert [(r.split, r.seed) for r in cells] == [(s, t) for s in ("42", "43") for t in range(3)]
    assert np.mean([r.unc.estimate for r in cells]) == pytest.approx(whole.unc.estimate)
    assert np.std([r.unc.estimate for r in cells], ddof=1) == pytest.approx(whole.cell_sd)
    assert all(ONE_SEED in r.unc.reason and r.cell_sd is None for r in cells)


def test_by_group_is_the_panel_of_that_group_alone():
    panel = study(n_annotators=25)
    source = tuple("x" if i % 3 else "y" for i in range(40))
    grouped = replace(panel, votes=replace(panel.votes, groups={"source": source}))
    rows = evaluate(grouped, metrics=("kl", "entropy_correlation"), by="source", n_resamples=40).rows
    assert [(r.metric, r.group) for r in rows[:2]] == [("kl", "x"), ("kl", "y")]
    x = np.flatnonzero(np.array(source) == "x")
    alone = replace(
        panel, votes=panel.votes.take(x), items_of_split=(np.arange(len(x)),), probs=(panel.probs[0][:, :, x],)
    )
    expected = evaluate(alone, metrics=("kl", "entropy_correlation"), n_resamples=40).rows
    got = [replace(r, group=None) for r in rows if r.group == "x"]
    assert [flatten(r) for r in got] == [flatten(r) for r in expected]


def test_items_without_a_group_are_counted():
    panel = study()
    grouped = replace(panel, votes=replace(panel.votes, groups={"source": (None, None, *("x",) * 38)}))
    result = evaluate(grouped, metrics=("kl",), by="source")
    assert [(r.group, r.unc.n_items) for r in result.rows] == [("x", 38)] * 2
    assert next(n.message for n in result.notes if n.code == "ungrouped") == "2 items have no source and are in no row"


def test_entropy_correlation_never_comes_without_its_twin_within_sources():
    panel = study()
    grouped = replace(panel, votes=replace(panel.votes, groups={"corpus": ("x", "y") * 20}))
    names = [r.metric for r in evaluate(grouped, metrics=("entropy_correlation", "kl")).rows]
    assert names == ["entropy_correlation"] * 2 + ["entropy_correlation_within"] * 2 + ["kl"] * 2


def test_unknown_things_are_refused_with_the_choices():
    panel = study()
    for options, words in [
        ({"by": "corpus"}, "no group column"),
        ({"design": "annotators"}, "needs annotator ids"),
        ({"design": "bogus"}, "unknown design"),
        ({"interval": "bogus"}, "unknown interval"),
        ({"interval": "studentized"}, "not defined"),
        ({"level": 95}, "between 0 and 1"),
        ({"n_resamples": 1}, "at least 2"),
        ({"design": "crossed", "interval": "bca"}, "percentile or basic"),
    ]:
        with pytest.raises(UsageError, match=words):
            evaluate(panel, metrics=("kl",), **options)


@pytest.mark.parametrize("interval", ["percentile", "bca", "basic"])
@pytest.mark.parametrize("design", ["votes", "annotators", None, "crossed"])
def test_resamples_of_votes_have_no_centre(design, interval):
    with pytest.raises(UsageError, match="never a centre"):
        evaluate(study(n_annotators=20), metrics=("kl",), design=design, interval=interval)


def codes(result):
    return {note.code for note in result.notes}


def test_notes_say_what_is_assumed():
    assert codes(evaluate(study(), metrics=("kl",))) == {"annotators_unknown", "few_seeds"}
    assert codes(evaluate(study(n_seeds=1), metrics=("dist_ece",))) == {
        "annotators_unknown", "one_seed", "calibration_biased_up",
    }  # fmt: skip
    assert codes(evaluate(study(n_seeds=10), metrics=("kl",), n_resamples=20)) == {"annotators_unknown", "seeds_fixed"}
    assert codes(evaluate(study(n_annotators=12), metrics=("kl",))) == {"crowd_size", "few_annotators", "few_seeds"}
    assert codes(evaluate(study(n_annotators=30), metrics=("kl",))) == {"crowd_size", "few_seeds"}
    left_out = evaluate(study(n_annotators=30), metrics=("kl",), design="items")
    assert codes(left_out) == {"crowd_size", "few_annotators", "few_seeds"}
    shared_draw = replace(study(), has_draws=False)
    assert "no_draw_column" in codes(evaluate(shared_draw, metrics=("kl",)))


def test_every_metric_has_rows_and_every_number_an_interval_or_a_reason():
    for made, options in SCHEMES:
        panel = study(8, n_conditions=1, **{"n_items": 30, **made})
        for row in evaluate(panel, metrics=("all",), n_resamples=30, threads=1, **options).rows:
            assert row.unc.low is not None or row.unc.reason, row.metric
            assert row.unc.estimate is None or math.isfinite(row.unc.estimate)


def test_calibration_errors_are_not_resampled_by_default():
    """A resample is noisier than the sample, so a percentile or BCa interval lies beside the estimate."""
    row = only(evaluate(study(n_seeds=10), metrics=("dist_ece",), n_resamples=50), "dist_ece")
    assert row.unc.interval == "linearized_t"
    assert row.unc.low < row.unc.estimate < row.unc.high


# --- undefined values ---------------------------------------------------------------------------------------------


def test_constant_entropies_are_a_reason():
    flat = panel_of([[3, 1], [2, 2], [0, 4]], [np.full((1, 3, 3, 2), 0.5)])
    row = only(evaluate(flat, metrics=("entropy_correlation",)), "entropy_correlation")
    assert (row.unc.estimate, row.unc.low, row.unc.interval) == (None, None, "none")
    assert "same for every item" in row.unc.reason
    assert "in 3 of 3 cells" in row.unc.reason


def test_rows_below_the_floor_are_counted():
    """Item 0 gets probability 0 for a label with votes, from both seeds: two rows of four.

    kl of item 0 = 3/4 ln(3/4) + 1/4 ln(1/4 / 1e-15), of item 1 = 0.
    """
    probs = np.array([[[[1.0, 0.0], [0.5, 0.5]]] * 2])
    result = evaluate(panel_of([[3, 1], [2, 2]], [probs]), metrics=("kl",))
    assert result.data.floored == 2
    expected = (0.75 * math.log(0.75) + 0.25 * math.log(0.25e15)) / 2
    assert result.rows[0].unc.estimate == pytest.approx(expected, rel=1e-12)


def test_single_votes_have_no_correction():
    row = only(evaluate(panel_of([[1, 0], [0, 1], [1, 0]], [np.full((1, 2, 3, 2), 0.5)]), metrics=("brier",)), "brier")
    assert (row.unc.estimate, row.corrected, row.floor) == (pytest.approx(0.5), None, None)
    assert "single vote" in row.unc.reason


def test_one_item_has_no_spread():
    for n_seeds in (1, 3, 10):
        row = evaluate(panel_of([[3, 1]], [np.full((1, n_seeds, 1, 2), 0.5)]), metrics=("kl",)).rows[0]
        assert row.unc.estimate is not None
        assert row.unc.low is None
        assert "one item" in row.unc.reason


def test_a_perfect_score_everywhere_has_no_interval_but_a_reason():
    sure = np.tile([1.0, 0.0], (1, 3, 4, 1))
    row = only(evaluate(panel_of([[5, 0]] * 4, [sure]), metrics=("accuracy",)), "accuracy")
    assert (row.unc.estimate, row.unc.low) == (1.0, None)
    assert "no spread" in row.unc.reason


def test_one_annotator_is_said():
    counts, who = np.array([[1, 0], [0, 1], [1, 0]]), np.zeros(3, dtype=np.int64)
    ballots = Ballots(("w",), np.arange(3), who, np.array([0, 1, 0]))
    probs = np.random.default_rng(0).dirichlet([1, 1], size=(1, 3, 3))
    panel = panel_of(counts, [probs], ballots=ballots)
    assert "one annotator" in evaluate(panel, metrics=("tvd",)).rows[0].unc.reason
    alone = evaluate(panel, metrics=("tvd",), design="annotators").rows[0].unc
    assert alone.low is None
    assert "one annotator" in alone.reason


# --- invariances --------------------------------------------------------------------------------------------------

SCHEMES = [
    ({"n_seeds": 3}, {}),
    ({"n_seeds": 10}, {}),
    ({"n_seeds": 10}, {"design": "crossed"}),
    ({"n_seeds": 2}, {"design": "votes"}),
    ({"n_seeds": 3, "n_annotators": 25}, {}),
    ({"n_seeds": 10, "n_annotators": 25, "n_items": 20}, {"design": "crossed"}),
]


def bits(rows: tuple[EvaluateRow, ...]):
    return {(r.metric, str(r.condition)): repr(flatten(r)) for r in rows}


@pytest.mark.parametrize(("made", "options"), SCHEMES)
def test_bits_do_not_depend_on_threads_blocks_or_conditions(made, options, monkeypatch):
    panel = study(8, n_conditions=3, n_splits=2, **made)
    options = {"n_resamples": 60, "rng": 9, **options}
    whole = bits(evaluate(panel, threads=1, **options).rows)
    assert bits(evaluate(panel, threads=2, **options).rows) == whole
    monkeypatch.setattr("saturation.analyses.spreads._WEIGHTS_AT_ONCE", 400)
    monkeypatch.setattr("saturation.analyses.vote_draws._COUNTS_AT_ONCE", 400)
    monkeypatch.setattr("saturation.resampling.sums._COMPILED_FROM", 0)
    assert bits(evaluate(panel, threads=2, **options).rows) == whole
    order = [2, 0]
    fewer = replace(
        panel,
        conditions=tuple(panel.conditions[c] for c in order),
        probs=tuple(np.ascontiguousarray(probs[order]) for probs in panel.probs),
    )
    some = bits(evaluate(fewer, threads=1, **options).rows)
    assert some == {key: value for key, value in whole.items() if key in some}
    assert len(some) == 14


def test_more_resamples_extend_the_same_sequence_and_seeds_matter():
    panel = study(n_seeds=10)
    a, b, c = (only(evaluate(panel, metrics=("kl",), n_resamples=200, rng=rng), "kl").unc for rng in (1, 1, 2))
    assert (a.low, a.high) == (b.low, b.high) != (c.low, c.high)
    generator = evaluate(panel, metrics=("kl",), n_resamples=20, rng=np.random.default_rng(3))
    assert generator.settings["seed"] == int(np.random.default_rng(3).integers(2**63))


# --- coverage, quickly --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "least", "most"),
    [
        ({"n_seeds": 1, "seed_sd": 0.0}, 0.91, 1.0),
        ({"n_seeds": 3}, 0.91, 1.0),
        ({"n_seeds": 3, "n_splits": 2}, 0.91, 1.0),
        ({"n_seeds": 3, "n_annotators": 12}, 0.91, 1.0),
    ],
)
def test_defaults_cover(made, least, most):
    """200 studies: nominal .95 has a standard error of .015. The truth is the mean of all estimates."""
    rows = []
    for r in range(200):
        panel = study(1000 + r, n_items=80, n_conditions=1, **made)
        rows.append(evaluate(panel, metrics=("brier",), n_resamples=50, threads=1).rows[0])
    plain = [(r.unc.estimate, r.unc.low, r.unc.high) for r in rows]
    corrected = [(r.corrected, r.corrected_low, r.corrected_high) for r in rows]
    for found in (plain, corrected):
        values, low, high = np.array(found).T
        truth = values.mean()
        assert least <= ((low <= truth) & (truth <= high)).mean() <= most


# --- real data ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def snli(shared_data):
    """Three seeds of published predictions on 1,514 items; their columns are entailment, contradiction, neutral."""
    root = shared_data / "chaosnli" / "data"
    lines = (root / "chaosNLI_v1.0" / "chaosNLI_snli.jsonl").read_text().splitlines()
    counts = {one["uid"]: one["label_count"] for one in map(json.loads, lines)}
    uids = sorted(counts)
    probs = np.empty((1, 3, len(uids), 3))
    for seed in range(3):
        logits = {}
        for part in ("dev", "test"):
            rows = (root / "predictions" / f"SNLI_{part}_roberta-base_{seed}.json").read_text().splitlines()
            logits |= {one["uid"]: one["logits"] for one in map(json.loads, rows) if one["uid"] in counts}
        z = np.array([logits[uid] for uid in uids])[:, [0, 2, 1]]
        e = np.exp(z - z.max(axis=1, keepdims=True))
        probs[0, seed] = e / e.sum(axis=1, keepdims=True)
    return panel_of([counts[uid] for uid in uids], [probs], has_draws=False)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("metric", "key"),
    [
        ("kl", "kl_human_model_nats"),
        ("jsd", "jsd_divergence_nats"),
        ("tvd", "tvd_distce"),
        ("brier", "brier_soft"),
        ("entropy_correlation", "entropy_pearson"),
        ("spearman", "entropy_spearman"),
        ("accuracy", "accuracy_tie_fractional"),
        ("dist_ece", "classwise_ece_right10_soft_mean"),
    ],
)
def test_published_predictions_score_as_the_independent_code_says(snli, reference, metric, key):
    rows = evaluate(snli, metrics=(metric,), by="cell").rows
    for seed, row in enumerate(row for row in rows if row.metric == metric):
        assert row.unc.estimate == pytest.approx(reference["metrics"][f"snli/roberta-base/seed{seed}"][key], abs=1e-12)
        assert row.unc.low < row.unc.estimate < row.unc.high


@pytest.mark.realdata
def test_default_intervals_agree_with_a_bootstrap_of_these_items(snli):
    """One seed: linearised t against a percentile interval of the same metric, 1,514 items: ends within .15 sd."""
    one = replace(snli, seeds=((0,),), probs=(snli.probs[0][:, :1],))
    names = ("kl", "brier", "entropy_correlation", "spearman")
    for row, drawn in zip(
        evaluate(one, metrics=names).rows, evaluate(one, metrics=names, interval="percentile").rows, strict=True
    ):
        assert row.unc.low == pytest.approx(drawn.unc.low, abs=0.15 * row.unc.se)
        assert row.unc.high == pytest.approx(drawn.unc.high, abs=0.15 * row.unc.se)


def test_a_reliability_that_is_not_positive_is_a_reason():
    """Items that differ by chance alone: disjoint crowds disagree about which are uncertain, R < 0."""
    counts = np.array([[7, 3, 2], [6, 4, 2], [6, 3, 3]])
    probs = np.array([[0.5, 0.3, 0.2], [0.9, 0.1, 0.0], [0.6, 0.2, 0.2]])
    row = evaluate(panel_from_arrays(probs, counts), metrics=["entropy_correlation"]).rows[0]
    assert row.unc.estimate is not None
    assert row.corrected is None
    assert "it is not above 0" in row.unc.reason


def test_corrected_kl_has_room_for_the_bias_that_its_correction_may_leave():
    """Students t of the corrected scores, stretched: P(abs(Z + b) <= c) = .95, b a fifth of the mean floor over se."""
    rng = np.random.default_rng(3)
    counts, probs = rng.multinomial(5, [0.5, 0.3, 0.2], 40), rng.dirichlet([4, 3, 2], 40)
    rows = evaluate(panel_from_arrays(probs, counts), metrics=["kl", "brier"], interval="linearized_t").rows
    scores = corrections.kl_corrected(probs, counts, estimator="chao_shen")
    se = scores.std(ddof=1) / 40**0.5
    shift = 0.2 * corrections.kl_floor(counts, estimator="chao_shen").mean() / se
    c = optimize.brentq(lambda c: stats.norm.cdf(c - shift) - stats.norm.cdf(-c - shift) - 0.95, 1, 9)
    half = stats.t.ppf(0.975, 39) * se * c / stats.norm.ppf(0.975)
    assert c > 2.1
    assert (rows[0].corrected_low, rows[0].corrected_high) == pytest.approx(
        (scores.mean() - half, scores.mean() + half)
    )
    plain = corrections.brier_corrected(probs, counts)  # unbiased: no room needed
    assert rows[1].corrected_high == pytest.approx(plain.mean() + stats.t.ppf(0.975, 39) * plain.std(ddof=1) / 40**0.5)
