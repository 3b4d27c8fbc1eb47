"""Stamps of theorem files whose words changed after the run of a release: the release still speaks of their program.

    python benchmarks/release_stamps.py COMMIT [--replayed ID ...] [--moved OLD=NEW ...]

COMMIT is the one whose library the release checked. A file whose program (everything but its docstring and comments) is the
one of that commit gets its new digest in ``theorax/reports/shipped/heads.json``. So does a theorem after --replayed, whose
check at standard effort is unchanged (only another effort has other draws, say) and of which `verify replay --release ID`
has just found the numbers again. The others are listed and keep their old digest, so
that no list shows the release's word for them.

--moved names modules that have moved since: OLD is the dotted name at COMMIT, NEW the present one. An import or a mention of
OLD at COMMIT then counts as one of NEW, if both modules have the same program. The order of neighbouring imports is no
part of a program: it follows from the names of the modules.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from theorax.reports import release
from theorax.theorems.catalogue import Catalogue

ROOT = Path(__file__).parents[1]
ANY_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Moved(ast.NodeTransformer):
    """Imports in one form, with the new names of modules that moved; so are mentions of these modules in texts."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._mention = re.compile("|".join(rf"\b{re.escape(old)}\b" for old in names) or r"(?!)")

    def _now(self, text: str) -> str:
        return self._mention.sub(lambda found: self._names[found[0]], text)

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant(self._now(node.value)) if isinstance(node.value, str) else node

    def visit_Import(self, node: ast.Import) -> ast.Import:
        return ast.Import([ast.alias(self._now(part.name), part.asname) for part in node.names])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        if node.level or node.module is None or node.names[0].name == "*":
            return node
        return ast.Import(
            [ast.alias(self._now(f"{node.module}.{part.name}"), part.asname or part.name) for part in node.names]
        )

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(body := getattr(node, "body", None), list):
            vars(node)["body"] = _imports_joined(body)
        return node


def _imports_joined(body: list[Any]) -> list[Any]:
    """Statements in which neighbouring imports are one, sorted. A star import stays: it may hide an earlier name."""
    found: list[Any] = []
    for part in body:
        if isinstance(part, ast.Import):
            before = found.pop().names if found and isinstance(found[-1], ast.Import) else []
            names = sorted([*before, *part.names], key=lambda one: (one.name, one.asname or ""))
            found.append(ast.Import(names))
        else:
            found.append(part)
    return found


def program(text: str, moved: Mapping[str, str], documented: tuple[Any, ...] = (ast.Module,)) -> str:
    """The syntax tree of a module without the docstrings of these parts, with the new names of modules that moved."""
    tree = ast.parse(text)
    for part in ast.walk(tree):
        if isinstance(part, documented) and ast.get_docstring(part, clean=False) is not None:
            del part.body[0]
    return ast.dump(Moved(moved).visit(tree))


def file_of(module: str) -> Path:
    """The file of a module of the package."""
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")


def unchanged(commit: str, moved: Mapping[str, str]) -> dict[str, str]:
    """The moved modules whose program is still the one of the commit, and so is that of the moved ones they import."""
    found = dict(moved)
    while changed := [
        old
        for old, new in found.items()
        if program(at(commit, file_of(old)).decode(), found, ANY_DOCSTRING)
        != program(file_of(new).read_text(encoding="utf-8"), {}, ANY_DOCSTRING)
    ]:
        for old in changed:
            print(f"{found.pop(old)}: its program is not the one of {old} at {commit}")
    return found


def at(commit: str, path: Path) -> bytes:
    """A file as it is at a commit."""
    command = ["git", "show", f"{commit}:{path.relative_to(ROOT).as_posix()}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout


def main() -> None:
    """Write the digests, and list the theorems that keep the old ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit")
    parser.add_argument("--replayed", nargs="*", default=[], metavar="ID")
    parser.add_argument("--moved", nargs="*", default=[], metavar="OLD=NEW")
    given = parser.parse_args()
    moved = unchanged(given.commit, dict(part.split("=") for part in given.moved))
    catalogue, place = Catalogue(), release.FOLDER / release.HEADS
    heads = json.loads(at(given.commit, place))
    for id, row in heads["theorems"].items():
        path = catalogue.path(id)
        checked, now = at(given.commit, path), path.read_bytes()
        if hashlib.sha256(checked).hexdigest() != row[2]:
            print(f"{id}: its file at {given.commit} is not the one that the release checked")
        elif program(checked.decode(), moved) == program(now.decode(), {}) or id in given.replayed:
            row[2] = hashlib.sha256(now).hexdigest()
        else:
            print(f"{id}: its program is not the one that the release checked")
    place.write_text(json.dumps(heads, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
