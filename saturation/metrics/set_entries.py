"""Catalogue entries of metrics that are defined on a set of items only."""

from __future__ import annotations

from collections.abc import Callable

from saturation.errors import UsageError
from saturation.metrics import calibration, classification, correlation, detection, ranks
from saturation.metrics.bins import Binning
from saturation.metrics.correlation import Kind
from saturation.metrics.entropy import entropy
from saturation.metrics.metric import Human, Metric
from saturation.typing import Floats, Ints, Probs, Scores, TieRule, Weights

CONSTANT = "the entropy of one side is the same for every item, so no correlation exists"
BINS_FIXED = "bins (a, b]; fixed by the full sample when items are resampled"


def entropy_correlation(name: str, *, kind: Kind = "pearson") -> Metric:
    """Correlation of the entropies."""
    kinds: dict[str, Callable[[str], Metric]] = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
    if kind not in kinds:
        raise UsageError(f"kind of entropy_correlation can be {', '.join(kinds)}, not {kind!r}")
    return kinds[kind](name)


def pearson(name: str) -> Metric:
    """Pearson's r of the entropies."""
    return Metric(
        name=name,
        title="entropy correlation (Pearson)",
        kind="set",
        direction="higher",
        order=None,
        range="[-1, 1]",
        formula="Pearson r over items of H(m) and H(h)",
        reference="Pearson 1895",
        undefined=CONSTANT,
        features=correlation.entropy_features,
        combine=correlation.combine_pearson,
        influence=correlation.pearson_influence,
    )


def spearman(name: str) -> Metric:
    """Spearman's rho of the entropies."""
    return Metric(
        name=name,
        title="entropy correlation (Spearman)",
        kind="set",
        direction="higher",
        order=None,
        range="[-1, 1]",
        formula="Spearman rho over items of H(m) and H(h), mid-ranks, ties to 12 decimals",
        reference="Spearman 1904",
        undefined=CONSTANT,
        ranked=lambda probs, human, weights: ranks.spearman(*ranks.entropy_pairs(probs, human.counts), weights),
        leave_one_out=lambda probs, human: ranks.spearman_leave_one_out(*ranks.entropy_pairs(probs, human.counts)),
    )


def kendall(name: str) -> Metric:
    """Kendall's tau-b of the entropies."""
    return Metric(
        name=name,
        title="entropy correlation (Kendall tau-b)",
        kind="set",
        direction="higher",
        order=None,
        range="[-1, 1]",
        formula="Kendall tau-b over items of H(m) and H(h), ties to 12 decimals",
        reference="Kendall 1945",
        undefined=CONSTANT,
        ranked=lambda probs, human, weights: ranks.kendall(*ranks.entropy_pairs(probs, human.counts), weights),
        leave_one_out=lambda probs, human: ranks.kendall_leave_one_out(*ranks.entropy_pairs(probs, human.counts)),
    )


def entropy_correlation_within(name: str) -> Metric:
    """Pooled within-group Pearson's r of the entropies."""
    return Metric(
        name=name,
        title="entropy correlation within sources",
        kind="set",
        direction="higher",
        order=None,
        range="[-1, 1]",
        formula="Pearson r of H(m) and H(h), both centred by group",
        undefined="no groups are known, or within them the entropy of one side is the same for every item",
        features=correlation.within_group_features,
        combine=correlation.combine_within,
        influence=correlation.within_influence,
    )


def dist_ece(name: str, *, bins: int = 10, binning: Binning = "width") -> Metric:
    """Classwise calibration error against the annotators."""
    return Metric(
        name=name,
        title="calibration error against the annotators",
        kind="set",
        direction="lower",
        order=1,
        range="[0, 1]",
        formula=f"mean over labels of sum_b n_b/I abs(mean m_k - mean h_k); {BINS_FIXED}",
        features=lambda probs, human: calibration.distribution_features(probs, human, bins=bins, binning=binning),
        combine=lambda means: calibration.label_mean_of_absolute_sums(means, bins),
    )


def dist_ece_top(name: str, *, bins: int = 10, binning: Binning = "width") -> Metric:
    """Top-label calibration error against the annotators."""
    return Metric(
        name=name,
        title="calibration against annotators, top label",
        kind="set",
        direction="lower",
        order=1,
        range="[0, 1]",
        formula=f"sum_b n_b/I abs(mean max m - mean h[argmax m]); {BINS_FIXED}",
        features=lambda probs, human: calibration.top_share_features(probs, human, bins=bins, binning=binning),
        combine=calibration.absolute_sum,
    )


def ece(name: str, *, bins: int = 10, binning: Binning = "width", ties: TieRule = "share", seed: int = 0) -> Metric:
    """Expected calibration error of the top label."""
    return Metric(
        name=name,
        title="expected calibration error",
        kind="set",
        direction="lower",
        order=1,
        range="[0, 1]",
        formula=f"sum_b n_b/I abs(mean max m - majority accuracy); {BINS_FIXED}",
        reference="Naeini et al. 2015; Guo et al. 2017",
        features=lambda probs, human: calibration.top_label_features(
            probs, human, bins=bins, binning=binning, ties=ties, seed=seed
        ),
        combine=calibration.absolute_sum,
    )


