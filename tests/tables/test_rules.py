"""Each rule has a broken table in fixtures/bad, refused with that rule and no other.

``<code>-<slug>.<role><number>.<suffix>``: files with one stem belong together. Roles votes, predictions, items and
splits go to the door; soft_votes, or predictions or splits alone, and ``table`` (not said which) go to ``check``.
"""

import re
from pathlib import Path

import pytest

from saturation.errors import DataError
from saturation.tables.checking import check_files
from saturation.tables.door import read_panel, read_votes
from saturation.tables.rules import RULES

BAD = Path(__file__).resolve().parents[2] / "fixtures" / "bad"
ROW_RULES = {
    "F04": (2, None), "T03": (3, ""), "T04": (3, "x" * 80), "T05": (3, "q\n3"), "T07": (3, "q1"),
    "V01": (4, "q2"), "V02": (4, "q2"), "V03": (4, "q2"), "V04": (2, "q1"), "V05": (2, "q1"), "V06": (3, "q3"),
    "V07": (3, "q3"), "P01": (3, "q3"), "P02": (3, "q3"), "P04": (3, "q1"), "P08": (3, "q3"), "P09": (1, "q1"),
    "P10": (3, "q3"), "P11": (1, "q1"), "P12": (2, "q1"), "A03": (None, "q2"), "A07": (1, "q1"), "A08": (1, "q1"),
    "A09": (2, "q1"), "A10": (2, "q2"),
}  # fmt: skip
"""Rules about rows, with the row and item that the fixture breaks (an empty id is null: see T03)."""


def fixtures() -> dict[str, dict[str, list[Path]]]:
    found: dict[str, dict[str, list[Path]]] = {}
    for path in sorted(BAD.iterdir()):
        if path.name.endswith(".meta.json"):
            continue
        stem, role = re.fullmatch(r"([A-Z]\d\d-[a-z0-9-]+)\.([a-z_]+?)\d*\.[a-z]+", path.name).groups()
        found.setdefault(stem, {}).setdefault(role, []).append(path)
    return found


def read(files):
    if "votes" in files and "predictions" in files:
        return read_panel(files["votes"], files["predictions"], items=files.get("items"), splits=files.get("splits"))
    if "votes" in files:
        return read_votes(files["votes"], items=files.get("items"))
    return check_files([path for paths in files.values() for path in paths])


def test_every_rule_has_one_fixture_and_every_fixture_a_rule():
    assert sorted(fixtures()) == sorted(f"{rule.code}-{rule.slug}" for rule in RULES)
    assert len({rule.code for rule in RULES}) == len({rule.slug for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("stem", sorted(fixtures()))
def test_fixture_is_refused_with_its_own_rule(stem):
    files = fixtures()[stem]
    with pytest.raises(DataError) as caught:
        read(files)
    code = stem[:3]
    assert {problem.rule for problem in caught.value.problems} == {code}
    names = [path.name for paths in files.values() for path in paths]
    for problem in caught.value.problems:
        assert any(name in problem.file for name in names), problem
        assert len(problem.message) < 1000
    if code in ROW_RULES:
        row, item = ROW_RULES[code]
        problem = caught.value.problems[0]
        assert (problem.row, problem.item or "") == (row, item or "")


def test_all_problems_are_told_at_once(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("item_id,annotator_id,label,pool\nq1,a1,,train\n,a1,yes,no\nq1,a1,no,heldout\n")
    with pytest.raises(DataError) as caught:
        read_votes(path)
    assert [(p.rule, p.row) for p in caught.value.problems] == [("V01", 1), ("T03", 2), ("V04", 2), ("V03", 3)]


def test_second_file_counts_its_own_rows(tmp_path):
    (tmp_path / "a.csv").write_text("item_id,n_a,n_b\nq1,1,0\nq2,-1,0\nq2b,1,0\n")
    (tmp_path / "b.csv").write_text("item_id,n_a,n_b\nq3,1,0\nq4,-1,0\n")
    with pytest.raises(DataError) as caught:
        read_votes(tmp_path)
    found = [(Path(problem.file).name, problem.row, problem.item) for problem in caught.value.problems]
    assert found == [("a.csv", 2, "q2"), ("b.csv", 2, "q4")]
