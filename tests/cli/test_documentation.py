"""The examples of the pages under ``docs/`` and of the package's docstrings are true, word for word."""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
from pathlib import Path

import pytest

import theorax
from theorax.cli.main import exit_code_of
from theorax.cli.workspace import Workspace

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
PROMPT = ">>> "
PACKAGE = Path(theorax.__file__).parent  # where it is installed: beside the tests, or from the wheel
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if PROMPT in path.read_text(encoding="utf-8")
)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_there_are_pages_and_docstrings_with_examples():
    assert PAGES and MODULES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python(page):
    tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS)
    assert tried.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    tried = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert tried.failed == 0
    # An example that doctest does not find, in a comment or an inner function, would never be run.
    assert tried.attempted == Path(str(module.__file__)).read_text(encoding="utf-8").count(PROMPT)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands(page, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    blocks = CONSOLE.findall(page.read_text(encoding="utf-8"))
    assert blocks or page.stem != "own_numbers"
    for block in blocks:
        command, *shown = block.splitlines()
        words = shlex.split(command.removeprefix("$ "))
        assert words[0] == "verify"
        exit_code_of(Workspace(arguments=tuple(words[1:])))
        told = capsys.readouterr().out
        # A line of three dots stands for any lines.
        wanted = "\n".join(shown) + "\n"
        assert doctest.OutputChecker().check_output(wanted, told, doctest.ELLIPSIS), told
