"""What a reader of a decomposition must keep in mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from saturation.analyses import evaluate_notes
from saturation.analyses.cases import Plan
from saturation.metrics.murphy import MurphyBinning
from saturation.results import MurphyRow, Note
from saturation.tables.panel import Panel

FEW_BINS = 3
LARGE_BIAS = 0.1


def notes(panel: Panel, plan: Plan, binning: MurphyBinning, rows: Sequence[MurphyRow]) -> tuple[Note, ...]:
    """Assumptions and limits of these numbers."""
    own = _isotonic_notes() if binning == "isotonic" else _binned_notes(rows)
    return (*evaluate_notes.notes(panel, (), plan, None), *own)


def _isotonic_notes() -> Iterator[Note]:
    yield Note(
        "monotone_calibration",
        "the isotonic terms assume that a higher forecast never means a smaller share of votes; the fit is made on "
        "the items it is judged by, so that miscalibration and discrimination are biased up",
    )
    yield Note(
        "fit_fixed",
        "their intervals hold the recalibration fixed: by the envelope theorem refitting it changes the terms by "
        "second-order amounts only",
    )


def _binned_notes(rows: Sequence[MurphyRow]) -> Iterator[Note]:
    yield Note(
        "bins_fixed",
        "rel - res + unc is the score only together with wbv - wbc, what the bins hide; the bins are fixed by the "
        "full sample",
    )
    share = _bias_share(rows)
    yield Note(
        "plugin_biased",
        "rel and res are biased up by the noise in the bins"
        + (f" (up to {share:.0%} of rel here)" if share is not None and share >= LARGE_BIAS else "")
        + "; rel_corrected and res_corrected are not, and may be negative",
    )
    few = dict.fromkeys(str(row.condition) for row in rows if row.bins_used is not None and row.bins_used < FEW_BINS)
    if few:
        yield Note(
            "few_bins",
            f"the forecasts of a label fill fewer than {FEW_BINS} bins, so that rel and res see little of them and wbv "
            f"and wbc hold the rest: {'; '.join(few)}",
        )


def _bias_share(rows: Sequence[MurphyRow]) -> float | None:
    """The largest share of REL that is noise, as the correction estimates it."""
    plain = {_key(row): row.unc.estimate for row in rows if row.term == "rel" and row.versus is None}
    shares = [
        min(max((rel - row.unc.estimate) / rel, 0.0), 1.0)
        for row in rows
        if row.term == "rel_corrected" and row.versus is None and row.unc.estimate is not None
        if (rel := plain.get(_key(row)))
    ]
    return max(shares, default=None)


def _key(row: MurphyRow) -> tuple[str, str, str]:
    return str(row.condition), row.outcome, row.label
