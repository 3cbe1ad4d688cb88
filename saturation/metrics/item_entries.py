"""Catalogue entries of per-item metrics: one builder a metric, options bound by keyword."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saturation.metrics import corrections, distance, divergence, entropy, majority, ranking
from saturation.metrics.common import Smooth, in_base
from saturation.metrics.divergence import DEFAULT_FLOOR
from saturation.metrics.estimators import RESIDUAL, Estimator, population_entropy
from saturation.metrics.metric import Human, Metric
from saturation.typing import Counts, Floats, Probs, Scores, TieRule


def item_metric(name: str, score: Callable[[Probs, Human], Scores], **facts: Any) -> Metric:
    """A metric that is the mean of a score an item."""
    return Metric(
        name=name,
        kind="item",
        features=lambda probs, human: score(probs, human)[..., None, :],
        combine=lambda means: means[..., 0],
        influence=lambda features: features[..., 0, :] - features[..., 0, :].mean(axis=-1, keepdims=True),
        **facts,
    )


def _plain(score: Callable[[Probs, Counts], Scores]) -> Callable[[Probs, Human], Scores]:
    return lambda probs, human: score(probs, human.counts)


def _in(term: Callable[[Floats, Floats], Floats], base: float | None) -> Callable[[Floats, Floats], Floats]:
    """A term in units of another logarithm."""
    return term if base is None else lambda model, human: in_base(term(model, human), base)


def kl(
    name: str,
    *,
    floor: float = DEFAULT_FLOOR,
    base: float | None = None,
    entropy_estimator: Estimator = "auto",
) -> Metric:
    """KL(human to model)."""
    return item_metric(
        name,
        lambda probs, human: divergence.kl(probs, human.counts, floor=floor, base=base),
        title="KL(human to model)",
        direction="lower",
        order=2,
        range="[0, inf)",
        formula="sum_{h>0} h ln(h/m)",
        reference="Kullback and Leibler 1951; scorer of Nie et al. 2020",
        undefined="infinite: the model gives 0 to a label that has votes",
        term=_in(divergence.kl_term, base),
        corrected=lambda probs, human: corrections.kl_corrected(
            probs, human.counts, floor=floor, estimator=entropy_estimator, base=base
        ),
        floor=lambda counts: corrections.kl_floor(counts, estimator=entropy_estimator, base=base),
        residual=RESIDUAL,
    )


def reverse_kl(name: str, *, floor: float = DEFAULT_FLOOR, smooth: Smooth = None, base: float | None = None) -> Metric:
    """KL(model to human)."""
    return item_metric(
        name,
        lambda probs, human: divergence.reverse_kl(probs, human.counts, floor=floor, smooth=smooth, base=base),
        title="KL(model to human)",
        direction="lower",
        order=2,
        range="[0, inf)",
        formula="sum_{m>0} m ln(m/h)",
        reference="Kullback and Leibler 1951",
        undefined="infinite: the model expects a label that has no votes; smooth=a makes it finite",
        term=_in(divergence.reverse_kl_term, base),
        smooth=smooth,
    )


def cross_entropy(
    name: str,
    *,
    floor: float = DEFAULT_FLOOR,
    base: float | None = None,
    entropy_estimator: Estimator = "auto",
) -> Metric:
    """Cross-entropy against the votes; unbiased, so it is its own correction."""

    def score(probs: Probs, human: Human) -> Scores:
        return divergence.cross_entropy(probs, human.counts, floor=floor, base=base)

    return item_metric(
        name,
        score,
        title="cross-entropy against votes",
        direction="lower",
        order=2,
        range="[0, inf)",
        formula="- sum h ln m",
        reference="Good 1952; = kl + H(h)",
        undefined="infinite: the model gives 0 to a label that has votes",
        term=_in(divergence.cross_entropy_term, base),
        corrected=score,
        floor=lambda counts: population_entropy(counts, entropy_estimator, base=base),
    )


def jsd(name: str, *, base: float | None = None) -> Metric:
    """Jensen-Shannon divergence."""
    return item_metric(
        name,
        lambda probs, human: divergence.jsd(probs, human.counts, base=base),
        title="Jensen-Shannon divergence",
        direction="lower",
        order=2,
        range="[0, ln 2]",
        formula="1/2 sum h ln(h/a) + 1/2 sum m ln(m/a), a = (h + m)/2",
        reference="Lin 1991",
        term=_in(divergence.jsd_term, base),
    )


def js_distance(name: str, *, base: float | None = None) -> Metric:
    """Root of the Jensen-Shannon divergence."""
    return item_metric(
        name,
        lambda probs, human: divergence.js_distance(probs, human.counts, base=base),
        title="Jensen-Shannon distance",
        direction="lower",
        order=1,
        range="[0, sqrt(ln 2)]",
        formula="mean over items of sqrt(jsd)",
        reference="Endres and Schindelin 2003; 'JSD' of Nie et al. 2020",
    )


def tvd(name: str) -> Metric:
    """Total variation distance."""
    return item_metric(
        name,
        _plain(distance.tvd),
        title="total variation distance",
        direction="lower",
        order=1,
        range="[0, 1]",
        formula="1/2 sum abs(h - m)",
        reference="DistCE of Baan et al. 2022",
        term=distance.tvd_term,
    )


def manhattan(name: str) -> Metric:
    """L1 distance."""
    return item_metric(
        name,
        _plain(distance.manhattan),
        title="Manhattan distance",
        direction="lower",
        order=1,
        range="[0, 2]",
        formula="sum abs(h - m) = 2 tvd",
        term=distance.manhattan_term,
    )


def soft_accuracy(name: str) -> Metric:
    """Overlap of the two distributions."""
    return item_metric(
        name,
        _plain(distance.soft_accuracy),
        title="soft accuracy",
        direction="higher",
        order=1,
        range="[0, 1]",
        formula="sum min(h, m) = 1 - tvd",
        term=distance.soft_accuracy_term,
    )


def hellinger(name: str) -> Metric:
    """Hellinger distance."""
    return item_metric(
        name,
        _plain(distance.hellinger),
        title="Hellinger distance",
        direction="lower",
        order=1,
        range="[0, 1]",
        formula="sqrt(1/2 sum (sqrt h - sqrt m)^2)",
        reference="Hellinger 1909",
    )


def squared_hellinger(name: str) -> Metric:
    """Squared Hellinger distance."""
    return item_metric(
        name,
        _plain(distance.squared_hellinger),
        title="squared Hellinger distance",
        direction="lower",
        order=2,
        range="[0, 1]",
        formula="1/2 sum (sqrt h - sqrt m)^2",
        reference="Hellinger 1909",
        term=distance.squared_hellinger_term,
    )


def brier(name: str) -> Metric:
    """Squared error against the label distribution."""
    return item_metric(
        name,
        _plain(distance.brier),
        title="Brier score against the label distribution",
        direction="lower",
        order=2,
        range="[0, 2]",
        formula="sum (h - m)^2",
        reference="Brier 1950",
        term=distance.brier_term,
        corrected=lambda probs, human: corrections.brier_corrected(probs, human.counts),
        floor=corrections.brier_floor,
    )


def brier_vote(name: str) -> Metric:
    """Expected Brier score against one vote; unbiased, so it is its own correction."""
    return item_metric(
        name,
        _plain(distance.brier_vote),
        title="Brier score against one vote",
        direction="lower",
        order=2,
        range="[0, 2]",
        formula="sum (h - m)^2 + 1 - sum h^2",
        reference="Brier 1950",
        term=distance.brier_vote_term,
        corrected=_plain(distance.brier_vote),
        floor=corrections.brier_vote_floor,
    )


def entropy_(name: str, *, base: float | None = None) -> Metric:
    """Entropy of the model; of the votes where votes play the model."""
    return item_metric(
        name,
        lambda probs, human: entropy.entropy(probs, base=base),
        title="entropy",
        direction="none",
        order=None,
        range="[0, ln K]",
        formula="- sum m ln m",
        reference="Shannon 1948",
        term=_in(entropy.entropy_term, base),
    )


def entropy_error(name: str, *, base: float | None = None) -> Metric:
    """Absolute entropy error."""
    return item_metric(
        name,
        lambda probs, human: entropy.entropy_error(probs, human.counts, base=base),
        title="entropy error",
        direction="lower",
        order=1,
        range="[0, ln K]",
        formula="abs(H(m) - H(h))",
        reference="EntCE of Baan et al. 2022",
    )


def entropy_bias(name: str, *, base: float | None = None, entropy_estimator: Estimator = "auto") -> Metric:
    """Signed entropy error."""
    return item_metric(
        name,
        lambda probs, human: entropy.entropy_bias(probs, human.counts, base=base),
        title="entropy bias",
        direction="none",
        order=None,
        range="[-ln K, ln K]",
        formula="H(m) - H(h)",
        reference="signed EntCE of Baan et al. 2022",
        term=_in(entropy.entropy_bias_term, base),
        corrected=lambda probs, human: corrections.entropy_bias_corrected(
            probs, human.counts, estimator=entropy_estimator, base=base
        ),
        floor=lambda counts: corrections.kl_floor(counts, estimator=entropy_estimator, base=base),
        residual=RESIDUAL,
    )


def wasserstein(name: str) -> Metric:
    """Earth mover's distance over ordered labels."""
    return item_metric(
        name,
        _plain(distance.wasserstein),
        title="Wasserstein distance (ordinal labels only)",
        direction="lower",
        order=1,
        range="[0, K - 1]",
        formula="sum over ordered labels of abs(CDF difference)",
        reference="Vallender 1974",
        term=distance.manhattan_term,
        cumulative=True,
    )


