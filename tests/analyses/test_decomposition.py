"""murphy: intervals against loops, differences, designs, coverage, invariances, labels, reasons."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from saturation.analyses.deleted_groups import shuffled
from saturation.analyses.murphy.decomposition import IDENTITY, labels_of, murphy
from saturation.analyses.murphy.spreads import ALIKE, FITTED, NOISY
from saturation.analyses.spreads import ONE_ITEM
from saturation.errors import UsageError
from saturation.metrics.murphy import decompose, term_names
from saturation.resampling.draw import annotator_weights, item_weights, redraw_votes
from saturation.resampling.linearized import ONE_SEED
from saturation.tables.builders import panel_from_arrays
from tests import naive
from tests.analyses.test_evaluate import panel_of, study

VERSUS = "method=soft,budget=2"


def row_of(result, term, *, place=0, versus=None, outcome="soft", label="sum"):
    condition = list(dict.fromkeys(r.condition for r in result.rows))[place]
    wanted = (condition, versus, outcome, label, term)
    (row,) = [r for r in result.rows if (r.condition, r.versus, r.outcome, r.label, r.term) == wanted]
    return row


def pseudo_values(probs, counts, term, **options):
    """I T - (I - 1) T_(i) by deleting items; bins of equal width stay."""
    size = len(counts)
    whole = float(decompose(probs, counts, **options)[term])
    kept = [np.arange(size) != i for i in range(size)]
    return [size * whole - (size - 1) * float(decompose(probs[k], counts[k], **options)[term]) for k in kept]


# --- numbers -------------------------------------------------------------------------------------------------------


def test_estimates_are_means_over_cells():
    panel = study(1, n_splits=2, n_conditions=2)
    result = murphy(panel, outcome=("votes", "soft", "majority"), bins=7)
    for outcome in ("votes", "soft", "majority"):
        for term in term_names(outcome):
            cells = [
                float(decompose(probs[1, t], panel.votes.counts[items], outcome=outcome, bins=7)[term])
                for items, probs in zip(panel.items_of_split, panel.probs, strict=True)
                for t in range(3)
            ]
            row = row_of(result, term, place=1, outcome=outcome)
            assert row.unc.estimate == pytest.approx(np.mean(cells), abs=1e-13)
            assert row.unc.estimator == ("corrected" if term.endswith("corrected") else "plugin")


@pytest.mark.parametrize("term", ["rel", "res", "wbc", "unc", "rel_corrected", "irreducible_corrected"])
def test_few_seeds_equal_the_formulas_with_loops(term):
    panel = study(3, n_splits=2, n_items=30)
    row = row_of(murphy(panel, outcome="votes", bins=4), term, outcome="votes")
    z = [
        [pseudo_values(one, panel.votes.counts[items], term, bins=4) for one in probs[0]]
        for items, probs in zip(panel.items_of_split, panel.probs, strict=True)
    ]
    for of_split, items, probs in zip(z, panel.items_of_split, panel.probs, strict=True):
        for t, values in enumerate(of_split):  # centred at the cell's term, as the engine does
            cell = float(decompose(probs[0, t], panel.votes.counts[items], bins=4)[term])
            of_split[t] = [v - np.mean(values) + cell for v in values]
    expected = naive.few_seeds_variance(z, panel.items_of_split)
    assert row.unc.se == pytest.approx(expected["variance"] ** 0.5, rel=1e-9)
    assert row.unc.high - row.unc.estimate == pytest.approx(row.unc.estimate - row.unc.low)
    assert (row.unc.interval, row.unc.n_resamples) == ("linearized_t", None)


def test_balanced_labels_do_not_seem_known_exactly():
    """UNC of votes is flat at h = .5, so the jackknife sees no spread: h 0, 0, 1, 1 has s^2 = 1/3.

    The square of the mean's error has variance 2 (s^2/4)^2 = 2/144 a label; both labels move together, so sd doubles.
    """
    panel = panel_from_arrays(np.full((4, 2), 0.5), [[0, 4], [0, 4], [4, 0], [4, 0]])
    for term, binning in (("unc_corrected", "width"), ("uncertainty", "isotonic")):
        row = row_of(murphy(panel, outcome="votes", binning=binning), term, outcome="votes")
        assert row.unc.se == pytest.approx(2 * math.sqrt(2) / 12)
    row = row_of(murphy(panel, outcome="votes", label="0"), "rel_corrected", outcome="votes", label="0")
    assert row.unc.se == pytest.approx(math.sqrt(2) / 12)  # one bin, and calibrated in it


def test_one_seed_is_the_jackknife_and_says_so():
    panel = study(2, n_seeds=1, n_conditions=1)
    row = row_of(murphy(panel, outcome="soft"), "res")
    values = pseudo_values(panel.probs[0][0, 0], panel.votes.counts, "res", outcome="soft")
    se = np.std(values, ddof=1) / math.sqrt(40)
    assert row.unc.se == pytest.approx(se, rel=1e-9)
    assert row.unc.low == pytest.approx(row.unc.estimate - stats.t.ppf(0.975, 39) * se)
    assert row.unc.reason == ONE_SEED


def test_an_interval_around_a_biased_value_says_so():
    """A calibrated model's REL is all noise; with many votes and items the noise is small beside the interval."""
    generator = np.random.default_rng(3)
    m = generator.uniform(size=100)
    counts = generator.binomial(5, m)
    noisy = panel_from_arrays(np.stack([1 - m, m], 1), np.stack([5 - counts, counts], 1))
    assert NOISY in row_of(murphy(noisy, outcome="soft"), "rel").unc.reason
    assert row_of(murphy(noisy, outcome="soft"), "rel_corrected").unc.reason == ONE_SEED
    m = generator.uniform(0, 0.5, size=2000)
    counts = generator.binomial(100, m + 0.4)
    plain = panel_from_arrays(np.stack([1 - m, m], 1), np.stack([100 - counts, counts], 1))
    assert row_of(murphy(plain, outcome="soft"), "rel").unc.reason == ONE_SEED
    isotonic = murphy(plain, outcome="soft", binning="isotonic")
    assert row_of(isotonic, "miscalibration").unc.reason == f"{ONE_SEED}; {FITTED}"
    assert row_of(isotonic, "uncertainty").unc.reason == ONE_SEED


