"""Murphy's terms on real votes and real predictions, as independent slow code computed them."""

from __future__ import annotations

import itertools

import pytest

from saturation.metrics.murphy import decompose
from tests.metrics.test_reference import RUNS, runs, snli  # noqa: F401 - fixtures

pytestmark = pytest.mark.realdata

WIDTHS = (10, 15)
KINDS = {
    "soft": {"outcome": "soft"},
    "votes": {"outcome": "votes"},
    "majority_argmax_first": {"outcome": "majority", "ties": "first"},
    "majority_label": {"outcome": "majority", "ties": "column"},
}
BINNINGS = {"right": "width", "mass": "count"}
TERMS = ("rel", "res", "unc", "wbv", "wbc", "brier")
CLASSWISE = [case for case in itertools.product(BINNINGS, WIDTHS, KINDS) if case[0] == "right" or case[2] != "votes"]
MURPHY_RUNS = RUNS[:6]


def check(found, expected, abs_tolerance=1e-9):
    """Their wbc is half of ours."""
    theirs = {name: expected[name] * (2 if name == "wbc" else 1) for name in TERMS}
    assert {name: float(found[name]) for name in TERMS} == pytest.approx(theirs, abs=abs_tolerance)


def known(reference, key):
    return [run for run in MURPHY_RUNS if f"{run}/{key}" in reference["murphy"]]


@pytest.mark.parametrize(("binning", "bins", "kind"), CLASSWISE)
def test_label_by_label_summed_and_averaged(binning, bins, kind, snli, runs, reference):  # noqa: F811
    human, _ = snli
    key = f"classwise_{binning}{bins}/{kind}"
    found_runs = known(reference, key)
    assert found_runs
    for run in found_runs:
        expected = reference["murphy"][f"{run}/{key}"]
        options = {**KINDS[kind], "binning": BINNINGS[binning], "bins": bins}
        for label in range(3):
            check(decompose(runs[run], human, label=label, **options), expected["per_class"][label])
        check(decompose(runs[run], human, label="sum", **options), expected["sum_over_classes"])
        if kind != "votes":  # no mean is stored there
            check(decompose(runs[run], human, label="mean", **options), expected["mean_over_classes"])


@pytest.mark.parametrize(("bins", "kind"), list(itertools.product(WIDTHS, ("soft", "majority_label"))))
def test_top_label(bins, kind, snli, runs, reference):  # noqa: F811
    human, _ = snli
    key = f"toplabel_right{bins}/{kind}"
    found_runs = known(reference, key)
    assert found_runs
    for run in found_runs:
        check(decompose(runs[run], human, label="top", bins=bins, **KINDS[kind]), reference["murphy"][f"{run}/{key}"])


@pytest.mark.parametrize("kind", ["soft", "majority_label"])
def test_isotonic_twin(kind, snli, runs, reference):  # noqa: F811
    human, _ = snli
    found_runs = known(reference, f"corp/{kind}")
    assert found_runs
    names = {"miscalibration": "mcb", "discrimination": "dsc", "uncertainty": "unc", "brier": "score"}
    for run in found_runs:
        expected = reference["murphy"][f"{run}/corp/{kind}"]
        for label, values in (("sum", expected["sum_over_classes"]), *enumerate(expected["per_class"])):
            found = decompose(runs[run], human, binning="isotonic", label=label, **KINDS[kind])
            theirs = {ours: values[name] for ours, name in names.items()}
            assert {name: float(found[name]) for name in names} == pytest.approx(theirs, abs=1e-9)
