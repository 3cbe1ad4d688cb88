"""ceiling: closed forms by hand, drawn ones by enumeration and on planted populations, distances, reasons."""

from __future__ import annotations

import itertools
import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

from saturation.analyses.evaluate import evaluate
from saturation.analyses.worth.ceiling import INFINITE, LEAKAGE, NOT_THE_BEST, ceiling
from saturation.analyses.worth.combiner import Combiner, other_items_prior, prior_influence
from saturation.analyses.worth.noise import draw_population, draw_votes, noise_standings
from saturation.analyses.worth.standing import WITHOUT_PEOPLE, alone
from saturation.errors import UsageError
from saturation.metrics.catalogue import all_names, metric
from saturation.metrics.estimators import RESIDUAL
from saturation.metrics.metric import Human
from saturation.resampling.bias_aware import biased_critical
from saturation.tables.builders import panel_from_arrays, votes_from_counts
from saturation.tables.door import read_votes
from tests import naive
from tests.analyses.test_equivalents import DEGENERATE, PI, STRENGTH, study, with_people

KEYS = ["quantity", "kind", "metric", "condition", "combiner", "crowd_size", "reference_size", "direction", "estimate",
        "low", "high", "se", "level", "interval", "estimator", "design", "n_resamples", "n_items", "n_cells", "reason",
        "mc_se", "beats"]  # fmt: skip
COUNTS = np.array([[3, 1, 0], [0, 4, 0], [2, 1, 1]])
DIRECTED = [name for name in all_names() if metric(name).direction != "none"]


def of(result, quantity="ceiling", kind=None, combiner=None):
    return [
        row
        for row in result.rows
        if row.quantity == quantity and kind in (None, row.kind) and combiner in (None, row.combiner)
    ]


# --- closed forms -----------------------------------------------------------------------------------------------------


def test_brier_and_its_single_vote_form():
    # pairwise disagreement s^2: 1 - 3*2/12 = 1/2; 0; 1 - 2*1/12 = 5/6; mean 4/9
    found = ceiling(votes_from_counts(COUNTS), metrics=["brier", "brier_vote"]).rows
    values = {(row.metric, row.kind): row.unc.estimate for row in found}
    assert values["brier", "noise_only"] == pytest.approx(4 / 9 / 4)
    assert values["brier", "another_crowd"] == pytest.approx(2 * 4 / 9 / 4)
    assert values["brier_vote", "noise_only"] == pytest.approx(4 / 9)
    assert values["brier_vote", "another_crowd"] == pytest.approx(4 / 9 * (1 + 1 / 4))


def test_kl_and_cross_entropy():
    counts = np.array([[3, 1, 0], [0, 3, 1], [1, 0, 3], [4, 0, 0]])
    result = ceiling(votes_from_counts(counts), metrics=["kl", "cross_entropy"], entropy_estimator="miller_madow")
    noise = {row.metric: row.unc.estimate for row in of(result, kind="noise_only")}
    h = np.array([-(0.75 * np.log(0.75) + 0.25 * np.log(0.25))] * 3 + [0])
    # Miller and Madow add (labels seen - 1)/(2 n): 1/8 three times, 0
    assert noise["kl"] == pytest.approx(3 / 32)
    assert noise["cross_entropy"] == pytest.approx(h.mean() + 3 / 32)
    prior = other_items_prior(counts)
    losses = [
        naive.crowd_of_all_others(c.tolist(), pi, a)
        for c, pi, a in zip(counts, prior.base, prior.strength, strict=True)
    ]
    crowd = {row.metric: row for row in of(result, kind="another_crowd", combiner="dirichlet")}
    assert crowd["cross_entropy"].unc.estimate == pytest.approx(np.mean(losses), abs=1e-12)
    assert crowd["kl"].unc.estimate == pytest.approx(np.mean(losses) - h.mean(), abs=1e-12)
    assert (crowd["kl"].crowd_size, crowd["kl"].reference_size) == (3, 4)
    for row in of(result, combiner="raw"):
        assert (row.unc.estimate, row.unc.reason) == (None, INFINITE)