def test_differences_are_paired():
    panel = study(4, n_seeds=1)
    result = murphy(panel, outcome="soft", versus=VERSUS)
    a, b = (pseudo_values(panel.probs[0][c, 0], panel.votes.counts, "rel_corrected", outcome="soft") for c in range(2))
    row = row_of(result, "rel_corrected", versus=str(panel.conditions[1]))
    expected = [
        float(decompose(panel.probs[0][c, 0], panel.votes.counts, outcome="soft")["rel_corrected"]) for c in (0, 1)
    ]
    assert row.unc.estimate == pytest.approx(expected[0] - expected[1])
    assert row.unc.se == pytest.approx(np.std(np.subtract(a, b), ddof=1) / math.sqrt(40), rel=1e-9)
    assert row_of(result, "unc", versus=str(panel.conditions[1])).unc.reason == ALIKE
    assert not [r for r in result.rows if r.versus and r.condition == panel.conditions[1]]


def test_bca_of_many_seeds_equals_resampling_by_hand():
    """Ten seeds, splits that share items: one draw of items serves every cell; rel keeps its linearised interval."""
    panel = study(5, n_seeds=10, n_splits=2, n_items=25, n_conditions=2)
    result = murphy(panel, outcome="soft", bins=3, n_resamples=200, rng=7, versus=VERSUS)
    ranks = np.unique(np.concatenate(panel.items_of_split))

    def mean_term(weights, term, c):
        found = []
        for items, probs in zip(panel.items_of_split, panel.probs, strict=True):
            rows = np.repeat(np.arange(len(items)), weights[np.searchsorted(ranks, items)].astype(int))
            found += [
                float(decompose(one[rows], panel.votes.counts[items][rows], outcome="soft", bins=3)[term])
                for one in probs[c]
            ]
        return np.mean(found)

    whole = np.ones(len(ranks))
    for term, versus in (("wbc", None), ("brier", str(panel.conditions[1]))):
        row = row_of(result, term, versus=versus)
        contrast = {0: 1} if versus is None else {0: 1, 1: -1}

        def value(weights, term=term, contrast=contrast):
            return sum(sign * mean_term(weights, term, c) for c, sign in contrast.items())

        drawn = np.array([value(w) for w in item_weights(7, 0, 200, len(ranks))])
        deleted = np.array([value(whole - np.eye(len(ranks))[u]) for u in range(len(ranks))])
        share = ((drawn < value(whole)).mean() + (drawn <= value(whole)).mean()) / 2
        d = deleted.mean() - deleted
        a = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
        z0, z = stats.norm.ppf(share), stats.norm.ppf([0.025, 0.975])
        ends = np.quantile(drawn, stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z))))
        assert row.unc.interval == "bca"
        assert (row.unc.low, row.unc.high) == pytest.approx(tuple(ends), rel=1e-9, abs=1e-13)
        assert row.unc.se == pytest.approx(drawn.std(ddof=1), rel=1e-9)
    assert row_of(result, "rel").unc.interval == "linearized_t"
    told = murphy(panel, outcome="soft", bins=3, n_resamples=200, interval="percentile")
    assert row_of(told, "rel").unc.interval == "percentile"
    assert row_of(told, "rel_corrected").unc.interval == "linearized_t"


