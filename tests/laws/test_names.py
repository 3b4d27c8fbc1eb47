"""One meaning, one name: no module, public class or public function of the engine shares its name with another."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import theorax

PACKAGE = Path(theorax.__file__).parent
# A file of these names says what a folder or the package is, not what is in it.
UNNAMED = frozenset({"__init__", "__main__"})
# Names of an interface, which has one function of this name in each of its modules, and of public functions that no program
# uses side by side.
SHARED = {
    "text": "a format renders a report",
    "answer_text": "a format renders the answer of another command",
    "render": "blocks become HTML, Markdown, plain text; and the command that does so",
    "evaluate": "a program in an arithmetic; and the command",
    "lint": "the check of a file; and the command",
    "plan": "the plan of a check; and the command",
    "run": "the run of a selection; and that of the command",
    "main": "the entry point of a program",
    "arrays": "letters of a theorem; and the comparison of a user's own",
    "gaussian": "the law; and its draws",
}


def public_classes(file: Path) -> list[str]:
    """The classes that a module defines at its top, without those whose name begins with an underscore."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    return [part.name for part in body if isinstance(part, ast.ClassDef) and not part.name.startswith("_")]


def public_functions(file: Path) -> set[str]:
    """The functions that a module defines at its top, without those whose name begins with an underscore."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    return {part.name for part in body if isinstance(part, ast.FunctionDef) and not part.name.startswith("_")}


def doubled(named: Iterable[tuple[str, Path]]) -> Mapping[str, list[Path]]:
    """The names that stand in two files, with the files."""
    places = defaultdict(list)
    for name, file in named:
        places[name].append(file)
    return {name: files for name, files in places.items() if len(files) > 1}


def files_of(folder: Path) -> list[Path]:
    """The Python files below a folder; theorems and models of all papers are among them."""
    found = sorted(folder.rglob("*.py"))
    assert found, f"{folder} holds no Python file: nothing would be compared."
    return found


def test_no_two_modules_share_a_name():
    assert not doubled((file.stem, file) for file in files_of(PACKAGE) if file.stem not in UNNAMED)


def test_no_two_public_classes_share_a_name():
    assert not doubled((name, file) for file in files_of(PACKAGE) for name in public_classes(file))


def test_no_two_public_functions_of_the_engine_share_a_name():
    """Papers have names of their own: no paper knows another."""
    engine = [
        file
        for file in files_of(PACKAGE)
        if not (file.is_relative_to(PACKAGE / "theorems") and file.parent.name != "theorems")
    ]
    found = doubled((name, file) for file in engine for name in public_functions(file))
    assert found.keys() == SHARED.keys()


def test_a_name_given_twice_is_found(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rates.py").write_text("class Rate: ...\nclass _Own: ...\n", encoding="utf-8")
    assert list(doubled((file.stem, file) for file in files_of(tmp_path))) == ["rates"]
    assert list(doubled((name, file) for file in files_of(tmp_path) for name in public_classes(file))) == ["Rate"]
