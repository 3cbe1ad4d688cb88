"""The form without a browser: what is asked, what is kept, and what is thrown at it."""

from __future__ import annotations

import json
import os
import random
import re
import threading

import polars as pl
import pytest

from saturation import files
from saturation.collect.answers import Answer, BadAnswerError, Store, read_answer
from saturation.collect.app import Form, Question, _seconds, make_app
from saturation.collect.collection import names_of, read_questions
from saturation.collect.people import tokens
from saturation.collect.tasks import Task, sheet
from saturation.datasets import convert
from saturation.errors import DataError, UsageError
from saturation.tables import io

LABELS = ("yes", "<b>no</b>", "maybe")
N = 5


def form(people=None, **more):
    questions = tuple(Question((("text", f"Is {i} <script>alert(1)</script> prime?"),)) for i in range(N))
    return Form(questions, LABELS, people or {"tokenA": "ann", "tokenB": "ben"}, **{"soft": True, **more})


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "r.jsonl", [f"q{i}" for i in range(N)], LABELS, soft=True)


@pytest.fixture
def client(store):
    return make_app(form(repeats=1), store).test_client()


def sent(**more):
    return {"number": "0", "top": "1", "top_percent": "70", "second": "", "seconds": "0.01", **more}


def lines(store):
    return [json.loads(line) for line in store.path.read_text().splitlines()] if store.path.exists() else []


def test_every_item_is_asked_in_an_order_of_ones_own():
    sheets = [sheet(30, 5, rank, repeats=4) for rank in range(3)]
    for one in sheets:
        assert sorted(task.item for task in one.tasks[:30]) == list(range(30))
        assert [task.item for task in one.tasks[30:]] == [task.item for task in one.tasks[:4]]
        assert sorted(one.labels) == list(range(5))
    assert len({one.tasks for one in sheets}) == 3
    assert sheet(30, 5, 1, repeats=4) == sheets[1]


def test_the_page_escapes_everything_and_loads_nothing(client):
    answer = client.get("/a/tokenA")
    text = answer.get_data(as_text=True)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert "&lt;b&gt;no" in text
    assert "http" not in text.replace("http-equiv", "")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Cache-Control"] == "no-store"


def test_an_answer_is_on_the_disk_before_the_next_question(client, store):
    first = sheet(N, 3, 0, repeats=1).tasks[0]
    answer = client.post("/a/tokenA", data=sent(second="0", second_percent="20", impossible=["2"]))
    assert answer.status_code == 303
    (row,) = lines(store)
    assert row == {
        "item_id": f"q{first.item}", "annotator_id": "ann", "top": "<b>no</b>", "top_percent": 70.0, "second": "yes",
        "second_percent": 20.0, "impossible": ["maybe"], "seconds": 0.01, "repeat": 0,
    }  # fmt: skip


def test_sending_twice_keeps_the_first(client, store):
    for percent in ("70", "30"):
        assert client.post("/a/tokenA", data=sent(top_percent=percent)).status_code == 303
    assert [row["top_percent"] for row in lines(store)] == [70.0]


def test_two_people_never_mix(client, store):
    client.post("/a/tokenA", data=sent())
    client.post("/a/tokenB", data=sent(top="0"))
    assert [(row["annotator_id"], row["top"]) for row in lines(store)] == [("ann", "<b>no</b>"), ("ben", "yes")]
    assert {row["item_id"] for row in lines(store)} == {f"q{sheet(N, 3, rank).tasks[0].item}" for rank in (0, 1)}


def test_work_goes_on_after_a_crash_in_the_middle_of_a_line(client, store):
    client.post("/a/tokenA", data=sent())
    with store.path.open("a") as stream:
        stream.write('{"item_id": "q1", "annota')
    again = Store(store.path, store.item_ids, LABELS, soft=True)
    assert again.number("ann") == 1
    client = make_app(form(repeats=1), again).test_client()
    client.post("/a/tokenA", data=sent(number="1"))
    assert len(lines(again)) == 2, "the half line was never confirmed to anybody, and is cut off"


