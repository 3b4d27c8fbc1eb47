"""The list of broken rules at the end of STYLE.md names what breaks them, and nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import theorax

PACKAGE = Path(theorax.__file__).parent
STYLE = Path(__file__).parents[2] / "STYLE.md"
ALL = sorted(PACKAGE.rglob("*.py"))
# The models and builders of papers take one parameter for each letter; the list says so once.
FILES = [path for path in ALL if path.parent.parent.name != "theorems"]


def broken_list() -> str:
    """The text of the list."""
    return STYLE.read_text(encoding="utf-8").partition("### Where the project breaks its rules")[2]


def listed(rule: str) -> set[str]:
    """The names that the entries which begin so put between backticks."""
    entries = [line for line in broken_list().splitlines() if line.startswith(f"- {rule}")]
    assert entries, f"no entry begins with {rule!r}"
    return {name for line in entries for name in re.findall(r"`([\w.]+)`", line)}


def long_modules() -> Iterator[str]:
    """Modules of more than 300 lines."""
    for path in ALL:
        if len(path.read_text(encoding="utf-8").splitlines()) > 300:
            yield path.stem


def wide_records() -> Iterator[str]:
    """Classes that state more than twelve fields of their own."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                own = [part for part in node.body if isinstance(part, ast.AnnAssign)]
                if sum("ClassVar" not in ast.unparse(part.annotation) for part in own) > 12:
                    yield node.name


def wide_functions() -> Iterator[str]:
    """Functions of more than eight parameters, besides self and cls."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                names = [part.arg for part in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                if len([name for name in names if name not in ("self", "cls")]) > 8:
                    yield node.name


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("Rule 1:", long_modules),
        ("Rule 27, records of more than twelve fields:", wide_records),
        ("Rule 27, functions of more than eight parameters:", wide_functions),
    ],
    ids=["modules", "records", "functions"],
)
def test_what_breaks_a_rule_of_size_is_named(rule, found):
    told = {name.rpartition(".")[2] for name in listed(rule)}
    missing = set(found()) - told
    assert not missing, f"STYLE.md does not name {', '.join(sorted(missing))} under {rule!r}"


def test_nothing_is_named_that_breaks_no_rule():
    rooms = {
        "numerics",
        "language",
        "decide",
        "theorems",
        "runs",
        "reports",
        "cli",
        "text",
        "arithmetics",
        "exact",
        "kinds",
        "cases",
        "verifiers",
        "mind_the_gap",
    }
    told = {name.rpartition(".")[2] for name in listed("Rule 1:")} - rooms
    assert told == set(long_modules())
    assert listed("Rule 27, records") == set(wide_records())
    assert {name.rpartition(".")[2] for name in listed("Rule 27, functions")} == set(wide_functions())


PRONOUN = re.compile(r"(What|That|Which|Whether|Those|Whatever|How|Where|Why|Who|Whose|It|Its|They)\b")


def test_docstrings_open_with_a_verb_or_a_noun():
    """Rule 23."""
    opened = [
        f"{path.relative_to(PACKAGE)}: {docstring.splitlines()[0]}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (docstring := ast.get_docstring(node))
        if PRONOUN.match(docstring)
    ]
    assert opened == []
