"""Text form, canonical order and selection of conditions."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saturation.conditions import Condition, parse, select
from saturation.errors import UsageError

HARD = Condition.of(model="m", method="hard")
HARD3 = Condition.of(model="m", method="hard", budget=3)
SOFT3 = Condition.of(model="m", method="soft", budget=3)
SOFT20 = Condition.of(model="m", method="soft", budget=20)
ALL = (HARD, HARD3, SOFT3, SOFT20)


def test_text_form_has_a_fixed_order_and_no_nulls():
    condition = Condition.of(zeta=1, alpha=0.5, budget=10, strength=None, method="soft", apple="x", model="m")
    assert str(condition) == "model=m,method=soft,budget=10,alpha=0.5,apple=x,zeta=1"
    assert condition.strength is None
    assert (condition.model, condition.method, condition.budget) == ("m", "soft", 10)


@pytest.mark.parametrize("value", ["a,b", "a=b", 'say "hi"', '"', '""', "null", "10", "1e3", " padded ", 'a",b="c', ""])
def test_every_text_value_can_be_written_and_read_back(value):
    condition = Condition.of(model="m", corpus=value)
    assert select((Condition.of(model="m"), condition), str(condition)) is condition


plain_text = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=12)
values = st.one_of(plain_text, st.integers(-(10**6), 10**6), st.floats(allow_nan=False, allow_infinity=False))


@given(st.dictionaries(st.sampled_from(["model", "method", "prior", "corpus", "size"]), values, min_size=1))
def test_round_trip(columns):
    for name in ("model", "method", "prior"):
        if name in columns:
            columns[name] = str(columns[name])
    condition = Condition.of(**columns)
    assert select((condition,), str(condition)) is condition


def test_quotes_only_where_a_bare_value_would_be_read_as_something_else():
    condition = Condition.of(model="02", a="x=1", b='say "hi"', c="null", d="0012", e="10", f=10, g="plain text")
    assert str(condition) == 'model=02,a="x=1",b="say ""hi""",c="null",d="0012",e=10,f=10,g=plain text'


def test_canonical_order_is_null_first_then_numbers_by_size():
    for shuffled in itertools.permutations(ALL):
        assert tuple(sorted(shuffled, key=lambda c: c.sort_key)) == ALL


def test_order_of_text_is_by_utf8_bytes_and_never_fails_on_mixed_kinds():
    names = ["Z", "a", "é", "z", "\U0001f600"]
    by_bytes = sorted(names, key=str.encode)
    found = sorted((Condition.of(model="m", who=name) for name in reversed(names)), key=lambda c: c.sort_key)
    assert [c.get("who") for c in found] == by_bytes
    mixed = [Condition.of(model="m", x="b"), Condition.of(model="m", x=2), Condition.of(model="m")]
    assert [c.get("x") for c in sorted(mixed, key=lambda c: c.sort_key)] == [None, 2, "b"]


def test_select_one():
    assert select(ALL, "method=soft,budget=20") is SOFT20
    assert select(ALL, "method=hard,budget=null") is HARD
    assert select(ALL, "budget=3,method=soft") is SOFT3
    assert select((Condition.of(model="7", method="soft"),), "model=7").model == "7"
    assert select((Condition.of(model="m", temperature=2.0),), "temperature=2").get("temperature") == 2.0


@pytest.mark.parametrize(
    ("selector", "says", "lists"),
    [
        ("method=soft", "2 conditions match", [str(SOFT3), str(SOFT20)]),
        ("method=mixup", "no condition matches", [str(c) for c in ALL]),
        ("budget=null,method=soft", "no condition matches", [str(c) for c in ALL]),
    ],
)
def test_more_or_fewer_than_one_match_is_an_error_that_lists_them(selector, says, lists):
    with pytest.raises(UsageError, match=says) as caught:
        select(ALL, selector)
    assert all(one in caught.value.message for one in lists)


@pytest.mark.parametrize("text", ["soft", "=soft", "", "method=soft,", "method=soft,method=hard", 'a="b', 'a="b"c'])
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(UsageError, match="not a condition"):
        parse(text)


def test_matches_and_without():
    assert SOFT3.matches(Condition.of(method="soft"))
    assert not SOFT3.matches(Condition.of(method="soft"), null=("budget",))
    assert SOFT3.without("budget", "method") == Condition.of(model="m")
