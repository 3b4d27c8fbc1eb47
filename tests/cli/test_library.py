"""The library's way in: ``import theorax``."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import fakes
import pytest

import theorax
from theorax.theorems.catalogue import Catalogue

ROOT = Path(fakes.__file__).parents[1]


@pytest.fixture
def verify(tmp_path, monkeypatch):
    root = fakes.library(tmp_path / "papers")
    monkeypatch.setattr("theorax.reports.library.Catalogue", lambda: Catalogue((root,)))
    monkeypatch.setattr("theorax.reports.library.CHECK", "fakes:check")
    monkeypatch.chdir(tmp_path)
    for name in ("XLA_FLAGS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "")
    return theorax.verify


def test_a_report_is_a_value(verify):
    report = verify("+gap", effort="quick")
    assert report.exit_code == 0
    assert report.statuses == {"lanczos": "SUPPORTED", "bulk": "SUPPORTED", "gap": "SUPPORTED"}
    assert report["gap"].label == "reconstructed"
    assert report.document.settings.effort == "quick"
    assert "3 theorems: 3 SUPPORTED." in str(report)


MISTAKES = [
    (("gapp",), {}, "did you mean `gap`"),
    (("gap",), {"efort": "quick"}, "did you mean `effort`"),
    (("gap",), {"effort": "quik"}, "did you mean `quick`"),
    ((), {}, "Nothing is selected"),
]


@pytest.mark.parametrize(("selectors", "settings", "said"), MISTAKES)
def test_a_mistake_is_an_error_with_a_sentence(verify, selectors, settings, said):
    with pytest.raises(theorax.UsageError, match=said):
        verify(*selectors, **settings)


def test_the_public_names_and_their_version():
    for name in theorax.__all__:
        assert getattr(theorax, name) is not None
    assert (
        theorax.__version__
        == tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    )
    with pytest.raises(AttributeError, match="no attribute 'verfy'"):
        theorax.verfy  # noqa: B018


def test_importing_theorax_imports_nothing_else():
    code = "import sys, theorax; print([name for name in sys.modules if name.startswith('theorax.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_python_dash_m_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "theorax", "--version"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == f"theorax, version {theorax.__version__}"