def test_redrawn_votes_give_a_spread_around_the_estimate():
    panel = study(6, n_conditions=1, n_items=15, n_seeds=2)
    result = murphy(panel, outcome="votes", design="votes", n_resamples=80, rng=3)

    def means(counts):
        found = [decompose(one, counts) for one in panel.probs[0][0]]
        return {term: np.mean([float(one[term]) for one in found]) for term in term_names("votes")}

    drawn = [means(c) for c in redraw_votes(3, 0, 80, panel.votes.counts)]
    for term in ("rel", "res_corrected", "resolvable_corrected"):
        row = row_of(result, term, outcome="votes")
        factor = math.sqrt(10 / 9) if term.endswith("corrected") else 1
        sd = np.std([one[term] for one in drawn], ddof=1) * factor
        assert row.unc.low == pytest.approx(means(panel.votes.counts)[term] - 1.959963985 * sd, rel=1e-8)
        assert (row.unc.interval, row.unc.design) == ("normal", "votes")


def test_annotators_add_what_they_do_alike():
    """A difference of RES: V_A by deleting everybody, V_w by the same with votes in other hands (two shuffles)."""
    panel = study(5, n_conditions=2, n_annotators=25)
    without = replace(panel, votes=replace(panel.votes, ballots=None))
    versus = str(panel.conditions[1])
    items = row_of(murphy(without, outcome="soft", versus=VERSUS), "res", versus=versus)
    both = row_of(murphy(panel, outcome="soft", versus=VERSUS), "res", versus=versus)
    ballots = panel.votes.ballots

    def res(counts):
        of = [[float(decompose(one, counts, outcome="soft")["res"]) for one in panel.probs[0][k]] for k in (0, 1)]
        return np.mean(of[0]) - np.mean(of[1])

    def squares(owners):
        gaps, loads = [], []
        for gone in range(25):
            c = np.zeros((40, 3))
            kept = owners.annotator != gone
            np.add.at(c, (owners.item[kept], owners.label[kept]), 1)
            gaps.append(res(c) - res(panel.votes.counts))
            loads.append((~kept).sum())
        share = np.array(loads) / sum(loads)
        return 24 / 25 * sum((g - s * sum(gaps)) ** 2 for g, s in zip(gaps, share, strict=True))

    people = squares(ballots)
    within = np.mean([squares(shuffled(ballots, panel.votes.counts, 0, turn)) for turn in range(2)])
    assert people > within
    assert both.unc.se**2 == pytest.approx(items.unc.se**2 + people - within, rel=1e-9)
    assert (both.unc.design, both.unc.interval, both.unc.n_resamples) == ("items x annotators", "linearized_t", None)


