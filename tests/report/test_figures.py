"""Figures by what is on their axes, and the numbers behind them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from saturation.errors import UsageError
from saturation.report import figures, parts, plotdata, style, svg
from saturation.results import CurveRow, Uncertainty
from tests.report import fakes


def lines_of(ax):
    """(x, y) of every drawn line with more than two points or a marker."""
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in ax.lines]


def texts_of(ax):
    return [text.get_text() for text in ax.texts]


def test_plotting_needs_no_pyplot():
    code = (
        "import sys; from saturation.report import figures; assert 'matplotlib' not in sys.modules\n"
        "from tests.report import fakes; figures.label_curve(fakes.label_curve()); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.parametrize(
    ("draw", "result"),
    [
        (figures.label_curve, fakes.label_curve()),
        (figures.saturation_curve, fakes.curve()),
        (figures.fractions, fakes.curve()),
        (figures.fractions, fakes.label_curve()),
        (figures.n_star, fakes.curve()),
        (figures.n_star, fakes.label_curve()),
        (figures.conditions, fakes.evaluated()),
        (figures.checks, fakes.DATA),
    ],
)
def test_given_axes_are_drawn_on_and_returned(draw, result):
    ax = Figure().add_subplot()
    assert draw(result, ax) is ax
    assert ax.lines or ax.collections or ax.patches


def test_the_budgets_themselves_are_the_ticks_of_a_log_axis():
    ax = figures.label_curve(fakes.label_curve())
    assert ax.get_xscale() == "log"
    assert list(ax.get_xticks()) == list(fakes.LABEL_BUDGETS)
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1", "2", "3", "5", "10", "20", "50"]


def test_crowded_ticks_lose_their_label_but_not_their_place():
    ax = style.new_axes()
    style.budget_axis(ax, range(1, 101))
    assert len(ax.get_xticks()) == 100
    shown = [t.get_text() for t in ax.get_xticklabels() if t.get_text()]
    assert shown[0] == "1"
    assert shown[-1] == "100"
    assert len(shown) < 25


def test_the_curve_goes_through_the_estimates_of_the_rows():
    result = fakes.label_curve()
    expected = [r.unc.estimate for r in result.rows if r.metric == "brier" and r.quantity == "value"]
    assert (list(fakes.LABEL_BUDGETS), expected) in lines_of(figures.label_curve(result, metric="brier"))


def test_the_unit_is_on_the_axis():
    assert figures.label_curve(fakes.label_curve(), metric="kl").get_ylabel() == "nats (lower is better)"
    assert figures.label_curve(fakes.label_curve(), metric="brier").get_ylabel() == "0 to 2 (lower is better)"


def test_the_label_only_curve_is_dashed_and_named():
    ax = figures.saturation_curve(fakes.curve(), metric="entropy_correlation")
    dashed = [line for line in ax.lines if line.get_linestyle() == "--" and len(line.get_xdata()) == len(fakes.BUDGETS)]
    assert len(dashed) == 1
    assert "labels alone" in texts_of(ax)


def test_a_condition_without_a_budget_is_a_level():
    ax = figures.saturation_curve(fakes.curve(), metric="kl")
    assert any(set(y) == {0.31} and list(x) == [0, 1] for x, y in lines_of(ax))
    assert {"hard", "soft"} <= {text.split(" ")[0] for text in texts_of(ax)}


def test_lines_at_q_and_percent_axis():
    ax = figures.fractions(fakes.curve(), metric="kl")
    levels = [y[0] for _, y in lines_of(ax) if len(set(y)) == 1]
    assert {0.9, 0.95, 1.0} <= set(levels)
    assert ax.yaxis.get_major_formatter()(0.9, 0) == "90%"


def test_an_unbounded_set_is_dotted_and_never_a_point():
    """smoothing[0.1] has Fieller's set outside (-0.1, 0.8) at all 8 budgets: two dotted pieces at each."""
    ax = figures.fractions(fakes.curve(), metric="brier")
    dotted = [c for c in ax.collections if c.get_linestyle()[0][1] is not None]
    assert len(dotted) == 16
    assert "label smoothing 0.1: unbounded" in texts_of(ax)


def test_a_wild_interval_does_not_stretch_the_axis():
    row = CurveRow(
        quantity="fraction", metric="kl", curve="model=m,method=soft", direction="lower", budget=1, baseline="hard",
        unc=Uncertainty(0.5, low=-40.0, high=60.0, level=0.95, interval="fieller"),
    )  # fmt: skip
    result = fakes.curve()
    low, high = figures.fractions(replace(result, rows=(*result.rows, row)), metric="kl").get_ylim()
    assert low >= -0.35
    assert high <= 1.35


