"""The form as annotators meet it: two at once, by keyboard, on a phone, through a reload and a crash of the server."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time

import polars as pl
import pytest

pytestmark = pytest.mark.browser

N = 20
LABELS = ("entailment", "neutral", "contradiction")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    """``saturation elicit`` as a process that can be killed and started again."""

    def __init__(self, folder):
        self.folder = folder
        self.port = free_port()
        frame = {"item_id": [f"q{i:02d}" for i in range(N)], "premise": [f"Premise {i}" for i in range(N)]}
        pl.DataFrame(frame | {"hypothesis": ["So it is."] * N}).write_csv(folder / "items.csv")
        self.out = folder / "r.jsonl"
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "saturation", "elicit", "--items", self.folder / "items.csv", "--labels",
             ",".join(LABELS), "--annotators", "ann,ben", "--port", str(self.port), "--out", self.out],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        links = [self.process.stderr.readline().split(": ", 1)[1].strip() for _ in range(2)]
        self.process.stderr.readline()
        return links

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stderr.close()

    def rows(self):
        return [json.loads(line) for line in self.out.read_text().splitlines()]


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path)
    yield made
    made.kill()


def answer(page, pause=0.0):
    """By keyboard alone: a number for the answer, Tab to the percentage, Enter."""
    time.sleep(pause)
    page.keyboard.press("2")
    page.keyboard.press("Tab")
    page.keyboard.type("80")
    page.keyboard.press("Enter")


def settled(page, number):
    page.wait_for_function(
        "n => n > 20 || document.querySelector('h1').textContent.includes(`question ${n} of`)", arg=number
    )


def test_two_annotators_a_reload_and_a_crash(chromium, server):
    links = server.start()
    contexts = [chromium.new_context(viewport={"width": 390, "height": 844}) for _ in links]
    pages = [context.new_page() for context in contexts]
    foreign = []
    for page, link in zip(pages, links, strict=True):
        page.on("request", lambda request: foreign.append(request.url) if "127.0.0.1" not in request.url else None)
        page.goto(link)
    pauses, seen = {}, dict.fromkeys(("ann", "ben"), time.monotonic())
    for number in range(1, N + 1):
        for who, page in zip(("ann", "ben"), pages, strict=True):
            if who == "ann" and number == 7:
                page.reload()
            if who == "ben" and number == 11:
                server.kill()
                page.evaluate("document.querySelector('form').noValidate = true")
                assert server.start() == links, "the links go on working"
            settled(page, number)
            pause = 0.4 if number in (3, 12) else 0.0
            answer(page, pause)
            pauses[who, number] = time.monotonic() - seen[who]  # from the page's being there, the other's turn included
            settled(page, number + 1)
            seen[who] = time.monotonic()
    for page in pages:
        page.wait_for_selector("text=all 20 questions are answered")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390
    rows = server.rows()
    assert len(rows) == 2 * N
    assert len({(row["annotator_id"], row["item_id"]) for row in rows}) == 2 * N
    assert foreign == []
    own = {who: [row for row in rows if row["annotator_id"] == who] for who in ("ann", "ben")}
    for who, given in own.items():
        assert len(given) == N
        for number in (3, 12):
            assert given[number - 1]["seconds"] == pytest.approx(pauses[who, number], abs=0.3)
    assert {row["top_percent"] for row in rows} == {80.0}
    for context in contexts:
        context.close()


def test_the_page_can_be_used_without_script_and_is_readable_on_a_phone(chromium, server):
    link = server.start()[0]
    context = chromium.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(link)
    page.get_by_label("neutral").first.check()
    page.get_by_label("How probable is it, in percent?").fill("60")
    page.get_by_role("button", name="Save and go on").click()
    page.wait_for_selector("text=question 2 of 20")
    (row,) = server.rows()
    assert row["top"] == "neutral"
    assert row["seconds"] > 0
    context.close()
