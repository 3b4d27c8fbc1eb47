"""The judgement of ``verify doctor``: what stops the work, what is only a remark, and the command for each."""

import sys
from importlib import metadata
from pathlib import Path

import fakes
import pytest

from theorax.cli.doctor import Remark, _modules, _of_requirements, remark_lines


def own_project(**files: str) -> None:
    Path("pyproject.toml").write_text('[tool.theorax]\ntheorems = ["claims"]\n', encoding="utf-8")
    Path("claims").mkdir()
    for name, text in files.items():
        Path(f"claims/{name}.py").write_text(text, encoding="utf-8")


def test_a_machine_without_a_project_is_ready(verify):
    answer = verify("doctor")
    assert answer.code == 0
    assert answer.out.splitlines()[-1] == "✓ Ready."


def test_a_project_gets_its_remarks_with_a_command_each(verify):
    own_project(fine=fakes.stated(), broken='"""Broken."""\n\ntheorem = Theorem(\n')
    Path("requirements-theorax.txt").write_text("click==0.1\nno_such_package==1.0\n", encoding="utf-8")
    answer = verify("doctor")
    assert answer.code == 0
    told = answer.out[answer.out.index("! Ready") :].splitlines()
    assert told[0] == "! Ready, with 3 remarks:"
    assert [line.strip() for line in told if line.startswith("    ")] == [
        "verify lint root:own",
        "verify baseline save",
        "pip install -r requirements-theorax.txt",
    ]
    assert "broken" in told[1] and "fine" not in told[1]
    assert "click" in told[5] and "no_such_package missing (there 1.0)" in told[5]


@pytest.mark.parametrize("hurt", ["results", "root"])
def test_what_stops_the_work_is_told_first_and_ends_with_three(verify, hurt):
    if hurt == "results":
        Path(".theorax").write_text("a file, no folder", encoding="utf-8")
    else:
        own_project()
        Path("claims").rmdir()
    answer = verify("doctor")
    assert answer.code == 3
    assert "✗ Not ready:" in answer.out


def test_what_of_the_engine_cannot_be_imported_is_one_remark(verify, monkeypatch):
    monkeypatch.setitem(sys.modules, "theorax.exact.noncommuting_words", None)  # its import fails now
    answer = verify("doctor")
    assert answer.code == 3
    told = answer.out[answer.out.index("✗ Not ready:") :].splitlines()
    assert "of the engine cannot be imported, theorax.exact" in told[1] and "Traceback" not in answer.out
    assert told[2].strip() == "pip install --upgrade theorax"


def test_the_engine_is_all_but_the_theorems_and_the_plug_in():
    assert {"theorax.exact.noncommuting_words", "theorax.numerics.sampler", "theorax.runs.runner", "theorax"} <= set(
        _modules()
    )
    assert not [name for name in _modules() if name.startswith(("theorax.theorems", "theorax.testing"))]


def test_a_package_that_is_too_old_is_named_with_the_version_that_is_needed(monkeypatch):
    needed = ["scipy>=1.15", "no-such-package>=2", "numpy>=2.0", 'pytest>=99; extra == "test"']
    here = {"scipy": "1.13.1", "numpy": "2.10.0rc1"}

    def version(name):
        if name not in here:
            raise metadata.PackageNotFoundError(name)
        return here[name]

    monkeypatch.setattr(metadata, "requires", lambda name: needed)
    monkeypatch.setattr(metadata, "version", version)
    assert [(remark.text, remark.command, remark.stops) for remark in _of_requirements()] == [
        ("scipy 1.13.1 is too old: theorax needs 1.15 or newer.", 'pip install "scipy>=1.15"', True),
        ("no-such-package is missing: theorax needs 2 or newer.", 'pip install "no-such-package>=2"', True),
    ]


def test_the_worst_remark_comes_first():
    mild, grave = Remark("a", "verify a"), Remark("b", "verify b", stops=True)
    assert list(remark_lines([mild, grave])) == ["✗ Not ready:", "  b", "    verify b", "  a", "    verify a"]
    assert list(remark_lines([mild])) == ["! Ready, with 1 remark:", "  a", "    verify a"]
