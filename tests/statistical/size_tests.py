"""The package's tests on many data sets: arrays in, one decision a data set out (True: the null is rejected at 5%)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from saturation.analyses.comparing.families import _centred
from saturation.metrics.correlation import combine_pearson, pearson_features, pearson_influence
from saturation.resampling import correlations, intervals, multiplicity, paired, permutation
from saturation.resampling.draw import item_weights
from saturation.resampling.linearized import Influence, covariance
from saturation.resampling.max_t import max_t, max_t_p
from saturation.resampling.mixed import Cells, mixed_model, two_way
from saturation.resampling.sums import weighted_sums

LEVEL = 0.95
ALPHA = 1 - LEVEL
N_RESAMPLES = 999
Decisions = Mapping[str, np.ndarray]


def rejected(p_values: list[float | None]) -> np.ndarray:
    """A p that does not exist rejects nothing."""
    return np.array([p is not None and p < ALPHA for p in p_values])


# --- paired differences ---------------------------------------------------------------------------------------------


def of_differences(d: np.ndarray) -> Decisions:
    """(replications, items) differences: every paired test."""
    return {
        "paired t": rejected([paired.paired_t(row).p for row in d]),
        "Wilcoxon": rejected([paired.wilcoxon(row).p for row in d]),
        "sign flips": rejected([permutation.exact_p(row)[0] for row in d]),
        "bootstrap (BCa)": _bca(d),
    }


def _weights(n: int) -> np.ndarray:
    """(resamples, items) as the package draws them with its default seed: the same for every data set."""
    return item_weights(0, 0, N_RESAMPLES, n).astype(np.float64)


def _bca(d: np.ndarray) -> np.ndarray:
    n = d.shape[1]
    means, total = d @ _weights(n).T / n, d.sum(axis=1)
    rows = zip(means, d.mean(axis=1), (total[:, None] - d) / (n - 1), strict=True)
    return rejected([paired.bca_test(drawn, float(mean), without).p for drawn, mean, without in rows])


def of_margin(d: np.ndarray, margin: float) -> Decisions:
    """TOST and non-inferiority of differences, read as losses of a against b."""
    means, errors = d.mean(axis=1), d.std(axis=1, ddof=1) / d.shape[1] ** 0.5
    rows = [(float(m), float(se), d.shape[1] - 1, margin) for m, se in zip(means, errors, strict=True)]
    return {
        "TOST": rejected([paired.tost(*row).p for row in rows]),
        "non-inferiority": rejected([paired.noninferiority(*row).p for row in rows]),
        "95% interval inside the margin (peer)": np.abs(means) + intervals.critical(LEVEL, rows[0][2]) * errors
        < margin,
    }


# --- cells and splits -----------------------------------------------------------------------------------------------


def of_cells(cells: np.ndarray) -> Decisions:
    """(replications, cells) differences of cells."""
    wins = (cells > 0).sum(axis=1)
    return {
        "sign test over cells": rejected([paired.sign_test(int(w), cells.shape[1] - int(w)) for w in wins]),
        "t over cells (peer)": rejected([paired.paired_t(row).p for row in cells]),
    }


def of_splits(splits: np.ndarray, test_over_train: float) -> Decisions:
    """(replications, splits) differences of splits."""
    return {
        "Nadeau-Bengio": rejected([paired.nadeau_bengio(row, test_over_train).p for row in splits]),
        "t over splits (peer)": rejected([paired.paired_t(row).p for row in splits]),
    }


def of_tables(tables: np.ndarray) -> Decisions:
    """(replications, items, cells) crossed differences."""
    return {
        "mixed model (balanced)": rejected([two_way(table).p for table in tables]),
        "linearised t": rejected([_linearised(table) for table in tables]),
        "paired t": rejected([paired.paired_t(table.mean(axis=1)).p for table in tables]),
    }


def _linearised(table: np.ndarray) -> float | None:
    """What every difference of ``compare`` and every denominator of a fraction is tested by."""
    values = table.T[None]
    estimate = np.array([table.mean()])
    influence = Influence(estimate, (values.mean(axis=2),), (values,), (np.arange(len(table)),), len(table))
    return covariance(influence).p_value(float(estimate[0]), np.ones(1))


def of_ragged_tables(tables: np.ndarray, there: np.ndarray) -> Decisions:
    """The same with cells that lack items (``there`` False): restricted maximum likelihood."""
    p_values = []
    for table, kept in zip(tables, there, strict=True):
        item, cell = np.nonzero(kept)
        p_values.append(mixed_model(Cells(table[kept], np.unique(item, return_inverse=True)[1], cell)).p)
    return {"mixed model (unbalanced)": rejected(p_values)}


# --- correlations ---------------------------------------------------------------------------------------------------


def of_correlations(triples: np.ndarray) -> Decisions:
    """(3, replications, items) h, a, b: whether a and b correlate equally with h."""
    h, a, b = triples
    n = h.shape[1]
    r12, r13, r23 = (combine_pearson(pearson_features(x, y).mean(axis=-1)) for x, y in ((h, a), (h, b), (a, b)))
    low, high = correlations.zou(r12, r13, r23, n, LEVEL)
    apart = np.abs(np.arctanh(r12) - np.arctanh(r13)) / (2 / (n - 3)) ** 0.5
    return {
        "Williams": correlations.williams(r12, r13, r23, n)[2] < ALPHA,
        "Steiger": correlations.steiger(r12, r13, r23, n)[1] < ALPHA,
        "Zou": (low > 0) | (high < 0),
        "bootstrap on Fisher's z": _on_z(h, a, b),
        "z as if independent (peer)": apart > intervals.critical(LEVEL),
    }


def _on_z(h: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """As ``compare`` does it: BCa of the difference of Fisher's z, values without an item from a linearisation."""
    weights = _weights(h.shape[1])
    p_values: list[float | None] = []
    for start in range(0, len(h), 500):
        rows = slice(start, start + 500)
        found = [pearson_features(x[rows], h[rows]) for x in (a, b)]
        drawn = [np.arctanh(combine_pearson(np.swapaxes(one @ weights.T / weights.shape[1], -1, -2))) for one in found]
        r = [combine_pearson(one.mean(axis=-1)) for one in found]
        moves = [pearson_influence(one) / (1 - value[:, None] ** 2) for one, value in zip(found, r, strict=True)]
        estimate = np.arctanh(r[0]) - np.arctanh(r[1])
        without = estimate[:, None] - (moves[0] - moves[1]) / (h.shape[1] - 1)
        p_values += [
            paired.bca_test(*row).p
            for row in zip(drawn[0] - drawn[1], (float(e) for e in estimate), without, strict=True)
        ]
    return rejected(p_values)