def test_items_with_other_numbers_of_votes_have_their_own_crowds():
    counts = np.array([[3, 1], [1, 5], [2, 2], [1, 2]])
    result = ceiling(votes_from_counts(counts), metrics=["cross_entropy"])
    prior = other_items_prior(counts)
    losses = [
        naive.crowd_of_all_others(c.tolist(), pi, a)
        for c, pi, a in zip(counts, prior.base, prior.strength, strict=True)
    ]
    row = of(result, combiner="dirichlet")[0]
    assert row.unc.estimate == pytest.approx(np.mean(losses), abs=1e-12)
    assert (row.crowd_size, row.reference_size) == (None, None)


def test_floors_are_those_of_evaluate_and_distances_its_corrected_values():
    panel = study(n_items=30, n_votes=8, n_seeds=3)
    names = ["kl", "brier", "brier_vote"]
    rows = evaluate(panel, metrics=names, interval="linearized_t", design="crossed").rows
    result = ceiling(panel, metrics=names)
    assert [r.unc.estimate for r in of(result, kind="noise_only")] == pytest.approx([r.floor for r in rows])
    scores = [r.unc for r in of(result, "score", "noise_only")]
    assert [s.estimate for s in scores] == pytest.approx([r.unc.estimate for r in rows])
    assert [s.low for s in scores] == pytest.approx([r.unc.low for r in rows])
    distances = of(result, "distance", "noise_only")
    for row, distance in zip(rows[:2], distances, strict=False):  # the floor of brier_vote is its own spread
        ends = distance.unc.estimate, distance.unc.low, distance.unc.high
        assert ends == pytest.approx((row.corrected, row.corrected_low, row.corrected_high))


def test_interval_of_the_entropy_has_room_for_the_bias_of_its_estimator():
    """Half width t se c/z, c the critical value of |Z + bias/se| (z = 1.96 without bias)."""
    votes = votes_from_counts(np.array([[3, 1, 1], [0, 4, 1], [2, 2, 1], [5, 0, 0]] * 10))
    h = votes.counts / 5
    plug_in = -np.sum(np.where(h > 0, h * np.log(np.where(h > 0, h, 1)), 0), axis=1).mean()
    row = of(ceiling(votes, metrics=["cross_entropy"]), kind="noise_only")[0]
    bias = RESIDUAL * (row.unc.estimate - plug_in)
    half = stats.t.ppf(0.975, 39) * row.unc.se * biased_critical(0.95, bias / row.unc.se) / stats.norm.ppf(0.975)
    assert row.unc.high - row.unc.estimate == pytest.approx(half)


# --- drawn ceilings ---------------------------------------------------------------------------------------------------


def test_population_and_votes_have_their_laws():
    """Means of Dirichlet(3.5, 1.5) and of votes from it; variance a b/((a + b)^2 (a + b + 1)) = .035."""
    counts = np.tile([3, 1], (20_000, 1))
    prior = Combiner(np.full((20_000, 2), 0.5), np.ones(20_000))
    p = draw_population(counts, prior, 0, 3)
    assert p.sum(axis=1) == pytest.approx(1)
    assert p[:, 0].mean() == pytest.approx(0.7, abs=4 * (0.035 / 20_000) ** 0.5)
    assert p[:, 0].var() == pytest.approx(0.035, rel=0.05)
    votes = draw_votes(p, counts.sum(axis=1), 0, 3)
    assert (votes.sum(axis=1) == 4).all()
    # given p, binomial(4, p): mean 2.8 and variance 4 E p(1 - p) + 16 Var p = 4 (.21 - .035) + 16 * .035 = 1.26
    assert votes[:, 0].mean() == pytest.approx(2.8, abs=4 * (1.26 / 20_000) ** 0.5)
    assert votes[:, 0].var() == pytest.approx(1.26, rel=0.05)
    assert not np.array_equal(p, draw_population(counts, prior, 0, 4))


