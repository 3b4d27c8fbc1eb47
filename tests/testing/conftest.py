"""Sessions of pytest inside a test, on a small library with stand-ins for the checks."""

from __future__ import annotations

import concurrent.futures.process  # noqa: F401  (a session inside a test forgets what it imported: all is imported here)
import os
from functools import partial
from pathlib import Path

import fakes
import networkx  # noqa: F401
import numpy.fft  # noqa: F401
import pytest

# A session of pytester forgets what was first imported in it, and what a package still holds is then another module.
import theorax.testing.claim_fixture
import theorax.testing.collecting
import theorax.testing.pytest_options  # noqa: F401
from theorax.cli.workspace import Workspace
from theorax.runs.sources import Sources

TESTS = Path(fakes.__file__).parent

CONFTEST = """
import os
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
if "PYTEST_XDIST_WORKER" in os.environ:
    from functools import partial
    from theorax.testing import checks
    checks.Sources = partial(checks.Sources, deciding=())
    from theorax.testing import collecting
    collecting.Workspace = partial(collecting.Workspace, library=Path({root!r}), check="fakes:check")
"""


@pytest.fixture
def session(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Run pytest with the plug-in in a project of its own; the theorems are those of ``fakes.library``."""
    (pytester.path / ".git").mkdir()
    root = fakes.library(pytester.path / "papers")
    pytester.makeconftest(CONFTEST.format(tests=str(TESTS), root=str(root)))
    monkeypatch.setenv("PYTHONPATH", f"{TESTS.parent}{os.pathsep}{TESTS}")
    for name in ("CI", "GITHUB_STEP_SUMMARY", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XLA_FLAGS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    # The engine's own files are the same in all these sessions; to read them takes most of a session's time.
    monkeypatch.setattr("theorax.testing.checks.Sources", partial(Sources, deciding=()))
    workspace = partial(Workspace, library=root, check="fakes:check")
    monkeypatch.setattr("theorax.testing.collecting.Workspace", workspace)
    calls = pytester.path / "calls"
    calls.mkdir()
    monkeypatch.setenv("THEORAX_TEST_CALLS", str(calls))

    def run(*words: str) -> pytest.RunResult:
        plugins = ("theorax.testing.plugin", "no:cacheprovider", "no:hypothesispytest", "no:jaxtyping")
        return pytester.runpytest_inprocess(*(part for name in plugins for part in ("-p", name)), *words)

    return run


@pytest.fixture
def theorems(pytester: pytest.Pytester):
    """Add theorems to that library by id."""

    def add(**texts: str) -> None:
        fakes.library(pytester.path / "papers", **texts)

    return add


@pytest.fixture
def calls(pytester: pytest.Pytester):
    """The theorems that were checked, each as often as it was."""
    return lambda: sorted(path.name.split(".")[0] for path in (pytester.path / "calls").iterdir())
