"""Scores against held-out votes: against enumeration, evaluate, and what a delete-one jackknife says."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import saturation as sat
from saturation.analyses.context import plain, samples
from saturation.analyses.entropy_reliability import half_moments
from saturation.analyses.heldout import divisions, expected, measured, reliabilities
from saturation.analyses.heldout.divisions import Part
from saturation.analyses.heldout.uncertain import NO_CHANGE, SAME
from saturation.analyses.heldout.words import OTHER_ENTROPIES
from saturation.cli import group
from saturation.errors import UsageError
from saturation.metrics.catalogue import metric
from saturation.metrics.metric import Human
from saturation.results import HeldOutResult, HeldOutRow
from saturation.tables.builders import panel_from_arrays
from saturation.tables.panel import Panel

LABELS = ("a", "b", "c")


def _panel(n_items: int = 30, n_votes: int = 12, seed: int = 0, conditions: int = 2, seeds: int = 3) -> Panel:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(3, 0.8), size=n_items)
    counts = np.stack([rng.multinomial(n_votes, p) for p in shares])
    probs = rng.dirichlet(np.full(3, 2.0), size=(conditions, seeds, n_items)) * 0.3 + 0.7 * (shares * 0.9 + 0.1 / 3)
    names = [{"model": "m", "method": "soft", "budget": 10 * (c + 1)} for c in range(conditions)]
    return sat.panel_from_arrays(probs, counts, conditions=names, labels=LABELS)


def _with_pools(n_items: int = 40, per_pool: tuple[int, int] = (8, 6), people: int = 30, apart: bool = False) -> Panel:
    """Votes with ids and pools; ``apart``: no person is in both."""
    rng = np.random.default_rng(4)
    shares = rng.dirichlet(np.full(3, 0.8), size=n_items)
    rows = []
    for item, p in enumerate(shares):
        who = rng.permutation(people)[: sum(per_pool)]
        for place, person in enumerate(who):
            pool = "train" if place < per_pool[0] else "heldout"
            name = f"{pool if apart else ''}w{person:02d}"
            rows.append((f"i{item:02d}", name, LABELS[rng.choice(3, p=p)], pool))
    votes = pl.DataFrame(rows, schema=["item_id", "annotator_id", "label", "pool"], orient="row")
    said = rng.dirichlet(np.full(3, 2.0), size=(2, n_items)) * 0.3 + 0.7 * (shares * 0.9 + 0.1 / 3)
    table = pl.DataFrame(
        [(f"i{i:02d}", seed, "soft", *said[seed, i] / said[seed, i].sum()) for seed in (0, 1) for i in range(n_items)],
        schema=["item_id", "seed", "method", "p_a", "p_b", "p_c"],
        orient="row",
    )
    return sat.read_panel(votes, table, labels=LABELS)


def _row(result: HeldOutResult, pool: str, name: str, condition: int = 0) -> HeldOutRow:
    return [row for row in result.rows if row.pool == pool and row.metric == name][condition]


# --- exact means over divisions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "kl",
        "brier",
        "brier_vote",
        "tvd",
        "jsd",
        "cross_entropy",
        "wasserstein",
        "entropy_bias",
        "reverse_kl[smooth=0.5]",
    ],
)
def test_exact_means_are_means_over_all_ways_to_hold_votes_out(name: str) -> None:
    counts = np.array([[3, 2, 1], [4, 0, 1], [0, 0, 4]])
    sizes = np.array([2, 3, 1])
    probs = np.array([[0.5, 0.3, 0.2], [0.7, 0.1, 0.2], [0.2, 0.2, 0.6]])
    one = metric(name)
    assert one.features is not None
    found = expected.exact_scores(one, probs, Part("heldout", counts[None], sizes, counts), np.arange(3), 1e-15)
    assert found is not None
    for item, (c, size) in enumerate(zip(counts, sizes, strict=True)):
        votes = [k for k in range(3) for _ in range(c[k])]
        scores = []
        for chosen in itertools.combinations(votes, size):
            drawn = np.array([[chosen.count(k) for k in range(3)]])
            scores.append(float(one.features(probs[[item]], Human(drawn))[0, 0]))
        assert found[item] == pytest.approx(sum(scores) / len(scores), rel=1e-12)


def test_corrections_and_floors_are_means_over_all_ways() -> None:
    counts, sizes = np.array([[3, 2, 1], [4, 1, 1]]), np.array([3, 3])
    part = Part("heldout", np.array([[[3, 0, 0], [3, 0, 0]]]), sizes, counts)
    kl = metric("kl", entropy_estimator="chao_shen")
    assert kl.floor is not None
    found, exact = expected.mean_of_counts(kl.floor, part, 3)
    assert exact
    for item, c in enumerate(counts):
        votes = [k for k in range(3) for _ in range(c[k])]
        drawn = [np.array([[o.count(k) for k in range(3)]]) for o in itertools.combinations(votes, 3)]
        assert found[item] == pytest.approx(np.mean([float(kl.floor(one)[0]) for one in drawn]), rel=1e-12)


def test_zero_probabilities_are_raised_as_in_the_metric() -> None:
    counts = np.array([[3, 2, 0], [1, 1, 3]])
    probs = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    part = Part("heldout", counts[None], np.array([2, 2]), counts)
    found = expected.exact_scores(metric("kl", floor=1e-6), probs, part, np.arange(2), 1e-6)
    assert found is not None
    assert np.isfinite(found).all()
    # another floor than the one given is noticed, and left to Monte Carlo
    assert expected.exact_scores(metric("kl[floor=1e-3]"), probs, part, np.arange(2), 1e-6) is None


def test_monte_carlo_agrees_with_the_exact_mean_within_its_error() -> None:
    panel = _panel()
    division = divisions.at_random(panel, 0.3, 400, seed=1)
    (sample,) = samples(division.panel, None)
    one = metric("brier")
    for part in division.parts[:2]:
        exact = measured.raw(one, sample, part, 1e-15)
        drawn = measured.of_draws(plain(one), sample, part)
        assert exact.estimator == "exact"
        assert drawn.estimator == "monte_carlo"
        assert drawn.mc_se is not None
        assert (np.abs(drawn.values - exact.values) < 4 * drawn.mc_se).all()  # odds 1 in 16,000 each
        assert (drawn.mc_se > 0).all()


def test_drawn_votes_are_hypergeometric() -> None:
    counts = np.array([[5, 3, 0], [1, 1, 6]])
    drawn = divisions.drawn_votes(counts, np.array([4, 2]), 4000, seed=3)
    assert (drawn.sum(axis=2) == [4, 2]).all()
    assert (drawn <= counts).all()
    # mean 4 x 5/8; variance 4 x 5/8 x 3/8 x (8 - 4)/7 = .536; 4 standard errors of 4,000 draws
    assert abs(drawn[:, 0, 0].mean() - 2.5) < 4 * math.sqrt(0.536 / 4000)
    assert abs(drawn[:, 0, 0].var() - 0.536) < 0.06
    # two items share no random number: their draws are uncorrelated
    assert abs(np.corrcoef(drawn[:, 0, 0], drawn[:, 1, 2])[0, 1]) < 4 / math.sqrt(4000)


# --- against evaluate -------------------------------------------------------------------------------------------------


def test_all_votes_are_scored_as_evaluate_does() -> None:
    panel = _panel()
    names = ["kl", "brier", "entropy_correlation", "accuracy", "dist_ece", "aurc"]
    held = sat.heldout(panel, metrics=names, repeats=2)
    told = sat.evaluate(panel, metrics=names, design="crossed")
    for row in told.rows:
        own = _row(held, "all", row.metric, panel.conditions.index(row.condition))
        assert own.unc.estimate == pytest.approx(row.unc.estimate, rel=1e-12)
        assert own.unc.low == pytest.approx(row.unc.low, rel=1e-9)
        assert own.unc.high == pytest.approx(row.unc.high, rel=1e-9)
        if row.floor is not None:
            assert own.floor == pytest.approx(row.floor, rel=1e-12)
        if row.corrected is None:
            assert own.corrected is None
        else:
            assert own.corrected == pytest.approx(row.corrected, rel=1e-9)
            # evaluate deletes items, here r and R move linearly: the same to the order of 1/I
            near = 1e-9 if row.metric != "entropy_correlation" else 0.1
            assert own.corrected_high - own.corrected == pytest.approx(row.corrected_high - row.corrected, rel=near)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("pool", ["heldout", "train"])
def test_a_pool_is_scored_as_evaluate_would_alone(pool: str, apart: bool) -> None:
    """``apart``: half of the people of the table have no vote in the pool, and count for nothing there."""
    panel = _with_pools(apart=apart)
    names = ["kl", "brier", "entropy_correlation", "accuracy", "aurc"]
    held = sat.heldout(panel, metrics=names)
    code = ("train", "heldout").index(pool)
    own = replace(panel.votes, counts=panel.votes.pools[pool], ballots=panel.votes.ballots.of_pool(code), pools={})
    own = own.take(np.arange(len(own.counts)))  # forgets people without a vote
    told = sat.evaluate(replace(panel, votes=own), metrics=names)
    for row in told.rows:
        found = _row(held, pool, row.metric)
        assert found.unc.estimate == pytest.approx(row.unc.estimate, rel=1e-12)
        assert found.unc.se == pytest.approx(row.unc.se, rel=1e-9)
        assert (found.unc.low, found.unc.high) == pytest.approx((row.unc.low, row.unc.high), rel=1e-9)
        if row.corrected is not None:
            assert found.corrected == pytest.approx(row.corrected, rel=1e-9)
    assert {row.estimator for row in [_row(held, pool, "kl").unc]} == {"plugin"}
    assert _row(held, pool, "kl").votes == pytest.approx({"heldout": 6, "train": 8}[pool])


# --- differences ------------------------------------------------------------------------------------------------------


def test_a_difference_is_paired_on_items() -> None:
    panel = _panel(seeds=1, conditions=1)
    row = _row(sat.heldout(panel, metrics=["brier"]), "heldout - all", "brier")
    counts, m = panel.votes.counts, panel.probs[0][0, 0]
    d = []
    for c, p in zip(counts, m, strict=True):
        h = c / 12
        spread = 1 - (h**2).sum()  # E brier(c_2/2) - brier(h) = (1/2 - 1/12) (1 - sum h^2) 12/11; round(.2 x 12) = 2
        d.append((1 / 2 - 1 / 12) * spread * 12 / 11)
        assert len(p) == 3
    assert row.unc.estimate == pytest.approx(np.mean(d), rel=1e-9)
    assert row.unc.se == pytest.approx(np.std(d, ddof=1) / math.sqrt(30), rel=1e-9)
    assert row.corrected == 0.0
    assert (row.corrected_low, row.corrected_high) == (0.0, 0.0)
    assert SAME in row.unc.reason


def test_no_change_on_any_item_is_no_certainty() -> None:
    panel = _with_pools(n_items=6)
    same = np.tile(np.array([4, 1, 0]), (6, 1))
    pools = {"train": same, "heldout": same}
    twice = replace(panel, votes=replace(panel.votes, counts=2 * same, pools=pools, ballots=None))
    row = _row(sat.heldout(twice, metrics=["accuracy"]), "heldout - all", "accuracy")
    assert (row.unc.estimate, row.unc.low) == (0.0, None)
    assert row.unc.reason == NO_CHANGE


def test_what_training_saw_shows_in_the_corrected_difference() -> None:
    """A model that repeats its training votes is better against them than against held-out ones, corrected too."""
    panel = _with_pools(n_items=60)
    train = panel.votes.pools["train"]
    copied = (train + 1 / 3) / (train + 1 / 3).sum(axis=1, keepdims=True)
    leaked = replace(panel, probs=(np.broadcast_to(copied, panel.probs[0].shape).copy(),))
    row = _row(sat.heldout(leaked, metrics=["brier"]), "heldout - train", "brier")
    assert row.corrected_low > 0


def test_an_honest_model_shows_none() -> None:
    row = _row(sat.heldout(_with_pools(), metrics=["brier"]), "heldout - train", "brier")
    assert row.corrected_low < 0 < row.corrected_high


# --- reliability ------------------------------------------------------------------------------------------------------


def test_reliability_is_exact_where_two_crowds_fit_and_stepped_up_where_not() -> None:
    panel = _panel(n_votes=24)
    result = sat.heldout(panel, metrics=["entropy_correlation"], repeats=5, share=0.25)
    for pool, votes, crowd in (("heldout", 6, 6), ("train", 18, 12), ("all", 24, 12)):
        moments = half_moments(panel.votes.counts, crowd)
        between = np.var(moments.mean)
        half = (between + moments.covariance.mean()) / (between + moments.variance.mean())
        factor = votes / crowd
        row = _row(result, pool, "entropy_correlation")
        assert row.reliability == pytest.approx(factor * half / (1 + (factor - 1) * half), rel=1e-12)
        assert row.reliability_low < row.reliability < row.reliability_high


def test_a_change_of_the_disattenuated_correlation_says_what_its_interval_has_room_for() -> None:
    result = sat.heldout(_panel(n_votes=40), metrics=["entropy_correlation"], repeats=3)
    assert OTHER_ENTROPIES in _row(result, "heldout - all", "entropy_correlation").unc.reason
    assert OTHER_ENTROPIES not in (_row(result, "all", "entropy_correlation").unc.reason or "")


@pytest.mark.parametrize("n_votes", [6, 10])
def test_an_honest_model_is_not_told_apart_by_the_disattenuated_correlation(n_votes: int) -> None:
    """Stepped up from few votes R is low (.30 for .38, .47 for .54), so that r / sqrt(R) rises by .13 and .07."""
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.full(3, 0.8), size=1500)
    told = 0.85 * p + 0.05 + rng.uniform(0, 0.1, size=p.shape)
    pools = {"train": rng.multinomial(40, p), "heldout": rng.multinomial(n_votes, p)}
    panel = panel_from_arrays(told / told.sum(axis=1, keepdims=True), pools["train"] + pools["heldout"])
    result = sat.heldout(replace(panel, votes=replace(panel.votes, pools=pools)), metrics=["entropy_correlation"])
    row = _row(result, "heldout - train", "entropy_correlation")
    assert row.corrected > 0.04
    assert row.corrected_low < 0 < row.corrected_high


def test_no_reliability_from_fewer_than_six_held_out_votes() -> None:
    row = _row(
        sat.heldout(_panel(n_votes=24), metrics=["entropy_correlation"], repeats=3), "heldout", "entropy_correlation"
    )
    assert (row.reliability, row.corrected) == (None, None)
    assert "no reliability below 6 votes" in row.unc.reason


def test_the_disattenuated_correlation_moves_as_deleting_items_says() -> None:
    panel = _panel(n_items=200, seeds=1, conditions=1)
    (sample,) = samples(panel, None)
    part = Part("all", panel.votes.counts[None], panel.votes.totals)
    own = measured.raw(metric("entropy_correlation"), sample, part, 1e-15)
    made = reliabilities.disattenuated(own, sample, reliabilities.reliable(part, 0.95))
    assert made is not None
    values = []
    for left in range(200):
        kept = np.delete(np.arange(200), left)
        smaller = replace(panel, items_of_split=(kept,), probs=(panel.probs[0][:, :, kept],))
        (less,) = samples(smaller, None)
        few = Part("all", panel.votes.counts[None, kept], panel.votes.totals[kept])
        r = measured.raw(metric("entropy_correlation"), less, few, 1e-15)
        again = reliabilities.disattenuated(r, less, reliabilities.reliable(few, 0.95))
        assert again is not None
        values.append(again.cells[0][0, 0])
    by_deletion = math.sqrt(199 / 200 * ((np.array(values) - np.mean(values)) ** 2).sum())
    by_delta = made.moves[0][0, 0].std(ddof=1) / math.sqrt(200)
    assert by_delta == pytest.approx(by_deletion, rel=0.05)  # .036 at 200 items, .004 at 800


# --- what is said -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("apart", "words"), [(False, "what they do alike is in both"), (True, "held out are other")])
def test_whether_people_are_in_both_pools_is_said(apart: bool, words: str) -> None:
    notes = {note.code: note.message for note in sat.heldout(_with_pools(apart=apart), metrics=["brier"]).notes}
    assert words in notes["annotator_overlap"]
    assert "column `pool` marks" in notes["held_out"]
    assert "both_pools" not in notes


def test_votes_of_one_person_have_no_spread_over_people() -> None:
    """The only person with held-out votes takes all items along; the interval is then over items and seeds."""
    panel = _with_pools(per_pool=(4, 1), people=10, apart=True)
    votes = panel.votes
    one = np.where(votes.ballots.pool == 1, len(votes.ballots.annotator_ids) - 1, votes.ballots.annotator)
    ballots = replace(votes.ballots, annotator=one)
    alone = sat.heldout(replace(panel, votes=replace(votes, ballots=ballots)), metrics=["brier", "aurc"])
    unknown = sat.heldout(replace(panel, votes=replace(votes, ballots=None)), metrics=["brier", "aurc"])
    for name in ("brier", "aurc"):
        assert _row(alone, "heldout", name).unc.se == _row(unknown, "heldout", name).unc.se > 0


def test_random_divisions_say_that_they_protect_from_nothing() -> None:
    notes = {note.code: note.message for note in sat.heldout(_panel(), metrics=["brier"]).notes}
    assert "no test on unseen votes" in notes["held_out"]


def test_items_without_votes_on_one_side_are_left_out_and_counted() -> None:
    panel = _with_pools()
    pools = {name: counts.copy() for name, counts in panel.votes.pools.items()}
    pools["heldout"][3] = 0
    part = replace(panel, votes=replace(panel.votes, pools=pools, ballots=None))
    result = sat.heldout(part, metrics=["brier"])
    assert {row.unc.n_items for row in result.rows} == {39}
    assert any("1 predicted items without votes in both pools" in note.message for note in result.notes)


def test_few_held_out_votes_use_the_estimator_for_few() -> None:
    result = sat.heldout(_panel(n_votes=30), metrics=["kl"])
    used = result.settings["entropy_estimator"]
    assert used["heldout"] == "chao_shen"
    assert used["all"] == "jackknife"


# --- refusals and degenerate data -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{"share": 0.0}, {"share": 1.0}, {"repeats": 1}, {"level": 1.0}, {"metrics": ["x"]}]
)
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        sat.heldout(_panel(), **options)


def test_options_of_random_divisions_are_refused_with_pools() -> None:
    with pytest.raises(UsageError, match="column `pool`"):
        sat.heldout(_with_pools(), share=0.2)


def test_single_votes_cannot_be_held_out() -> None:
    with pytest.raises(UsageError, match="has two votes, one to hold out"):
        sat.heldout(_panel(n_votes=1))


@pytest.mark.parametrize("name", ["kl", "brier", "entropy_correlation", "accuracy", "dist_ece", "aurc", "spearman"])
@pytest.mark.parametrize(
    "panel",
    [
        sat.panel_from_arrays([[0.5, 0.5]], [[3, 1]]),  # one item
        sat.panel_from_arrays([[0.5, 0.5]] * 4, [[4, 0], [0, 4], [4, 0], [4, 0]]),  # unanimous, constant model
        sat.panel_from_arrays([[0.6, 0.4]] * 3, [[8, 4]] * 3),  # tied everywhere
        sat.panel_from_arrays([[0.6, 0.4], [0.1, 0.9]], [[1, 1], [2, 0]]),  # two votes
        sat.panel_from_arrays([[1.0, 0.0], [0.0, 1.0]], [[0, 9], [9, 0]]),  # surely wrong
    ],
)
def test_degenerate_data_have_reasons(panel: Panel, name: str) -> None:
    wanted = "entropy_correlation[kind=spearman]" if name == "spearman" else name
    for row in sat.heldout(panel, metrics=[wanted], repeats=3).rows:
        assert row.unc.estimate is None or math.isfinite(row.unc.estimate)
        assert row.unc.low is not None or row.unc.reason
        record = next(iter(sat.heldout(panel, metrics=["brier"], repeats=3).records()))
        assert all(value is None or not isinstance(value, float) or math.isfinite(value) for value in record.values())


def test_the_same_bits_whatever_the_order_and_company_of_rows() -> None:
    panel = _panel(conditions=2)
    names = ["brier", "entropy_correlation"]
    both = sat.heldout(panel, metrics=names, repeats=4)
    alone = sat.heldout(
        replace(panel, conditions=panel.conditions[1:], probs=(panel.probs[0][1:],)), metrics=names, repeats=4
    )
    assert [row for row in both.rows if row.condition == panel.conditions[1]] == list(alone.rows)


def test_rows_have_all_their_keys() -> None:
    record = sat.heldout(_panel(), metrics=["brier"]).records()[0]
    assert list(record) == [
        "metric", "condition", "model", "method", "budget", "strength", "alpha", "pool", "votes", "repeats",
        "direction", "estimate", "low", "high", "se", "level", "interval", "estimator", "design", "n_resamples",
        "n_items", "n_cells", "reason", "mc_se", "floor", "corrected", "corrected_low", "corrected_high",
        "reliability", "reliability_low", "reliability_high",
    ]  # fmt: skip


@pytest.mark.realdata
def test_a_smaller_crowd_is_less_reliable_on_chaosnli(shared_data: Any) -> None:
    """SNLI and MNLI together; published from random halves by Spearman-Brown, which at 20 votes is off by .003."""
    counts = sat.read_votes(shared_data / "chaosnli_study" / "vote_counts.parquet").counts
    assert counts.shape == (3113, 3)
    for votes, published, off in ((20, 0.711, 0.005), (80, 0.908, 0.001), (100, 0.925, 0.001)):
        part = Part("heldout", counts[None], np.full(len(counts), votes), counts)
        known = reliabilities.reliable(part, 0.95)
        assert known.value == pytest.approx(published, abs=off)
        assert known.interval.low is not None
        assert 0.003 < known.interval.high - known.interval.low < 0.05


@pytest.mark.realdata
def test_twenty_of_a_hundred_votes_on_chaosnli(shared_data: Any) -> None:
    table = pl.read_parquet(shared_data / "chaosnli_study" / "predictions.parquet")
    table = table.filter(pl.col("method").is_in(["soft", "hard"]), pl.col("budget").fill_null(100) == 100)
    panel = sat.read_panel(shared_data / "chaosnli_study" / "vote_counts.parquet", table)
    result = sat.heldout(panel, metrics=["kl", "entropy_correlation"], repeats=10)
    for c, _ in enumerate(panel.conditions):
        r = {pool: _row(result, pool, "entropy_correlation", c) for pool in ("heldout", "all")}
        ratio = math.sqrt(r["heldout"].reliability / r["all"].reliability)
        assert r["heldout"].unc.estimate == pytest.approx(r["all"].unc.estimate * ratio, abs=0.015)
        assert abs(_row(result, "heldout - all", "entropy_correlation", c).corrected) < 0.015
        kl = _row(result, "heldout - all", "kl", c)
        assert kl.unc.low > 0.03  # a smaller reference alone
        assert kl.corrected_low < 0 < kl.corrected_high


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("form", "source"), [("lewidi", "lewidi2023/HS-Brexit_dataset"), ("peerannot", "peerannot/datasets/cifar10H")]
)
def test_a_model_that_copies_its_training_votes_is_found_out(
    shared_data: Any, tmp_path: Any, form: str, source: str
) -> None:
    """Every third vote of an item is held out; the model is the smoothed shares of the others."""
    ran = CliRunner().invoke(
        group, ["convert", form, str(shared_data / source), "--out", str(tmp_path / "t"), "--quiet"]
    )
    assert ran.exit_code == 0, ran.output
    votes = pl.read_parquet(tmp_path / "t" / "votes.parquet").sort("item_id", "annotator_id")
    votes = votes.filter(pl.col("item_id").is_in(votes["item_id"].unique().sort().head(250).to_list()))
    third = pl.int_range(pl.len()).over("item_id") % 3 == 2
    votes = votes.with_columns(pool=pl.when(third).then(pl.lit("heldout")).otherwise(pl.lit("train")))
    labels = sorted(votes["label"].unique())
    smoothed = [((pl.col("label") == one).sum() + 1 / len(labels)).alias(f"p_{one}") for one in labels]
    model = votes.filter(pool="train").group_by("item_id").agg(smoothed)
    total = pl.sum_horizontal(f"p_{one}" for one in labels)
    panel = sat.read_panel(votes, model.with_columns((pl.col(f"p_{one}") / total) for one in labels), labels=labels)
    result = sat.heldout(panel, metrics=["kl", "brier", "entropy_correlation", "accuracy"])
    assert all(row.unc.low is not None or row.unc.reason for row in result.rows)
    change = _row(result, "heldout - train", "brier")
    assert change.corrected > 0
    if form == "peerannot":  # 17 held-out votes an item; of HS-Brexit there are two
        assert change.corrected_low > 0
        assert _row(result, "heldout - train", "kl").corrected_low > 0
