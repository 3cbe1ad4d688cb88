"""Values that independent slow code computed on real votes and real predictions."""

from __future__ import annotations

import json

import numpy as np
import pytest

from saturation.metrics.agreement import base_rate
from saturation.metrics.catalogue import metric
from saturation.metrics.entropy_reliability import reliability_from_moments
from saturation.metrics.metric import Human
from tests import naive

pytestmark = pytest.mark.realdata

LABELS = "enc"
SEEDS = (0, 1, 2)
RUNS = (
    *(f"snli/roberta-base/seed{seed}" for seed in SEEDS),
    *(f"snli/roberta-base/seed{seed}/T=2" for seed in SEEDS),
    "snli/roberta-base/ensemble_mean_prob_3seeds",
)

KEYS = {
    "kl": "kl_human_model_nats",
    "kl[base=2]": "kl_human_model_bits",
    "reverse_kl[floor=1e-12]": "kl_model_human_clip_1e-12_renorm",
    "reverse_kl[floor=1e-10]": "kl_model_human_clip_1e-10_renorm",
    "reverse_kl[floor=1e-6]": "kl_model_human_clip_1e-06_renorm",
    "reverse_kl[smooth=1/K]": "kl_model_human_dirichlet_1/K",
    "reverse_kl[smooth=0.5]": "kl_model_human_dirichlet_0.5",
    "reverse_kl[smooth=1]": "kl_model_human_dirichlet_1.0",
    "cross_entropy": "cross_entropy_human_model_nats",
    "jsd": "jsd_divergence_nats",
    "jsd[base=2]": "jsd_divergence_bits",
    "js_distance": "jsd_distance_base_e",
    "js_distance[base=2]": "jsd_distance_base_2",
    "tvd": "tvd_distce",
    "brier": "brier_soft",
    "brier_vote": "brier_expected_vs_votes",
    "entropy": "mean_entropy_model_nats",
    "entropy_error": "entce_abs_nats",
    "entropy_bias": "entce_signed_model_minus_human_nats",
    "accuracy": "accuracy_tie_fractional",
    "accuracy[ties=first]": "accuracy_vs_argmax_first",
    "accuracy[ties=last]": "accuracy_vs_argmax_last",
    "accuracy[ties=any]": "accuracy_any_mode",
    "accuracy[ties=column]": "accuracy_vs_majority_label",
    "top_vote_share": "expected_accuracy_vs_random_vote",
    "rank_agreement": "rankcs_argsort_stable",
    "rank_agreement[ties=tolerant]": "rankcs_tie_tolerant",
    "entropy_correlation": "entropy_pearson",
    "entropy_correlation[kind=spearman]": "entropy_spearman",
    "spearman": "entropy_spearman",
    "kendall": "entropy_kendall_tau_b",
    "macro_f1[ties=column]": "f1_macro_majority_label",
}
RULES = {"first": ("argmax_first", "majority_argmax_first"), "column": ("majority_label", "majority_label")}
for bins in (10, 15):
    for rule, (top, classwise) in RULES.items():
        KEYS |= {
            f"ece[ties={rule};bins={bins}]": f"ece_right{bins}_{top}",
            f"adaptive_ece[ties={rule};bins={bins}]": f"ece_adaptive_mass{bins}_{top}",
            f"adaptive_ece[ties={rule};bins={bins};binning=quantile]": f"ece_adaptive_quantile{bins}_{top}",
            f"classwise_ece[ties={rule};bins={bins}]": f"classwise_ece_right{bins}_{classwise}_mean",
            f"classwise_ece[ties={rule};bins={bins};binning=count]": f"classwise_ece_mass{bins}_{classwise}_mean",
        }
    KEYS |= {
        f"dist_ece[bins={bins}]": f"classwise_ece_right{bins}_soft_mean",
        f"dist_ece[bins={bins};binning=count]": f"classwise_ece_mass{bins}_soft_mean",
        f"dist_ece_top[bins={bins}]": f"dist_ece_top_label_right{bins}",
        f"dist_ece_top[bins={bins};binning=count]": f"dist_ece_top_label_adaptive_mass{bins}",
        f"dist_ece_top[bins={bins};binning=quantile]": f"dist_ece_top_label_adaptive_quantile{bins}",
    }


