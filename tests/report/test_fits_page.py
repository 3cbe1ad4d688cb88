"""Fitted curves on the page: which form is shown, its words, its table and its picture."""

from dataclasses import replace

import pytest

from saturation.errors import UsageError
from saturation.report import fits_page, words_page
from saturation.report.fits_data import curves_with_fits, fitted
from saturation.report.fits_figures import fits
from saturation.results import CurveRow, DataSummary, ReportResult, SaturationResult, Uncertainty
from saturation.studies.report import make_report
from saturation.tables.builders import votes_from_counts
from tests.report import fakes

CURVE = "model=m,method=soft"
DATA = DataSummary(n_items=2, n_labels=2, n_votes=6, votes_min=3, votes_max=3)
TRIED = (1, 2, 5, 10, 20)


def row(quantity, estimate, half=None, **more):
    ends = {} if half is None else {"low": estimate - half, "high": estimate + half, "interval": "profile"}
    unc = Uncertainty(estimate, level=0.95, estimator="fit", reason=more.pop("reason", None), **ends)
    return CurveRow(quantity=quantity, metric="kl", curve=CURVE, method="soft", direction="lower", unc=unc, **more)


def result(aicc=(15.0, 20.0), asymptote=0.1, predictions=(1, 20, 100)):
    """a + b / N with a = .1 and b = .4, and an exponential that settles at .12."""
    rows = [row("value", 0.1 + 0.4 / n, 0.02, budget=n) for n in TRIED]
    for form, settles, criterion in (("power", asymptote, aicc[0]), ("exponential", 0.12, aicc[1])):
        rows.append(row("fit_asymptote", settles, None if settles is None else 0.01, baseline=form, reason="as told"))
        rows.append(row("fit_exponent", 1.0, 0.1, baseline=form))
        rows += [row("fit_prediction", 0.1 + 0.4 / n, 0.02, budget=n, baseline=form) for n in predictions]
        rows.append(row("fit_aicc", criterion, baseline=form, reason="power law preferred"))
    return SaturationResult(rows=tuple(rows), settings={}, data=DATA)


def test_the_form_with_the_smaller_aicc_is_shown():
    assert fitted(result(), "kl", CURVE).form == "power"
    assert fitted(result(aicc=(20.0, 15.0)), "kl", CURVE).form == "exponential"
    assert curves_with_fits(result()) == (CURVE,)
    assert curves_with_fits(fakes.curve()) == ()


def test_words_name_what_it_settles_at_and_what_was_reached():
    (text,) = fits_page.sentences(result(), CURVE)
    # .1 + .4 / 20 = .12 at the largest budget
    assert text == (
        "KL divergence (a + b N^-c): with ever more votes it settles at 0.100 [0.090, 0.110] nats, against "
        "0.120 [0.100, 0.140] at 20 votes."
    )
    (text,) = fits_page.sentences(result(asymptote=None), CURVE)
    assert text == "KL divergence (a + b N^-c): no level it settles at is shown; as told."


def test_the_table_has_the_numbers_and_their_remarks():
    report = ReportResult(sections={"curve": result()}, settings={}, data=DATA)
    (section,) = fits_page.part(report)
    (grid,) = section.grids
    ((name, cells),) = grid.rows
    assert name == "KL divergence"
    assert [cell.text for cell in cells] == [
        "a + b N^-c",
        "0.100 [0.090, 0.110]",
        "1.00 [0.90, 1.10]",
        "N = 100: 0.104 [0.084, 0.124]",
        "AICc 15.0",
    ]
    assert grid.notes == ("As told.", "Power law preferred.")
    assert len(section.pictures) == 1
    assert fits_page.part(ReportResult(sections={"curve": fakes.curve()}, settings={}, data=DATA)) == []


def test_the_picture_is_dashed_beyond_the_budgets_tried():
    ax = fits(result(predictions=(1, 2, 20, 50, 100)))
    solid, dashed = [line for line in ax.get_lines() if line.get_linestyle() in ("-", "--")][:2]
    assert list(solid.get_xdata()) == [1, 2, 20]
    assert list(dashed.get_xdata()) == [20, 50, 100]
    assert dashed.get_linestyle() == "--"
    with pytest.raises(UsageError, match="at least 3 predictions"):
        fits(result(predictions=(1, 20)))
    with pytest.raises(UsageError, match="curves with fits: none"):
        fits(fakes.curve())


def test_words_are_explained_at_the_end_and_only_those_of_the_page():
    votes = votes_from_counts([[3, 1], [2, 2], [0, 4], [4, 0]], labels=("a", "b"))
    alone = make_report(votes, metrics=("brier",), budgets=(1, 2), n_resamples=20)
    (section,) = words_page.part(alone)
    assert section.folded
    text = " ".join(section.words[0].lines)
    assert "Order:" in text
    assert "Baseline:" not in text
    with_models = replace(alone, sections={**alone.sections, "curve": fakes.curve()})
    text = " ".join(words_page.part(with_models)[0].words[0].lines)
    for word in ("Ceiling:", "Baseline:", "N* ratio:", "Soft and hard targets:"):
        assert word in text