def test_censored_n_star_are_arrows_from_the_largest_refuted_budget():
    stars = [s for s in plotdata.n_star_data(fakes.curve()) if s.metric == "entropy_correlation"]
    assert [(s.value, s.above) for s in stars] == [(None, 50), (None, 50)]
    ax = figures.n_star(fakes.curve())
    arrows = [text for text in ax.texts if text.arrow_patch is not None]
    assert [(a.xyann[0], a.xy[0]) for a in arrows] == [(50, ax.get_xlim()[1])] * 2


@pytest.mark.parametrize(
    "ax",
    [
        figures.n_star(fakes.curve()),
        figures.fractions(fakes.curve(), metric="kl"),
        figures.conditions(fakes.evaluated()),
    ],
    ids=["n_star", "fractions", "conditions"],
)
def test_no_text_is_cut_off(ax):
    figure = style.figure_of(ax)
    figure.draw_without_rendering()
    edge = figure.bbox.padded(1)
    low, high = ax.get_xlim()
    ticks = [text for text in ax.get_xticklabels() if low <= text.get_position()[0] <= high]
    for text in (ax.xaxis.label, ax.yaxis.label, *ticks, *ax.get_yticklabels(), *ax.texts):
        if text.get_text():
            box = text.get_window_extent()
            assert edge.x0 <= box.x0 <= box.x1 <= edge.x1, text.get_text()
            assert edge.y0 <= box.y0 <= box.y1 <= edge.y1, text.get_text()


def test_many_smoothing_strengths_are_one_bundle():
    names = ("hard", "smallest", *(f"smoothing[{s}]" for s in (0.05, 0.1, 0.2)))
    texts = texts_of(figures.fractions(fakes.curve(baselines=names), metric="kl"))
    assert "3 smoothing strengths" in texts
    assert not any(text.startswith("label smoothing") for text in texts)


def test_unknown_metric_is_named():
    with pytest.raises(UsageError, match="no metric 'x' in this result"):
        figures.label_curve(fakes.label_curve(), metric="x")


def test_text_from_the_data_is_never_mathematics():
    """A dollar sign in a model name must not be parsed: $\\frac$ would raise."""
    result = fakes.curve(model=r"a$\frac$b")
    both = replace(result, rows=(*result.rows, *fakes.curve(model="other").rows))
    figure = style.figure_of(figures.saturation_curve(both))
    assert r"a$\frac$b" in svg.inline(figure, prefix="p", title="t", description="d")


def test_scripts_are_escaped_inside_svg():
    result = fakes.curve(model=fakes.HOSTILE)
    both = replace(result, rows=(*result.rows, *fakes.curve(model="other").rows))
    drawn = svg.inline(style.figure_of(figures.saturation_curve(both)), prefix="p", title=fakes.HOSTILE, description="")
    assert "<script" not in drawn
    assert "&lt;script&gt;" in drawn


def test_inline_svg_keeps_ids_apart_and_loads_nothing():
    one, two = (
        ElementTree.fromstring(
            svg.inline(style.figure_of(figures.label_curve(fakes.label_curve())), prefix=p, title="t", description="d")
        )
        for p in ("one", "two")
    )
    ids = [{e.get("id") for e in root.iter() if e.get("id")} for root in (one, two)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for root in (one, two):
        known = {f"#{e.get('id')}" for e in root.iter()}
        links = [e.get("href") for e in root.iter() if e.get("href")]
        assert links
        assert set(links) <= known
        assert root.get("role") == "img"


def test_figure_files_are_the_same_bytes_each_time(tmp_path):
    for name in ("a", "b"):
        for kind in ("svg", "pdf"):
            svg.save(style.figure_of(figures.n_star(fakes.curve())), tmp_path / f"{name}.{kind}")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()


def test_line_names_never_overlap():
    heights = style._spread([0.5, 0.5, 0.51, 0.99, 1.0], 0.1)
    placed = sorted(heights)
    assert all(b - a >= 0.1 - 1e-9 for a, b in pairwise(placed))
    assert placed[-1] <= 1.0


def test_every_figure_and_table_has_its_documented_name():
    assert list(parts.report_figures(fakes.report())) == [
        "label_curve", "saturation_curve", "fractions", "n_star", "conditions", "checks",
    ]  # fmt: skip
    tables = parts.report_tables(fakes.report(with_models=False))
    assert list(tables) == ["label_curve", "fractions", "n_star", "checks"]