def test_few_annotators_are_left_out_one_by_one():
    panel = study(7, n_conditions=1, n_annotators=12)
    row = row_of(murphy(panel, outcome="soft", design="annotators"), "res_corrected")
    ballots, deleted = panel.votes.ballots, []
    for gone in range(12):
        c = np.zeros((40, 3))
        kept = ballots.annotator != gone
        np.add.at(c, (ballots.item[kept], ballots.label[kept]), 1)
        deleted.append(np.mean([float(decompose(one, c, outcome="soft")["res"]) for one in panel.probs[0][0]]))
    sd = math.sqrt(11 / 12 * sum((t - np.mean(deleted)) ** 2 for t in deleted))
    assert row.unc.se == pytest.approx(sd, rel=1e-9)
    assert row.unc.interval == "jackknife"


def test_many_seeds_and_annotators_are_redrawn_together():
    panel = study(8, n_conditions=1, n_annotators=25, n_seeds=10, n_items=20)
    result = murphy(panel, outcome="soft", n_resamples=40, rng=1, interval="normal")
    row = row_of(result, "rel_corrected")
    ballots, drawn = panel.votes.ballots, []
    for of_people, of_items in zip(annotator_weights(1, 0, 40, 25), item_weights(1, 0, 40, 20), strict=True):
        c = np.zeros((20, 3))
        np.add.at(c, (ballots.item, ballots.label), of_people[ballots.annotator])
        rows = np.repeat(np.arange(20), of_items.astype(int))
        drawn.append(np.mean([float(decompose(m[rows], c[rows], outcome="soft")["rel"]) for m in panel.probs[0][0]]))
    assert row.unc.se == pytest.approx(np.std(drawn, ddof=1), rel=1e-9)
    assert row.unc.interval == "normal"


def test_isotonic_rows_and_their_linearised_intervals():
    panel = study(9, n_seeds=1, n_conditions=1)
    result = murphy(panel, outcome="soft", binning="isotonic", label="b")
    row = row_of(result, "miscalibration", label="b")
    m, h = panel.probs[0][0, 0, :, 1], panel.votes.counts[:, 1] / 10
    fit = naive.pool_adjacent_violators(m.tolist(), h.tolist())
    scores = (m - h) ** 2 - (np.array(fit) - h) ** 2
    assert row.unc.estimate == pytest.approx(scores.mean(), abs=1e-14)
    assert row.unc.se == pytest.approx(scores.std(ddof=1) / math.sqrt(40), rel=1e-9)
    assert (row.bins, row.bins_used) == (None, len(set(np.round(fit, 12))))
    assert [r.term for r in result.rows] == ["miscalibration", "discrimination", "uncertainty", "brier"]
    assert {"monotone_calibration", "fit_fixed"} <= {n.code for n in result.notes}
    with pytest.raises(UsageError, match="isotonic"):
        murphy(panel, binning="isotonic", interval="percentile")
    votes = murphy(panel, binning="isotonic", design="votes", n_resamples=30)
    assert row_of(votes, "miscalibration").unc.interval == "normal"


# --- coverage ------------------------------------------------------------------------------------------------------


def simulated(generator, n_items=150, n_votes=20):
    """Two labels; the forecast m is uniform on 20 levels and E(h | m) = .1 + .8 m, beta distributed around it."""
    m = (generator.integers(20, size=n_items) + 0.5) / 20
    centre = 0.1 + 0.8 * m
    p = generator.beta(8 * centre, 8 * (1 - centre))
    counts = generator.binomial(n_votes, p)
    return np.stack([1 - m, m], axis=1), np.stack([n_votes - counts, counts], axis=1)


