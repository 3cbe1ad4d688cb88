"""The page of a study: names, captions, bold where something was found, nothing that a label could inject."""

from __future__ import annotations

from dataclasses import replace

import pytest

from saturation.conditions import Condition
from saturation.errors import UsageError
from saturation.report import grid_latex, study_figures, study_grids, study_page
from saturation.report.output import render
from saturation.report.study_folder import overview, slugs_of, tables_of
from saturation.results import Uncertainty
from saturation.studies.study import of_model, study
from tests.analyses.test_across import of, two_models
from tests.report.fakes import HOSTILE

OPTIONS = {"metrics": ("kl", "brier"), "n_resamples": 50}


@pytest.fixture(scope="module")
def result():
    panel = two_models(n_items=40)
    return study({"one": panel, "two": of_model(two_models(seed=1, n_items=40), "m")}, **OPTIONS)


@pytest.fixture(scope="module")
def alone():
    return study({"one": of_model(two_models(n_items=40), "m")}, **OPTIONS)


def page_of(made):
    slugs = slugs_of((part.data, part.model) for part in made.parts)
    return study_page.page(made, {key: f"models/{slug}/index.html" for key, slug in slugs.items()})


def test_names_say_only_what_tells_parts_apart(result, alone):
    assert list(study_grids.names_of(result).values()) == ["m on one", "n on one", "m on two"]
    assert list(study_grids.names_of(alone).values()) == [""]


def test_sections_in_the_order_of_a_paper(result, alone):
    anchors = [section.anchor for section in study_page.sections_of(result)]
    assert anchors == ["answer", "main", "shares", "across", "advice", "worth", "murphy"]
    assert "across" not in [section.anchor for section in study_page.sections_of(alone)]


def test_bold_and_p_follow_the_rows(result):
    grid = study_grids.main_grids(result)[0]
    assert grid.caption.startswith(
        "one: mean over cells [95% intervals]; in bold where it was found to be better than hard"
    )
    rows = [r for r in result.main if r.data == "one" and r.metric == "kl"]
    assert [cells[0].strong for _, cells in grid.rows] == [r.favours == "condition" for r in rows]
    against = study_grids.main_grids(result)[1]
    first = next(r for r in rows if r.against is not None)
    assert against.rows[0][1][0].text.endswith(f"{first.wins}/{first.n_cells_compared}")


def test_a_worse_condition_and_a_missing_difference_say_so(result):
    worse = tuple(
        replace(r, favours="baseline") if r.against else replace(r, difference_reason="it is the baseline itself")
        for r in result.main
    )
    grid = study_grids.main_grids(replace(result, main=worse))[1]
    assert all(cell.text.endswith("(worse)") for _, cells in grid.rows for cell in cells)
    gone = tuple(replace(r, unc=Uncertainty(None, reason="no entropy")) for r in result.main)
    values = study_grids.main_grids(replace(result, main=gone))[0]
    assert values.notes == ("No entropy.",)
    assert {cell.text for _, cells in values.rows for cell in cells} == {"undefined"}


def test_words_say_where_models_differ_and_that_silence_is_no_equality(result):
    first, *_, last = study_page.across_sentences(result)
    apart = [r for r in result.across if r.quantity == "fraction_difference" and r.p_adjusted and r.p_adjusted < 0.05]
    assert first.startswith("m on one against n on one: shares kept are told apart")
    assert all(str(r.budget) in first for r in apart if r.paired)
    assert "no evidence that they are equal" in last
    silent = tuple(replace(r, p_adjusted=0.9) for r in result.across)
    assert "told apart at no budget in any metric" in study_page.across_sentences(replace(result, across=silent))[0]


def test_the_page_escapes_names(result):
    hostile = [replace(part, data=HOSTILE) if part.data == "two" else part for part in result.parts]
    made = replace(
        result,
        parts=tuple(hostile),
        data={"one": result.data["one"], HOSTILE: result.data["two"]},
        main=tuple(replace(r, data=HOSTILE) if r.data == "two" else r for r in result.main),
        across=(),
        advice=tuple(replace(r, data=HOSTILE) if r.data == "two" else r for r in result.advice),
    )
    assert HOSTILE not in page_of(made)


