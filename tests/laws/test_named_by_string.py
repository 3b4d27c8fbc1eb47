"""What the code names by a string or in a template exists: a rename is seen by no type checker there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import theorax

PACKAGE = Path(theorax.__file__).parent
PLACE = re.compile(r"(theorax(?:\.\w+)+):(\w+)")


def defined(file: Path) -> set[str]:
    """The names that a module defines or imports at its top."""
    found: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def file_of(module: str) -> Path:
    """The file of a module of the package."""
    place = PACKAGE.parent.joinpath(*module.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def named_by_string(file: Path) -> Iterator[tuple[str, str]]:
    """Modules and their names in the strings of a file, as in ``"theorax.reports.json:text"``."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (place := PLACE.fullmatch(node.value)):
            yield place[1], place[2]


def test_functions_that_are_named_by_a_string_exist():
    named = {(file, *place) for file in sorted(PACKAGE.rglob("*.py")) for place in named_by_string(file)}
    assert len(named) > 10
    lost = [f"{file.name}: {module}:{name}" for file, module, name in named if name not in defined(file_of(module))]
    assert not lost


def test_functions_that_a_template_calls_exist():
    templates = sorted(PACKAGE.rglob("*.html"))
    called = {
        name for path in templates for name in re.findall(r"\bpage_parts\.(\w+)", path.read_text(encoding="utf-8"))
    }
    assert called and not called - defined(PACKAGE / "reports" / "html" / "page_parts.py")


def test_a_name_that_is_gone_is_found(tmp_path):
    file = tmp_path / "one.py"
    file.write_text('PLACE = "theorax.names:gone"\n', encoding="utf-8")
    ((module, name),) = named_by_string(file)
    assert name not in defined(file_of(module)) and "many" in defined(file_of(module))
