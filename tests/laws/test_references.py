"""Every source that the package names is in its bibliography, and the bibliography holds nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import theorax
from theorax.theorems.bibliography import folded, library
from theorax.theorems.catalogue import Catalogue, first_line

PACKAGE = Path(theorax.__file__).parent
CATALOGUE = Catalogue()
WORKS = library()
FILES = sorted(PACKAGE.rglob("*.py"))
TEXTS = [path for path in FILES if path.name != "bibliography.py"]  # whose examples name what is in no file
NAME = r"(?:(?:de|van|von) )?[A-Z][\w'-]+"
# What looks like authors and a year: "Weyl 1912", "Golub and Van Loan 2013", "Matthews et al. 2018".
CITATION = re.compile(rf"{NAME}(?:(?:, {NAME})* and {NAME}(?: {NAME})?| et al\.)? (?:1[6-9]|20)\d\d\b(?!-)")


def text(path: Path) -> str:
    """What a file says, on one line."""
    return " ".join(path.read_text(encoding="utf-8").split())


def cited(path: Path) -> Iterator[tuple[int, str]]:
    """The sources of proofs and the source lines of docstrings, with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Cited":
            source = ast.literal_eval(node.args[1] if len(node.args) > 1 else node.keywords[-1].value)
            yield node.lineno, source
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            for found in re.findall(r"\*\*Source:\*\*\s+(.*?)(?=\n\s*\n|\Z)", ast.get_docstring(node) or "", re.DOTALL):
                yield getattr(node, "lineno", 1), " ".join(found.split()).removesuffix(".")


SOURCES = [(path.relative_to(PACKAGE), line, source) for path in FILES for line, source in cited(path)]


def test_the_sources_are_found():
    kinds = {path.parts[0] for path, _, _ in SOURCES}
    assert len(SOURCES) > 80 and kinds >= {"theorems", "numerics", "decide", "exact"}


@pytest.mark.parametrize(("path", "line", "source"), SOURCES, ids=[f"{path}:{line}" for path, line, _ in SOURCES])
def test_a_source_begins_with_a_label_or_with_a_theorem_that_it_uses(path, line, source):
    uses = CATALOGUE.facts(path.stem).uses if path.stem in CATALOGUE.ids else ()
    assert WORKS.cited(source, uses)[1] == []


def test_what_looks_like_a_citation_is_one():
    labels = "|".join(map(re.escape, sorted(WORKS.by_label, key=len, reverse=True)))
    strange = [
        (str(path.relative_to(PACKAGE)), found)
        for path in TEXTS
        for found in CITATION.findall(re.sub(labels, "", folded(text(path))))
    ]
    assert strange == []


def test_every_entry_is_cited():
    named = {work.key for path in TEXTS for work in WORKS.named(text(path))}
    assert {work.key for work in WORKS.works} - named - set(CATALOGUE.papers) == set()


def test_every_paper_has_its_entry_and_names_it():
    for paper in set(CATALOGUE.papers) - {"instruments"}:
        work, init = WORKS.by_key[paper], PACKAGE / "theorems" / paper / "__init__.py"
        assert CATALOGUE.citation(paper) == work.told.removesuffix(".")
        assert work in WORKS.named(first_line(init))


def test_labels_tell_works_apart():
    assert len(WORKS.by_label) == len(WORKS.by_key) == len(WORKS.works)
