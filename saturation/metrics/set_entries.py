"""Catalogue entries of metrics that are defined on a set of items only."""

from __future__ import annotations

from collections.abc import Callable

from saturation.metrics import calibration, correlation
from saturation.metrics.bins import Binning
from saturation.metrics.metric import Metric
from saturation.typing import TieRule

CONSTANT = "the entropy of one side is the same for every item, so no correlation exists"
BINS_FIXED = "bins (a, b]; fixed by the full sample when items are resampled"


def entropy_correlation(name: str) -> Metric:
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
        title="top-label calibration error against the annotators",
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


SET_METRICS: dict[str, Callable[..., Metric]] = {
    "entropy_correlation": entropy_correlation,
    "entropy_correlation_within": entropy_correlation_within,
    "ece": ece,
    "adaptive_ece": adaptive_ece,
    "classwise_ece": classwise_ece,
    "dist_ece": dist_ece,
    "dist_ece_top": dist_ece_top,
}
