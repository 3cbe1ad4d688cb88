"""The page as a reader meets it: on a screen, on a phone, on paper. Hostile names included.

No browser is downloaded: these tests drive the Chromium that is installed.
"""

from __future__ import annotations

import shutil
import subprocess

import pytest

from saturation.report import html
from tests.report import fakes

pytestmark = pytest.mark.browser

SCREENS = {
    "desktop": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
}
REPORTS = {
    "models": lambda: fakes.report(model=fakes.HOSTILE),
    "votes": lambda: fakes.report(with_models=False),
}


@pytest.fixture(scope="module", params=REPORTS)
def url(request, tmp_path_factory):
    path = tmp_path_factory.mktemp(request.param) / "index.html"
    path.write_text(
        html.page(REPORTS[request.param](), repeat="saturation report --votes " + "very_" * 60 + "long.csv")
    )
    return path.as_uri()


class Visit:
    """One opened page with everything it asked for and complained about."""

    def __init__(self, browser, screen: str, url: str) -> None:
        self.context = browser.new_context(**SCREENS[screen])
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append("a script ran"), dialog.dismiss()))
        self.page.goto(url)
        self.page.wait_for_load_state("networkidle")


@pytest.fixture(params=SCREENS)
def visit(request, chromium, url):
    one = Visit(chromium, request.param, url)
    yield one
    one.context.close()


def test_it_asks_for_nothing_but_itself_and_complains_about_nothing(visit, url):
    assert [one for one in visit.requests if not one.startswith("data:")] == [url]
    assert visit.complaints == []


def test_it_never_scrolls_sideways(visit):
    width = visit.page.viewport_size["width"]
    assert visit.page.evaluate("innerWidth") == width
    visit.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    visit.page.evaluate("window.scrollTo(500, 0)")
    assert visit.page.evaluate("window.scrollX") == 0


def test_the_answer_is_on_the_first_screen(visit):
    box = visit.page.locator(".headline").first.bounding_box()
    assert box["y"] + box["height"] < visit.page.viewport_size["height"]


def test_wide_tables_scroll_inside_their_own_box(visit):
    boxes = visit.page.evaluate(
        "[...document.querySelectorAll('.scroll')].map(b => [b.getBoundingClientRect().right, "
        "getComputedStyle(b).overflowX])"
    )
    width = visit.page.viewport_size["width"]
    assert boxes
    assert all(right <= width and overflow == "auto" for right, overflow in boxes)


def test_figure_text_can_be_read(visit):
    """No text of a figure is drawn smaller than 7 CSS pixels high."""
    heights = visit.page.evaluate(
        "[...document.querySelectorAll('figure svg text')].map(t => t.getBoundingClientRect()).filter(r => r.width)"
        ".map(r => Math.min(r.width, r.height) === r.width && r.height > 30 ? r.width : r.height)"
    )
    assert heights
    assert min(heights) >= 7


def test_no_script_of_the_data_became_an_element(visit):
    assert visit.page.locator("script").count() == 0


def test_text_is_dark_enough(visit):
    """Contrast of every kind of text against white, by the WCAG formula."""
    colours = visit.page.evaluate(
        "[...new Set([...document.querySelectorAll('p, li, h1, h2, h3, td, th, dt, dd, caption, summary, pre')]"
        ".filter(e => e.textContent.trim()).map(e => getComputedStyle(e).color))]"
    )
    assert colours
    for colour in colours:
        red, green, blue = (_linear(int(part)) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))
        luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
        assert 1.05 / (luminance + 0.05) >= 4.5, colour


def _linear(channel: int) -> float:
    share = channel / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def test_printed_the_answer_is_on_page_one(chromium, url, tmp_path):
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext (poppler-utils) is not installed, so the pages of a PDF cannot be told apart")
    one = Visit(chromium, "desktop", url)
    one.page.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True)
    headlines = one.page.locator("#answer .headline").all_inner_texts()
    one.context.close()
    command = ["pdftotext", "-l", "1", "-raw", tmp_path / "page.pdf", "-"]
    first = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    words = "".join(first.split())
    assert headlines
    assert all("".join(headline.split()) in words for headline in headlines)
