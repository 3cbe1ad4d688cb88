"""The page and the folder: self-contained, escaped, honest about votes alone, never over somebody else's files."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from saturation.errors import UsageError
from saturation.report import contrast_grids, grids, html
from saturation.report.folder import check_folder, write_report
from saturation.studies.answers import LABEL_NOISE
from saturation.studies.contrasts import NOT_TOLD
from tests.report import fakes

VOID = {"meta", "link", "br", "img", "input"}


class Outline(HTMLParser):
    """Tags in balance, ids, headings and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, dict]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, f"</{tag}> closes something else"


@pytest.fixture(scope="module")
def with_models():
    return html.page(fakes.report(model=fakes.HOSTILE), repeat=f"saturation report --votes '{fakes.HOSTILE}.csv'")


@pytest.fixture(scope="module")
def votes_only():
    return html.page(fakes.report(with_models=False))


def test_text_from_the_data_is_escaped_everywhere(with_models):
    """Labels, condition names, file names, notes, settings and the command line hold a script."""
    assert "<script" not in with_models.lower()
    assert with_models.count("&lt;script&gt;") >= 5


def test_the_page_loads_nothing(with_models, votes_only):
    for page in (with_models, votes_only):
        loads = re.findall(r"""(?:src|href)=["']([^"']*)["']|url\(([^)]*)\)|@import""", page)
        assert all(first.startswith(("#", "data:,")) or second.startswith("#") for first, second in loads)
        assert "http" not in page.replace("http-equiv", "")


def test_tags_balance_ids_are_unique_and_headings_start_at_one(with_models):
    outline = Outline(with_models)
    assert outline.stack == []
    assert len(outline.ids) == len(set(outline.ids))
    headings = [int(tag[1]) for tag in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(headings))


def test_tables_have_captions_and_scroll_in_their_own_box(with_models):
    outline = Outline(with_models)
    assert outline.tags.count("table") == outline.tags.count("caption") >= 5
    boxes = [a for tag, a in outline.attributes if tag == "div" and a.get("class") == "scroll"]
    assert len(boxes) == outline.tags.count("table")
    assert all(box["tabindex"] == "0" and box["aria-label"] for box in boxes)
    assert ("html", {"lang": "en"}) in outline.attributes


def test_answers_come_before_everything_else(with_models):
    answer = with_models.index("annotators per item keep at least 90% of the improvement over hard labels")
    assert answer < with_models.index("<svg")
    assert answer < with_models.index("<table")


def test_votes_alone_are_said_to_be_about_noise_on_the_first_screen(votes_only, with_models):
    assert votes_only.index(LABEL_NOISE) < votes_only.index('<ol class="answers">')
    assert "Only votes were given" in votes_only
    assert "Only votes were given" not in with_models


def test_what_it_takes_to_repeat_is_on_the_page(with_models):
    for piece in ("saturation report --votes", "ab" * 32, "SHA-256", "n resamples", "seed"):
        assert piece in with_models


def test_the_same_report_gives_the_same_page(votes_only):
    assert html.page(fakes.report(with_models=False)) == votes_only


def test_undefined_fractions_are_footnoted_with_their_reason():
    grid = grids.fractions_grid(fakes.curve())
    cells = dict(grid.rows)["Brier score, over label smoothing 0.1"]
    assert {cell.text for cell in cells} == {"unbounded"}
    assert "not distinguishable from 0" in grid.notes[cells[0].note - 1]


def test_fraction_cells_by_hand():
    """hard, kl, N = 100 is the ceiling: 100% without an interval."""
    cells = dict(grids.fractions_grid(fakes.curve()).rows)["KL divergence, over hard labels"]
    assert cells[-1] == grids.Cell("100%")
    assert grids.fractions_grid(fakes.curve()).head[1:] == tuple(str(b) for b in fakes.BUDGETS)


def test_n_star_cells():
    rows = dict(grids.n_star_grid(fakes.curve()).rows)
    assert [cell.text for cell in rows["KL divergence, over hard labels"]] == ["3 (2, 10]", "6 (2, 10]"]
    assert [cell.text for cell in rows["Entropy correlation, over hard labels"]] == ["> 50", "> 50"]
    assert [cell.text for cell in rows["Brier score, over label smoothing 0.1"]] == ["undefined"] * 2


def test_sections_stand_in_their_order(with_models, votes_only):
    wanted = [
        "answer",
        "differ",
        "curves",
        "model-fractions",
        "model-n-star",
        "labels",
        "conditions",
        "words",
        "checks",
        "repeat",
    ]
    assert re.findall(r'<section id="([^"]*)"', with_models) == wanted
    assert re.findall(r'<section id="([^"]*)"', votes_only) == ["answer", "labels", "words", "checks", "repeat"]


def test_whether_metrics_differ_is_said_in_words_before_the_curves(with_models):
    words = "KL divergence keeps more than Brier score at 1, 2, 3 and 5 annotators: 20 points more at 1"
    assert with_models.index(words) < with_models.index('<section id="curves"')
    assert f"Entropy correlation: model and labels alone {NOT_TOLD} at any budget tried" in with_models
    assert "At 10 annotators per item, dirichlet targets cannot be told from soft ones in KL divergence." in with_models


def test_cells_of_contrasts_by_hand():
    """0.2 / 3 = 6.67 points, band 3 wide each way; at 10 votes 2 +- 3 holds zero."""
    (grid,) = contrast_grids.pair_grids(fakes.curve())
    cells = dict(zip(grid.head[1:], dict(grid.rows)["kl \u2212 brier"], strict=True))
    assert cells["3"] == grids.Cell("7 [4, 10]", strong=True)
    assert cells["10"] == grids.Cell("2 [\u22121, 5]")
    assert cells["N* ratio, 90%"] == grids.Cell("0.60 [0.49, 0.73]", strong=True)
    (grid,) = contrast_grids.gap_grids(fakes.curve())
    assert [cell.text for cell in dict(grid.rows)["KL divergence, N = 10"]] == [
        "0.0100 [0.0060, 0.0140]",
        "50% [30%, 70%]",
        "cannot be told from soft targets (p = .40)",
        "cannot be told from the ceiling (p = .20)",
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with everything in it; drawn once, since drawing takes seconds."""
    out = tmp_path_factory.mktemp("written") / "report"
    assert write_report(fakes.report(), out) == out / "index.html"
    return out


def test_folder_holds_the_documented_files(folder):
    names = ("label_curve", "saturation_curve", "fractions", "n_star", "conditions", "checks")
    expected = {"index.html", "results.json"}
    expected |= {f"figures/{n}.{kind}" for n in names for kind in ("svg", "pdf")}
    expected |= {f"tables/{n}.{kind}" for n in names for kind in ("csv", "tex")}
    assert {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()} == expected
    results = json.loads((folder / "results.json").read_text())
    assert results["command"] == "report"
    assert list(results["sections"]) == ["curve", "evaluate", "label_curve"]


def test_a_folder_of_ours_is_replaced_and_other_files_are_refused(folder, tmp_path):
    check_folder(folder)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    check_folder(theirs)
    (theirs / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match="--overwrite"):
        check_folder(theirs)
    check_folder(theirs, overwrite=True)


@pytest.mark.parametrize("content", ["{}", "[]", "not json", '{"schema": "other/1"}'])
def test_a_foreign_results_json_does_not_make_a_folder_ours(tmp_path, content):
    (tmp_path / "results.json").write_text(content)
    with pytest.raises(UsageError, match="holds other files"):
        check_folder(tmp_path)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        check_folder(tmp_path / "x")
