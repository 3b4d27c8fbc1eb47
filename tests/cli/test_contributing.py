"""The walk-through of CONTRIBUTING.md: the file on the page is a theorem, and it comes out as the page says."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from theorax.cli.main import exit_code_of
from theorax.cli.workspace import Workspace
from theorax.testing import outputs

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PARTS = outputs.blocks(PAGE)


@pytest.fixture
def papers(tmp_path, monkeypatch):
    """The folder of papers with the page's files in it."""
    outputs.write_files([part for part in PARTS if part.file], tmp_path / "papers")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "papers"


def test_the_page_shows_what_happens(papers, capsys):
    shown = [one for part in PARTS if part.kind == "console" for one in outputs.console_commands(part)]
    assert len(shown) == 2
    for one in shown:
        words = shlex.split(one.command.removeprefix("verify "))
        world = Workspace(papers, check="theorax.runs.checking:stage", arguments=(*words, "--state", "kept"))
        assert exit_code_of(world) == 0
        told = capsys.readouterr().out
        assert outputs.matches(one.output, told), told