# --- several tests at once ------------------------------------------------------------------------------------------


def of_families(d: np.ndarray) -> Decisions:
    """(replications, tests, items) differences: whether any test of the family is rejected."""
    n = d.shape[-1]
    p_values = np.array([[paired.paired_t(row).p for row in family] for family in d])
    t = d.mean(axis=-1) / d.std(axis=-1, ddof=1) * n**0.5
    weights = item_weights(0, 0, N_RESAMPLES, n)
    stepped, whole, bands = [], [], []
    for family, own_p, own_t in zip(d, p_values, t, strict=True):
        stepped.append(_centred(weighted_sums(weights, family, threads=1) / n, own_p).min())
        correlation = np.corrcoef(family)
        whole.append(max_t_p(own_t, correlation, n - 1).min())
        bands.append(np.abs(own_t).max() > max_t(correlation, n - 1))
    return {
        "Holm": _any(multiplicity.holm, p_values),
        "Benjamini-Hochberg": _any(multiplicity.benjamini_hochberg, p_values),
        "Romano-Wolf, resamples": np.array(stepped) < ALPHA,
        "Romano-Wolf, covariance": np.array(whole) < ALPHA,
        "max-t band": np.array(bands),
        "unadjusted (peer)": (p_values < ALPHA).any(axis=1),
    }


def _any(adjustment: Callable[[np.ndarray], np.ndarray], p_values: np.ndarray) -> np.ndarray:
    return np.array([adjustment(row).min() < ALPHA for row in p_values])
