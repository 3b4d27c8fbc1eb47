"""What every theorem of the library promises, checked on all of them by discovery."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from theorax.language import Measured, Theorem
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.attacks.mutants import variants
from theorax.verifiers.cases.sweep_lines import sweep_lines
from theorax.verifiers.loading import load
from theorax.verifiers.settings import Settings

CATALOGUE = Catalogue()


@pytest.fixture(params=CATALOGUE.ids)
def name(request: pytest.FixtureRequest) -> str:
    """The id of each theorem in turn."""
    return str(request.param)


@pytest.fixture
def theorem(name: str) -> Theorem:
    """Its value."""
    return load(name)


def test_its_file_says_statically_what_it_is(name, theorem):
    facts = CATALOGUE.facts(name)
    assert CATALOGUE.problem(name) is None
    assert facts.title
    assert facts.uses == theorem.uses
    assert facts.label == theorem.label != "own"
    assert theorem.place
    assert set(facts.kinds) >= {claim.kind for claim in theorem.claims.values()}


SITTING = 200


def lines_after_imports(path: Path) -> int:
    """The lines of a file from the one after its last import to the end."""
    text = path.read_text(encoding="utf-8")
    imports = (node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom))
    return len(text.splitlines()) - max((node.end_lineno or 0 for node in imports), default=0)


def test_its_page_is_one_sitting(name):
    """Rule 2 of STYLE.md."""
    assert lines_after_imports(CATALOGUE.path(name)) <= SITTING


def test_a_page_is_measured_from_its_last_import(tmp_path):
    page = tmp_path / "page.py"
    page.write_text(
        '"""A title."""\n\nimport math\nfrom os import (\n    path,\n)\n\nx = math.pi\ny = path\n', encoding="utf-8"
    )
    assert lines_after_imports(page) == 3


def test_every_claim_has_a_wrong_variant(theorem):
    for label, claim in theorem.claims.items():
        assert any(variant.expected == "rejected" for variant in variants(label, claim)), label


def test_a_papers_theorem_derives_something(name, theorem):
    assert theorem.proofs or CATALOGUE.paper(name) == "instruments"


@pytest.mark.parametrize("drawn", CATALOGUE.ids)
def test_a_draw_is_a_function_of_its_names(drawn, tmp_path):
    from theorax.numerics import platform
    from theorax.numerics.sampler import Sampler
    from theorax.verifiers.cases.measure import measure

    platform.enable()
    for label, experiment in load(drawn).experiments.items():
        every = sweep_lines(label, experiment, Settings(effort="quick", state=str(tmp_path)))
        few = [replace(line, sizes=line.sizes[:1], draws=2) for line in every]
        for line in few[:1]:
            sampler = Sampler()
            once, other = (measure(drawn, experiment, line, few, seed, sampler) for seed in (0, 1))
            again = measure(drawn, experiment, line, few, 0, Sampler())
            for letter in (letter.name for letter in experiment.measured if not letter.array):
                assert np.array_equal(once.tables[0][letter], again.tables[0][letter])
            if once.tables and experiment.seeds != "none" and _random(experiment.measured):
                assert any(
                    not np.array_equal(once.tables[0][letter.name], other.tables[0][letter.name])
                    for letter in experiment.measured
                )


def _random(measures: tuple[Measured, ...]) -> bool:
    return any(not letter.array for letter in measures)


def test_no_theorem_file_imports_a_verifier(name):
    assert "theorax.verifiers" not in Path(CATALOGUE.path(name)).read_text(encoding="utf-8")