def test_intervals_of_the_corrected_terms_cover_the_planted_truth():
    """Ten bins of two levels: bin centres .05, .15 ... .95. Per label, E over the 20 levels:

    REL = mean (.1 - .2 m_b)^2 and RES = .64 Var(m_b) = .64 .0825 = .0528, with Var(m_b) = (100 - 1)/12/100;
    REL = .04 Var(m_b) = .0033. Both doubled by the sum over two labels.
    UNC of votes is .25 a label, its maximum: there the interval is conservative.
    """
    generator = np.random.default_rng(11)
    truth = {"rel_corrected": 0.0066, "res_corrected": 0.1056, "unc_corrected": 0.5}
    hits = dict.fromkeys(truth, 0)
    means = dict.fromkeys(truth, 0.0)
    for _ in range(300):
        probs, counts = simulated(generator)
        result = murphy(panel_from_arrays(probs, counts))
        for term, value in truth.items():
            unc = row_of(result, term, outcome="votes").unc
            hits[term] += unc.low <= value <= unc.high
            means[term] += unc.estimate / 300
    low, high = stats.binom.ppf([0.0005, 0.9995], 300, 0.95)
    assert hits.pop("unc_corrected") >= low
    assert all(low <= n <= high for n in hits.values()), hits
    assert means["unc_corrected"] == pytest.approx(0.5, abs=0.001)
    assert means["rel_corrected"] == pytest.approx(0.0066, abs=0.0006)
    assert means["res_corrected"] == pytest.approx(0.1056, abs=0.003)


# --- diagram -------------------------------------------------------------------------------------------------------


def test_bins_of_the_diagram_by_hand():
    """Label 1: m .2, .2, .8; h 0, .5, 1 of 2 votes. Bins (0, .5]: m .2, h .25; (.5, 1]: m .8, h 1.

    s = sqrt(((-.25)^2 + .25^2) 2/1)/2 = .25, t_{.975, 1} = 12.7062; annotators: .5 (2/1)/2 .. of the second item
    n h (1 - h)/(n - 1)/n = 2 .25/1/2 = .25, sd of the mean sqrt(.25)/2 = .25.
    """
    panel = panel_from_arrays([[0.8, 0.2], [0.8, 0.2], [0.2, 0.8]], [[2, 0], [1, 1], [0, 2]])
    low, high = murphy(panel, bins=2, label="1", outcome="votes").diagram
    assert (low.lower, low.upper, low.share) == (0, 0.5, pytest.approx(2 / 3))
    assert (low.forecast, low.observed) == pytest.approx((0.2, 0.25))
    assert low.high == pytest.approx(0.25 + 12.7062047 * 0.25)
    assert low.annotator_sd == pytest.approx(0.25)
    assert (high.observed, high.low, high.annotator_sd) == (1, None, 0)


def test_diagram_of_several_cells_counts_an_item_once():
    """The same model twice is no more data."""
    panel = study(1, n_conditions=1, n_seeds=1)
    doubled = replace(panel, probs=(np.repeat(panel.probs[0], 2, axis=1),), seeds=((0, 1),))
    once, twice = (murphy(p, outcome="soft", label="a").diagram for p in (panel, doubled))
    for a, b in zip(once, twice, strict=True):
        assert (a.share, a.observed, a.annotator_sd) == pytest.approx((b.share, b.observed, b.annotator_sd))
        if a.low is not None:
            assert (a.low, a.high) == pytest.approx((b.low, b.high))


def test_diagram_covers_every_label_and_all_items():
    panel = study(2, n_splits=2)
    diagram = murphy(panel, outcome="majority").diagram
    for condition in panel.conditions:
        for label in "abc":
            shares = [b.share for b in diagram if (b.condition, b.label) == (condition, label)]
            assert sum(shares) == pytest.approx(1)
    assert all(b.annotator_sd is None for b in diagram)
    assert murphy(panel, binning="isotonic").diagram == ()


# --- rows, labels, options -----------------------------------------------------------------------------------------

COND = ["condition", "model", "method", "budget", "strength", "alpha"]
UNC = ["estimate", "low", "high", "se", "level", "interval", "estimator", "design", "n_resamples", "n_items", "n_cells"]