def test_labels_with_hardly_any_prior_break_nothing():
    """Ten labels of which one item uses the last: its share among other items underflows to numbers without halves."""
    counts = np.zeros((40, 10), dtype=int)
    counts[:, 0], counts[0, 9], counts[:20, 1] = 20, 1, 3
    for row in of(ceiling(votes_from_counts(counts), metrics=["jsd", "squared_hellinger"]), kind="noise_only"):
        assert 0 < row.unc.low < row.unc.high < 0.1


@pytest.mark.parametrize("name", ["tvd", "jsd", "accuracy", "wasserstein"])
def test_noise_of_a_known_population_is_every_outcome(name):
    """With the mean as population, (2, 1, 1) and A = 2: p = (3, 1.5, 1.5)/6 and 3^4 outcomes, to 4 MC errors."""
    n_items, one = 300, metric(name)
    panel = alone(votes_from_counts(np.tile([2, 1, 1], (n_items, 1))))
    prior = Combiner(np.tile([0.5, 0.25, 0.25], (n_items, 1)), np.full(n_items, 2.0))
    made = noise_standings(panel, [one], prior, population="mean", n_draws=200, seed=0)[0]

    def score(p, shares):
        return float(one.value(np.array([[p]]), Human(np.array([shares])))[0])

    expected = naive.noise_given_population([0.5, 0.25, 0.25], 4, score)
    error = made.mc_se(made.unit(0))
    assert 0 < error < 0.01
    assert made.estimates[0] == pytest.approx(expected, abs=4 * error)


def test_drawn_populations_give_the_planted_noise_and_their_mean_overstates_it():
    generator = np.random.default_rng(0)
    p = generator.dirichlet(STRENGTH * PI, size=3000)
    votes = votes_from_counts(generator.multinomial(5, p))
    fresh = [Human(generator.multinomial(5, p)) for _ in range(20)]
    names = ["tvd", "jsd", "entropy_correlation", "top_vote_share"]
    drawn = of(ceiling(votes, metrics=names, n_resamples=40), kind="noise_only")
    of_mean = of(ceiling(votes, metrics=names, n_resamples=40, population="mean"), kind="noise_only")
    for row, other in zip(drawn, of_mean, strict=True):
        truth = np.mean([metric(row.metric).value(p[None], human)[0] for human in fresh])
        assert row.unc.estimate == pytest.approx(truth, rel=0.025)
        worse = 1 if row.direction == "lower" else -1
        assert worse * (other.unc.estimate - truth) > 0.03 * truth


def test_prior_moves_as_by_the_weight_of_an_item():
    """Influence values are derivatives by an item's weight, here central differences of a = A pi written anew."""
    generator = np.random.default_rng(0)
    counts = generator.multinomial(6, generator.dirichlet([1, 0.5, 0.4], size=12))
    counts[0] = [1, 0, 0]  # no pair

    def prior(weights):
        n = counts.sum(axis=1)
        several = n > 1
        pi = (weights[:, None] * counts / n[:, None]).sum(axis=0) / weights.sum()
        apart = 1 - (counts * (counts - 1)).sum(axis=1)[several] / (n * (n - 1))[several]
        rho = np.average(apart, weights=weights[several]) / (1 - (pi**2).sum())
        return rho / (1 - rho) * pi

    found = prior_influence(counts)
    for item in range(12):
        step = np.where(np.arange(12) == item, 1e-6, 0)
        assert found[item] == pytest.approx((prior(1 + step) - prior(1 - step)) / 2e-6 * 12, abs=1e-4)
    assert found.mean(axis=0) == pytest.approx(0, abs=1e-12)


