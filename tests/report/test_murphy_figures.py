"""Reliability and attribute diagrams by what is on their axes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from saturation.analyses.murphy.decomposition import murphy
from saturation.errors import UsageError
from saturation.report import figures, style, svg
from saturation.report.murphy_figures import attributes, reliability
from tests.analyses.test_evaluate import study


@pytest.fixture(scope="module")
def result():
    return murphy(study(n_items=120), outcome=("soft", "votes"), bins=5)


def bins_of(result, label, place=0):
    condition = list(dict.fromkeys(b.condition for b in result.diagram))[place]
    return [b for b in result.diagram if (b.condition, b.label, b.outcome) == (condition, label, "soft")]


def marked(ax):
    return [line for line in ax.lines if line.get_marker() not in ("", "None")]


def test_one_point_a_bin_at_forecast_and_observed(result):
    ax = reliability(result, condition="budget=2")
    assert len(marked(ax)) == 3
    for line, label in zip(marked(ax), "abc", strict=True):
        bins = bins_of(result, label, place=1)
        assert list(line.get_xdata()) == [b.forecast for b in bins]
        assert list(line.get_ydata()) == [b.observed for b in bins]
    heights = sorted(patch.get_height() for patch in ax.patches)
    assert heights == pytest.approx(sorted(b.share / 5 for label in "abc" for b in bins_of(result, label, place=1)))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]
    assert ax.get_title(loc="left") == "soft, N = 2"
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 1), (0, 1))


def test_whiskers_are_the_intervals_inside_the_square(result):
    ax = reliability(result, label="b")
    bins = [b for b in bins_of(result, "b") if b.low is not None]
    (whiskers,) = [c for c in ax.collections if type(c).__name__ == "LineCollection"]
    ends = np.array([segment[:, 1] for segment in whiskers.get_segments()])
    assert ends == pytest.approx(np.array([[max(b.low, 0), min(b.high, 1)] for b in bins]))


def test_the_band_is_the_annotators_noise_around_the_diagonal(result):
    ax = reliability(result, label="b")
    (band,) = [c for c in ax.collections if type(c).__name__ != "LineCollection"]
    corners = band.get_paths()[0].vertices
    for b in bins_of(result, "b"):
        at = corners[np.isclose(corners[:, 0], b.forecast)][:, 1]
        assert at.min() == pytest.approx(b.forecast - 1.96 * b.annotator_sd)
        assert at.max() == pytest.approx(b.forecast + 1.96 * b.annotator_sd)


def test_the_attribute_diagram_shows_where_a_bin_has_skill(result):
    """The wedge ends halfway between the diagonal and the mean, where (m - h)^2 = (h - mean)^2."""
    ax = attributes(result, label="c")
    bins = bins_of(result, "c")
    mean = sum(b.share * b.observed for b in bins)
    assert any(np.allclose(line.get_ydata(), mean) for line in ax.lines if line not in marked(ax))
    corners = np.concatenate([c.get_paths()[0].vertices for c in ax.collections[:2]])
    assert np.isclose(corners, [1, (1 + mean) / 2]).all(axis=1).any()
    assert np.isclose(corners, [0, mean / 2]).all(axis=1).any()


def test_given_axes_are_drawn_on_and_the_same_numbers_make_the_same_bytes(result):
    for draw in (reliability, attributes):
        ax = Figure().add_subplot()
        assert draw(result, ax) is ax
        one, two = (svg.inline(style.figure_of(draw(result)), prefix="x", title="t", description="d") for _ in range(2))
        assert one == two
    assert figures.reliability is reliability
    assert figures.attributes is attributes


def test_what_is_not_there_is_refused(result):
    with pytest.raises(UsageError, match="no bins of label 'z'"):
        reliability(result, label="z")
    with pytest.raises(UsageError, match="no condition matches"):
        attributes(result, condition="budget=9")
    with pytest.raises(UsageError, match="isotonic terms have no bins"):
        reliability(murphy(study(), binning="isotonic"))


def test_drawing_needs_no_pyplot():
    code = (
        "import sys; from saturation.report import murphy_figures; assert 'matplotlib' not in sys.modules; "
        "from saturation.analyses.murphy.decomposition import murphy; from tests.analyses.test_evaluate import study; "
        "murphy_figures.reliability(murphy(study())); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