def test_every_row_has_the_documented_keys():
    result = murphy(study(), versus=VERSUS)
    own = ["versus", "outcome", "binning", "bins", "bins_used", "label", "term"]
    assert all(list(record) == [*COND, *own, *UNC, "reason"] for record in result.records())
    assert result.to_frame().columns == [*COND, *own, *UNC, "reason"]
    assert [r.term for r in result.rows[:14]] == [*term_names("votes"), "residual"]
    assert all(r.unc.low is not None or r.unc.reason for r in result.rows)
    assert all(abs(r.unc.estimate) < 1e-12 and r.unc.reason == IDENTITY for r in result.rows if r.term == "residual")


def test_labels_by_name_and_by_word():
    assert labels_of("sum", ("a", "b")) == {"sum": "sum"}
    assert labels_of(("top", "label:top"), ("top", "mean")) == {"top": "top", "label:top": 0}
    with pytest.raises(UsageError, match="label:mean"):
        labels_of("c", ("top", "mean"))
    result = murphy(study(), label=("sum", "a", "b", "c", "mean"), outcome="soft")
    summed = row_of(result, "res").unc.estimate
    assert sum(row_of(result, "res", label=k).unc.estimate for k in "abc") == pytest.approx(summed)
    assert row_of(result, "res", label="mean").unc.estimate == pytest.approx(summed / 3)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"outcome": "hard"}, "unknown outcome 'hard'"),
        ({"outcome": ()}, "no outcome"),
        ({"binning": "quantile"}, "unknown binning"),
        ({"bins": 0}, "bins is 0"),
        ({"label": "z"}, "no label 'z'"),
        ({"label": ()}, "no label"),
        ({"versus": "budget=7"}, "no condition matches"),
        ({"design": "annotators"}, "needs annotator ids"),
        ({"design": "votes", "interval": "percentile"}, "never a centre"),
        ({"level": 1.0}, "level is 1.0"),
        ({"n_resamples": 1}, "n_resamples is 1"),
        ({"outcome": "majority", "ties": "column"}, "majority_label"),
        ({"outcome": "majority", "ties": "coin"}, "unknown tie rule"),
    ],
)
def test_what_is_not_understood_is_refused(options, match):
    with pytest.raises(UsageError, match=match):
        murphy(study(), **options)


def test_notes_say_what_is_biased_and_hidden():
    codes = {n.code: n.message for n in murphy(study()).notes}
    assert "rel_corrected" in codes["plugin_biased"]
    assert "wbv" in codes["bins_fixed"]
    flat = panel_of(study().votes.counts, [np.full((1, 3, 40, 3), 1 / 3)])
    said = {n.code: n.message for n in murphy(flat).notes}["few_bins"]
    assert "fewer than 3 bins" in said
    assert str(flat.conditions[0]) in said


# --- invariances ---------------------------------------------------------------------------------------------------


def numbers(result):
    return [(r.term, str(r.condition), r.versus, r.outcome, r.unc.estimate, r.unc.low, r.unc.high) for r in result.rows]


@pytest.mark.parametrize("design", [None, "votes"])
def test_threads_change_no_bit(design):
    panel = study(3, n_seeds=10, n_items=20)
    one, two = (murphy(panel, design=design, n_resamples=50, threads=t, versus=VERSUS) for t in (1, 3))
    assert numbers(one) == numbers(two)


def test_other_conditions_change_no_bit():
    panel = study(3, n_conditions=3)
    alone = replace(panel, conditions=panel.conditions[1:2], probs=tuple(p[1:2] for p in panel.probs))
    for binning in ("width", "isotonic"):
        whole = [n for n in numbers(murphy(panel, binning=binning)) if n[1] == str(panel.conditions[1])]
        assert numbers(murphy(alone, binning=binning)) == whole


