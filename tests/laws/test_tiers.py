"""The table of slow tests: every run makes some of each kind, the same ones, and the parts of all commits make all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tiers
from tiers import KINDS, PARTS, Kind, chosen, kind_of, lost, name_of, part_of, table

PAGE = Path(__file__).parents[1] / "README.md"
SLOW = "power/test_every_theorem.py::test_the_words_of_its_claims_its_controls_mutants_and_numbers[{}]"
TOY = Kind("Toys.", ("a/test_a.py::test_one[*.py]", "a/test_a.py::test_two"), ("x*.py", "test_two[b]"))


@pytest.mark.parametrize(
    ("name", "member", "always"),
    [
        ("a/test_a.py::test_one[x.py]", True, True),
        ("a/test_a.py::test_one[y.py]", True, False),
        ("a/test_a.py::test_one[y.py:function]", False, False),
        ("a/test_a.py::test_two[a]", True, False),
        ("a/test_a.py::test_two[b]", True, True),
        ("a/test_a.py::test_two_more[b]", False, False),
        ("b/a/test_a.py::test_two[b]", False, False),
    ],
)
def test_a_pattern_means_its_tests_and_no_others(name, member, always):
    assert TOY.has(name) is member
    assert (TOY.has(name) and TOY.always_runs(name)) is always


def test_a_kind_without_a_representative_is_refused():
    with pytest.raises(ValueError, match="every run makes"):
        Kind("Toys.", ("a/test_a.py::test_one",), ())


def test_what_the_table_names_and_nobody_wrote_is_found(monkeypatch):
    monkeypatch.setattr(tiers, "KINDS", (TOY,))
    names = ["a/test_a.py::test_one[x.py]", "a/test_a.py::test_two[b]"]
    assert lost(names) == [] == lost(["b/test_b.py::test_one"])
    assert lost(names[:1]) == ["a/test_a.py::test_two", "test_two[b]"]
    assert lost(["a/test_a.py::test_one[y.py]", names[1]]) == ["x*.py"]


def test_a_run_depends_on_no_clock():
    names = [SLOW.format(id) for id in ("relu_arc_cosine_kernel", "rank_collapse_width", "gnn_recovery")]
    assert [chosen(None)(name) for name in names] == [True, False, False]
    imported = re.findall(r"^(?:from|import) (\S+)", Path(tiers.__file__).read_text(encoding="utf-8"), re.MULTILINE)
    assert set(imported) <= {"__future__", "collections.abc", "dataclasses", "hashlib", "re"}


def test_the_parts_of_commits_make_every_slow_test_and_each_makes_about_a_tenth():
    names = [SLOW.format(number) for number in range(500)]
    assert all(kind_of(name) is not None and not chosen(None)(name) for name in names)
    commits = {part_of(f"commit {number}"): f"commit {number}" for number in range(200)}
    assert commits.keys() == set(range(PARTS))
    made = [{name for name in names if chosen(commit)(name)} for commit in commits.values()]
    assert set().union(*made) == set(names) and sum(map(len, made)) == len(names)
    # A binomial law of 500 trials at 1/10 leaves [20, 86] with probability below 1e-5.
    assert all(20 <= len(part) <= 86 for part in made)


def test_a_test_has_one_name_wherever_pytest_starts():
    assert name_of("tests/laws/test_a.py::test[x]") == name_of("laws/test_a.py::test[x]") == "laws/test_a.py::test[x]"


def test_the_page_shows_the_table():
    shown = re.search(r"^\| what is held .*\Z", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert shown and shown[0] == table(KINDS)