@pytest.fixture(scope="module")
def snli(shared_data):
    """Votes (items, e n c), published majority, and logits (seeds, items, e n c)."""
    folder = shared_data / "chaosnli" / "data"
    lines = (folder / "chaosNLI_v1.0" / "chaosNLI_snli.jsonl").read_text().splitlines()
    items = {row["uid"]: row for row in map(json.loads, lines)}
    logits = np.full((len(SEEDS), len(items), 3), np.nan)
    place = {uid: i for i, uid in enumerate(items)}
    for seed in SEEDS:
        for part in ("test", "dev"):
            text = (folder / "predictions" / f"SNLI_{part}_roberta-base_{seed}.json").read_text()
            for row in map(json.loads, text.splitlines()):
                if row["uid"] in place:
                    entailment, contradiction, neutral = row["logits"]
                    logits[seed, place[row["uid"]]] = entailment, neutral, contradiction
    counts = np.array([row["label_count"] for row in items.values()])
    majority = np.array([LABELS.index(row["majority_label"]) for row in items.values()])
    return Human(counts, majority=majority), logits


@pytest.fixture(scope="module")
def runs(snli):
    """Probabilities by run, as the reference names it."""
    _, logits = snli
    probs = {}
    for seed in SEEDS:
        probs[f"snli/roberta-base/seed{seed}"] = softmax(logits[seed])
        probs[f"snli/roberta-base/seed{seed}/T=2"] = softmax(logits[seed] / 2)
    probs["snli/roberta-base/ensemble_mean_prob_3seeds"] = softmax(logits).mean(axis=0)
    return probs


def softmax(logits):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("spec", KEYS)
def test_every_mapped_key(spec, snli, runs, reference):
    human, _ = snli
    made = metric(spec)
    for run in RUNS:
        expected = reference["metrics"][run][KEYS[spec]]
        assert float(made.value(runs[run], human)) == pytest.approx(expected, abs=1e-9), run


def test_worked_rows(snli, runs):
    human, _ = snli
    probs = runs["snli/roberta-base/seed0"]
    assert float(metric("kl").value(probs, human)) == pytest.approx(0.6173031800504526, abs=1e-12)
    assert float(metric("entropy_correlation").value(probs, human)) == pytest.approx(0.3614897477359218, abs=1e-12)


BAAN = {"Acc": "accuracy[ties=last]", "ECE": "ece[ties=first]", "RankCS": "rank_agreement", "EntCE": "entropy_error",
        "DistCE": "tvd"}  # fmt: skip


@pytest.mark.parametrize("row", BAAN)
def test_the_table_of_baan_et_al_to_the_printed_digits(row, snli, runs, reference):
    human, _ = snli
    columns = [runs[run] for run in RUNS[:6]]
    oracle = human.counts / human.counts.sum(axis=1, keepdims=True)
    if row == "Acc":  # published accuracy takes the last of tied labels on both sides, also of the oracle
        oracle = oracle + 1e-12 * np.arange(3)
    made = metric(BAAN[row])
    values = [round(float(made.value(probs, human)), 3) for probs in (*columns, oracle)]
    assert values == reference["published_baan_2022"]["published_3dp"][row]


def test_the_base_rate_is_worth_one_and_a_quarter_votes(snli):
    human, _ = snli
    assert base_rate(human.counts).strength == pytest.approx(1.24, abs=0.005)


@pytest.mark.parametrize("half", [2, 50])
def test_split_half_reliability(half, snli, reference):
    """Moments over disjoint halves: every draw of 2, then 2 of the rest; of 50 the rest is the other half."""
    human, _ = snli
    rows, inverse = np.unique(np.sort(human.counts, axis=1), axis=0, return_inverse=True)
    moments = np.array([half_moments(row, half) for row in rows])[inverse.reshape(-1)]
    expected = reference["label_side"]["split_half_disjoint_exact/snli"][str(half)]
    assert float(reliability_from_moments(*moments.T)) == pytest.approx(expected, abs=1e-9)


def half_moments(counts, half):
    """Mean and variance of H over draws of ``half`` votes, covariance of H of two disjoint draws."""
    drawn, chance = draws(counts, half)
    value = entropies(drawn)
    mean = float((chance * value).sum())
    if 2 * half == counts.sum():
        other = entropies(counts - drawn)
    else:
        other = np.array([np.dot(p, entropies(rest)) for rest, p in (draws(counts - one, half) for one in drawn)])
    return mean, float((chance * value**2).sum()) - mean**2, float((chance * value * other).sum()) - mean**2


def draws(counts, size):
    from scipy.special import gammaln

    a, b = np.meshgrid(np.arange(size + 1), np.arange(size + 1), indexing="ij")
    rows = np.stack([a, b, size - a - b], axis=-1).reshape(-1, 3)
    rows = rows[((rows >= 0) & (rows <= counts)).all(axis=1)]
    log = (gammaln(counts + 1) - gammaln(rows + 1) - gammaln(counts - rows + 1)).sum(axis=1)
    n = counts.sum()
    return rows, np.exp(log - (gammaln(n + 1) - gammaln(size + 1) - gammaln(n - size + 1)))


def entropies(rows):
    return np.array([naive.entropy_of(row) for row in rows.tolist()])
