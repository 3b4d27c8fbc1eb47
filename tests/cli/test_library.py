"""The library's way in: ``import theorax``."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import fakes
import pytest

import theorax
from theorax.language import Inequality, Parameter, Theorem

ROOT = Path(fakes.__file__).parents[1]


@pytest.fixture
def verify(tmp_path, monkeypatch):
    root = fakes.library(tmp_path / "papers")
    monkeypatch.setattr("theorax.reports.library.LIBRARY", root)
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
    assert "3 of 3 hold." in str(report)


x = Parameter("x", "a number")
STATED = Theorem(claims=dict(below=Inequality(x**2, at_most=2 * x, over={x: (0, 1)})))

MISTAKES = [
    (("gapp",), {}, "did you mean `gap`"),
    (("gap",), {"efort": "quick"}, "did you mean `effort`"),
    (("gap",), {"effort": "quik"}, "did you mean `quick`"),
    ((), {}, "Nothing is selected"),
    (("gap",), {"roots": ["nowhere"]}, "does not exist"),
    (("gap",), {"id": "mine"}, "name one Theorem that has no file, and 0 were given"),
    (("claims/nowhere.py",), {}, "There is no file or folder"),
    ((STATED,), {"id": "gap"}, "is the id of a theorem"),
    ((STATED,), {"id": "a b"}, "is no id"),
    ((STATED, STATED), {"id": "one"}, "and 2 were given"),
]


@pytest.mark.parametrize(("selectors", "settings", "said"), MISTAKES)
def test_a_mistake_is_an_error_with_a_sentence(verify, selectors, settings, said):
    with pytest.raises(theorax.UsageError, match=said):
        verify(*selectors, **settings)


def test_a_value_is_checked_here_and_not_kept(verify, tmp_path):
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "mine.py").write_text(fakes.stated(("lanczos",)), encoding="utf-8")
    for _ in range(2):
        report = verify(STATED, ["gap", Path("claims")], id="square", title="Squares are small", effort="quick")
        assert report.statuses == {"square": "CERTIFIED", "gap": "SUPPORTED", "mine": "SUPPORTED"}
        part = report["square"]
        assert (part.title, part.label, part.kept, part.root, part.file) == (
            "Squares are small",
            "own",
            False,
            None,
            "",
        )
        assert part.replay == "theorax.verify(theorem, id='square', title='Squares are small', effort='quick')"
    assert report["gap"].kept and report["mine"].root.folder == "claims"
    assert set(verify(STATED, STATED).statuses) == {"untitled", "untitled_2"}
    assert "Squares" in str(verify(STATED, title="Squares are small"))


def test_a_value_that_a_file_of_a_root_states_is_that_file(verify, tmp_path, monkeypatch):
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "mine.py").write_text(f"{fakes.stated()}", encoding="utf-8")
    module = ModuleType("mine")
    module.__file__, module.theorem = str(tmp_path / "claims" / "mine.py"), STATED
    monkeypatch.setitem(sys.modules, "mine", module)
    assert verify(STATED).statuses.keys() == {"untitled"}
    assert verify(STATED, roots=["claims"]).statuses == {"mine": "SUPPORTED"}


def test_an_object_that_is_neither_is_a_type_error(verify):
    for wrong in (3, None, [3.0], ["gap", object()]):
        with pytest.raises(TypeError, match="takes a Theorem, a selector or path, or a list"):
            verify(wrong)


def test_the_public_names_and_their_version():
    for name in theorax.__all__:
        assert getattr(theorax, name) is not None
    assert (
        theorax.__version__
        == tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    )
    with pytest.raises(AttributeError, match="no attribute 'verfy'"):
        theorax.verfy  # noqa: B018


def test_importing_theorax_imports_only_its_version():
    code = "import sys, theorax; print([name for name in sys.modules if name.startswith('theorax.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "['theorax.version']"


def test_python_dash_m_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "theorax", "--version"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == f"theorax, version {theorax.__version__}"