def adaptive_ece(
    name: str, *, bins: int = 10, binning: Binning = "count", ties: TieRule = "share", seed: int = 0
) -> Metric:
    """Expected calibration error of the top label with bins of equal size."""
    return ece(name, bins=bins, binning=binning, ties=ties, seed=seed)


def classwise_ece(
    name: str, *, bins: int = 10, binning: Binning = "width", ties: TieRule = "share", seed: int = 0
) -> Metric:
    """Calibration error label by label against the majority."""
    return Metric(
        name=name,
        title="classwise calibration error",
        kind="set",
        direction="lower",
        order=1,
        range="[0, 1]",
        formula=f"mean over labels of sum_b n_b/I abs(mean m_k - majority share of k); {BINS_FIXED}",
        reference="Kull et al. 2019",
        features=lambda probs, human: calibration.classwise_features(
            probs, human, bins=bins, binning=binning, ties=ties, seed=seed
        ),
        combine=lambda means: calibration.label_mean_of_absolute_sums(means, bins),
    )


def macro_f1(name: str, *, ties: TieRule = "share", seed: int = 0) -> Metric:
    """Macro F1 against the majority label."""
    return Metric(
        name=name,
        title="macro F1 against the majority label",
        kind="set",
        direction="higher",
        order=None,
        range="[0, 1]",
        formula="mean over labels of 2 hits / (predictions + majority items)",
        reference="van Rijsbergen 1979",
        features=lambda probs, human: classification.macro_f1_features(probs, human, ties=ties, seed=seed),
        combine=classification.combine_macro_f1,
    )


def auroc_ambiguous(name: str) -> Metric:
    """Whether the model's entropy finds the ambiguous items."""

    def parts(probs: Probs, human: Human) -> tuple[Ints, Floats]:
        return ranks.dense_codes(entropy(probs)), detection.ambiguous(human.counts)

    def ranked(probs: Probs, human: Human, weights: Weights) -> Floats:
        return detection.weighted_auroc(*parts(probs, human), weights)

    def leave_one_out(probs: Probs, human: Human) -> Scores:
        return detection.auroc_leave_one_out(*parts(probs, human))

    return Metric(
        name=name,
        title="AUROC of ambiguous items",
        kind="set",
        direction="higher",
        order=None,
        range="[0, 1]",
        formula="chance that H(m) ranks an item with H(h) above its .75 quantile higher than another; the quantile is "
        "fixed by the full sample when items are resampled",
        reference="Hanley and McNeil 1982",
        undefined="no item, or every item, is ambiguous: H(h) strictly above its .75 quantile",
        ranked=ranked,
        leave_one_out=leave_one_out,
    )


def aurc(name: str) -> Metric:
    """Area under the risk-coverage curve, answering by rising entropy."""
    return Metric(
        name=name,
        title="area under the risk-coverage curve",
        kind="set",
        direction="lower",
        order=None,
        range="[0, 1]",
        formula="1/I sum_j mean risk of the j lowest H(m); risk = 1 - h[argmax m]; ties averaged over orders",
        reference="Geifman et al. 2019",
        ranked=lambda probs, human, weights: detection.weighted_aurc(
            *detection.scores_and_risks(probs, human.counts), weights
        ),
        leave_one_out=lambda probs, human: detection.aurc_leave_one_out(
            *detection.scores_and_risks(probs, human.counts)
        ),
    )


def aurc_excess(name: str) -> Metric:
    """What the entropy's order loses against the order by risk."""
    return Metric(
        name=name,
        title="excess area under the risk-coverage curve",
        kind="set",
        direction="lower",
        order=None,
        range="[0, 1]",
        formula="aurc minus aurc of the order by risk",
        reference="Geifman et al. 2019",
        ranked=lambda probs, human, weights: detection.weighted_aurc_excess(
            *detection.scores_and_risks(probs, human.counts), weights
        ),
        leave_one_out=lambda probs, human: detection.aurc_excess_leave_one_out(
            *detection.scores_and_risks(probs, human.counts)
        ),
    )


SET_METRICS: dict[str, Callable[..., Metric]] = {
    "entropy_correlation": entropy_correlation,
    "spearman": spearman,
    "kendall": kendall,
    "entropy_correlation_within": entropy_correlation_within,
    "ece": ece,
    "adaptive_ece": adaptive_ece,
    "classwise_ece": classwise_ece,
    "dist_ece": dist_ece,
    "dist_ece_top": dist_ece_top,
    "macro_f1": macro_f1,
    "auroc_ambiguous": auroc_ambiguous,
    "aurc": aurc,
    "aurc_excess": aurc_excess,
}
