"""Whoever types something that theorax no longer has reads what to use instead."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import fakes
import pytest

import theorax
from theorax import decide
from theorax.deleted import KEYWORDS, MODULES, NAMES, OPTIONS, SETTINGS
from theorax.errors import UsageError
from theorax.verifiers.linting import problems

USES = """
from theorax.language import *

x = Parameter("x", "a number")
{line}
theorem = Theorem(label="derived", claims=dict(square=Inequality(x**2, at_least=0, over={{x: (-1, 1)}})))
"""


COMMANDS = {"--alone": ("graph", "gap"), "--json": ("data", "runs.csv")}


@pytest.mark.parametrize("option", OPTIONS)
def test_a_deleted_option(verify, option):
    for typed in ((option, "value"), (f"{option}=value",)):
        answer = verify(*COMMANDS.get(option, ("theorem", "gap")), *typed)
        assert answer.code == 2
        assert answer.err.strip() == f"Error: {OPTIONS[option]}"


@pytest.mark.parametrize("key", SETTINGS)
def test_a_deleted_setting(verify, key):
    with pytest.raises(UsageError) as raised:
        theorax.verify("gap", **{key: "value"})
    assert str(raised.value) == SETTINGS[key]
    Path("pyproject.toml").write_text(f'[tool.theorax]\n{key} = "value"\n', encoding="utf-8")
    answer = verify("theorem", "gap")
    assert answer.code == 2
    assert SETTINGS[key] in answer.err


@pytest.mark.parametrize("name", NAMES)
def test_a_deleted_name(name, root):
    module, _, last = name.rpartition(".")
    with pytest.raises(ImportError) as raised:
        getattr(import_module(module), last)
    assert str(raised.value) == NAMES[name]
    if module == "theorax.language":
        found = said(root, f"{last}(x)")
        assert NAMES[name] in found


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_a_deleted_keyword(keyword, root):
    called, _, last = keyword.partition(".")
    if called in decide.__all__:
        with pytest.raises(UsageError) as raised:
            getattr(decide, called)(**{last: 1})
        assert KEYWORDS[keyword] in str(raised.value)
        return
    called = "Inequality" if called == "Claim" else called
    assert KEYWORDS[keyword] in said(root, f"{called}({last}=1)")


@pytest.mark.parametrize("module", MODULES)
def test_a_module_that_moved(module, root):
    assert find_spec(module) is None
    assert find_spec(MODULES[module]) is not None
    assert f"Import {MODULES[module]} instead." in said(root, f"import {module}")


def said(root: Path, line: str) -> str:
    """The errors of a theorem file with this line."""
    fakes.library(root, uses=USES.format(line=line).strip())
    return " ".join(part.sentence for part in problems(root / "spectra" / "uses.py"))