def test_many_answers_at_once_are_all_kept_once(tmp_path):
    store = Store(tmp_path / "r.jsonl", [f"q{i}" for i in range(50)], LABELS, soft=True)

    def work(name):
        for item in range(50):
            store.add(name, Task(item, 0), Answer(0, 100.0), 1.0)

    threads = [threading.Thread(target=work, args=(f"a{k // 2}",)) for k in range(8)]  # two a person
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [(row["annotator_id"], row["item_id"]) for row in lines(store)]
    assert len(found) == len(set(found)) == 200


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"top": None}, "Choose the most probable"),
        ({"top_percent": ""}, "Say how probable"),
        ({"top_percent": "0"}, "Say how probable"),
        ({"top_percent": "101"}, "whole number from 0 to 100"),
        ({"top_percent": "7e1"}, "whole number from 0 to 100"),
        ({"second": "1"}, "first again"),
        ({"second": "2", "second_percent": "40"}, "more than 100"),
        ({"impossible": ["1"]}, "marked as impossible"),
        ({"top": "3"}, "not one of the answers"),
        ({"top": "-1"}, "not one of the answers"),
    ],
)
def test_answers_that_contradict_themselves_are_asked_again(client, store, change, message):
    data = {name: value for name, value in sent(**change).items() if value is not None}
    answer = client.post("/a/tokenA", data=data)
    assert answer.status_code == 422
    assert message in answer.get_data(as_text=True)
    assert lines(store) == []


def test_what_was_entered_is_there_again_after_a_mistake(client):
    text = client.post("/a/tokenA", data=sent(top_percent="", impossible=["2"])).get_data(as_text=True)
    assert re.search(r'name="top" value="1"( autofocus)? checked', text)
    assert 'name="impossible" value="2" checked' in text


def test_hostile_requests_change_nothing(client, store, tmp_path):
    client.post("/a/tokenA", data=sent())
    before = store.path.read_bytes()
    rng = random.Random(1)
    nasty = [
        "",
        "\x00",
        "../../etc/passwd",
        "<script>",
        "%00",
        "9" * 300,
        "-1",
        "1e9",
        "NaN",
        "ｎ",
        "' OR 1=1",
        "\r\nX: y",
    ]
    files_before = sorted(path.name for path in tmp_path.iterdir())
    for _ in range(500):
        kind = rng.randrange(6)
        if kind == 0:
            answer = client.get(f"/a/{rng.choice(nasty)}")
        elif kind == 1:
            answer = client.post("/a/tokenA", data={name: rng.choice(nasty) for name in sent()})
        elif kind == 2:
            types = ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json", ""]
            body = os.urandom(rng.randrange(2000))
            answer = client.post("/a/tokenA", data=body, content_type=rng.choice(types))
        elif kind == 3:
            answer = client.post("/a/tokenA", data={"top": "1" * 40_000})
        elif kind == 4:
            answer = client.open("/a/tokenA", method=rng.choice(["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"]))
        else:
            answer = client.get(f"/a/tokenA/image/{rng.choice([*nasty, '0', '99999999999'])}")
        assert answer.status_code < 500
    assert store.path.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == files_before


def test_unknown_tokens_see_nothing(client):
    assert client.get("/a/tokenC").status_code == 404
    assert client.get("/").status_code == 404
    assert client.post("/a/tokenC", data=sent()).status_code == 404


def test_time_is_that_of_the_page_where_it_can_be():
    import time

    now = time.monotonic()
    assert _seconds("2.5", now - 3) == 2.5
    assert _seconds("2.5", None) == 2.5, "the server was started again while the page was open"
    assert _seconds("300", now - 3) == pytest.approx(3, abs=0.2), "more than there was"
    assert _seconds("", now - 3) == pytest.approx(3, abs=0.2), "no script in the browser"
    assert _seconds("-4", None) is None
    assert _seconds("nan", None) is None