def accuracy(name: str, *, ties: TieRule = "share", model_ties: TieRule = "first", seed: int = 0) -> Metric:
    """Top label against the majority label."""
    return item_metric(
        name,
        lambda probs, human: majority.accuracy(probs, human, ties=ties, seed=seed, model_ties=model_ties),
        title="accuracy against the majority label",
        direction="higher",
        order=None,
        range="[0, 1]",
        formula="argmax m is the majority label; ties of the votes by rule",
    )


def top_vote_share(name: str) -> Metric:
    """Share of votes for the top label; unbiased, so it is its own correction."""
    return item_metric(
        name,
        _plain(majority.top_vote_share),
        title="share of votes for the top label",
        direction="higher",
        order=None,
        range="[0, 1]",
        formula="h[argmax m]",
        corrected=_plain(majority.top_vote_share),
    )


def rank_agreement(name: str, *, ties: ranking.RankTies = "stable") -> Metric:
    """Whether both sides order the labels alike."""
    return item_metric(
        name,
        lambda probs, human: ranking.rank_agreement(probs, human.counts, ties=ties),
        title="agreement of the label ranking",
        direction="higher",
        order=None,
        range="[0, 1]",
        formula="argsort m = argsort h; tolerant: pairs tied in h are ignored",
        reference="RankCS of Baan et al. 2022",
    )


ITEM_METRICS: dict[str, Callable[..., Metric]] = {
    "kl": kl,
    "reverse_kl": reverse_kl,
    "cross_entropy": cross_entropy,
    "jsd": jsd,
    "js_distance": js_distance,
    "tvd": tvd,
    "manhattan": manhattan,
    "soft_accuracy": soft_accuracy,
    "hellinger": hellinger,
    "squared_hellinger": squared_hellinger,
    "brier": brier,
    "brier_vote": brier_vote,
    "entropy": entropy_,
    "entropy_error": entropy_error,
    "entropy_bias": entropy_bias,
    "wasserstein": wasserstein,
    "accuracy": accuracy,
    "top_vote_share": top_vote_share,
    "rank_agreement": rank_agreement,
}
