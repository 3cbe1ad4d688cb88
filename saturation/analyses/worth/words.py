"""Why numbers about models and crowds are missing, and what a reader must keep in mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from saturation.analyses.remarks import ANNOTATORS_UNKNOWN, FEW_SEEDS, NO_DRAW_COLUMN
from saturation.analyses.worth.crossing import Worth
from saturation.analyses.worth.standing import Standing
from saturation.metrics.metric import Metric
from saturation.resampling.designs import FROM_SEEDS
from saturation.resampling.linearized import ONE_SEED
from saturation.results import Note
from saturation.tables.panel import Panel

_LINEAR = {"kl": "cross_entropy", "brier": "brier_vote"}


def worth_reason(worth: Worth, largest: int, standing: Standing) -> str | None:
    """What a row must tell about its interval."""
    return "; ".join(_worth_reasons(worth, largest, standing)) or None


def _worth_reasons(worth: Worth, largest: int, standing: Standing) -> Iterator[str]:
    if worth.censored == "below":
        yield "worse than asking nobody: the base rate alone scores better"
    elif worth.censored == "above" and largest == 0:
        yield "better than asking nobody; these votes cannot form a crowd to compare with"
    elif worth.censored == "above":
        yield f"better than a crowd of {largest}, the largest that these votes can form"
    if not worth.tested:
        yield "no interval: one item only"
        return
    if worth.low == 0:
        yield "not told from asking nobody"
    if worth.high is None and worth.censored is None:
        yield f"open above: not told from a crowd of {largest}, the largest that these votes can form"
    elif worth.censored == "above" and worth.low is not None and 0 < worth.low < largest:
        yield "not told from that one"
    if standing.spread is not None and standing.spread.reason:
        yield standing.spread.reason
    if standing.remark:
        yield standing.remark


def equivalents_notes(panel: Panel, used: Panel, metrics: Sequence[Metric], strength: float | None) -> tuple[Note, ...]:
    """Assumptions and limits of annotator equivalents."""
    return tuple(_equivalents_notes(panel, used, metrics, strength))


def _equivalents_notes(panel: Panel, used: Panel, metrics: Sequence[Metric], strength: float | None) -> Iterator[Note]:
    if strength is not None:
        yield Note(
            "combiner",
            f"N votes are combined to (c + A pi)/(N + A), the base rate pi being worth A = {strength:.3g} votes; "
            "combined in another way, crowds and so models would be worth something else",
        )
    linear = [one.family for one in metrics if one.family in _LINEAR]
    if linear:
        named = "; ".join(f"{name} as by {_LINEAR[name]}" for name in linear)
        yield Note("scored_by_one_vote", f"against votes left out, a model is worth as much by {named}")
    yield from common_notes(panel, used)


def common_notes(panel: Panel, used: Panel) -> Iterator[Note]:
    """What models and crowds have in common with every other analysis."""
    if panel.votes.ballots is None:
        yield ANNOTATORS_UNKNOWN
    n_items, n_used = len(panel.votes.item_ids), len(used.votes.item_ids)
    if n_used < n_items:
        yield Note("item_set", f"crowds are formed on {n_used} of {n_items} items, those with enough votes")
    if not panel.conditions:
        return
    fewest = min(len(seeds) for seeds in panel.seeds)
    if fewest == 1:
        yield Note("one_seed", ONE_SEED)
    elif fewest < FROM_SEEDS:
        yield FEW_SEEDS
    if max(len(seeds) for seeds in panel.seeds) > 1 and not panel.has_draws:
        yield NO_DRAW_COLUMN


def ceiling_notes(panel: Panel, drawn: Sequence[str], strength: float | None) -> tuple[Note, ...]:
    """Assumptions and limits of human ceilings; ``drawn`` are the metrics whose noise is drawn."""
    return tuple(_ceiling_notes(panel, drawn, strength))


def _ceiling_notes(panel: Panel, drawn: Sequence[str], strength: float | None) -> Iterator[Note]:
    if drawn and strength is not None:
        yield Note(
            "populations_drawn",
            f"noise_only of {', '.join(drawn)}: populations are drawn given the votes and a Dirichlet prior worth A = "
            f"{strength:.3g} votes; where items are spread otherwise, it is right where the votes outweigh the prior",
        )
    yield from common_notes(panel, panel)
