"""The walk-through of CONTRIBUTING.md: the file on the page is a theorem, and it comes out as the page says."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from theorax.cli.main import exit_code_of
from theorax.cli.workspace import Workspace

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PARTS = re.compile(r"^```(?:python|bibtex) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def papers(tmp_path, monkeypatch):
    """The folder of papers with the page's files in it."""
    files: dict[str, list[str]] = {}
    for name, part in PARTS.findall(PAGE):
        files.setdefault(name, []).append(part)
    for name, parts in files.items():
        path = tmp_path / "papers" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(parts), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "papers"


def test_the_page_shows_what_happens(papers, capsys):
    shown = CONSOLE.findall(PAGE)
    assert len(shown) == 2
    for block in shown:
        command, *lines = block.splitlines()
        words = shlex.split(command.removeprefix("$ verify "))
        world = Workspace(papers, check="theorax.runs.checking:observe", arguments=(*words, "--state", "kept"))
        assert exit_code_of(world) == 0
        told = capsys.readouterr().out
        assert doctest.OutputChecker().check_output("\n".join(lines) + "\n", told, doctest.ELLIPSIS), told
