"""One record of a case, one place that puts a verdict together, and nothing that changes inside a value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import theorax
from theorax.decide import plans
from theorax.decide.case_results import NothingEstimated, own_case
from theorax.decide.status import Decision, Reason, Side

PACKAGE = Path(theorax.__file__).parent
ENGINE = [file for file in sorted(PACKAGE.rglob("*.py")) if "theorems" not in file.relative_to(PACKAGE).parts[:1]]

PARTS = {"Case", "Grounds", "ErrorRates"}  # of a `Verdict`, which `test_verdicts` asks about
CHANGERS = {"setdefault", "update", "append", "extend", "add", "pop", "clear"}
# Objects of Python and of libraries that are made to be changed, and accounts that a running program keeps of itself.
OPEN = {
    "os.environ",
    "sys.modules",
    "sys.path",
    "sys.warnoptions",
    "jax.config",
    "environment.filters",
    "environment.globals",
    "node.workerinput",
    "self._node.user_properties",
    "self.domain.wrapped",
    "read.__annotations__",
    "uses.numbers",
    "uses.made",
    "uses.foreign",
    "paper.entries",
}


def tree(file: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(file.read_text(encoding="utf-8"))


def name_of(file: Path) -> str:
    """A module by its path in the package."""
    return file.relative_to(PACKAGE).as_posix()


def called(module: ast.Module) -> Iterator[str]:
    """Names that are called as they stand."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def changed(module: ast.Module) -> Iterator[str]:
    """Attributes of other objects in which an entry is set, as they are written."""
    for node in ast.walk(module):
        places: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            places = [part.value for part in node.targets if isinstance(part, ast.Subscript)]
        elif isinstance(node, ast.AugAssign | ast.AnnAssign) and isinstance(node.target, ast.Subscript):
            places = [node.target.value]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGERS:
            places = [node.func.value]
        for place in places:
            if isinstance(place, ast.Attribute) and not (
                isinstance(place.value, ast.Name) and place.value.id == "self"
            ):
                yield ast.unparse(place)


def test_one_module_puts_the_parts_of_a_verdict_together():
    builders = {name_of(file): PARTS & set(called(tree(file))) for file in ENGINE}
    assert {name: parts for name, parts in builders.items() if parts} == {"decide/conclusions.py": PARTS}


def test_a_case_has_one_record():
    """Before the data and after them: what else describes a case of a claim is the report's `Case`."""
    classes = {
        node.name: name_of(file) for file in ENGINE for node in ast.walk(tree(file)) if isinstance(node, ast.ClassDef)
    }
    assert classes["PlannedCase"] == classes["CaseResult"] == "decide/case_results.py"
    assert not {"Prepared", "Judged", "Shown", "Claimed"} & classes.keys()


def test_nobody_changes_what_stands_inside_another_object():
    found = {(name_of(file), place) for file in ENGINE for place in changed(tree(file)) if place not in OPEN}
    assert not found, "keep it in an object that is made to be changed (Evaluations), and hand that on"


def test_the_search_for_changes_finds_one():
    planted = ast.parse(
        "def f(observed):\n    observed._evaluated['x'] = 1\n    observed.notes.append(2)\n    self.a[0] = 1\n"
    )
    assert set(changed(planted)) == {"observed._evaluated", "observed.notes"}


def test_a_result_is_decided_anew_from_what_was_planned():
    plan = NothingEstimated(margin=0.1)
    tested = plans.Tested(Decision.undecided(Reason.UNDERPOWERED, 0.0, 0.1, Side.EQUAL, plan.levels))
    first = replace(own_case(plan, tested), trivial=True, detail="first")
    again = first.decided(tested)
    assert (again.trivial, again.detail) == (False, "") and again == own_case(plan, tested)