def test_tokens_are_made_once_and_for_the_user_alone(tmp_path):
    path = tmp_path / "people.json"
    first = tokens(path, ["ann", "ben"])
    assert list(first.values()) == ["ann", "ben"]
    assert all(len(token) >= 20 for token in first)
    assert path.stat().st_mode & 0o077 == 0
    again = tokens(path, ["ann", "ben", "cem"])
    assert [token for token, name in again.items() if name != "cem"] == list(first)
    with pytest.raises(UsageError, match="knows ben"):
        tokens(path, ["ann"])
    with pytest.raises(UsageError, match="different names"):
        tokens(tmp_path / "other.json", ["ann", "ann"])
    assert names_of(["3"]) == ("annotator-1", "annotator-2", "annotator-3")


def test_answers_become_soft_votes(client, store, tmp_path):
    for number in range(N + 1):
        client.post("/a/tokenA", data=sent(number=str(number), second="0", second_percent="10", impossible=["2"]))
    assert "all 6 questions are answered" in client.get("/a/tokenA").get_data(as_text=True)
    listing = convert("elicited", store.path, tmp_path / "out", labels=LABELS)
    frame, _ = io.read_frame(tmp_path / "out/soft_votes.parquet")
    assert len(frame) == N
    assert frame.select("p_yes", "p_<b>no</b>", "p_maybe").unique().to_numpy().round(12).tolist() == [[0.125, 0.875, 0]]
    assert any("1 responses left out" in note.message for note in listing.notes)


def test_plain_votes_too(tmp_path):
    store = Store(tmp_path / "r.jsonl", [f"q{i}" for i in range(N)], LABELS, soft=False)
    client = make_app(form(soft=False), store).test_client()
    for number in range(N):
        client.post("/a/tokenB", data={"number": str(number), "top": "2"})
    convert("long", store.path, tmp_path / "out", labels=LABELS)
    frame, _ = io.read_frame(tmp_path / "out/votes.parquet")
    assert frame["label"].to_list() == ["maybe"] * N
    with pytest.raises(UsageError, match="line 1: not an answer to these questions"):
        Store(store.path, store.item_ids, LABELS, soft=True)


def test_questions_come_from_the_table_and_images_from_beside_it(tmp_path):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures/a.png").write_bytes(b"\x89PNG")
    (tmp_path.parent / "secret.png").write_bytes(b"x")
    pl.DataFrame({"item_id": ["a"], "file": ["pictures/a.png"]}).write_csv(tmp_path / "items.csv")
    ids, (question,) = read_questions(tmp_path / "items.csv", None, "file")
    assert ids == ("a",)
    assert question.image.name == "a.png"
    bad = {"item_id": ["a", "b", "c"], "file": ["../secret.png", "pictures/no.png", ""]}
    pl.DataFrame(bad).write_csv(tmp_path / "bad.csv")
    with pytest.raises(DataError) as caught:
        read_questions(tmp_path / "bad.csv", None, "file")
    assert [problem.item for problem in caught.value.problems] == ["a", "b", "c"]
    pl.DataFrame({"item_id": ["a"], "premise": ["x"], "hypothesis": ["y"], "n": [3]}).write_csv(tmp_path / "t.csv")
    _, (question,) = read_questions(tmp_path / "t.csv", None, None)
    assert question.texts[:2] == (("premise", "x"), ("hypothesis", "y"))
    with pytest.raises(UsageError, match="has no column body"):
        read_questions(tmp_path / "t.csv", ["body"], None)


def test_a_line_is_appended_whole(tmp_path):
    path = tmp_path / "x"
    path.write_text("one\ntw")
    files.append_line(path, "three")
    files.append_line(path, "four")
    assert path.read_text() == "one\nthree\nfour\n"


def test_numbers_that_are_none_are_refused():
    with pytest.raises(BadAnswerError):
        read_answer({"top": "٣", "top_percent": "50"}, [], 3, soft=True)