def test_interval_of_drawn_noise_holds_what_the_prior_moves():
    """The spread of the ceiling over 60 planted studies is what a single study says it is: 1.0 +- 0.3 times."""
    found = []
    for number in range(60):
        generator = np.random.default_rng((number, 7))
        votes = votes_from_counts(generator.multinomial(20, generator.dirichlet(STRENGTH * PI, size=120)))
        found.append(of(ceiling(votes, metrics=["jsd"], n_resamples=20, rng=number), kind="noise_only")[0].unc)
    spread = np.std([unc.estimate for unc in found], ddof=1)
    assert spread == pytest.approx(np.mean([unc.se for unc in found]), rel=0.3)


def test_halves_are_every_way_to_halve():
    """Total variation between two votes and the other two of (2, 1, 1), at random: 6 splits."""
    votes, total = [0, 0, 1, 2], 0.0
    for half in itertools.combinations(range(4), 2):
        rest = [v for v in range(4) if v not in half]
        one, other = ([[votes[v] for v in chosen].count(k) / 2 for k in range(3)] for chosen in (half, rest))
        total += sum(abs(a - b) for a, b in zip(one, other, strict=True)) / 2
    result = ceiling(votes_from_counts(np.tile([2, 1, 1], (400, 1))), metrics=["tvd"], n_resamples=200)
    row = of(result, kind="another_crowd")[0]
    assert (row.crowd_size, row.reference_size, row.combiner) == (2, 2, "raw")
    assert (row.unc.estimate, row.unc.estimator, row.mc_se) == (pytest.approx(total / 6, abs=1e-12), "exact", None)


# --- distances --------------------------------------------------------------------------------------------------------


def leaking(panel):
    h = panel.votes.counts / panel.votes.counts.sum(axis=1, keepdims=True)
    return panel_from_arrays(h, panel.votes.counts)


def test_a_model_that_saw_the_votes_beats_the_noise():
    result = ceiling(leaking(study(n_votes=10)), metrics=["kl", "brier", "tvd"], n_resamples=20)
    kl, brier, tvd = of(result, "distance", "noise_only")
    for row in (kl, brier, tvd):
        assert row.beats
        assert row.unc.high < 0
    assert LEAKAGE in kl.unc.reason
    assert LEAKAGE in brier.unc.reason
    assert NOT_THE_BEST in tvd.unc.reason


def test_the_population_itself_is_at_the_ceiling_and_a_bad_model_far():
    generator = np.random.default_rng(0)
    p = generator.dirichlet(STRENGTH * PI, size=500)
    probs = np.stack([p, np.tile([0.1, 0.1, 0.8], (500, 1))])
    panel = panel_from_arrays(probs, generator.multinomial(30, p), conditions=[{"method": "soft"}, {"method": "hard"}])
    for row in of(ceiling(panel, n_resamples=40), "distance", "noise_only"):
        at_ceiling = row.condition.endswith("soft")
        if row.unc.estimate is None:  # constant entropy
            continue
        assert row.beats is False
        if at_ceiling:
            assert row.unc.low < 0.1 * abs(row.unc.estimate) + 1e-3, row
        else:
            away = row.unc.low if row.direction == "lower" else -row.unc.high
            assert away > 0, row


def test_scores_against_halves_are_against_the_same_halves():
    """Noise of a smaller reference moves every model: its score is printed against it, and told from the whole."""
    result = ceiling(study(n_votes=10), metrics=["tvd"], n_resamples=100)
    whole, halves = of(result, "score", "noise_only")[0], of(result, "score", "another_crowd")[0]
    assert (whole.reference_size, halves.reference_size) == (10, 5)
    assert halves.unc.estimate > whole.unc.estimate + 0.02
    distance = of(result, "distance", "another_crowd")[0]
    expected = halves.unc.estimate - of(result, kind="another_crowd")[0].unc.estimate
    assert distance.unc.estimate == pytest.approx(expected)
    assert (whole.mc_se, halves.mc_se) == (None, None)


