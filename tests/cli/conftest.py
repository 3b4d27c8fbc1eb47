"""The command, run in this process on a small library with stand-ins for the checks."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import fakes
import pytest

from theorax.cli.main import exit_code_of
from theorax.cli.workspace import Workspace


@dataclass(frozen=True)
class Answer:
    """What a command said and returned."""

    code: int
    out: str
    err: str


Verify = Callable[..., Answer]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of papers."""
    return fakes.library(tmp_path / "papers")


@pytest.fixture
def verify(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Verify:
    """The command ``verify`` in an empty folder."""
    folder = tmp_path / "project"
    folder.mkdir(exist_ok=True)
    (folder / ".git").mkdir()
    monkeypatch.chdir(folder)
    for name in ("XLA_FLAGS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, os.environ.get(name, ""))

    def call(*arguments: str, check: str = "fakes:check") -> Answer:
        code = exit_code_of(Workspace(library=root, check=check, arguments=arguments))
        said = capsys.readouterr()
        return Answer(code, said.out, said.err)

    return call