@pytest.mark.parametrize("binning", ["width", "count", "isotonic"])
def test_shuffled_rows_change_no_bit(binning):
    panel = study(4, n_seeds=2, n_conditions=2)
    ids = [f"i{n:02d}" for n in range(40)]
    order = np.random.default_rng(3).permutation(40)
    probs, counts = panel.probs[0], panel.votes.counts
    conditions = [{"method": "soft", "budget": 1}, {"method": "soft", "budget": 2}]
    plain = panel_from_arrays(probs, counts, conditions=conditions, item_ids=ids)
    shuffled = panel_from_arrays(
        probs[:, :, order], counts[order], conditions=conditions, item_ids=[ids[i] for i in order]
    )
    assert numbers(murphy(plain, binning=binning)) == numbers(murphy(shuffled, binning=binning))


# --- degenerate studies --------------------------------------------------------------------------------------------


def told(result):
    """Every number is finite or has a reason; nothing is left without either."""
    for record in result.records():
        assert record["estimate"] is not None or record["reason"]
        assert record["low"] is not None or record["reason"]
    return {(r.outcome, r.term): r.unc for r in result.rows if r.versus is None}


@pytest.mark.parametrize("binning", ["width", "count", "isotonic"])
def test_one_item(binning):
    panel = panel_from_arrays([[0.7, 0.3]], [[3, 1]])
    found = told(murphy(panel, outcome=("votes", "soft", "majority"), binning=binning))
    assert found["votes", "brier"].reason == ONE_ITEM
    if binning != "isotonic":
        assert found["votes", "rel_corrected"].estimate is None
        assert found["votes", "rel_corrected"].reason == "no corrected value: one item only"
    told(murphy(panel, design="votes", n_resamples=20, binning=binning))


@pytest.mark.parametrize("design", [None, "votes", "crossed"])
@pytest.mark.parametrize("binning", ["width", "count", "isotonic"])
def test_unanimous_items_and_a_constant_model(design, binning):
    panel = panel_of([[5, 0, 0]] * 8, [np.tile([0.2, 0.3, 0.5], (2, 3, 8, 1))])
    result = murphy(panel, design=design, binning=binning, n_resamples=30, versus=VERSUS)
    found = told(result)
    name = "uncertainty" if binning == "isotonic" else "unc"
    assert found["soft", name].estimate == 0
    assert found["soft", name].low is None
    assert "no spread" in found["soft", name].reason


@pytest.mark.parametrize("design", [None, "votes"])
def test_single_votes(design):
    panel = study(2, n_votes=1)
    found = told(murphy(panel, design=design, n_resamples=30))
    assert found["votes", "irreducible_corrected"].reason.startswith("no corrected value: an item has a single vote")
    if design is None:
        assert found["votes", "rel_corrected"].low is not None
    else:
        assert found["votes", "rel_corrected"].reason == "single votes: redrawing them shows no spread"
    assert all(b.annotator_sd is None for b in murphy(panel).diagram)


def test_every_item_alone_in_its_bin():
    panel = panel_from_arrays([[0.95, 0.05], [0.5, 0.5], [0.05, 0.95]], [[3, 1], [2, 2], [1, 3]])
    found = told(murphy(panel))
    assert found["votes", "rel_corrected"].reason == "no corrected value: no bin holds two items"
    pair = panel_from_arrays([[0.95, 0.05], [0.94, 0.06], [0.5, 0.5]], [[3, 1], [2, 2], [1, 3]])
    assert told(murphy(pair))["votes", "rel_corrected"].reason == "it does not exist without one of the items"


def test_one_annotator_for_everything():
    from saturation.tables.panel import Ballots

    panel = study(3, n_votes=1, n_conditions=1)
    label = panel.votes.counts.argmax(axis=1)
    ballots = Ballots(("w",), np.arange(40), np.zeros(40, dtype=np.int64), label)
    alone = replace(panel, votes=replace(panel.votes, ballots=ballots))
    for design in (None, "annotators", "crossed"):
        found = told(murphy(alone, design=design, n_resamples=20))
        assert "one annotator" in found["votes", "rel"].reason