# --- rows, refusals, degenerate cases ---------------------------------------------------------------------------------


def test_every_directed_metric_has_both_kinds_with_all_keys():
    result = ceiling(study(n_items=40, n_votes=10), metrics=DIRECTED, n_resamples=20)
    records = result.records()
    assert all(list(row) == KEYS for row in records)
    assert result.to_frame().columns == KEYS
    for name in DIRECTED:
        assert {row["kind"] for row in records if row["metric"] == name} == {"noise_only", "another_crowd"}
    for row in records:
        assert row["reason"] or (row["low"] is not None and row["high"] is not None), row
    json.dumps(result.to_dict(), allow_nan=False)


def test_annotators_are_in_closed_forms_and_missing_ones_are_told():
    result = ceiling(with_people(study(n_items=40)), metrics=["brier", "tvd"], n_resamples=20)
    brier, tvd = of(result, kind="noise_only")
    assert brier.unc.design == "crossed with annotators"
    assert WITHOUT_PEOPLE in tvd.unc.reason
    _, halves = of(result, kind="another_crowd")
    assert (halves.unc.design, halves.crowd_size) == ("crossed with annotators", 9)  # one of 20 votes is kept back


def test_bits_do_not_depend_on_threads_or_other_metrics():
    panel = study(n_items=40)
    both = ceiling(panel, metrics=["tvd", "spearman"], n_resamples=30, threads=1)
    assert ceiling(panel, metrics=["tvd", "spearman"], n_resamples=30, threads=2).records() == both.records()
    alone_ = ceiling(panel, metrics=["spearman"], n_resamples=30).records()
    assert alone_ == [row for row in both.records() if row["metric"] == "spearman"]


def test_notes_say_what_rests_on_the_prior():
    codes = [note.code for note in ceiling(study(n_items=20), metrics=["kl", "tvd"], n_resamples=10).notes]
    assert codes == ["populations_drawn", "annotators_unknown", "one_seed"]
    assert "populations_drawn" not in [n.code for n in ceiling(study(n_items=20), metrics=["kl"]).notes]


def test_refusals():
    votes = votes_from_counts(COUNTS)
    with pytest.raises(UsageError, match="entropy_bias has no better side"):
        ceiling(votes, metrics=["entropy_bias"])
    with pytest.raises(UsageError, match="choose drawn or mean"):
        ceiling(votes, population="median")
    with pytest.raises(UsageError, match="n_resamples"):
        ceiling(votes, n_resamples=1)


@pytest.mark.parametrize("counts", DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("with_model", [False, True])
@pytest.mark.parametrize("ids", [False, True])
def test_degenerate_cases_give_reasons(counts, with_model, ids):
    panel = panel_from_arrays(np.tile([0.6, 0.4], (len(counts), 1)), np.array(counts))
    panel = with_people(panel, n_people=6) if ids else panel
    records = ceiling(panel if with_model else panel.votes, metrics=DIRECTED, n_resamples=10).records()
    for row in records:
        assert row["reason"] or (row["low"] is not None and row["high"] is not None), row
    json.dumps(records, allow_nan=False)


def test_infinite_ceilings_of_people_with_ids_have_reasons_and_no_warnings():
    """A label chosen once on one item only: the others' base rate gives it 0, with it or without any annotator."""
    rows = [(f"i{i}", f"w{a}", "abc"[(i + a) % 2 if i or a else 2]) for i in range(6) for a in range(5)]
    votes = read_votes(pl.DataFrame(rows, schema=["item_id", "annotator_id", "label"], orient="row"))
    found = [row for row in ceiling(votes, metrics=["kl", "cross_entropy"]).rows if row.combiner == "dirichlet"]
    assert len(found) == 2
    assert all(row.unc.estimate is None and "infinite" in row.unc.reason for row in found)
