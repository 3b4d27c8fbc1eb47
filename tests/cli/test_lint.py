"""``verify lint`` and the errors that other commands take from it."""

from __future__ import annotations

import json

import fakes
import pytest

TWO_ERRORS = '''"""Two errors."""

from theorax.language import *

n = Size("n", "")
g = Parameter("g ", "gain")
theorem = Theorem(place="", label="read", claims={})
'''

CLEAN = '''"""A clean file."""

from theorax.language import *

x = Parameter("x", "a number")
square = Inequality(x**2, at_least=0, over={x: (-1, 1)})
theorem = Theorem(place="", label="derived", claims=dict(square=square))
'''


@pytest.fixture
def two(root):
    """A root with a file of three errors."""
    fakes.library(root, two=TWO_ERRORS)
    return root / "spectra" / "two.py"


def test_lines_name_file_line_and_rule(verify, two):
    answer = verify("lint", "two")
    assert answer.code == 2
    lines = answer.out.splitlines()
    assert [line.rpartition(" ")[2] for line in lines[:3]] == ["[letter-meaning]", "[letter-name]", "[no-claims]"]
    assert all(f"{two}:{number}: " in line for number, line in zip((5, 6, 7), lines, strict=False))
    assert lines[-1] == "3 errors in 1 file."


def test_json_and_github_say_the_same(verify, two):
    rows = json.loads(verify("lint", "two", "-o", "json").out)["problems"]
    assert [(row["line"], row["rule"]) for row in rows] == [(5, "letter-meaning"), (6, "letter-name"), (7, "no-claims")]
    lines = verify("lint", "two", "-o", "github").out.splitlines()
    assert all(
        line.startswith("::error file=") and f"title={row['rule']}" in line
        for line, row in zip(lines, rows, strict=True)
    )


def test_a_rule_is_explained(verify):
    answer = verify("explain", "letter-meaning")
    assert answer.code == 0
    assert "letter-meaning: A report tells its reader" in answer.out


def test_a_check_tells_all_errors_of_its_file(verify, two):
    answer = verify("theorem", "two", "--jobs", "1", check="theorax.runs.checking:stage")
    assert answer.code == 3
    said = " ".join(answer.out.split())
    assert "spectra/two.py has 3 errors:" in said
    assert all(f"[{rule}]" in said for rule in ("letter-meaning", "letter-name", "no-claims"))


def test_files_without_errors_are_counted(verify, root):
    (root / "spectra" / "clean.py").write_text(CLEAN, encoding="utf-8")
    answer = verify("lint", "clean")
    assert (answer.code, answer.out) == (0, "No errors in 1 file.\n")


def test_a_path_outside_all_roots_is_read(verify, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "two.py").write_text(TWO_ERRORS, encoding="utf-8")
    (folder / "_helper.py").write_text("", encoding="utf-8")
    answer = verify("lint", f"{folder}/")
    assert answer.code == 2
    assert answer.out.endswith("3 errors in 1 file.\n")


OPEN_STEP = '''"""A mean, with one step that is open and one that is false."""

import jax
from sympy import Abs, Integral, Symbol, cos, pi

from theorax.language import *

n = Size("n", "nothing runs")
mean = Measured("mean", "one and some noise")
x = Symbol("x", real=True)
claim = Expectation(mean, 1, margin=Absolute(1, 20, "planted"))


@lemma
def area():
    """All."""
    yield Step("open", Integral(Abs(cos(x)), (x, -pi / 2, 0)), 1)
    yield Step("false", Integral(Abs(cos(x)), (x, -pi / 2, 0)), 2)


theorem = Theorem(label="own", claims=dict(claim=claim), proofs=(area,), experiments=dict(e=Experiment(
    lambda z: dict(mean=z), mean, {n: 1}, draws=4, subjects={"drawn": Subject(lambda key, n: jax.random.normal(key))}
)))
'''


def test_proofs_are_checked_where_it_is_asked(verify, tmp_path):
    file = tmp_path / "area_of_a_cosine.py"
    file.write_text(OPEN_STEP)
    assert verify("lint", str(file)).code == 0
    found = verify("lint", "--proofs", str(file))
    assert found.code == 2
    assert "[open-step]" in found.out and "[false-step]" in found.out