def test_a_page_for_each_model_is_linked(result):
    page = page_of(result)
    for model, data in (("m", "one"), ("n", "one"), ("m", "two")):
        assert f'<a href="models/{data}-{model}/index.html">{model} on {data}</a>' in page


def test_figures_have_a_line_a_part_and_refuse_what_is_not_there(result):
    ax = study_figures.study_fractions(result, metric="kl")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["m on one", "n on one", "m on two"]
    with pytest.raises(UsageError, match="no shares of 'tvd'"):
        study_figures.study_fractions(result, metric="tvd")


def test_one_model_needs_no_key(alone):
    assert study_figures.study_fractions(alone).get_legend() is None


def test_stacked_tables_have_the_same_keys_in_every_row(result):
    for name, table in tables_of(result).items():
        records = table.records()
        assert records, name
        assert all(list(record) == list(records[0]) for record in records)


def test_stacked_tables_keep_columns_that_one_data_set_lacks(result):
    widened = [replace(part, report=with_corpus(part.report)) if part.data == "two" else part for part in result.parts]
    records = tables_of(replace(result, parts=tuple(widened)))["murphy"].records()
    assert {record["corpus"] for record in records} == {None, "x"}


def with_corpus(report):
    murphy = report.sections["murphy"]
    rows = tuple(replace(r, condition=Condition.of(**dict(r.condition.values), corpus="x")) for r in murphy.rows)
    return replace(report, sections={**report.sections, "murphy": replace(murphy, rows=rows)})


def test_the_label_curve_is_stacked_once_a_data_set(result):
    records = tables_of(result)["label_curve"].records()
    keys = [(r["data"], r["quantity"], r["metric"], r["budget"], r["q"]) for r in records]
    assert len(keys) == len(set(keys))


def test_the_overview_has_one_line_a_metric_and_part(result):
    records = overview(result).records()
    assert [(r["study"], r["metric"]) for r in records] == [
        (name, metric) for name in ("m on one", "n on one", "m on two") for metric in ("kl", "brier")
    ]
    assert list(records[0]) == ["study", "metric", "for 90%", "for 95%"]


@pytest.mark.parametrize("kind", ["table", "md", "csv", "tex"])
def test_the_overview_is_printed_in_every_format(result, kind):
    text = render(overview(result), kind)
    assert "m on one" in text
    assert text.count("brier") == 3


def test_latex_of_a_grid_keeps_bold_and_footnotes(result):
    gone = tuple(replace(r, unc=Uncertainty(None, reason="50% & less")) for r in result.main)
    text = grid_latex.table(study_grids.main_grids(replace(result, main=gone))[0])
    assert r"undefined\textsuperscript{1}" in text
    assert r"\textsuperscript{1}~50\% \& less." in text


def test_held_out_votes_have_a_raw_and_a_corrected_table():
    panel = of_model(two_models(n_items=40), "m")
    counts = panel.votes.counts
    pools = {"train": counts - counts // 4, "heldout": counts // 4}
    made = study(
        {"one": replace(panel, votes=replace(panel.votes, pools=pools))}, metrics=("kl", "tvd"), n_resamples=50
    )
    section = next(one for one in study_page.sections_of(made) if one.anchor == "heldout")
    raw, corrected = section.grids
    rows = [row for row in made.parts[0].report.sections["heldout"].rows if row.pool == "heldout"]
    kl = next(row for row in rows if row.metric == "kl")
    assert raw.rows[0][1][0].text.startswith(f"{kl.unc.estimate:.2f}")
    assert corrected.rows[0][1][0].text.startswith(f"{kl.corrected:.2f}")
    assert corrected.rows[0][1][1].text == "undefined"  # tvd
    assert corrected.notes
    assert "heldout" in tables_of(made)


def test_undefined_shares_are_no_picture():
    flat = two_models(n_items=40, conditions=(of("m", "hard"), of("m", budget=1), of("m", budget=40)))
    same = tuple(probs * 0 + 1 / 3 for probs in flat.probs)
    made = study({"one": replace(flat, probs=same)}, **OPTIONS)
    assert study_figures.metrics_of(made) == ()
    assert "shares" not in [section.anchor for section in study_page.sections_of(made)]
    assert 'id="main"' in page_of(made)
